# SPDX-License-Identifier: Apache-2.0
"""Addresses of extension functions: each platform's own, unusual arguments, and queries that come first (DISP-EXT)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from harness.check import (
    LOADER_INFO,
    CallLog,
    Event,
    Loader,
    Sandbox,
    Session,
    Value,
    also_through_layers,
    answer_pattern,
    api,
    requirement,
    slots,
)

QUERY = "clGetExtensionFunctionAddress"
PLATFORM_QUERY = "clGetExtensionFunctionAddressForPlatform"
CREATED_BY_KHR = "clCreateSemaphoreWithPropertiesKHR"  # an extension function without a slot
OF_ICDS = ("clIcdGetPlatformIDsKHR", "clIcdGetFunctionAddressForPlatformKHR", "clIcdSetPlatformDispatchDataKHR")

KNOWN_BY_SLOT = [name for name, slot in slots().items() if slot.empty_slot == "CL_INVALID_OPERATION"]
CORE = [name for name, slot in slots().items() if slot.empty_slot != "CL_INVALID_OPERATION"]


# Names that no loader has a function for: those of vendors and of extensions without a slot, and names near known ones.
INVENTED = ["clFooAAA", "clFooBBB", "clFooCCC", "clFooZZZ", "AAA", "A", "", "clFoo"]
INVENTED += ["cl" + "LongName" * 8, "\\%s\x7f"]
WITHOUT_A_SLOT = [f.name for f in api().functions.values() if f.slot is None and f.name not in (*OF_ICDS, LOADER_INFO)]
NEAR_KNOWN = [other for name in (*KNOWN_BY_SLOT, *OF_ICDS) for other in (name[:-1], name + "X", name[:-3], name[1:])]
NEAR_KNOWN = [name for name in dict.fromkeys(NEAR_KNOWN) if name not in api().functions]


def vendors(loader: Loader, sandbox: Sandbox, **settings: object) -> None:
    """Three vendors with five platforms, one of them with ICD 2 where the loader knows that."""
    sandbox.vendor("a", platforms=2, per_platform=[{"suffix": "AAA"}, {"suffix": "AAB"}], **settings)
    icd2 = loader.has("ICD 2")
    sandbox.vendor("b", platforms=2, per_platform=[{"suffix": "BBA"}, {"suffix": "BBB"}], icd2=icd2, **settings)
    sandbox.vendor("c", suffix="CCC", **settings)


def platforms_by_owner(cl: Session) -> list[tuple[str, Value]]:
    """Each platform with the vendor that it belongs to."""
    platforms = [(cl.GetPlatformInfo(platform).partition(".")[0], platform) for platform in cl.GetPlatformIDs()]
    assert sorted(owner for owner, _ in platforms) == ["a", "a", "b", "b", "c"]
    return platforms


def address(cl: Session, platform: Value | None, name: object) -> Value:
    result = cl.call(PLATFORM_QUERY, platform, name)
    assert isinstance(result, Value)
    return result


def of_vendors(log: CallLog) -> list[Event]:
    return [call for call in log.calls() if call.who != "application"]


def reached(log: CallLog) -> list[tuple[str, str, int, str, int | None]]:
    """Each vendor that was asked: with which function, platform and name, and its answer."""
    result = []
    for call in of_vendors(log):
        answer = next((e.result for e in log.returns(call.name, by=call.who)), None)
        result.append((call.who, call.name, call.arguments[0], call.data.get("in", {}).get("func_name", ""), answer))
    return result


@pytest.mark.parametrize(
    ("names", "near"),
    [
        pytest.param(INVENTED, NEAR_KNOWN, id="unknown", marks=pytest.mark.requirement("DISP-EXT-002")),
        pytest.param(WITHOUT_A_SLOT, [], id="without-a-slot", marks=pytest.mark.requirement("DISP-EXT-012")),
    ],
)
def test_each_platform_is_asked_for_its_own(
    loader: Loader, sandbox: Sandbox, names: list[str], near: list[str]
) -> None:
    """A name that the loader has no function for goes to the platform that it is asked of; the answer comes back."""
    vendors(loader, sandbox)
    requests = []
    with loader.start(sandbox) as cl:
        for number, (owner, platform) in enumerate(platforms_by_owner(cl)):
            some = [*names, *near[number::5]]
            requests += [(owner, platform, name, address(cl, platform, name)) for name in some]
    logs = sandbox.log.during(PLATFORM_QUERY)
    for (owner, platform, name, result), log in zip(requests, logs, strict=True):
        assert reached(log) == [(owner, PLATFORM_QUERY, platform, name, result)]
    assert {owner for owner, *_, result in requests if result} == set("abc")


@requirement("DISP-EXT-002")
def test_answer_of_a_platform_is_unchanged(loader: Loader, sandbox: Sandbox) -> None:
    """Whatever 64 bits a platform answers, they come back, also where another vendor's suffix ends the name."""
    vendors(loader, sandbox, functions={"answers": [PLATFORM_QUERY]})
    with loader.start(sandbox) as cl:
        for owner, platform in platforms_by_owner(cl) * 2:
            for name in ("clFooAAA", "clFooBBB", "clFooCCC", "clFoo", "clFooKHR"):
                assert address(cl, platform, name) == answer_pattern(owner, PLATFORM_QUERY, 2) % (
                    1 << 8 * api().address
                )


