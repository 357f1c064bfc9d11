# SPDX-License-Identifier: Apache-2.0
"""In which order a vendor's commands run, shown by user events, and what their events tell of it (API-EVT)."""

from __future__ import annotations

import math
import time
from typing import Any

import pytest

from harness.check import (
    CL,
    Callback,
    Icd,
    IcdObjects,
    IcdSession,
    Info,
    Memory,
    Sandbox,
    Unsupported,
    Value,
    api,
    calls,
    command_type,
    expect_same,
    numbered,
    requirement,
)

SIZE = 64
BEFORE, AFTER = numbered(SIZE, 1), numbered(SIZE, 2)
NOTIFY = "clSetEventCallback.pfn_notify"
COMMANDS = [
    function
    for function in calls.recipes()
    if function.startswith("clEnqueue")
    and {"event", "event_wait_list"} <= {p.name for p in api().functions[function].parameters}
    and command_type(function) in api().constants
]
OLDER = ("clEnqueueBarrier", "clEnqueueMarker", "clEnqueueWaitForEvents")  # of OpenCL 1.0
USER_DATA = 0x1122334455667700  # of callbacks: no part of it can be left out
RUNNING = ("clEnqueueNDRangeKernel", "clEnqueueTask")
BLOCKING = ("clEnqueueReadBuffer", "clEnqueueWriteBuffer", "clEnqueueMapBuffer")
TIMES = ("QUEUED", "SUBMIT", "START", "END")
ENDS = ("QUEUED", "END")
FINISHED = ("CL_PROFILING_COMMAND_END", "CL_PROFILING_COMMAND_COMPLETE")
HELD = 0.1  # seconds that a command is kept waiting at least, longer than the coarsest timer counts


def memory_of(session: IcdSession) -> Memory:
    return Memory(session.objects(session.some_platforms()[0]))


def status(memory: Memory, event: Value) -> int:
    """The status of an event."""
    answer = memory.session.buffer(4)
    query = api().constant("CL_EVENT_COMMAND_EXECUTION_STATUS")
    memory.succeed("clGetEventInfo", event, query, 4, answer, None)
    return answer.i32()


def gate_of(objects: IcdObjects) -> Value:
    """A user event that has not ended."""
    return objects.made_by("clCreateUserEvent", objects.context)


def plain_queue(objects: IcdObjects) -> tuple[Any, ...]:
    """The call that makes one more queue, which keeps order."""
    return "clCreateCommandQueue", objects.context, objects.device, 0


def enqueue(objects: IcdObjects, function: str, waits: list[Value], queue: Value | None = None) -> Value:
    """Enqueues the proper call of a function, which does not block and waits for events; gives its event."""
    event = objects.session.buffer(8, 0)
    calls.enqueue(objects, function, waits, queue, event)
    return event.handle()


def queue_of(objects: IcdObjects, properties: str, more: int = 0) -> Value:
    """A queue with a property, and further bits. Makes the attempt `unsupported` where the device has none such."""
    able = Info(objects).number("clGetDeviceInfo", objects.device, "CL_DEVICE_QUEUE_PROPERTIES")
    bits = api().constant(properties) | more
    if bits & ~able:
        raise Unsupported("loader", f"the device has no queues with {properties}", properties)
    return objects.made_by("clCreateCommandQueue", objects.context, objects.device, bits)


@requirement("API-EVT-006")
def test_command_waits_for_every_event_of_its_list(icd: Icd, sandbox: Sandbox) -> None:
    """A command that waits for two events, of which one has ended, does not end before the other has."""

    def check(objects: IcdObjects, function: str, beside: bool = False) -> None:
        memory, gate = Memory(objects), gate_of(objects)
        ended, other = objects.named("done"), objects.made_by(*plain_queue(objects))
        lists = {"first": ([gate, ended], other), "second": ([ended, gate], memory.queue)}
        if "Unmap" in function:  # what is mapped is given back once
            del lists["second"]
        events = [enqueue(objects, function, *row) for row in lists.values()]
        for queue in (memory.queue, other):
            memory.succeed("clFlush", queue)
        if beside:  # a kernel may take a while to be compiled: one that does not wait has ended then
            third = objects.made_by(*plain_queue(objects))
            enqueue(objects, function, [], third)
            memory.succeed("clFinish", third)
        had = [status(memory, event) for event in events]
        memory.succeed("clSetUserEventStatus", gate, CL.COMPLETE)
        memory.finish()
        memory.succeed("clFinish", other)
        for before, which in zip(had, lists, strict=True):
            assert before > CL.COMPLETE, f"the status is {before} before the {which} event of the list has ended"
        for end in (status(memory, event) for event in events):
            assert end == CL.COMPLETE, f"the status is {end} when the queue is finished, expected CL_COMPLETE"

    with icd.attempts(sandbox, until_hung=True) as attempts:
        for function in COMMANDS:
            attempts.check(function, lambda objects, function=function: check(objects, function))  # type: ignore[misc]
        for function in RUNNING:
            label = f"{function}, beside one that does not wait"
            attempts.check(label, lambda objects, function=function: check(objects, function, True))  # type: ignore[misc]


