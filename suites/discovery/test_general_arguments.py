# SPDX-License-Identifier: Apache-2.0
"""Arguments of clGetPlatformIDs: what is written, how much of it, and what is refused (DISC-GEN)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.check import CL, Loader, Sandbox, Session, api, requirement

CANARY = 0xA5A5A5A5
CANARY_WORD = int.from_bytes(b"\xa5" * api().address)


def some_platforms(sandbox: Sandbox, available: int) -> None:
    """As many platforms as asked for, of vendors that offer one or two each."""
    mocks = [sandbox.icd(f"v{i}", platforms=min(2, available - i)) for i in range(0, available, 2)]
    sandbox.vendors_in_order([f"{mock}\n" for mock in mocks])


def all_platforms(cl: Session, available: int) -> list[int]:
    """The list by the simplest way; the session's first call."""
    platforms = [int(platform) for platform in cl.GetPlatformIDs()]
    assert len(set(platforms)) == available
    assert 0 not in platforms
    return platforms


AVAILABLE = [1, 2, 4, 9, 33]
ENTRIES = {1: [1, 2, 8], 2: [1, 2, 3, 9], 4: [1, 2, 3, 4, 5, 6], 9: [1, 7, 8, 9, 10, 16, 17], 33: [1, 32, 33, 34, 64]}
SHAPES = [(available, entries) for available in AVAILABLE for entries in ENTRIES[available]]


@requirement("DISC-GEN-006", "DISC-GEN-007")
@pytest.mark.parametrize("with_count", [True, False], ids=["count", "no-count"])
@pytest.mark.parametrize("available, entries", SHAPES, ids=str)
def test_as_many_platforms_are_stored_as_fit(
    loader: Loader, sandbox: Sandbox, available: int, entries: int, with_count: bool
) -> None:
    """min(num_entries, available) handles are stored and nothing around them; the count is what is available."""
    some_platforms(sandbox, available)

    with loader.start(sandbox) as cl:
        for _ in range(2):  # the first call of the process, and a later one
            array = cl.room(entries + 1)  # one canary before; an unreadable page after
            count = cl.buffer(4) if with_count else None
            assert cl.clGetPlatformIDs(entries, array.at(api().address), count) == CL.SUCCESS
            assert array.word(0) == CANARY_WORD, "memory before the array was written"
            stored = [array.word(1 + i) for i in range(min(entries, available))]
            assert len(set(stored)) == len(stored)
            assert not {0, CANARY_WORD} & set(stored)
            assert set(stored) <= set(all_platforms(cl, available))
            if count is not None:
                assert count.u32() == available


@requirement("DISC-GEN-007")
@pytest.mark.parametrize("entries", [0, 1, 3, 4, 5, 0x7FFFFFFF, 0xFFFFFFFF])
@pytest.mark.parametrize("available", [1, 4, 9])
def test_count_without_an_array_is_what_is_available(
    loader: Loader, sandbox: Sandbox, available: int, entries: int
) -> None:
    """Without an array the count is what is available, whatever num_entries says."""
    some_platforms(sandbox, available)

    with loader.start(sandbox) as cl:
        for _ in range(2):
            count = cl.buffer(12)
            assert cl.clGetPlatformIDs(entries, None, count.at(4)) == CL.SUCCESS
            assert [count.u32(i) for i in range(3)] == [CANARY, available, CANARY]


@requirement("DISC-GEN-008")
@pytest.mark.parametrize("available", [1, 5])
@pytest.mark.parametrize("spare", [1, 2, 5, 32])
def test_spare_slots_are_all_cleared_or_all_left_alone(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None], available: int, spare: int
) -> None:
    """Slots beyond the available platforms are either all cleared or all left alone."""
    some_platforms(sandbox, available)

    with loader.start(sandbox) as cl:
        array = cl.room(available + spare)
        assert cl.clGetPlatformIDs(available + spare, array, None) == CL.SUCCESS
        assert [array.word(i) for i in range(available)] == all_platforms(cl, available)
        rest = {array.word(available + i) for i in range(spare)}
    assert rest in ({0}, {CANARY_WORD}), f"a spare slot holds what is neither NULL nor what it held before: {rest}"
    record("cleared" if rest == {0} else "left alone")


