# SPDX-License-Identifier: Apache-2.0
"""What buffers hold after the commands that move data, compared byte for byte, with what lies beside it (API-DAT)."""

from __future__ import annotations

import pytest

from harness.check import (
    CL,
    Icd,
    IcdObjects,
    Memory,
    Sandbox,
    Unsupported,
    expect_same,
    flags_of,
    numbered,
    requirement,
    with_bytes,
)

SIZE = 256
BEFORE = numbered(SIZE, 1)
OTHER = numbered(SIZE, 2)
# Offset and size in bytes: the whole, both ends, one byte, and parts that no word begins or ends with.
PARTS = ((0, SIZE), (0, 1), (SIZE - 1, 1), (1, 1), (3, 5), (7, 64), (61, 195), (128, 128), (17, 222))
PATTERN_SIZES = (1, 2, 4, 8, 16, 32, 64, 128)
LARGE = 1 << 20
MEGABYTES = (1 << 24) + SIZE  # bytes


@requirement("API-DAT-001")
@pytest.mark.parametrize("blocking", [1, 0], ids=["blocking", "finished"])
def test_part_of_a_buffer_is_written_and_read(icd: Icd, sandbox: Sandbox, blocking: int) -> None:
    """A write changes its bytes and no other, a read gives its bytes and no more, at every offset."""

    def write(objects: IcdObjects, offset: int, size: int) -> None:
        memory = Memory(objects)
        mem, new = memory.buffer(BEFORE), OTHER[:size]
        data = memory.session.data(new)
        memory.succeed("clEnqueueWriteBuffer", memory.queue, mem, blocking, offset, size, data, 0, None, None)
        memory.finish()
        expect_same(memory.content(mem, SIZE), with_bytes(BEFORE, offset, new), "the buffer")
        expect_same(data.bytes(), new, "the host's memory")

    def read(objects: IcdObjects, offset: int, size: int) -> None:
        memory = Memory(objects)
        mem, to = memory.buffer(BEFORE), memory.session.data(OTHER)
        target = to.at(16)
        room = min(size, SIZE - 16)
        memory.succeed("clEnqueueReadBuffer", memory.queue, mem, blocking, offset, room, target, 0, None, None)
        memory.finish()
        expect_same(to.bytes(), with_bytes(OTHER, 16, BEFORE[offset : offset + room]), "the host's memory")
        expect_same(memory.content(mem, SIZE), BEFORE, "the buffer")

    def whole(objects: IcdObjects, size: int) -> None:
        memory = Memory(objects)
        mem, data = memory.buffer(BEFORE[:size]), memory.session.data(OTHER[:size])
        memory.succeed("clEnqueueWriteBuffer", memory.queue, mem, blocking, 0, size, data, 0, None, None)
        memory.finish()
        expect_same(memory.content(mem, size), OTHER[:size], "the buffer")

    with icd.attempts(sandbox) as attempts:
        for size in (1, 13, SIZE - 3):
            attempts.check(f"all of {size} bytes", lambda o, size=size: whole(o, size))  # type: ignore[misc]
        for offset, size in PARTS:
            attempts.check(f"write {size} at {offset}", lambda o, part=(offset, size): write(o, *part))  # type: ignore[misc]
            attempts.check(f"read {size} at {offset}", lambda o, part=(offset, size): read(o, *part))  # type: ignore[misc]


@requirement("API-DAT-002", "API-DAT-004")
@pytest.mark.parametrize("flag", ["CL_MEM_HOST_NO_ACCESS", "CL_MEM_HOST_READ_ONLY", "CL_MEM_HOST_WRITE_ONLY"])
def test_flags_for_the_host_do_not_concern_the_device(icd: Icd, sandbox: Sandbox, flag: str) -> None:
    """A buffer that the host may not read, not write, or neither is filled, and copied from and to, like any other."""

    def check(objects: IcdObjects, function: str) -> None:
        memory = Memory(objects)
        objects.require_function("clEnqueueFillBuffer", objects.version())  # the flags came with OpenCL 1.2
        own = objects.made_by("clCreateBuffer", objects.context, flags_of(f"CL_MEM_READ_WRITE|{flag}"), SIZE, None)
        first, last = memory.buffer(BEFORE), memory.buffer(OTHER)
        expected, call = BEFORE, memory.session.call
        assert call("clEnqueueCopyBuffer", memory.queue, first, own, 0, 0, SIZE, 0, None, None) == CL.SUCCESS
        if function == "clEnqueueFillBuffer":
            expected = with_bytes(BEFORE, 16, b"\x5a" * 32)
            pattern = memory.session.data(b"\x5a")
            assert call(function, memory.queue, own, pattern, 1, 16, 32, 0, None, None) == CL.SUCCESS
        assert call("clEnqueueCopyBuffer", memory.queue, own, last, 0, 0, SIZE, 0, None, None) == CL.SUCCESS
        memory.finish()
        expect_same(memory.content(last, SIZE), expected, "the buffer that it was copied to")

    with icd.attempts(sandbox) as attempts:
        for function in ("clEnqueueCopyBuffer", "clEnqueueFillBuffer"):
            attempts.check(function, lambda objects, function=function: check(objects, function))  # type: ignore[misc]


