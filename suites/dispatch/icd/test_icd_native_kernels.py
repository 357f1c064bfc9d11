# SPDX-License-Identifier: Apache-2.0
"""What native kernels, which are functions of the application, get of their arguments (API-KER)."""

from __future__ import annotations

from typing import Any

from harness.check import (
    CL,
    Callback,
    CallbackArgument,
    Icd,
    IcdObjects,
    Info,
    Memory,
    Sandbox,
    native_memory,
    numbered,
    requirement,
)

FUNCTION = "clEnqueueNativeKernel"
NAME = f"{FUNCTION}.user_func"
NUMBERS = (0x1122334455667788, 0x0102030405060708)


@requirement("API-KER-008")
def test_native_kernel_gets_a_copy_of_its_arguments(icd: Icd, sandbox: Sandbox) -> None:
    """A native kernel is called once, with the arguments as they were, and finds the content of its memory objects."""
    with icd.open(sandbox) as session:
        memory = native_memory(session.objects(session.some_platforms()[0]))
        objects = memory.objects
        contents = [numbered(64, seed) for seed in (1, 2)]
        args = session.words([NUMBERS[0], 0, NUMBERS[1], 0])
        mems = session.words([memory.buffer(content) for content in contents])
        places = session.words([args.at(8), args.at(24)])
        before = args.bytes()
        seen = [session.peek_when(NAME, CallbackArgument(0), offset) for offset in (0, 16)]
        addresses = [session.peek_when(NAME, CallbackArgument(0), offset) for offset in (8, 24)]
        held = [session.peek_when(NAME, address, 8) for address in addresses]
        gate = objects.made_by("clCreateUserEvent", objects.context)
        memory.succeed(FUNCTION, memory.queue, Callback(NAME), args, 32, 2, mems, places, 1, [gate], None)
        assert args.bytes() == before, "the application's own arguments were changed"
        args.fill(0)
        memory.succeed("clSetUserEventStatus", gate, CL.COMPLETE)
        memory.finish()
        assert session.callbacks() == 6, "the kernel was not called once, or could not read what it was given"
        assert [session.number_of(value) for value in seen] == list(NUMBERS), "what the kernel got"
        result = [session.number_of(value).to_bytes(8, "little") for value in held]
        assert result == [content[8:16] for content in contents], "what the kernel found in its memory objects"


@requirement("API-KER-008")
def test_native_kernel_without_memory_objects_gets_a_copy(icd: Icd, sandbox: Sandbox) -> None:
    """Arguments without memory objects are copied, too: the application may use their memory again at once."""
    with icd.open(sandbox) as session:
        memory = native_memory(session.objects(session.some_platforms()[0]))
        args = session.words(list(NUMBERS))
        seen = [session.peek_when(NAME, CallbackArgument(0), offset) for offset in (0, 8)]
        gate = memory.objects.made_by("clCreateUserEvent", memory.objects.context)
        memory.succeed(FUNCTION, memory.queue, Callback(NAME), args, 16, 0, None, None, 1, [gate], None)
        args.fill(0)
        memory.succeed("clSetUserEventStatus", gate, CL.COMPLETE)
        memory.finish()
        assert session.callbacks() == 2, "the kernel was not called once, or could not read what it was given"
        assert [session.number_of(value) for value in seen] == list(NUMBERS), "what the kernel got"


# Arguments that do not agree: args, cb_args, num_mem_objects, mem_list, args_mem_loc.
WRONG: dict[str, tuple[Any, ...]] = {
    "no arguments, but a size": (None, 8, 0, None, None),
    "arguments, but no size": ("args", 0, 0, None, None),
    "memory objects, but no list": ("args", 8, 1, None, "places"),
    "memory objects, but no places": ("args", 8, 1, "mems", None),
    "a list, but no memory objects": ("args", 8, 0, "mems", None),
    "places, but no memory objects": ("args", 8, 0, None, "places"),
    "memory objects, but no arguments": (None, 0, 1, "mems", "places"),
}