@requirement("DISP-EXT-002")
@pytest.mark.parametrize("name", ["clFooKHR", "clFooAAA", "clFoo"])
def test_same_name_is_answered_by_each_platform_in_turn(loader: Loader, sandbox: Sandbox, name: str) -> None:
    """One name that is asked of one platform after the other is answered by each of them, and again the same way."""
    vendors(loader, sandbox, functions={"answers": [PLATFORM_QUERY]})
    with loader.start(sandbox) as cl:
        for owner, platform in platforms_by_owner(cl) * 2:
            assert address(cl, platform, name) == answer_pattern(owner, PLATFORM_QUERY, 2) % (1 << 8 * api().address)


# Names of functions of the loader, of vendors and of nobody, none after one of the same kind.
IN_TURN = [
    "clGetGLContextInfoKHR",
    "clFooAAA",
    "clFooZZZ",
    "clCreateEventFromGLsyncKHR",
    "clFooBBB",
    "clFooCCC",
    "clFoo",
]


@requirement("DISP-EXT-002", "DISP-EXT-003", "DISP-EXT-004")
def test_names_that_take_turns_in_one_place_of_memory_are_told_apart(loader: Loader, sandbox: Sandbox) -> None:
    """A program may write each name into the same memory: what stands there decides, and not where it stands."""
    vendors(loader, sandbox)
    with loader.start(sandbox) as cl:
        platforms: list[Value | None] = [None, *cl.GetPlatformIDs()]
        place = cl.buffer(64, 0)
        for platform in platforms:
            ask = partial(address, cl, platform) if platform else cl.clGetExtensionFunctionAddress
            apart = [ask(name) for name in IN_TURN]
            assert len(set(apart)) > 3
            for name, result in zip(IN_TURN, apart, strict=True):
                place.put(f"{name}\0".encode())
                assert ask(place) == result, name


@requirement("DISP-EXT-009")
def test_core_name_of_a_platform_is_not_the_loaders_function(loader: Loader, sandbox: Sandbox) -> None:
    """A name of the core leads to no function of the loader: it is unknown, or the platform's own affair."""
    vendors(loader, sandbox)
    requests = []
    with loader.start(sandbox) as cl:
        exports = {int(cl.command(f"symbol {name}"), 16) for name in CORE} - {0}
        for number, (owner, platform) in enumerate(platforms_by_owner(cl)):
            requests += [(owner, platform, name, address(cl, platform, name)) for name in CORE[number::5]]
    assert len(exports) > 70
    for (owner, platform, name, result), log in zip(requests, sandbox.log.during(PLATFORM_QUERY), strict=True):
        assert result not in exports
        assert reached(log) in ([], [(owner, PLATFORM_QUERY, platform, name, result)])
        assert reached(log) or not result


@requirement("DISP-EXT-014")
@pytest.mark.parametrize("name", OF_ICDS)
def test_functions_for_the_loader_are_not_given_to_the_application(loader: Loader, sandbox: Sandbox, name: str) -> None:
    """What a vendor has for the loader only is not given to the application."""
    vendors(loader, sandbox)
    with loader.start(sandbox) as cl:
        for _, platform in platforms_by_owner(cl):
            assert address(cl, platform, CREATED_BY_KHR)
            assert address(cl, platform, name) == 0
    assert [of_vendors(log) for log in sandbox.log.during(PLATFORM_QUERY)[1::2]] == [[]] * 5


