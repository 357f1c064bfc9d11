# SPDX-License-Identifier: Apache-2.0
"""Vendor libraries at the end: which are closed with the loader, and the loader loaded again and again (DISC-ACC)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.check import Loader, MockIcd, Sandbox, Unsupported, api, requirement

UNLOADABLE = api().constant("CL_PLATFORM_UNLOADABLE_KHR")
BOTH = "cl_khr_icd cl_khr_icd_unloadable"


def unloadable(sandbox: Sandbox, name: str, platforms: int = 1, **settings: object) -> MockIcd:
    return sandbox.vendor(name, platforms=platforms, extensions=BOTH, unloadable=True, **settings)


@requirement("DISC-ACC-035")
@pytest.mark.parametrize("platforms", [1, 2, 3, 9])
def test_unloadable_vendor_is_unloaded(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None], platforms: int
) -> None:
    """A vendor that declares itself unloadable is closed with the loader, completely, and the others stay."""
    loader.require("unloads vendors")
    plain = [sandbox.vendor("a", platforms=platforms), sandbox.vendor("z")]
    mocks = [unloadable(sandbox, "m", platforms), unloadable(sandbox, "n", platforms, icd2=loader.has("ICD 2"))]

    with loader.start(sandbox, guarded_heap=True) as cl:
        assert len(cl.used_platforms()) == 3 * platforms + 1
        assert all(cl.maps(mock) for mock in plain + mocks)
        asked = [call for call in sandbox.log.calls("clGetPlatformInfo") if call.arguments[1] == UNLOADABLE]
        cl.close()
        assert not cl.maps(mocks[0]) and not cl.maps(mocks[1])
        assert cl.maps(plain[0]) and cl.maps(plain[1])
        log = sandbox.log
        # Their order is the dynamic linker's: it defers a dlclose that comes from a destructor.
        assert sorted(event.who for event in log.happened("unloaded")) == ["m", "n"]
        assert not log.happened("unloaded", by="a") and not log.happened("unloaded", by="z")
    record(f"asked with room for {max(call.arguments[2] for call in asked)} bytes")


@requirement("DISC-ACC-035", "DISC-GEN-016")
@pytest.mark.parametrize("order", ["aa", "aab", "aba", "baa", "abcab", "abcabcabc"])
def test_unloadable_vendor_that_is_listed_again(loader: Loader, sandbox: Sandbox, order: str) -> None:
    """An unloadable library that is listed several times is offered once, and is closed completely with the loader."""
    loader.require("unloads vendors")
    loader.require("deduplicates libraries")
    mocks = {name: sandbox.icd(name, extensions=BOTH, unloadable=True, platforms=2) for name in set(order)}
    for number, name in enumerate(order):
        sandbox.vendor_file(f"{number}.icd", f"{mocks[name]}\n")

    with loader.start(sandbox, guarded_heap=True) as cl:
        assert cl.used_platforms() == {f"{name}.{n}" for name in mocks for n in (0, 1)}
        cl.close()
        assert not any(cl.maps(mock) for mock in mocks.values())
        assert sorted(event.who for event in sandbox.log.happened("unloaded")) == sorted(mocks)


# Vendors that do not declare themselves unloadable: extension string, and what the query answers.
NOT_DECLARED = {
    "no-extension": ("cl_khr_icd", True),
    "answers-false": (BOTH, False),
    "answers-false-extension-first": ("cl_khr_icd_unloadable cl_khr_icd", False),
    "longer-name": ("cl_khr_icd cl_khr_icd_unloadable2", False),
    "longer-name-answers-true": ("cl_khr_icd cl_khr_icd_unloadable2", True),
    "letter-before-answers-true": ("cl_khr_icd xcl_khr_icd_unloadable", True),
    "shorter-name": ("cl_khr_icd cl_khr_icd_unload", True),
}


@requirement("DISC-ACC-029")
@pytest.mark.parametrize("platforms", [1, 3])
@pytest.mark.parametrize("way", NOT_DECLARED)
def test_vendor_that_is_not_unloadable_stays(loader: Loader, sandbox: Sandbox, way: str, platforms: int) -> None:
    """A vendor that does not declare itself unloadable stays in the process when the loader is closed."""
    extensions, answer = NOT_DECLARED[way]
    mock = sandbox.vendor("x", extensions=extensions, unloadable=answer, platforms=platforms)
    unloadable(sandbox, "other", platforms)  # whether that is unloaded is DISC-ACC-035

    with loader.start(sandbox, guarded_heap=True) as cl:
        assert len(cl.used_platforms()) == 2 * platforms
        cl.close()
        assert cl.maps(mock)
        assert not sandbox.log.happened("unloaded", by="x")


@requirement("DISC-ACC-029")
@pytest.mark.parametrize("declaring", [(0,), (1,), (2,), (0, 1), (1, 2)], ids=lambda d: "-".join(map(str, d)))
def test_vendor_with_one_platform_that_is_not_unloadable(
    loader: Loader, sandbox: Sandbox, declaring: tuple[int, ...]
) -> None:
    """A library stays in the process when one of its platforms does not declare itself unloadable."""
    declared = [{"unloadable": n in declaring, "extensions": BOTH} for n in range(3)]
    mock = sandbox.vendor("x", platforms=3, per_platform=declared)
    unloadable(sandbox, "other", 3)

    with loader.start(sandbox, guarded_heap=True) as cl:
        assert len(cl.used_platforms()) == 6
        cl.close()
        assert cl.maps(mock)


@requirement("DISC-ACC-028")
@pytest.mark.parametrize("fault", ["unloadable_fails", "unloadable_fails_after_writing", "unloadable_fails=1"])
@pytest.mark.parametrize("failing", [None, 0, 1, 2], ids=["only", "first", "middle", "last"])
def test_unloadable_query_fails(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None], fault: str, failing: int | None
) -> None:
    """A platform that fails the query for being unloadable is offered or not, but not unloaded as if it were."""
    name, _, value = fault.partition("=")
    where = "" if failing is None else f"@{failing}"
    platforms = 1 if failing is None else 3
    faults = [name + where + (f"={value}" if value else "")]
    mock = unloadable(sandbox, "x", platforms, faults=faults)
    sandbox.vendor("a")

    with loader.start(sandbox, guarded_heap=True) as cl:
        names = cl.used_platforms()
        failed = "x" if failing is None else f"x.{failing}"
        every = {"a", "x"} if failing is None else {"a", "x.0", "x.1", "x.2"}
        assert names == every or names == every - {failed} or names == {"a"}
        assert cl.maps(mock) or len(names) == 1
        cl.close()
        if failed in names:
            assert cl.maps(mock)
    record("offered" if failed in names else "not offered" if len(names) > 1 or failing is None else "vendor ignored")


@requirement("DISC-ACC-028", "DISC-GEN-016")
@pytest.mark.parametrize("fault", ["unloadable_fails", "unloadable_fails_after_writing"])
def test_platforms_that_fail_the_query_cost_no_memory(loader: Loader, sandbox: Sandbox, fault: str) -> None:
    """Platforms that are dropped for failing the query for being unloadable leave no memory behind."""
    heap = {}
    for platforms in (1, 33):
        unloadable(sandbox, "x", platforms, faults=[fault])
        sandbox.vendor("a")
        with loader.start(sandbox, guarded_heap=True) as cl:
            if cl.platform_names() != {"a"}:
                return  # not dropped: they may cost what they like
            heap[platforms] = cl.heap()
    assert heap[33] <= heap[1]


@requirement("DISC-ACC-035")
def test_unloadable_vendor_at_the_end_of_the_process(loader: Loader, sandbox: Sandbox) -> None:
    """A program that ends without closing the loader ends well, and every vendor is taken down once."""
    sandbox.vendor("a", platforms=3)
    unloadable(sandbox, "m", 3)
    sandbox.vendor("x", faults=["suffix_data_fails"])

    for linked in (False, True):
        sandbox.forget_log()
        with loader.start(sandbox, linked=linked, guarded_heap=True) as cl:
            assert len(cl.used_platforms()) == 6
        for name in ("a", "m", "x"):
            log = sandbox.log
            assert len(log.happened("unloaded", by=name)) == len(log.happened("loaded", by=name)) >= 1


@requirement("DISC-ACC-035")
@pytest.mark.parametrize("linked", [False, True], ids=["opened", "linked"])
@pytest.mark.parametrize("extensions", ["cl_khr_icd", BOTH], ids=["plain", "unloadable"])
def test_vendor_calls_the_loader_while_it_is_taken_down(
    loader: Loader, sandbox: Sandbox, linked: bool, extensions: str
) -> None:
    """A vendor that calls the loader from its destructor, at the end of the process, neither hangs nor crashes it."""
    if linked and loader.facts.sanitizer:
        raise Unsupported("machine", "a sanitizer's library does not bear to be asked for again after its end")
    for name in ("a", "b"):
        sandbox.vendor(
            name, platforms=2, extensions=extensions, unloadable=extensions == BOTH, faults=["destructor_calls_opencl"]
        )

    with loader.start(sandbox, linked=linked, guarded_heap=True) as cl:
        assert cl.used_platforms() == {"a.0", "a.1", "b.0", "b.1"}
    assert len(sandbox.log.happened("unloaded")) == 2


ROUNDS = 10


@requirement("DISC-ACC-030")
@pytest.mark.parametrize("vendors", ["plain", "unloadable", "mixed", "none"])
def test_loader_is_loaded_and_unloaded_repeatedly(loader: Loader, sandbox: Sandbox, vendors: str) -> None:
    """The loader can be loaded, used and unloaded ten times; it finds the same, and leaves no file and library open."""
    names = set()
    if vendors in ("plain", "mixed"):
        sandbox.vendor("a")
        sandbox.vendor("b", platforms=3)
        names |= {"a", "b.0", "b.1", "b.2"}
    if vendors in ("unloadable", "mixed"):
        unloadable(sandbox, "m", 2)
        names |= {"m.0", "m.1"}
    if vendors in ("none", "mixed"):
        sandbox.vendor("x", faults=["suffix_data_fails"])
        sandbox.vendor_file("y.icd", f"{sandbox.libraries}/libmissing.so\n")

    with loader.start(sandbox, guarded_heap=True) as cl:
        handles, heap = set(), []
        for _ in range(ROUNDS):
            assert cl.used_platforms() == names
            handles.add(tuple(sorted(int(p) for p in cl.GetPlatformIDs())) if vendors == "plain" else ())
            cl.close()
            assert not cl.maps(loader.path)
            heap.append(cl.heap())
            cl.open()
        assert cl.used_platforms() == names
        assert len(handles) == 1  # a vendor that stays in the process keeps its platforms
    if "m.0" in names and loader.has("unloads vendors"):
        assert len(sandbox.log.happened("loaded", by="m")) == ROUNDS + 1
        assert len(sandbox.log.happened("unloaded", by="m")) == ROUNDS + 1
    assert len(sandbox.log.happened("loaded", by="a")) <= 1


@requirement("DISC-ACC-030", "DISC-GEN-016")
@pytest.mark.parametrize("kind", ["plain", "unloadable", "answers-false"])
def test_unloaded_loader_leaves_no_memory_behind(loader: Loader, sandbox: Sandbox, kind: str) -> None:
    """A loader that closes vendors at its end frees its memory, too: the heap does not grow from round to round."""
    loader.require("unloads vendors")
    settings: dict[str, Any] = {} if kind == "plain" else {"extensions": BOTH, "unloadable": kind == "unloadable"}
    mocks = [sandbox.icd("x", faults=["suffix_data_fails"], **settings), sandbox.icd("a", platforms=3, **settings)]
    mocks.append(sandbox.icd("b", suffix="LONGER", **settings))
    for number, mock in enumerate(mocks):
        sandbox.vendor_file(f"{number}.icd", f"{mock}\n")

    with loader.start(sandbox, guarded_heap=True) as cl:
        heap = []
        for _ in range(5):
            assert cl.platform_count() == 4
            cl.close()
            heap.append(cl.heap())
            cl.open()
    assert heap[4] <= heap[1], heap
