# SPDX-License-Identifier: Apache-2.0
"""Objects that a vendor hands to callbacks: the application's own, and fit for use (DISP-OBJ)."""

from __future__ import annotations

import pytest

from harness.check import (
    CL,
    FURTHER_OBJECTS,
    PLAIN_FORMAT,
    SHAPES,
    Callback,
    CallbackArgument,
    Icd,
    IcdObjects,
    IcdSession,
    Images,
    Sandbox,
    Value,
    api,
    require_compiler,
    requirement,
)

DESTRUCTOR = "clSetMemObjectDestructorCallback"


def platform_of(session: IcdSession) -> IcdObjects:
    return session.objects(session.some_platforms()[0])


def counted(session: IcdSession, function: str) -> IcdObjects:
    """A platform that has this function, whose callbacks are counted from now on."""
    objects = platform_of(session)
    objects.require_function(function, objects.version())
    session.count_callback(f"{function}.pfn_notify", objects.device)
    return objects


def handles(sandbox: Sandbox, callback: str) -> list[int]:
    """The first argument of each call of a callback so far."""
    return [event.arguments[0] for event in sandbox.log if event.name == f"callback {callback}"]


@requirement("DISP-OBJ-005")
def test_event_in_its_callback_is_the_applications(icd: Icd, sandbox: Sandbox) -> None:
    """The callback of an event gets the event of the application, whose context can be asked there."""
    name = "clSetEventCallback.pfn_notify"
    with icd.open(sandbox) as session:
        objects = platform_of(session)
        objects.require_function("clSetEventCallback", objects.version())
        answer = session.buffer(8, 0)
        address = session.entry(objects.event, "clGetEventInfo")
        query = api().constant("CL_EVENT_CONTEXT")
        query_result = session.when(
            name, "clGetEventInfo", CallbackArgument(0), query, 8, answer, None, address=address
        )
        assert session.call("clSetEventCallback", objects.event, 0, Callback(name), None) == CL.SUCCESS
        assert session.call("clSetUserEventStatus", objects.event, 0) == CL.SUCCESS
        session.await_callbacks()
        assert handles(sandbox, name) == [objects.event]
        assert (query_result.result(), answer.u64()) == (0, objects.context)


@requirement("DISP-OBJ-005")
def test_program_in_its_callback_is_the_applications(icd: Icd, sandbox: Sandbox) -> None:
    """The callback of a build gets the program of the application, whose context can be asked there."""
    name = "clBuildProgram.pfn_notify"
    with icd.open(sandbox) as session:
        objects = platform_of(session)
        program, answer = objects.with_source(), session.buffer(8, 0)
        address = session.entry(program, "clGetProgramInfo")
        query = api().constant("CL_PROGRAM_CONTEXT")
        query_result = session.when(
            name, "clGetProgramInfo", CallbackArgument(0), query, 8, answer, None, address=address
        )
        assert session.call("clBuildProgram", program, 1, [objects.device], "", Callback(name), None) == CL.SUCCESS
        session.await_callbacks()
        assert handles(sandbox, name) == [program]
        assert (query_result.result(), answer.u64()) == (0, objects.context)


# The callback of each function that compiles is called with the program that it is about.
BROKEN = "kernel void broken(global int *to) { to[0] = clharness_undeclared; }"
COMPILING = ("clBuildProgram", "clCompileProgram", "clLinkProgram")


