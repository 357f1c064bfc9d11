# SPDX-License-Identifier: Apache-2.0
"""What buffers hold after commands that move rectangles, compared byte for byte, with what lies beside it (API-DAT)."""

from __future__ import annotations

import pytest

from harness.check import (
    CL,
    Icd,
    IcdObjects,
    Layout,
    Memory,
    Sandbox,
    Value,
    copied,
    expect_same,
    numbered,
    requirement,
)

SIZE = 256
BEFORE = numbered(SIZE, 1)
OTHER = numbered(SIZE, 2)
MOVES = ("clEnqueueReadBufferRect", "clEnqueueWriteBufferRect", "clEnqueueCopyBufferRect")
# Region, where it lies in the buffer, and where in the host's memory or in the other buffer.
RECTANGLES = {
    "one row": ((16, 1, 1), Layout((0, 0, 0)), Layout((0, 0, 0))),
    "smallest pitches": ((5, 4, 3), Layout((0, 0, 0)), Layout((0, 0, 0))),
    "origins": ((5, 3, 1), Layout((4, 2, 0), 16), Layout((1, 5, 0), 16)),
    "pitches of two sizes": ((5, 3, 1), Layout((4, 2, 0), 16), Layout((2, 1, 0), 11)),
    "three dimensions": ((3, 2, 2), Layout((1, 2, 1), 8, 40), Layout((2, 1, 3), 7, 28)),
    "slices with gaps": ((4, 2, 3), Layout((0, 0, 0), 6, 36), Layout((1, 0, 0), 9, 27)),
    "rows of one side with gaps": ((5, 3, 1), Layout((0, 0, 0)), Layout((1, 2, 0), 9)),
    "rows of the other side with gaps": ((5, 3, 1), Layout((1, 2, 0), 9), Layout((0, 0, 0))),
    "slices of one side with gaps": ((4, 2, 2), Layout((0, 0, 0), 8, 40), Layout((0, 0, 0), 8)),
    "slices of the other side with gaps": ((4, 2, 2), Layout((0, 0, 0), 8), Layout((1, 0, 1), 8, 40)),
    "slices with gaps of tight rows": ((5, 2, 3), Layout((0, 0, 0), 0, 20), Layout((0, 0, 0), 0, 15)),
    "slice by row pitch": ((4, 3, 2), Layout((0, 0, 0), 8), Layout((3, 0, 0), 10)),
    "to the last byte": ((6, 2, 1), Layout((10, 14, 0), 16), Layout((0, 0, 0), 16)),
}


