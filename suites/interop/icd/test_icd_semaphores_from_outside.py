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
    requirement,
    uses,
)

pytestmark = extension("cl_khr_external_semaphore")

EXTENSION = "cl_khr_external_semaphore"
OPAQUE = CL.SEMAPHORE_HANDLE_OPAQUE_FD_KHR


def importing(session: object) -> list[Semaphores]:
    """For each platform with a device that imports opaque descriptors."""
    found = []
    for use in uses(session, EXTENSION):  # type: ignore[arg-type]
        use.able = [d for d in use.able if OPAQUE in use.types(d, CL.DEVICE_SEMAPHORE_IMPORT_HANDLE_TYPES_KHR)]
        found += [Semaphores(use)] if use.able else []
    if not found:
        raise Unsupported("loader", "no platform of this ICD has a device that imports opaque descriptors")
    return found


@requirement("XM-XSM-007")
def test_wait_ends_by_a_signal_from_outside(icd: Icd, sandbox: Sandbox) -> None:
    """A wait for an imported semaphore ends when its other side is signalled, and not before."""
    outcomes: list[str] = []
    with icd.open(sandbox) as session:
        for made in importing(session):
            for _ in range(2):
                outside, semaphore = from_outside(made, OPAQUE, signalled=True)
                queue = made.queue()
                with may_block(outcomes):
                    waited = made.enqueue("Wait", queue, semaphore)
                    made.use.good("clFlush", queue)
                    assert made.use.event(waited, STATUS) > CL.COMPLETE
                    outside.release()
                    made.finish(queue)
                    assert made.use.event(waited, STATUS) == CL.COMPLETE
                if outcomes:
                    raise Unsupported(
                        "loader", "this ICD waits in the call, as it may: one thread cannot see the order"
                    )


@requirement("XM-XSM-007")
def test_signal_of_opencl_is_seen_outside(icd: Icd, sandbox: Sandbox) -> None:
    """What OpenCL signals can be waited for on the other side, time and again; that resets it for OpenCL."""
    with icd.open(sandbox) as session:
        for made in importing(session):
            outside, semaphore = from_outside(made, OPAQUE)
            for _ in range(3):
                queue = made.queue()
                made.enqueue("Signal", queue, semaphore)
                made.finish(queue)
                outside.wait()
