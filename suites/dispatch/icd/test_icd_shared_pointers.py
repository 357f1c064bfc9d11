# SPDX-License-Identifier: Apache-2.0
"""Pointers into shared virtual memory: as arguments of kernels, as the memory of buffers, and given back (API-DAT)."""

from __future__ import annotations

from harness.check import (
    CL,
    Icd,
    IcdObjects,
    Info,
    Kernels,
    Range,
    Sandbox,
    Shared,
    expect_same,
    numbered,
    require_compiler,
    requirement,
)

SIZE = 64


@requirement("API-DAT-017")
def test_kernel_reads_shared_memory_from_its_pointer(icd: Icd, sandbox: Sandbox) -> None:
    """A pointer into shared memory is an argument as it is, at its beginning and within it."""

    def check(objects: IcdObjects, offset: int) -> None:
        require_compiler([objects])
        shared, kernels = Shared(objects), Kernels(objects)
        content = numbered(SIZE + offset, 4)
        at, to, kernel = shared.allocate(content), kernels.buffer(bytes(SIZE + 1)), kernels.kernel("clharness_sift")
        kernels.succeed("clSetKernelArgSVMPointer", kernel, 0, at.plus(offset))
        for index, value in ((1, to), (2, kernels.buffer(bytes([1, 2, 4, 8]))), (3, None)):
            kernels.set(kernel, index, value)
        kernels.run(kernel, Range((SIZE,)))
        expected = kernels.sifted_expected(content[offset:])
        expect_same(kernels.content(to, SIZE + 1), expected, "what the kernel stored")

    with icd.attempts(sandbox) as attempts:
        for offset in (0, 1, 16, 60, 100):
            attempts.check(f"offset {offset}", lambda objects, offset=offset: check(objects, offset))  # type: ignore[misc]


@requirement("API-DAT-018")
def test_buffer_says_whether_its_memory_is_shared(icd: Icd, sandbox: Sandbox) -> None:
    """CL_MEM_USES_SVM_POINTER is true of a buffer on shared memory and of its parts, and false of others."""

    def check(objects: IcdObjects, shared: bool) -> None:
        memory = Shared(objects)
        at = memory.allocate(numbered(SIZE)) if shared else memory.session.buffer(SIZE)
        mem = objects.made_by("clCreateBuffer", objects.context, CL.MEM_USE_HOST_PTR, SIZE, at)
        part = memory.part(mem, 0, 16)
        for own, what in ((mem, "the buffer"), (part, "its sub-buffer")):
            value = Info(objects).number("clGetMemObjectInfo", own, "CL_MEM_USES_SVM_POINTER")
            assert value == shared, f"CL_MEM_USES_SVM_POINTER of {what} is {value}, expected {int(shared)}"

    with icd.attempts(sandbox) as attempts:
        attempts.check("shared memory", lambda objects: check(objects, True))
        attempts.check("memory of the host", lambda objects: check(objects, False))


@requirement("API-DAT-019")
def test_null_is_given_back_without_effect(icd: Icd, sandbox: Sandbox) -> None:
    """clSVMFree of NULL does nothing, and what was allocated before is as it was."""

    def check(objects: IcdObjects) -> None:
        memory = Shared(objects)
        content = numbered(SIZE, 3)
        at = memory.allocate(content)
        memory.session.call("clSVMFree", objects.context, None)
        expect_same(memory.held(at, SIZE), content, "the memory")

    with icd.attempts(sandbox) as attempts:
        attempts.check("NULL", check)
