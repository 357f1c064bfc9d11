# SPDX-License-Identifier: Apache-2.0
"""Vendors of cl_khr_icd 2.0 at acceptance: complete, or with half of what that version asks for (DISC-GEN-015)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.check import CL, Loader, Sandbox, requirement

# A tag or a function that is missing: ICD "Adding a Vendor Library", "the ICD Loader will ignore the Vendor ICD".
INCOMPLETE = {
    "tag-in-first-slot-only": ["icd2_tag_in_first_slot_only"],
    "tag-in-second-slot-only": ["icd2_tag_in_second_slot_only"],
    "no-address-function": ["icd2_without_get_function_address"],
    "no-set-function": ["icd2_without_set_dispatch_data"],
    "neither-function": ["icd2_without_get_function_address", "icd2_without_set_dispatch_data"],
}
SET = "clIcdSetPlatformDispatchDataKHR"
REFUSES = "icd2_set_dispatch_data_fails"
GET = "clIcdGetFunctionAddressForPlatformKHR"


@requirement("DISC-GEN-015")
@pytest.mark.parametrize("platforms", [1, 3])
@pytest.mark.parametrize("way", INCOMPLETE)
def test_incomplete_icd2_vendor_is_ignored(loader: Loader, sandbox: Sandbox, way: str, platforms: int) -> None:
    """A vendor with half of what cl_khr_icd 2.0 asks for is ignored, and costs no other vendor anything."""
    loader.require("ICD 2")
    sandbox.vendor("a", icd2=True, suffix="A")
    sandbox.vendor("m", icd2=True, platforms=platforms, faults=INCOMPLETE[way], suffix="M")
    sandbox.vendor("z", suffix="Z")

    with loader.start(sandbox, guarded_heap=True) as cl:
        assert cl.used_platforms() == {"a", "z"}
        assert not sandbox.log.calls(SET, by="m")


@requirement("DISC-GEN-001")
@pytest.mark.parametrize("platforms", [1, 3])
def test_vendor_with_the_functions_and_no_tag(loader: Loader, sandbox: Sandbox, platforms: int) -> None:
    """A vendor that has the functions of cl_khr_icd 2.0 and no tag is one of version 1: it gets no dispatch data."""
    untagged = ["icd2_tag_in_first_slot_only", "icd2_tag_in_second_slot_only"]
    sandbox.vendor("a", suffix="A")
    sandbox.vendor("m", icd2=True, platforms=platforms, faults=untagged, suffix="M")

    with loader.start(sandbox, guarded_heap=True) as cl:
        assert cl.used_platforms() == {"a"} | ({"m"} if platforms == 1 else {f"m.{n}" for n in range(platforms)})
        assert cl.vendor_function("clSomethingM") == "m"
        assert not sandbox.log.calls(SET, by="m")


@requirement("DISC-GEN-015")
def test_only_incomplete_icd2_vendors(loader: Loader, sandbox: Sandbox) -> None:
    """Where all vendors have half of what cl_khr_icd 2.0 asks for there is no platform; a complete one is offered."""
    loader.require("ICD 2")
    for way in ("tag-in-first-slot-only", "no-address-function", "no-set-function", "neither-function"):
        sandbox.vendor(way, icd2=True, faults=INCOMPLETE[way])
    with loader.start(sandbox) as cl:
        count = cl.buffer(4)
        assert cl.clGetPlatformIDs(0, None, count) == CL.PLATFORM_NOT_FOUND_KHR

    sandbox.vendor("complete", icd2=True)
    with loader.start(sandbox) as cl:
        assert cl.used_platforms() == {"complete"}


@requirement("DISC-GEN-001", "DISC-GEN-015")
@pytest.mark.parametrize("platforms", [1, 2, 3, 9])
def test_icd2_vendor_is_accepted(loader: Loader, sandbox: Sandbox, platforms: int) -> None:
    """A complete ICD 2 vendor gets dispatch data for each platform, once its functions were asked for."""
    loader.require("ICD 2")
    sandbox.vendor("a", icd2=True, platforms=platforms, suffix="A")
    sandbox.vendor("b", suffix="B")

    with loader.start(sandbox) as cl:
        listed = [int(platform) for platform in cl.GetPlatformIDs()]
        calls = list(sandbox.log.of("a").calls())
        given = [call.arguments for call in calls if call.name == SET]
        managed = {arguments[0] for arguments in given}
        assert len(managed) == platforms and managed <= set(listed)
        for platform in managed:
            mine = [call.name for call in calls if call.arguments and call.arguments[0] == platform]
            assert GET not in mine[mine.index(SET) :]
        assert not sandbox.log.calls(SET, by="b")
        names = {"a"} if platforms == 1 else {f"a.{n}" for n in range(platforms)}
        assert cl.used_platforms() == names | {"b"}
        assert cl.vendor_function("clSomethingA") == "a"
        assert cl.vendor_function("clSomethingB") == "b"


@requirement("DISC-GEN-001")
@pytest.mark.parametrize("order", ["21", "12", "22", "2121", "212222222", "1222"])
def test_icd2_vendors_among_others(loader: Loader, sandbox: Sandbox, order: str) -> None:
    """Every ICD 2 vendor keeps the dispatch data that it was given, whoever is accepted and sorted before and after."""
    loader.require("ICD 2")
    mocks = [
        sandbox.icd(f"m{n}", icd2=kind == "2", platforms=1 + n % 3, gpus=1 + (n * 5) % 3, suffix=f"SUFFIX{n}")
        for n, kind in enumerate(order)
    ]
    for number, mock in reversed(list(enumerate(mocks))):
        sandbox.vendor_file(f"{number:03}.icd", f"{mock}\n")

    with loader.start(sandbox, guarded_heap=True) as cl:
        names = cl.used_platforms()
        assert len(names) == len(set(names)) == sum(1 + n % 3 for n in range(len(order)))
        assert [cl.vendor_function(f"clSomethingSUFFIX{n}") for n in range(len(order))] == [m.name for m in mocks]
        assert not sandbox.log.happened("foreign handle")


@pytest.mark.parametrize(
    "fault",
    [
        *(
            pytest.param(fault, marks=pytest.mark.requirement("DISC-GEN-015"))
            for fault in ("extensions_data_fails", "suffix_size_fails", "suffix_data_fails")
        ),
        pytest.param("platform_is_null", marks=pytest.mark.requirement("DISC-ACC-011")),  # in no text
    ],
)
@pytest.mark.parametrize("failing", [(0,), (1,), (2,), (0, 2), (0, 1, 2)], ids=lambda f: "-".join(map(str, f)))
def test_icd2_platform_that_fails(loader: Loader, sandbox: Sandbox, fault: str, failing: tuple[int, ...]) -> None:
    """An ICD 2 platform that fails a later step is not offered; the dispatch data of those around it is their own."""
    loader.require("ICD 2")
    sandbox.vendor("a", icd2=True, platforms=3, faults=[f"{fault}@{n}" for n in failing])
    sandbox.vendor("z", icd2=True)

    with loader.start(sandbox, guarded_heap=True) as cl:
        names = cl.used_platforms()
        assert names == {"z"} | {f"a.{n}" for n in range(3) if n not in failing} or names == {"z"}


@requirement("DISC-GEN-015")
@pytest.mark.parametrize("platforms", [1, 3])
@pytest.mark.parametrize("error", ["", "=-6"], ids=["invalid-platform", "out-of-memory"])
def test_icd2_vendor_refuses_its_dispatch_data(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None], error: str, platforms: int
) -> None:
    """A vendor that refuses its dispatch data is not offered, or works without; it costs no other vendor anything."""
    loader.require("ICD 2")
    sandbox.vendor("a", icd2=True, suffix="A")
    sandbox.vendor("m", icd2=True, platforms=platforms, faults=[REFUSES + error], suffix="M")
    sandbox.vendor("z", suffix="Z")
    mine = {"m"} if platforms == 1 else {f"m.{n}" for n in range(platforms)}

    with loader.start(sandbox, guarded_heap=True) as cl:
        names = cl.used_platforms()
        assert names == {"a", "z"} or names == {"a", "z"} | mine
        assert sandbox.log.calls(SET, by="m")
        assert cl.vendor_function("clSomethingA") == "a"
        assert cl.vendor_function("clSomethingZ") == "z"
    record("not offered" if names == {"a", "z"} else "offered")


@requirement("DISC-GEN-001")
@pytest.mark.parametrize("platforms", [1, 3])
def test_icd2_vendor_without_a_table_of_its_own(loader: Loader, sandbox: Sandbox, platforms: int) -> None:
    """An ICD 2 vendor whose own table holds nothing but the tags is reached through its dispatch data."""
    loader.require("ICD 2")
    sandbox.vendor("a", icd2=True, platforms=platforms, suffix="A", faults=["icd2_table_holds_tags_only"])
    sandbox.vendor("b", icd2=True, platforms=platforms, suffix="B")

    with loader.start(sandbox) as cl:
        names = cl.used_platforms()
        assert names == {f"{vendor}.{n}" for vendor in "ab" for n in range(platforms)} or names == {"a", "b"}
        assert len(names) == 2 * platforms
        assert cl.vendor_function("clSomethingA") == "a"


@requirement("DISC-GEN-016")
@pytest.mark.parametrize("fault", ["suffix_size_fails", "suffix_data_fails", REFUSES])
def test_dropped_icd2_vendor_leaves_no_memory_behind(loader: Loader, sandbox: Sandbox, fault: str) -> None:
    """An ICD 2 vendor that is dropped costs no more memory than the same vendor of version 1: its table is freed."""
    loader.require("ICD 2")
    dropped = "suffix_size_fails" if fault == REFUSES else fault  # version 1 has nothing to refuse
    growth = {}
    for icd2 in (False, True):
        heap = {}
        for copies in (2, 6):
            for path in sandbox.vendors.iterdir():
                path.unlink()
            for number in range(copies):
                sandbox.vendor(f"x{icd2:d}{copies}{number}", icd2=icd2, faults=[fault if icd2 else dropped])
            sandbox.vendor(f"good{icd2:d}{copies}")
            with loader.start(sandbox, guarded_heap=True) as cl:
                assert cl.platform_count() == 1
                heap[copies] = cl.heap()
        growth[icd2] = heap[6] - heap[2]
    assert growth[True] <= growth[False]
