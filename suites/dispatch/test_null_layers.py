# SPDX-License-Identifier: Apache-2.0
"""NULL with layers: every layer sees the call, then the loader's own end of the chain answers it (DISP-NUL)."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

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
    Value,
    api,
    arriving,
    requirement,
    routing_parameter,
    slots,
)

KINDS = ("device", "context", "queue", "memory", "program", "kernel", "event", "sampler")
LAYERS = ["outer", "inner"]
REFUSED = 3  # of the calls of each function: with NULL for the object


def two_layers(loader: Loader, sandbox: Sandbox, vendors: bool = True) -> None:
    loader.require("OPENCL_LAYERS")
    if vendors:  # ICD 2 comes last and stays there: one loader takes no other place well
        sandbox.env["OCL_ICD_PLATFORM_SORT"] = "none"
        sandbox.vendors_in_order(
            [f"{mock}\n" for mock in (sandbox.icd("a"), sandbox.icd("b", icd2=loader.has("ICD 2")))]
        )
    # The last one of the list is the first to be called.
    sandbox.env["OPENCL_LAYERS"] = ":".join(str(sandbox.layer(name)) for name in LAYERS[::-1])


def functions_of(cl: Session, kind: str) -> dict[Function, Value | None]:
    """The functions of a class that this loader has; where a function is called, None for its exported name."""
    result: dict[Function, Value | None] = {}
    for function in api().dispatched():
        slot = slots()[function.name]
        if slot.class_ != kind:
            continue
        if slot.reached == "query":
            address = cl.GetExtensionFunctionAddress(function.name)
            if address:
                result[function] = address
        elif int(cl.command(f"symbol {function.name}"), 16):
            result[function] = None
    return result


def way(log: CallLog, name: str) -> list[str]:
    """Who got the call, in order."""
    return [event.who for event in log.calls(name)]


@requirement("DISP-NUL-018")
@pytest.mark.parametrize("kind", KINDS)
def test_null_object_passes_all_layers_and_is_the_same_error(loader: Loader, sandbox: Sandbox, kind: str) -> None:
    """NULL passes all layers and is then the usual error; the same call with an object goes on to the vendor."""
    two_layers(loader, sandbox)
    calls: dict[str, list[PatternedCall]] = defaultdict(list)
    with loader.start(sandbox) as cl:
        owners = [Objects(cl, platform) for platform in cl.GetPlatformIDs()]
        functions = functions_of(cl, kind)
        assert len(functions) >= 3
        for function, address in functions.items():
            null = function.parameters[routing_parameter(function)].name
            group = [PatternedCall(cl, function, owners[0], null=null, wide=w, address=address) for w in (True, False)]
            group.append(PatternedCall(cl, function, owners[1], null=null, address=address))
            for index, parameter in enumerate(function.parameters):
                if parameter.kind == "errcode":
                    group[-1].sent[index] = Sent(None)
            group.append(PatternedCall(cl, function, owners[0], address=address))
            group.append(PatternedCall(cl, function, owners[1], wide=True, address=address))
            calls[function.name] = group
        for name, group in calls.items():
            for number, call in enumerate(group):
                call.make()
                assert number >= REFUSED or not call.refusal_problems(slots()[name].null)
    log = sandbox.log
    for name, group in calls.items():
        parts = log.during(name)[-len(group) :]
        vendors: list[list[str]] = [*[[]] * REFUSED, *([objects.owner] for objects in owners)]
        assert [way(part, name) for part in parts] == [["application", *LAYERS, *vendor] for vendor in vendors]
        for call, part in zip(group[REFUSED:], parts[REFUSED:], strict=True):
            sent, *arrived = (event.arguments for event in part.calls(name))
            kinds = call.function.parameters
            expected = tuple(arriving(a, p) for a, p in zip(sent, kinds, strict=True))
            assert arrived == [expected] * 3, f"{call} arrived changed"


def waits(cl: Session, event: Value | int) -> list[tuple[object, int]]:
    """Calls of clWaitForEvents: what each answered, and has to answer."""
    return [
        (cl.clWaitForEvents(0, [event]), CL.INVALID_VALUE),
        (cl.clWaitForEvents(3, None), CL.INVALID_VALUE),
        (cl.clWaitForEvents(1, [0]), CL.INVALID_EVENT),
    ]


def contexts(cl: Session, device: Value | int) -> list[tuple[object, int]]:
    """Calls of clCreateContext: what each stored in errcode_ret, and has to store."""
    answers: list[tuple[object, int]] = []
    for count, devices, code in (
        (0, [device], CL.INVALID_VALUE),
        (3, None, CL.INVALID_VALUE),
        (1, [0], CL.INVALID_DEVICE),
    ):
        error = cl.buffer(4)
        assert cl.clCreateContext(None, count, devices, None, None, error) == 0
        answers.append((error.code(), code))
        assert cl.clCreateContext(None, count, devices, None, None, None) == 0
    return answers


@requirement("DISP-NUL-018", "DISP-NUL-012", "DISP-NUL-013")
@pytest.mark.parametrize("with_vendors", [True, False], ids=["vendors", "no-vendor"])
def test_lists_without_a_first_element_pass_all_layers_and_are_refused(
    loader: Loader, sandbox: Sandbox, with_vendors: bool
) -> None:
    """Lists without a first element pass all layers and are then the usual errors; others go on to the vendor."""
    two_layers(loader, sandbox, with_vendors)
    with loader.start(sandbox) as cl:
        platforms = cl.GetPlatformIDs()
        also = [] if with_vendors else [CL.INVALID_PLATFORM]  # as right for a context where there is none
        for answer, expected in waits(cl, 1):
            assert answer == expected
        for answer, expected in contexts(cl, 1):
            assert answer in (expected, *also)
        owners = [Objects(cl, platform) for platform in platforms]
        for objects in owners:
            assert objects.context
            assert cl.clWaitForEvents(1, [objects.event]) == CL.SUCCESS
    log = sandbox.log
    if not log.calls(by="outer"):
        assert not with_vendors, "layers were left out"
        return  # grey area 28: some loaders look for layers only where there is a vendor
    for name, refused in (("clWaitForEvents", 3), ("clCreateContext", 6)):
        ways = [way(part, name) for part in log.during(name)]
        assert all(taken[: 1 + len(LAYERS)] == ["application", *LAYERS] for taken in ways[:refused])
        assert ways[refused:] == [["application", *LAYERS, objects.owner] for objects in owners]


@requirement("DISP-NUL-018", "DISP-NUL-002")
def test_null_platform_passes_all_layers(loader: Loader, sandbox: Sandbox) -> None:
    """NULL for the platform passes all layers, and then is what it is without them."""
    two_layers(loader, sandbox)
    names = ("clGetPlatformInfo", "clGetDeviceIDs", "clUnloadPlatformCompiler", "clCreateContextFromType")
    with loader.start(sandbox) as cl:
        first = cl.GetPlatformInfo(cl.GetPlatformIDs()[0])
        error = cl.buffer(4)
        requests: dict[str, tuple[int, Any]] = {
            "clGetPlatformInfo": (cl.clGetPlatformInfo(None, api().constant("CL_PLATFORM_NAME"), 0, None, None), 0),
            "clGetDeviceIDs": (cl.clGetDeviceIDs(None, api().constant("CL_DEVICE_TYPE_ALL"), 0, None, cl.buffer(4)), 0),
            "clUnloadPlatformCompiler": (cl.clUnloadPlatformCompiler(None), 0),
        }
        context = cl.clCreateContextFromType(None, api().constant("CL_DEVICE_TYPE_ALL"), None, None, error)
        requests["clCreateContextFromType"] = (error.code(), context == 0)
    log = sandbox.log
    for name in names:
        answer = requests[name][0]
        at = [first] if answer == 0 else []
        assert answer in (0, CL.INVALID_PLATFORM)
        assert way(log.during(name)[-1], name) == ["application", *LAYERS, *at]
