# SPDX-License-Identifier: Apache-2.0
"""Objects of a vendor that the application releases within its callbacks, which may release anything (API-REF).

Only what blocks, and what makes contexts and queues, may not be called there, and nothing with a memory object, a
context or a program in its own destructor callback.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from harness.check import (
    CL,
    Callback,
    Icd,
    IcdObjects,
    IcdSession,
    Memory,
    Sandbox,
    Unsupported,
    Value,
    calls,
    native_memory,
    require_compiler,
    requirement,
)

EVENT = "clSetEventCallback.pfn_notify"
MEMORY = "clSetMemObjectDestructorCallback"
CONTEXT = "clSetContextDestructorCallback"
FREE = "clEnqueueSVMFree.pfn_free_func"
NATIVE = "clEnqueueNativeKernel.user_func"
BROKEN = "kernel void broken(global int *to) { to[0] = clharness_undeclared; }"
STATES = {"submitted": CL.SUBMITTED, "running": CL.RUNNING, "complete": CL.COMPLETE}
NAMES = {"cl_mem": "MemObject", "cl_command_queue": "CommandQueue"}
Owned = list[tuple[str, Value]]  # class and handle


@dataclass
class Plan:
    """What is released in which callback, how that comes to be called, and what else the application has then."""

    callback: str
    released: Owned
    trigger: Callable[[], object]
    rest: Owned = field(default_factory=list)
    calls: int = 1  # of the callback
    after: Callable[[], object] | None = None  # before the rest is released


def require_state(objects: IcdObjects, state: int) -> None:
    """Makes the check `unsupported` before OpenCL 1.2 for a state other than the end."""
    if state != CL.COMPLETE and objects.version() < (1, 2):
        raise Unsupported("loader", "OpenCL 1.1 has callbacks for CL_COMPLETE alone", "clSetEventCallback")


def name_of(kind: str) -> str:
    return f"clRelease{NAMES.get(kind) or kind.removeprefix('cl_').title()}"


def context_of(objects: IcdObjects) -> Owned:
    return [("cl_context", objects.context)]


def queue_and_memory(objects: IcdObjects) -> Owned:
    return [("cl_command_queue", objects.queue), ("cl_mem", objects.mem)]


# --- events ---


def user_event(end: int, state: int = CL.COMPLETE, late: bool = False) -> Callable[[IcdObjects], Plan]:
    """A user event, released in its callback for a state, which is set before the event ends, or after."""

    def make(objects: IcdObjects) -> Plan:
        require_state(objects, state)
        call, event = objects.session.call, objects.made_by("clCreateUserEvent", objects.context)
        after: Owned = []
        if state == CL.SUBMITTED:  # which it is already: the application needs it for longer
            assert call("clRetainEvent", event) == CL.SUCCESS
            after = [("cl_event", event)]

        def trigger() -> None:
            if late:  # other checks are about the answer
                call("clSetUserEventStatus", event, end)
            assert call("clSetEventCallback", event, state, Callback(EVENT), 7) == CL.SUCCESS
            if not late:
                call("clSetUserEventStatus", event, end)

        return Plan(EVENT, [("cl_event", event)], trigger, after + context_of(objects))

    return make


def command(state: int, late: bool) -> Callable[[IcdObjects], Plan]:
    """The event of a command, released in its callback for a state, set before it runs or when it has ended."""

    def make(objects: IcdObjects) -> Plan:
        require_state(objects, state)
        memory, answer = Memory(objects), objects.session.buffer(8, 0)
        gate = objects.made_by("clCreateUserEvent", objects.context)
        calls.enqueue(objects, "clEnqueueCopyBuffer", [gate], objects.queue, answer)
        event = answer.handle()

        def trigger() -> None:
            steps = [
                lambda: memory.succeed("clSetEventCallback", event, state, Callback(EVENT), 7),
                lambda: memory.succeed("clSetUserEventStatus", gate, CL.COMPLETE),
                memory.finish,
            ]
            for step in [*steps[1:], steps[0]] if late else steps:
                step()

        second = ("cl_mem", objects.named("mem2"))
        rest = [("cl_event", gate), second, *queue_and_memory(objects), *context_of(objects)]
        return Plan(EVENT, [("cl_event", event)], trigger, rest)

    return make


def every_state(objects: IcdObjects) -> Plan:
    """A command's event with a callback for each state, each of which gives back a reference."""
    require_state(objects, CL.RUNNING)
    plan, call = command(CL.COMPLETE, False)(objects), objects.session.call
    event, complete = plan.released[0][1], plan.trigger

    def trigger() -> None:
        for _ in range(2):
            assert call("clRetainEvent", event) == CL.SUCCESS
        for state in (CL.SUBMITTED, CL.RUNNING):
            assert call("clSetEventCallback", event, state, Callback(EVENT), 7) == CL.SUCCESS
        complete()

    plan.trigger, plan.calls = trigger, 3
    return plan


