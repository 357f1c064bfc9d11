# SPDX-License-Identifier: Apache-2.0
"""Semaphores that a vendor's ICD imports from outside OpenCL, such as from Vulkan (XM-XSM)."""

from __future__ import annotations

from harness.check import (
    CL,
    STATUS,
    Icd,
    Sandbox,
    Semaphores,
    Unsupported,
    extension,
    from_outside,
    may_block,
    platforms_with,
    requirement,
)

pytestmark = extension("cl_khr_external_semaphore")

EXTENSION = "cl_khr_external_semaphore"
OPAQUE = CL.SEMAPHORE_HANDLE_OPAQUE_FD_KHR


def importing(session: object) -> list[Semaphores]:
    """For each platform with a device that imports opaque descriptors."""
    result = []
    for platform in platforms_with(session, EXTENSION):  # type: ignore[arg-type]
        platform.able = [
            d for d in platform.able if OPAQUE in platform.types(d, CL.DEVICE_SEMAPHORE_IMPORT_HANDLE_TYPES_KHR)
        ]
        result += [Semaphores(platform)] if platform.able else []
    if not result:
        raise Unsupported("loader", "no platform of this ICD has a device that imports opaque descriptors")
    return result


@requirement("XM-XSM-007")
def test_wait_ends_by_a_signal_from_outside(icd: Icd, sandbox: Sandbox) -> None:
    """A wait for an imported semaphore ends when its other side is signalled, and not before."""
    outcomes: list[str] = []
    with icd.open(sandbox) as session:
        for semaphores in importing(session):
            for _ in range(2):
                outside, semaphore = from_outside(semaphores, OPAQUE, signalled=True)
                queue = semaphores.queue()
                with may_block(outcomes):
                    waited = semaphores.enqueue("Wait", queue, semaphore)
                    semaphores.expect_success("clFlush", queue)
                    assert semaphores.platform.event(waited, STATUS) > CL.COMPLETE
                    outside.release()
                    semaphores.finish(queue)
                    assert semaphores.platform.event(waited, STATUS) == CL.COMPLETE
                if outcomes:
                    raise Unsupported(
                        "loader", "this ICD waits in the call, as it may: one thread cannot see the order"
                    )


@requirement("XM-XSM-007")
def test_signal_of_opencl_is_seen_outside(icd: Icd, sandbox: Sandbox) -> None:
    """What OpenCL signals can be waited for on the other side, time and again; that resets it for OpenCL."""
    with icd.open(sandbox) as session:
        for semaphores in importing(session):
            outside, semaphore = from_outside(semaphores, OPAQUE)
            for _ in range(3):
                queue = semaphores.queue()
                semaphores.enqueue("Signal", queue, semaphore)
                semaphores.finish(queue)
                outside.wait()
