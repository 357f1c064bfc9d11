# SPDX-License-Identifier: Apache-2.0
"""How a loader recognises ICD 2 platforms, sets up their dispatch, and lives with those of version 1 beside them."""

from __future__ import annotations

import pytest

from harness.check import CL, Loader, Names, Objects, Sandbox, Value, api, misrouted, reached, requirement

GET = "clIcdGetFunctionAddressForPlatformKHR"
SET = "clIcdSetPlatformDispatchDataKHR"

TAGS = {
    "both": [],
    "first": ["icd2_tag_in_first_slot_only"],
    "second": ["icd2_tag_in_second_slot_only"],
    "none": ["icd2_tag_in_first_slot_only", "icd2_tag_in_second_slot_only"],
}
FUNCTIONS = {
    "complete": [],
    "no-get": ["icd2_without_get_function_address"],
    "no-set": ["icd2_without_set_dispatch_data"],
    "neither": ["icd2_without_get_function_address", "icd2_without_set_dispatch_data"],
}


@requirement("DISP-ICD2-003", "DISP-ICD2-004", "DISP-ICD2-005", "DISP-ICD2-006", "DISP-ICD2-007")
@pytest.mark.parametrize("tags", TAGS)
def test_tags_and_functions_decide_the_kind_of_platform(loader: Loader, sandbox: Sandbox, tags: str) -> None:
    """Both tags and both functions make a platform one of ICD 2; no tag, one of ICD 1; all else is not offered."""
    loader.require("ICD 2")
    for name, missing in FUNCTIONS.items():
        sandbox.vendor(name, icd2=True, faults=TAGS[tags] + missing)
    sandbox.vendor("z1")
    sandbox.vendor("z2", icd2=True)
    expected = {"both": {"complete"}, "none": set(FUNCTIONS)}.get(tags, set())
    with loader.start(sandbox) as cl:
        assert cl.used_platforms() == {"z1", "z2"} | expected
        managed = {event.who for event in sandbox.log.calls(SET)}
        assert managed == ({"z2", "complete"} if tags == "both" else {"z2"})


def names_of(failing: tuple[int, ...]) -> set[str]:
    """The platforms of a library of three that are left."""
    return {f"m.{n}" for n in range(3) if n not in failing}


@requirement("DISP-ICD2-005", "DISP-ICD2-006", "DISP-ICD2-007", "DISP-ICD2-021")
@pytest.mark.parametrize("odd", [(0,), (1,), (2,), (0, 2)], ids=lambda odd: "-".join(map(str, odd)))
@pytest.mark.parametrize("tags", [tags for tags in TAGS if tags != "both"])
def test_each_platform_is_judged_by_its_own_tags(
    loader: Loader, sandbox: Sandbox, tags: str, odd: tuple[int, ...]
) -> None:
    """The tags are those of the platform: one library may have platforms of both kinds, and incomplete ones."""
    loader.require("ICD 2")
    sandbox.vendor("m", icd2=True, platforms=3, faults=[f"{fault}@{n}" for fault in TAGS[tags] for n in odd])
    sandbox.vendor("z")
    with loader.start(sandbox, guarded_heap=True) as cl:
        names = cl.used_platforms()
        if tags == "none":
            assert names == {"z"} | names_of(())
            assert len({event.arguments[0] for event in sandbox.log.calls(SET)}) == 3 - len(odd)
        else:  # the text ignores "the Vendor ICD": the platform, or all of the library (grey area 4)
            assert names == {"z"} | names_of(odd) or names == {"z"}
        for platform in cl.GetPlatformIDs():
            assert cl.clFinish(Objects(cl, platform).queue) == CL.SUCCESS