def all_of_it(objects: IcdObjects) -> Plan:
    """All that a command has to do with, in the callback of its event."""
    memory = Memory(objects)
    event = memory.event(
        "clEnqueueWriteBuffer", memory.queue, objects.mem, 0, 0, 16, objects.session.buffer(16), 0, None
    )
    memory.succeed("clFlush", memory.queue)
    released = [("cl_event", event), *queue_and_memory(objects), *context_of(objects)]
    return Plan(EVENT, released, lambda: memory.succeed("clSetEventCallback", event, CL.COMPLETE, Callback(EVENT), 7))


def another_event(objects: IcdObjects) -> Plan:
    """Another event, which the application has set, in the callback of an event that goes on to be there."""
    call = objects.session.call
    first, second = (objects.made_by("clCreateUserEvent", objects.context) for _ in range(2))
    for step in (
        ("clSetUserEventStatus", second, CL.COMPLETE),
        ("clSetEventCallback", first, CL.COMPLETE, Callback(EVENT), 7),
    ):
        assert call(*step) == CL.SUCCESS, step[0]
    rest = [("cl_event", first), *context_of(objects)]
    return Plan(EVENT, [("cl_event", second)], lambda: call("clSetUserEventStatus", first, CL.COMPLETE), rest)


# --- what ends ---


def memory_destructor(which: str) -> Callable[[IcdObjects], Plan]:
    """What is released in the destructor callback of a buffer, or of a part of one: never that itself."""

    def make(objects: IcdObjects) -> Plan:
        call = objects.session.call
        objects.require_function(MEMORY, objects.version())
        rest = [("cl_command_queue", objects.queue), *context_of(objects)]
        own = Memory(objects).part(objects.mem, 0, 16) if which == "its buffer" else objects.named("mem2")
        released = [("cl_mem", objects.mem)]
        if which == "queue and context":
            released, rest = rest, released
        assert call(MEMORY, own, Callback(f"{MEMORY}.pfn_notify"), 7) == CL.SUCCESS
        return Plan(f"{MEMORY}.pfn_notify", released, lambda: call("clReleaseMemObject", own), rest)

    return make


def context_destructor(objects: IcdObjects) -> Plan:
    """Another context and what is in it, in the destructor callback of a context."""
    call, other = objects.session.call, objects.other
    objects.require_function(CONTEXT, objects.device_version())
    objects.require(CONTEXT, call(CONTEXT, objects.context, Callback(f"{CONTEXT}.pfn_notify"), 7))
    released = [*queue_and_memory(other), *context_of(other)]
    return Plan(f"{CONTEXT}.pfn_notify", released, lambda: call("clReleaseContext", objects.context))


# --- programs ---


def build(function: str, source: str | None = None) -> Callable[[IcdObjects], Plan]:
    """The program, and the context, in the callback of its build, compilation or linking (there the one linked)."""

    def make(objects: IcdObjects) -> Plan:
        require_compiler([objects])
        objects.require_function(function, objects.version())
        name, call = f"{function}.pfn_notify", objects.session.call
        program = objects.with_source(source) if source else objects.with_source()
        rest: Owned = []

        def trigger() -> None:
            between = (0, None, "") if function == "clBuildProgram" else (0, None, None, 0, None, None)
            error = call(function, program, *between, Callback(name), 7)
            assert error == CL.SUCCESS or source, f"{function} answered {error}"

        def link() -> None:
            code = objects.session.buffer(4)
            linked = call(function, objects.context, 0, None, None, 1, [program], Callback(name), 7, code)
            assert isinstance(linked, Value) and linked, f"{function} answered NULL"
            rest.append(("cl_program", linked))

        if function == "clLinkProgram":
            error = call("clCompileProgram", program, 0, None, None, 0, None, None, None, None)
            objects.require("clCompileProgram", error)
        released = [("cl_program", program), *context_of(objects)]
        return Plan(name, released, link if function == "clLinkProgram" else trigger, rest)

    return make


# --- functions that are commands ---


def opened(memory: Memory, gate: Value) -> Callable[[], None]:
    """Has a command run that waits for a user event. The application has a reference to the queue for that."""
    memory.succeed("clRetainCommandQueue", memory.queue)

    def trigger() -> None:
        memory.succeed("clSetUserEventStatus", gate, CL.COMPLETE)
        memory.succeed("clFlush", memory.queue)

    return trigger


def free(objects: IcdObjects) -> Plan:
    """The queue, in the function that frees shared memory, and the event of that command."""
    memory = Memory(objects)
    at, answer = objects.named("svm"), objects.session.buffer(8, 0)
    gate = objects.made_by("clCreateUserEvent", objects.context)
    memory.succeed("clEnqueueSVMFree", memory.queue, 1, [at], Callback(FREE), 7, 1, [gate], answer)
    released = [("cl_event", answer.handle()), ("cl_command_queue", memory.queue)]
    after = lambda: objects.session.call("clSVMFree", objects.context, at)  # noqa: E731
    rest = [("cl_event", gate), ("cl_command_queue", memory.queue), *context_of(objects)]
    return Plan(FREE, released, opened(memory, gate), rest, after=after)


