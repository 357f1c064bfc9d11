# SPDX-License-Identifier: Apache-2.0
"""Every function on objects of every vendor: the call reaches the owner, once and unchanged, and so does the answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from harness.check import (
    CallLog,
    Function,
    Loader,
    Objects,
    PatternedCall,
    Sandbox,
    address_of,
    also_through_layers,
    api,
    make_all,
    read_all,
    slots,
    variants,
)

CLASSES = {
    "platform": "DISP-ARG-001",
    "device": "DISP-ARG-002",
    "context": "DISP-ARG-003",
    "queue": "DISP-ARG-004",
    "memory": "DISP-ARG-005",
    "program": "DISP-ARG-006",
    "kernel": "DISP-ARG-007",
    "event": "DISP-ARG-008",
    "sampler": "DISP-ARG-009",
    "events": "DISP-ARG-010",
    "devices": "DISP-ARG-011",
    "properties": "DISP-ARG-012",
}
SPECIAL = {
    "clGetGLContextInfoKHR": "DISP-ARG-013",
    "clLinkProgram": "DISP-ARG-014",
    "clCreateProgramWithBinary": "DISP-ARG-014",
    "clSetDefaultDeviceCommandQueue": "DISP-ARG-015",
    "clGetKernelSuggestedLocalWorkSize": "DISP-ARG-016",
    "clGetKernelSubGroupInfo": "DISP-ARG-016",
}


def routed(*requirements: str) -> list[Any]:
    """Every function whose vendor an argument tells; with its class's requirement unless others are given."""
    result = []
    for function in api().dispatched():
        slot = slots()[function.name]
        if slot.class_ in CLASSES:
            own = (SPECIAL.get(function.name, CLASSES[slot.class_]), "DISP-ARG-020")
            marks = pytest.mark.requirement(*(requirements or own))
            result.append(pytest.param(function, marks=marks, id=function.name))
    return result


def make_calls(sandbox: Sandbox, calls: Sequence[PatternedCall]) -> Iterator[tuple[PatternedCall, CallLog]]:
    """Makes the calls; gives each with its part of the call log."""
    make_all(calls)
    read_all(calls)
    logs = sandbox.log.during(calls[0].function.name)
    # What was called with the same name to make the objects comes first.
    yield from zip(calls, logs[len(logs) - len(calls) :], strict=True)


def calls_of_two_vendors(
    loader: Loader, sandbox: Sandbox, function: Function, silent: bool, names_no_object: bool = False
) -> Iterator[tuple[PatternedCall, CallLog]]:
    """Every variant of the call, on objects of two vendors that answer patterns, or nothing through its arguments.

    The second one has ICD 2 where the loader knows that. names_no_object: those with NULL or garbage for a handle that
    decides nothing; else those in which every handle is an object's.
    """
    behaviour = {"silent" if silent else "answers": [function.name]}
    sandbox.vendor_of_each_kind(loader.has("ICD 2"), functions=behaviour)
    with loader.start(sandbox) as cl:
        calls = []
        for platform in cl.GetPlatformIDs():
            address = address_of(cl, function)
            every = variants(cl, function, Objects(cl, platform), address, silent)
            calls += [call for call in every if call.names_no_object == names_no_object]
        yield from make_calls(sandbox, calls)


def check_owners(loader: Loader, sandbox: Sandbox, function: Function, vendors: str, strangers: bool) -> None:
    """A call on objects of each vendor goes there and nowhere else; the handles in other places may be a stranger's."""
    for name in vendors:
        sandbox.vendor(name)
    with loader.start(sandbox) as cl:
        all_objects = [Objects(cl, platform) for platform in cl.GetPlatformIDs()]
        assert sorted(objects.owner for objects in all_objects) == sorted(vendors)
        address = address_of(cl, function)
        calls = [
            PatternedCall(cl, function, owner, address=address, strangers=next_one if strangers else None)
            for owner, next_one in zip(all_objects, all_objects[1:] + all_objects[:1], strict=True)
        ]
        for call, log in make_calls(sandbox, calls + calls[::-1]):
            assert not call.routing_problems(log)


@pytest.mark.parametrize("vendors", ["ab", "abc"])
@pytest.mark.parametrize("function", routed())
def test_call_reaches_its_owner(loader: Loader, sandbox: Sandbox, function: Function, vendors: str) -> None:
    """A call goes to the vendor of its objects, once, and to nobody else."""
    check_owners(loader, sandbox, function, vendors, strangers=False)


