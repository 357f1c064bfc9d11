# SPDX-License-Identifier: Apache-2.0
"""NULL in the argument that tells the vendor: the loader answers by itself, for every function (DISP-NUL)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from harness.check import (
    CL,
    LIST_LENGTH,
    CallLog,
    Function,
    Loader,
    Objects,
    PatternedCall,
    Sandbox,
    Sent,
    Session,
    Unsupported,
    Value,
    address_of,
    also_through_layers,
    api,
    pack,
    requirement,
    routing_parameter,
    slots,
)

CLASSES = {
    "device": pytest.mark.requirement("DISP-NUL-003"),
    "context": pytest.mark.requirement("DISP-NUL-004"),
    "queue": pytest.mark.requirement("DISP-NUL-005"),
    "memory": pytest.mark.requirement("DISP-NUL-006"),
    "program": pytest.mark.requirement("DISP-NUL-007"),
    "kernel": pytest.mark.requirement("DISP-NUL-008"),
    "event": pytest.mark.requirement("DISP-NUL-009"),
    "sampler": pytest.mark.requirement("DISP-NUL-009"),
}
SVM = ("clSVMAlloc", "clSVMFree")
PLATFORM = ("clGetPlatformInfo", "clGetDeviceIDs", "clUnloadPlatformCompiler")


def functions_of(*classes: str) -> list[Function]:
    """Functions of these classes that this machine's loaders may have."""
    known = api().dispatched()
    return [f for f in known if slots()[f.name].class_ in classes]


def cases() -> list[Any]:
    """Every function that finds its vendor by one object, but those of a platform."""
    result = []
    for function in functions_of(*CLASSES):
        slot = slots()[function.name]
        marks = [pytest.mark.requirement("DISP-NUL-001")]
        marks += [pytest.mark.requirement("DISP-NUL-011") if function.name in SVM else CLASSES[slot.class_]]
        marks += [pytest.mark.requirement("DISP-NUL-010")] * slot.errcode_ret
        result.append(pytest.param(function, marks=marks, id=function.name))
    return result


