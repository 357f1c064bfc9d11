# SPDX-License-Identifier: Apache-2.0
"""Contexts that are terminated before their time: cl_khr_terminate_context (API-STA)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.check import (
    CL,
    Callback,
    Icd,
    IcdSession,
    Platform,
    Sandbox,
    Unsupported,
    Value,
    api,
    extension,
    platforms_with,
    requirement,
)

EXTENSION = "cl_khr_terminate_context"
pytestmark = extension(EXTENSION)

TERMINATE, CONTEXT, EVENT = "clTerminateContextKHR", "clCreateContext.pfn_notify", "clSetEventCallback.pfn_notify"
CAN_TERMINATE = 1  # CL_DEVICE_TERMINATE_CAPABILITY_CONTEXT_KHR, which the headers of 2023 lack
DESTROYED = "clSetContextDestructorCallback"
SIZE = 64


class Doomed:
    """A context that may be terminated, on the first device that can, with what is made in it before."""

    def __init__(self, platform: Platform, device: Value) -> None:
        self.platform, self.session, self.device = platform, platform.session, device
        self.context = self.new_context(CL.TRUE)
        self.queue = platform.queue(self.context, device, CL.QUEUE_PROFILING_ENABLE)
        self.memory = platform.buffer(self.context, SIZE)
        self.event = platform.user_event(self.context)

    def new_context(self, may_end: int | None) -> Value:
        words = [CL.CONTEXT_PLATFORM, self.platform.handle]
        words += [] if may_end is None else [CL.CONTEXT_TERMINATE_KHR, may_end]
        properties = self.platform.words(*words, 0)
        return self.platform.make("clCreateContext", properties, 1, [self.device], Callback(CONTEXT), 7)

    def terminate(self, context: Value | None) -> int:
        return self.platform.call(TERMINATE, context)

    def end(self) -> None:
        self.platform.expect_success(TERMINATE, self.context)

    def fill(self, *waited: Value, event: Any = None) -> int:
        """A command: its error."""
        pattern, listed = self.session.data(bytes(4)), list(waited) or None
        rest = (0, SIZE, len(waited), listed, event)
        return self.platform.call("clEnqueueFillBuffer", self.queue, self.memory, pattern, 4, *rest)


def every(session: IcdSession) -> Iterator[Doomed]:
    """One of each platform that has the extension and a device that can do it."""
    found = False
    for platform in platforms_with(session, EXTENSION):
        for device in platform.able:
            error, answer = platform.answer("clGetDeviceInfo", device, CL.DEVICE_TERMINATE_CAPABILITY_KHR)
            if not error and int.from_bytes(answer, "little") & CAN_TERMINATE:
                found = True
                yield Doomed(platform, device)
                break
    if not found:
        raise Unsupported("loader", "no device can terminate a context", EXTENSION)


def calls_of(session: IcdSession, sandbox: Sandbox, name: str, count: int) -> list[Any]:
    """The calls of a callback, which may come from another thread."""

    def events() -> list[Any]:
        return [event for event in sandbox.log if event.name == f"callback {name}"]

    session.wait_until(lambda: len(events()) >= count)
    return events()


@requirement("API-STA-002")
def test_context_is_terminated_once_where_it_was_made_for_that(icd: Icd, sandbox: Sandbox) -> None:
    """A context without CL_CONTEXT_TERMINATE_KHR, or with CL_FALSE, cannot be terminated; NULL is none."""
    with icd.open(sandbox) as session:
        for doomed in every(session):
            for value in (None, CL.FALSE):
                lasting = doomed.new_context(value)
                assert doomed.terminate(lasting) == CL.INVALID_OPERATION
                doomed.platform.buffer(lasting, SIZE)
            assert doomed.terminate(None) == CL.INVALID_CONTEXT
            assert doomed.terminate(doomed.context) == CL.SUCCESS
            assert doomed.terminate(doomed.context) == CL.CONTEXT_TERMINATED_KHR


@requirement("API-STA-003")
def test_nothing_is_made_in_a_terminated_context(icd: Icd, sandbox: Sandbox) -> None:
    """Functions that make objects, enqueue commands, or use the context give CL_CONTEXT_TERMINATED_KHR."""
    with icd.open(sandbox) as session:
        for doomed in every(session):
            context, create = doomed.context, doomed.platform.create
            region = doomed.platform.words(0, SIZE // 2)
            source = [session.data(b"kernel void name() {}\0")]
            doomed.end()
            made = {
                "clCreateBuffer": create("clCreateBuffer", context, CL.MEM_READ_WRITE, SIZE, None),
                "clCreateSubBuffer": create(
                    "clCreateSubBuffer", doomed.memory, 0, CL.BUFFER_CREATE_TYPE_REGION, region
                ),
                "clCreateCommandQueue": create("clCreateCommandQueue", context, doomed.device, 0),
                "clCreateProgramWithSource": create("clCreateProgramWithSource", context, 1, source, None),
                "clCreateUserEvent": create("clCreateUserEvent", context),
            }
            for function, (error, _) in made.items():
                assert error == CL.CONTEXT_TERMINATED_KHR, f"{function} answered {error}"
            event, data, call = session.buffer(8, 0), session.buffer(SIZE, 0), doomed.platform.call
            errors = {
                "clEnqueueFillBuffer": doomed.fill(),
                "clEnqueueReadBuffer": call(
                    "clEnqueueReadBuffer", doomed.queue, doomed.memory, 1, 0, SIZE, data, 0, None, None
                ),
                "clEnqueueMarker": call("clEnqueueMarker", doomed.queue, event),
            }
            if doomed.platform.objects.device_version() >= (3, 0):  # neither a query nor a retain or release
                errors[DESTROYED] = call(DESTROYED, context, Callback(f"{DESTROYED}.pfn_notify"), None)
            for function, error in errors.items():
                assert error == CL.CONTEXT_TERMINATED_KHR, f"{function} answered {error}"


@requirement("API-STA-003")
def test_objects_of_a_terminated_context_are_asked_and_released(icd: Icd, sandbox: Sandbox) -> None:
    """Queries, retain and release go on as if it had not been terminated, also of the context itself."""
    with icd.open(sandbox) as session:
        for doomed in every(session):
            doomed.end()
            owned = {
                ("CommandQueue", "clGetCommandQueueInfo", "CL_QUEUE_REFERENCE_COUNT"): doomed.queue,
                ("MemObject", "clGetMemObjectInfo", "CL_MEM_REFERENCE_COUNT"): doomed.memory,
                ("Event", "clGetEventInfo", "CL_EVENT_REFERENCE_COUNT"): doomed.event,
                ("Context", "clGetContextInfo", "CL_CONTEXT_REFERENCE_COUNT"): doomed.context,
            }
            for (name, query, number), handle in owned.items():
                counts = []
                for function in ("", f"clRetain{name}", f"clRelease{name}"):
                    assert not function or doomed.platform.call(function, handle) == CL.SUCCESS
                    error, answer = doomed.platform.answer(query, handle, api().constant(number))
                    assert error == CL.SUCCESS, f"{query} answered {error}"
                    counts.append(int.from_bytes(answer, "little"))
                assert counts == [counts[0], counts[0] + 1, counts[0]], f"{number} is {counts}, with one retain"
                assert doomed.platform.call(f"clRelease{name}", handle) == CL.SUCCESS


@requirement("API-STA-004")
def test_commands_of_a_terminated_context_end_with_that_status(icd: Icd, sandbox: Sandbox) -> None:
    """A command that waits ends with CL_CONTEXT_TERMINATED_KHR: so say its event, its callback, and the context's."""
    with icd.open(sandbox) as session:
        number = 0
        for number, doomed in enumerate(every(session), start=1):
            platform, output = doomed.platform, session.buffer(8, 0)
            assert doomed.fill(doomed.event, event=output) == CL.SUCCESS
            event, times = output.handle(), session.buffer(8, 0)
            assert session.call("clSetEventCallback", event, CL.COMPLETE, Callback(EVENT), number) == CL.SUCCESS
            doomed.end()
            platform.call("clWaitForEvents", 1, [event])  # returns; no text has its error
            status = platform.event(event, "CL_EVENT_COMMAND_EXECUTION_STATUS")
            assert status == CL.CONTEXT_TERMINATED_KHR, f"the status of a command that was terminated is {status}"
            asked = platform.call("clGetEventProfilingInfo", event, CL.PROFILING_COMMAND_END, 8, times, None)
            assert asked == CL.PROFILING_INFO_NOT_AVAILABLE
            assert session.call("clSetUserEventStatus", doomed.event, CL.COMPLETE) == CL.SUCCESS
        told = [event.arguments[3] for event in calls_of(session, sandbox, CONTEXT, number)]
        assert {*told} == {7} and len(told) >= number, (  # which may be called for what else happens, too
            f"the functions of {number} contexts were called with {told}, expected 7 for each context"
        )
        ends = [event.arguments[1] & 0xFFFFFFFF for event in calls_of(session, sandbox, EVENT, number)]
        expected = CL.CONTEXT_TERMINATED_KHR & 0xFFFFFFFF
        assert ends == [expected] * number, f"callbacks of events got {ends}, expected {expected} once each"
        assert session.quit() == 0
