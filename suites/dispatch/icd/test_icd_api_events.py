# SPDX-License-Identifier: Apache-2.0
"""Events of a vendor: their status, who waits for whom, and callbacks (API-EVT)."""

from __future__ import annotations

import pytest

from harness.check import (
    CL,
    Callback,
    Icd,
    IcdObjects,
    IcdSession,
    Sandbox,
    Session,
    Value,
    api,
    calls,
    command_type,
    requirement,
)

FAILED = CL.OUT_OF_RESOURCES  # any error
NOTIFY = "clSetEventCallback.pfn_notify"
WITH_EVENT = [function for function in calls.commands_with_events() if command_type(function) in api().constants]


def about(session: Session, event: Value, query: str) -> int:
    answer = session.buffer(8, 0)
    assert session.call("clGetEventInfo", event, api().constant(query), 8, answer, None) == CL.SUCCESS
    return answer.i32()


def status(session: Session, event: Value) -> int:
    return about(session, event, "CL_EVENT_COMMAND_EXECUTION_STATUS")


def platform_of(session: IcdSession) -> IcdObjects:
    return session.objects(session.some_platforms()[0])


def called(sandbox: Sandbox) -> list[tuple[int, int]]:
    """The status, and the data, of each call of an event's callback so far."""
    events = [e for e in sandbox.log if e.name == f"callback {NOTIFY}"]
    return [((e.arguments[1] & 0xFFFFFFFF) - ((e.arguments[1] & 0x80000000) << 1), e.arguments[2]) for e in events]


def wait_for_calls(session: IcdSession, sandbox: Sandbox, count: int) -> None:
    """Callbacks may come from another thread: looks for them until they are there."""
    session.wait_until(lambda: len(called(sandbox)) >= count)


@requirement("API-EVT-001")
def test_status_of_a_user_event_is_submitted_until_it_is_set(icd: Icd, sandbox: Sandbox) -> None:
    """A user event is submitted until its status is set, which can be done once."""
    with icd.open(sandbox) as session:
        event = platform_of(session).event
        assert status(session, event) == CL.SUBMITTED
        assert about(session, event, "CL_EVENT_COMMAND_TYPE") == api().constant("CL_COMMAND_USER")
        assert session.call("clSetUserEventStatus", event, CL.COMPLETE) == CL.SUCCESS
        assert status(session, event) == CL.COMPLETE
        assert session.call("clSetUserEventStatus", event, CL.COMPLETE) == CL.INVALID_OPERATION
        assert session.call("clSetUserEventStatus", event, FAILED) == CL.INVALID_OPERATION
        assert status(session, event) == CL.COMPLETE


@requirement("API-EVT-001")
def test_status_of_a_command_cannot_be_set(icd: Icd, sandbox: Sandbox) -> None:
    """clSetUserEventStatus of the event of a command is CL_INVALID_EVENT."""
    with icd.open(sandbox) as session:
        assert session.call("clSetUserEventStatus", platform_of(session).named("done"), CL.COMPLETE) == CL.INVALID_EVENT