@requirement("API-DAT-003")
@pytest.mark.parametrize("function", MOVES)
def test_rectangle_is_moved_row_by_row(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """The rows of a region go where origins and pitches say, and nothing else changes."""

    def check(objects: IcdObjects, name: str) -> None:
        region, own, far = RECTANGLES[name]
        memory = Memory(objects)
        mem = memory.buffer(BEFORE)
        words = [memory.session.words(list(w)) for w in (own.origin, far.origin, region)]
        pitches = (own.row, own.slice, far.row, far.slice)
        if function == "clEnqueueCopyBufferRect":
            other = memory.buffer(OTHER)
            memory.succeed(function, memory.queue, mem, other, *words, *pitches, 0, None, None)
            answer = memory.content(other, SIZE)
        else:
            host = memory.session.data(OTHER)
            memory.succeed(function, memory.queue, mem, 1, *words, *pitches, host, 0, None, None)
            answer = host.bytes()
        if function == "clEnqueueWriteBufferRect":
            expect_same(memory.content(mem, SIZE), copied(OTHER, far, BEFORE, own, region), "the buffer")
            expect_same(answer, OTHER, "the host's memory")
        else:
            expect_same(answer, copied(BEFORE, own, OTHER, far, region), "the target")
            expect_same(memory.content(mem, SIZE), BEFORE, "the source")

    with icd.attempts(sandbox) as attempts:
        for name in RECTANGLES:
            attempts.check(name, lambda objects, name=name: check(objects, name))  # type: ignore[misc]


# Where a rectangle of three slices begins, and its pitches, which may be left out: each on one side, or on both.
ORIGINS = ((0, 0, 0), (3, 0, 0), (0, 2, 0), (0, 0, 1), (1, 2, 1))
PITCHES = ((0, 0), (7, 0), (0, 20), (7, 28))
PLACES = [Layout(origin, *pitches) for origin in ORIGINS for pitches in PITCHES]


@requirement("API-DAT-003")
@pytest.mark.parametrize("function", MOVES)
def test_rectangle_begins_at_its_origin_with_and_without_pitches(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """An origin counts columns, rows and slices, if pitches are given or are the smallest, on either side."""
    region = (4, 3, 2)

    def check(objects: IcdObjects, own: Layout, far: Layout) -> None:
        memory = Memory(objects)
        mem, words = memory.buffer(BEFORE), [memory.session.words(list(w)) for w in (own.origin, far.origin, region)]
        pitches = (own.row, own.slice, far.row, far.slice)
        other = memory.buffer(OTHER) if "Copy" in function else memory.session.data(OTHER)
        if isinstance(other, Value):
            memory.succeed(function, memory.queue, mem, other, *words, *pitches, 0, None, None)
        else:
            memory.succeed(function, memory.queue, mem, 1, *words, *pitches, other, 0, None, None)
        if "Write" in function:
            expect_same(memory.content(mem, SIZE), copied(OTHER, far, BEFORE, own, region), "the buffer")
        else:
            answer = memory.content(other, SIZE) if isinstance(other, Value) else other.bytes()
            expect_same(answer, copied(BEFORE, own, OTHER, far, region), "the target")

    with icd.attempts(sandbox) as attempts:
        for place in PLACES:
            at = f"{place.origin}, pitches {place.row} and {place.slice}"
            plain = Layout((0, 0, 0))
            for side, own, far in (("buffer", place, plain), ("other side", plain, place), ("both", place, place)):
                attempts.check(f"{side} at {at}", lambda o, row=(own, far): check(o, *row))  # type: ignore[misc]


# Regions of more bytes, rows or slices than a few of a kind, with a gap after each row.
MANY = {"bytes in a row": (70001, 2, 1), "rows": (3, 1100, 1), "slices": (3, 2, 550)}


@requirement("API-DAT-003")
@pytest.mark.parametrize("function", MOVES)
def test_rectangle_of_many_rows_is_moved_to_the_last_one(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """All of a region is moved, however many bytes, rows and slices it has, and nothing between its rows."""

    def check(objects: IcdObjects, name: str) -> None:
        region = MANY[name]
        memory, row, (width, height, depth) = Memory(objects), region[0] + 5, region
        size, slice_ = row * height * depth, row * height
        before, new = bytes(size), numbered(size, 2)
        rows = [new[at : at + width] for at in Layout((0, 0, 0), row).rows(region)]
        expected = b"".join(one + bytes(5) for one in rows)
        mem = memory.buffer(new if "Read" in function else before)
        origin, words = memory.session.words([0, 0, 0]), memory.session.words(list(region))
        places, pitches = (origin, origin, words), (row, slice_, row, slice_)
        if "Copy" in function:
            source = memory.buffer(new)
            memory.succeed(function, memory.queue, source, mem, *places, *pitches, 0, None, None)
            actual = memory.content(mem, size)
        else:
            other = memory.session.data(before if "Read" in function else new)
            memory.succeed(function, memory.queue, mem, 1, *places, *pitches, other, 0, None, None)
            actual = other.bytes() if "Read" in function else memory.content(mem, size)
        expect_same(actual, expected, "the target")

    with icd.attempts(sandbox) as attempts:
        for name in MANY:
            attempts.check(f"many {name}", lambda objects, name=name: check(objects, name))  # type: ignore[misc]


@requirement("API-DAT-003")
@pytest.mark.parametrize("function", MOVES)
def test_rectangle_whose_slices_are_no_whole_rows_is_moved_or_refused(
    icd: Icd, sandbox: Sandbox, function: str
) -> None:
    """Slices that lie apart by no multiple of the row pitch are CL_INVALID_VALUE, or are moved to where they lie."""
    region, place = (4, 2, 2), Layout((1, 0, 0), 8, 19)

    def check(objects: IcdObjects) -> None:
        memory = Memory(objects)
        mem, other = memory.buffer(BEFORE), memory.session.data(OTHER)
        words = [memory.session.words(list(w)) for w in (place.origin, place.origin, region)]
        far = memory.buffer(OTHER) if "Copy" in function else None
        arguments = [mem, far] if far else [mem, 1]
        data = [] if far else [other]
        error = memory.session.call(function, memory.queue, *arguments, *words, 8, 19, 8, 19, *data, 0, None, None)
        assert error in (CL.SUCCESS, CL.INVALID_VALUE), f"answered {error}, expected CL_SUCCESS or CL_INVALID_VALUE"
        expected = [BEFORE, OTHER]
        if error == CL.SUCCESS and "Write" in function:
            expected[0] = copied(OTHER, place, BEFORE, place, region)
        elif error == CL.SUCCESS:
            expected[1] = copied(BEFORE, place, OTHER, place, region)
        expect_same(memory.content(mem, SIZE), expected[0], "the buffer")
        expect_same(memory.content(far, SIZE) if far else other.bytes(), expected[1], "the other side")

    with icd.attempts(sandbox) as attempts:
        attempts.check("slices of two rows and three bytes", check)


# Two places of a rectangle in one buffer, whose rows lie between each other's or after them; rows are 16 bytes apart,
# slices 64.
BESIDE = {
    "to the right": ((0, 0, 0), (4, 0, 0), (4, 4, 1)),
    "to the left": ((9, 1, 0), (2, 1, 0), (7, 3, 1)),
    "below": ((3, 0, 0), (3, 2, 0), (5, 2, 1)),
    "right and below": ((0, 0, 0), (4, 1, 0), (4, 3, 1)),
    "in the next slice": ((2, 1, 0), (2, 1, 1), (6, 3, 1)),
    "to the right, in slices": ((0, 0, 0), (8, 0, 0), (8, 4, 4)),
}


@requirement("API-DAT-003", "API-DAT-009")
def test_rectangle_is_copied_to_a_place_beside_it(icd: Icd, sandbox: Sandbox) -> None:
    """A rectangle is copied within one buffer to a place that it does not overlap, if rows lie between each other's."""

    def check(objects: IcdObjects, name: str) -> None:
        source, target, region = BESIDE[name]
        memory = Memory(objects)
        mem = memory.buffer(BEFORE)
        words = [memory.session.words(list(w)) for w in BESIDE[name]]
        memory.succeed("clEnqueueCopyBufferRect", memory.queue, mem, mem, *words, 16, 64, 16, 64, 0, None, None)
        expected = copied(BEFORE, Layout(source, 16, 64), BEFORE, Layout(target, 16, 64), region)
        expect_same(memory.content(mem, SIZE), expected, "the buffer")

    with icd.attempts(sandbox) as attempts:
        for name in BESIDE:
            attempts.check(name, lambda objects, name=name: check(objects, name))  # type: ignore[misc]
