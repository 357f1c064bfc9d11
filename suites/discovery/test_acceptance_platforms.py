# SPDX-License-Identifier: Apache-2.0
"""The platforms of a vendor library: how many, which of them fail, and lists that are not as announced (DISC-ACC)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import pytest

from harness.check import CL, Loader, Sandbox, Session, requirement

COUNTS = [1, 2, 3, 7, 8, 9, 15, 16, 17, 33, 64]


def names_of(name: str, platforms: int) -> set[str]:
    return {name} if platforms == 1 else {f"{name}.{index}" for index in range(platforms)}


def list_calls(sandbox: Sandbox, who: str) -> list[tuple[int, bool, bool]]:
    """Calls of clIcdGetPlatformIDsKHR: the number of entries, and whether array and count were given."""
    calls = sandbox.log.calls("clIcdGetPlatformIDsKHR", by=who)
    return [(a[0], a[1] != 0, a[2] != 0) for a in (call.arguments for call in calls)]


def info_calls(sandbox: Sandbox, who: str, query: int) -> list[tuple[int, int, bool, bool]]:
    """Calls of clGetPlatformInfo for a query: platform, room, and whether memory and size were given."""
    calls = [call.arguments for call in sandbox.log.calls("clGetPlatformInfo", by=who) if call.arguments[1] == query]
    return [(a[0], a[2], a[3] != 0, a[4] != 0) for a in calls]


def handles(cl: Session, count: int) -> list[int]:
    """What clGetPlatformIDs stores when it is given exactly `count` entries; the array ends at an unreadable page."""
    array, number = cl.room(count), cl.buffer(4)
    assert cl.clGetPlatformIDs(count, array, number) == CL.SUCCESS
    assert number.u32() == count
    return [int(handle) for handle in array.handles()]


@requirement("DISC-GEN-001", "DISC-ACC-013", "DISC-ACC-016")
@pytest.mark.parametrize("count", COUNTS)
def test_each_platform_of_one_library_is_asked_and_offered(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None], count: int
) -> None:
    """Every platform is asked for its extensions and its suffix, and offered."""
    extensions = "cl_khr_icd cl_khr_fp64"
    sandbox.vendor("x", platforms=count, extensions=extensions, suffix="VENDORX")

    with loader.start(sandbox, guarded_heap=True) as cl:
        platforms = handles(cl, count)
        assert len(set(platforms)) == count and 0 not in platforms
        for query, length in (
            (CL.PLATFORM_EXTENSIONS, len(extensions) + 1),
            (CL.PLATFORM_ICD_SUFFIX_KHR, len("VENDORX") + 1),
        ):
            calls = info_calls(sandbox, "x", query)
            if query == CL.PLATFORM_EXTENSIONS and not calls:
                continue  # no check of the extension at all: DISC-ACC-014 tells
            assert {p for p, room, memory, _ in calls if memory and room >= length} == set(platforms)
        assert not sandbox.log.happened("foreign handle")
        names = cl.used_platforms()
        assert names == names_of("x", count)
    if count > 1 and not loader.has("sorts platforms by devices"):  # no text orders them
        record("in order" if names == [f"x.{index}" for index in range(count)] else "in another order")


@requirement("DISC-GEN-025")
@pytest.mark.parametrize("count", COUNTS)
def test_each_string_is_asked_for_once_by_its_size(loader: Loader, sandbox: Sandbox, count: int) -> None:
    """Every platform is asked for a string once for its size, and once with room of that size."""
    extensions = "cl_khr_icd cl_khr_fp64"
    sandbox.vendor("x", platforms=count, extensions=extensions, suffix="VENDORX")

    with loader.start(sandbox) as cl:
        platforms = handles(cl, count)
        assert list_calls(sandbox, "x")[0] == (0, False, True)
        assert [call[:2] for call in list_calls(sandbox, "x")[1:]] == [(count, True)]
        for query, length in (
            (CL.PLATFORM_EXTENSIONS, len(extensions) + 1),
            (CL.PLATFORM_ICD_SUFFIX_KHR, len("VENDORX") + 1),
        ):
            calls = info_calls(sandbox, "x", query)
            if query == CL.PLATFORM_EXTENSIONS and not calls:
                continue  # no check of the extension at all: DISC-ACC-014 tells
            assert sorted(p for p, _, memory, _ in calls if not memory) == sorted(platforms)
            assert sorted(p for p, _, memory, _ in calls if memory) == sorted(platforms)
            assert {room for _, room, memory, _ in calls if memory} == {length}
            assert all(size for _, _, memory, size in calls if not memory)


@requirement("DISC-GEN-001", "DISC-ACC-009")
@pytest.mark.parametrize(
    "counts",
    [(1, 1), (1, 2, 3), (3, 1, 2), (2, 0, 2), (0, 3, 0), (5, 1, 1, 5), (1,) * 9, (4, 4, 4), (1, 33, 1), (0, 0, 1, 0)],
    ids=lambda counts: "-".join(map(str, counts)),
)
def test_platforms_of_several_libraries_are_all_offered(
    loader: Loader, sandbox: Sandbox, counts: tuple[int, ...]
) -> None:
    """All platforms of all libraries are offered, and each library's own functions are found by its suffix."""
    mocks = [sandbox.icd(f"m{n}", platforms=count, suffix=f"SUFFIX{n}") for n, count in enumerate(counts)]
    sandbox.vendors_in_order([f"{mock}\n" for mock in mocks])
    expected = set().union(*(names_of(f"m{n}", count) for n, count in enumerate(counts) if count))

    with loader.start(sandbox) as cl:
        assert len(handles(cl, sum(counts))) == len(expected)
        assert cl.used_platforms() == expected
        if 0 not in counts:  # with rejected vendors: test_acceptance_bookkeeping.py
            assert [cl.vendor_function(f"clTellSUFFIX{n}") for n in range(len(counts))] == [mock.name for mock in mocks]


