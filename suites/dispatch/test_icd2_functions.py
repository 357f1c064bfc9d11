# SPDX-License-Identifier: Apache-2.0
"""Functions of ICD 2 vendors: asked for by name, called by the loader's own table, and stubs for missing ones."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.check import (
    CL,
    Loader,
    Objects,
    Sandbox,
    also_through_layers,
    api,
    call_all,
    lacking_calls,
    misrouted,
    reached,
    refusal_problems,
    requirement,
    slots,
)

GET = "clIcdGetFunctionAddressForPlatformKHR"
ALWAYS = {"clGetPlatformInfo", "clGetDeviceIDs"}  # without these no platform is offered, or none has objects
MAKERS = {
    "clCreateContext",
    "clCreateCommandQueue",
    "clCreateBuffer",
    "clCreateSampler",
    "clCreateProgramWithSource",
    "clCreateUserEvent",
    "clCreateKernel",
}
DISPATCHED = [function.name for function in api().dispatched()]
# Vendors that together lack every function whose object can be made without it.
LACKING = {
    "all-but-makers": [name for name in DISPATCHED if name not in ALWAYS | MAKERS],
    "makers": sorted(MAKERS - {"clCreateContext", "clCreateProgramWithSource"}),
    "context": ["clCreateContext"],
    "program": ["clCreateProgramWithSource"],
    "devices": ["clGetDeviceIDs"],
}

# Platforms that are offered, and refusals: the loader may ask a platform by the library's own clGetPlatformInfo.
ACCEPTED = {"clGetPlatformInfo": [(3, 1), (2, 0)], "clGetExtensionFunctionAddressForPlatform": [(3, 1)]}


@requirement("DISP-ICD2-011")
@pytest.mark.parametrize("table", ["icd2_table_traps", "icd2_table_holds_tags_only"])
def test_own_table_is_not_called(loader: Loader, sandbox: Sandbox, table: str) -> None:
    """All calls on an ICD 2 vendor's objects go by the loader's table: its own one holds traps or nothing."""
    loader.require("ICD 2")
    sandbox.vendor("a", icd2=True, faults=[table], exact_objects=True, suffix="a")
    sandbox.vendor("b", icd2=True, suffix="b")
    sandbox.vendor("c", suffix="c")
    with loader.start(sandbox) as cl:
        functions = reached(cl)
        all_objects = [Objects(cl, platform) for platform in cl.GetPlatformIDs()]
        assert {objects.owner for objects in all_objects} == {"a", "b", "c"}
        assert not misrouted(sandbox, cl, [(objects, functions) for objects in all_objects])
        for objects in all_objects:  # the one function of an object that the loader answers in part itself
            assert cl.clGetExtensionFunctionAddressForPlatform(objects.platform, f"clSomething{objects.owner}")
        log = sandbox.log
        callers = [event.who for event in log.calls("clGetExtensionFunctionAddressForPlatform") if event.who in "abc"]
        assert callers == [objects.owner for objects in all_objects]
        assert not log.happened("trap")


@requirement("DISP-ICD2-010")
@pytest.mark.parametrize("lacking", LACKING)
def test_missing_function_is_a_stub(loader: Loader, sandbox: Sandbox, lacking: str) -> None:
    """A function that an ICD 2 vendor does not have answers CL_INVALID_OPERATION, or NULL, and does nothing else."""
    loader.require("ICD 2")
    sandbox.vendor("full", icd2=True)
    sandbox.vendor("m", icd2=True, functions={"lacks": LACKING[lacking]})
    with loader.start(sandbox) as cl:
        missing = {f: address for f, address in reached(cl).items() if f.name in LACKING[lacking]}
        vendors = {objects.owner: objects for objects in (Objects(cl, p) for p in cl.GetPlatformIDs())}
        assert not misrouted(sandbox, cl, [(vendors["full"], missing)])
        calls = lacking_calls(cl, vendors["m"], missing)
        assert not [problem for call in calls for problem in refusal_problems(call)]
        assert not {event.name for event in sandbox.log.calls(by="m")} & {f.name for f in missing}


@requirement("DISP-ICD2-010")
@pytest.mark.parametrize("lacking", LACKING)
def test_missing_function_of_the_only_vendor_is_a_stub(loader: Loader, sandbox: Sandbox, lacking: str) -> None:
    """The same of an ICD 2 vendor that is alone, where no other one's data can be taken for its own."""
    loader.require("ICD 2")
    sandbox.vendor("m", icd2=True)
    with loader.start(sandbox) as cl:
        assert not misrouted(sandbox, cl, [(Objects(cl, cl.GetPlatformIDs()[0]), reached(cl))])
    sandbox.vendor("m", icd2=True, functions={"lacks": LACKING[lacking]})
    sandbox.forget_log()
    with loader.start(sandbox) as cl:
        [platform] = cl.GetPlatformIDs()
        missing = {f: address for f, address in reached(cl).items() if f.name in LACKING[lacking]}
        calls = lacking_calls(cl, Objects(cl, platform), missing)
        assert missing and not [problem for call in calls for problem in refusal_problems(call)]
        assert not {event.name for event in sandbox.log.calls(by="m")} & {f.name for f in missing}