@requirement("DISC-GEN-004")
@pytest.mark.parametrize("with_count", [True, False], ids=["count", "no-count"])
@pytest.mark.parametrize("first", [True, False], ids=["first-call", "later-call"])
@pytest.mark.parametrize("available", [1, 4])
def test_array_without_entries_is_invalid_value(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None], available: int, first: bool, with_count: bool
) -> None:
    """An array with num_entries 0 is CL_INVALID_VALUE and stays untouched; the same call with room succeeds."""
    some_platforms(sandbox, available)

    with loader.start(sandbox) as cl:
        if not first:
            all_platforms(cl, available)
        for _ in range(2):
            array = cl.room(2)
            count = cl.buffer(4)
            assert cl.clGetPlatformIDs(0, array, count if with_count else None) == CL.INVALID_VALUE
            assert array.word(0) == array.word(1) == CANARY_WORD
            record("count left alone" if count.u32() == CANARY else f"count {count.u32()}")
        assert cl.clGetPlatformIDs(1, array, count) == CL.SUCCESS
        assert count.u32() == available
        assert array.word(0) in all_platforms(cl, available)
        assert array.word(1) == CANARY_WORD


@requirement("DISC-GEN-005")
@pytest.mark.parametrize("entries", [0, 1, 4, 0xFFFFFFFF])
@pytest.mark.parametrize("first", [True, False], ids=["first-call", "later-call"])
def test_neither_array_nor_count_is_invalid_value(loader: Loader, sandbox: Sandbox, entries: int, first: bool) -> None:
    """NULL for both the array and the count is CL_INVALID_VALUE; the same call with a count succeeds."""
    some_platforms(sandbox, 4)

    with loader.start(sandbox) as cl:
        if not first:
            all_platforms(cl, 4)
        for _ in range(2):
            assert cl.clGetPlatformIDs(entries, None, None) == CL.INVALID_VALUE
        count = cl.buffer(4)
        assert cl.clGetPlatformIDs(entries, None, count) == CL.SUCCESS
        assert count.u32() == 4
        all_platforms(cl, 4)


# --- no platform at all ---


def _empty(sandbox: Sandbox) -> None:
    pass


def _no_directory(sandbox: Sandbox) -> None:
    sandbox.vendors.rmdir()


def _no_library(sandbox: Sandbox) -> None:
    sandbox.vendor_file("a.icd", f"{sandbox.libraries}/libmissing.so\n")


def _empty_directory_entry(sandbox: Sandbox) -> None:
    (sandbox.vendors / "a.icd").mkdir()


def _no_platforms(sandbox: Sandbox) -> None:
    sandbox.vendor("a", platforms=0)


def _says_not_found(sandbox: Sandbox) -> None:
    sandbox.vendor("a", faults=["platform_not_found"])


def _rejected(sandbox: Sandbox) -> None:
    sandbox.vendor("a", faults=["list_call_fails"])
    sandbox.vendor("b", faults=["suffix_size_fails"])
    sandbox.vendor("c", variant="not_an_icd")


NOTHING = {
    "empty-directory": _empty,
    "no-directory": _no_directory,
    "missing-library": _no_library,
    "a-directory-as-file": _empty_directory_entry,
    "vendor-without-platforms": _no_platforms,
    "vendor-says-not-found": _says_not_found,
    "rejected-vendors": _rejected,
}


def check_not_found(cl: Session) -> None:
    """All shapes of the call answer that there is no platform: what they store beside that is their affair."""
    for entries in (1, 4):
        count = cl.buffer(4)
        assert cl.clGetPlatformIDs(0 if entries == 1 else entries, None, count) == CL.PLATFORM_NOT_FOUND_KHR
        assert cl.clGetPlatformIDs(entries, cl.room(entries), None) == CL.PLATFORM_NOT_FOUND_KHR
        assert cl.clGetPlatformIDs(entries, cl.room(entries), cl.buffer(4)) == CL.PLATFORM_NOT_FOUND_KHR


