# SPDX-License-Identifier: Apache-2.0
"""Lists that tell the vendor: none, empty, and with NULL in them (DISP-NUL)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.check import (
    CL,
    Buffer,
    CallLog,
    Loader,
    Objects,
    Sandbox,
    Session,
    Value,
    also_through_layers,
    api,
    requirement,
)

CANARY = -0x5A5A5A5B  # 0xA5A5A5A5 as cl_int
MOST = 0xFFFFFFFF

# The number, and the list: "x" is an object, "0" is NULL, "none" is not a list at all, and "" is an address at which
# nothing can be read.
NO_LIST = [(0, "none"), (1, "none"), (3, "none"), (MOST, "none"), (0, "x"), (0, "0"), (0, "xxx"), (0, "")]
NULL_ONLY = [(1, "0"), (3, "000")]
FORWARDED = [(1, "x"), (3, "xxx"), (1, "x0")]
# No text has a loader look at the first element alone: it may refuse NULL in another place itself.
FIRST_IS_NULL = [(2, "0x"), (3, "0xx"), (MOST, "0")]
LATER_IS_NULL = [(2, "x0"), (3, "x0x"), (3, "xx0")]


def vendors(
    loader: Loader, sandbox: Sandbox, behaviour: dict[str, list[str]] | None = None, validates: bool = False
) -> None:
    """The last one has ICD 2 where the loader knows that, and is found last: one loader takes no other place well."""
    sandbox.env["OCL_ICD_PLATFORM_SORT"] = "none"
    kinds = {"a": False, "b": loader.has("ICD 2")}
    mocks = [sandbox.icd(name, functions=behaviour, icd2=icd2, validates=validates) for name, icd2 in kinds.items()]
    sandbox.vendors_in_order([f"{mock}\n" for mock in mocks])


def list_of(cl: Session, shape: str, thing: Value | int) -> Buffer | Value | None:
    """The list; the page after it cannot be read."""
    if shape == "none":
        return None
    room = cl.room()
    return cl.words([thing if letter == "x" else 0 for letter in shape]) if shape else room.at(room.size)


def asked(log: CallLog, name: str) -> list[str]:
    """Which vendors got each of the application's calls of a function."""
    return [" ".join(e.who for e in part.calls(name) if e.who != "application") for part in log.during(name)]


@requirement("DISP-NUL-012")
@pytest.mark.parametrize("with_vendors", [True, False], ids=["vendors", "no-vendor"])
def test_no_events_or_null_to_wait_for_is_refused(loader: Loader, sandbox: Sandbox, with_vendors: bool) -> None:
    """No events are CL_INVALID_VALUE and NULL for all is CL_INVALID_EVENT, with and without vendors.

    Nothing is read of a list that has no elements; a list of events goes to their vendor. Who answers for none, the
    loader or a vendor, no text has.
    """
    if with_vendors:
        vendors(loader, sandbox, validates=True)
    refused = 2 * (len(NO_LIST) + len(NULL_ONLY))
    expected = []
    with loader.start(sandbox) as cl:
        for _ in range(2):  # first thing in a process, and later
            for count, shape in NO_LIST:
                assert cl.clWaitForEvents(count, list_of(cl, shape, 0)) == CL.INVALID_VALUE, f"{count} events, {shape}"
            for count, shape in NULL_ONLY:
                assert cl.clWaitForEvents(count, list_of(cl, shape, 0)) == CL.INVALID_EVENT, f"{count} events, {shape}"
            platforms = cl.GetPlatformIDs()
        for objects in [Objects(cl, platform) for platform in platforms]:
            for count, shape in FORWARDED:
                assert cl.clWaitForEvents(count, list_of(cl, shape, objects.event)) == 0, f"{count} events, {shape}"
            expected += [objects.owner] * len(FORWARDED)
    assert asked(sandbox.log, "clWaitForEvents")[refused:] == expected
    assert len(platforms) == 2 * with_vendors