@requirement("DISP-ICD2-010")
@pytest.mark.parametrize("lacking", ["clGetExtensionFunctionAddressForPlatform", "clGetPlatformInfo"])
def test_missing_function_of_the_loaders_own_need_refuses_only_its_platform(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None], lacking: str
) -> None:
    """A platform may lack functions that the loader itself needs: it is ignored, or its calls are refused."""
    loader.require("ICD 2")
    sandbox.vendor("a", icd2=True)
    sandbox.vendor("m", icd2=True, functions={"lacks": [f"{lacking} 0"]})
    sandbox.vendor("z")
    with loader.start(sandbox) as cl:
        rest: dict[str, list[object]] = {
            "clGetPlatformInfo": [api().constant("CL_PLATFORM_NAME"), 0, None, None],
            "clGetExtensionFunctionAddressForPlatform": ["clSomethingMOCK"],
        }
        answers = [cl.call(lacking, platform, *rest[lacking]) for platform in cl.GetPlatformIDs()]
        refused = answers.count(CL.INVALID_OPERATION if lacking == "clGetPlatformInfo" else 0)
        assert (len(answers), refused) in ACCEPTED[lacking]
        used = [event.who for event in sandbox.log.calls(lacking) if event.who != "application"]
        assert {"a", "z"} <= set(used)
    record("offered" if refused else "ignored")


@requirement("DISP-ICD2-010", "DISP-ICD2-011", "DISP-ICD2-008")
@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("others", ["", "b"], ids=["alone", "beside another"])
def test_each_platform_of_one_vendor_has_its_own_functions(
    loader: Loader, sandbox: Sandbox, others: str, first: int
) -> None:
    """Each platform of one ICD 2 vendor has its own functions: two platforms that have every other one."""
    loader.require("ICD 2")
    kept = ALWAYS | MAKERS
    lacks = {n: {name for name in DISPATCHED[(n + first) % 2 :: 2] if name not in kept} for n in (0, 1)}
    lacking_slots = [f"{name} {n}" for n, names in lacks.items() for name in names]
    sandbox.vendor("a", icd2=True, platforms=2, functions={"lacks": lacking_slots})
    for name in others:
        sandbox.vendor(name, icd2=True)
    with loader.start(sandbox) as cl:
        functions = reached(cl)
        platforms = {objects.owner: objects for objects in (Objects(cl, p) for p in cl.GetPlatformIDs())}
        assert set(platforms) == {"a.0", "a.1", *others}
        for call in call_all(sandbox, cl, [(objects, functions) for objects in platforms.values()]):
            missing = call.owner != "b" and call.function.name in lacks[int(call.owner[-1])]
            assert call.reached == ([] if missing else [f"{call.owner[0]} ({call.function})"]), call
            if missing and call.function.result_kind == "signed":
                assert call.result == CL.INVALID_OPERATION, call


@requirement("DISP-ICD2-009")
@pytest.mark.parametrize("platforms", [1, 3])
def test_every_function_is_asked_for_by_its_name(loader: Loader, sandbox: Sandbox, platforms: int) -> None:
    """Each function that the loader can call is asked for by its name, and nothing else that has no slot."""
    loader.require("ICD 2")
    sandbox.vendor("a", icd2=True, platforms=platforms)
    with loader.start(sandbox) as cl:
        known = {function.name for function in reached(cl)}
        requests: dict[int, list[str]] = {int(platform): [] for platform in cl.GetPlatformIDs()}
        assert len(requests) == platforms and len(known) > 100
        for event in sandbox.log.calls(GET, by="a"):
            requests[event.arguments[0]].append(event.data["in"]["func_name"])
        for names in requests.values():
            assert len(names) == len(set(names))
            assert known - set(names) == set()
            assert set(names) - set(slots()) == set()


also_through_layers(globals())
