# SPDX-License-Identifier: Apache-2.0
"""Sub-groups of a vendor's kernels: how groups are divided, and what queries about them refuse (API-KER)."""

from __future__ import annotations

from collections.abc import Sequence

from harness.check import CL, Icd, IcdObjects, Info, Sandbox, Unsupported, Value, api, requirement

SUB, SUFFIXED = "clGetKernelSubGroupInfo", "clGetKernelSubGroupInfoKHR"
EXTENSION = "cl_khr_subgroups"
SIZE, COUNT = "CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE", "CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE"
GROUP = "CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT"
MOST, REQUIRED = "CL_KERNEL_MAX_NUM_SUB_GROUPS", "CL_KERNEL_COMPILE_NUM_SUB_GROUPS"
GROUPS = [(1,), (2,), (3,), (7,), (8,), (16,), (33,), (64,), (2, 2), (4, 3), (1, 16), (2, 2, 2), (1, 3, 5), (1, 1, 17)]
MANY = 1 << 30  # more sub-groups than any group has


class SubGroups:
    """A kernel of a device that has sub-groups; the attempt is `unsupported` where there are none."""

    def __init__(self, objects: IcdObjects, function: str = SUB) -> None:
        self.objects, self.session, self.info = objects, objects.session, Info(objects)
        self.function = function
        if function == SUFFIXED:
            listed = self.info.text("clGetDeviceInfo", objects.device, "CL_DEVICE_EXTENSIONS").split()
            if EXTENSION not in listed:
                raise Unsupported("loader", f"the device does not advertise {EXTENSION}", EXTENSION)
            self.most = 1
        else:
            objects.require_function(SUB, objects.device_version())
            self.most = self.info.number("clGetDeviceInfo", objects.device, "CL_DEVICE_MAX_NUM_SUB_GROUPS")
        self.kernel = objects.kernel

    def require(self) -> None:
        if not self.most:
            raise Unsupported("loader", "the device has no sub-groups", "sub-groups")

    def ask(self, query: str, *given: int, elements: int = 1) -> tuple[int, list[int]]:
        """The error and the words of the answer to a query, whose input are words."""
        words, to = self.session.words(list(given)) if given else None, self.session.buffer(8 * elements, 0)
        about = (self.kernel, self.objects.device, api().constant(query), 8 * len(given), words)
        error = self.session.call(self.function, *about, 8 * elements, to, None)
        return error, [int.from_bytes(to[8 * i : 8 * i + 8], "little") for i in range(elements)]

    def number(self, query: str, *given: int) -> int:
        error, (answer,) = self.ask(query, *given)
        assert error == CL.SUCCESS, f"{query} of {given} answered {error}, expected CL_SUCCESS"
        return answer

    def group_size(self) -> int:
        """The most work-items of a group."""
        kernel, device = self.kernel, self.objects.device
        return self.info.number("clGetKernelWorkGroupInfo", kernel, device, "CL_KERNEL_WORK_GROUP_SIZE")


def product(sizes: Sequence[int]) -> int:
    result = 1
    for size in sizes:
        result *= size
    return result


