# SPDX-License-Identifier: Apache-2.0
"""What calls leave behind in the reference counts of a vendor's objects: nothing (API-REF)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.check import (
    CL,
    FURTHER_OBJECTS,
    OBJECT_QUERIES,
    Buffer,
    Callback,
    Icd,
    IcdObjects,
    Sandbox,
    Unsupported,
    Value,
    api,
    calls,
    queries,
    requirement,
)

REPEATS = 8
ROOM = 4096  # bytes for an answer
COUNTED = {kind: about for kind, about in OBJECT_QUERIES.items() if about[1].endswith("REFERENCE_COUNT")}
NAMES = {"cl_mem": "MemObject", "cl_command_queue": "CommandQueue", "cl_device_id": "Device"}
SHARED = ("svm", "svm2")
CONSUMED = ("svm_mapped", "mapped", "w:svm")  # made for each call, and given up by it
QUERIES = sorted({query.function for query in queries()} & calls.recipes().keys())
COMMANDS = [name for name in calls.commands_with_events() if not {*CONSUMED} & {*calls.recipes()[name].words}]
MAKERS = [
    name
    for name in calls.recipes()
    if name.startswith(("clCreate", "clLink", "clClone", "clSVMAlloc")) and name not in calls.FOREIGN_PROGRAMS
]
# Others change counts, or keep what they are given by their purpose.
OTHERS = [
    name
    for name, recipe in calls.recipes().items()
    if not {*CONSUMED} & {*recipe.words}
    and name.startswith(
        (
            "clBuild",
            "clCompile",
            "clSetKernel",
            "clSetUserEvent",
            "clSetEventCallback",
            "clFlush",
            "clFinish",
            "clWaitFor",
        )
    )
]
# Objects that are asked the queries of a class: what they are made of differs.
ASKED = {
    "clGetMemObjectInfo": ("mem", "part", "image"),
    "clGetImageInfo": ("image",),
    "clGetKernelInfo": ("args", "kernel"),
}
# Calls with more objects than the proper call has.
WITH_MORE = {
    "clCompileProgram": {"num_input_headers": "1", "input_headers": "w:source", "header_include_names": "p:s:some.h"},
    "clCreateImage": {"image_desc": "w:CL_MEM_OBJECT_IMAGE1D_BUFFER,4,0,0,0,0,0,0,mem"},
    "clEnqueueMarkerWithWaitList": {"num_events_in_wait_list": "1", "event_wait_list": "w:done"},
    "clEnqueueWriteBuffer": {"num_events_in_wait_list": "1", "event_wait_list": "w:done"},
}
# One refusal of each function that does not depend on how a driver treats NULL.
REFUSED = {
    "clCreateBuffer": {"size": "0"},
    "clCreateImage": {"image_desc": "w:0x7fff,4,4,0,0,0,0,0,0"},
    "clCreateSubBuffer": {"buffer_create_info": "w:64,16"},
    "clCreateKernel": {"kernel_name": "s:clharness_no_such_kernel"},
    "clCreateProgramWithSource": {"count": "0"},
    "clCreateCommandQueue": {"properties": "0x8000000000000000"},
    "clCreateCommandQueueWithProperties": {"properties": "w:0x7777,1,0"},
    "clSetKernelArg": {"arg_index": "1000"},
    "clEnqueueReadBuffer": {"offset": "4096"},
    "clEnqueueWriteBuffer": {"offset": "4096"},
    "clEnqueueCopyBuffer": {"src_offset": "4096"},
    "clEnqueueFillBuffer": {"pattern_size": "3"},
    "clEnqueueNDRangeKernel": {"work_dim": "0"},
    "clGetMemObjectInfo": {"param_name": "0xffff"},
    "clGetKernelInfo": {"param_name": "0xffff"},
    "clGetEventInfo": {"param_name": "0xffff"},
}


def program_of_binary(objects: IcdObjects) -> calls.Call:
    """The call that makes a program of the binary of another. Makes the attempt `unsupported` where there is none."""
    session, name = objects.session, "clCreateProgramWithBinary"
    program, size = objects.named("built"), session.buffer(8, 0)
    objects.require(name, session.call("clGetProgramInfo", program, CL.PROGRAM_BINARY_SIZES, 8, size, None))
    if not size.u64():
        raise Unsupported("loader", "the program has no binary", "binaries")
    binary = session.buffer(size.u64(), 0)
    objects.require(name, session.call("clGetProgramInfo", program, CL.PROGRAM_BINARIES, 8, [binary], None))
    code = session.buffer(4)
    listed = [session.words([own]) for own in (objects.device, binary.size, binary)]
    return calls.Call(objects, api().functions[name], [objects.context, 1, *listed, None, code])


def release(objects: IcdObjects, kind: str, handle: Value) -> None:
    name = NAMES.get(kind) or kind.removeprefix("cl_").title()
    objects.require(f"clRelease{name}", objects.session.call(f"clRelease{name}", handle))


def give_back(objects: IcdObjects, call: calls.Call) -> None:
    """Releases what a call that succeeded gave."""
    session, function = objects.session, call.function
    made = call.result if isinstance(call.result, Value) else None
    if made and function.result_handle:
        release(objects, function.result_handle, made)
    elif made and function.name == "clSVMAlloc":
        session.call("clSVMFree", objects.context, made)
    elif made:
        session.call("clEnqueueUnmapMemObject", objects.queue, call.arguments[1], made, 0, None, None)
    if function.name == "clEnqueueSVMMap":
        session.call("clEnqueueSVMUnmap", objects.queue, call.arguments[3], 0, None, None)
    for parameter, argument in zip(function.parameters, call.arguments, strict=True):
        if parameter.kind == "handle_out" and isinstance(argument, Buffer):
            for place in range(0, argument.size, 8):
                release(objects, parameter.handle, argument.handle(place))
    session.call("clFinish", objects.queue)
    for word, argument in zip(calls.recipes()[function.name].words, call.arguments, strict=True):
        if word in SHARED:
            session.call("clSVMFree", objects.context, argument)


def counts(objects: IcdObjects, call: calls.Call) -> dict[str, int]:
    """The references of all objects that a call can have to do with, by what they are."""
    held = {f"the {kind}": (kind, handle) for kind, handle in objects.by_type().items()}
    for parameter, argument in zip(call.function.parameters, call.arguments, strict=True):
        if parameter.kind == "handle" and argument:
            held[parameter.name] = (parameter.handle, argument)
        elif parameter.kind == "handles" and isinstance(argument, Buffer):
            held |= {f"{parameter.name}[{i}]": (parameter.handle, own) for i, own in enumerate(argument.handles())}
    result = {}
    for name, (kind, handle) in held.items():
        if kind in COUNTED:
            function, query = COUNTED[kind]
            answer = objects.session.buffer(4)
            objects.require(function, objects.session.call(function, handle, api().constant(query), 4, answer, None))
            result[name] = answer.u32()
    return result


def expect_nothing_kept(objects: IcdObjects, prepare: Callable[[], calls.Call]) -> None:
    """Makes a call again and again, and gives back what it gave. A driver may keep a reference for a while, to the
    last ones: what grows with each call is lost."""
    call, before = prepare(), dict[str, int]()
    for number in range(REPEATS + 1):
        error = call.make()
        if error == CL.SUCCESS or call.function.name == "clSVMAlloc":
            give_back(objects, call)
        else:
            calls.require_function(objects, call.function.name, error)
        before = before if number else counts(objects, call)
        if number < REPEATS:
            call = prepare()
    for name, count in counts(objects, call).items():
        kept = count - before.get(name, count)
        assert kept < REPEATS, f"{kept} references to {name} are left after {REPEATS} calls"


@requirement("API-REF-008")
@pytest.mark.parametrize(
    "functions", [QUERIES, COMMANDS, MAKERS, OTHERS], ids=["queries", "commands", "makers", "others"]
)
def test_call_keeps_no_reference_to_what_it_is_given(icd: Icd, sandbox: Sandbox, functions: list[str]) -> None:
    """A call that has done its work leaves the references of its objects as they were."""

    def check(objects: IcdObjects, function: str) -> None:
        objects.require_function(function, objects.version())
        expect_nothing_kept(objects, lambda: calls.prepare(objects, function))

    def ask(objects: IcdObjects, function: str, query: int, of: str) -> None:
        objects.require_function(function, objects.version())

        call = calls.prepare(objects, function)
        call.arguments[0] = objects.named(of) if of else call.arguments[0]
        call.arguments[-4:] = [query, ROOM, objects.session.buffer(ROOM, 0), None]
        if (error := call.make()) != CL.SUCCESS:
            raise Unsupported("loader", f"answered {error}: there is nothing to tell", function)
        expect_nothing_kept(objects, lambda: call)

    def check_more(objects: IcdObjects, function: str) -> None:
        objects.require_function(function, objects.version())
        if function == "clCreateImage":
            objects.require_images()
        expect_nothing_kept(objects, lambda: calls.prepare(objects, function, WITH_MORE[function]))

    def check_binary(objects: IcdObjects) -> None:
        call = program_of_binary(objects)
        expect_nothing_kept(objects, lambda: call)

    with icd.attempts(sandbox) as attempts:
        if functions is MAKERS:
            attempts.check("clCreateProgramWithBinary", check_binary)
        for function in functions:
            if functions is not QUERIES:
                attempts.check(function, lambda objects, function=function: check(objects, function))  # type: ignore[misc]
                if function in WITH_MORE:
                    label = f"{function} with {' '.join(WITH_MORE[function])}"
                    attempts.check(label, lambda objects, function=function: check_more(objects, function))  # type: ignore[misc]
                continue
            for query in queries():
                if query.function != function or query.name == "CL_PROGRAM_BINARIES":
                    continue  # its answer goes where the memory points to
                for of in ASKED.get(function, ("",)):
                    attempts.check(
                        f"{query.name} {of}".strip(),
                        lambda objects, f=function, q=query.number, o=of: ask(objects, f, q, o),  # type: ignore[misc]
                    )


@requirement("API-REF-008")
def test_refused_call_keeps_no_reference_to_what_it_is_given(icd: Icd, sandbox: Sandbox) -> None:
    """Nor does a call that is refused: each way out of a function gives back what it took."""

    def check(objects: IcdObjects, function: str) -> None:
        objects.require_function(function, objects.version())
        if "Image" in function:
            objects.require_images()
        expect_nothing_kept(objects, lambda: calls.prepare(objects, function, REFUSED[function]))

    with icd.attempts(sandbox) as attempts:
        for function in REFUSED:
            attempts.check(function, lambda objects, function=function: check(objects, function))  # type: ignore[misc]


# --- the end of a context ---


def made_by(function: str) -> Callable[[IcdObjects], tuple[str, Value]]:
    return lambda objects: (FURTHER_OBJECTS[function][0], FURTHER_OBJECTS[function][1](objects))


def of_class(kind: str) -> Callable[[IcdObjects], tuple[str, Value]]:
    return lambda objects: (kind, objects[kind])


def user_event(objects: IcdObjects) -> tuple[str, Value]:
    return "cl_event", objects.made_by("clCreateUserEvent", objects.context)


def event_of(command: str) -> Callable[[IcdObjects], tuple[str, Value]]:
    """The event of a command that has ended; what it had to do with, besides one object of each class, is released."""

    def make(objects: IcdObjects) -> tuple[str, Value]:
        call = calls.prepare(objects, command)
        event = objects.session.buffer(8, 0)
        names = [parameter.name for parameter in call.function.parameters]
        call.arguments[names.index("event")] = event
        error = call.make()
        calls.require_function(objects, command, error)
        objects.require(command, error)
        if "Map" in command:
            unmap = "clEnqueueUnmapMemObject"
            mem = call.arguments[names.index("buffer" if "buffer" in names else "image")]
            objects.require(unmap, objects.session.call(unmap, objects.queue, mem, call.result, 0, None, None))
        objects.require("clFinish", objects.session.call("clFinish", objects.queue))
        own = {argument for argument in call.arguments if isinstance(argument, Value)} - {*objects.by_type().values()}
        for memory in own:
            release(objects, "cl_mem", memory)
        return "cl_event", event.handle()

    return make


# Commands that have to do with nothing but a queue and memory objects.
OF_MEMORY = [
    name
    for name in COMMANDS
    if {word for word in calls.recipes()[name].words if word.isalpha()} <= {"queue", "mem", "image"}
]
LAST = {
    **{kind: of_class(kind) for kind in COUNTED if kind != "cl_context"},
    "user event": user_event,
    **{name: event_of(name) for name in OF_MEMORY},
    **{
        name: made_by(name)
        for name, (kind, _) in FURTHER_OBJECTS.items()
        if kind not in ("cl_context", "cl_device_id") and name != "clCreateProgramWithBinary"  # makes another, too
    },
}


@requirement("API-REF-009")
def test_context_ends_with_the_last_of_what_was_made_in_it(icd: Icd, sandbox: Sandbox) -> None:
    """A context that the application has released is deleted when the last object in it is, of each class."""
    name = "clSetContextDestructorCallback"
    counting: list[object] = []

    def check(platform: IcdObjects, last: str) -> None:
        platform.require_function(name, platform.device_version())
        session = platform.session
        objects = type(platform)(session, platform.platform)
        if session not in counting:
            counting.append(session)
            session.count_callback(f"{name}.pfn_notify", objects.device)
        before = session.callbacks()
        objects.require(name, session.call(name, objects.context, Callback(f"{name}.pfn_notify"), 1))
        kind, child = LAST[last](objects)
        for other in ("cl_event", "cl_kernel", "cl_program", "cl_mem", "cl_sampler", "cl_command_queue", "cl_context"):
            handle = objects.by_type().get(other, child)
            if handle != child:
                release(objects, other, handle)
        assert session.callbacks() == before, f"the context was deleted before the last object in it, a {kind}"
        release(objects, kind, child)
        session.await_callbacks(before + 1)
        called = session.callbacks() - before
        assert called == 1, (
            f"the context was deleted {called} times after the release of the last object in it, a {kind}"
        )

    with icd.attempts(sandbox) as attempts:
        for last in LAST:
            if not attempts.failures:  # each waits long for a context that does not end
                attempts.check(last, lambda objects, last=last: check(objects, last))  # type: ignore[misc]
