# SPDX-License-Identifier: Apache-2.0
"""Dispatch tables of every length: those of older vendors, longer ones than the loader knows, and empty entries."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import pytest

from harness.check import (
    CL,
    AbnormalExit,
    Crashed,
    Loader,
    Objects,
    Sandbox,
    Value,
    also_through_layers,
    api,
    call_all,
    lacking_calls,
    misrouted,
    reached,
    refusal_problems,
    requirement,
    slots,
    with_slots,
)

# Where the table ended once: the first slot after it, for each block of functions that was appended (HDR cl_icd.h).
ENDS = {
    "1.0": 66,
    "1.0-gl": 75,
    "d3d10": 81,
    "1.1": 89,
    "device-fission": 92,
    "gl-event": 93,
    "1.2": 109,
    "d3d11-dx9": 119,
    "egl-image": 122,
    "egl-event": 123,
    "2.0": 136,
    "subgroups": 137,
    "2.1": 144,
    "2.2": 146,
    "3.0": 149,
    "3.1": 150,
}
UNUSED = ("clGetPlatformIDs", "clUnloadCompiler", "clGetExtensionFunctionAddress")
EXTENSION_SLOTS = [
    name for name, slot in slots().items() if slot.empty_slot == "CL_INVALID_OPERATION" and name in api().functions
]


class OldObjects(Objects):
    """Objects of a platform that has the functions of OpenCL 1.0 only: its events come from commands."""

    def _make(self, handle: str) -> Value:
        if handle != "cl_event":
            return super()._make(handle)
        room = self.session.room(1, 0)
        assert self.session.clEnqueueMarker(self.queue, room) == CL.SUCCESS
        return room.handle()


@requirement("DISP-TAB-001", "DISP-TAB-002", "DISP-TAB-003", "DISP-TAB-004", "DISP-TAB-005", "DISP-OBJ-010")
def test_tables_of_all_lengths_work_to_their_end(loader: Loader, sandbox: Sandbox) -> None:
    """Every function of a vendor's table works, wherever that ends: after it is memory that nobody can read.

    Each vendor is asked for the functions that came last; the oldest and the newest one for all that they have.
    """
    for end in ENDS.values():
        sandbox.vendor(f"v{end:03}", table=end, version="OpenCL 1.0 old")
    with loader.start(sandbox) as cl:
        functions = reached(cl)
        vendors = {objects.owner: objects for objects in (OldObjects(cl, p) for p in cl.GetPlatformIDs())}
        assert len(vendors) == len(ENDS)
        expected = []
        start = 0
        for block, end in ENDS.items():
            slots_of_block = range(0 if block in ("1.0", "3.1") else start, end)
            expected.append((vendors[f"v{end:03}"], with_slots(functions, slots_of_block)))
            start = end
        assert not misrouted(sandbox, cl, expected)


@requirement("DISP-TAB-010", "DISP-TAB-002")
@pytest.mark.parametrize("icd2", [False, True], ids=["icd1", "icd2"])
@pytest.mark.parametrize("more", [1, 400])
def test_vendor_table_that_is_longer_works(loader: Loader, sandbox: Sandbox, more: int, icd2: bool) -> None:
    """A vendor's table may be longer than the loader's: nobody calls what is past the end, and the rest works."""
    if icd2:
        loader.require("ICD 2")
    sandbox.vendor("a", table=len(api().slots) + more, icd2=icd2)
    sandbox.vendor("b", icd2=icd2)
    with loader.start(sandbox) as cl:
        last = with_slots(reached(cl), [1, 2, *range(120, len(api().slots))])
        all_objects = [Objects(cl, platform) for platform in cl.GetPlatformIDs()]
        assert {objects.owner for objects in all_objects} == {"a", "b"}
        assert not misrouted(sandbox, cl, [(objects, last) for objects in all_objects])
        assert not sandbox.log.happened("trap")


@requirement("DISP-TAB-009")
@pytest.mark.parametrize("icd2", [False, True], ids=["icd1", "icd2"])
def test_slots_of_the_loaders_own_functions_are_not_called(loader: Loader, sandbox: Sandbox, icd2: bool) -> None:
    """The loader answers clGetPlatformIDs and clUnloadCompiler itself, and asks the library for addresses."""
    sandbox.vendor("a", faults=["unused_slots_trap"], suffix="A", icd2=icd2 and loader.has("ICD 2"))
    sandbox.vendor("b", faults=["unused_slots_trap"], suffix="B", icd2=icd2 and loader.has("ICD 2"))
    with loader.start(sandbox) as cl:
        assert cl.used_platforms() == {"a", "b"}
        assert cl.clUnloadCompiler() == CL.SUCCESS
        assert [cl.vendor_function(f"clSomething{suffix}") for suffix in "AB"] == ["a", "b"]
        assert not cl.GetExtensionFunctionAddress("clNothing")
        for platform in cl.GetPlatformIDs():
            suffix = cl.GetPlatformInfo(platform, "CL_PLATFORM_ICD_SUFFIX_KHR")
            cl.clUnloadPlatformCompiler(platform)
            assert cl.clGetExtensionFunctionAddressForPlatform(platform, f"clSomething{suffix}")
        cl.clUnloadCompiler()
        assert not sandbox.log.happened("trap")


@requirement("DISP-EXT-019")
@pytest.mark.parametrize("icd2", [False, True], ids=["icd1", "icd2"])
def test_empty_extension_entry_is_invalid_operation(loader: Loader, sandbox: Sandbox, icd2: bool) -> None:
    """A vendor may lack functions of extensions: the call answers CL_INVALID_OPERATION, and writes nothing else."""
    if icd2:
        loader.require("ICD 2")
    sandbox.vendor("full", icd2=icd2)
    sandbox.vendor("m", icd2=icd2, functions={"lacks": EXTENSION_SLOTS})
    with loader.start(sandbox) as cl:
        functions = with_slots(reached(cl), [slots()[name].number for name in EXTENSION_SLOTS])
        vendors = {objects.owner: objects for objects in (Objects(cl, p) for p in cl.GetPlatformIDs())}
        assert not misrouted(sandbox, cl, [(vendors["full"], functions)])
        calls = lacking_calls(cl, vendors["m"], functions)
        assert not [problem for call in calls for problem in refusal_problems(call)]
        assert not {event.name for event in sandbox.log.calls(by="m")} & {f.name for f in functions}


@requirement("DISP-TAB-007")
@pytest.mark.parametrize("function", ["clFinish", "clCreateUserEvent", "clSVMAlloc"])
def test_empty_core_entry_harms_no_other_vendor(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None], function: str
) -> None:
    """What a call does whose function of the core is not in the vendor's table is undefined; it is nobody else's.

    A loader that was built with a sanitizer ends with a report, and not with the signal.
    """
    sandbox.vendor("a", functions={"lacks": [function]})
    sandbox.vendor("b")
    with contextlib.suppress(Crashed, AbnormalExit), loader.start(sandbox) as cl:
        vendors = {objects.owner: objects for objects in (Objects(cl, p) for p in cl.GetPlatformIDs())}
        functions = with_slots(reached(cl), [slots()[function].number])
        assert not misrouted(sandbox, cl, [(vendors["b"], functions)])
        record("crashes")
        (call,) = call_all(sandbox, cl, [(vendors["a"], functions)])
        record(f"answers {int(call.result)}")
    assert sandbox.log.calls(by="b").functions().count(function) == 1


also_through_layers(globals())