@requirement("API-EVT-007")
def test_waiting_command_changes_nothing_before_its_event(icd: Icd, sandbox: Sandbox) -> None:
    """What a waiting write, copy or fill is to change is as it was until the event has ended, and then is changed."""

    def check(objects: IcdObjects, how: str) -> None:
        memory, gate = Memory(objects), gate_of(objects)
        mem, source, other = memory.buffer(BEFORE), memory.buffer(AFTER), Memory(objects)
        other.queue = objects.made_by("clCreateCommandQueue", objects.context, objects.device, 0)
        data = memory.session.data(AFTER)
        arguments: tuple[Any, ...]
        if how == "write":
            arguments = ("clEnqueueWriteBuffer", memory.queue, mem, 0, 0, SIZE, data)
        elif how == "copy":
            arguments = ("clEnqueueCopyBuffer", memory.queue, source, mem, 0, 0, SIZE)
        else:
            arguments = ("clEnqueueFillBuffer", memory.queue, mem, data, SIZE, 0, SIZE)
        memory.succeed(*arguments, 1, [gate], None)
        memory.succeed("clFlush", memory.queue)
        seen = other.content(mem, SIZE)
        memory.succeed("clSetUserEventStatus", gate, CL.COMPLETE)
        expect_same(seen, BEFORE, "the buffer before the event has ended")
        expect_same(memory.content(mem, SIZE), AFTER, "the buffer")

    with icd.attempts(sandbox, until_hung=True) as attempts:
        for how in ("write", "copy", "fill"):
            attempts.check(how, lambda objects, how=how: check(objects, how))  # type: ignore[misc]


@requirement("API-EVT-008")
def test_queue_in_order_runs_one_command_after_the_other(icd: Icd, sandbox: Sandbox) -> None:
    """A command of an in-order queue does not end before one that was enqueued before it, which waits."""
    with icd.open(sandbox) as session:
        memory = memory_of(session)
        gate, mem = gate_of(memory.objects), memory.buffer(BEFORE)
        data, to = session.data(AFTER), session.buffer(SIZE, 0)
        memory.succeed("clEnqueueWriteBuffer", memory.queue, mem, 0, 0, SIZE, data, 1, [gate], None)
        later = memory.event("clEnqueueReadBuffer", memory.queue, mem, 0, 0, SIZE, to, 0, None)
        marker = memory.event("clEnqueueMarker", memory.queue)
        memory.succeed("clFlush", memory.queue)
        had = [status(memory, event) for event in (later, marker)]
        memory.succeed("clSetUserEventStatus", gate, CL.COMPLETE)
        assert min(had) > CL.COMPLETE, "a later command had ended before the first one could"
        memory.finish()
        assert [status(memory, event) for event in (later, marker)] == [CL.COMPLETE] * 2
        expect_same(to.bytes(), AFTER, "what the read after the write got")


@requirement("API-EVT-008")
def test_command_of_every_kind_keeps_the_order_of_its_queue(icd: Icd, sandbox: Sandbox) -> None:
    """In an in-order queue no command, whatever it is, ends before one that waits, and none overtakes it that waits."""

    def check(objects: IcdObjects, first: str, second: str) -> None:
        queue = objects.made_by(*plain_queue(objects))
        memory, gate = Memory(objects), gate_of(objects)
        own = enqueue(objects, first, [gate], queue)
        later = enqueue(objects, second, [], queue)
        memory.succeed("clFlush", queue)
        had = status(memory, later)
        memory.succeed("clSetUserEventStatus", gate, CL.COMPLETE)
        assert had > CL.COMPLETE, f"{second} had ended before {first}, which waited"
        memory.succeed("clWaitForEvents", 2, [own, later])

    with icd.attempts(sandbox, until_hung=True) as attempts:
        marker = "clEnqueueMarkerWithWaitList"
        for function in COMMANDS:
            attempts.check(f"{function} after a marker", lambda o, row=(marker, function): check(o, *row))  # type: ignore[misc]
            attempts.check(f"{function} before a marker", lambda o, row=(function, marker): check(o, *row))  # type: ignore[misc]