def native(objects: IcdObjects) -> Plan:
    """The event, the queue, the memory object and the context of a native kernel, in the kernel."""
    memory = native_memory(objects)
    gate, answer = objects.made_by("clCreateUserEvent", objects.context), objects.session.buffer(8, 0)
    args = objects.session.words([0])
    mems, places = objects.session.words([objects.mem]), objects.session.words([args.at(0)])
    given = (args, 8, 1, mems, places, 1, [gate], answer)
    memory.succeed("clEnqueueNativeKernel", memory.queue, Callback(NATIVE), *given)
    released = [("cl_event", answer.handle()), *queue_and_memory(objects), *context_of(objects)]
    rest = [("cl_event", gate), ("cl_command_queue", memory.queue)]
    return Plan(NATIVE, released, opened(memory, gate), rest)


PLANS: dict[str, Callable[[IcdObjects], Plan]] = {
    **{f"user event, {name}": user_event(CL.COMPLETE, state) for name, state in STATES.items()},
    "user event, failed": user_event(CL.OUT_OF_RESOURCES),
    "user event that has ended": user_event(CL.COMPLETE, late=True),
    "user event that has failed": user_event(CL.OUT_OF_RESOURCES, late=True),
    **{f"command, {name}": command(state, False) for name, state in STATES.items()},
    **{f"command that has ended, {name}": command(state, True) for name, state in STATES.items()},
    "command, all states": every_state,
    "command, with its queue, memory and context": all_of_it,
    "another event": another_event,
    **{f"buffer: {which}": memory_destructor(which) for which in ("another buffer", "its buffer", "queue and context")},
    "context: another context": context_destructor,
    "build": build("clBuildProgram"),
    "build that fails": build("clBuildProgram", BROKEN),
    "compilation": build("clCompileProgram"),
    "compilation that fails": build("clCompileProgram", BROKEN),
    "linking": build("clLinkProgram"),
    "freeing": free,
    "native kernel": native,
}


def release_there(session: IcdSession, sandbox: Sandbox, plan: Plan) -> None:
    """Has the callback called, and releases the rest; asserts that each release is CL_SUCCESS."""
    before = session.callbacks()
    releases = [
        (name_of(kind), session.when(plan.callback, name_of(kind), own, address=session.entry(own, name_of(kind))))
        for kind, own in plan.released
    ]
    plan.trigger()
    session.await_callbacks(before + plan.calls * len(releases))
    if not times_called(sandbox, plan.callback):  # which other checks are about
        raise Unsupported("loader", f"precondition failed: {plan.callback} is not called", "precondition")
    assert session.callbacks() - before >= len(releases), "a release within the callback does not return"
    for name, release in releases:
        error = release.result()
        assert error == CL.SUCCESS, f"{name} within the callback answered {error}, expected CL_SUCCESS"
    if plan.after:
        plan.after()
    for kind, own in plan.rest:
        error = session.call(name_of(kind), own)
        assert error == CL.SUCCESS, f"{name_of(kind)} after the callback answered {error}, expected CL_SUCCESS"


def times_called(sandbox: Sandbox, callback: str) -> int:
    return len([event for event in sandbox.log if event.name == f"callback {callback}"])


@requirement("API-REF-010")
@pytest.mark.parametrize("what", PLANS)
def test_object_is_released_within_a_callback(icd: Icd, sandbox: Sandbox, what: str) -> None:
    """A callback releases objects, its own among them: it is called once, and the platform goes on to work."""
    with icd.open(sandbox) as session:
        platform = session.some_platforms()[0]
        plan = PLANS[what](session.objects(platform))
        release_there(session, sandbox, plan)
        assert session.objects(platform).named("done"), "no command can be enqueued in another context"
        assert session.quit() == 0
        called = times_called(sandbox, plan.callback)
        assert called == plan.calls, f"the callback was called {called} times, expected {plan.calls}"


@requirement("API-REF-010")
@pytest.mark.parametrize("what", [name for name in PLANS if not name.startswith("context")])
def test_context_is_deleted_when_its_objects_were_released_within_callbacks(
    icd: Icd, sandbox: Sandbox, what: str
) -> None:
    """What was released in a callback is gone: the context is deleted once, as if it had been released elsewhere."""
    with icd.open(sandbox) as session:
        objects = session.objects(session.some_platforms()[0])
        name = f"{CONTEXT}.pfn_notify"
        objects.require_function(CONTEXT, objects.device_version())
        objects.require(CONTEXT, session.call(CONTEXT, objects.context, Callback(name), 7))
        release_there(session, sandbox, PLANS[what](objects))
        session.wait_until(lambda: times_called(sandbox, name) > 0)
        assert session.quit() == 0
        called = times_called(sandbox, name)
        assert called == 1, f"the context was deleted {called} times, expected once"
