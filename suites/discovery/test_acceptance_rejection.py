# SPDX-License-Identifier: Apache-2.0
"""A vendor library that fails a step of its acceptance: ignored, closed, and nobody else suffers (DISC-ACC)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from pytest import mark

from harness.check import CL, Loader, MockIcd, Sandbox, Unsupported, requirement


@dataclass(frozen=True)
class Bad:
    """A way to fail: the requirement, what the mock is told, and functions not to be called after the failure."""

    requirement: pytest.MarkDecorator
    faults: tuple[str, ...] = ()
    variant: str = "icd"
    platforms: int = 1
    extensions: str = "cl_khr_icd"
    not_called: tuple[str, ...] = ()
    unloadable: bool = False
    suffix: str | None = None

    def icd(self, sandbox: Sandbox, name: str, path: Path | None = None) -> MockIcd:
        return sandbox.icd(
            name, faults=self.faults, variant=self.variant, platforms=self.platforms, extensions=self.extensions,
            suffix=name.upper() if self.suffix is None else self.suffix, unloadable=self.unloadable,
            file=path.name if path else None, folder=path.parent if path else None,
        )  # fmt: skip

    def repaired(self, sandbox: Sandbox, name: str) -> MockIcd:
        """The positive control: the same vendor without what makes it fail."""
        return sandbox.icd(name, platforms=max(self.platforms, 1), suffix=name.upper())


ACC_002 = mark.requirement("DISC-ACC-002")
ACC_003 = mark.requirement("DISC-ACC-003")
ACC_006 = mark.requirement("DISC-ACC-006")
ACC_007 = mark.requirement("DISC-ACC-007")
ACC_008 = mark.requirement("DISC-ACC-008")
ACC_009 = mark.requirement("DISC-ACC-009")
ACC_010 = mark.requirement("DISC-ACC-010")
ACC_011 = mark.requirement("DISC-ACC-011")
ACC_012 = mark.requirement("DISC-ACC-012")
ACC_013 = mark.requirement("DISC-ACC-013")
ACC_014 = mark.requirement("DISC-ACC-014")
ACC_016 = mark.requirement("DISC-ACC-016")
ACC_019 = mark.requirement("DISC-ACC-019")
ACC_037 = mark.requirement("DISC-ACC-037")

LIST = "clIcdGetPlatformIDsKHR"
INFO = "clGetPlatformInfo"
BOTH = "cl_khr_icd cl_khr_icd_unloadable"
NO_ADDRESS = "icd_without_get_extension_function_address"
ONLY_ADDRESS = "icd_only_get_extension_function_address"

BAD = {
    "no-address-function": Bad(ACC_002, variant=NO_ADDRESS, not_called=(LIST, INFO)),
    "no-address-function-nor-info": Bad(ACC_002, variant="icd_only_get_platform_ids", not_called=(LIST, INFO)),
    "no-opencl-symbol": Bad(ACC_002, variant="not_an_icd"),
    "no-list-function": Bad(
        ACC_003, ("get_platform_ids_not_returned",), "icd_without_get_platform_ids", not_called=(INFO,)
    ),
    "address-function-knows-nothing": Bad(
        ACC_003, ("address_query_returns_null",), "icd_without_get_platform_ids", not_called=(INFO,)
    ),
    "only-an-address-function-that-knows-nothing": Bad(ACC_003, ("address_query_returns_null",), ONLY_ADDRESS),
    "no-info-function": Bad(ACC_006, ("get_platform_info_not_returned",), "icd_without_get_platform_info"),
    "no-info-function-but-list-by-address": Bad(ACC_006, ("get_platform_info_not_returned",), ONLY_ADDRESS),
    "count-fails": Bad(ACC_007, ("count_call_fails",), not_called=(INFO,)),
    "count-fails-with-1": Bad(ACC_007, ("count_call_fails=1",), not_called=(INFO,)),
    "count-fails-with-invalid-value": Bad(ACC_007, ("count_call_fails=-30",), not_called=(INFO,)),
    "count-fails-with-out-of-resources": Bad(ACC_007, ("count_call_fails=-5",), platforms=3, not_called=(INFO,)),
    "count-fails-after-writing": Bad(ACC_007, ("count_call_fails_after_writing",), not_called=(INFO,)),
    "count-fails-after-writing-3": Bad(
        ACC_007, ("count_call_fails_after_writing=-1",), platforms=3, not_called=(INFO,)
    ),
    "list-fails": Bad(ACC_008, ("list_call_fails",), not_called=(INFO,)),
    "list-fails-with-1": Bad(ACC_008, ("list_call_fails=1",), not_called=(INFO,)),
    "list-of-3-fails": Bad(ACC_008, ("list_call_fails=-30",), platforms=3, not_called=(INFO,)),
    "list-fails-with-not-found": Bad(ACC_008, ("list_call_fails=-1001",), not_called=(INFO,)),
    "list-fails-after-writing": Bad(ACC_008, ("list_call_fails_after_writing",), not_called=(INFO,)),
    "list-fails-after-writing-3": Bad(
        ACC_008, ("list_call_fails_after_writing=-5",), platforms=3, not_called=(INFO,)
    ),
    "no-platform": Bad(ACC_009, platforms=0, not_called=(INFO,)),
    "says-no-platform": Bad(ACC_009, ("count_call_says=0",), not_called=(INFO,)),
    "count-not-written": Bad(ACC_037, ("count_call_leaves_count",)),
    "platform-not-found": Bad(ACC_010, ("platform_not_found",), not_called=(INFO,)),
    "platform-not-found-of-3": Bad(ACC_010, ("platform_not_found",), platforms=3, not_called=(INFO,)),
    "count-fails-with-not-found": Bad(ACC_010, ("count_call_fails=-1001",), not_called=(INFO,)),
    "null-platform": Bad(ACC_011, ("platform_is_null",)),
    "null-platforms": Bad(ACC_011, ("platform_is_null",), platforms=3),
    "no-dispatch": Bad(ACC_012, ("platform_without_dispatch",)),
    "no-dispatch-of-3": Bad(ACC_012, ("platform_without_dispatch",), platforms=3),
    "extensions-size-fails": Bad(ACC_013, ("extensions_size_fails",)),
    "extensions-size-fails-with-1": Bad(ACC_013, ("extensions_size_fails=1",)),
    "extensions-data-fails": Bad(ACC_013, ("extensions_data_fails",)),
    "extensions-data-fails-with-1": Bad(ACC_013, ("extensions_data_fails=1",)),
    "extensions-of-3-fail": Bad(ACC_013, ("extensions_data_fails=-30",), platforms=3),
    "no-extension": Bad(ACC_014, extensions=""),
    "other-extensions": Bad(ACC_014, extensions="cl_khr_fp64 cl_khr_gl_sharing"),
    "suffix-size-fails": Bad(ACC_016, ("suffix_size_fails",)),
    "suffix-size-fails-with-1": Bad(ACC_016, ("suffix_size_fails=1",)),
    "suffix-data-fails": Bad(ACC_016, ("suffix_data_fails",)),
    "suffix-data-fails-with-1": Bad(ACC_016, ("suffix_data_fails=1",)),
    "suffix-unknown": Bad(ACC_016, ("suffix_size_fails=-30", "suffix_data_fails=-30")),
    "suffix-of-3-fails": Bad(ACC_016, ("suffix_data_fails=-30",), platforms=3),
    "suffix-size-of-an-empty-one-fails": Bad(ACC_016, ("suffix_size_fails",), suffix=""),
    "suffix-data-of-an-empty-one-fails": Bad(ACC_016, ("suffix_data_fails",), suffix=""),
    "unloadable-without-suffix-size": Bad(ACC_016, ("suffix_size_fails",), extensions=BOTH, unloadable=True),
    "unloadable-without-suffix-data": Bad(ACC_016, ("suffix_data_fails",), extensions=BOTH, unloadable=True),
    "not-unloadable-without-suffix-size": Bad(ACC_016, ("suffix_size_fails",), extensions=BOTH, platforms=3),
    "every-query-fails": Bad(ACC_013, ("platform_info_fails",)),
    "every-query-of-3-fails": Bad(ACC_013, ("platform_info_fails=-5",), platforms=3),
}  # fmt: skip


def must_close(bad: Bad) -> list[pytest.MarkDecorator]:
    """The text has "close and ignore" for a library without one of the functions, and "ignore" for what comes later."""
    return [bad.requirement] if bad.requirement in (ACC_002, ACC_003, ACC_006) else []


WAYS = [pytest.param(bad, id=name, marks=bad.requirement) for name, bad in BAD.items()]
UNMARKED = [pytest.param(bad, id=name) for name, bad in BAD.items()]  # no text that rejects them speaks of it
# Those that are rejected by a step after which there are others.
STEPS = [
    pytest.param(bad, id=name)
    for name, bad in BAD.items()
    if bad.not_called or (bad.requirement in (ACC_013, ACC_014, ACC_016) and "every" not in name)
]
# These end with a library that is still loaded, because it was loaded: all of them can be closed again.
CLOSED = [pytest.param(bad, id=name, marks=must_close(bad) or ACC_019) for name, bad in BAD.items()]


def listed_in_order(sandbox: Sandbox, mocks: Sequence[MockIcd | Path]) -> None:
    """Vendor files whose names sort in this order; made last first, which is the order of readdir on tmpfs."""
    for number, mock in reversed(list(enumerate(mocks))):
        sandbox.vendor_file(f"{number:03}.icd", f"{mock}\n")


def names_of(name: str, platforms: int) -> set[str]:
    return {name} if platforms == 1 else {f"{name}.{index}" for index in range(platforms)}


@pytest.mark.parametrize("bad", WAYS)
def test_rejected_vendor_costs_only_itself(loader: Loader, sandbox: Sandbox, bad: Bad) -> None:
    """Vendors before, between and after the rejected ones are offered, and the rejected ones are not."""
    good = [sandbox.icd("a", suffix="A"), bad.repaired(sandbox, "b")]
    rejected = [bad.icd(sandbox, name) for name in ("x", "y", "z")]
    listed_in_order(sandbox, [rejected[0], good[0], rejected[1], good[1], rejected[2]])

    with loader.start(sandbox, guarded_heap=True) as cl:
        assert cl.used_platforms() == {"a"} | names_of("b", max(bad.platforms, 1))


@pytest.mark.parametrize("bad", WAYS)
def test_rejected_vendor_alone_is_platform_not_found(loader: Loader, sandbox: Sandbox, bad: Bad) -> None:
    """Where the rejected vendor is the only one, no platform is found; the same vendor without its fault is offered."""
    mock = bad.icd(sandbox, "x")
    sandbox.vendor_file("x.icd", f"{mock}\n")
    with loader.start(sandbox) as cl:
        count, platforms = cl.buffer(4), cl.room()
        assert cl.clGetPlatformIDs(0, None, count) == CL.PLATFORM_NOT_FOUND_KHR
        assert cl.clGetPlatformIDs(1, platforms, None) == CL.PLATFORM_NOT_FOUND_KHR
        assert cl.clGetPlatformIDs(1, platforms, count) == CL.PLATFORM_NOT_FOUND_KHR

    control = bad.repaired(sandbox, "control")
    sandbox.vendor_file("x.icd", f"{control}\n")
    with loader.start(sandbox) as cl:
        assert cl.used_platforms() == names_of("control", max(bad.platforms, 1))


@pytest.mark.parametrize("bad", WAYS)
def test_rejected_vendor_is_left_alone(loader: Loader, sandbox: Sandbox, bad: Bad) -> None:
    """After it was rejected nothing reaches a vendor any more."""
    listed_in_order(sandbox, [bad.icd(sandbox, "x"), sandbox.icd("a", suffix="A")])

    with loader.start(sandbox) as cl:
        assert cl.platform_names() == {"a"}
        before = len(sandbox.log.of("x"))
        assert cl.used_platforms() == {"a"}
        assert cl.platform_count() == 1
        assert len(sandbox.log.of("x")) == before


@requirement("DISC-GEN-025")
@pytest.mark.parametrize("bad", STEPS)
def test_failed_step_is_the_last_one_of_its_vendor(loader: Loader, sandbox: Sandbox, bad: Bad) -> None:
    """A step that failed is not repeated, and the next one is not taken."""
    listed_in_order(sandbox, [bad.icd(sandbox, "x"), sandbox.icd("a", suffix="A")])

    with loader.start(sandbox) as cl:
        if cl.platform_names() != {"a"}:
            raise Unsupported("loader", "this loader does not reject such a vendor")
    calls = sandbox.log.of("x").calls()
    assert not set(bad.not_called) & set(calls.functions()), calls.text()
    if bad.requirement in (ACC_007, ACC_010):
        assert len(calls.calls(LIST)) == 1
    if bad.requirement in (ACC_013, ACC_014, ACC_016):
        last = CL.PLATFORM_ICD_SUFFIX_KHR if bad.requirement == ACC_016 else CL.PLATFORM_EXTENSIONS
        assert calls.calls(INFO)[-1].arguments[1] == last, calls.text()


@pytest.mark.parametrize("bad", CLOSED)
def test_rejected_library_is_closed(loader: Loader, sandbox: Sandbox, bad: Bad) -> None:
    """A rejected library is closed, however often it is listed; the accepted one beside it stays."""
    rejected = bad.icd(sandbox, "x")
    good = sandbox.icd("a", suffix="A")
    listed_in_order(sandbox, [rejected, good, rejected])

    with loader.start(sandbox) as cl:
        assert cl.platform_names() == {"a"}
        assert not cl.maps(rejected)
        assert len(sandbox.log.happened("unloaded", by="x")) == len(sandbox.log.happened("loaded", by="x"))
        assert cl.maps(good)
        assert not sandbox.log.happened("unloaded", by="a")


def growth(loader: Loader, sandbox: Sandbox, make: Callable[[str], MockIcd | Path]) -> tuple[int, bool]:
    """Bytes of the heap that the 3rd to the 6th copy of a vendor cost, and whether copies are still mapped."""
    heap, mapped = {}, False
    for copies in (2, 6):
        for path in sandbox.vendors.iterdir():
            path.unlink()
        folder = sandbox.folder(f"{len(list(sandbox.root.iterdir())):02}")
        good = sandbox.icd("good", folder=folder)
        vendors = [make(str(folder / f"{number}.so")) for number in range(copies)]
        listed_in_order(sandbox, [*vendors, good])
        with loader.start(sandbox, guarded_heap=True) as cl:
            assert cl.platform_names() == {"good"}
            heap[copies] = cl.heap()
            mapped |= any(cl.maps(mock) for mock in vendors)
    return heap[6] - heap[2], mapped


@requirement("DISC-GEN-016")
@pytest.mark.parametrize("bad", UNMARKED)
def test_rejected_vendor_leaves_no_memory_behind(loader: Loader, sandbox: Sandbox, bad: Bad) -> None:
    """A rejected vendor costs no memory, or no more than any other does: all that was allocated for it is freed."""

    def at(path: str, bad: Bad = bad) -> MockIcd:
        return bad.icd(sandbox, "x", Path(path))

    bytes_lost, mapped = growth(loader, sandbox, at)
    if bytes_lost <= 0:
        return
    if mapped:  # the library was not closed (DISC-ACC-019): what the C library keeps for it does not count here
        usual = growth(loader, sandbox, lambda path: at(path, BAD["no-platform"]))[0]
    else:  # a record of every file or library is a loader's right
        usual = min(
            growth(loader, sandbox, Path)[0],
            growth(loader, sandbox, lambda path: at(path, BAD["suffix-size-fails"]))[0],
        )
    assert bytes_lost <= usual
