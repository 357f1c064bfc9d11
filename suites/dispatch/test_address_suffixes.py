# SPDX-License-Identifier: Apache-2.0
"""clGetExtensionFunctionAddress: a vendor's functions are those whose names end in its suffix (DISP-EXT)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import pytest

from harness.check import (
    LOADER_INFO,
    CallLog,
    Loader,
    Sandbox,
    Session,
    Value,
    also_through_layers,
    api,
    requirement,
    slots,
)

QUERY = "clGetExtensionFunctionAddress"
LONGEST_LOGGED = 100  # a longer name may be cut in the log

# Vendors and the suffixes of their platforms.
World = Mapping[str, Sequence[str]]

WORLDS: dict[str, World] = {
    "one": {"a": ["AAA"]},
    "three": {"a": ["AAA"], "b": ["BBB"], "c": ["CCC"]},
    "two-kinds": {"a": ["AAA", "AAB"], "b-icd2": ["BBB", "BBA"], "c": ["CCC"]},
    "nine": {f"v{i}": [f"S{i}"] for i in range(9)},
    "one-letter": {"a": ["A"], "b": ["B"]},
    "long": {"a": ["A" * 200], "b": ["B" + "A" * 199]},
    "first-letter-differs": {"a": ["AVEND"], "b": ["BVEND"]},
    "last-letter-differs": {"a": ["VENDA"], "b": ["VENDB"]},
    "only-case-differs": {"a": ["vnd"], "b": ["VND"], "c": ["Vnd"]},
    "several-platforms": {"a": ["AA", "AB", "AC"], "b": ["BA", "BB"], "c": ["CC"]},
    "starts-of-each-other": {"a": ["X"], "b": ["XY"], "c": ["XYZ"]},
    "no-letters": {"a": ["%s%n"], "b": ["_1"], "c": ["é\\"], "d": ["\x7f "]},
    "whole-names": {"a": ["clFooAAA"], "b": ["clBarBBB"]},
    "of-everybody": {"a": ["KHR"], "b": ["EXT"], "c": ["INTEL"]},
}


@dataclass(frozen=True)
class Request:
    """One query: what came back, and the vendors that were asked for it with the function, name and answer of each."""

    name: str
    address: Value
    reached: list[tuple[str, str, str, int | None]]

    def by(self, *vendors: str) -> bool:
        """Whether exactly these vendors were asked in this order, for this name, and the last one's answer is ours."""
        logged = self.name.encode().decode("latin-1")  # the log has bytes
        arrivals = [(who, function, name[:LONGEST_LOGGED]) for who, function, name, _ in self.reached]
        expected = [(vendor, QUERY, logged[:LONGEST_LOGGED]) for vendor in vendors]
        return arrivals == expected and self.address == (self.reached[-1][3] if self.reached else 0)


def reached(log: CallLog) -> list[tuple[str, str, str, int | None]]:
    """Calls of vendors in a part of the log: who, function, name asked for, answer."""
    result = []
    for call in log.calls():
        if call.who != "application":
            answer = next(iter(log.returns(call.name, by=call.who)), None)
            name = call.data.get("in", {}).get("func_name", "")
            result.append((call.who, call.name, name, answer.result if answer else None))
    return result


def ask(cl: Session, sandbox: Sandbox, names: Iterable[str]) -> list[Request]:
    """Asks for each name, whose terminator is the last readable byte of its page."""
    asked = list(names)
    addresses = cl.function_addresses(asked)
    logs = sandbox.log.during(QUERY)[-len(asked) :]
    return [Request(n, address, reached(log)) for n, address, log in zip(asked, addresses, logs, strict=True)]


def make(loader: Loader, sandbox: Sandbox, world: World, order: Sequence[str] = ()) -> None:
    """The vendors; those whose names say so have ICD 2 where the loader knows that."""
    mocks = {}
    for vendor, suffixes in world.items():
        platforms: list[dict[str, str | int]] = [{"suffix": suffix} for suffix in suffixes]
        icd2 = loader.has("ICD 2") and vendor.endswith("icd2")
        mocks[vendor] = sandbox.icd(vendor, platforms=len(suffixes), per_platform=platforms, icd2=icd2)
    sandbox.vendors_in_order([f"{mocks[vendor]}\n" for vendor in order or world])


def suffixes_in_order(cl: Session, world: World) -> list[tuple[str, str]]:
    """Vendor and suffix of each platform as the loader lists them."""
    result = []
    for name in cl.platform_names():
        vendor, _, number = name.partition(".")
        result.append((vendor, world[vendor][int(number or 0)]))
    assert sorted(result) == sorted((vendor, s) for vendor, suffixes in world.items() for s in suffixes)
    return result


def claimants(name: str, suffixes: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(vendor, suffix) for vendor, suffix in suffixes if suffix and name.endswith(suffix)]


