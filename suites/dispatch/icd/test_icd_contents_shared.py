# SPDX-License-Identifier: Apache-2.0
"""What shared virtual memory holds after the commands that move data (API-DAT)."""

from __future__ import annotations

import pytest

from harness.check import (
    CL,
    Callback,
    Icd,
    IcdObjects,
    Sandbox,
    Shared,
    expect_same,
    flags_of,
    numbered,
    requirement,
    with_bytes,
)

SIZE = 256
PAGE = 4096
BEFORE = numbered(SIZE, 1)
OTHER = numbered(SIZE, 2)
FREE = "clEnqueueSVMFree.pfn_free_func"


@requirement("API-DAT-010")
def test_shared_memory_is_copied_and_filled_byte_for_byte(icd: Icd, sandbox: Sandbox) -> None:
    """Copies to, from and between shared virtual memory, and fills of it, change their bytes and no other."""

    def copy(objects: IcdObjects, source: int, target: int, size: int) -> None:
        memory = Shared(objects)
        one, other = memory.allocate(BEFORE), memory.allocate(OTHER)
        memory.succeed("clEnqueueSVMMemcpy", memory.queue, 0, other.plus(target), one.plus(source), size, 0, None, None)
        memory.finish()
        expected = with_bytes(OTHER, target, BEFORE[source : source + size])
        expect_same(memory.held(other, SIZE), expected, "the target")
        expect_same(memory.held(one, SIZE), BEFORE, "the source")

    def fill(objects: IcdObjects, width: int, offset: int, times: int) -> None:
        memory = Shared(objects)
        at, pattern = memory.allocate(BEFORE), numbered(width, 3)
        data, size = memory.session.data(pattern), width * times
        memory.succeed("clEnqueueSVMMemFill", memory.queue, at.plus(offset), data, width, size, 0, None, None)
        data.fill(0)
        expect_same(memory.held(at, SIZE), with_bytes(BEFORE, offset, pattern * times), "the memory")

    with icd.attempts(sandbox) as attempts:
        for part in ((0, 0, SIZE), (3, 9, 5), (255, 0, 1), (0, 255, 1), (13, 77, 100), (8, 16, 77)):
            attempts.check(f"{part[2]} from {part[0]} to {part[1]}", lambda o, part=part: copy(o, *part))  # type: ignore[misc]
        for width in (1, 2, 4, 8, 16, 32, 64, 128):
            row = (width, width, SIZE // width - 1)
            attempts.check(f"pattern of {width} bytes", lambda o, row=row: fill(o, *row))  # type: ignore[misc]


@requirement("API-DAT-010")
@pytest.mark.parametrize("how", ["copy", "fill", "mapping"])
def test_many_pages_of_shared_memory_are_moved_to_the_last_byte(icd: Icd, sandbox: Sandbox, how: str) -> None:
    """One command moves all of many pages of shared virtual memory, and no byte past the last one."""
    size, begin, pattern = 5 * PAGE + 8, 64, numbered(8, 2)
    before = bytes(8 * PAGE)
    new = pattern * (size // 8) if how == "fill" else numbered(size, 2)
    expected = with_bytes(before, begin, new)
    with icd.open(sandbox) as session:
        memory = Shared(session.objects(session.some_platforms()[0]))
        at = memory.allocate(before)
        part = at.plus(begin)
        if how == "copy":
            source = memory.allocate(new)
            memory.succeed("clEnqueueSVMMemcpy", memory.queue, 1, part, source, size, 0, None, None)
        elif how == "fill":
            memory.succeed("clEnqueueSVMMemFill", memory.queue, part, pattern, 8, size, 0, None, None)
        else:
            memory.succeed("clEnqueueSVMMap", memory.queue, 1, CL.MAP_WRITE, part, size, 0, None, None)
            session.store(part, 0, new)
            memory.succeed("clEnqueueSVMUnmap", memory.queue, part, 0, None, None)
        for place in (0, begin, PAGE, PAGE + begin, 4 * PAGE, begin + size - SIZE, len(before) - SIZE):
            expect_same(memory.held(at.plus(place), SIZE), expected[place : place + SIZE], f"the memory at {place}")


@requirement("API-DAT-009", "API-DAT-010")
def test_copy_of_shared_memory_may_not_overlap(icd: Icd, sandbox: Sandbox) -> None:
    """A copy within shared virtual memory whose parts overlap is CL_MEM_COPY_OVERLAP; side by side is none."""

    def check(objects: IcdObjects, source: int, target: int, wanted: int) -> None:
        memory = Shared(objects)
        at = memory.allocate(BEFORE)
        arguments = (memory.queue, 1, at.plus(target), at.plus(source), 32, 0, None, None)
        error = memory.session.call("clEnqueueSVMMemcpy", *arguments)
        assert error == wanted, f"answered {error}, expected {wanted!r}"
        copy = BEFORE if wanted else with_bytes(BEFORE, target, BEFORE[source : source + 32])
        expect_same(memory.held(at, SIZE), copy, "the memory")

    with icd.attempts(sandbox) as attempts:
        for source, target, wanted in (
            (0, 31, CL.MEM_COPY_OVERLAP),
            (100, 101, CL.MEM_COPY_OVERLAP),
            (64, 33, CL.MEM_COPY_OVERLAP),
            (0, 32, CL.SUCCESS),
            (96, 64, CL.SUCCESS),
        ):
            label = f"32 bytes from {source} to {target}"
            attempts.check(label, lambda o, row=(source, target, wanted): check(o, *row))  # type: ignore[misc]


@requirement("API-DAT-010")
def test_mapped_shared_memory_shows_and_takes_its_content(icd: Icd, sandbox: Sandbox) -> None:
    """While shared virtual memory is mapped, the host sees what it holds; what it writes is there afterwards."""

    def check(objects: IcdObjects, flags: str, offset: int, size: int) -> None:
        memory = Shared(objects)
        at = memory.allocate(BEFORE)
        part = at.plus(offset)
        memory.succeed("clEnqueueSVMMap", memory.queue, 1, flags_of(flags), part, size, 0, None, None)
        if "INVALIDATE" not in flags:
            expect_same(memory.session.bytes_at(part, size), BEFORE[offset : offset + size], "the mapping")
        expected = BEFORE
        if flags != "CL_MAP_READ":
            memory.session.store(part, 0, OTHER[:size])
            expected = with_bytes(BEFORE, offset, OTHER[:size])
        memory.succeed("clEnqueueSVMUnmap", memory.queue, part, 0, None, None)
        expect_same(memory.held(at, SIZE), expected, "the memory")

    with icd.attempts(sandbox) as attempts:
        for flags in ("CL_MAP_READ", "CL_MAP_WRITE|CL_MAP_READ", "CL_MAP_WRITE", "CL_MAP_WRITE_INVALIDATE_REGION"):
            for offset, size in ((0, SIZE), (8, 40), (255, 1)):
                label = f"{flags}, {size} at {offset}"
                attempts.check(label, lambda o, row=(flags, offset, size): check(o, *row))  # type: ignore[misc]


@requirement("API-DAT-008", "API-DAT-010")
def test_migration_keeps_the_content_of_shared_memory(icd: Icd, sandbox: Sandbox) -> None:
    """Shared virtual memory that is migrated, whole and in part, to the device and to the host, holds what it held."""

    def check(objects: IcdObjects, flags: int, sizes: list[int] | None) -> None:
        memory = Shared(objects)
        both = [memory.allocate(BEFORE), memory.allocate(OTHER)]
        memory.succeed("clEnqueueSVMMigrateMem", memory.queue, 2, both, sizes, flags, 0, None, None)
        expect_same(memory.held(both[0], SIZE), BEFORE, "the first memory")
        expect_same(memory.held(both[1], SIZE), OTHER, "the second memory")

    with icd.attempts(sandbox) as attempts:
        for flags in (0, CL.MIGRATE_MEM_OBJECT_HOST):
            for sizes in (None, [SIZE, 32]):
                label = f"flags {flags}, sizes {sizes}"
                attempts.check(label, lambda o, row=(flags, sizes): check(o, *row))  # type: ignore[misc]


@requirement("API-DAT-010")
def test_shared_memory_is_freed_once_and_aligned(icd: Icd, sandbox: Sandbox) -> None:
    """clSVMAlloc keeps the alignment that it is asked for; clEnqueueSVMFree calls its function once, with its list."""
    with icd.open(sandbox) as session:
        memory = Shared(session.objects(session.some_platforms()[0]))
        context = memory.objects.context
        for alignment in (0, 1, 4, 16, 64):
            at = session.call("clSVMAlloc", context, CL.MEM_READ_WRITE, 24, alignment)
            assert at % max(alignment, 1) == 0 and at, f"alignment {alignment}: the address is {at:#x}"
            session.call("clSVMFree", context, at)
        two = [memory.allocate(BEFORE), memory.allocate(OTHER)]
        memory.succeed("clEnqueueSVMFree", memory.queue, 2, two, Callback(FREE), 7, 0, None, None)
        memory.finish()
        calls = [e.arguments for e in sandbox.log if e.name == f"callback {FREE}"]
        assert [(a[0], a[1] & 0xFFFFFFFF, a[3]) for a in calls] == [(memory.queue, 2, 7)]
