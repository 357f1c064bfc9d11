# SPDX-License-Identifier: Apache-2.0
"""Objects of extensions in a vendor's ICD, for which texts leave open whether loaders may look at them (DISP-OBJ)."""

from __future__ import annotations

from collections.abc import Callable

from harness.check import (
    CL,
    Icd,
    IcdSession,
    Platform,
    Sandbox,
    Semaphores,
    Value,
    extension,
    pack,
    platforms_with,
    requirement,
)

CREATE = "clCreateCommandBufferKHR"


def first_word(session: IcdSession, handle: Value, control: Value) -> str:
    """Whether an object begins as one does that has to begin with a dispatch table."""
    word = session.word(handle)
    if word is None:
        return "unreadable"
    return "table" if word == session.word(control) else "no table"


@requirement("DISP-OBJ-011")
@extension("cl_khr_semaphore")
def test_semaphore_begins_with_a_table(icd: Icd, sandbox: Sandbox, record: Callable[[str], None]) -> None:
    """A semaphore begins with the dispatch table, or not: it is a handle of its vendor's functions either way."""
    outcomes = set()
    with icd.open(sandbox) as session:
        for platform in platforms_with(session, "cl_khr_semaphore"):
            semaphores = Semaphores(platform)
            semaphore = semaphores.make()
            assert semaphores.payload(semaphore) == 0
            outcomes.add(first_word(session, semaphore, semaphores.context))
    record(", ".join(sorted(outcomes)))


@requirement("DISP-OBJ-012")
@extension("cl_khr_command_buffer")
def test_command_buffer_begins_with_a_table(icd: Icd, sandbox: Sandbox, record: Callable[[str], None]) -> None:
    """A command buffer begins with the dispatch table, or not: it is a handle of its vendor's functions either way."""
    outcomes = set()
    with icd.open(sandbox) as session:
        for platform in platforms_with(session, "cl_khr_command_buffer"):
            context, _, buffer = command_buffer(platform, platform.able[0])
            assert platform.answer("clGetCommandBufferInfoKHR", buffer, CL.COMMAND_BUFFER_STATE_KHR) == (
                0,
                pack([CL.COMMAND_BUFFER_STATE_RECORDING_KHR], 4),
            )
            outcomes.add(first_word(session, buffer, context))
    record(", ".join(sorted(outcomes)))


def command_buffer(platform: Platform, device: Value) -> tuple[Value, Value, Value]:
    """A context of the device, a queue, and a command buffer for it."""
    context = platform.context([device])
    _, required = platform.answer(
        "clGetDeviceInfo", device, CL.DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR
    )  # the properties that its queues have to have
    queue = platform.queue(context, device, int.from_bytes(required, "little"))
    return context, queue, platform.make(CREATE, 1, [queue], None)


@requirement("DISP-OBJ-014", "DISP-EXT-018")
@extension("cl_khr_command_buffer")
def test_functions_serve_all_devices(icd: Icd, sandbox: Sandbox) -> None:
    """The functions that a platform answered make command buffers for each of its devices, whoever was asked since."""
    with icd.open(sandbox) as session:
        platforms = platforms_with(session, "cl_khr_command_buffer")
        for platform in platforms:
            assert platform.address(CREATE)
            assert platform.address("clEnqueueCommandBufferKHR")
        for platform in platforms:
            session.platform = platform.handle
            for device in platform.able:
                _, queue, buffer = command_buffer(platform, device)
                assert platform.answer("clGetCommandBufferInfoKHR", buffer, CL.COMMAND_BUFFER_STATE_KHR) == (
                    0,
                    pack([CL.COMMAND_BUFFER_STATE_RECORDING_KHR], 4),
                )
                platform.expect_success("clFinalizeCommandBufferKHR", buffer)
                assert platform.call("clEnqueueCommandBufferKHR", 0, None, buffer, 0, None, None) == CL.SUCCESS
                platform.expect_success("clFinish", queue)