@requirement("DISP-ARG-010")
def test_first_event_alone_is_looked_at(loader: Loader, sandbox: Sandbox) -> None:
    """NULL for the first event is CL_INVALID_EVENT, whatever follows; a list with an event first goes to its vendor."""
    vendors(loader, sandbox)
    with loader.start(sandbox) as cl:
        owners = [Objects(cl, platform) for platform in cl.GetPlatformIDs()]
        for count, shape in FIRST_IS_NULL:
            assert cl.clWaitForEvents(count, list_of(cl, shape, 1)) == CL.INVALID_EVENT, f"{count} events, {shape}"
        for objects in owners:
            for count, shape in LATER_IS_NULL:
                assert cl.clWaitForEvents(count, list_of(cl, shape, objects.event)) == 0, f"{count} events, {shape}"
    expected = [objects.owner for objects in owners for _ in LATER_IS_NULL]
    assert asked(sandbox.log, "clWaitForEvents") == [""] * len(FIRST_IS_NULL) + expected


def create_context(cl: Session, properties: Any, count: int, devices: Any, with_error: bool) -> tuple[int, int]:
    """The error, or what no error was stored over, and the context."""
    error = cl.buffer(4)
    context = cl.clCreateContext(properties, count, devices, None, None, error if with_error else None)
    return error.code(), int(context)


@requirement("DISP-NUL-013", "DISP-NUL-010")
@pytest.mark.parametrize("with_error", [True, False], ids=["errcode_ret", "no-errcode_ret"])
@pytest.mark.parametrize("with_vendors", [True, False], ids=["vendors", "no-vendor"])
def test_no_devices_or_null_for_a_context_is_refused(
    loader: Loader, sandbox: Sandbox, with_vendors: bool, with_error: bool
) -> None:
    """No devices are CL_INVALID_VALUE and NULL for all is CL_INVALID_DEVICE, with and without vendors.

    Without vendors CL_INVALID_PLATFORM is as right. Nothing is read of a list that has no elements; a list of devices
    goes to their vendor. Whether the loader answers for no devices, or the first platform's vendor, no text has.
    """
    if with_vendors:
        vendors(loader, sandbox, validates=True)
    refused = 4 * (len(NO_LIST) + len(NULL_ONLY))
    owners = []
    properties: list[list[int] | None] = [None, [api().constant("CL_CONTEXT_INTEROP_USER_SYNC"), 1, 0]]
    with loader.start(sandbox) as cl:
        for _ in range(2):
            for given in properties:
                for cases, code in ((NO_LIST, CL.INVALID_VALUE), (NULL_ONLY, CL.INVALID_DEVICE)):
                    errors = [code, *[CL.INVALID_PLATFORM] * (not with_vendors)] if with_error else [CANARY]
                    for count, shape in cases:
                        answer = create_context(cl, given, count, list_of(cl, shape, 0), with_error)
                        assert answer in [(error, 0) for error in errors], f"{count} devices, {shape}"
            platforms = cl.GetPlatformIDs()
        for objects in [Objects(cl, platform) for platform in platforms]:
            for count, shape in FORWARDED:
                error, context = create_context(cl, None, count, list_of(cl, shape, objects.device), with_error)
                assert error == (0 if with_error else CANARY)
                assert context, f"{count} devices, {shape}"
            owners += [objects.owner] * len(FORWARDED)
        first = cl.GetPlatformInfo(platforms[0]) if platforms else ""
    got = asked(sandbox.log, "clCreateContext")
    nobody_or_first, nobody = [["", first]] * len(NO_LIST), [[""]] * len(NULL_ONLY)
    for who, right in zip(got[:refused], 4 * (nobody_or_first + nobody), strict=True):
        assert who in right
    assert got[refused:] == owners
    assert len(platforms) == 2 * with_vendors


@requirement("DISP-ARG-011")
def test_first_device_alone_is_looked_at(loader: Loader, sandbox: Sandbox) -> None:
    """NULL for the first device is CL_INVALID_DEVICE, whatever follows; a device that comes first tells the vendor."""
    vendors(loader, sandbox)
    with loader.start(sandbox) as cl:
        owners = [Objects(cl, platform) for platform in cl.GetPlatformIDs()]
        for count, shape in FIRST_IS_NULL:
            answer = create_context(cl, None, count, list_of(cl, shape, 1), with_error=True)
            assert answer == (CL.INVALID_DEVICE, 0), f"{count} devices, {shape}"
        for objects in owners:
            for count, shape in LATER_IS_NULL:
                error, context = create_context(cl, None, count, list_of(cl, shape, objects.device), with_error=True)
                assert error == 0 and context, f"{count} devices, {shape}"
    expected = [objects.owner for objects in owners for _ in LATER_IS_NULL]
    assert asked(sandbox.log, "clCreateContext") == [""] * len(FIRST_IS_NULL) + expected