@requirement("API-KER-014")
def test_sub_groups_of_a_group_are_equal_but_the_last(icd: Icd, sandbox: Sandbox) -> None:
    """The number of sub-groups is that of the group's work-items by the size of a sub-group, rounded up."""

    def check(objects: IcdObjects, sizes: tuple[int, ...]) -> None:
        groups = SubGroups(objects)
        groups.require()
        if product(sizes) > groups.group_size():
            raise Unsupported("loader", f"the kernel has no group of {product(sizes)} work-items", "group size")
        size, count = groups.number(SIZE, *sizes), groups.number(COUNT, *sizes)
        assert size > 0, f"{SIZE} is 0"
        assert count == -(-product(sizes) // size), f"{COUNT} is {count}, and sub-groups have {size} work-items"
        assert count <= groups.number(MOST), f"{COUNT} is {count}, more than {MOST}"

    with icd.attempts(sandbox) as attempts:
        for sizes in GROUPS:
            label = " by ".join(map(str, sizes))
            attempts.check(label, lambda objects, sizes=sizes: check(objects, sizes))  # type: ignore[misc]


@requirement("API-KER-015")
def test_size_for_a_number_of_sub_groups_makes_so_many(icd: Icd, sandbox: Sandbox) -> None:
    """The group size for a number of sub-groups is one-dimensional, makes so many whole ones, and is 0 for too many."""

    def check(objects: IcdObjects, count: int) -> None:
        groups = SubGroups(objects)
        groups.require()
        error, words = groups.ask(GROUP, count, elements=3)
        assert error == CL.SUCCESS, f"{GROUP} answered {error}, expected CL_SUCCESS"
        if words == [0, 0, 0]:
            return
        assert words[1:] == [1, 1], f"{GROUP} is {words}, expected one dimension"
        made, size = groups.number(COUNT, words[0]), groups.number(SIZE, words[0])
        assert made == count, f"{GROUP} is {words[0]}, which makes {made} sub-groups, expected {count}"
        assert words[0] % size == 0, f"{GROUP} is {words[0]}, and sub-groups have {size} work-items: one is partial"

    def check_many(objects: IcdObjects) -> None:
        groups = SubGroups(objects)
        groups.require()
        error, words = groups.ask(GROUP, MANY, elements=3)
        assert (error, words) == (CL.SUCCESS, [0, 0, 0]), f"{GROUP} of {MANY} sub-groups answered {error}, {words}"

    with icd.attempts(sandbox) as attempts:
        for count in (1, 2, 3, 4, 8):
            attempts.check(f"{count}", lambda objects, count=count: check(objects, count))  # type: ignore[misc]
        attempts.check("too many", check_many)


@requirement("API-KER-016")
def test_kernel_has_no_more_sub_groups_than_its_device(icd: Icd, sandbox: Sandbox) -> None:
    """A kernel has one sub-group at least, and no more than the device; its source requires none."""

    def check(objects: IcdObjects) -> None:
        groups = SubGroups(objects)
        groups.require()
        most = groups.number(MOST)
        assert 1 <= most <= groups.most, f"{MOST} is {most}, and CL_DEVICE_MAX_NUM_SUB_GROUPS is {groups.most}"

    def check_required(objects: IcdObjects) -> None:
        groups = SubGroups(objects)
        groups.require()
        required = groups.number(REQUIRED)
        assert required == 0, f"{REQUIRED} is {required}, expected 0: the source says nothing of it"

    with icd.attempts(sandbox) as attempts:
        attempts.check(MOST, check)
        attempts.check(REQUIRED, check_required)


@requirement("API-KER-017")
def test_query_about_sub_groups_refuses_what_it_cannot_answer(icd: Icd, sandbox: Sandbox) -> None:
    """CL_INVALID_OPERATION without sub-groups; CL_INVALID_VALUE without an input, or with one of another size."""

    def ask(groups: SubGroups, query: str, size: int, given: Value | list[int] | None) -> int:
        about = (groups.kernel, groups.objects.device, api().constant(query), size)
        return groups.session.call(SUB, *about, given, 8, groups.session.buffer(8), None)

    def check_without(objects: IcdObjects) -> None:
        groups = SubGroups(objects)
        if groups.most:
            raise Unsupported("loader", "the device has sub-groups", "a device without sub-groups")
        error = ask(groups, SIZE, 8, [1])
        assert error == CL.INVALID_OPERATION, f"answered {error}, expected CL_INVALID_OPERATION"

    def check(objects: IcdObjects, query: str, size: int, null: bool) -> None:
        groups = SubGroups(objects)
        groups.require()
        assert ask(groups, query, 8, [1]) == CL.SUCCESS
        error = ask(groups, query, size, None if null else [1])
        assert error == CL.INVALID_VALUE, f"answered {error}, expected CL_INVALID_VALUE"

    with icd.attempts(sandbox) as attempts:
        attempts.check("no sub-groups", check_without)
        for query in (SIZE, COUNT, GROUP):
            for size, null in ((8, True), (0, False), (3, False)):
                label = f"{query}, {'NULL' if null else f'{size} bytes'}"
                row = (query, size, null)
                attempts.check(label, lambda objects, row=row: check(objects, *row))  # type: ignore[misc]


@requirement("API-KER-020")
def test_sub_groups_by_the_extension_are_those_of_the_core(icd: Icd, sandbox: Sandbox) -> None:
    """The function of cl_khr_subgroups divides groups into equal sub-groups but the last, as that of the core does."""

    def check(objects: IcdObjects, sizes: tuple[int, ...]) -> None:
        groups = SubGroups(objects, SUFFIXED)
        if product(sizes) > groups.group_size():
            raise Unsupported("loader", f"the kernel has no group of {product(sizes)} work-items", "group size")
        size, count = groups.number(SIZE, *sizes), groups.number(COUNT, *sizes)
        assert size > 0, f"{SIZE} is 0"
        assert count == -(-product(sizes) // size), f"{COUNT} is {count}, and sub-groups have {size} work-items"
        if objects.device_version() >= (2, 1):
            core = SubGroups(objects)
            numbers = (core.number(SIZE, *sizes), core.number(COUNT, *sizes))
            assert (size, count) == numbers, f"{SUFFIXED} answers {(size, count)}, and {SUB} {numbers}"

    def check_input(objects: IcdObjects, query: str) -> None:
        groups = SubGroups(objects, SUFFIXED)
        error, _ = groups.ask(query)
        assert error == CL.INVALID_VALUE, f"{query} without an input answered {error}, expected CL_INVALID_VALUE"

    with icd.attempts(sandbox) as attempts:
        for sizes in GROUPS:
            label = " by ".join(map(str, sizes))
            attempts.check(label, lambda objects, sizes=sizes: check(objects, sizes))  # type: ignore[misc]
        for query in (SIZE, COUNT):
            attempts.check(f"{query}, NULL", lambda objects, query=query: check_input(objects, query))  # type: ignore[misc]
