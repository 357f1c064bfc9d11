# SPDX-License-Identifier: Apache-2.0
"""Functions of OpenGL and EGL sharing: two vendors that have them beside one that has not (GL-OBJ, GL-ACQ, GL-EVT)."""

from __future__ import annotations

from typing import Any

import pytest

from harness.check import (
    CL,
    CallLog,
    Function,
    Loader,
    Objects,
    PatternedCall,
    Sandbox,
    Session,
    Value,
    api,
    requirement,
    slots,
)

NULL = {
    "context": CL.INVALID_CONTEXT,
    "queue": CL.INVALID_COMMAND_QUEUE,
    "memory": CL.INVALID_MEM_OBJECT,
}  # the error where that handle is NULL

OF_MEMORY = (
    "clCreateFromGLBuffer",
    "clCreateFromGLTexture",
    "clCreateFromGLTexture2D",
    "clCreateFromGLTexture3D",
    "clCreateFromGLRenderbuffer",
    "clGetGLObjectInfo",
    "clGetGLTextureInfo",
)
OF_COMMANDS = (
    "clEnqueueAcquireGLObjects",
    "clEnqueueReleaseGLObjects",
    "clEnqueueAcquireEGLObjectsKHR",
    "clEnqueueReleaseEGLObjectsKHR",
)
OF_EVENTS = ("clCreateEventFromGLsyncKHR", "clCreateEventFromEGLSyncKHR", "clCreateFromEGLImageKHR")


def each(names: tuple[str, ...], identifier: str) -> list[Any]:
    return [pytest.param(api().functions[n], id=n, marks=pytest.mark.requirement(identifier)) for n in names]


ALL = [*each(OF_MEMORY, "GL-OBJ-016"), *each(OF_COMMANDS, "GL-ACQ-011"), *each(OF_EVENTS, "GL-EVT-010")]


def ways(cl: Session, function: Function, platform: Value) -> list[Value | None]:
    """Where an application has the function from, for an object of the platform: None for the exported name."""
    result: list[Value | None] = [None] if cl.symbol(function.name) else []
    queried = cl.GetExtensionFunctionAddress(function.name)
    for_platform = cl.call("clGetExtensionFunctionAddressForPlatform", platform, function.name)
    assert isinstance(for_platform, Value)
    return result + [address for address in (queried, for_platform) if address]


def three_vendors(loader: Loader, sandbox: Sandbox, function: Function) -> None:
    """The vendor in the middle has no such function."""
    for name in "abc":
        behaviour = {"lacks" if name == "b" else "answers": [function.name]}
        sandbox.vendor(name, functions=behaviour, icd2=name == "c" and loader.has("ICD 2"))


def objects_by_owner(cl: Session) -> dict[str, Objects]:
    platforms = {o.owner: o for o in (Objects(cl, platform) for platform in cl.GetPlatformIDs())}
    assert sorted(platforms) == ["a", "b", "c"]
    return platforms


@pytest.mark.parametrize("function", ALL)
def test_gl_calls_reach_the_two_vendors_that_have_the_function(
    loader: Loader, sandbox: Sandbox, function: Function
) -> None:
    """However the function is had, calls reach the two vendors that have it, unchanged, and NULL reaches nobody."""
    three_vendors(loader, sandbox, function)
    error = NULL[slots()[function.name].class_]
    with loader.start(sandbox) as cl:
        objects = objects_by_owner(cl)
        calls = []
        for owner in ("a", "c", "a"):
            for address in ways(cl, function, objects[owner].platform):
                call = PatternedCall(cl, function, objects[owner], address=address)
                null = function.parameters[call.routing].name
                calls += [call, PatternedCall(cl, function, objects[owner], address=address, null=null)]
        for call in calls:
            call.make()
        logs = sandbox.log.during(function.name)
        assert len(logs) >= 6
        for call, log in zip(calls, logs, strict=True):
            if call.null and reached(log) == []:
                assert not call.refusal_problems(error)
            elif call.null:  # a query for a platform may answer the vendor's own function, which is for it to guard
                assert call.address is not None
                assert cl.module(call.address) != str(loader.path)
            else:
                assert not call.problems(log)


