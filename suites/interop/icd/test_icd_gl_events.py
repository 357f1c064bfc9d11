# SPDX-License-Identifier: Apache-2.0
"""Events of syncs of OpenGL and EGL, and images of EGL, in a vendor's ICD (GL-EVT)."""

from __future__ import annotations

from typing import Any

import pytest

from harness.check import CL, GlPlatform, Icd, Sandbox, Value, api, extension, gl_platforms, requirement

pytestmark = extension("cl_khr_gl_sharing")

OF_GL, OF_EGL, OF_IMAGE = "clCreateEventFromGLsyncKHR", "clCreateEventFromEGLSyncKHR", "clCreateFromEGLImageKHR"
ACQUIRE, RELEASE = "clEnqueueAcquireGLObjects", "clEnqueueReleaseGLObjects"


def handle(number: int) -> Value:
    """A handle of OpenGL's or EGL's as an argument."""
    return number if isinstance(number, Value) else Value(number, str(number))


def creators(identifier: str) -> pytest.MarkDecorator:
    """Both functions; that of OpenGL proves this requirement, and the one for EGL's is that it is like OpenGL's."""
    marks = {OF_GL: identifier, OF_EGL: "GL-EVT-006"}
    return pytest.mark.parametrize(
        "function", [pytest.param(f, marks=pytest.mark.requirement(marks[f])) for f in (OF_GL, OF_EGL)]
    )


def platforms(session: Any, function: str) -> Any:
    """The platforms that have the function."""
    return gl_platforms(session, "cl_khr_gl_event" if function == OF_GL else "cl_khr_egl_event")


def sync_arguments(platform: GlPlatform, function: str, name: str = "pending") -> list[Any]:
    gl = platform.gl
    if function == OF_GL:
        return [handle(gl["gl_sync", name])]
    return [handle(gl["egl_sync", name]), handle(gl["display", "egl"])]


def info(platform: GlPlatform, event: Value, query: str, size: int) -> int:
    answer = platform.session.buffer(8, 0)
    assert platform.session.call("clGetEventInfo", event, api().constant(query), size, answer, None) == CL.SUCCESS
    return answer.u64()


