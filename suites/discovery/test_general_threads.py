# SPDX-License-Identifier: Apache-2.0
"""Discovery when several threads make the first calls (DISC-GEN)."""

from __future__ import annotations

import pytest

from harness.check import Loader, Sandbox, Session, requirement

THREADS = 16
NAMES = ["a", "b", "c"]


def vendors(sandbox: Sandbox, slow: str, milliseconds: int = 5) -> None:
    """Three vendors of two platforms each; one of them takes its time, so that the threads meet in the middle."""
    faults = {
        "loading-first": ("a", "constructor_sleeps"),
        "loading-last": ("c", "constructor_sleeps"),
        "counting-first": ("a", "enumeration_sleeps"),
        "counting-last": ("c", "enumeration_sleeps"),
        "nobody": ("", ""),
    }
    who, fault = faults[slow]
    mocks = [
        sandbox.icd(n, platforms=2, suffix=3 * n.upper(), faults=[f"{fault}={milliseconds}"] if n == who else [])
        for n in NAMES
    ]
    sandbox.vendors_in_order([f"{mock}\n" for mock in mocks])


SLOW = ["loading-first", "loading-last", "counting-first", "counting-last", "nobody"]


@requirement("DISC-GEN-010")
@pytest.mark.parametrize("way", ["plain", "linked", "system"])
@pytest.mark.parametrize("slow", SLOW)
def test_first_enumeration_in_many_threads_gives_each_the_whole_list(
    loader: Loader, sandbox: Sandbox, slow: str, way: str
) -> None:
    """Every thread sees the complete list."""
    vendors(sandbox, slow)

    with loader.start(sandbox, linked=way == "linked", system=way == "system") as cl:
        arrays = [cl.room(6) for _ in range(THREADS)]
        counts = [cl.buffer(4) for _ in range(THREADS)]
        for thread in range(THREADS):
            cl.in_thread(thread, "clGetPlatformIDs", 6, arrays[thread], counts[thread])
        assert cl.go() == THREADS
        returns = sandbox.log.returns("clGetPlatformIDs", by="application")
        assert [event.result for event in returns] == [0] * THREADS
        expected = cl.GetPlatformIDs()
        assert len(set(expected)) == 6
        assert [sorted(array.handles()) for array in arrays] == [sorted(expected)] * THREADS
        assert [count.u32() for count in counts] == [6] * THREADS
        assert cl.platform_names() == {f"{name}.{i}" for name in NAMES for i in (0, 1)}