def reached(log: CallLog) -> list[str]:
    return [event.who for event in log.calls() if event.who != "application"]


@requirement("GL-OBJ-017")
@pytest.mark.parametrize(
    "function",
    [pytest.param(api().functions[name], id=name) for name in (*OF_MEMORY, *OF_COMMANDS, *OF_EVENTS)],
)
def test_gl_call_to_a_vendor_without_the_function_is_invalid_operation(
    loader: Loader, sandbox: Sandbox, function: Function
) -> None:
    """A call on an object of the vendor that has no such function answers CL_INVALID_OPERATION; the others get none."""
    three_vendors(loader, sandbox, function)
    with loader.start(sandbox) as cl:
        objects = objects_by_owner(cl)
        control = PatternedCall(cl, function, objects["c"], address=ways(cl, function, objects["c"].platform)[0])
        control.make()
        calls = [
            PatternedCall(cl, function, objects["b"], address=a) for a in ways(cl, function, objects["b"].platform)
        ]
        for call in calls:
            call.make()
        logs = sandbox.log.during(function.name)
        assert not control.problems(logs[0])
        for call, log in zip(calls, logs[1:], strict=True):
            assert reached(log) == []
            assert not call.refusal_problems(CL.INVALID_OPERATION)


CODES = (-1000, -1093, -1092, -60, -62, -64, -39, -30, -1, 1, 0x7FFFFFFF, -0x80000000)


@pytest.mark.parametrize("function", ALL)
def test_errors_of_gl_functions_come_back(loader: Loader, sandbox: Sandbox, function: Function) -> None:
    """Every error of a vendor comes back as it is, with NULL where an object would be, and nothing is written."""
    for code in CODES:
        extensions = "cl_khr_gl_sharing cl_khr_gl_event cl_khr_egl_image cl_khr_egl_event"
        faults = [f"gl_functions_answer={code}"]
        sandbox.vendor(f"v{code & 0xFFFFFFFF:x}", extensions=f"cl_khr_icd {extensions}", faults=faults)
    with loader.start(sandbox) as cl:
        platforms = cl.GetPlatformIDs()
        assert len(platforms) == len(CODES)
        for platform in platforms:
            objects = Objects(cl, platform)
            code = int(objects.owner[1:], 16)
            found = ways(cl, function, platform)
            assert found
            call = PatternedCall(cl, function, objects, address=found[-1])
            call.make()
            assert not call.refusal_problems((code & 0x7FFFFFFF) - (code & 0x80000000))


GL_SHARING = "cl_khr_icd cl_khr_gl_sharing cl_khr_gl_event cl_khr_egl_image cl_khr_egl_event"
# Numbers that mean something to the mock ICD (mock_icds/gl_world.h).
CONTEXT, DISPLAY, BUFFER, TEXTURE, SYNC, EGL_SYNC, IMAGE = (
    0x61C00100,
    0x61E61000,
    101,
    201,
    0x61F00100,
    0x61E00100,
    0x61A00100,
)