@requirement("API-EVT-009")
def test_markers_and_barriers_wait_for_what_is_before_them(icd: Icd, sandbox: Sandbox) -> None:
    """Out of order, markers and barriers without a list wait for all before them, and what follows a barrier for it."""

    def check_list(objects: IcdObjects) -> None:
        queue = queue_of(objects, "CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE")
        memory, gate = Memory(objects), gate_of(objects)
        own = enqueue(objects, "clEnqueueBarrierWithWaitList", [gate], queue)
        after = enqueue(objects, "clEnqueueCopyBuffer", [], queue)
        memory.succeed("clFlush", queue)
        had = status(memory, own), status(memory, after)
        memory.succeed("clSetUserEventStatus", gate, CL.COMPLETE)
        assert had[0] > CL.COMPLETE, "the barrier had ended before the event of its list"
        assert had[1] > CL.COMPLETE, "a command had ended before the barrier that is before it"
        memory.succeed("clFinish", queue)
        assert {status(memory, event) for event in (own, after)} == {CL.COMPLETE}

    def check(objects: IcdObjects, function: str) -> None:
        queue = queue_of(objects, "CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE")
        memory, gate = Memory(objects), gate_of(objects)
        first = enqueue(objects, "clEnqueueFillBuffer", [gate], queue)
        own = enqueue(objects, function, [], queue)
        after = enqueue(objects, "clEnqueueCopyBuffer", [], queue)
        memory.succeed("clFlush", queue)
        had = status(memory, own), status(memory, after)
        memory.succeed("clSetUserEventStatus", gate, CL.COMPLETE)
        assert had[0] > CL.COMPLETE, f"{function} had ended before what is before it"
        assert had[1] > CL.COMPLETE or "Marker" in function, "a command had ended before the barrier that is before it"
        memory.succeed("clFinish", queue)
        assert {status(memory, event) for event in (first, own, after)} == {CL.COMPLETE}

    with icd.attempts(sandbox, until_hung=True) as attempts:
        attempts.check("clEnqueueBarrierWithWaitList with a list", check_list)
        for function in ("clEnqueueMarkerWithWaitList", "clEnqueueBarrierWithWaitList"):
            attempts.check(function, lambda objects, function=function: check(objects, function))  # type: ignore[misc]


@requirement("API-EVT-021")
def test_older_barriers_and_markers_hold_what_follows(icd: Icd, sandbox: Sandbox) -> None:
    """Out of order, clEnqueueBarrier and clEnqueueMarker wait for all before them; what follows clEnqueueBarrier waits
    for it, and what follows clEnqueueWaitForEvents for its events.
    """

    def check(objects: IcdObjects, function: str, in_order: bool = False) -> None:
        mode = "CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE"
        queue = objects.made_by(*plain_queue(objects)) if in_order else queue_of(objects, mode)
        memory, gate = Memory(objects), gate_of(objects)
        if function == "clEnqueueWaitForEvents":
            memory.succeed(function, queue, 1, [gate])
        else:
            enqueue(objects, "clEnqueueFillBuffer", [gate], queue)
        if function == "clEnqueueMarker":
            later = memory.event(function, queue)
        else:
            if function == "clEnqueueBarrier":
                memory.succeed(function, queue)
            later = enqueue(objects, "clEnqueueCopyBuffer", [], queue)
        memory.succeed("clFlush", queue)
        had = status(memory, later)
        memory.succeed("clSetUserEventStatus", gate, CL.COMPLETE)
        what = "it" if function == "clEnqueueMarker" else f"what follows {function}"
        assert had > CL.COMPLETE, f"{what} had ended before what it waits for"
        memory.succeed("clFinish", queue)
        end = status(memory, later)
        assert end == CL.COMPLETE, f"the status is {end} when the queue is finished, expected CL_COMPLETE"

    with icd.attempts(sandbox, until_hung=True) as attempts:
        attempts.check("clEnqueueWaitForEvents in order", lambda objects: check(objects, OLDER[-1], in_order=True))
        for function in OLDER:
            attempts.check(function, lambda objects, function=function: check(objects, function))  # type: ignore[misc]