@pytest.mark.parametrize("function", routed("DISP-ARG-022"))
def test_call_with_handles_of_strangers_reaches_its_owner(loader: Loader, sandbox: Sandbox, function: Function) -> None:
    """A call goes to the vendor of the object that comes first, whoever's the other handles are."""
    check_owners(loader, sandbox, function, "ab", strangers=True)


@pytest.mark.parametrize("function", routed("DISP-ARG-017", "DISP-ARG-018", "DISP-OBJ-006"))
def test_arguments_and_answers_are_unchanged(loader: Loader, sandbox: Sandbox, function: Function) -> None:
    """Every argument arrives bit for bit (numbers, pointers and their targets, 0, NULL), and so every answer."""
    for call, log in calls_of_two_vendors(loader, sandbox, function, silent=False):
        assert not call.argument_problems(log)
        assert not call.answer_problems()


def with_further_handles(cases: list[Any]) -> list[Any]:
    """Those of `routed` that take more objects than the one that tells the vendor, or a list of objects."""
    result = []
    for case in cases:
        kinds = [parameter.kind for parameter in case.values[0].parameters]
        if kinds.count("handle") > 1 or "handles" in kinds:
            result.append(case)
    return result


@pytest.mark.parametrize("silent", [False, True], ids=["answers", "silent"])
@pytest.mark.parametrize("function", with_further_handles(routed("DISP-ARG-021")))
def test_handles_of_no_object_arrive_unchanged(
    loader: Loader, sandbox: Sandbox, function: Function, silent: bool
) -> None:
    """NULL and garbage in the place of an object that does not tell the vendor are left to the vendor to judge."""
    for call, log in calls_of_two_vendors(loader, sandbox, function, silent, names_no_object=True):
        assert not call.routing_problems(log) + call.argument_problems(log) + call.answer_problems()


@pytest.mark.parametrize("function", routed("DISP-ARG-019"))
def test_nothing_is_written_by_the_loader(loader: Loader, sandbox: Sandbox, function: Function) -> None:
    """Where the vendor leaves errcode_ret and all other outputs alone, they stay as the application had them."""
    for call, log in calls_of_two_vendors(loader, sandbox, function, silent=True):
        assert not call.routing_problems(log) + call.argument_problems(log) + call.answer_problems()


@pytest.mark.parametrize("length", [2, 3])
@pytest.mark.parametrize(
    "name",
    [
        pytest.param("clWaitForEvents", marks=pytest.mark.requirement("DISP-ARG-010")),
        pytest.param("clCreateContext", marks=pytest.mark.requirement("DISP-ARG-011")),
    ],
)
def test_first_of_a_list_decides(loader: Loader, sandbox: Sandbox, name: str, length: int) -> None:
    """A list whose elements belong to several vendors goes to the vendor of the first one, as it is."""
    for vendor in "abc"[:length]:
        sandbox.vendor(vendor, functions={"answers": ["clWaitForEvents"]})
    with loader.start(sandbox) as cl:
        objects = [Objects(cl, platform) for platform in cl.GetPlatformIDs()]
        for first in range(length):
            turned = objects[first:] + objects[:first]
            if name == "clWaitForEvents":
                elements = [o.event for o in turned]
                cl.clWaitForEvents(length, elements)
            else:
                elements = [o.device for o in turned]
                cl.CreateContext(None, elements)
            log = sandbox.log.during(name)[-1]
            assert [e.who for e in log.calls(name) if e.who != "application"] == [turned[0].owner]
            arrived = next(iter(log.calls(name, by=turned[0].owner))).data["in"]
            assert [int(word, 16) for word in next(iter(arrived.values()))[:length]] == elements


also_through_layers(
    globals(),
    counts=[1],
    leaving_out=[
        "test_call_reaches_its_owner",
        "test_call_with_handles_of_strangers_reaches_its_owner",
        "test_arguments_and_answers_are_unchanged",
        "test_handles_of_no_object_arrive_unchanged",
        "test_first_of_a_list_decides",
    ],
)
also_through_layers(
    globals(),
    counts=[3],
    leaving_out=[
        "test_call_reaches_its_owner",
        "test_call_with_handles_of_strangers_reaches_its_owner",
        "test_nothing_is_written_by_the_loader",
    ],
)