# Ways in which one platform of several fails: the fault, and settings of that platform.
WAYS = {
    "null": (pytest.mark.requirement("DISC-ACC-011"), "platform_is_null", {}),
    "no-dispatch": (pytest.mark.requirement("DISC-ACC-012"), "platform_without_dispatch", {}),
    "extensions-size": (pytest.mark.requirement("DISC-ACC-013"), "extensions_size_fails", {}),
    "extensions-data": (pytest.mark.requirement("DISC-ACC-013"), "extensions_data_fails", {}),
    "no-extension": (pytest.mark.requirement("DISC-ACC-014"), None, {"extensions": "cl_khr_fp64"}),
    "suffix-size": (pytest.mark.requirement("DISC-ACC-016"), "suffix_size_fails", {}),
    "suffix-data": (pytest.mark.requirement("DISC-ACC-016"), "suffix_data_fails", {}),
    "every-query": (pytest.mark.requirement("DISC-ACC-013"), "platform_info_fails", {}),
}
SUBSETS = [subset for size in (1, 2) for subset in combinations(range(3), size)] + [(0, 4), (1, 2, 3), (0, 1, 2, 3)]


@requirement("DISC-ACC-017")
@pytest.mark.parametrize("failing", SUBSETS, ids=lambda failing: "-".join(map(str, failing)))
@pytest.mark.parametrize("way", [pytest.param(w, marks=WAYS[w][0]) for w in WAYS])
def test_platforms_that_fail_cost_at_most_their_library(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None], way: str, failing: tuple[int, ...]
) -> None:
    """Where some platforms of a library fail, either these are missing or all of that library; never any other."""
    _, fault, settings = WAYS[way]
    count = max(3, max(failing) + 1)
    sandbox.vendor("a", suffix="A")
    mock = sandbox.vendor(
        "x",
        platforms=count,
        faults=[f"{fault}@{index}" for index in failing] if fault else [],
        per_platform=[{"suffix": f"X{n}", **(settings if n in failing else {})} for n in range(count)],
    )
    sandbox.vendor("z", platforms=2, suffix="Z")
    rest = {f"x.{index}" for index in range(count) if index not in failing}

    with loader.start(sandbox, guarded_heap=True) as cl:
        names = cl.used_platforms()
        assert names == {"a", "z.0", "z.1"} | rest or names == {"a", "z.0", "z.1"}
        record("the platforms" if set(names) & rest else "the vendor" if rest else "all")
        assert cl.maps(mock) or not set(names) & rest


@requirement("DISC-ACC-017")
@pytest.mark.parametrize("way", [w for w in WAYS if w not in ("null", "no-dispatch")])
def test_rejected_platform_is_forgotten(loader: Loader, sandbox: Sandbox, way: str) -> None:
    """A rejected platform's suffix finds no function; the suffixes of the platforms around it find theirs."""
    _, fault, settings = WAYS[way]
    per_platform = [{"suffix": f"SUFFIX{n}", **(settings if n == 1 else {})} for n in range(3)]
    sandbox.vendor("x", platforms=3, faults=[f"{fault}@1"] if fault else [], per_platform=per_platform)

    with loader.start(sandbox, guarded_heap=True) as cl:
        if cl.used_platforms() == {"x.0", "x.2"}:
            assert [cl.vendor_function(f"clTellSUFFIX{n}") for n in range(3)] == ["x", None, "x"]
        else:
            assert cl.platform_count() == 0