@requirement("DISP-EXT-001")
def test_null_name_of_a_platform_reaches_no_vendor(loader: Loader, sandbox: Sandbox) -> None:
    """NULL is not a name: nobody is asked for it, of whatever platform."""
    vendors(loader, sandbox)
    with loader.start(sandbox) as cl:
        assert cl.clGetExtensionFunctionAddress(None) == 0
        assert len(cl.GetPlatformIDs()) == 5
        assert cl.clGetExtensionFunctionAddress(None) == 0
        assert [address(cl, platform, None) for platform in [None, *cl.GetPlatformIDs()]] == [0] * 6
        assert cl.vendor_function("clFooBBB") == "b"
    later = sandbox.log.during(QUERY)[1:2] + sandbox.log.during(PLATFORM_QUERY)
    assert [of_vendors(log) for log in later] == [[]] * 7


@requirement("DISP-EXT-013")
def test_known_name_of_no_platform_is_found(loader: Loader, sandbox: Sandbox) -> None:
    """A function that the loader has is found without a platform, be it in a first call or a later one."""
    vendors(loader, sandbox)
    queried = [name for name, slot in slots().items() if slot.reached == "query"]
    with loader.start(sandbox) as cl:
        first = [address(cl, None, name) for name in queried]
        cl.GetPlatformIDs()
        assert [name for name, result in zip(queried, first, strict=True) if not result] == []
        assert [address(cl, None, name) for name in queried] == first
    assert len(first) >= 10


@requirement("DISP-EXT-013")
def test_unknown_name_of_no_platform_is_null_or_the_first_platforms(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None]
) -> None:
    """Without a platform an unknown name leads to nothing, or to what the first platform has (grey area 7)."""
    vendors(loader, sandbox)
    requests = [*INVENTED, *WITHOUT_A_SLOT, *NEAR_KNOWN]
    with loader.start(sandbox) as cl:
        owner, first = platforms_by_owner(cl)[0]
        result = [address(cl, None, name) for name in requests]
    nowhere: list[object] = []
    outcomes = set()
    for name, value, log in zip(requests, result, sandbox.log.during(PLATFORM_QUERY), strict=True):
        assert reached(log) in (nowhere, [(owner, PLATFORM_QUERY, first, name, value)])
        assert value == 0 or reached(log) != nowhere
        outcomes.add("first platform" if reached(log) else "NULL")
    assert len(outcomes) == 1
    record(outcomes.pop())


@requirement("DISP-EXT-004")
def test_unknown_name_without_vendors_is_null(loader: Loader, sandbox: Sandbox) -> None:
    """Without a vendor no unknown name leads to anything."""
    unknown = [*INVENTED, *NEAR_KNOWN]
    with loader.start(sandbox) as cl:
        assert [name for name in unknown if cl.clGetExtensionFunctionAddress(name)] == []
        assert [name for name in unknown if address(cl, None, name)] == []
    assert len(sandbox.log.during(PLATFORM_QUERY)) == len(unknown) > 50


@pytest.mark.parametrize("last", ["CCC", "BBB", "AAA"])
@pytest.mark.parametrize(
    "way",
    [
        pytest.param("process", marks=pytest.mark.requirement("DISP-EXT-020")),
        pytest.param("child", marks=pytest.mark.requirement("DISP-OBJ-015")),
    ],
)
def test_query_by_suffix_as_first_call_finds_the_function(
    loader: Loader, sandbox: Sandbox, way: str, last: str
) -> None:
    """A query that comes first finds the function of whichever vendor has the suffix, and a later one any other."""
    vendors(loader, sandbox)
    with loader.start(sandbox) as cl:
        if way == "child":
            cl.fork()
        suffixes = [last, *(other for other in ("AAA", "BBB", "CCC") if other != last)]
        assert [cl.vendor_function(f"clFoo{suffix}") for suffix in suffixes] == [s[0].lower() for s in suffixes]


@requirement("DISP-EXT-021")
@pytest.mark.parametrize("way", ["no-platform", "known-name"])
def test_query_without_a_platform_as_first_call_finds_all_vendors(loader: Loader, sandbox: Sandbox, way: str) -> None:
    """A query of no platform that comes first finds all vendors, also of a name that the loader knows."""
    vendors(loader, sandbox)
    with loader.start(sandbox) as cl:
        address(cl, None, "clFooCCC" if way == "no-platform" else "clGetGLContextInfoKHR")
    first = sandbox.log.during(PLATFORM_QUERY)[0]
    assert sorted(event.who for event in first.happened("loaded")) == ["a", "b", "c"]


also_through_layers(globals())