def names_about(suffix: str) -> list[str]:
    """Names that end in a suffix, and names that nearly do."""
    places = [i for i in range(len(suffix)) if i < 3 or i > len(suffix) - 4]
    near = [suffix[:i] + chr(ord(suffix[i]) ^ 1) + suffix[i + 1 :] for i in places]
    ends = [suffix, suffix[1:], suffix[:-1], suffix.swapcase(), *near]
    ends += [suffix + more for more in ("X", " ", "Foo", suffix[0], suffix[-1], suffix)]
    names = [start + end for start in ("", "clFoo" + suffix[0]) for end in ends]
    return [*names, "cl" + "LongName" * 300 + suffix, "cl" + "LongName" * 300 + suffix[1:]]


def names_in(world: World) -> list[str]:
    """All of them for a world, and pairs of suffixes; no name of a function that a loader may know itself."""
    suffixes = [suffix for several in world.values() for suffix in several]
    names = ["", "c", "cl", "clFoo", "clFooZZZ", *(name for suffix in suffixes for name in names_about(suffix))]
    names += ["clFoo" + first + second for first, second in itertools.pairwise([*suffixes, suffixes[0]])]
    return [name for name in dict.fromkeys(names) if name not in api().functions]


@requirement("DISP-EXT-003", "DISP-EXT-004", "DISP-EXT-007", "DISP-EXT-008")
@pytest.mark.parametrize("order", ["first-to-last", "last-to-first"])
@pytest.mark.parametrize("world", WORLDS)
def test_suffix_chooses_the_vendor(loader: Loader, sandbox: Sandbox, world: str, order: str) -> None:
    """A name goes to the vendor whose suffix ends it, unchanged, and so does the answer; any other one is unknown."""
    make(loader, sandbox, WORLDS[world], list(WORLDS[world])[:: 1 if order == "first-to-last" else -1])
    names = names_in(WORLDS[world])
    with loader.start(sandbox) as cl:
        suffixes = suffixes_in_order(cl, WORLDS[world])
        for request in ask(cl, sandbox, names):
            assert request.by(*(vendor for vendor, _ in claimants(request.name, suffixes)[:1]))
    assert {vendor for name in names for vendor, _ in claimants(name, suffixes)} == set(WORLDS[world])


@requirement("DISP-EXT-003")
@pytest.mark.parametrize("order", ["ab", "ba"])
def test_suffixes_that_end_each_other_ask_one_vendor(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None], order: str
) -> None:
    """Where several suffixes end a name, one vendor is asked: the first platform's, or the longest suffix's."""
    world = {"a": ["Z", "WV"], "b": ["YZ", "V"]}
    make(loader, sandbox, world, order)
    result = set()
    with loader.start(sandbox) as cl:
        suffixes = suffixes_in_order(cl, world)
        for request in ask(cl, sandbox, names_in(world)):
            all_claimants = claimants(request.name, suffixes)
            first = [vendor for vendor, _ in all_claimants[:1]]
            longest = [vendor for vendor, _ in sorted(all_claimants, key=lambda c: -len(c[1]))[:1]]
            assert request.by(*first) or request.by(*longest)
            if first != longest:
                result.add("first" if request.by(*first) else "longest")
    assert len(result) == 1
    record(result.pop())


@requirement("DISP-EXT-005")
@pytest.mark.parametrize("order", list(itertools.permutations("abc")), ids="".join)
def test_equal_suffixes_ask_the_first_platform(loader: Loader, sandbox: Sandbox, order: tuple[str, ...]) -> None:
    """The first of several platforms with a suffix is asked, and no other one, even if it answers NULL."""
    mocks = {"a": sandbox.icd("a", suffix="ARM", functions={"lacks": ["clSVMAllocARM"]})}
    mocks |= {vendor: sandbox.icd(vendor, suffix="ARM") for vendor in "bc"}
    sandbox.vendors_in_order([f"{mocks[vendor]}\n" for vendor in order])
    with loader.start(sandbox) as cl:
        first = cl.platform_names()[0]
        lacking, other = ask(cl, sandbox, ["clSVMAllocARM", "clSVMFreeARM"])
        assert lacking.by(first)
        assert other.by(first)
        assert other.address
        assert bool(lacking.address) == (first != "a")


@requirement("DISP-EXT-006")
@pytest.mark.parametrize("order", list(itertools.permutations("abc")), ids="".join)
def test_platform_with_an_empty_suffix_is_asked_for_no_name(
    loader: Loader, sandbox: Sandbox, order: tuple[str, ...]
) -> None:
    """A platform without a suffix is asked for no name; platforms with one are asked as usual."""
    world = {"a": [""], "b": ["BBB"], "c": ["", "CCC"]}
    make(loader, sandbox, world, order)
    with loader.start(sandbox) as cl:
        suffixes = suffixes_in_order(cl, world)
        for request in ask(cl, sandbox, ["clFooBBB", "clFooCCC", "clFooBAR", "BBB", "clFoo", "c", "", "clFooBBBX"]):
            assert request.by(*(vendor for vendor, _ in claimants(request.name, suffixes)))


