# SPDX-License-Identifier: Apache-2.0
"""Property lists that are the vendor's business: no loader looks into them, or trips over what it looks past (PL-GEN).

How CL_CONTEXT_PLATFORM chooses the vendor of a context is checked in suites/dispatch/test_context_properties.py.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import pytest

from harness.check import (
    CL,
    CallLog,
    Function,
    Loader,
    Objects,
    PatternedCall,
    Sandbox,
    Sent,
    Session,
    address_of,
    api,
    make_all,
    read_all,
    requirement,
    use_layers,
)

PLATFORM = api().constant("CL_CONTEXT_PLATFORM")
COUNTS = api().constant("CL_DEVICE_PARTITION_BY_COUNTS")
OF_CONTEXTS = ("clCreateContext", "clCreateContextFromType", "clGetGLContextInfoKHR")
OWN, OTHER, DEVICE = "own", "other", "device"
Words = Sequence[int | str]


def place_of_list(function: Function) -> int | None:
    return next((i for i, parameter in enumerate(function.parameters) if parameter.kind == "properties"), None)


OPAQUE = [
    function
    for function in api().dispatched()
    if place_of_list(function) is not None and function.name not in OF_CONTEXTS
]


def pairs(count: int) -> list[int | str]:
    return [word for i in range(count) for word in (0x4000 + i, 0xC0FFEE_0000_0001 * (i + 1) & (1 << 64) - 1)]


LISTS: dict[str, Words] = {
    "empty": [0],
    **{f"{count}-pairs": [*pairs(count), 0] for count in (*range(1, 9), 16, 31, 32, 33, 64, 500)},
    "value-0": [CL.QUEUE_PROPERTIES, 0, 0],
    "values-0": [CL.QUEUE_PROPERTIES, 0, CL.QUEUE_PRIORITY_KHR, 0, CL.QUEUE_THROTTLE_KHR, 1, 0],
    "value-is-name": [
        CL.SAMPLER_NORMALIZED_COORDS,
        CL.SAMPLER_ADDRESSING_MODE,
        CL.SAMPLER_ADDRESSING_MODE,
        CL.SAMPLER_NORMALIZED_COORDS,
        0,
    ],
    "upper-halves": [CL.QUEUE_PROPERTIES | 1 << 32, 1 << 32, CL.QUEUE_SIZE | 1 << 63, 1 << 63, 0],
    "twice": [CL.QUEUE_PROPERTIES, 1, CL.QUEUE_PROPERTIES, 1, 0],
    "own-platform": [PLATFORM, OWN, 0],
    "other-platform": [PLATFORM, OTHER, 0],
    "other-platform-among-others": [*pairs(2), PLATFORM, OTHER, CL.QUEUE_PROPERTIES, 0, 0],
    "no-platform": [PLATFORM, 0, CL.QUEUE_PROPERTIES, 2, 0],
    "counts": [COUNTS, 3, 1, 0, 0],
    "one-count": [COUNTS, 4, 0, 0],
    "counts-and-more": [COUNTS, 1, 0, CL.DEVICE_PARTITION_EQUALLY, 1, 0],
    "devices": [CL.MEM_DEVICE_HANDLE_LIST_KHR, DEVICE, 0, 0],
    "two-devices-and-more": [
        CL.MEM_DEVICE_HANDLE_LIST_KHR,
        DEVICE,
        DEVICE,
        0,
        CL.EXTERNAL_MEMORY_HANDLE_OPAQUE_WIN32_KHR,
        7,
        0,
    ],
    "names-that-end-in-minus-1": [0x4052, 0, 1, -1, 0],
    "after-the-end": [CL.QUEUE_PROPERTIES, 1, 0, PLATFORM, OTHER, 0],
}
# Addresses that nobody may read.
BITS = 8 * api().address
ADDRESSES = [1, 7, 0x1000, 1 << (BITS - 17), 0xDEAD_BEEF << (BITS - 32), (1 << BITS) - 8, (1 << BITS) - 1]


class World:
    """The platforms of two vendors, whose function answers patterns to whatever list it gets."""

    def __init__(self, cl: Session, function: Function) -> None:
        self.cl = cl
        self.function = function
        self.objects = [Objects(cl, platform) for platform in cl.GetPlatformIDs()]
        self.address = address_of(cl, function)
        assert {objects.owner for objects in self.objects} == {"a", "b"}

    def call(self, own: Objects, given: Words | int | None) -> PatternedCall:
        """A call with a list that ends where an unreadable page begins, with an address, or with NULL."""
        other = next(objects for objects in self.objects if objects is not own)
        call = PatternedCall(self.cl, self.function, own, address=self.address)
        place = place_of_list(self.function)
        assert place is not None
        if given is None or isinstance(given, int):
            call.sent[place] = Sent(given)
        else:
            handles = {OWN: own.platform, OTHER: other.platform, DEVICE: own.device}
            words = [handles[word] if isinstance(word, str) else word for word in given]
            call.give_list(place, words)
        return call

    def make(self, sandbox: Sandbox, lists: Sequence[Words | int | None]) -> Iterator[tuple[PatternedCall, CallLog]]:
        """Makes a call with each list for each vendor; gives each with its part of the log."""
        calls = []
        for own, given in itertools.product(self.objects, lists):
            calls.append(self.call(own, given))
            calls[-1].make()
        logs = sandbox.log.during(self.function.name)
        yield from zip(calls, logs[len(logs) - len(calls) :], strict=True)


def vendors(loader: Loader, sandbox: Sandbox, function: Function) -> None:
    """One vendor of ICD 1, and one of ICD 2 where the loader knows that."""
    sandbox.vendor_of_each_kind(loader.has("ICD 2"), functions={"answers": [function.name]})


def address_problems(call: PatternedCall, log: CallLog, at: str) -> list[str]:
    """The list itself arrives, and no copy of it: a copy would need a length that nobody but the vendor knows."""
    place = place_of_list(call.function)
    assert place is not None
    sent = next(event for event in log.calls(by="application")).arguments[place]
    arrived = [event.arguments[place] for event in log.calls(call.function.name, by=at)]
    return [] if arrived == [sent] else [f"{call}: {at} got {arrived}, sent was {sent:#x}"]


@requirement("PL-GEN-017")
@pytest.mark.parametrize("function", OPAQUE, ids=str)
def test_property_list_arrives_as_it_is(loader: Loader, sandbox: Sandbox, function: Function) -> None:
    """Whatever is in the list, the vendor of the object gets it: NULL stays NULL, and an empty list a list.

    CL_CONTEXT_PLATFORM has no meaning here.
    """
    vendors(loader, sandbox, function)
    with loader.start(sandbox) as cl:
        world = World(cl, function)
        for call, log in world.make(sandbox, [None, *LISTS.values(), None]):
            assert call.problems(log) == []


@requirement("PL-GEN-019")
@pytest.mark.parametrize("function", OPAQUE, ids=str)
def test_property_list_is_not_read(loader: Loader, sandbox: Sandbox, function: Function) -> None:
    """The address of a list arrives as it is, and so does one of nothing, which only the vendor would have read."""
    vendors(loader, sandbox, function)
    with loader.start(sandbox) as cl:
        world = World(cl, function)
        for call, log in world.make(sandbox, [*LISTS.values(), *ADDRESSES]):
            assert call.problems(log) == []
            assert address_problems(call, log, call.objects.owner) == []


@requirement("PL-GEN-017")
@pytest.mark.parametrize("function", OPAQUE, ids=str)
def test_property_list_passes_a_layer_unchanged(loader: Loader, sandbox: Sandbox, function: Function) -> None:
    """The same through a layer, which gets the list, too."""
    loader.require("OPENCL_LAYERS")
    use_layers(sandbox, [sandbox.layer("layer")])
    vendors(loader, sandbox, function)
    with loader.start(sandbox) as cl:
        world = World(cl, function)
        for call, log in world.make(sandbox, [None, *LISTS.values()]):
            assert [event.who for event in log.calls(function.name)] == ["application", "layer", call.objects.owner]
            assert call.argument_problems(log, at="layer") + call.argument_problems(log) + call.answer_problems() == []


# Names of vendors' own properties, of other lists, and of nothing.
NAMES = [*range(0x4000, 0x4100), *range(0x2000, 0x2080), *range(0x1085, 0x10A0), 1, 2, 0x7FFF_FFFF, 0x8000_0000, -2]


def around(name: int) -> Words:
    """A name before the platform, and after it."""
    return [name, 0x1234_5678_9ABC, PLATFORM, OWN, name - 1 or 7, 5, 0]


@requirement("PL-GEN-018")
@pytest.mark.parametrize("function", [api().functions[name] for name in OF_CONTEXTS], ids=str)
def test_unknown_names_around_the_platform_arrive(loader: Loader, sandbox: Sandbox, function: Function) -> None:
    """Names that the loader does not know, and never will, stand around the platform, one after the other."""
    vendors(loader, sandbox, function)
    with loader.start(sandbox) as cl:
        world = World(cl, function)
        chosen = [around(name) for name in NAMES if PLATFORM not in (name, name - 1)]
        assert len(chosen) > 400
        # Each list at one vendor: neighbours differ in who it is.
        calls = [world.call(own, given) for own, given in zip(itertools.cycle(world.objects), chosen)]
        make_all(calls)
        read_all(calls)
        for call, log in zip(calls, sandbox.log.during(function.name), strict=True):
            assert call.problems(log) == []


# Values that are lists with an end of their own, so that whoever counts in pairs still finds the platform.
NESTED: dict[str, Words] = {
    "after-1": [PLATFORM, OWN, CL.MEM_DEVICE_HANDLE_LIST_KHR, DEVICE, 0, 0],
    "after-2": [PLATFORM, OWN, CL.MEM_DEVICE_HANDLE_LIST_KHR, DEVICE, DEVICE, 0, 0],
    "after-1-and-more": [PLATFORM, OWN, CL.MEM_DEVICE_HANDLE_LIST_KHR, DEVICE, 0, 0x4001, 5, 0],
    "after-3-and-more": [PLATFORM, OWN, CL.MEM_DEVICE_HANDLE_LIST_KHR, DEVICE, DEVICE, DEVICE, 0, 0x4001, 5, 0],
    "before-2": [CL.MEM_DEVICE_HANDLE_LIST_KHR, DEVICE, DEVICE, 0, PLATFORM, OWN, 0],
    "before-4": [CL.MEM_DEVICE_HANDLE_LIST_KHR, DEVICE, DEVICE, DEVICE, DEVICE, 0, PLATFORM, OWN, 0],
    "other-platform-inside": [PLATFORM, OWN, CL.MEM_DEVICE_HANDLE_LIST_KHR, OTHER, OTHER, 0, 0],
    "counts": [PLATFORM, OWN, COUNTS, 3, 1, 0, 0],
}


@requirement("PL-GEN-018")
@pytest.mark.parametrize("function", [api().functions[name] for name in OF_CONTEXTS], ids=str)
def test_nested_list_arrives_with_what_follows_it(loader: Loader, sandbox: Sandbox, function: Function) -> None:
    """A value that is a list with its own end marker arrives with all that is in it and after it."""
    vendors(loader, sandbox, function)
    with loader.start(sandbox) as cl:
        world = World(cl, function)
        for call, log in world.make(sandbox, list(NESTED.values())):
            assert call.problems(log) == []
            assert address_problems(call, log, call.objects.owner) == []


@requirement("PL-GEN-018")
@pytest.mark.parametrize("function", [api().functions[name] for name in OF_CONTEXTS[1:]], ids=str)
def test_end_of_a_nested_list_in_the_place_of_a_name_arrives(
    loader: Loader, sandbox: Sandbox, function: Function
) -> None:
    """Where such an end stands in the place of a name, the list is at its end for those who count in pairs.

    So a platform after it is heeded by a loader that knows the property, else the call is refused or the first
    platform's. Nothing past the last word is read.
    """
    vendors(loader, sandbox, function)
    with loader.start(sandbox) as cl:
        world = World(cl, function)
        first = world.objects[0].owner
        for call, log in world.make(
            sandbox,
            [
                [CL.MEM_DEVICE_HANDLE_LIST_KHR, DEVICE, 0, PLATFORM, OWN, 0],
                [CL.MEM_DEVICE_HANDLE_LIST_KHR, DEVICE, 0, 0],
            ],
        ):
            reached = [event.who for event in log.calls() if event.who != "application"]
            assert reached in ([], [first], [call.objects.owner])
            if not reached and call.function.result_kind == "signed":
                assert call.result != CL.SUCCESS  # it has no error of its own for that
        control = [call.problems(log) for call, log in world.make(sandbox, [[PLATFORM, OWN, 0]])]
        assert control == [[], []]