@requirement("DISP-NUL-013")
@pytest.mark.parametrize("count, shape, code", [
    *((count, shape, CL.INVALID_VALUE) for count, shape in NO_LIST),
    *((count, shape, CL.INVALID_DEVICE) for count, shape in NULL_ONLY),
], ids=lambda value: f"{value:d}" if isinstance(value, int) else None)  # fmt: skip
def test_no_devices_beside_a_platform_reach_its_vendor_or_are_refused(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None], count: int, shape: str, code: int
) -> None:
    """Without devices a platform among the properties may tell the vendor; else the loader answers as without it."""
    vendors(loader, sandbox, {"silent": ["clCreateContext"]})
    outcomes = []
    with loader.start(sandbox) as cl:
        owners = []
        for platform in cl.GetPlatformIDs():
            owners.append(cl.GetPlatformInfo(platform))
            properties = [api().constant("CL_CONTEXT_PLATFORM"), platform, 0]
            outcomes.append(create_context(cl, properties, count, list_of(cl, shape, 0), with_error=True))
    got = asked(sandbox.log, "clCreateContext")
    if got == owners:
        assert [error for error, _ in outcomes] == [CANARY, CANARY], "the loader wrote an answer of its own"
        record("the vendor answers")
    else:
        assert (got, outcomes) == (["", ""], [(code, 0)] * 2)
        record("the loader answers")


# --- a property list in place of an object ---

NO_PLATFORM: dict[str, list[int] | None] = {"none": None, "empty": [0], "NULL": [CL.CONTEXT_PLATFORM, 0, 0]}


def from_type(cl: Session, properties: Any, with_error: bool) -> tuple[int, int]:
    error = cl.buffer(4)
    context = cl.clCreateContextFromType(properties, MOST, None, None, error if with_error else None)
    return error.code(), int(context)


def gl_info(cl: Session, address: Value, properties: Any) -> int:
    return cl.call_at(address, "clGetGLContextInfoKHR", properties, CL.CURRENT_DEVICE_FOR_GL_CONTEXT_KHR, 0, None, None)


@requirement("DISP-CTX-010", "DISP-NUL-010")
@pytest.mark.parametrize("properties", NO_PLATFORM)
def test_list_without_a_platform_and_without_vendors_is_invalid_platform(
    loader: Loader, sandbox: Sandbox, properties: str
) -> None:
    """Where there is no platform at all, a property list without one is CL_INVALID_PLATFORM."""
    with loader.start(sandbox) as cl:
        for _ in range(2):
            assert from_type(cl, NO_PLATFORM[properties], with_error=True) == (CL.INVALID_PLATFORM, 0)
            assert from_type(cl, NO_PLATFORM[properties], with_error=False) == (CANARY, 0)
            assert cl.GetPlatformIDs() == []


@requirement("DISP-ORD-004", "DISP-NUL-010")
@pytest.mark.parametrize("properties", NO_PLATFORM)
def test_list_without_a_platform_for_a_type_is_refused_or_the_first_platforms(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None], properties: str
) -> None:
    """A property list without a platform is CL_INVALID_PLATFORM, or stands for the first platform, each time."""
    vendors(loader, sandbox, {"silent": ["clCreateContextFromType", "clGetGLContextInfoKHR"]})
    with loader.start(sandbox) as cl:
        answers = [from_type(cl, NO_PLATFORM[properties], with_error=with_error) for with_error in (True, False, True)]
        first = cl.GetPlatformInfo(cl.GetPlatformIDs()[0])
        address = cl.GetExtensionFunctionAddress("clGetGLContextInfoKHR")
        info = gl_info(cl, address, NO_PLATFORM[properties]) if address else None
    log = sandbox.log
    got = asked(log, "clCreateContextFromType")
    if any(got):
        assert got == [first] * 3
        assert [error for error, _ in answers] == [CANARY] * 3
    else:
        assert answers == [(CL.INVALID_PLATFORM, 0), (CANARY, 0), (CL.INVALID_PLATFORM, 0)]
    if info is not None:
        asked_for_info = asked(log, "clGetGLContextInfoKHR")
        assert asked_for_info in ([""], [first])
        assert (info == CL.INVALID_PLATFORM) == (asked_for_info == [""])
    record("the first platform's" if any(got) else "refused")


also_through_layers(globals())
