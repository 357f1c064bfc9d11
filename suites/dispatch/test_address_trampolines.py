# SPDX-License-Identifier: Apache-2.0
"""Extension functions that have a slot: the loader's own function serves the objects of every vendor (DISP-EXT)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from harness.check import (
    CL,
    Function,
    Loader,
    Objects,
    PatternedCall,
    Sandbox,
    Session,
    Unsupported,
    Value,
    also_through_layers,
    api,
    build,
    requirement,
    slots,
)


def extension_functions(reached: Sequence[str]) -> list[Any]:
    """Functions of extensions that have a slot; an empty one is an error of extensions only."""
    result = []
    for function in api().dispatched():
        slot = slots()[function.name]
        if slot.empty_slot == "CL_INVALID_OPERATION" and slot.reached in reached:
            result.append(pytest.param(function, id=function.name))
    return result


# Those of Direct3D are functions of Windows only.
QUERIED = extension_functions(["query", "windows-query"] if build().windows else ["query"])
EXPORTED = extension_functions(["export"])


def by_platform(cl: Session, platform: Value | None, function: Function) -> Value:
    result = cl.call("clGetExtensionFunctionAddressForPlatform", platform, function.name)
    assert isinstance(result, Value)
    return result


def of_loader(cl: Session, function: Function) -> Value:
    """Where the loader has the function; names of GL without KHR are grey area 32."""
    result = cl.GetExtensionFunctionAddress(function.name)
    if not result and slots()[function.name].reached == "export":
        raise Unsupported("loader", f"this loader does not answer {function.name} itself")
    assert result
    return result


def three_vendors(loader: Loader, sandbox: Sandbox, function: Function) -> None:
    behaviour = {"answers": [function.name]}
    sandbox.vendor("a", functions=behaviour)
    sandbox.vendor("b", functions=behaviour, icd2=loader.has("ICD 2"))
    # Whose suffix a known name ends in does not matter. Without KHR or EXT it is known to some loaders only.
    sandbox.vendor(
        "c", functions=behaviour, suffix="C" if slots()[function.name].reached == "export" else function.name[-3:]
    )


@requirement("DISP-EXT-010")
@pytest.mark.parametrize("function", QUERIED + EXPORTED)
def test_one_function_serves_all_vendors(loader: Loader, sandbox: Sandbox, function: Function) -> None:
    """Whichever query gave it, the function leads each call to the vendor of its object, unchanged."""
    three_vendors(loader, sandbox, function)
    calls = []
    with loader.start(sandbox) as cl:
        addresses = {of_loader(cl, function)}
        objects = [Objects(cl, platform) for platform in cl.GetPlatformIDs()]
        assert {o.owner for o in objects} == {"a", "b", "c"}
        addresses |= {by_platform(cl, o.platform, function) for o in objects}
        assert 0 not in addresses
        for address in addresses:
            calls += [PatternedCall(cl, function, o, address=address) for o in (*objects, objects[0])]
        for call in calls:
            call.make()
        logs = sandbox.log.during(function.name)
        for call, log in zip(calls, logs, strict=True):
            assert not call.problems(log)


@requirement("DISP-EXT-015")
def test_query_gives_the_same_address_each_time(loader: Loader, sandbox: Sandbox) -> None:
    """A query answers the same address each time; where the function is exported, that is the exported one."""
    sandbox.vendor("a")
    sandbox.vendor("b", icd2=loader.has("ICD 2"))
    functions = [param.values[0] for param in QUERIED + EXPORTED]
    with loader.start(sandbox) as cl:
        platforms = cl.GetPlatformIDs()
        for function in functions:
            own = cl.GetExtensionFunctionAddress(function.name)
            of_platforms = [by_platform(cl, platform, function) for platform in platforms]
            assert own == cl.GetExtensionFunctionAddress(function.name)
            assert of_platforms == [by_platform(cl, platform, function) for platform in platforms]
            exported = int(cl.command(f"symbol {function.name}"), 16)
            assert own == exported or 0 in (own, exported)
            assert own or slots()[function.name].reached == "export"
    assert len(functions) >= 19


@requirement("DISP-EXT-015", "DISP-EXT-010")
def test_each_function_has_its_own_address(loader: Loader, sandbox: Sandbox) -> None:
    """Each function has an address of its own, in the loader."""
    sandbox.vendor("a")
    with loader.start(sandbox) as cl:
        addresses = [cl.GetExtensionFunctionAddress(param.values[0].name) for param in QUERIED]
        assert 0 not in addresses
        assert len(set(addresses)) == len(QUERIED) >= 10
        files = {cl.module(address) for address in addresses}
    assert files == {str(loader.path)}


@requirement("DISP-EXT-010")
@pytest.mark.parametrize("moment", ["first call", "later"])
def test_function_beside_another_library_of_that_name_is_the_loaders_own(
    loader: Loader, sandbox: Sandbox, moment: str
) -> None:
    """A library in the program that exports the same functions takes the place of none that the query gives."""
    sandbox.require_linux("libraries that are preloaded")
    if loader.facts.sanitizer:
        raise Unsupported("machine", "this loader's sanitizer has to be preloaded, so no other library can be")
    other = sandbox.icd("other", variant="icd_exports_all")
    sandbox.env["LD_PRELOAD"] = str(other)
    sandbox.vendor("a")
    with loader.start(sandbox) as cl:
        assert cl.maps(str(other)), "it is not in the program: the check would prove nothing"
        if moment == "later":
            cl.GetPlatformIDs()
        addresses = [cl.GetExtensionFunctionAddress(param.values[0].name) for param in QUERIED]
        files = {cl.module(address) for address in addresses if address}
    assert files == {str(loader.path)}


@requirement("DISP-EXT-011")
@pytest.mark.parametrize("function", EXPORTED)
def test_names_without_khr_are_known_or_not(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None], function: Function
) -> None:
    """Names of GL functions without KHR are known to some loaders and not to others."""
    sandbox.vendor("a")
    with loader.start(sandbox) as cl:
        result = cl.GetExtensionFunctionAddress(function.name)
    assert not [e for e in sandbox.log.during("clGetExtensionFunctionAddress")[0].calls() if e.name == function.name]
    record("known" if result else "NULL")


@requirement("DISP-EXT-019")
@pytest.mark.parametrize("icd2", [False, True], ids=["ICD 1", "ICD 2"])
@pytest.mark.parametrize("function", QUERIED + EXPORTED)
def test_call_to_a_vendor_without_the_function_is_invalid_operation(
    loader: Loader, sandbox: Sandbox, function: Function, icd2: bool
) -> None:
    """A call to a vendor that has no such function answers CL_INVALID_OPERATION; beside it others have one."""
    if icd2:
        loader.require("ICD 2")
    has = sandbox.icd("has", functions={"answers": [function.name]})
    lacks = sandbox.icd("lacks", functions={"lacks": [function.name]}, icd2=icd2)
    sandbox.vendors_in_order([f"{has}\n", f"{lacks}\n"])
    exported = slots()[function.name].reached == "export"
    with loader.start(sandbox) as cl:
        objects = {o.owner: o for o in (Objects(cl, platform) for platform in cl.GetPlatformIDs())}
        address = None if exported else of_loader(cl, function)
        control = PatternedCall(cl, function, objects["has"], address=address)
        refused = PatternedCall(cl, function, objects["lacks"], address=address)
        control.make()
        refused.make()
        logs = sandbox.log.during(function.name)
        assert not control.problems(logs[0])
        assert [e.who for e in logs[1].calls()] == ["application"]
        assert error_of(refused) == CL.INVALID_OPERATION


def error_of(call: PatternedCall) -> int:
    """The error that a call reported, by its result or by errcode_ret."""
    for parameter, sent in zip(call.function.parameters, call.sent, strict=True):
        if parameter.name == "errcode_ret" and sent.buffer:
            assert call.result == 0
            return sent.buffer.code()
    return call.result


also_through_layers(globals(), counts=[3])
