# SPDX-License-Identifier: Apache-2.0
"""Objects of extensions in a vendor's ICD, for which texts leave open whether loaders may look at them (DISP-OBJ)."""

from __future__ import annotations

from collections.abc import Callable

from harness.check import CL, Icd, IcdSession, Sandbox, Semaphores, Use, Value, extension, pack, requirement, uses

CREATE = "clCreateCommandBufferKHR"


def first_word(session: IcdSession, made: Value, control: Value) -> str:
    """Whether an object begins as one does that has to begin with a dispatch table."""
    word = session.word(made)
    if word is None:
        return "unreadable"
    return "table" if word == session.word(control) else "no table"


@requirement("DISP-OBJ-011")
@extension("cl_khr_semaphore")
def test_semaphore_begins_with_a_table(icd: Icd, sandbox: Sandbox, record: Callable[[str], None]) -> None:
    """A semaphore begins with the dispatch table, or not: it is a handle of its vendor's functions either way."""
    outcomes = set()
    with icd.open(sandbox) as session:
        for use in uses(session, "cl_khr_semaphore"):
            made = Semaphores(use)
            semaphore = made.make()
            assert made.payload(semaphore) == 0
            outcomes.add(first_word(session, semaphore, made.context))
    record(", ".join(sorted(outcomes)))


@requirement("DISP-OBJ-012")
@extension("cl_khr_command_buffer")
def test_command_buffer_begins_with_a_table(icd: Icd, sandbox: Sandbox, record: Callable[[str], None]) -> None:
    """A command buffer begins with the dispatch table, or not: it is a handle of its vendor's functions either way."""
    outcomes = set()
    with icd.open(sandbox) as session:
        for use in uses(session, "cl_khr_command_buffer"):
            context, _, made = command_buffer(use, use.able[0])
            assert use.answer("clGetCommandBufferInfoKHR", made, CL.COMMAND_BUFFER_STATE_KHR) == (
                0,
                pack([CL.COMMAND_BUFFER_STATE_RECORDING_KHR], 4),
            )
            outcomes.add(first_word(session, made, context))
    record(", ".join(sorted(outcomes)))


def command_buffer(use: Use, device: Value) -> tuple[Value, Value, Value]:
    """A context of the device, a queue, and a command buffer for it."""
    context = use.context([device])
    _, required = use.answer(
        "clGetDeviceInfo", device, CL.DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR
    )  # the properties that its queues have to have
    queue = use.queue(context, device, int.from_bytes(required, "little"))
    return context, queue, use.must_make(CREATE, 1, [queue], None)


@requirement("DISP-OBJ-014", "DISP-EXT-018")
@extension("cl_khr_command_buffer")
def test_functions_serve_all_devices(icd: Icd, sandbox: Sandbox) -> None:
    """The functions that a platform answered make command buffers for each of its devices, whoever was asked since."""
    with icd.open(sandbox) as session:
        found = uses(session, "cl_khr_command_buffer")
        for use in found:
            assert use.address(CREATE)
            assert use.address("clEnqueueCommandBufferKHR")
        for use in found:
            session.platform = use.platform
            for device in use.able:
                _, queue, made = command_buffer(use, device)
                assert use.answer("clGetCommandBufferInfoKHR", made, CL.COMMAND_BUFFER_STATE_KHR) == (
                    0,
                    pack([CL.COMMAND_BUFFER_STATE_RECORDING_KHR], 4),
                )
                use.good("clFinalizeCommandBufferKHR", made)
                assert use.call("clEnqueueCommandBufferKHR", 0, None, made, 0, None, None) == CL.SUCCESS
                use.good("clFinish", queue)