class Sharing:
    """A vendor's OpenGL context, used through the loader as an application uses it."""

    def __init__(self, cl: Session, platform: Value) -> None:
        self.cl = cl
        self.platform = platform
        self.found: dict[str, Value | None] = {}
        self.device = cl.GetDeviceIDs(platform)[0]
        names = ("CL_GL_CONTEXT_KHR", CONTEXT, "CL_EGL_DISPLAY_KHR", DISPLAY, "CL_CONTEXT_PLATFORM", platform)
        words = [api().constant(name) if isinstance(name, str) else name for name in names]
        error, self.context = cl.CreateContext([*words, 0], [self.device])
        assert error == CL.SUCCESS
        self.queue = self.make("clCreateCommandQueue", self.device, 0)

    def call(self, function: str, *arguments: Any) -> int:
        """By the first way there is: no text demands one of them."""
        if function not in self.found:
            self.found[function] = ways(self.cl, api().functions[function], self.platform)[0]
        address = self.found[function]
        return self.cl.call(function, *arguments) if address is None else self.cl.call_at(address, function, *arguments)

    def make(self, function: str, *arguments: Any) -> Value:
        code = self.cl.buffer(4)
        handle = self.call(function, self.context, *arguments, code)
        assert isinstance(handle, Value)
        assert (code.code(), bool(handle)) == (0, True)
        return handle

    def uses(self, acquire: str, release: str, memory: Value, event: Value) -> list[int]:
        """What acquire and release answer, and the waits for their events."""
        given = self.cl.room(2, 0)
        results = [self.call(acquire, self.queue, 1, [memory], 1, [event], given)]
        results += [self.call(release, self.queue, 1, [memory], 0, None, given.at(given.size // 2))]
        return [*results, self.cl.call("clWaitForEvents", 2, given)]


@requirement("GL-OBJ-016", "GL-ACQ-011", "GL-EVT-010")
def test_gl_objects_of_two_vendors_work_beside_each_other(loader: Loader, sandbox: Sandbox) -> None:
    """Objects of OpenGL and EGL of two vendors are made, asked for, acquired and released beside each other."""
    for name in "ab":
        sandbox.vendor(name, extensions=GL_SHARING, icd2=name == "b" and loader.has("ICD 2"))
    sandbox.vendor("without")
    with loader.start(sandbox) as cl:
        names = [cl.GetPlatformInfo(platform) for platform in cl.GetPlatformIDs()]
        chosen = [(n, p) for n, p in zip(names, cl.GetPlatformIDs(), strict=True) if n != "without"]
        sharing = {name: Sharing(cl, platform) for name, platform in chosen}
        memory = {
            name: (
                s.make("clCreateFromGLBuffer", 1, BUFFER),
                s.make("clCreateFromGLTexture", 1, 0x0DE1, 0, TEXTURE),
                s.make("clCreateFromEGLImageKHR", Value(DISPLAY, str(DISPLAY)), Value(IMAGE, str(IMAGE)), 4, None),
                s.make("clCreateEventFromGLsyncKHR", Value(SYNC, str(SYNC))),
                s.make("clCreateEventFromEGLSyncKHR", Value(EGL_SYNC, str(EGL_SYNC)), Value(DISPLAY, str(DISPLAY))),
            )
            for name, s in sharing.items()
        }
        assert sorted(memory) == ["a", "b"]
        for name, s in sharing.items():
            buffer, texture, image, sync, egl_sync = memory[name]
            kind, number = cl.buffer(4, 0), cl.buffer(4, 0)
            assert s.call("clGetGLObjectInfo", buffer, kind, number) == CL.SUCCESS
            assert (kind.u32(), number.u32()) == (api().constant("CL_GL_OBJECT_BUFFER"), BUFFER)
            target = api().constant("CL_GL_TEXTURE_TARGET")
            assert s.call("clGetGLTextureInfo", texture, target, 4, number, None) == CL.SUCCESS
            assert number.u32() == 0x0DE1
            gl = ("clEnqueueAcquireGLObjects", "clEnqueueReleaseGLObjects")
            egl = ("clEnqueueAcquireEGLObjectsKHR", "clEnqueueReleaseEGLObjectsKHR")
            assert s.uses(*gl, buffer, sync) == [0, 0, 0]
            assert s.uses(*egl, image, egl_sync) == [0, 0, 0]
            assert s.call(gl[0], s.queue, 1, [image], 0, None, None) == CL.INVALID_GL_OBJECT
    # A sync of OpenGL is of a type of its own, and no object of a vendor's.
    foreign = [e for e in sandbox.log.happened("foreign handle") if e.data["detail"] != "sync"]
    assert not foreign