@requirement("API-EVT-010")
def test_failure_reaches_all_that_wait_for_it(icd: Icd, sandbox: Sandbox) -> None:
    """A command that waits for one that waits for a user event which fails ends with an error, too."""
    with icd.open(sandbox) as session:
        memory = memory_of(session)
        gate, mem = gate_of(memory.objects), memory.buffer(BEFORE)
        data = session.data(AFTER)
        first = memory.event("clEnqueueWriteBuffer", memory.queue, mem, 0, 0, SIZE, data, 1, [gate])
        second = memory.event("clEnqueueWriteBuffer", memory.queue, mem, 0, 0, SIZE, data, 1, [first])
        memory.succeed("clFlush", memory.queue)
        memory.succeed("clSetUserEventStatus", gate, CL.OUT_OF_RESOURCES)
        error = session.call("clWaitForEvents", 1, [second])
        assert error == CL.EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
        assert status(memory, first) < 0 and status(memory, second) < 0


@requirement("API-EVT-010")
def test_failure_reaches_commands_of_every_kind(icd: Icd, sandbox: Sandbox) -> None:
    """A command that waits for a user event which fails ends with an error, whatever it is: so do markers, barriers."""

    def check(objects: IcdObjects, function: str) -> None:
        memory, gate = Memory(objects), gate_of(objects)
        event = enqueue(objects, function, [gate])
        memory.succeed("clFlush", memory.queue)
        memory.succeed("clSetUserEventStatus", gate, CL.OUT_OF_RESOURCES)
        error = objects.session.call("clWaitForEvents", 1, [event])
        expected = CL.EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
        assert error == expected, f"waiting for it answered {error}, expected {expected!r}"
        had = status(memory, event)
        assert had < 0, f"its status is {had}, expected an error"

    with icd.attempts(sandbox, until_hung=True, each_ends_a_command=True) as attempts:
        for function in COMMANDS:
            attempts.check(function, lambda objects, function=function: check(objects, function))  # type: ignore[misc]


@requirement("API-EVT-011")
def test_blocking_call_says_that_its_event_failed(icd: Icd, sandbox: Sandbox) -> None:
    """A blocking call whose wait list has an event that failed is CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST."""

    def check(objects: IcdObjects, function: str) -> None:
        changed = {"num_events_in_wait_list": "1", "event_wait_list": "w:failed"}
        error = calls.prepare(objects, function, changed).make()
        expected = CL.EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
        assert error == expected, f"answered {error}, expected {expected!r}"

    with icd.attempts(sandbox, until_hung=True, each_ends_a_command=True) as attempts:
        for function in BLOCKING:
            attempts.check(function, lambda objects, function=function: check(objects, function))  # type: ignore[misc]


@requirement("API-EVT-022")
@pytest.mark.parametrize("early", [True, False], ids=["before it runs", "when it has ended"])
def test_callback_of_each_status_is_called_no_second_time(icd: Icd, sandbox: Sandbox, early: bool) -> None:
    """A callback that was called for one change of the status is not called again for the next one."""
    with icd.open(sandbox) as session:
        states, _ = ended_with_callbacks(session, sandbox, early)
        assert session.quit() == 0
        for number, state in enumerate(states):
            times = sum(data == USER_DATA + number for _, _, data in called(sandbox))
            assert times < 2, f"the callback for {state!r} was called {times} times, expected once"


@requirement("API-EVT-012")
@pytest.mark.parametrize("early", [True, False], ids=["before it runs", "when it has ended"])
def test_callback_of_each_status_is_called(icd: Icd, sandbox: Sandbox, early: bool) -> None:
    """Callbacks for a command that is submitted, runs and is complete are called, with its event, status and data."""
    with icd.open(sandbox) as session:
        older = memory_of(session).objects.device_version() < (2, 0)  # its text has "the execution status of command"
        states, event = ended_with_callbacks(session, sandbox, early)
        assert session.quit() == 0
        for number, state in enumerate(states):
            result = [(own, how) for own, how, data in called(sandbox) if data == USER_DATA + number]
            assert result, f"the callback for {state!r} was called 0 times, expected once"
            for own, how in result:
                assert own == event, f"the callback for {state!r} got another event"
                past = older and CL.COMPLETE <= how < state
                assert past or how == state, f"the callback for {state!r} got the status {how}, expected {state!r}"


