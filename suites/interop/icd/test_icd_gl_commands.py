# SPDX-License-Identifier: Apache-2.0
"""Acquire and release of OpenGL's and EGL's objects in a vendor's ICD (GL-ACQ, GL-EVT)."""

from __future__ import annotations

from typing import Any

import pytest

from harness.check import CL, FILL, GlPlatform, Icd, Sandbox, Unsupported, Value, extension, gl_platforms, requirement

pytestmark = extension("cl_khr_gl_sharing")

GL = ("clEnqueueAcquireGLObjects", "clEnqueueReleaseGLObjects")
EGL = ("clEnqueueAcquireEGLObjectsKHR", "clEnqueueReleaseEGLObjectsKHR")
EXTENSION = dict.fromkeys(EGL, "cl_khr_egl_image")


def commands(identifier: str) -> pytest.MarkDecorator:
    """The four commands; those of OpenGL prove this requirement."""
    return pytest.mark.parametrize(
        "function",
        [pytest.param(f, marks=pytest.mark.requirement(identifier)) for f in GL]
        + [pytest.param(f, marks=pytest.mark.requirement("GL-EVT-009")) for f in EGL],
    )


def shares(session: Any, function: str) -> Any:
    """The platforms that have the function."""
    return gl_platforms(session, *([EXTENSION[function]] if function in EXTENSION else []))


def shared_object(platform: GlPlatform, function: str) -> Value:
    """An object that the function can be used with; acquired, where the function releases."""
    if function in EGL:
        memory = egl_image(platform)
        acquire = EGL[0]
    else:
        memory = platform.buffer()
        acquire = GL[0]
    if function != acquire:
        assert platform.session.call(acquire, platform.tied.queue, 1, [memory], 0, None, None) == CL.SUCCESS
    return memory


def egl_image(platform: GlPlatform) -> Value:
    gl = platform.gl
    return platform.make(
        "clCreateFromEGLImageKHR",
        gl_value(platform, gl["display", "egl"]),
        gl_value(platform, gl["egl_image", "plain"]),
        4,  # CL_MEM_READ_ONLY
        None,
    )


def gl_value(platform: GlPlatform, number: int) -> Value:
    """A handle of OpenGL's or EGL's as an argument."""
    return number if isinstance(number, Value) else Value(number, str(number))


def enqueue(platform: GlPlatform, function: str, *arguments: Any, queue: Value | None = None) -> int:
    return platform.session.call(function, platform.tied.queue if queue is None else queue, *arguments)


def works(platform: GlPlatform, function: str) -> bool:
    """The positive control."""
    return enqueue(platform, function, 1, [shared_object(platform, function)], 0, None, None) == 0