@requirement("API-KER-008")
def test_native_kernel_of_arguments_that_do_not_agree_is_invalid_value(icd: Icd, sandbox: Sandbox) -> None:
    """Arguments, memory objects and their places are given together, and so is the function: CL_INVALID_VALUE else."""

    def check(objects: IcdObjects, name: str) -> None:
        memory, session = native_memory(objects), objects.session
        args = session.words([0])
        known = {"args": args, "mems": session.words([objects.mem]), "places": session.words([args.at(0)])}
        function = None if name == "no function" else Callback(NAME)
        rest = [known.get(word, word) for word in WRONG.get(name, ("args", 8, 0, None, None))]
        good = session.call(FUNCTION, memory.queue, Callback(NAME), args, 8, 0, None, None, 0, None, None)
        assert good == CL.SUCCESS, f"answered {good} to arguments that agree"
        memory.finish()
        error = session.call(FUNCTION, memory.queue, function, *rest, 0, None, None)
        assert error == CL.INVALID_VALUE, f"answered {error}, expected CL_INVALID_VALUE"

    with icd.attempts(sandbox) as attempts:
        for name in ("no function", *WRONG):
            attempts.check(name, lambda objects, name=name: check(objects, name))  # type: ignore[misc]


def enqueue(memory: Memory, count: int, waits: Any, queue: Any = "own", event: Any = None) -> int:
    """Enqueues a native kernel of one word; gives what the call answers."""
    args, own = memory.session.words([0]), memory.queue if queue == "own" else queue
    return memory.session.call(FUNCTION, own, Callback(NAME), args, 8, 0, None, None, count, waits, event)


@requirement("API-KER-013")
def test_native_kernel_is_a_command_like_others(icd: Icd, sandbox: Sandbox) -> None:
    """It waits for its events, has an event of its type, and is refused with a wrong queue or list."""

    def check_event(objects: IcdObjects) -> None:
        memory, info = native_memory(objects), Info(objects)
        gate, event = objects.made_by("clCreateUserEvent", objects.context), objects.session.buffer(8, 0)
        assert enqueue(memory, 1, [gate], event=event) == CL.SUCCESS
        memory.succeed("clFlush", memory.queue)
        own = event.handle()
        had = info.number("clGetEventInfo", own, "CL_EVENT_COMMAND_EXECUTION_STATUS")
        memory.succeed("clSetUserEventStatus", gate, CL.COMPLETE)
        memory.finish()
        assert had > CL.COMPLETE, f"the status is {had} before the event that it waits for has ended"
        expected = {"TYPE": CL.COMMAND_NATIVE_KERNEL, "QUEUE": int(memory.queue), "EXECUTION_STATUS": CL.COMPLETE}
        for query, value in expected.items():
            actual = info.number("clGetEventInfo", own, f"CL_EVENT_COMMAND_{query}")
            assert actual == value, f"CL_EVENT_COMMAND_{query} is {actual:#x}, expected {int(value):#x}"

    def check_failure(objects: IcdObjects) -> None:
        memory, info = native_memory(objects), Info(objects)
        gate, event = objects.made_by("clCreateUserEvent", objects.context), objects.session.buffer(8, 0)
        assert enqueue(memory, 1, [gate], event=event) == CL.SUCCESS
        memory.succeed("clFlush", memory.queue)
        memory.succeed("clSetUserEventStatus", gate, CL.OUT_OF_RESOURCES)
        error = objects.session.call("clWaitForEvents", 1, [event.handle()])
        assert error == CL.EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, f"waiting for it answered {error}"
        status = info.number("clGetEventInfo", event.handle(), "CL_EVENT_COMMAND_EXECUTION_STATUS")
        assert status >> 31, f"its status is {status}, expected an error"

    def check_refused(objects: IcdObjects, how: str) -> None:
        memory = native_memory(objects)
        done, other = objects.named("done"), objects.other
        error, expected = {
            "NULL as queue": lambda: (enqueue(memory, 0, None, queue=None), CL.INVALID_COMMAND_QUEUE),
            "a count without a list": lambda: (enqueue(memory, 1, None), CL.INVALID_EVENT_WAIT_LIST),
            "a list without a count": lambda: (enqueue(memory, 0, [done]), CL.INVALID_EVENT_WAIT_LIST),
            "NULL as event": lambda: (enqueue(memory, 1, [0]), CL.INVALID_EVENT_WAIT_LIST),
            "an event of another context": lambda: (enqueue(memory, 1, [other.named("done")]), CL.INVALID_CONTEXT),
        }[how]()
        assert error == expected, f"answered {error}, expected {expected!r}"

    with icd.attempts(sandbox, until_hung=True) as attempts:
        attempts.check("an event", check_event)
        attempts.check("an event that fails", check_failure)
        for how in (
            "NULL as queue", "a count without a list", "a list without a count", "NULL as event",
            "an event of another context",
        ):  # fmt: skip
            attempts.check(how, lambda objects, how=how: check_refused(objects, how))  # type: ignore[misc]