class NoObjects(Objects):
    """What calls are made of in a process that has no object yet."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.owner = "nobody"
        self._made = {}


def available(cl: Session, functions: Sequence[Function]) -> dict[Function, Value | None]:
    """Those of the functions that this loader has, and where they are called."""
    result: dict[Function, Value | None] = {}
    for function in functions:
        try:
            result[function] = address_of(cl, function)
        except Unsupported:
            continue
    return result


def null_calls(cl: Session, function: Function, objects: Objects, address: Value | None) -> list[PatternedCall]:
    """The function with NULL for its object: all else right, garbage, and garbage without errcode_ret."""
    null = function.parameters[routing_parameter(function)].name
    calls = [PatternedCall(cl, function, objects, null=null, wide=True, address=address) for _ in range(2)]
    for index, parameter in enumerate(function.parameters):
        if parameter.kind == "errcode":
            calls[1].sent[index] = Sent(None)
    if not isinstance(objects, NoObjects):
        calls.append(PatternedCall(cl, function, objects, null=null, address=address))
    return calls


def refusals(calls: Sequence[PatternedCall]) -> list[str]:
    """Makes the calls; gives what is wrong with what came back."""
    result = []
    for call in calls:
        call.make()
        result += call.refusal_problems(slots()[call.function.name].null)
    return result


def vendors_of_both_kinds(loader: Loader, sandbox: Sandbox, order: str = "ab", **settings: Any) -> None:
    """The last one has ICD 2 where the loader knows that, and is found last: one loader takes no other place well."""
    sandbox.env["OCL_ICD_PLATFORM_SORT"] = "none"
    mocks = [sandbox.icd(name, icd2=name == order[-1] and loader.has("ICD 2"), **settings) for name in order]
    sandbox.vendors_in_order([f"{mock}\n" for mock in mocks])


@pytest.mark.parametrize("function", cases())
def test_null_object_is_the_error_of_its_class(loader: Loader, sandbox: Sandbox, function: Function) -> None:
    """NULL for the object is that object's error and nothing else, first thing in a process and later.

    The same call with an object reaches its vendor.
    """
    vendors_of_both_kinds(loader, sandbox, functions={"answers": [function.name]})
    with loader.start(sandbox) as cl:
        address = address_of(cl, function)
        assert not refusals(null_calls(cl, function, NoObjects(cl), address))
        owners = [Objects(cl, platform) for platform in cl.GetPlatformIDs()]
        answered = [PatternedCall(cl, function, objects, address=address) for objects in owners]
        refused = null_calls(cl, function, owners[-1], address)
        for call in answered:
            call.make()
        assert not refusals(refused)
        logs = sandbox.log.during(function.name)[-len(answered + refused) :]
        assert not [problem for call, log in zip(answered, logs, strict=False) for problem in call.problems(log)]
    reached = {event.who for log in logs[len(answered) :] for event in log} - {"application"}
    assert not reached, "the loader asked somebody"


@requirement("DISP-NUL-001")
@pytest.mark.parametrize("kind", CLASSES)
def test_null_object_without_vendors_is_the_same_error(loader: Loader, sandbox: Sandbox, kind: str) -> None:
    """Without any vendor NULL is the same error, before the platforms were asked for and after that."""
    with loader.start(sandbox) as cl:
        for functions in (functions_of(kind), functions_of(kind)[::-1]):
            for function, address in available(cl, functions).items():
                assert not refusals(null_calls(cl, function, NoObjects(cl), address))
            assert cl.GetPlatformIDs() == []


# --- the platform, which may have a default ---


def who_got(log: CallLog, name: str) -> str:
    return "".join(event.who for event in log.calls(name) if event.who != "application")


def platform_outcome(call: PatternedCall, first: str, at: str) -> str:
    """How a loader that has platforms takes NULL for one; fails where that is none of the ways that there are."""
    if call.result == CL.INVALID_PLATFORM:
        assert not call.refusal_problems(CL.INVALID_PLATFORM)
        assert at == "", f"{call} was refused, but reached {at}"
        return "refused"
    assert not call.answer_problems()
    assert at == first, f"{call} reached {at or 'nobody'}; the first platform is {first}'s"
    return "the first platform's"


@requirement("DISP-NUL-002", "DISP-NUL-014")
@pytest.mark.parametrize("order", ["ab", "ba"])
@pytest.mark.parametrize("name", PLATFORM)
def test_null_platform_is_invalid_platform_or_the_first(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None], name: str, order: str
) -> None:
    """NULL for the platform is CL_INVALID_PLATFORM, or stands for the first platform (API: implementation-defined)."""
    function = api().functions[name]
    vendors_of_both_kinds(loader, sandbox, order, functions={"answers": [name]})
    with loader.start(sandbox) as cl:
        address_of(cl, function)
        calls = null_calls(cl, function, NoObjects(cl), None)
        for call in calls:
            call.make()
        owners = [Objects(cl, platform) for platform in cl.GetPlatformIDs()]
        assert sorted(objects.owner for objects in owners) == ["a", "b"]
        calls += null_calls(cl, function, owners[1], None)
        for call in calls[2:]:
            call.objects = owners[0]  # whose answer it is, if it is one
            call.make()
        control = PatternedCall(cl, function, owners[1])
        control.make()
        first, logs = owners[0].owner, sandbox.log.during(name)[-len(calls[2:]) - 1 :]
        assert not control.problems(logs[-1])
        at = [who_got(log, name) for log in logs]
        for call in calls[:2]:  # with them came discovery, which asks vendors itself
            call.objects = owners[0]
            at.insert(0, "" if call.result == CL.INVALID_PLATFORM else first)
        outcomes = {platform_outcome(call, first, who) for call, who in zip(calls, at, strict=False)}
    record(" and ".join(sorted(outcomes)))


@requirement("DISP-NUL-002")
@pytest.mark.parametrize("name", PLATFORM)
def test_null_platform_without_vendors_is_invalid_platform(loader: Loader, sandbox: Sandbox, name: str) -> None:
    """Without any vendor NULL for the platform is CL_INVALID_PLATFORM, first thing in a process and later."""
    function = api().functions[name]
    with loader.start(sandbox) as cl:
        address_of(cl, function)
        assert not refusals(null_calls(cl, function, NoObjects(cl), None))
        assert cl.GetPlatformIDs() == []
        assert not refusals(null_calls(cl, function, NoObjects(cl), None))


# --- NULL in other places ---


def other_handles(function: Function) -> list[str]:
    routing = routing_parameter(function)
    return [p.name for i, p in enumerate(function.parameters) if i != routing and p.kind in ("handle", "handles")]


def with_null_elements(call: PatternedCall) -> PatternedCall:
    """The call, with nothing but NULL in each list of handles."""
    for index, parameter in enumerate(call.function.parameters):
        if parameter.kind == "handles":
            call.give_list(index, [0] * LIST_LENGTH)
    return call


def arrival_problems(call: PatternedCall, log: CallLog) -> list[str]:
    """Whether the vendor got the handles, and the lists of them, as the application gave them."""
    sent, arrived = log.calls(by="application")[0], log.calls(by=call.objects.owner)[0]
    result = []
    for index, parameter in enumerate(call.function.parameters):
        if parameter.kind in ("handle", "handles") and sent.arguments[index] != arrived.arguments[index]:
            result.append(f"{call}: {parameter.name} arrived as {arrived.arguments[index]:#x}")
        if parameter.kind == "handles" and call.sent[index].content:
            words = [int(word, 16) for word in arrived.data["in"][parameter.name][:LIST_LENGTH]]
            if pack(words) != call.sent[index].content[: api().address * len(words)]:
                result.append(f"{call}: the list {parameter.name} arrived as {words}")
    return result


@requirement("DISP-NUL-015")
@pytest.mark.parametrize("kind", [*CLASSES, "platform"])
def test_null_in_other_places_arrives_at_the_vendor(loader: Loader, sandbox: Sandbox, kind: str) -> None:
    """NULL for any other object, for a list of them and in such a list is the vendor's business: it arrives."""
    vendors_of_both_kinds(loader, sandbox)
    calls: dict[str, list[PatternedCall]] = defaultdict(list)
    with loader.start(sandbox) as cl:
        for objects in (Objects(cl, platform) for platform in cl.GetPlatformIDs()):
            for function, address in available(cl, functions_of(kind)).items():
                for null in other_handles(function):
                    calls[function.name].append(PatternedCall(cl, function, objects, null=null, address=address))
                whole = PatternedCall(cl, function, objects, address=address)
                calls[function.name].append(with_null_elements(whole))
        for name in calls:
            for call in calls[name]:
                call.make()
    log = sandbox.log
    for name, group in calls.items():
        for call, during in zip(group, log.during(name)[-len(group) :], strict=True):
            assert not call.routing_problems(during)
            assert not arrival_problems(call, during)


also_through_layers(globals(), counts=[3])
