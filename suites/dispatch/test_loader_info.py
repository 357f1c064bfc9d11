# SPDX-License-Identifier: Apache-2.0
"""What the loader says of itself: clGetICDLoaderInfoOCLICD (DISP-INF)."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from harness.check import CL, Loader, Sandbox, Session, Value, also_through_layers, api, requirement

FUNCTION = "clGetICDLoaderInfoOCLICD"
OPENCL_VERSION, VERSION, NAME, VENDOR = QUERIES = (1, 2, 3, 4)
MOST = 4096  # bytes of an answer, as far as anybody would read
CANARY = 0xA5
CANARY_WORD = int.from_bytes(b"\xa5" * api().address)
HALF = 1 << (8 * api().address - 1)  # of all that a size can be


def address_of(loader: Loader, cl: Session) -> Value:
    loader.require(FUNCTION)
    address = cl.GetExtensionFunctionAddress(FUNCTION)
    assert address, f"{FUNCTION} is not found"
    return address


def answer(cl: Session, address: Value, query: int) -> bytes:
    """The bytes of an answer; the size alone, and then the value into memory of just that size."""
    size = cl.room()
    assert cl.call_at(address, FUNCTION, query, 0, None, size) == 0
    assert 0 < size.word() < MOST, f"the size of answer {query} is {size.word():#x}"
    value, again = cl.buffer(size.word()), cl.room()
    assert cl.call_at(address, FUNCTION, query, size.word(), value, again) == 0
    assert again.word() == size.word()
    return value.bytes()


@requirement("DISP-INF-001")
@pytest.mark.parametrize("first", ["plain", "for-platform"])
def test_loader_info_is_found_by_both_address_queries(loader: Loader, sandbox: Sandbox, first: str) -> None:
    """Both address queries give the same function, for every platform and each time; a name close to it is unknown."""
    loader.require(FUNCTION)
    sandbox.env["OCL_ICD_PLATFORM_SORT"] = "none"  # one loader takes ICD 2 well in the last place only
    mocks = [sandbox.icd("a", platforms=2), sandbox.icd("b", icd2=loader.has("ICD 2"))]
    sandbox.vendors_in_order([f"{mock}\n" for mock in mocks])
    with loader.start(sandbox) as cl:
        if first == "plain":
            assert cl.GetExtensionFunctionAddress(FUNCTION)
        platforms = cl.GetPlatformIDs()
        plain = [cl.GetExtensionFunctionAddress(FUNCTION) for _ in range(2)]
        assert plain[0] and plain == plain[:1] * 2
        for name in (FUNCTION[:-1], FUNCTION + "X", FUNCTION[1:], FUNCTION.replace("Info", "info")):
            assert not cl.GetExtensionFunctionAddress(name)
            assert not cl.clGetExtensionFunctionAddressForPlatform(platforms[0], name)
        assert [cl.clGetExtensionFunctionAddressForPlatform(p, FUNCTION) for p in platforms] == plain[:1] * 3


@requirement("DISP-INF-002", "DISP-INF-003")
def test_loader_info_answers_strings(loader: Loader, sandbox: Sandbox) -> None:
    """Each of the four names gives a terminated string; the first is "OpenCL", and a version."""
    sandbox.vendor("a")
    with loader.start(sandbox) as cl:
        address = address_of(loader, cl)
        for query in QUERIES:
            text = answer(cl, address, query)
            assert text.find(b"\0") == len(text) - 1, f"{text!r} is not one terminated string"
        assert re.fullmatch(rb"OpenCL [1-9]\.\d( .*)?\0", answer(cl, address, OPENCL_VERSION))


@requirement("DISP-INF-006")
def test_loader_info_answers_strings_that_stay_the_same(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None]
) -> None:
    """The strings stay the same, are text, and each is of something else; the loader's version has a number."""
    sandbox.vendor("a")
    with loader.start(sandbox) as cl:
        address = address_of(loader, cl)
        first = {query: answer(cl, address, query) for query in QUERIES}
        cl.GetPlatformIDs()
        assert {query: answer(cl, address, query) for query in QUERIES[::-1]} == first
        for text in first.values():
            assert text[:-1].strip().isascii()
            assert text[:-1].strip()
        assert not [text for query, text in first.items() if query != OPENCL_VERSION and text == first[OPENCL_VERSION]]
        assert re.search(rb"\d", first[VERSION]), "the loader's version holds no number"
    record(" by ".join(first[query][:-1].decode() for query in (NAME, VENDOR)))


