# SPDX-License-Identifier: Apache-2.0
"""Arguments that a kernel takes and refuses: every kind of parameter with every kind of object (API-KER)."""

from __future__ import annotations

import pytest

from harness.check import (
    CL,
    PARAMETERS,
    ArgumentObjects,
    Icd,
    IcdObjects,
    Info,
    KernelParameter,
    Kernels,
    Range,
    Sandbox,
    Unsupported,
    Value,
    expect_same,
    numbered,
    require_compiler,
    requirement,
)

SIZE = 64
OF_EVERY_KIND = pytest.mark.parametrize("parameter", PARAMETERS, ids=lambda parameter: parameter.name)


def refused(arguments: ArgumentObjects, kernel: Value, value: Value | None, *errors: int, size: int = 8) -> None:
    """clSetKernelArg of the one parameter of a kernel, with a pointer to `value`, must give one of these errors."""
    error = arguments.session.call("clSetKernelArg", kernel, 0, size, None if value is None else [value])
    assert error in errors, f"answered {error}, expected {' or '.join(map(str, errors))}"


@requirement("API-KER-009")
@OF_EVERY_KIND
def test_object_that_a_parameter_cannot_have_is_refused(icd: Icd, sandbox: Sandbox, parameter: KernelParameter) -> None:
    """Memory objects of each other type, and NULL where there must be an object; one of its own type is taken.

    The errors of the text are CL_INVALID_MEM_OBJECT and CL_INVALID_SAMPLER; older revisions also have
    CL_INVALID_ARG_VALUE for what is "not a valid value".
    """

    def check(objects: IcdObjects, kind: str) -> None:
        arguments = ArgumentObjects(objects)
        kernel, value = arguments.kernel(parameter), arguments.object(kind)
        refused(arguments, kernel, value, parameter.error, CL.INVALID_ARG_VALUE)

    def check_own(objects: IcdObjects, kind: str) -> None:
        arguments = ArgumentObjects(objects)
        kernel, value = arguments.kernel(parameter), arguments.object(kind)
        error = arguments.session.call("clSetKernelArg", kernel, 0, 8, [value])
        assert error == CL.SUCCESS, f"answered {error}, expected CL_SUCCESS"

    def check_null(objects: IcdObjects, pointed: bool) -> None:
        arguments = ArgumentObjects(objects)
        kernel = arguments.kernel(parameter)
        error = arguments.session.call("clSetKernelArg", kernel, 0, 8, [0] if pointed else None)
        expected = [parameter.error, CL.INVALID_ARG_VALUE] if parameter.needs_object else [CL.SUCCESS]
        assert error in expected, f"answered {error}, expected {' or '.join(map(str, expected))}"

    with icd.attempts(sandbox) as attempts:
        for kind in parameter.takes:
            attempts.check(kind, lambda objects, kind=kind: check_own(objects, kind))  # type: ignore[misc]
        for kind in parameter.refuses:
            attempts.check(kind, lambda objects, kind=kind: check(objects, kind))  # type: ignore[misc]
        attempts.check("NULL", lambda objects: check_null(objects, False))
        attempts.check("a pointer to NULL", lambda objects: check_null(objects, True))


@requirement("API-KER-009")
@OF_EVERY_KIND
def test_object_argument_of_another_size_is_refused(icd: Icd, sandbox: Sandbox, parameter: KernelParameter) -> None:
    """A size that is not that of a handle is CL_INVALID_ARG_SIZE, also with an object that the parameter can have."""

    def check(objects: IcdObjects, size: int) -> None:
        arguments = ArgumentObjects(objects)
        kernel, value = arguments.kernel(parameter), arguments.object(parameter.takes[0])
        session = arguments.session
        error = session.call("clSetKernelArg", kernel, 0, size, session.words([value, 0, 0]))
        assert error == CL.INVALID_ARG_SIZE, f"answered {error}, expected CL_INVALID_ARG_SIZE"

    with icd.attempts(sandbox) as attempts:
        for size in (0, 1, 4, 7, 9, 16):
            attempts.check(f"size {size}", lambda objects, size=size: check(objects, size))  # type: ignore[misc]


@requirement("API-HDL-006")
@OF_EVERY_KIND
def test_object_of_another_class_is_not_an_argument(icd: Icd, sandbox: Sandbox, parameter: KernelParameter) -> None:
    """A sampler for a memory object, a memory object for a sampler, and objects that no parameter can have."""

    def check(objects: IcdObjects, kind: str) -> None:
        arguments = ArgumentObjects(objects)
        kernel, value = arguments.kernel(parameter), arguments.object(kind)
        refused(arguments, kernel, value, parameter.error, CL.INVALID_ARG_VALUE)

    with icd.attempts(sandbox) as attempts:
        for kind in parameter.other_classes:
            attempts.check(kind, lambda objects, kind=kind: check(objects, kind))  # type: ignore[misc]


@requirement("API-KER-009")
@pytest.mark.parametrize("access", ["read_only", "write_only"])
def test_image_that_a_kernel_may_not_access_is_invalid_arg_value(icd: Icd, sandbox: Sandbox, access: str) -> None:
    """An image that kernels only write for one that is read, and the other way round; the right one is taken."""

    def check(objects: IcdObjects, flags: int, expected: int) -> None:
        arguments = ArgumentObjects(objects)
        parameter = next(p for p in PARAMETERS if p.declared == f"{access} image2d_t")
        kernel, image = arguments.kernel(parameter), arguments.image(CL.MEM_OBJECT_IMAGE2D, flags)
        error = arguments.session.call("clSetKernelArg", kernel, 0, 8, [image])
        assert error == expected, f"answered {error}, expected {expected!r}"

    own, other = CL.MEM_READ_ONLY, CL.MEM_WRITE_ONLY
    if access == "write_only":
        own, other = other, own
    with icd.attempts(sandbox) as attempts:
        for flags in (own, CL.MEM_READ_WRITE):
            attempts.check(str(flags), lambda objects, flags=flags: check(objects, flags, CL.SUCCESS))  # type: ignore[misc]
        attempts.check(str(other), lambda objects: check(objects, other, CL.INVALID_ARG_VALUE))


