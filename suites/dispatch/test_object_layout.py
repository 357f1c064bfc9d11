# SPDX-License-Identifier: Apache-2.0
"""What a loader touches of objects: the words that they have, in calls, and nothing at all after their release."""

from __future__ import annotations

import pytest

from harness.check import (
    CL,
    CommandError,
    Loader,
    Objects,
    Sandbox,
    Session,
    Unsupported,
    Value,
    api,
    misrouted,
    reached,
    requirement,
)

# Class: the functions that take and drop a reference. Devices that are not sub-devices have no references.
RELEASED = {
    "cl_context": ("clRetainContext", "clReleaseContext"),
    "cl_command_queue": ("clRetainCommandQueue", "clReleaseCommandQueue"),
    "cl_mem": ("clRetainMemObject", "clReleaseMemObject"),
    "cl_sampler": ("clRetainSampler", "clReleaseSampler"),
    "cl_program": ("clRetainProgram", "clReleaseProgram"),
    "cl_kernel": ("clRetainKernel", "clReleaseKernel"),
    "cl_event": ("clRetainEvent", "clReleaseEvent"),
}
DEVICE = {"core": ("clRetainDevice", "clReleaseDevice"), "extension": ("clRetainDeviceEXT", "clReleaseDeviceEXT")}


@requirement("DISP-OBJ-008", "DISP-OBJ-009", "DISP-OBJ-010")
@pytest.mark.parametrize("other", [1, 2], ids=["beside-icd1", "beside-icd2"])
@pytest.mark.parametrize("words", [1, 2], ids=["one-word", "two-words"])
def test_objects_end_after_their_words(loader: Loader, sandbox: Sandbox, words: int, other: int) -> None:
    """An object is one word, with ICD 2 two: whoever reads more, or writes to a table, crashes, in any function."""
    if 2 in (words, other):
        loader.require("ICD 2")
    sandbox.vendor("exact", icd2=words == 2, exact_objects=True, platforms=2)
    sandbox.vendor("roomy", icd2=other == 2)
    with loader.start(sandbox) as cl:
        functions = reached(cl)
        all_objects = [Objects(cl, platform) for platform in cl.GetPlatformIDs()]
        assert {objects.owner for objects in all_objects} == {"exact.0", "exact.1", "roomy"}
        tested = [o for o in all_objects if o.owner != "exact.0"]
        assert not misrouted(sandbox, cl, [(objects, functions) for objects in tested])


@requirement("DISP-OBJ-007")
@pytest.mark.parametrize("icd2", [False, True], ids=["icd1", "icd2"])
def test_function_comes_from_the_table_of_the_object(loader: Loader, sandbox: Sandbox, icd2: bool) -> None:
    """The function is taken from the table of the very object of the call: classes of objects have different tables."""
    if icd2:
        loader.require("ICD 2")
    sandbox.vendor("a", icd2=icd2, table_per_class=True, exact_objects=True)
    sandbox.vendor("b", icd2=icd2)
    with loader.start(sandbox) as cl:
        functions = reached(cl)
        all_objects = [Objects(cl, platform) for platform in cl.GetPlatformIDs()]
        assert {objects.owner for objects in all_objects} == {"a", "b"}
        assert not misrouted(sandbox, cl, [(objects, functions) for objects in all_objects])


def readable(cl: Session, handle: Value) -> bool:
    """Whether the object's first word can be read in the process."""
    try:
        return len(cl.bytes_at(handle, api().address)) == api().address
    except CommandError:
        return False


@requirement("DISP-OBJ-009")
@pytest.mark.parametrize("icd2", [False, True], ids=["icd1", "icd2"])
def test_nothing_is_touched_after_release(loader: Loader, sandbox: Sandbox, icd2: bool) -> None:
    """The last release of an object may take its memory away: the loader does not look at it any more."""
    if icd2:
        loader.require("ICD 2")
    sandbox.vendor("a", icd2=icd2, exact_objects=True)
    sandbox.vendor("b")
    with loader.start(sandbox) as cl:
        objects = next(o for o in (Objects(cl, p) for p in cl.GetPlatformIDs()) if o.owner == "a")
        items = [(objects[kind], *functions) for kind, functions in RELEASED.items()]
        assert len(items) == len(RELEASED)
        for handle, retain, release in reversed(items):
            assert (cl.call(retain, handle), cl.call(release, handle)) == (0, 0)
            assert readable(cl, handle)
            assert cl.call(release, handle) == CL.SUCCESS
            assert not readable(cl, handle)
        assert cl.GetPlatformInfo(objects.platform) == "a"
        assert not sandbox.log.happened("bad reference")


@requirement("DISP-OBJ-009")
@pytest.mark.parametrize("way", DEVICE)
@pytest.mark.parametrize("icd2", [False, True], ids=["icd1", "icd2"])
def test_no_sub_device_is_touched_after_release(loader: Loader, sandbox: Sandbox, icd2: bool, way: str) -> None:
    """The same for devices: sub-devices have references, by the core and by cl_ext_device_fission."""
    if icd2:
        loader.require("ICD 2")
    retain, release = DEVICE[way]
    sandbox.vendor("a", icd2=icd2, exact_objects=True, validates=False)
    with loader.start(sandbox) as cl:
        (platform,) = cl.GetPlatformIDs()
        objects = Objects(cl, platform)
        parts = cl.room(2, 0)
        partition = [api().constant("CL_DEVICE_PARTITION_EQUALLY"), 1, 0]
        assert cl.clCreateSubDevices(objects.device, partition, 2, parts, None) == 0
        call = {f.name: address for f, address in reached(cl).items()}
        if missing := {retain, release} - call.keys():
            raise Unsupported("loader", f"this loader does not know {' and '.join(sorted(missing))}")
        for handle in parts.handles():
            for name in (retain, release):
                cl.call_later(name, handle, address=call[name])
            assert readable(cl, handle)
            cl.call_later(release, handle, address=call[release])
            assert not readable(cl, handle)
        released = sandbox.log.returns(release, by="application")
        assert [event.result for event in released] == [0] * 4
        assert len(sandbox.log.calls(release, by="a")) == 4
        assert not sandbox.log.happened("bad reference")