@requirement("DISP-INF-002", "DISP-INF-004")
@pytest.mark.parametrize("query", QUERIES)
def test_loader_info_with_too_little_room_is_invalid_value(loader: Loader, sandbox: Sandbox, query: int) -> None:
    """A value needs its whole size: one byte less is CL_INVALID_VALUE. NULL for value, size or both is ignored."""
    sandbox.vendor("a")
    with loader.start(sandbox) as cl:
        address = address_of(loader, cl)
        expected = answer(cl, address, query)
        needed = len(expected)
        for room in (0, 1, needed // 2, needed - 1):
            value = cl.buffer(room + 1)  # one byte before; an unreadable page after
            assert cl.call_at(address, FUNCTION, query, room, value.at(1), cl.room()) == CL.INVALID_VALUE
            assert cl.call_at(address, FUNCTION, query, room, value.at(1), None) == CL.INVALID_VALUE
            assert value[:1] == bytes([CANARY])
        for room in (needed, needed + 1, 4096, HALF):
            value, size = cl.buffer(min(room, 4096) + 1), cl.room(3)
            assert cl.call_at(address, FUNCTION, query, room, value.at(1), size.at(size.size // 3)) == 0
            assert value[: needed + 1] == bytes([CANARY]) + expected
            assert [size.word(i) for i in range(3)] == [CANARY_WORD, needed, CANARY_WORD]
            value = cl.buffer(needed)
            assert cl.call_at(address, FUNCTION, query, room, value, None) == 0
            assert value.bytes() == expected
        for room in (0, 1, needed - 1, needed, HALF):
            size = cl.room()
            assert cl.call_at(address, FUNCTION, query, room, None, size) == 0
            assert size.word() == needed
            assert cl.call_at(address, FUNCTION, query, room, None, None) == 0


@requirement("DISP-INF-004")
@pytest.mark.parametrize("query", [0, 5, 6, 255, 257, 0x0902, 0x10001, 0x10004, 0x7FFFFFFF, 0xFFFFFFFF])
def test_loader_info_of_an_unknown_name_is_invalid_value(loader: Loader, sandbox: Sandbox, query: int) -> None:
    """Any other name is CL_INVALID_VALUE."""
    sandbox.vendor("a")
    with loader.start(sandbox) as cl:
        address = address_of(loader, cl)
        value = cl.buffer(256)
        for room, to, size in (
            (256, value, cl.room()),
            (256, value, None),
            (0, None, cl.room()),
            (0, None, None),
        ):
            assert cl.call_at(address, FUNCTION, query, room, to, size) == CL.INVALID_VALUE
        assert cl.call_at(address, FUNCTION, NAME, 256, value, None) == 0


@requirement("DISP-INF-005")
def test_loader_info_is_the_same_without_vendors(loader: Loader, sandbox: Sandbox) -> None:
    """Without any vendor the answers are the same."""
    with loader.start(sandbox) as cl:
        address = address_of(loader, cl)
        alone = [answer(cl, address, query) for query in QUERIES]
        assert cl.GetPlatformIDs() == []
        assert [answer(cl, address, query) for query in QUERIES] == alone
    sandbox.vendor("a")
    with loader.start(sandbox) as cl:
        assert cl.platform_names() == {"a"}
        assert [answer(cl, address_of(loader, cl), query) for query in QUERIES] == alone


also_through_layers(globals())