@requirement("DISC-GEN-003")
@pytest.mark.parametrize("make", NOTHING.values(), ids=NOTHING.keys())
def test_count_of_no_platform_is_0(loader: Loader, sandbox: Sandbox, make: Callable[[Sandbox], None]) -> None:
    """Where there is no platform the count, where wanted, is 0, beside the error."""
    make(sandbox)
    with loader.start(sandbox) as cl:
        for entries, array in ((0, None), (4, None), (1, cl.room()), (4, cl.room(4))):
            count = cl.buffer(4)
            assert cl.clGetPlatformIDs(entries, array, count) == CL.PLATFORM_NOT_FOUND_KHR
            assert count.u32() == 0


@requirement("DISC-GEN-002")
@pytest.mark.parametrize("way", ["plain", "linked", "system"])
@pytest.mark.parametrize("make", NOTHING.values(), ids=NOTHING.keys())
def test_no_platform_is_platform_not_found(
    loader: Loader, sandbox: Sandbox, make: Callable[[Sandbox], None], way: str
) -> None:
    """Without a usable platform every call is CL_PLATFORM_NOT_FOUND_KHR."""
    make(sandbox)
    nowhere: dict[str, Path] | None = {} if way == "system" and make is _no_directory else None

    with loader.start(sandbox, linked=way == "linked", system=way == "system", system_binds=nowhere) as cl:
        check_not_found(cl)
        check_not_found(cl)
        assert not cl.GetExtensionFunctionAddress("clSomethingMOCK")


@requirement("DISC-GEN-002")
@pytest.mark.parametrize("shape", ["count", "array", "both"])
def test_no_platform_in_the_first_call_is_platform_not_found(loader: Loader, sandbox: Sandbox, shape: str) -> None:
    """The first call of a process already answers CL_PLATFORM_NOT_FOUND_KHR, in each shape; one vendor is enough."""
    mock = sandbox.icd("a")

    for expected in (CL.PLATFORM_NOT_FOUND_KHR, CL.SUCCESS):
        with loader.start(sandbox) as cl:
            array, count = cl.room(2), cl.buffer(4)
            result = cl.clGetPlatformIDs(
                0 if shape == "count" else 2, None if shape == "count" else array, None if shape == "array" else count
            )
            assert result == expected
            if shape != "array" and expected == CL.SUCCESS:
                assert count.u32() == 1
        if expected:
            sandbox.vendor_file("a.icd", f"{mock}\n")


@requirement("DISC-GEN-002")
@pytest.mark.parametrize("shape", ["array-without-entries", "nothing"])
@pytest.mark.parametrize("first", [True, False], ids=["first-call", "later-call"])
def test_wrong_arguments_without_platforms_store_nothing(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None], shape: str, first: bool
) -> None:
    """Wrong arguments where there is no platform either: one of the two errors, and nothing is stored."""
    with loader.start(sandbox) as cl:
        if not first:
            check_not_found(cl)
        array = cl.room()
        result = cl.clGetPlatformIDs(0, array if shape != "nothing" else None, None)
        assert result in (CL.INVALID_VALUE, CL.PLATFORM_NOT_FOUND_KHR)
        assert array.word() == CANARY_WORD
        record({CL.INVALID_VALUE: "invalid value", CL.PLATFORM_NOT_FOUND_KHR: "platform not found"}[result])
        check_not_found(cl)


@requirement("DISC-GEN-002")
def test_context_by_type_without_platforms_is_an_error(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None]
) -> None:
    """Without a platform a context by type is an error and not a crash, as the first call and after an enumeration."""
    results = []
    for enumerate_before in (False, True):
        with loader.start(sandbox) as cl:
            if enumerate_before:
                check_not_found(cl)
            error = cl.buffer(4)
            context = cl.clCreateContextFromType(None, 0xFFFFFFFF, None, None, error)
            assert context == 0
            results.append(error.code())
            check_not_found(cl)
    assert CL.SUCCESS not in results
    record(", ".join(str(int(error)) for error in dict.fromkeys(results)))