# What is wrong with the list: faults, the platforms that the vendor has, and those that the loader may offer.
LISTS = {
    "announces-5-writes-3": (["count_call_says=5"], 3, [3]),
    "announces-1000-writes-3": (["count_call_says=1000"], 3, [3]),
    "announces-5-writes-1": (["count_call_says=5", "list_call_writes=1"], 3, [1]),
    "announces-3-writes-2": (["list_call_writes=2"], 3, [2]),
    "announces-3-writes-0": (["list_call_writes=0"], 3, [0]),
    "announces-1-writes-0": (["list_call_writes=0"], 1, [0]),
    "announces-2-has-3": (["count_call_says=2"], 3, [2]),
    "announces-1-has-3": (["count_call_says=1"], 3, [1]),
    "announces-3-says-5-later": (["list_call_says=5"], 3, [3]),
    "announces-3-says-1-later": (["list_call_says=1"], 3, [3, 1]),
    "announces-3-says-0-later": (["list_call_says=0"], 3, [3, 0]),
}


@requirement("DISC-ACC-022")
@pytest.mark.parametrize("way", LISTS)
def test_list_of_another_length_than_announced_costs_only_the_vendor(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None], way: str
) -> None:
    """A list that is shorter or longer than announced costs no more than the vendor, and no memory is misused."""
    faults, platforms, offered = LISTS[way]
    sandbox.vendor("a")
    mock = sandbox.vendor("x", platforms=platforms, faults=faults)
    sandbox.vendor("z")

    with loader.start(sandbox, guarded_heap=True) as cl:
        names = cl.used_platforms()
        expected = [set(sorted(names_of("x", platforms))[:n]) for n in (*offered, 0)]
        assert any(names == {"a", "z"} | some for some in expected)
        assert not sandbox.log.happened("foreign handle")
        assert cl.maps(mock) == (len(names) > 2)
    record(f"{len(names) - 2} offered")


@requirement("DISC-ACC-033")
@pytest.mark.parametrize("icd2", [False, True], ids=["icd1", "icd2"])
@pytest.mark.parametrize("again", [(1,), (2,), (1, 2)], ids=lambda again: "-".join(map(str, again)))
def test_platform_that_is_listed_again_counts_each_time_or_once(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None], again: tuple[int, ...], icd2: bool
) -> None:
    """A list with the first platform in it again offers that each time or once; the other platforms work as ever."""
    if icd2:
        loader.require("ICD 2")
    sandbox.env["OCL_ICD_PLATFORM_SORT"] = "none"  # ICD 2 comes last and stays there: one loader takes no other place
    x = sandbox.icd("x", platforms=3, icd2=icd2, faults=[f"list_call_repeats@{place}" for place in again])
    sandbox.vendors_in_order([f"{mock}\n" for mock in (sandbox.icd("a"), sandbox.icd("z"), x)])
    each = ["x.0" if place in again else f"x.{place}" for place in range(3)]

    with loader.start(sandbox, guarded_heap=True) as cl:
        names = cl.used_platforms()
        assert sorted(names) in (sorted(["a", "z", *each]), sorted(["a", "z", *set(each)]))
        assert cl.used_platforms() == list(names), "the second answer differs"
        assert cl.platform_count() == len(names)
    record("each time" if len(names) == 5 else "once")


@requirement("DISC-ACC-009", "DISC-ACC-010", "DISC-GEN-002")
@pytest.mark.parametrize("vendors", [1, 2, 9])
@pytest.mark.parametrize("way", ["success", "not-found"])
def test_only_vendors_without_platforms_is_platform_not_found(
    loader: Loader, sandbox: Sandbox, vendors: int, way: str
) -> None:
    """Vendors without platforms give "no platform", whatever their number; one vendor more with one gives success."""
    faults = ["platform_not_found"] if way == "not-found" else []
    for number in range(vendors):
        sandbox.vendor(f"m{number}", platforms=0, faults=faults)
    with loader.start(sandbox) as cl:
        count = cl.buffer(4)
        assert cl.clGetPlatformIDs(0, None, count) == CL.PLATFORM_NOT_FOUND_KHR

    sandbox.vendor("good")
    with loader.start(sandbox) as cl:
        count, platform = cl.buffer(4), cl.room()
        assert cl.clGetPlatformIDs(1, platform, count) == CL.SUCCESS
        assert count.u32() == 1
        assert cl.used_platforms() == {"good"}