@requirement("API-DAT-001")
def test_large_buffer_is_written_and_read(icd: Icd, sandbox: Sandbox) -> None:
    """A buffer of many pages holds what was written to its beginning, to its middle and to its last byte."""
    with icd.open(sandbox) as session:
        memory = Memory(session.objects(session.some_platforms()[0]))
        mem = memory.objects.made_by("clCreateBuffer", memory.objects.context, 0, LARGE, None)
        for offset in (0, LARGE // 2 - 3, LARGE - SIZE):
            memory.succeed("clEnqueueWriteBuffer", memory.queue, mem, 1, offset, SIZE, OTHER, 0, None, None)
            expect_same(memory.content(mem, SIZE, offset), OTHER, f"the buffer at {offset}")


@requirement("API-DAT-001", "API-DAT-002", "API-DAT-004", "API-DAT-005", "API-DAT-006")
@pytest.mark.parametrize("how", ["write", "read", "copy", "fill", "mapping", "host memory"])
def test_many_pages_are_moved_to_the_last_byte(icd: Icd, sandbox: Sandbox, how: str) -> None:
    """One command moves all of many pages, and no byte past the last one; so does a buffer that is made of them."""
    size, begin = 3 * LARGE // 16 + 8, 64
    before, pattern = bytes(LARGE // 4), numbered(8, 2)
    new = pattern * (size // 8) if how == "fill" else numbered(size, 2)
    expected = with_bytes(before, begin, new)
    places = (0, 4096, LARGE // 16, LARGE // 16 + begin, LARGE // 8, begin + size - SIZE, len(before) - SIZE)
    with icd.open(sandbox) as session:
        memory = Memory(session.objects(session.some_platforms()[0]))
        mem = memory.buffer(expected if how in ("read", "host memory") else before)
        if how == "write":
            data = session.data(new)
            memory.succeed("clEnqueueWriteBuffer", memory.queue, mem, 1, begin, size, data, 0, None, None)
        elif how == "copy":
            source = memory.buffer(expected)
            memory.succeed("clEnqueueCopyBuffer", memory.queue, source, mem, begin, begin, size, 0, None, None)
        elif how == "fill":
            memory.succeed("clEnqueueFillBuffer", memory.queue, mem, pattern, 8, begin, size, 0, None, None)
        elif how == "mapping":
            mapped = memory.map(mem, "CL_MAP_WRITE", begin, size)
            for at in range(0, size, SIZE * SIZE):
                session.store(mapped, at, new[at : at + SIZE * SIZE])
            memory.unmap(mem, mapped)
        elif how == "read":
            host = session.buffer(len(before), 0)
            target = host.at(begin)
            memory.succeed("clEnqueueReadBuffer", memory.queue, mem, 1, begin, size, target, 0, None, None)
            for at in places:
                expect_same(host[at : at + SIZE], expected[at : at + SIZE], f"the host's memory at {at}")
        for at in places:
            expect_same(memory.content(mem, SIZE, at), expected[at : at + SIZE], f"the buffer at {at}")


@requirement("API-DAT-001", "API-DAT-002", "API-DAT-004", "API-DAT-005")
@pytest.mark.parametrize("how", ["write", "read", "copy", "fill", "mapping"])
def test_megabytes_are_moved_to_the_last_byte(icd: Icd, sandbox: Sandbox, how: str) -> None:
    """One command moves all of sixteen MiB and some bytes, which drivers divide, where the device has that much."""
    with icd.open(sandbox) as session:
        memory = Memory(session.objects(session.some_platforms()[0]))
        most = memory.number("clGetDeviceInfo", memory.objects.device, "CL_DEVICE_MAX_MEM_ALLOC_SIZE", 8)
        size = min(MEGABYTES, most // SIZE * SIZE)
        places = sorted({*(1 << bits for bits in range(16, (size - 1).bit_length())), 0, size - SIZE})
        old, new = session.buffer(size, 0), session.buffer(size, 0xA5)
        for number, at in enumerate(places):
            session.store(new.at(0), at, numbered(SIZE, number))
        flags = CL.MEM_READ_WRITE | CL.MEM_COPY_HOST_PTR
        context = memory.objects.context
        content, pattern = new if how == "read" else old, OTHER[: SIZE // 2]
        mem = memory.objects.made_by("clCreateBuffer", context, flags, size, content)
        expected = {at: numbered(SIZE, number) for number, at in enumerate(places)}
        if how == "write":
            memory.succeed("clEnqueueWriteBuffer", memory.queue, mem, 1, 0, size, new, 0, None, None)
        elif how == "copy":
            source = memory.objects.made_by("clCreateBuffer", context, flags, size, new)
            memory.succeed("clEnqueueCopyBuffer", memory.queue, source, mem, 0, 0, size, 0, None, None)
        elif how == "fill":
            memory.succeed("clEnqueueFillBuffer", memory.queue, mem, pattern, len(pattern), 0, size, 0, None, None)
            expected = dict.fromkeys(places, pattern * 2)
        elif how == "mapping":
            mapped = memory.map(mem, "CL_MAP_WRITE", 0, size)
            for at, bytes_ in expected.items():
                session.store(mapped, at, bytes_)
            memory.unmap(mem, mapped)
        else:
            memory.succeed("clEnqueueReadBuffer", memory.queue, mem, 1, 0, size, old, 0, None, None)
            for at, bytes_ in expected.items():
                expect_same(old[at : at + SIZE], bytes_, f"the host's memory at {at}")
        for at, bytes_ in expected.items():
            expect_same(memory.content(mem, SIZE, at), bytes_, f"the buffer at {at}")


@requirement("API-DAT-002")
def test_copy_between_buffers_and_within_one(icd: Icd, sandbox: Sandbox) -> None:
    """A copy changes its bytes of the target and no other, and the source stays as it was."""

    def between(objects: IcdObjects, source: int, target: int, size: int) -> None:
        memory = Memory(objects)
        one, other = memory.buffer(BEFORE), memory.buffer(OTHER)
        memory.succeed("clEnqueueCopyBuffer", memory.queue, one, other, source, target, size, 0, None, None)
        expect_same(memory.content(other, SIZE), with_bytes(OTHER, target, BEFORE[source : source + size]), "target")
        expect_same(memory.content(one, SIZE), BEFORE, "the source")

    def within(objects: IcdObjects, source: int, target: int, size: int) -> None:
        memory = Memory(objects)
        mem = memory.buffer(BEFORE)
        memory.succeed("clEnqueueCopyBuffer", memory.queue, mem, mem, source, target, size, 0, None, None)
        expect_same(memory.content(mem, SIZE), with_bytes(BEFORE, target, BEFORE[source : source + size]))

    with icd.attempts(sandbox) as attempts:
        for part in ((0, 0, SIZE), (3, 9, 5), (255, 0, 1), (0, 255, 1), (64, 1, 100), (13, 200, 56)):
            attempts.check(f"{part[2]} from {part[0]} to {part[1]}", lambda o, part=part: between(o, *part))  # type: ignore[misc]
        for part in ((0, 128, 128), (128, 0, 128), (5, 40, 35), (40, 5, 35)):
            attempts.check(f"within, {part[2]} from {part[0]} to {part[1]}", lambda o, part=part: within(o, *part))  # type: ignore[misc]


@requirement("API-DAT-004")
def test_fill_repeats_a_pattern_of_each_size(icd: Icd, sandbox: Sandbox) -> None:
    """A fill repeats its pattern from its offset on, of every size that there is, and changes no other byte."""

    def check(objects: IcdObjects, width: int, offset: int, times: int) -> None:
        memory = Memory(objects)
        mem, pattern = memory.buffer(BEFORE), numbered(width, 3)
        data = memory.session.data(pattern)
        size = width * times
        memory.succeed("clEnqueueFillBuffer", memory.queue, mem, data, width, offset, size, 0, None, None)
        data.fill(0)
        expect_same(memory.content(mem, SIZE), with_bytes(BEFORE, offset, pattern * times), "the buffer")

    with icd.attempts(sandbox) as attempts:
        for width in PATTERN_SIZES:
            for offset, times in ((0, SIZE // width), (width, SIZE // width - 1), (SIZE - width, 1), (0, 1)):
                label = f"{width} bytes, {times} times at {offset}"
                attempts.check(label, lambda o, row=(width, offset, times): check(o, *row))  # type: ignore[misc]


@requirement("API-DAT-005")
def test_mapped_part_shows_the_buffer_and_takes_what_is_written(icd: Icd, sandbox: Sandbox) -> None:
    """A mapping shows the bytes from its offset on; what is written to it is in the buffer after it is given back."""

    def check(objects: IcdObjects, flags: str, offset: int, size: int) -> None:
        newer = objects.device_version() >= (1, 2)
        if "INVALIDATE" in flags and not newer:
            raise Unsupported("loader", "this flag came with OpenCL 1.2", "version")
        memory = Memory(objects)
        mem, new = memory.buffer(BEFORE), OTHER[:size]
        mapped = memory.map(mem, flags, offset, size)
        if "CL_MAP_READ" in flags or (flags == "CL_MAP_WRITE" and newer):  # what it shows came with OpenCL 1.2, too
            expect_same(memory.session.bytes_at(mapped, size), BEFORE[offset : offset + size], "the mapping")
        if flags != "CL_MAP_READ":
            memory.session.store(mapped, 0, new)
        memory.unmap(mem, mapped)
        expected = BEFORE if flags == "CL_MAP_READ" else with_bytes(BEFORE, offset, new)
        expect_same(memory.content(mem, SIZE), expected, "the buffer")

    with icd.attempts(sandbox) as attempts:
        for flags in ("CL_MAP_READ", "CL_MAP_WRITE", "CL_MAP_READ|CL_MAP_WRITE", "CL_MAP_WRITE_INVALIDATE_REGION"):
            for offset, size in PARTS:
                label = f"{flags}, {size} at {offset}"
                attempts.check(label, lambda o, row=(flags, offset, size): check(o, *row))  # type: ignore[misc]


@requirement("API-DAT-005")
def test_several_mappings_of_a_buffer_are_of_one_content(icd: Icd, sandbox: Sandbox) -> None:
    """Parts of a buffer that are mapped at the same time show their bytes; each takes what is written to it."""
    with icd.open(sandbox) as session:
        memory = Memory(session.objects(session.some_platforms()[0]))
        mem = memory.buffer(BEFORE)
        reading = [memory.map(mem, "CL_MAP_READ", offset, 64) for offset in (0, 32, 190)]
        for offset, mapped in zip((0, 32, 190), reading, strict=True):
            expect_same(session.bytes_at(mapped, 64), BEFORE[offset : offset + 64], f"the mapping at {offset}")
        for mapped in (reading[1], reading[0], reading[2]):
            memory.unmap(mem, mapped)
        writing = [memory.map(mem, "CL_MAP_WRITE", offset, 40) for offset in (8, 100)]
        for mapped in writing:
            session.store(mapped, 0, OTHER[:40])
        for mapped in reversed(writing):
            memory.unmap(mem, mapped)
        expected = with_bytes(with_bytes(BEFORE, 8, OTHER[:40]), 100, OTHER[:40])
        expect_same(memory.content(mem, SIZE), expected, "the buffer")


@requirement("API-DAT-006")
def test_buffer_begins_with_the_hosts_content(icd: Icd, sandbox: Sandbox) -> None:
    """A buffer made with CL_MEM_COPY_HOST_PTR or CL_MEM_USE_HOST_PTR holds what the host's memory did."""

    def check(objects: IcdObjects, flags: str, size: int, listed: bool = False) -> None:
        memory = Memory(objects)
        host = memory.session.data(BEFORE[:size])
        function = "clCreateBufferWithProperties" if listed else "clCreateBuffer"
        objects.require_function(function, objects.version())
        mem = objects.made_by(function, objects.context, *[None] * listed, flags_of(flags), size, host)
        if "COPY" in flags:
            host.fill(0)
        expect_same(memory.content(mem, size), BEFORE[:size], "the buffer")

    with icd.attempts(sandbox) as attempts:
        for flags in (
            "CL_MEM_COPY_HOST_PTR",
            "CL_MEM_COPY_HOST_PTR|CL_MEM_READ_ONLY",
            "CL_MEM_COPY_HOST_PTR|CL_MEM_ALLOC_HOST_PTR",
            "CL_MEM_USE_HOST_PTR",
            "CL_MEM_USE_HOST_PTR|CL_MEM_READ_ONLY",
        ):
            for size in (SIZE, SIZE - 1, 13, 1):
                label = f"{flags}, {size} bytes"
                attempts.check(label, lambda o, row=(flags, size): check(o, *row))  # type: ignore[misc]
            label = f"with properties, {flags}"
            attempts.check(label, lambda o, row=(flags, SIZE, True): check(o, *row))  # type: ignore[misc]


@requirement("API-DAT-006")
def test_mapping_of_the_hosts_own_memory_lies_in_it(icd: Icd, sandbox: Sandbox) -> None:
    """A mapping of a buffer with CL_MEM_USE_HOST_PTR is a part of that memory, which then has the latest content."""
    with icd.open(sandbox) as session:
        memory = Memory(session.objects(session.some_platforms()[0]))
        host = session.data(BEFORE)
        mem = memory.objects.made_by(
            "clCreateBuffer", memory.objects.context, flags_of("CL_MEM_USE_HOST_PTR"), SIZE, host
        )
        memory.succeed("clEnqueueWriteBuffer", memory.queue, mem, 1, 8, 64, OTHER[:64], 0, None, None)
        mapped = memory.map(mem, "CL_MAP_READ|CL_MAP_WRITE", 4, 100)
        assert mapped == memory.address(host) + 4, "the mapping is not the host's memory and the offset"
        expect_same(host[4:104], with_bytes(BEFORE, 8, OTHER[:64])[4:104], "the host's memory while it is mapped")
        session.store(mapped, 10, b"changed")
        memory.unmap(mem, mapped)
        expected = with_bytes(with_bytes(BEFORE, 8, OTHER[:64]), 14, b"changed")
        expect_same(memory.content(mem, SIZE), expected, "the buffer")


@requirement("API-DAT-007")
def test_sub_buffer_is_a_part_of_its_buffer(icd: Icd, sandbox: Sandbox) -> None:
    """What is written, copied, filled, mapped and read of a sub-buffer is its part of the buffer, from its origin."""

    def create(objects: IcdObjects) -> tuple[Memory, int, bytes]:
        memory = Memory(objects)
        align = memory.alignment()
        return memory, align, numbered(4 * align + 32, 4)

    def check(objects: IcdObjects, how: str, place: str) -> None:
        memory, align, content = create(objects)
        mem = memory.buffer(content)
        part = memory.part(mem, align, align + 16)
        new, at = numbered(8, 5), {"first": 0, "inner": 4, "last": align + 8}[place]
        if how == "write":
            memory.succeed("clEnqueueWriteBuffer", memory.queue, part, 1, at, 8, new, 0, None, None)
        elif how == "fill":
            memory.succeed("clEnqueueFillBuffer", memory.queue, part, new[:4] * 2, 4, at, 8, 0, None, None)
            new = new[:4] * 2
        elif how == "copy to":
            memory.succeed("clEnqueueCopyBuffer", memory.queue, memory.buffer(new), part, 0, at, 8, 0, None, None)
        elif how == "rectangle":
            host, origin = memory.session.words([0, 0, 0]), memory.session.words([at, 0, 0])
            region, data = memory.session.words([8, 1, 1]), memory.session.data(new)
            memory.succeed(
                "clEnqueueWriteBufferRect", memory.queue, part, 1, origin, host, region, 0, 0, 0, 0, data, 0, None, None
            )
        elif how == "map":
            mapped = memory.map(part, "CL_MAP_WRITE", at, 8)
            memory.session.store(mapped, 0, new)
            memory.unmap(part, mapped)
        elif how == "write to the whole":
            memory.succeed("clEnqueueWriteBuffer", memory.queue, mem, 1, align + at, 8, new, 0, None, None)
        memory.finish()
        expected = with_bytes(content, align + at, new)
        expect_same(memory.content(part, align + 16), expected[align : 2 * align + 16], "the sub-buffer")
        expect_same(memory.content(mem, len(content)), expected, "the buffer")

    def check_copy_from(objects: IcdObjects) -> None:
        memory, align, content = create(objects)
        mem = memory.buffer(content)
        part, target = memory.part(mem, 2 * align, align), memory.buffer(BEFORE)
        memory.succeed("clEnqueueCopyBuffer", memory.queue, part, target, 3, 7, 4, 0, None, None)
        begin = 2 * align + 3
        expect_same(memory.content(target, SIZE), with_bytes(BEFORE, 7, content[begin : begin + 4]), "the target")
        mapped = memory.map(part, "CL_MAP_READ", 2, 5)
        expect_same(memory.session.bytes_at(mapped, 5), content[begin - 1 : begin + 4], "the mapping")
        memory.unmap(part, mapped)

    with icd.attempts(sandbox) as attempts:
        for how in ("write", "fill", "copy to", "rectangle", "map", "write to the whole"):
            attempts.check(how, lambda objects, how=how: check(objects, how, "inner"))  # type: ignore[misc]
            for place in ("first", "last"):
                label = f"{how}, its {place} bytes"
                attempts.check(label, lambda o, row=(how, place): check(o, *row))  # type: ignore[misc]
        attempts.check("copy and map from", check_copy_from)


@requirement("API-DAT-008")
def test_migration_keeps_the_content(icd: Icd, sandbox: Sandbox) -> None:
    """Memory objects that are migrated, to the device and to the host, hold what they held."""
    with icd.open(sandbox) as session:
        memory = Memory(session.objects(session.some_platforms()[0]))
        both = [memory.buffer(BEFORE), memory.buffer(OTHER)]
        for flags in (0, CL.MIGRATE_MEM_OBJECT_HOST, 0):
            memory.succeed("clEnqueueMigrateMemObjects", memory.queue, 2, both, flags, 0, None, None)
            expect_same(memory.content(both[0], SIZE), BEFORE, "the first buffer")
            expect_same(memory.content(both[1], SIZE), OTHER, "the second buffer")


@requirement("API-DAT-009")
def test_copy_that_overlaps_is_refused(icd: Icd, sandbox: Sandbox) -> None:
    """A copy within a buffer whose parts overlap is CL_MEM_COPY_OVERLAP, and changes nothing; side by side is none."""

    def check(objects: IcdObjects, source: int, target: int, wanted: int) -> None:
        memory = Memory(objects)
        mem = memory.buffer(BEFORE)
        error = memory.session.call("clEnqueueCopyBuffer", memory.queue, mem, mem, source, target, 32, 0, None, None)
        assert error == wanted, f"answered {error}, expected {wanted!r}"
        if wanted:
            expect_same(memory.content(mem, SIZE), BEFORE, "the buffer")

    def check_parts(objects: IcdObjects) -> None:
        if objects.device_version() < (1, 2):
            raise Unsupported("loader", "OpenCL 1.1 says nothing of sub-buffers that overlap", "sub-buffers")
        memory = Memory(objects)
        align = memory.alignment()
        mem = memory.buffer(numbered(4 * align, 4))
        one, other = memory.part(mem, 0, 2 * align), memory.part(mem, align, 2 * align)
        error = memory.session.call("clEnqueueCopyBuffer", memory.queue, one, other, align, 0, align, 0, None, None)
        assert error == CL.MEM_COPY_OVERLAP, f"answered {error}, expected CL_MEM_COPY_OVERLAP"

    def check_rectangle(objects: IcdObjects, source: tuple[int, int, int], target: tuple[int, int, int]) -> None:
        memory = Memory(objects)
        mem = memory.buffer(BEFORE)
        words = [memory.session.words(list(w)) for w in (source, target, (4, 4, 1))]
        error = memory.session.call(
            "clEnqueueCopyBufferRect", memory.queue, mem, mem, *words, 16, 256, 16, 256, 0, None, None
        )
        assert error == CL.MEM_COPY_OVERLAP, f"answered {error}, expected CL_MEM_COPY_OVERLAP"

    with icd.attempts(sandbox) as attempts:
        for source, target, wanted in (
            (0, 0, CL.MEM_COPY_OVERLAP),
            (0, 31, CL.MEM_COPY_OVERLAP),
            (31, 0, CL.MEM_COPY_OVERLAP),
            (100, 101, CL.MEM_COPY_OVERLAP),
            (0, 32, CL.SUCCESS),
            (32, 0, CL.SUCCESS),
        ):
            label = f"32 bytes from {source} to {target}"
            attempts.check(label, lambda o, row=(source, target, wanted): check(o, *row))  # type: ignore[misc]
        attempts.check("sub-buffers", check_parts)
        attempts.check("the same rectangle", lambda o: check_rectangle(o, (0, 0, 0), (0, 0, 0)))
        attempts.check("rectangles that share a corner", lambda o: check_rectangle(o, (0, 0, 0), (3, 3, 0)))