def ended_with_callbacks(session: IcdSession, sandbox: Sandbox, early: bool) -> tuple[list[int], Value]:
    """A command with a callback for each status, set before it runs or when it has ended; waits for all of them."""
    memory = memory_of(session)
    gate, mem = gate_of(memory.objects), memory.buffer(BEFORE)
    event = memory.event("clEnqueueWriteBuffer", memory.queue, mem, 0, 0, SIZE, session.data(AFTER), 1, [gate])
    if not early:
        memory.succeed("clSetUserEventStatus", gate, CL.COMPLETE)
        memory.finish()
    is_1_1 = memory.objects.version() < (1, 2)  # where CL_COMPLETE is the only one
    states = [CL.COMPLETE] if is_1_1 else [CL.SUBMITTED, CL.RUNNING, CL.COMPLETE]
    for number, state in enumerate(states):
        memory.succeed("clSetEventCallback", event, state, Callback(NOTIFY), USER_DATA + number)
    if early:
        memory.succeed("clFlush", memory.queue)
        memory.succeed("clSetUserEventStatus", gate, CL.COMPLETE)
        memory.finish()
    session.wait_until(lambda: {USER_DATA + i for i in range(len(states))} <= {row[2] for row in called(sandbox)})
    return states, event


@requirement("API-EVT-004")
def test_callback_of_an_event_that_was_released_is_called_once(icd: Icd, sandbox: Sandbox) -> None:
    """A callback that was set for a command is called, also where the application has released the event before."""
    with icd.open(sandbox) as session:
        memory = memory_of(session)
        gate, mem = gate_of(memory.objects), memory.buffer(BEFORE)
        event = memory.event("clEnqueueWriteBuffer", memory.queue, mem, 0, 0, SIZE, session.data(AFTER), 1, [gate])
        memory.succeed("clSetEventCallback", event, CL.COMPLETE, Callback(NOTIFY), 7)
        memory.succeed("clReleaseEvent", event)
        assert not called(sandbox)
        memory.succeed("clSetUserEventStatus", gate, CL.COMPLETE)
        memory.finish()
        session.wait_until(lambda: bool(called(sandbox)))
        assert session.quit() == 0
        assert called(sandbox) == [(event, CL.COMPLETE, 7)]


@requirement("API-EVT-004", "API-EVT-010")
def test_callback_of_a_command_that_fails_gets_its_error(icd: Icd, sandbox: Sandbox) -> None:
    """A command that ends because what it waits for failed calls its callback for completion once, with an error."""
    with icd.open(sandbox) as session:
        memory = memory_of(session)
        gate, mem = gate_of(memory.objects), memory.buffer(BEFORE)
        event = memory.event("clEnqueueWriteBuffer", memory.queue, mem, 0, 0, SIZE, session.data(AFTER), 1, [gate])
        memory.succeed("clSetEventCallback", event, CL.COMPLETE, Callback(NOTIFY), 7)
        memory.succeed("clFlush", memory.queue)
        session.call("clSetUserEventStatus", gate, CL.OUT_OF_RESOURCES)
        session.call("clWaitForEvents", 1, [event])
        if status(memory, event) >= 0:
            raise Unsupported("loader", "precondition failed: no command ends with another's error", "precondition")
        session.wait_until(lambda: bool(called(sandbox)))
        assert session.quit() == 0
        failed = [(own, how >> 31, data) for own, how, data in called(sandbox)]
        assert failed == [(event, 1, 7)], f"callbacks (event, whether negative, data): {failed}"


def called(sandbox: Sandbox) -> list[tuple[int, int, int]]:
    """Event, status and data of each call of an event's callback so far, by data."""
    events = [e.arguments for e in sandbox.log if e.name == f"callback {NOTIFY}"]
    return sorted(((a[0], a[1] & 0xFFFFFFFF, a[2]) for a in events), key=lambda row: row[2])