@requirement("DISC-GEN-010")
@pytest.mark.parametrize("slow", SLOW)
def test_first_calls_of_all_kinds_in_threads_find_every_vendor(loader: Loader, sandbox: Sandbox, slow: str) -> None:
    """Whichever call of whichever thread comes first: an enumeration, an address, or a context finds every vendor."""
    vendors(sandbox, slow)

    with loader.start(sandbox) as cl:
        counts = [cl.buffer(4) for _ in range(THREADS)]
        for thread in range(0, THREADS, 4):
            cl.in_thread(thread, "clGetPlatformIDs", 0, None, counts[thread])
            cl.in_thread(thread + 1, "clGetExtensionFunctionAddress", "clSomethingAAA")
            cl.in_thread(thread + 2, "clGetExtensionFunctionAddress", "clSomethingCCC")
            cl.in_thread(thread + 3, "clCreateContextFromType", None, 4, None, None, counts[thread + 3])
        assert cl.go() == THREADS
        assert [counts[thread].u32() for thread in range(0, THREADS, 4)] == [6] * (THREADS // 4)
        log = sandbox.log
        addresses = log.returns("clGetExtensionFunctionAddress", by="application")
        assert len(addresses) == THREADS // 2
        assert all(event.result for event in addresses), "a thread found a vendor's function missing"
        assert len({counts[thread].i32() for thread in range(3, THREADS, 4)}) == 1


@requirement("DISC-GEN-010")
@pytest.mark.parametrize("slow", ["loading-first", "counting-last"])
def test_rejected_vendors_cost_no_thread_the_others(loader: Loader, sandbox: Sandbox, slow: str) -> None:
    """Vendors that are rejected while other threads wait cost nobody the others."""
    vendors(sandbox, slow)
    good = [(sandbox.vendors / entry).read_bytes() for entry in sorted(p.name for p in sandbox.vendors.iterdir())]
    bad = [
        f"{sandbox.icd('bad0', faults=['list_call_fails'])}\n",
        f"{sandbox.icd('bad1', faults=['suffix_size_fails'])}\n",
        f"{sandbox.libraries}/libmissing.so\n",
    ]
    sandbox.vendors_in_order([content for pair in zip(bad, good, strict=True) for content in pair])

    with loader.start(sandbox) as cl:
        counts = [cl.buffer(4) for _ in range(THREADS)]
        for thread in range(THREADS):
            cl.in_thread(thread, "clGetPlatformIDs", 0, None, counts[thread])
        cl.go()
        assert [count.u32() for count in counts] == [6] * THREADS


@requirement("DISC-GEN-025")
@pytest.mark.parametrize("call", ["clGetPlatformIDs", "clGetExtensionFunctionAddress"])
@pytest.mark.parametrize("slow", SLOW)
def test_vendors_are_asked_once_for_all_threads(loader: Loader, sandbox: Sandbox, slow: str, call: str) -> None:
    """Discovery runs once, whichever call of however many threads comes first, and has the same order for all."""
    vendors(sandbox, slow)
    good = [(sandbox.vendors / entry).read_bytes() for entry in sorted(p.name for p in sandbox.vendors.iterdir())]
    bad = [f"{sandbox.icd(f'bad{i}', faults=['list_call_fails'])}\n" for i in range(3)]
    sandbox.vendors_in_order([content for pair in zip(bad, good, strict=True) for content in pair])

    with loader.start(sandbox) as cl:
        arrays = [cl.room(6) for _ in range(THREADS)]
        for thread in range(THREADS):
            if call == "clGetPlatformIDs" or thread % 2:
                cl.in_thread(thread, "clGetPlatformIDs", 6, arrays[thread], None)
            else:
                cl.in_thread(thread, call, "clSomethingCCC")
        assert cl.go() == THREADS
        expected = cl.GetPlatformIDs()
        listed = [array.handles() for array in arrays[1::2]]
        assert listed == [expected] * len(listed)
    cl.check_asked_once(*NAMES)
    rejected = [event.who for event in sandbox.log.happened("loaded") if event.who.startswith("bad")]
    assert sorted(rejected) == ["bad0", "bad1", "bad2"], "discovery ran again in a thread that waited"


@requirement("DISC-GEN-010", "DISC-GEN-002")
def test_no_platform_is_reported_to_every_thread(loader: Loader, sandbox: Sandbox) -> None:
    """Where there is no platform, every thread gets that answer."""
    sandbox.vendor("bad", faults=["enumeration_sleeps=5", "list_call_fails"])

    with loader.start(sandbox) as cl:
        counts = [cl.buffer(4) for _ in range(THREADS)]
        for thread in range(THREADS):
            cl.in_thread(thread, "clGetPlatformIDs", 0, None, counts[thread])
        cl.go()
        returns = sandbox.log.returns("clGetPlatformIDs", by="application")
        assert [(event.result or 0) & 0xFFFFFFFF for event in returns] == [2**32 - 1001] * THREADS


@requirement("DISC-GEN-009")
def test_enumerations_in_threads_give_identical_lists(loader: Loader, sandbox: Sandbox) -> None:
    """A hundred enumerations from several threads give identical lists."""
    vendors(sandbox, "nobody")

    def enumerate_in_threads(cl: Session) -> list[list[int]]:
        arrays = [cl.room(6) for _ in range(100)]
        for number, array in enumerate(arrays):
            cl.in_thread(number % THREADS, "clGetPlatformIDs", 6, array, None)
        cl.go()
        return [list(array.handles()) for array in arrays]

    with loader.start(sandbox) as cl:
        before = [list(cl.GetPlatformIDs())]
        assert enumerate_in_threads(cl) == before * 100
    cl.check_asked_once(*NAMES)
