# SPDX-License-Identifier: Apache-2.0
"""Functions that no object tells the vendor of, and those that are between loader and vendor only (DISP-NOA)."""

from __future__ import annotations

import pytest

from harness.check import CL, Loader, Objects, Sandbox, also_through_layers, requirement

ORDERS = ["ab", "ba"]


def vendors(loader: Loader, sandbox: Sandbox, order: str, variant: str = "icd") -> None:
    """The last one has ICD 2 where the loader knows that, and is found last: one loader takes no other place well."""
    sandbox.env["OCL_ICD_PLATFORM_SORT"] = "none"
    mocks = []
    for name in order:
        last = name == order[-1]
        icd2 = last and loader.has("ICD 2")
        mocks.append(sandbox.icd(name, suffix=name.upper(), platforms=1 if last else 2, variant=variant, icd2=icd2))
    sandbox.vendors_in_order([f"{mock}\n" for mock in mocks])


@requirement("DISP-NOA-001")
@pytest.mark.parametrize("order", ["", *ORDERS])
def test_unload_compiler_is_success_and_reaches_no_vendor(loader: Loader, sandbox: Sandbox, order: str) -> None:
    """clUnloadCompiler is CL_SUCCESS and reaches no vendor, first thing in a process and later; its successor does."""
    if order:
        vendors(loader, sandbox, order)
    with loader.start(sandbox) as cl:
        assert [cl.clUnloadCompiler() for _ in range(2)] == [0, 0]
        owners = [Objects(cl, platform) for platform in cl.GetPlatformIDs()]
        for objects in owners:
            assert cl.clFlush(objects.queue) == CL.SUCCESS
            assert cl.clUnloadCompiler() == CL.SUCCESS
            if int(cl.command("symbol clUnloadPlatformCompiler"), 16):  # new in OpenCL 1.2
                assert cl.clUnloadPlatformCompiler(objects.platform) == CL.SUCCESS
    log = sandbox.log
    assert len(owners) == (3 if order else 0)
    assert not [event for event in log.calls("clUnloadCompiler") if event.who != "application"]
    assert all(log_of_call.components() == ["application"] for log_of_call in log.during("clUnloadCompiler")[1:])
    reached = [part.components() for part in log.during("clUnloadPlatformCompiler")]
    assert reached in ([], [["application", objects.owner.split(".")[0]] for objects in owners])


@requirement("DISP-NOA-001", "DISP-NUL-018")
def test_unload_compiler_passes_every_layer(loader: Loader, sandbox: Sandbox) -> None:
    """clUnloadCompiler passes every layer, and ends in the loader with CL_SUCCESS."""
    loader.require("OPENCL_LAYERS")
    vendors(loader, sandbox, "ab")
    sandbox.env["OPENCL_LAYERS"] = ":".join(str(sandbox.layer(name)) for name in ("inner", "outer"))
    with loader.start(sandbox) as cl:
        assert len(cl.GetPlatformIDs()) == 3
        assert cl.clUnloadCompiler() == CL.SUCCESS
    assert [event.who for event in sandbox.log.calls("clUnloadCompiler")] == ["application", "outer", "inner"]


@requirement("DISP-NOA-002")
@pytest.mark.parametrize("variant", ["icd", "icd_exports_all"])
@pytest.mark.parametrize("order", ORDERS)
def test_platforms_are_the_loaders_list(loader: Loader, sandbox: Sandbox, order: str, variant: str) -> None:
    """clGetPlatformIDs of a vendor, in its table and exported, is never called; its function for the loader is."""
    vendors(loader, sandbox, order, variant)
    with loader.start(sandbox) as cl:
        names = {f"{order[0]}.0", f"{order[0]}.1", order[1]}
        assert cl.used_platforms() == names
        assert cl.platform_names() == names
    log = sandbox.log
    assert {event.who for event in log.calls("clGetPlatformIDs")} == {"application"}
    assert {event.who for event in log.calls("clIcdGetPlatformIDsKHR")} == {"a", "b"}


@requirement("DISP-NOA-003")
@pytest.mark.parametrize("order", ORDERS)
def test_address_query_asks_the_vendor_of_the_suffix_only(loader: Loader, sandbox: Sandbox, order: str) -> None:
    """clGetExtensionFunctionAddress asks the vendor whose suffix ends the name, and no other; its answer comes back."""
    vendors(loader, sandbox, order)
    names = ["clThingA", "clThingB", "clThingC", "clOtherB", "clOtherA"]
    with loader.start(sandbox) as cl:
        cl.GetPlatformIDs()
        assert [cl.vendor_function(name) for name in names] == ["a", "b", None, "b", "a"]
    callers = [[event.who for event in part.calls() if event.who != "application"]
             for part in sandbox.log.during("clGetExtensionFunctionAddress")]  # fmt: skip
    assert [one for one in callers if one] == [["a"], ["b"], ["b"], ["a"]]


@requirement("DISP-NOA-004")
def test_functions_for_the_loader_are_not_exported(loader: Loader, sandbox: Sandbox) -> None:
    """What a vendor has for the loader only is not a function of the loader: no symbol is named so."""
    with loader.start(sandbox) as cl:
        exports = {name for name, _, _ in cl.exports()}
        assert int(cl.command("symbol clGetPlatformIDs"), 16)
        for name in (
            "clIcdGetPlatformIDsKHR",
            "clIcdGetFunctionAddressForPlatformKHR",
            "clIcdSetPlatformDispatchDataKHR",
        ):
            assert not int(cl.command(f"symbol {name}"), 16), f"the loader exports {name}"
    assert "clGetPlatformIDs" in exports
    assert not [name for name in exports if name.startswith("clIcd")]


also_through_layers(globals(), leaving_out=["test_unload_compiler_passes_every_layer"])