@requirement("DISP-EXT-003")
@pytest.mark.parametrize("order", list(itertools.permutations("abc")), ids="".join)
def test_platform_with_an_empty_suffix_does_not_end_the_search(
    loader: Loader, sandbox: Sandbox, order: tuple[str, ...]
) -> None:
    """A name that ends in a suffix is asked of its vendor, or of one without a suffix (DISP-EXT-006), never of none."""
    world = {"a": [""], "b": ["BBB"], "c": ["", "CCC"]}
    make(loader, sandbox, world, order)
    with loader.start(sandbox) as cl:
        suffixes = suffixes_in_order(cl, world)
        without = [vendor for vendor, suffix in suffixes if not suffix]
        for request in ask(cl, sandbox, ["clFooBBB", "clFooCCC", "BBB", "clBarBBB"]):
            claiming = [vendor for vendor, _ in claimants(request.name, suffixes)]
            assert len(claiming) == 1
            assert any(request.by(vendor) for vendor in (*claiming, *without)), request


@requirement("DISP-EXT-007", "DISP-EXT-003")
def test_suffix_longer_than_the_name_does_not_match(loader: Loader, sandbox: Sandbox) -> None:
    """What stands in memory before a name is not looked at: an end of the suffix is another name."""
    suffix = "LONGSUFFIX"
    make(loader, sandbox, {"a": [suffix], "b": ["X" + suffix]})
    with loader.start(sandbox) as cl:
        cl.GetPlatformIDs()
        memory = cl.data(f"X{suffix}\0".encode())
        results = [cl.clGetExtensionFunctionAddress(memory.at(1 + skipped)) for skipped in range(len(suffix) + 1)]
        whole = cl.clGetExtensionFunctionAddress(cl.data(f"clFoo{suffix}\0".encode()))
    logs = [reached(log) for log in sandbox.log.during(QUERY)]
    assert logs[0] == [("a", QUERY, suffix, results[0])]
    assert logs[1:-1] == [[]] * len(suffix)
    assert results[1:] == [0] * len(suffix)
    assert whole
    assert logs[-1] == [("a", QUERY, f"clFoo{suffix}", whole)]


def core_functions() -> list[str]:
    """What a loader exports and no extension brought: an empty slot is an error of extensions only."""
    return [name for name, slot in slots().items() if slot.empty_slot != "CL_INVALID_OPERATION"]


@requirement("DISP-EXT-009")
def test_core_functions_are_not_found_by_suffix(loader: Loader, sandbox: Sandbox) -> None:
    """Functions of the core are not found, and no vendor is asked for them, be it in a first call or a later one."""
    sandbox.vendor("a", suffix="AAA")
    sandbox.vendor("b", suffix="BBB", icd2=loader.has("ICD 2"))
    with loader.start(sandbox) as cl:
        before = cl.GetExtensionFunctionAddress("clGetPlatformIDs")
        cl.GetPlatformIDs()
        control, *others = ask(cl, sandbox, ["clFooBBB", *core_functions()])
    assert before == 0
    assert control.by("b")
    assert control.address
    assert [request.name for request in others if not request.by()] == []
    assert len(others) > 100


@requirement("DISP-EXT-012")
def test_extension_function_without_a_slot_belongs_to_no_vendor(loader: Loader, sandbox: Sandbox) -> None:
    """Functions of extensions that have no slot belong to no vendor in particular, unless a suffix says so."""
    sandbox.vendor("a", suffix="AAA")
    sandbox.vendor("b", suffix="INTEL", icd2=loader.has("ICD 2"))
    known = [f.name for f in api().functions.values() if f.slot is None and f.name != LOADER_INFO]
    with loader.start(sandbox) as cl:
        cl.GetPlatformIDs()
        for request in ask(cl, sandbox, known):
            assert request.by(*["b"] * request.name.endswith("INTEL"))
            assert bool(request.address) == request.name.endswith("INTEL")
    assert {name[-3:] for name in known} >= {"KHR", "EXT", "TEL"}


def names_near(name: str) -> list[str]:
    """Names that differ from a known one in one place, and are not known ones themselves."""
    middle, end = len(name) // 2, len(name)
    changed = [name[:i] + chr(ord(name[i]) ^ 1) + name[i + 1 :] for i in (0, 1, 2, middle, end - 4, end - 1)]
    near = [*changed, name[1:], name[:-1], name[:-3], name[:middle], name + "X", name + "KHR", "X" + name, name.lower()]
    return [other for other in near if other not in api().functions]


@requirement("DISP-EXT-004")
def test_name_near_a_known_one_is_unknown(loader: Loader, sandbox: Sandbox) -> None:
    """A name that differs from a function's in one letter is another name."""
    sandbox.vendor("a", suffix="AAA")
    sandbox.vendor("b", suffix="BBB", icd2=loader.has("ICD 2"))
    known = [name for name, slot in slots().items() if slot.empty_slot == "CL_INVALID_OPERATION"]
    with loader.start(sandbox) as cl:
        cl.GetPlatformIDs()
        control, *others = ask(cl, sandbox, ["clFooAAA", *(near for name in known for near in names_near(name))])
    assert control.by("a")
    assert control.address
    assert [request.name for request in others if not request.by()] == []
    assert len(others) > 300


also_through_layers(globals())
