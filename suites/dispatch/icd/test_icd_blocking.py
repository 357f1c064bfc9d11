# SPDX-License-Identifier: Apache-2.0
"""Calls of a vendor that return when something has ended, and not before, shown by a second thread (API-EVT)."""

from __future__ import annotations

import pytest

from harness.check import (
    CL,
    Icd,
    IcdObjects,
    IcdSession,
    Later,
    Memory,
    Sandbox,
    Unsupported,
    Value,
    api,
    calls,
    requirement,
)

STATUS = "CL_EVENT_COMMAND_EXECUTION_STATUS"
WAITING = [name for name in calls.commands_with_events() if calls.has_parameter(name, "event_wait_list")]
LARGE, TIMES = 1 << 20, 20  # what the second thread copies meanwhile, so that a call which does not wait returns first
BLOCKING = [
    function
    for function in calls.recipes()
    if function.startswith("clEnqueue")
    and any(parameter.name.startswith("blocking_") for parameter in api().functions[function].parameters)
]


class Threads:
    """A thread that makes a call which is to wait for a user event, and one that ends the event after a while."""

    def __init__(self, objects: IcdObjects) -> None:
        assert isinstance(objects.session, IcdSession)
        self.objects, self.session, self.memory = objects, objects.session, Memory(objects)
        self.gate = objects.made_by("clCreateUserEvent", objects.context)
        self.seen = self.session.buffer(4)

    def call(self, thread: int, owner: Value, function: str, *arguments: object) -> Later:
        """Keeps a call of a thread."""
        return self.session.in_thread(thread, function, *arguments, address=self.session.entry(owner, function))

    def run(self) -> None:
        """Has the first thread ask for the event's status next, and runs both: it must be complete."""
        mem, gate = self.memory.buffer(bytes(LARGE)), self.gate
        queue = self.objects.made_by("clCreateCommandQueue", self.objects.context, self.objects.device, 0)
        back = self.session.buffer(LARGE)
        query = self.call(0, gate, "clGetEventInfo", gate, api().constant(STATUS), 4, self.seen, None)
        for _ in range(TIMES):
            self.call(1, queue, "clEnqueueReadBuffer", queue, mem, 1, 0, LARGE, back, 0, None, None)
        ended = self.call(1, gate, "clSetUserEventStatus", gate, CL.COMPLETE)
        self.session.go()
        assert (query.result(), ended.result()) == (CL.SUCCESS, CL.SUCCESS)
        assert self.seen.i32() == CL.COMPLETE, "the call returned before the event had ended"


def blocks(objects: IcdObjects, function: str) -> None:
    if "Write" in function and objects.device_version() < (2, 2):
        raise Unsupported("loader", "texts before OpenCL 2.2 have a blocking write copy its data and return", function)
    threads, call = Threads(objects), calls.prepare(objects, function)
    for i, parameter in enumerate(call.function.parameters):
        if parameter.name.startswith("blocking_") or parameter.name == "num_events_in_wait_list":
            call.arguments[i] = 1
        elif parameter.name == "event_wait_list":
            call.arguments[i] = [threads.gate]
    error = calls.prepare(objects, function).make()
    calls.require_function(objects, function, error)
    threads.call(0, objects.queue, function, *call.arguments)
    threads.run()


@requirement("API-EVT-017")
def test_blocking_call_returns_when_its_command_has_ended(icd: Icd, sandbox: Sandbox) -> None:
    """A blocking read, write, copy or mapping that waits for a user event returns after that has ended."""
    with icd.attempts(sandbox, until_hung=True) as attempts:
        for function in BLOCKING:
            attempts.check(function, lambda objects, function=function: blocks(objects, function))  # type: ignore[misc]


@requirement("API-EVT-017")
def test_finishing_waits_for_commands_of_every_kind(icd: Icd, sandbox: Sandbox) -> None:
    """clFinish returns after a command that waits for a user event, of any kind, with or without an event of it."""

    def check(objects: IcdObjects, function: str, with_event: bool) -> None:
        threads = Threads(objects)
        queue = objects.made_by("clCreateCommandQueue", objects.context, objects.device, 0)
        event = objects.session.buffer(8, 0) if with_event else None
        calls.enqueue(objects, function, [threads.gate], queue, event)
        threads.call(0, queue, "clFinish", queue)
        threads.run()

    with icd.attempts(sandbox, until_hung=True) as attempts:
        for function in WAITING:
            for seen in (True, False):
                label = f"{function}, {'with' if seen else 'without'} an event"
                attempts.check(label, lambda objects, row=(function, seen): check(objects, *row))  # type: ignore[misc]


def flush(objects: IcdObjects, queue: Value, how: str, event: Value) -> None:
    """One of the calls that issue the commands of a queue to the device."""
    memory = Memory(objects)
    if how == "clWaitForEvents":
        memory.succeed(how, 1, [event])
    elif how == "clEnqueueReadBuffer":
        memory.succeed(how, queue, memory.buffer(bytes(4)), 1, 0, 4, objects.session.buffer(4), 0, None, None)
    else:
        memory.succeed(how, queue)


@requirement("API-EVT-020")
@pytest.mark.parametrize("how", ["clFlush", "clEnqueueReadBuffer", "clReleaseCommandQueue", "clWaitForEvents"])
def test_flushed_command_ends_without_its_queue(icd: Icd, sandbox: Sandbox, how: str) -> None:
    """Another queue's command that waits for a command of a flushed queue ends, and so has that, of whatever kind."""

    def check(objects: IcdObjects, function: str) -> None:
        first, second = (objects.made_by("clCreateCommandQueue", objects.context, objects.device, 0) for _ in range(2))
        event, status = objects.session.buffer(8, 0), objects.session.buffer(4)
        calls.enqueue(objects, function, [], first, event)
        flush(objects, first, how, event.handle())
        memory = Memory(objects)
        memory.succeed("clEnqueueMarkerWithWaitList", second, 1, [event.handle()], None)
        memory.succeed("clFinish", second)
        memory.succeed("clGetEventInfo", event.handle(), api().constant(STATUS), 4, status, None)
        assert status.i32() == CL.COMPLETE, (
            f"the status of {function} is {status.i32()} after what waits for it has ended, expected CL_COMPLETE"
        )

    with icd.attempts(sandbox, until_hung=True) as attempts:
        for function in WAITING:
            attempts.check(function, lambda objects, function=function: check(objects, function))  # type: ignore[misc]


@requirement("API-EVT-017")
def test_waiting_ends_with_all_that_is_waited_for(icd: Icd, sandbox: Sandbox) -> None:
    """clWaitForEvents returns when every event of its list has ended, clFinish when the commands of its queue have."""

    def events(objects: IcdObjects, first: bool) -> None:
        threads, ended = Threads(objects), objects.named("done")
        listed = [threads.gate, ended] if first else [ended, threads.gate]
        threads.call(0, threads.gate, "clWaitForEvents", 2, listed)
        threads.run()

    def finish(objects: IcdObjects) -> None:
        threads, queue = Threads(objects), objects.queue
        data = objects.session.data(bytes(16))
        arguments = (queue, objects.mem, 0, 0, 16, data, 1, [threads.gate], None)
        threads.memory.succeed("clEnqueueWriteBuffer", *arguments)
        threads.call(0, queue, "clFinish", queue)
        threads.run()

    with icd.attempts(sandbox, until_hung=True) as attempts:
        attempts.check("clWaitForEvents, the first of two", lambda objects: events(objects, True))
        attempts.check("clWaitForEvents, the second of two", lambda objects: events(objects, False))
        attempts.check("clFinish", finish)