@requirement("API-KER-010")
@OF_EVERY_KIND
def test_argument_of_another_context_is_refused(icd: Icd, sandbox: Sandbox, parameter: KernelParameter) -> None:
    """An object of another context than the kernel's is CL_INVALID_CONTEXT, or no object that the kernel can have.

    Texts before OpenCL 3.1 say so of memory objects only.
    """

    def check(objects: IcdObjects, kind: str) -> None:
        if kind == "sampler" and objects.device_version() < (3, 1):
            raise Unsupported("loader", "no text before OpenCL 3.1 has the context of a sampler", "clSetKernelArg")
        arguments = ArgumentObjects(objects)
        kernel, value = arguments.kernel(parameter), ArgumentObjects(objects.other).object(kind)
        refused(arguments, kernel, value, CL.INVALID_CONTEXT, parameter.error, CL.INVALID_ARG_VALUE)

    with icd.attempts(sandbox) as attempts:
        for kind in parameter.takes:
            attempts.check(kind, lambda objects, kind=kind: check(objects, kind))  # type: ignore[misc]


@requirement("API-KER-011")
def test_refused_argument_leaves_the_one_before(icd: Icd, sandbox: Sandbox) -> None:
    """A kernel runs with the arguments that were set before others were refused, as if these had never been tried."""

    def require(objects: IcdObjects) -> None:
        if objects.device_version() < (3, 0):
            raise Unsupported("loader", "no text before OpenCL 3.0 says what a refusal leaves", "clSetKernelArg")
        require_compiler([objects])

    def check(objects: IcdObjects, index: int, size: int, memory: bool) -> None:
        require(objects)
        kernels = Kernels(objects)
        content, to = numbered(SIZE, 7), kernels.buffer(bytes(SIZE + 1))
        kernel, table = kernels.kernel("clharness_sift"), kernels.buffer(bytes([1, 2, 4, 8]))
        for number, value in enumerate((kernels.buffer(content), to, table, None)):
            kernels.set(kernel, number, value)
        session = kernels.session
        other = session.words([kernels.buffer(numbered(SIZE, 9)) if memory else 0, 0])
        error = session.call("clSetKernelArg", kernel, index, size, other)
        if error == CL.SUCCESS:
            raise Unsupported("loader", "precondition failed: the argument is taken", "precondition")
        if error in (CL.OUT_OF_RESOURCES, CL.OUT_OF_HOST_MEMORY):
            return
        kernels.run(kernel, Range((SIZE,)))
        expect_same(kernels.content(to, SIZE + 1), kernels.sifted_expected(content), "what the kernel stored")

    def check_number(objects: IcdObjects, size: int) -> None:
        require(objects)
        kernels = Kernels(objects)
        before = numbered(SIZE * 20, 9)
        kernel, to = kernels.kernel("clharness_take"), kernels.buffer(before)
        values = kernels.values(3)
        for number, value in enumerate(values):
            kernels.set(kernel, number, value)
        kernels.set(kernel, len(values), to)
        for number in range(len(values)):
            error = kernels.session.call("clSetKernelArg", kernel, number, size, kernels.session.data(bytes(size)))
            if error == CL.SUCCESS:
                raise Unsupported("loader", f"precondition failed: {size} bytes are taken as a number", "precondition")
        kernels.run(kernel, Range((1,)))
        expect_same(kernels.content(to, len(before)), kernels.stored(values, before), "what the kernel got")

    with icd.attempts(sandbox) as attempts:
        for index in (0, 1, 2):
            attempts.check(f"memory {index}, size 16", lambda o, index=index: check(o, index, 16, True))  # type: ignore[misc]
            attempts.check(f"memory {index}, size 4", lambda o, index=index: check(o, index, 4, True))  # type: ignore[misc]
        attempts.check("an argument past the last one", lambda objects: check(objects, 4, 8, True))
        attempts.check("numbers of 128 bytes", lambda objects: check_number(objects, 128))
        attempts.check("numbers of 3 bytes", lambda objects: check_number(objects, 3))


@requirement("API-KER-012")
@OF_EVERY_KIND
def test_kernel_holds_no_reference_to_its_arguments(icd: Icd, sandbox: Sandbox, parameter: KernelParameter) -> None:
    """Setting an argument, twice or of a clone, leaves the reference count of the object as it was."""

    def check(objects: IcdObjects, kind: str) -> None:
        arguments, info = ArgumentObjects(objects), Info(objects)
        kernel, value = arguments.kernel(parameter), arguments.object(kind)
        query = arguments.count_of(parameter)
        before = info.number(query[0], value, query[1])
        for _ in range(2):
            objects.require("clSetKernelArg", arguments.session.call("clSetKernelArg", kernel, 0, 8, [value]))
        after = info.number(query[0], value, query[1])
        assert after == before, f"{query[1]} is {after} once it is an argument, expected {before} as before"

    with icd.attempts(sandbox) as attempts:
        for kind in parameter.takes:
            attempts.check(kind, lambda objects, kind=kind: check(objects, kind))  # type: ignore[misc]
