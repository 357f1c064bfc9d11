# SPDX-License-Identifier: Apache-2.0
"""OpenGL sharing of a vendor's ICD through loaders: contexts, objects, commands and events find their way (GL)."""

from __future__ import annotations

from harness.check import CL, FILL, GlPlatform, Icd, Loader, Sandbox, Value, api, extension, gl_platforms, requirement

pytestmark = extension("cl_khr_gl_sharing")


def content(platform: GlPlatform, buffer: Value) -> bytes:
    """What OpenCL reads of the first 64 bytes of a buffer that is acquired."""
    read = platform.session.buffer(64, 0)
    assert (
        platform.call("clEnqueueReadBuffer", platform.tied.queue, buffer, 1, 0, 64, read, 0, None, None) == CL.SUCCESS
    )
    return read.bytes()


@requirement("GL-CTX-002", "GL-ACQ-006")
def test_gl_buffer_is_shared_through_a_loader(icd: Icd, through: Loader, sandbox: Sandbox) -> None:
    """A buffer of OpenGL's is made, acquired, read and released in a context that a loader made."""
    with icd.start(through, sandbox) as cl:
        for platform in gl_platforms(cl):
            platform.gl.do("current")
            platform.gl.do("fill buffer plain")
            platform.gl.do("finish")
            buffer, name = platform.buffer(), cl.buffer(4, 0)
            assert platform.call("clGetGLObjectInfo", buffer, None, name) == CL.SUCCESS
            assert name.u32() == platform.gl["buffer", "plain"]
            event = cl.buffer(8, 0)
            assert (
                platform.call("clEnqueueAcquireGLObjects", platform.tied.queue, 1, [buffer], 0, None, event)
                == CL.SUCCESS
            )
            assert cl.call("clWaitForEvents", 1, [event.handle()]) == CL.SUCCESS
            assert content(platform, buffer) == bytes([FILL]) * 64
            assert (
                platform.call("clEnqueueReleaseGLObjects", platform.tied.queue, 1, [buffer], 0, None, None)
                == CL.SUCCESS
            )
            assert cl.call("clReleaseEvent", event.handle()) == CL.SUCCESS
            assert cl.call("clReleaseMemObject", buffer) == CL.SUCCESS


@requirement("GL-EVT-005")
def test_event_of_a_sync_works_through_a_loader(icd: Icd, through: Loader, sandbox: Sandbox) -> None:
    """A loader can use the event of a sync, although no command made it."""
    with icd.start(through, sandbox) as cl:
        for platform in gl_platforms(cl, "cl_khr_gl_event"):
            sync = platform.gl["gl_sync", "pending"]
            handle = sync if isinstance(sync, Value) else Value(sync, str(sync))
            event, answer = platform.make("clCreateEventFromGLsyncKHR", handle), cl.buffer(4, 0)
            query = api().constant("CL_EVENT_COMMAND_TYPE")
            assert cl.call("clGetEventInfo", event, query, 4, answer, None) == CL.SUCCESS
            assert answer.u32() == api().constant("CL_COMMAND_GL_FENCE_SYNC_OBJECT_KHR")
            assert cl.call("clRetainEvent", event) == CL.SUCCESS
            assert [cl.call("clReleaseEvent", event) for _ in range(2)] == [0, 0]
