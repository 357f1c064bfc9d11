# SPDX-License-Identifier: Apache-2.0
"""Contexts of a vendor's ICD with what is another vendor's (DISP-CTX)."""

from __future__ import annotations

import pytest

from harness.check import CL, ENUMERATE, Icd, IcdObjects, IcdSession, MockIcd, Sandbox, Value, api, requirement

PLATFORM = api().constant("CL_CONTEXT_PLATFORM")


def own_function(objects: IcdObjects, function: str) -> Value:
    """The vendor's own function, which a loader calls as the platform in the list says."""
    assert isinstance(objects.session, IcdSession)
    return objects.session.entry(objects.platform, function)


def foreign(objects: IcdObjects, vendor: MockIcd) -> tuple[Value, Value]:
    """A platform and a device of another vendor, whose library is in the same process."""
    session = objects.session
    listed = session.buffer(8, 0)
    address = session.library_symbol(vendor.path, ENUMERATE)
    assert session.call_at(address, ENUMERATE, 1, listed, None) == 0
    platform = listed.handle()
    return platform, session.GetDeviceIDs(platform)[0]


@requirement("DISP-CTX-013")
@pytest.mark.parametrize("which", ["alone", "before", "after"])
def test_context_of_another_vendors_device_is_invalid_device(icd: Icd, sandbox: Sandbox, which: str) -> None:
    """A context with a device of another vendor, alone or beside an own one, is refused with CL_INVALID_DEVICE."""
    vendor = sandbox.icd("other")

    def check(objects: IcdObjects) -> None:
        strange, own = foreign(objects, vendor)[1], objects.device
        devices = {"alone": [strange], "before": [strange, own], "after": [own, strange]}[which]
        error, handle = objects.session.CreateContext([PLATFORM, objects.platform, 0], [own])
        assert (error, bool(handle)) == (0, True)
        address, code = own_function(objects, "clCreateContext"), objects.session.buffer(4)
        context = objects.session.call_at(
            address, "clCreateContext", [PLATFORM, objects.platform, 0], len(devices), devices, None, None, code
        )
        assert (code.code(), context) == (CL.INVALID_DEVICE, 0)

    with icd.attempts(sandbox) as attempts:
        attempts.check(f"a device of another vendor, {which}", check)


@requirement("DISP-CTX-013")
@pytest.mark.parametrize("function", ["clCreateContext", "clCreateContextFromType"])
def test_context_with_another_vendors_platform_is_invalid_platform(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """A context with another vendor's platform in its list is refused with CL_INVALID_PLATFORM."""
    vendor = sandbox.icd("other")

    def check(objects: IcdObjects) -> None:
        session, code = objects.session, objects.session.buffer(4)
        about = [1, [objects.device]] if function == "clCreateContext" else [api().constant("CL_DEVICE_TYPE_ALL")]
        address = own_function(objects, function)
        context = session.call_at(
            address, function, [PLATFORM, foreign(objects, vendor)[0], 0], *about, None, None, code
        )
        objects.require_device(code.code())
        assert (code.code(), context) == (CL.INVALID_PLATFORM, 0)

    with icd.attempts(sandbox) as attempts:
        attempts.check("the platform of another vendor", check)