@requirement("API-EVT-002")
@pytest.mark.parametrize("function", WITH_EVENT)
def test_event_of_each_command_names_it_and_completes(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """A command's event says what command it is; when the queue is finished it is complete."""

    def check(objects: IcdObjects) -> None:
        session = objects.session
        event = session.buffer(8, 0)
        call = calls.prepare(objects, function)
        call.arguments[[p.name for p in call.function.parameters].index("event")] = event
        error = call.make()
        assert error == CL.SUCCESS, f"answered {error}, expected CL_SUCCESS"
        assert session.call("clFinish", objects.queue) == CL.SUCCESS
        had = status(session, event.handle())
        assert had == CL.COMPLETE, f"the status is {had} when the queue is finished, expected CL_COMPLETE"
        kind, expected = about(session, event.handle(), "CL_EVENT_COMMAND_TYPE"), api().constant(command_type(function))
        assert kind == expected, (
            f"the type of the command is {kind:#x}, expected {command_type(function)} ({expected:#x})"
        )

    with icd.attempts(sandbox) as attempts:
        attempts.check("with an event", check)


@requirement("API-EVT-003")
def test_command_waits_for_a_user_event(icd: Icd, sandbox: Sandbox) -> None:
    """A command that waits for a user event is not complete before that is, and then completes."""
    with icd.open(sandbox) as session:
        objects = platform_of(session)
        content = session.buffer(16)
        waiting = objects.given_by(
            "clEnqueueWriteBuffer", objects.queue, objects.mem, 0, 0, 16, content, 1, [objects.event]
        )
        assert session.call("clFlush", objects.queue) == CL.SUCCESS
        assert status(session, waiting) in (CL.SUBMITTED, CL.QUEUED)
        assert session.call("clSetUserEventStatus", objects.event, CL.COMPLETE) == CL.SUCCESS
        assert session.call("clWaitForEvents", 1, [waiting]) == CL.SUCCESS
        assert status(session, waiting) == CL.COMPLETE


@requirement("API-EVT-003")
def test_command_ends_with_the_error_that_it_waits_for(icd: Icd, sandbox: Sandbox) -> None:
    """A command that waits for an event which fails ends with a negative status; waiting for either says so."""
    with icd.open(sandbox) as session:
        objects = platform_of(session)
        content = session.buffer(16)
        waiting = objects.given_by(
            "clEnqueueWriteBuffer", objects.queue, objects.mem, 0, 0, 16, content, 1, [objects.event]
        )
        assert session.call("clFlush", objects.queue) == CL.SUCCESS
        assert session.call("clSetUserEventStatus", objects.event, FAILED) == CL.SUCCESS
        assert status(session, objects.event) == FAILED
        assert session.call("clWaitForEvents", 1, [objects.event]) == CL.EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
        assert session.call("clWaitForEvents", 1, [waiting]) == CL.EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
        assert status(session, waiting) < 0


@requirement("API-EVT-003")
def test_event_that_fails_counts_wherever_it_stands_in_a_list(icd: Icd, sandbox: Sandbox) -> None:
    """Of three events one fails: waiting for them says so, and a command that waits for them fails, whichever it is."""

    def check(objects: IcdObjects, failing: int) -> None:
        session = objects.session
        events = [objects.made_by("clCreateUserEvent", objects.context) for _ in range(3)]
        content = session.buffer(16)
        command = objects.given_by("clEnqueueWriteBuffer", objects.queue, objects.mem, 0, 0, 16, content, 3, events)
        assert session.call("clFlush", objects.queue) == CL.SUCCESS
        for place, event in enumerate(events):
            end = FAILED if place == failing else CL.COMPLETE
            assert session.call("clSetUserEventStatus", event, end) == CL.SUCCESS
        expected = CL.EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
        error = session.call("clWaitForEvents", 3, events)
        assert error == expected, f"waiting for the three answered {error}, expected {expected!r}"
        error = session.call("clWaitForEvents", 1, [command])
        assert error == expected, f"waiting for the command answered {error}, expected {expected!r}"
        had = status(session, command)
        assert had < 0, f"the status of the command is {had}, expected an error"

    with icd.attempts(sandbox, until_hung=True) as attempts:
        for place, name in enumerate(("the first fails", "the second fails", "the last fails")):
            attempts.check(name, lambda objects, place=place: check(objects, place))  # type: ignore[misc]


@requirement("API-EVT-004")
@pytest.mark.parametrize("end", [CL.COMPLETE, FAILED], ids=["complete", "failed"])
def test_callbacks_of_a_user_event_are_called_once_each(icd: Icd, sandbox: Sandbox, end: int) -> None:
    """Every callback of an event is called once, with its status or the error, and with its data."""
    with icd.open(sandbox) as session:
        event = platform_of(session).event
        for number in (1, 2):
            assert session.call("clSetEventCallback", event, CL.COMPLETE, Callback(NOTIFY), number) == CL.SUCCESS
        assert not called(sandbox)
        assert session.call("clSetUserEventStatus", event, end) == CL.SUCCESS
        waited = session.call("clWaitForEvents", 1, [event])
        assert end or waited == CL.SUCCESS, "what it answers of an event that failed is API-EVT-003"
        wait_for_calls(session, sandbox, 2)
        assert session.quit() == 0
        assert sorted(called(sandbox)) == [(end, 1), (end, 2)]


@requirement("API-EVT-004")
def test_callback_of_a_command_that_has_ended_is_called_once(icd: Icd, sandbox: Sandbox) -> None:
    """So is a callback that is set when the command has ended already."""
    with icd.open(sandbox) as session:
        event = platform_of(session).named("done")
        assert session.call("clSetEventCallback", event, CL.COMPLETE, Callback(NOTIFY), 7) == CL.SUCCESS
        assert session.call("clWaitForEvents", 1, [event]) == CL.SUCCESS
        wait_for_calls(session, sandbox, 1)
        assert session.quit() == 0
        assert called(sandbox) == [(CL.COMPLETE, 7)]


@requirement("API-EVT-004")
@pytest.mark.parametrize("end", [CL.COMPLETE, FAILED], ids=["complete", "failed"])
def test_callback_of_a_user_event_that_has_ended_is_told_how(icd: Icd, sandbox: Sandbox, end: int) -> None:
    """A callback that is set after the end is called with the status that the event has: the error, where it failed."""
    with icd.open(sandbox) as session:
        event = platform_of(session).event
        assert session.call("clSetUserEventStatus", event, end) == CL.SUCCESS
        assert session.call("clSetEventCallback", event, CL.COMPLETE, Callback(NOTIFY), 7) == CL.SUCCESS
        wait_for_calls(session, sandbox, 1)
        assert session.quit() == 0
        assert called(sandbox) == [(end, 7)]


@requirement("API-EVT-005")
@pytest.mark.parametrize("of", ["event", "done"], ids=["user event", "queue without profiling"])
def test_profiling_without_information_is_not_available(icd: Icd, sandbox: Sandbox, of: str) -> None:
    """Profiling of a user event, or of a queue without it, is CL_PROFILING_INFO_NOT_AVAILABLE."""
    with icd.open(sandbox) as session:
        event = platform_of(session).named(of)
        start = api().constant("CL_PROFILING_COMMAND_START")
        error = session.call("clGetEventProfilingInfo", event, start, 8, session.buffer(8), None)
        assert error == CL.PROFILING_INFO_NOT_AVAILABLE