@requirement("DISP-ICD2-008", "DISP-ICD2-003")
@pytest.mark.parametrize("platforms", [1, 3])
def test_names_are_asked_for_before_the_hand_over(loader: Loader, sandbox: Sandbox, platforms: int) -> None:
    """For each platform the loader asks for all functions first, then hands over its data."""
    loader.require("ICD 2")
    sandbox.vendor("a", icd2=True, platforms=platforms)
    sandbox.vendor("b", icd2=True)
    sandbox.vendor("c")
    with loader.start(sandbox) as cl:
        assert len(cl.used_platforms()) == platforms + 2
        log = sandbox.log
        for who, count in (("a", platforms), ("b", 1)):
            steps: dict[int, list[str]] = {}
            for event in log.calls(by=who):
                if event.name in (GET, SET):
                    steps.setdefault(event.arguments[0], []).append(event.name)
            assert len(steps) == count
            for names in steps.values():
                handed_over = names.index(SET)
                assert handed_over and GET not in names[handed_over:]
        assert {event.who for event in log.calls(SET)} == {"a", "b"}


@requirement("DISP-ICD2-012")
@pytest.mark.parametrize(
    "failing,error",
    [((0,), -32), ((1,), -32), ((2,), -32), ((0, 2), -6), ((0, 1, 2), -6), ((1,), 1)],
    ids=["first", "second", "last", "two", "all", "positive"],
)
def test_platform_that_refuses_dispatch_data_is_not_offered(
    loader: Loader, sandbox: Sandbox, failing: tuple[int, ...], error: int
) -> None:
    """A platform that refuses its dispatch data is not offered; the others of its library may be, and work."""
    loader.require("ICD 2")
    sandbox.vendor("a", icd2=True)
    faults = [f"icd2_set_dispatch_data_fails@{n}={error}" for n in failing]
    sandbox.vendor("m", icd2=True, platforms=3, faults=faults)
    sandbox.vendor("z")
    with loader.start(sandbox, guarded_heap=True) as cl:
        names: Names = cl.used_platforms()
        assert names == {"a", "z"} | names_of(failing) or names == {"a", "z"}
        for platform in cl.GetPlatformIDs():
            assert cl.clFinish(Objects(cl, platform).queue) == CL.SUCCESS


@requirement("DISP-ICD2-013")
@pytest.mark.parametrize(
    "refused,fault", [(0, "suffix_size_fails"), (1, "suffix_data_fails"), (2, "suffix_data_fails")]
)
def test_dispatch_data_of_refused_platforms_stays_good(
    loader: Loader, sandbox: Sandbox, refused: int, fault: str
) -> None:
    """Dispatch data stays good while the vendor is there, also that of a platform which a later step refuses.

    Its vendor may hand out its objects all the same, for instance by an extension of another platform.
    """
    loader.require("ICD 2")
    sandbox.vendor("m", icd2=True, platforms=3, faults=[f"{fault}@{refused}"])
    sandbox.vendor("z", icd2=True)
    with loader.start(sandbox, guarded_heap=True) as cl:
        names = cl.used_platforms()
        assert names == {"z"} | names_of((refused,)) or names == {"z"}
        if names == {"z"}:
            return  # the whole library is gone (grey area 4)
        offered = {int(platform) for platform in cl.GetPlatformIDs()}
        given = sandbox.log.calls(SET, by="m")
        assert len(given) == 3
        for event in given:
            platform = Value(event.arguments[0], str(event.arguments[0]))
            devices = cl.buffer(4, 0)
            assert cl.clGetDeviceIDs(platform, api().constant("CL_DEVICE_TYPE_ALL"), 0, None, devices) == CL.SUCCESS
        assert len(offered & {event.arguments[0] for event in given}) == 2


@requirement("DISP-ICD2-021", "DISP-ICD2-007")
@pytest.mark.parametrize("order", ["12", "21", "121", "212"])
def test_vendors_of_icd_1_and_icd_2_work_side_by_side(loader: Loader, sandbox: Sandbox, order: str) -> None:
    """Vendors of ICD 1 and ICD 2 work side by side, in calls that take turns, in whatever order they are found."""
    loader.require("ICD 2")
    mocks = [sandbox.icd(f"m{n}", icd2=kind == "2", exact_objects=True) for n, kind in enumerate(order)]
    sandbox.vendors_in_order([f"{mock}\n" for mock in mocks])
    with loader.start(sandbox) as cl:
        functions = reached(cl)
        all_objects = [Objects(cl, platform) for platform in cl.GetPlatformIDs()]
        assert {objects.owner for objects in all_objects} == {mock.name for mock in mocks}
        assert not misrouted(sandbox, cl, [(objects, functions) for objects in all_objects])