@requirement("API-EVT-016")
@pytest.mark.parametrize("function", COMPILING)
def test_callback_of_a_compiler_is_called_once_when_it_is_done(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """The callback of a build, a compilation or a linking is called once, with its program and data, at its end."""
    name = f"{function}.pfn_notify"
    with icd.open(sandbox) as session:
        objects = platform_of(session)
        require_compiler([objects])
        objects.require_function(function, objects.version())
        program, answer = objects.with_source(), session.buffer(4)
        address = session.entry(program, "clGetProgramBuildInfo")
        query = api().constant("CL_PROGRAM_BUILD_STATUS")
        if function == "clLinkProgram":
            compiled = session.call("clCompileProgram", program, 0, None, None, 0, None, None, None, None)
            objects.require("clCompileProgram", compiled)
        session.when(
            name, "clGetProgramBuildInfo", CallbackArgument(0), objects.device, query, 4, answer, None, address=address
        )
        callback = Callback(name)
        if function == "clLinkProgram":
            program = objects.made_by(function, objects.context, 0, None, None, 1, [program], callback, 7)
        else:
            between = (0, None, "") if function == "clBuildProgram" else (0, None, None, 0, None, None)
            objects.require(function, session.call(function, program, *between, callback, 7))
        session.await_callbacks()
        assert answer.i32() == CL.BUILD_SUCCESS, "the callback was called before the end"
        assert session.quit() == 0
        assert [tuple(e.arguments[:2]) for e in sandbox.log if e.name == f"callback {name}"] == [(program, 7)]


@requirement("API-EVT-016")
@pytest.mark.parametrize("function", COMPILING[:2])
def test_callback_of_a_compiler_is_called_when_it_fails(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """The callback of a build or a compilation of a source with an error is called once, too, with its data."""
    name = f"{function}.pfn_notify"
    with icd.open(sandbox) as session:
        objects = platform_of(session)
        require_compiler([objects])
        objects.require_function(function, objects.version())
        program = objects.with_source(BROKEN)
        between = (0, None, "") if function == "clBuildProgram" else (0, None, None, 0, None, None)
        session.count_callback(name, objects.device)
        session.call(function, program, *between, Callback(name), 7)  # with a callback, it may end later
        session.await_callbacks()
        assert session.quit() == 0
        assert [tuple(e.arguments[:2]) for e in sandbox.log if e.name == f"callback {name}"] == [(program, 7)]


@requirement("API-REF-004")
def test_memory_object_in_its_callback_is_the_applications(icd: Icd, sandbox: Sandbox) -> None:
    """The destructor callback of a memory object gets the handle that the application has."""
    name = f"{DESTRUCTOR}.pfn_notify"
    with icd.open(sandbox) as session:
        objects = counted(session, DESTRUCTOR)
        assert session.call(DESTRUCTOR, objects.mem, Callback(name), None) == CL.SUCCESS
        assert session.call("clReleaseMemObject", objects.mem) == CL.SUCCESS
        session.await_callbacks()
        assert handles(sandbox, name) == [objects.mem]


@requirement("DISP-OBJ-005")
def test_callbacks_of_two_events_get_one_each(icd: Icd, sandbox: Sandbox) -> None:
    """Two events whose callbacks are called in one process are told apart: each callback gets its own."""
    name = "clSetEventCallback.pfn_notify"
    with icd.open(sandbox) as session:
        objects = counted(session, "clSetEventCallback")
        events = [objects.made_by("clCreateUserEvent", objects.context) for _ in range(2)]
        for event in events:
            assert session.call("clSetEventCallback", event, 0, Callback(name), None) == CL.SUCCESS
        for event in reversed(events):
            assert session.call("clSetUserEventStatus", event, 0) == CL.SUCCESS
        session.await_callbacks(2)
        assert sorted(handles(sandbox, name)) == sorted(events)


@requirement("DISP-OBJ-005")
def test_callbacks_of_two_builds_get_one_program_each(icd: Icd, sandbox: Sandbox) -> None:
    """Two programs that are built in one process are told apart: each callback gets its own."""
    name = "clBuildProgram.pfn_notify"
    with icd.open(sandbox) as session:
        objects = platform_of(session)
        require_compiler([objects])
        session.count_callback(name, objects.device)
        programs = [objects.with_source(), objects.with_source()]
        for number, program in enumerate(programs):
            assert session.call("clBuildProgram", program, 0, None, None, Callback(name), None) == CL.SUCCESS
            session.await_callbacks(number + 1)
        assert handles(sandbox, name) == programs


@requirement("API-REF-004")
def test_destructor_callbacks_of_two_buffers_get_one_each(icd: Icd, sandbox: Sandbox) -> None:
    """Two buffers that end in one process are told apart: each callback gets its own."""
    name = f"{DESTRUCTOR}.pfn_notify"
    with icd.open(sandbox) as session:
        objects = counted(session, DESTRUCTOR)
        buffers = [objects.made_by("clCreateBuffer", objects.context, 0, 64, None) for _ in range(2)]
        for buffer in buffers:
            assert session.call(DESTRUCTOR, buffer, Callback(name), None) == CL.SUCCESS
        for number, buffer in enumerate(reversed(buffers)):
            assert session.call("clReleaseMemObject", buffer) == CL.SUCCESS
            session.await_callbacks(number + 1)
        assert handles(sandbox, name) == buffers[::-1]


@requirement("API-REF-004")
@pytest.mark.parametrize("function", [f for f, (kind, _) in FURTHER_OBJECTS.items() if kind == "cl_mem"])
def test_destructor_callback_of_each_kind_of_memory_object_is_called_once(
    icd: Icd, sandbox: Sandbox, function: str
) -> None:
    """Sub-buffers, images and pipes tell of their end as well, each once and with the application's handle."""
    with icd.open(sandbox) as session:
        objects = counted(session, DESTRUCTOR)
        objects.require_function(function, objects.version())
        expect_one_call(objects, sandbox, FURTHER_OBJECTS[function][1](objects))


@requirement("API-REF-004")
@pytest.mark.parametrize("kind", SHAPES)
def test_destructor_callback_of_an_image_of_each_kind_is_called_once(icd: Icd, sandbox: Sandbox, kind: str) -> None:
    """So do images of each kind."""
    with icd.open(sandbox) as session:
        objects = counted(session, DESTRUCTOR)
        images = Images(objects)
        images.require(kind, PLAIN_FORMAT)
        expect_one_call(objects, sandbox, images.image(kind, PLAIN_FORMAT))


def expect_one_call(objects: IcdObjects, sandbox: Sandbox, memory: Value) -> None:
    """The destructor callback of a memory object is called once, when that is released, with its handle."""
    session, name = objects.session, f"{DESTRUCTOR}.pfn_notify"
    assert session.call(DESTRUCTOR, memory, Callback(name), None) == CL.SUCCESS
    assert session.callbacks() == 0
    assert session.call("clReleaseMemObject", memory) == CL.SUCCESS
    session.await_callbacks()
    assert session.quit() == 0
    assert handles(sandbox, name) == [memory]