@creators("GL-EVT-001")
def test_sync_in_a_plain_context_is_invalid_context(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """A sync in a context that is not of OpenGL is CL_INVALID_CONTEXT."""
    with icd.open(sandbox) as session:
        for platform in platforms(session, function):
            arguments = sync_arguments(platform, function)
            assert platform.create(function, *arguments, context=platform.plain.context) == (CL.INVALID_CONTEXT, 0)
            assert platform.make(function, *arguments)


@creators("GL-EVT-001")
def test_value_that_is_not_a_sync_is_refused(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """What is not a sync of OpenGL is CL_INVALID_GL_OBJECT, what is not one of EGL is CL_INVALID_EGL_OBJECT_KHR."""
    error = CL.INVALID_GL_OBJECT if function == OF_GL else CL.INVALID_EGL_OBJECT_KHR
    with icd.open(sandbox) as session:
        for platform in platforms(session, function):
            arguments = sync_arguments(platform, function)
            bogus = session.buffer(4096, 0)
            assert platform.create(function, bogus, *arguments[1:]) == (error, 0)
            assert platform.create(function, None, *arguments[1:]) == (error, 0)
            if function == OF_EGL:
                assert platform.create(function, arguments[0], bogus) == (error, 0)
            assert platform.make(function, *arguments)


@requirement("GL-EVT-006")
def test_egl_sync_of_another_type_is_an_event_or_refused(icd: Icd, sandbox: Sandbox) -> None:
    """A sync of EGL of another type makes an event, or is CL_INVALID_EGL_OBJECT_KHR."""
    with icd.open(sandbox) as session:
        for platform in platforms(session, OF_EGL):
            error, event = platform.create(OF_EGL, *sync_arguments(platform, OF_EGL, "reusable"))
            assert (error, bool(event)) in ((0, True), (CL.INVALID_EGL_OBJECT_KHR, False))
            assert platform.make(OF_EGL, *sync_arguments(platform, OF_EGL))


@creators("GL-EVT-002")
def test_event_of_a_sync_has_its_type_and_no_queue(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """The event has no queue, the type of its sync, and is submitted or complete."""
    kind = "CL_COMMAND_GL_FENCE_SYNC_OBJECT_KHR" if function == OF_GL else "CL_COMMAND_EGL_FENCE_SYNC_OBJECT_KHR"
    with icd.open(sandbox) as session:
        for platform in platforms(session, function):
            event = platform.make(function, *sync_arguments(platform, function))
            assert info(platform, event, "CL_EVENT_COMMAND_QUEUE", 8) == 0
            assert info(platform, event, "CL_EVENT_COMMAND_TYPE", 4) == api().constant(kind)
            submitted, complete = api().constant("CL_SUBMITTED"), api().constant("CL_COMPLETE")
            assert info(platform, event, "CL_EVENT_COMMAND_EXECUTION_STATUS", 4) in (submitted, complete)


def arguments(platform: GlPlatform, command: str) -> list[Any]:
    """What a command takes between its queue and its wait list."""
    session, mem = platform.session, platform.tied.mem
    data = session.buffer(16, 0)
    if command == "clEnqueueNDRangeKernel":
        return [platform.tied.kernel, 1, None, session.words([1]), None]
    known: dict[str, list[Any]] = {
        "clEnqueueMarkerWithWaitList": [],
        "clEnqueueBarrierWithWaitList": [],
        "clEnqueueReadBuffer": [mem, 1, 0, 16, data],
        "clEnqueueWriteBuffer": [mem, 1, 0, 16, data],
        "clEnqueueCopyBuffer": [mem, mem, 0, 32, 16],
        "clEnqueueFillBuffer": [mem, data, 16, 0, 16],
    }
    return known[command]


@pytest.mark.parametrize(
    "command",
    [f"clEnqueue{n}Buffer" for n in ("Read", "Write", "Copy", "Fill")]
    + ["clEnqueueMarkerWithWaitList", "clEnqueueBarrierWithWaitList", "clEnqueueNDRangeKernel"],
)
@creators("GL-EVT-003")
def test_other_commands_may_not_wait_for_the_event_of_a_sync(
    icd: Icd, sandbox: Sandbox, function: str, command: str
) -> None:
    """A command that neither acquires nor releases, and waits for the event, is CL_INVALID_EVENT."""
    with icd.open(sandbox) as session:
        for platform in platforms(session, function):
            event = platform.make(function, *sync_arguments(platform, function))
            rest = arguments(platform, command)
            assert session.call(command, platform.tied.queue, *rest, 1, [event], None) == CL.INVALID_EVENT
            assert session.call(command, platform.tied.queue, *rest, 0, None, None) == CL.SUCCESS
            assert session.call("clFinish", platform.tied.queue) == CL.SUCCESS


@requirement("GL-EVT-003")
def test_host_wait_completes_the_event_of_a_sync(icd: Icd, sandbox: Sandbox) -> None:
    """The host may wait for the event of a sync of OpenGL, which then is complete."""
    with icd.open(sandbox) as session:
        for platform in platforms(session, OF_GL):
            event = platform.make(OF_GL, *sync_arguments(platform, OF_GL, "complete"))
            assert session.call("clWaitForEvents", 1, [event]) == CL.SUCCESS
            assert info(platform, event, "CL_EVENT_COMMAND_EXECUTION_STATUS", 4) == api().constant("CL_COMPLETE")


@pytest.mark.parametrize(
    ("function", "command"),
    [
        pytest.param(OF_GL, ACQUIRE, marks=pytest.mark.requirement("GL-EVT-003")),
        pytest.param(OF_EGL, ACQUIRE, marks=pytest.mark.requirement("GL-EVT-006")),
        pytest.param(OF_EGL, RELEASE, marks=pytest.mark.requirement("GL-EVT-006")),
    ],
)
def test_acquire_and_release_may_wait_for_the_event_of_a_sync(
    icd: Icd, sandbox: Sandbox, function: str, command: str
) -> None:
    """Acquire may wait for the event, and for one of EGL release, too."""
    with icd.open(sandbox) as session:
        for platform in platforms(session, function):
            event = platform.make(function, *sync_arguments(platform, function))
            memory = [platform.buffer()]
            if command == RELEASE:
                assert session.call(ACQUIRE, platform.tied.queue, 1, memory, 0, None, None) == CL.SUCCESS
            assert session.call(command, platform.tied.queue, 1, memory, 1, [event], None) == CL.SUCCESS
            assert session.call("clFinish", platform.tied.queue) == CL.SUCCESS


@requirement("GL-EVT-011")
@pytest.mark.parametrize("function", [OF_GL, OF_EGL])
def test_event_of_a_sync_counts_one_reference(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """What an event counts besides the application's reference looks like a leak."""
    with icd.open(sandbox) as session:
        for platform in platforms(session, function):
            event = platform.make(function, *sync_arguments(platform, function))
            assert info(platform, event, "CL_EVENT_REFERENCE_COUNT", 4) == 1


@creators("GL-EVT-004")
def test_event_outlives_its_deleted_sync(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """An event is born with a reference, and can be used when the sync has been deleted."""
    with icd.open(sandbox) as session:
        for platform in platforms(session, function):
            event = platform.make(function, *sync_arguments(platform, function))
            assert info(platform, event, "CL_EVENT_REFERENCE_COUNT", 4) >= 1
            status = "CL_EVENT_COMMAND_EXECUTION_STATUS"
            known = (api().constant("CL_SUBMITTED"), api().constant("CL_COMPLETE"))
            assert info(platform, event, status, 4) in known
            platform.gl.do(f"delete {'gl_sync' if function == OF_GL else 'egl_sync'} pending")
            assert info(platform, event, status, 4) in known
            assert session.call("clReleaseEvent", event) == CL.SUCCESS


@requirement("GL-EVT-005")
@pytest.mark.parametrize("function", [OF_GL, OF_EGL])
def test_event_of_a_sync_begins_with_a_table(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """The event begins with the address of a dispatch table, by which a loader can use it."""
    with icd.open(sandbox) as session:
        for platform in platforms(session, function):
            event = platform.make(function, *sync_arguments(platform, function))
            session.check_table(event)
            assert session.call("clRetainEvent", event) == CL.SUCCESS
            assert session.call("clReleaseEvent", event) == CL.SUCCESS
            assert session.call("clReleaseEvent", event) == CL.SUCCESS


# --- images of EGL ---


def image_arguments(platform: GlPlatform, name: str = "plain") -> list[Any]:
    return [handle(platform.gl["display", "egl"]), handle(platform.gl["egl_image", name])]


@requirement("GL-EVT-007")
def test_egl_image_makes_an_image(icd: Icd, sandbox: Sandbox) -> None:
    """An image of EGL makes an image, without a property list and with an empty one."""
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session, "cl_khr_egl_image"):
            for listed in (None, [0]):
                assert platform.make(OF_IMAGE, *image_arguments(platform), CL.MEM_READ_ONLY, listed)


@requirement("GL-EVT-007")
@pytest.mark.parametrize(
    "what", [pytest.param("property", marks=pytest.mark.requirement("PL-OTH-002")), "display", "image", "format"]
)
def test_bad_egl_image_is_refused(icd: Icd, sandbox: Sandbox, what: str) -> None:
    """A property and a bad display or image of EGL are refused; a format that OpenCL does not have may be."""
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session, "cl_khr_egl_image"):
            display, image = image_arguments(platform)
            bogus = session.buffer(4096, 0)
            if what == "property":
                assert platform.create(OF_IMAGE, display, image, CL.MEM_READ_ONLY, [0x7777, 1, 0]) == (
                    CL.INVALID_VALUE,
                    0,
                )
            elif what == "display":  # of which the image is none, either
                error, made = platform.create(OF_IMAGE, bogus, image, CL.MEM_READ_ONLY, None)
                assert error in (CL.INVALID_VALUE, CL.INVALID_EGL_OBJECT_KHR)
                assert not made
            elif what == "image":
                assert platform.create(OF_IMAGE, display, bogus, CL.MEM_READ_ONLY, None) == (
                    CL.INVALID_EGL_OBJECT_KHR,
                    0,
                )
            else:  # which formats an implementation is able to take is its own affair
                unmapped = image_arguments(platform, "unmapped")
                error, made = platform.create(OF_IMAGE, *unmapped, CL.MEM_READ_ONLY, None)
                assert error in (CL.SUCCESS, CL.IMAGE_FORMAT_NOT_SUPPORTED)
                assert bool(made) == (error == 0)
            assert platform.make(OF_IMAGE, display, image, CL.MEM_READ_ONLY, None)


@requirement("GL-EVT-008")
def test_egl_image_for_reading_is_made(icd: Icd, sandbox: Sandbox) -> None:
    """An image can be made for reading, and from OpenCL 1.2 on without access of the host."""
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session, "cl_khr_egl_image"):
            hosts = [0] if session.version(platform.handle) < (1, 2) else [0, CL.MEM_HOST_NO_ACCESS]
            for host in hosts:
                assert platform.make(OF_IMAGE, *image_arguments(platform), CL.MEM_READ_ONLY | host, None)


@requirement("GL-EVT-008")
@pytest.mark.parametrize(
    "flags", [1 << 3, 1 << 4, 1 << 5, CL.MEM_READ_ONLY | 1 << 5, CL.MEM_READ_ONLY | CL.MEM_WRITE_ONLY], ids=hex
)
def test_flags_that_are_not_for_egl_images_are_refused(icd: Icd, sandbox: Sandbox, flags: int) -> None:
    """Flags that are not for images of EGL are CL_INVALID_VALUE or CL_INVALID_OPERATION."""
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session, "cl_khr_egl_image"):
            error, image = platform.create(OF_IMAGE, *image_arguments(platform), flags, None)
            assert not image
            assert error in (CL.INVALID_VALUE, CL.INVALID_OPERATION)
            assert platform.make(OF_IMAGE, *image_arguments(platform), CL.MEM_READ_ONLY, None)


@requirement("GL-EVT-008")
def test_access_that_an_egl_image_lacks_is_refused_at_creation(icd: Icd, sandbox: Sandbox) -> None:
    """Access that an image does not have is CL_INVALID_VALUE or CL_INVALID_OPERATION, when the image is made."""
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session, "cl_khr_egl_image"):
            error, image = platform.create(OF_IMAGE, *image_arguments(platform, "read_only"), CL.MEM_WRITE_ONLY, None)
            assert not image
            assert error in (CL.INVALID_VALUE, CL.INVALID_OPERATION)
            assert platform.make(OF_IMAGE, *image_arguments(platform, "read_only"), CL.MEM_READ_ONLY, None)
