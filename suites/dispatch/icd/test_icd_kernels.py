# SPDX-License-Identifier: Apache-2.0
"""What reaches a kernel: its arguments, the places of its work items, local memory (API-KER)."""

from __future__ import annotations

import math
import struct

from harness.check import (
    CL,
    IDS,
    KERNEL_TYPES,
    CallFailed,
    Icd,
    IcdObjects,
    Info,
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

SLOTS = 64 * len(KERNEL_TYPES)
RANGES = {
    "one dimension": Range((12,), (), (4,)),
    "two dimensions": Range((6, 4), (), (3, 2)),
    "three dimensions": Range((4, 2, 3), (), (2, 1, 3)),
    "offset": Range((8,), (100,), (4,)),
    "offsets of two dimensions": Range((4, 3), (7, 300), (2, 1)),
    "offsets of three dimensions": Range((4, 2, 2), (5, 70, 900), (2, 2, 1)),
    "groups of one": Range((5,), (), (1,)),
    "one group": Range((6, 2), (), (6, 2)),
}
LEFT_OPEN = {"one dimension": Range((12,)), "three dimensions": Range((3, 5, 2)), "offset": Range((7,), (1000,))}
NON_UNIFORM = "CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT"
UNEVEN = {
    "one dimension": Range((10,), (), (4,)),
    "two dimensions": Range((5, 7), (), (2, 3)),
    "offset": Range((9, 2), (11, 12), (4, 2)),
}


def kernels_of(objects: IcdObjects, options: str = "") -> Kernels:
    require_compiler([objects])
    return Kernels(objects, options=options)


def require_groups(objects: IcdObjects, range_: Range) -> None:
    """Makes the attempt `unsupported` where the device has no groups of this size."""
    info = Info(objects)
    most = info.words("clGetDeviceInfo", objects.device, "CL_DEVICE_MAX_WORK_ITEM_SIZES")
    whole = info.number("clGetDeviceInfo", objects.device, "CL_DEVICE_MAX_WORK_GROUP_SIZE")
    too_long = any(size > limit for size, limit in zip(range_.group, most, strict=False))
    if too_long or math.prod(range_.group) > whole:
        raise Unsupported("loader", f"the device has no groups of {range_.group}", "work groups")


def non_uniform(objects: IcdObjects) -> tuple[str, bool]:
    """The option of an OpenCL C that has non-uniform work-groups, and whether the device has them.

    Makes the attempt `unsupported` before OpenCL 2.0.
    """
    version = objects.device_version()
    if version < (2, 0):
        raise Unsupported("loader", "non-uniform work-groups came with OpenCL 2.0", "non-uniform work-groups")
    if version < (3, 0):
        return "-cl-std=CL2.0", True
    return "-cl-std=CL3.0", bool(Info(objects).number("clGetDeviceInfo", objects.device, NON_UNIFORM))


def taking(kernels: Kernels) -> tuple[Value, Value, bytes]:
    """clharness_take, the buffer that it stores to, and what that holds."""
    before = numbered(SLOTS, 9)
    to, kernel = kernels.buffer(before), kernels.kernel("clharness_take")
    kernels.set(kernel, len(KERNEL_TYPES), to)
    return kernel, to, before


@requirement("API-KER-001")
def test_arguments_of_every_type_reach_the_kernel(icd: Icd, sandbox: Sandbox) -> None:
    """Numbers and vectors of every size reach a kernel bit by bit, each its own parameter, new values as well."""

    def check(objects: IcdObjects) -> None:
        kernels = kernels_of(objects)
        kernel, to, before = taking(kernels)
        for seed, bits in ((1, 0), (50, 0x80)):
            values = kernels.values(seed, bits)
            for index, value in enumerate(values):
                kernels.set(kernel, index, value)
            kernels.run(kernel, Range((1,)))
            actual, expected = kernels.content(to, SLOTS), kernels.stored(values, before)
            for i, type_ in enumerate(KERNEL_TYPES):
                expect_same(actual[64 * i : 64 * i + 64], expected[64 * i : 64 * i + 64], f"the argument of {type_}")

    with icd.attempts(sandbox) as attempts:
        attempts.check("a kernel of all types", check)


@requirement("API-KER-002")
def test_argument_is_copied_when_it_is_set(icd: Icd, sandbox: Sandbox) -> None:
    """A kernel gets the values that its arguments had when it was enqueued, whatever becomes of the host's memory."""

    def check_memory(objects: IcdObjects) -> None:
        kernels = kernels_of(objects)
        kernel, to, before = taking(kernels)
        values = kernels.values(3)
        for index, value in enumerate(values):
            data = kernels.set(kernel, index, value)
            if data is not None:
                data.fill(0)
        kernels.run(kernel, Range((1,)))
        expect_same(kernels.content(to, SLOTS), kernels.stored(values, before), "what the kernel got")

    def check_enqueued(objects: IcdObjects) -> None:
        kernels = kernels_of(objects)
        kernel, to, before = taking(kernels)
        values = kernels.values(4)
        for index, value in enumerate(values):
            kernels.set(kernel, index, value)
        gate = objects.made_by("clCreateUserEvent", objects.context)
        kernels.run(kernel, Range((1,)), [gate])
        for index, value in enumerate(kernels.values(90)):
            kernels.set(kernel, index, value)
        kernels.succeed("clSetUserEventStatus", gate, CL.COMPLETE)
        expect_same(kernels.content(to, SLOTS), kernels.stored(values, before), "what the kernel got")

    with icd.attempts(sandbox) as attempts:
        attempts.check("memory is reused", check_memory)
        attempts.check("set again after the kernel is enqueued", check_enqueued)


@requirement("API-KER-003")
def test_work_items_know_their_places(icd: Icd, sandbox: Sandbox) -> None:
    """Work items have the ids, sizes and offsets of the range that was enqueued, in one to three dimensions."""

    def check(objects: IcdObjects, range_: Range) -> None:
        kernels = kernels_of(objects)
        if objects.device_version() < (1, 1):
            raise Unsupported("loader", "offsets, and what asks for them, came with OpenCL 1.1", "offsets of ranges")
        require_groups(objects, range_)
        actual = kernels.places(range_)
        group = (*range_.group, 1, 1)[:3] if range_.group else tuple(actual[0][12:15])
        assert all(size % own == 0 for size, own in zip(range_.size, group, strict=False)) or not range_.group
        for place, expected in zip(actual, range_.places(group), strict=True):
            assert place == expected, f"a work item has {place}, expected {expected}"

    with icd.attempts(sandbox) as attempts:
        for name, range_ in RANGES.items():
            attempts.check(name, lambda objects, range_=range_: check(objects, range_))  # type: ignore[misc]
        for name, range_ in LEFT_OPEN.items():
            label = f"{name}, groups left to the driver"
            attempts.check(label, lambda objects, range_=range_: check(objects, range_))  # type: ignore[misc]


@requirement("API-KER-003")
def test_every_work_item_of_a_large_range_runs(icd: Icd, sandbox: Sandbox) -> None:
    """A range of several thousand work items, which no power of two divides, runs each of them."""

    def check(objects: IcdObjects) -> None:
        kernels = kernels_of(objects)
        result = kernels.places(Range((3001,)))
        lacking = [at for at, place in enumerate(result) if place[0] != at or place[9] != 3001]
        assert not lacking, f"work item {lacking[0]} and {len(lacking) - 1} more did not run"

    with icd.attempts(sandbox) as attempts:
        attempts.check("3001 work items", check)


@requirement("API-KER-004")
def test_last_group_is_smaller_where_sizes_are_uneven(icd: Icd, sandbox: Sandbox) -> None:
    """Where the device has non-uniform work-groups, the last group of a dimension has what is left."""

    def check(objects: IcdObjects, range_: Range) -> None:
        standard, able = non_uniform(objects)
        if not able:
            raise Unsupported("loader", f"{NON_UNIFORM} is CL_FALSE", "non-uniform work-groups")
        require_groups(objects, range_)
        kernels = kernels_of(objects, standard)
        actual = kernels.places(range_)
        for place, expected in zip(actual, range_.places((*range_.group, 1, 1)[:3]), strict=True):
            assert place == expected, f"a work item has {place}, expected {expected}"

    with icd.attempts(sandbox) as attempts:
        for name, range_ in UNEVEN.items():
            attempts.check(name, lambda objects, range_=range_: check(objects, range_))  # type: ignore[misc]


@requirement("API-KER-022")
def test_range_that_uniform_groups_do_not_divide_is_refused(icd: Icd, sandbox: Sandbox) -> None:
    """A range that is no multiple of its groups is CL_INVALID_WORK_GROUP_SIZE where these must be uniform.

    So they must for a program that is built without options, for one with -cl-uniform-work-group-size, and for each of
    a device that has no others.
    """

    def check(objects: IcdObjects, range_: Range, options: str = "") -> None:
        kernels = kernels_of(objects, options)
        to, kernel = kernels.buffer(bytes(4 * IDS * range_.items)), kernels.kernel("clharness_ids")
        kernels.set(kernel, 0, to)
        offset, size, group = (list(words) or None for words in (range_.offset, range_.size, range_.group))
        arguments = kernel, len(range_.size), offset, size, group, 0, None, None
        error = kernels.session.call("clEnqueueNDRangeKernel", kernels.queue, *arguments)
        kernels.finish()
        assert error == CL.INVALID_WORK_GROUP_SIZE, f"answered {error}, expected CL_INVALID_WORK_GROUP_SIZE"

    def check_newer(objects: IcdObjects, range_: Range) -> None:
        standard, able = non_uniform(objects)
        check(objects, range_, f"{standard} -cl-uniform-work-group-size" if able else standard)

    with icd.attempts(sandbox) as attempts:
        for name, range_ in UNEVEN.items():
            attempts.check(name, lambda objects, range_=range_: check(objects, range_))  # type: ignore[misc]
            newer = f"{name}, built for OpenCL C 2.0 or newer"
            attempts.check(newer, lambda objects, range_=range_: check_newer(objects, range_))  # type: ignore[misc]


@requirement("API-KER-005")
def test_local_arguments_are_memory_of_their_own(icd: Icd, sandbox: Sandbox) -> None:
    """Two arguments in local memory are two arrays, of which the items of a group read what others wrote."""

    def check(objects: IcdObjects, group: int) -> None:
        kernels = kernels_of(objects)
        kernel, items = kernels.kernel("clharness_exchange"), 4 * group
        answer = kernels.session.buffer(8, 0)
        query = CL.KERNEL_WORK_GROUP_SIZE
        kernels.succeed("clGetKernelWorkGroupInfo", kernel, objects.device, query, 8, answer, None)
        if answer.u64() < group:
            raise Unsupported("loader", f"the device has no groups of {group}", "work groups")
        to = kernels.buffer(bytes(4 * items))
        kernels.set(kernel, 0, to)
        for index in (1, 2):
            kernels.set(kernel, index, None, 4 * group)
        kernels.run(kernel, Range((items,), (), (group,)))
        far = [group - 1 - i % group for i in range(items)]
        expected = struct.pack(f"<{items}i", *(1000 * own + 100 + own for own in far))
        expect_same(kernels.content(to, 4 * items), expected, "what the kernel stored")

    with icd.attempts(sandbox) as attempts:
        for group in (1, 2, 8, 16):
            attempts.check(f"groups of {group}", lambda objects, group=group: check(objects, group))  # type: ignore[misc]


@requirement("API-KER-006")
def test_memory_reaches_the_kernel_from_its_first_byte(icd: Icd, sandbox: Sandbox) -> None:
    """A kernel gets a buffer, a sub-buffer from its origin, constant memory, and NULL for a buffer that is NULL."""

    def check_buffer(objects: IcdObjects) -> None:
        kernels = kernels_of(objects)
        expect_same(kernels.sifted(), kernels.sifted_expected(), "what the kernel stored")

    def check_part(objects: IcdObjects) -> None:
        kernels = kernels_of(objects)
        align = kernels.alignment()
        content = numbered(3 * align + 64, 8)
        part = kernels.part(kernels.buffer(content), 2 * align, 64)
        expected = kernels.sifted_expected(content[2 * align : 2 * align + 64], 2)
        expect_same(kernels.sifted(part, kernels.buffer(bytes(4))), expected, "what the kernel stored")

    def check_again(objects: IcdObjects) -> None:
        kernels = kernels_of(objects)
        kernel, zero = kernels.kernel("clharness_sift"), kernels.session.data(bytes(4))
        contents, targets = (numbered(64, 7), numbered(64, 9)), [kernels.buffer(bytes(65)) for _ in range(2)]
        for content, to in zip(contents, targets, strict=True):
            table = kernels.buffer(bytes([1, 2, 4, 8]))
            for index, value in enumerate((kernels.buffer(content), to, table, None)):
                kernels.set(kernel, index, value)
            kernels.run(kernel, Range((64,)))
            kernels.succeed("clEnqueueWriteBuffer", kernels.queue, table, 1, 0, 4, zero, 0, None, None)
        for content, to in zip(contents, targets, strict=True):
            expect_same(kernels.content(to, 65), kernels.sifted_expected(content), "what the kernel stored")

    with icd.attempts(sandbox) as attempts:
        attempts.check("other buffers after a run", check_again)
        attempts.check("buffers and NULL", check_buffer)
        attempts.check("sub-buffer, no NULL", check_part)


@requirement("API-KER-007")
def test_clone_has_the_arguments_of_its_kernel(icd: Icd, sandbox: Sandbox) -> None:
    """A clone of a kernel has the arguments that were set, and from then on its own."""

    def check(objects: IcdObjects) -> None:
        objects.require_function("clCloneKernel", objects.version())
        kernels = kernels_of(objects)
        kernel, to, before = taking(kernels)
        values, others, latest = kernels.values(5), kernels.values(60), kernels.values(115)
        for index, value in enumerate(values):
            kernels.set(kernel, index, value)
        clone = objects.made_by("clCloneKernel", kernel)
        if not clone:
            raise CallFailed("clCloneKernel gave no kernel beside CL_SUCCESS")
        info = Info(objects)
        programs = [info.number("clGetKernelInfo", of, "CL_KERNEL_PROGRAM") for of in (kernel, clone)]
        assert programs[0] == programs[1], "CL_KERNEL_PROGRAM of the clone is not that of its kernel"
        for index, value in enumerate(others):
            kernels.set(kernel, index, value)
        kernels.run(clone, Range((1,)))
        expect_same(kernels.content(to, SLOTS), kernels.stored(values, before), "what the clone got")
        kernels.run(kernel, Range((1,)))
        expect_same(kernels.content(to, SLOTS), kernels.stored(others, before), "what the kernel got")
        for index, value in enumerate(latest):
            kernels.set(clone, index, value)
        kernels.run(kernel, Range((1,)))
        actual = kernels.content(to, SLOTS)
        expect_same(actual, kernels.stored(others, before), "what the kernel got once the clone had other arguments")
        kernels.run(clone, Range((1,)))
        expect_same(kernels.content(to, SLOTS), kernels.stored(latest, before), "what the clone got of its own")

    with icd.attempts(sandbox) as attempts:
        attempts.check("clone", check)