@requirement("API-EVT-013")
def test_times_of_a_command_are_in_order(icd: Icd, sandbox: Sandbox) -> None:
    """A command is queued, submitted, started and ended in this order, as its times say."""

    def check(objects: IcdObjects, function: str, more: int = 0) -> None:
        queue = queue_of(objects, "CL_QUEUE_PROFILING_ENABLE", more)
        memory, info = Memory(objects), Info(objects)
        event = enqueue(objects, function, [], queue)
        memory.succeed("clFinish", queue)
        times = [info.number("clGetEventProfilingInfo", event, f"CL_PROFILING_COMMAND_{name}") for name in TIMES]
        wrong = [f"{TIMES[i]} after {TIMES[i + 1]}" for i in range(3) if times[i] > times[i + 1]]
        assert not wrong, ", ".join(wrong)
        assert any(times), "all times are 0"

    with icd.attempts(sandbox, until_hung=True) as attempts:
        for function in COMMANDS:
            attempts.check(function, lambda objects, function=function: check(objects, function))  # type: ignore[misc]
        both = CL.QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE
        attempts.check("in a queue out of order", lambda objects: check(objects, "clEnqueueCopyBuffer", both))


@requirement("API-EVT-019")
def test_command_is_not_finished_before_its_end(icd: Icd, sandbox: Sandbox) -> None:
    """The time at which a command has finished with all that it enqueued is not before the one at which it ended."""

    def check(objects: IcdObjects) -> None:
        info, event = Info(objects), objects.named("profiled")
        last, finished = (info.number("clGetEventProfilingInfo", event, query) for query in FINISHED)
        assert finished >= last, f"CL_PROFILING_COMMAND_COMPLETE is {last - finished} ns before the end"

    with icd.attempts(sandbox) as attempts:
        attempts.check("a write", check)


@requirement("API-EVT-014")
def test_times_are_not_available_before_the_end(icd: Icd, sandbox: Sandbox) -> None:
    """Times of a command that waits are CL_PROFILING_INFO_NOT_AVAILABLE, and are available when it has ended."""
    with icd.open(sandbox) as session:
        memory = memory_of(session)
        queue = queue_of(memory.objects, "CL_QUEUE_PROFILING_ENABLE")
        gate, mem = gate_of(memory.objects), memory.buffer(BEFORE)
        event = memory.event("clEnqueueWriteBuffer", queue, mem, 0, 0, SIZE, session.data(AFTER), 1, [gate])
        memory.succeed("clFlush", queue)
        query, answer = api().constant("CL_PROFILING_COMMAND_END"), session.buffer(8, 0)
        error = session.call("clGetEventProfilingInfo", event, query, 8, answer, None)
        memory.succeed("clSetUserEventStatus", gate, CL.COMPLETE)
        assert error == CL.PROFILING_INFO_NOT_AVAILABLE
        memory.succeed("clFinish", queue)
        assert session.call("clGetEventProfilingInfo", event, query, 8, answer, None) == CL.SUCCESS


@requirement("API-EVT-015")
def test_times_of_a_command_are_in_nanoseconds(icd: Icd, sandbox: Sandbox) -> None:
    """From its queueing to its end, a command that is kept waiting took as long as the host's clock says."""
    with icd.open(sandbox) as session:
        memory = memory_of(session)
        queue, info = queue_of(memory.objects, "CL_QUEUE_PROFILING_ENABLE"), Info(memory.objects)
        gate, mem = gate_of(memory.objects), memory.buffer(BEFORE)
        before = memory.event("clEnqueueWriteBuffer", queue, mem, 1, 0, SIZE, session.data(AFTER), 0, None)
        memory.succeed("clFinish", queue)
        start = time.monotonic()
        event = memory.event("clEnqueueWriteBuffer", queue, mem, 0, 0, SIZE, session.data(AFTER), 1, [gate])
        memory.succeed("clFlush", queue)
        queued = time.monotonic()
        while (left := queued + HELD - time.monotonic()) > 0:
            session.pause(math.ceil(1000 * left))
        memory.succeed("clSetUserEventStatus", gate, CL.COMPLETE)
        memory.succeed("clFinish", queue)
        most = time.monotonic() - start
        first, last = (info.number("clGetEventProfilingInfo", event, f"CL_PROFILING_COMMAND_{n}") for n in ENDS)
        took = (last - first) / 1e9
        assert took <= 2 * most, f"it took {took} s by its times, and at most {most} s by the host's clock"
        assert took >= HELD / 2, f"it took {took} s by its times, and {HELD} s passed until it could end"
        since = (last - info.number("clGetEventProfilingInfo", before, "CL_PROFILING_COMMAND_END")) / 1e9
        assert since >= HELD / 2, f"it ended {since} s after a command that had ended {HELD} s before it could start"