@commands("GL-ACQ-001")
def test_acquire_of_no_gl_objects_is_success(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """No objects, and no list of them, is a success."""
    with icd.open(sandbox) as session:
        for platform in shares(session, function):
            assert enqueue(platform, function, 0, None, 0, None, None) == 0
            assert works(platform, function)


@commands("GL-ACQ-002")
def test_gl_object_list_that_does_not_fit_is_invalid_value(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """A list of no objects, and objects without a list, are CL_INVALID_VALUE."""
    with icd.open(sandbox) as session:
        for platform in shares(session, function):
            memory = shared_object(platform, function)
            assert enqueue(platform, function, 0, [memory], 0, None, None) == CL.INVALID_VALUE
            assert enqueue(platform, function, 1, None, 0, None, None) == CL.INVALID_VALUE
            assert works(platform, function)


@commands("GL-ACQ-003")
def test_acquire_of_a_plain_memory_object_is_refused(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """A memory object that is not of OpenGL, or of EGL, is refused, alone and after one that is."""
    error = CL.INVALID_EGL_OBJECT_KHR if function in EGL else CL.INVALID_GL_OBJECT
    with icd.open(sandbox) as session:
        for platform in shares(session, function):
            memory = shared_object(platform, function)
            assert enqueue(platform, function, 1, [platform.tied.mem], 0, None, None) == error
            assert enqueue(platform, function, 2, [memory, platform.tied.mem], 0, None, None) == error
            assert works(platform, function)


@requirement("GL-ACQ-004")
@pytest.mark.parametrize("function", GL)
def test_acquire_in_a_queue_of_a_plain_context_is_invalid_context(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """A queue whose context is not of OpenGL is CL_INVALID_CONTEXT."""
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session):
            memory = shared_object(platform, function)
            error = enqueue(platform, function, 1, [memory], 0, None, None, queue=platform.plain.queue)
            assert error == CL.INVALID_CONTEXT
            assert works(platform, function)


@commands("GL-ACQ-005")
def test_wait_list_that_does_not_fit_a_gl_command_is_refused(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """A wait list whose number is wrong, or that holds a value that is not an event, is CL_INVALID_EVENT_WAIT_LIST."""
    with icd.open(sandbox) as session:
        for platform in shares(session, function):
            memory, event = shared_object(platform, function), platform.tied.event
            assert session.call("clSetUserEventStatus", event, 0) == CL.SUCCESS
            assert enqueue(platform, function, 1, [memory], 1, None, None) == CL.INVALID_EVENT_WAIT_LIST
            assert enqueue(platform, function, 1, [memory], 0, [event], None) == CL.INVALID_EVENT_WAIT_LIST
            assert enqueue(platform, function, 1, [memory], 1, [None], None) == CL.INVALID_EVENT_WAIT_LIST
            assert enqueue(platform, function, 1, [memory], 1, [event], None) == 0


def second_queue(platform: GlPlatform) -> Value:
    code = platform.session.buffer(4)
    queue = platform.session.call("clCreateCommandQueue", platform.tied.context, platform.tied.device, 0, code)
    assert isinstance(queue, Value)
    assert (code.code(), bool(queue)) == (0, True)
    return queue


def content(platform: GlPlatform, queue: Value, buffer: Value) -> bytes:
    """What OpenCL reads of the first 64 bytes of a buffer in a queue."""
    read = platform.session.buffer(64, 0)
    assert platform.session.call("clEnqueueReadBuffer", queue, buffer, 1, 0, 64, read, 0, None, None) == CL.SUCCESS
    return read.bytes()


@requirement("GL-ACQ-006")
def test_acquired_gl_object_is_usable_in_every_queue(icd: Icd, sandbox: Sandbox) -> None:
    """What was acquired in one queue can be used, and released, in every queue of the context."""
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session):
            platform.gl.do("current")
            platform.gl.do("fill buffer plain")
            platform.gl.do("finish")
            buffer, other = platform.buffer(), second_queue(platform)
            event = session.buffer(8, 0)
            assert enqueue(platform, GL[0], 1, [buffer], 0, None, event) == 0
            assert session.call("clWaitForEvents", 1, [event.handle()]) == CL.SUCCESS
            assert content(platform, platform.tied.queue, buffer) == bytes([FILL]) * 64
            assert content(platform, other, buffer) == bytes([FILL]) * 64
            assert enqueue(platform, GL[1], 1, [buffer], 0, None, None, queue=other) == 0
            assert session.call("clFinish", other) == CL.SUCCESS


@requirement("GL-ACQ-008")
def test_gl_objects_are_acquired_in_queues_of_all_devices(icd: Icd, sandbox: Sandbox) -> None:
    """Objects can be acquired and released in the queue of any device of the context."""
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session):
            error, context = platform.create_context(platform.gl.attributes(), platform.devices)
            if error or len(platform.devices) < 2:
                raise Unsupported("machine", "no OpenGL context is shared by two devices of this platform")
            name = platform.gl["buffer", "plain"]
            buffer = platform.make("clCreateFromGLBuffer", 1, name, context=context)
            for device in platform.devices:
                queue = session.call("clCreateCommandQueue", context, device, 0, None)
                assert isinstance(queue, Value)
                for function in GL:
                    assert enqueue(platform, function, 1, [buffer], 0, None, None, queue=queue) == 0
                assert session.call("clFinish", queue) == CL.SUCCESS


@requirement("GL-ACQ-009")
def test_acquire_waits_for_opengl(icd: Icd, sandbox: Sandbox) -> None:
    """What OpenGL was told to write before is there when the buffer is acquired in the thread of its context."""
    with icd.open(sandbox) as session:
        for platform in gl_platforms(session, "cl_khr_gl_event"):
            platform.gl.do("current")
            buffer = platform.buffer()
            platform.gl.do("fill buffer plain")
            assert enqueue(platform, GL[0], 1, [buffer], 0, None, None) == 0
            assert content(platform, platform.tied.queue, buffer) == bytes([FILL]) * 64
            assert enqueue(platform, GL[1], 1, [buffer], 0, None, None) == 0
