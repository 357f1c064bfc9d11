# SPDX-License-Identifier: Apache-2.0
"""Local and private memory that kernels find initialised: cl_khr_initialize_memory (API-KER)."""

from __future__ import annotations

import pytest

from harness.check import CL, Icd, Platform, Sandbox, extension, platforms_with, require_compiler, requirement

EXTENSION = "cl_khr_initialize_memory"
pytestmark = extension(EXTENSION)

LOCAL, PRIVATE = 1, 2  # CL_CONTEXT_MEMORY_INITIALIZE_LOCAL_KHR and its sister, which the headers of 2023 lack
NAME, ITEMS = "clharness_left", 16
# Tells what it finds in the memory of its group and of its own, and leaves other numbers there.
SOURCE = f"""
kernel void {NAME}(global uint *to, local volatile uint *shared) {{
    volatile uint own[4];
    size_t item = get_local_id(0);
    to[2 * get_global_id(0)] = shared[item];
    to[2 * get_global_id(0) + 1] = own[item % 4];
    shared[item] = 0xA5A5A5A5;
    own[item % 4] = 0xA5A5A5A5;
}}
"""


def found(platform: Platform, bits: int) -> list[list[int]]:
    """What three runs of the kernel find, in a context whose memory of these kinds is initialised."""
    device, session = platform.able[0], platform.session
    properties = platform.words(CL.CONTEXT_PLATFORM, platform.handle, CL.CONTEXT_MEMORY_INITIALIZE_KHR, bits, 0)
    context = platform.make("clCreateContext", properties, 1, [device], None, None)
    queue, to = platform.queue(context, device), platform.buffer(context, 8 * ITEMS)
    source = [session.data(SOURCE.encode() + b"\0")]
    program = platform.make("clCreateProgramWithSource", context, 1, source, None)
    platform.expect_success("clBuildProgram", program, 1, [device], None, None, None)
    kernel = platform.make("clCreateKernel", program, NAME)
    platform.expect_success("clSetKernelArg", kernel, 0, 8, [to])
    platform.expect_success("clSetKernelArg", kernel, 1, 4 * ITEMS, None)
    size, answers = platform.words(ITEMS), []
    for _ in range(3):
        platform.write(queue, to, b"\x5a" * 8 * ITEMS)
        platform.expect_success("clEnqueueNDRangeKernel", queue, kernel, 1, None, size, size, 0, None, None)
        answer = platform.read(queue, to, 8 * ITEMS)
        answers.append([int.from_bytes(answer[at : at + 4], "little") for at in range(0, len(answer), 4)])
    return answers


@requirement("API-KER-021")
@pytest.mark.parametrize("bits", [LOCAL, PRIVATE, LOCAL | PRIVATE], ids=["local", "private", "both"])
def test_kernel_finds_zeros_in_memory_that_is_initialised(icd: Icd, sandbox: Sandbox, bits: int) -> None:
    """Each run of a kernel finds zeros in the memory that its context initialises, whatever others have left there."""
    with icd.open(sandbox) as session:
        platforms = platforms_with(session, EXTENSION)
        require_compiler([platform.objects for platform in platforms])
        for platform in platforms:
            for number, answer in enumerate(found(platform, bits)):
                for bit, kind, numbers in ((LOCAL, "local", answer[::2]), (PRIVATE, "private", answer[1::2])):
                    assert not bits & bit or set(numbers) == {0}, (
                        f"run {number} found {max(numbers):#x} in {kind} memory, expected 0"
                    )
