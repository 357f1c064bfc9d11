# SPDX-License-Identifier: Apache-2.0
"""What a loader keeps of accepted vendors among rejected ones: seen by using them after discovery (DISC-ACC)."""

from __future__ import annotations

import pytest

from harness.check import CL, Loader, MockIcd, Sandbox, requirement

# How a vendor may be rejected, from the first step to the last: variant of the mock and faults. "missing": no library.
WAYS: dict[str, tuple[str, list[str]]] = {
    "missing": ("", []),
    "no-symbol": ("not_an_icd", []),
    "no-list-function": ("icd_without_get_platform_ids", ["get_platform_ids_not_returned"]),
    "count-fails": ("icd", ["count_call_fails"]),
    "list-fails": ("icd", ["list_call_fails"]),
    "no-platform": ("icd", ["count_call_says=0"]),
    "suffix-size-fails": ("icd", ["suffix_size_fails"]),
    "suffix-data-fails": ("icd", ["suffix_data_fails"]),
}

# G: a vendor with one platform, M: with three, B: a rejected vendor, R: a rejected vendor with three platforms.
PATTERNS = [
    "G", "BG", "GB", "BGB", "GBG", "RGRMB", "MBM", "BBBBBBBBG", "GBBBBBBBB", "BGBGBGBGBG", "GGGGGGGGB", "BRMRBGRBM",
]  # fmt: skip
CASES = [(way, pattern) for way in ("count-fails", "suffix-data-fails") for pattern in PATTERNS]
CASES += [(way, pattern) for way in WAYS for pattern in ("BGB", "MRG") if (way, pattern) not in CASES]


def make(sandbox: Sandbox, way: str, pattern: str) -> list[MockIcd]:
    """Lists vendors by a pattern, in this order; gives the accepted ones."""
    variant, faults = WAYS[way]
    mocks, paths = [], []
    for number, kind in enumerate(pattern):
        name, platforms = f"m{number}", 3 if kind in "MR" else 1
        if kind in "GM":
            mocks.append(sandbox.icd(name, platforms=platforms, suffix=f"SUFFIX{number}"))
            paths.append(mocks[-1].path)
        elif way == "missing":
            paths.append(sandbox.libraries / f"lib{name}{sandbox.suffix}")
        else:
            suffix = f"SUFFIX{number}"
            paths.append(sandbox.icd(name, platforms=platforms, suffix=suffix, variant=variant, faults=faults).path)
    for number, path in reversed(list(enumerate(paths))):  # on tmpfs, readdir lists what was made last first
        sandbox.vendor_file(f"{number:03}.icd", f"{path}\n")
    return mocks


@requirement("DISC-GEN-015")
@pytest.mark.parametrize(("way", "pattern"), CASES)
def test_functions_of_vendors_among_rejected_ones(loader: Loader, sandbox: Sandbox, way: str, pattern: str) -> None:
    """The extension functions of every accepted vendor are found and are its own, whoever was rejected around it."""
    accepted = make(sandbox, way, pattern)

    with loader.start(sandbox, guarded_heap=True) as cl:
        assert {name.partition(".")[0] for name in cl.used_platforms()} == {mock.name for mock in accepted}
        for number, kind in enumerate(pattern):
            name = f"m{number}" if kind in "GM" else None
            assert cl.vendor_function(f"clSomethingSUFFIX{number}") == name
        for mock in accepted:
            assert len(sandbox.log.happened("vendor function", by=mock.name)) == 1


@requirement("DISC-GEN-015")
@pytest.mark.parametrize(("way", "pattern"), CASES)
def test_objects_of_vendors_among_rejected_ones(loader: Loader, sandbox: Sandbox, way: str, pattern: str) -> None:
    """A context can be made on every accepted vendor's device and reaches that vendor, whoever was rejected."""
    accepted = make(sandbox, way, pattern)

    with loader.start(sandbox, guarded_heap=True) as cl:
        owners = set()
        for platform in cl.GetPlatformIDs():
            name = cl.GetPlatformInfo(platform)
            error, context = cl.CreateContext([CL.CONTEXT_PLATFORM, platform, 0], cl.GetDeviceIDs(platform))
            assert error == CL.SUCCESS and context
            assert cl.clReleaseContext(context) == CL.SUCCESS
            owner = name.partition(".")[0]
            assert sandbox.log.calls("clCreateContext", by=owner)
            assert sandbox.log.calls("clReleaseContext", by=owner)
            owners.add(owner)
        assert owners == {mock.name for mock in accepted}
        assert not sandbox.log.happened("foreign handle")


@requirement("DISC-GEN-016")
@pytest.mark.parametrize("extensions", [100, 100_000])
def test_accepted_vendor_keeps_little_memory(loader: Loader, sandbox: Sandbox, extensions: int) -> None:
    """What was read of an accepted platform and is not needed any more is freed: its extension string above all."""
    heap = {}
    for length in (10, extensions):
        sandbox.vendor("x", platforms=8, extensions="cl_khr_icd".ljust(length, " "))
        with loader.start(sandbox, guarded_heap=True) as cl:
            assert cl.platform_count() == 8
            heap[length] = cl.heap()
    assert heap[extensions] - heap[10] <= 0


@requirement("DISC-GEN-016")
def test_length_of_a_platform_list_costs_nothing_when_it_fails(loader: Loader, sandbox: Sandbox) -> None:
    """The array for a list of platforms is freed when the list cannot be had, and when it was read."""
    heap = {}
    for count, fault in ((10, "list_call_fails"), (5000, "list_call_fails")):
        sandbox.vendor("x", faults=[f"count_call_says={count}", fault])
        sandbox.vendor("a")
        with loader.start(sandbox, guarded_heap=True) as cl:
            assert cl.platform_names() == {"a"}
            heap[count] = cl.heap()
    assert heap[5000] <= heap[10]


@requirement("DISC-GEN-027")
def test_platforms_are_usable_whichever_allocation_fails(loader: Loader, sandbox: Sandbox) -> None:
    """Whichever allocation of the loader fails, vendors may be missing, but those that are offered can be used."""
    mocks = [sandbox.icd("a", platforms=2), sandbox.icd("x", faults=["suffix_data_fails"]), sandbox.icd("b")]
    sandbox.vendors_in_order([f"{mock}\n" for mock in mocks])

    for number in range(1, 33):  # one case: which allocation is the n-th differs between builds of one loader
        with loader.start(sandbox, failing_allocation=number) as cl:
            assert set(cl.used_platforms()) <= {"a.0", "a.1", "b"}, f"allocation {number} failed"
