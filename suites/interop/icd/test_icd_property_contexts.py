# SPDX-License-Identifier: Apache-2.0
"""Contexts of a vendor's ICD: properties, devices and callbacks that they are made with (PL-CTX)."""

from __future__ import annotations

import pytest

from harness.check import (
    CL,
    CONTEXT,
    CONTEXTS,
    Buffer,
    Callback,
    Creator,
    Icd,
    IcdSession,
    Parts,
    Sandbox,
    Unsupported,
    Value,
    api,
    creators_of,
    list_of,
    requirement,
    shown,
)

NUM_DEVICES = api().constant("CL_CONTEXT_NUM_DEVICES")
DEVICES = api().constant("CL_CONTEXT_DEVICES")


@requirement("PL-CTX-002")
@pytest.mark.parametrize("function", CONTEXTS)
@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
def test_platform_of_another_vendor_is_invalid_platform(
    icd: Icd, sandbox: Sandbox, function: str, before: bool
) -> None:
    """A platform that is none of the ICD's is refused with CL_INVALID_PLATFORM.

    It is an object as any vendor has them, with a dispatch table; here it comes before and after other properties.
    """
    with icd.open(sandbox) as session:
        for creator in creators_of(session, function):
            others = [pair for pair in creator.pairs() if pair[0] != CL.CONTEXT_PLATFORM]
            creator.expect_created([*others, (CL.CONTEXT_PLATFORM, creator.platform)])
            foreign = session.words([session.table(creator.platform), *[0] * 511])
            words = list_of((CL.CONTEXT_PLATFORM, 0), *others) if before else list_of(*others, (CL.CONTEXT_PLATFORM, 0))
            words[words.index(CL.CONTEXT_PLATFORM) + 1] = foreign.at(0)
            creator.expect_refused(words, CL.INVALID_PLATFORM)


@requirement("PL-CTX-008")
@pytest.mark.parametrize("function", CONTEXTS)
def test_null_as_platform_is_invalid_platform(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """NULL as the value of CL_CONTEXT_PLATFORM is refused with CL_INVALID_PLATFORM, before and after others."""
    with icd.open(sandbox) as session, Parts() as parts:
        for creator in creators_of(session, function):
            others = [pair for pair in creator.pairs() if pair[0] != CL.CONTEXT_PLATFORM]
            creator.expect_created([*others, (CL.CONTEXT_PLATFORM, creator.platform)])
            null = (CL.CONTEXT_PLATFORM, 0)
            for pairs in ([null, *others], [*others, null]) if others else ([null],):
                with parts(shown(pairs)):
                    creator.expect_refused(pairs, CL.INVALID_PLATFORM)


@requirement("PL-CTX-003")
@pytest.mark.parametrize("function", CONTEXTS)
def test_user_data_without_callback_is_invalid_value(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """user_data without pfn_notify is CL_INVALID_VALUE; neither, and pfn_notify alone, are fine."""
    with icd.open(sandbox) as session:
        for creator in creators_of(session, function):
            words = list_of((CL.CONTEXT_PLATFORM, creator.platform))
            arguments = list(creator.about.arguments(creator.objects, words))
            creator.expect_created(words)
            code = session.buffer(4)
            handle = session.call(function, *arguments[:-1], session.buffer(8), code)
            assert (code.code(), handle) == (CL.INVALID_VALUE, 0)
            for user_data in (None, session.buffer(8)):
                callback = Callback(f"{function}.pfn_notify")
                handle = session.call(function, *arguments[:-2], callback, user_data, code)
                assert code.code() == CL.SUCCESS
                assert handle


def devices_of(creator: Creator, context: Value) -> list[int]:
    size = creator.session.buffer(8, 0)
    creator.session.call("clGetContextInfo", context, DEVICES, 0, None, size)
    devices = creator.session.buffer(size.u64(), 0)
    creator.session.call("clGetContextInfo", context, DEVICES, size.u64(), devices, None)
    return [int(device) for device in devices.handles()]


def context_of(creator: Creator, devices: list[Value]) -> tuple[Buffer, Value]:
    """The error, as it is stored, and a context of these devices."""
    session, code = creator.session, creator.session.buffer(4)
    words = list_of((CL.CONTEXT_PLATFORM, creator.platform))
    handle = session.call(CONTEXT, words, len(devices), devices, None, None, code)
    assert isinstance(handle, Value)
    return code, handle


@requirement("PL-CTX-004")
@pytest.mark.parametrize("times", [2, 5])
def test_device_given_several_times_is_the_contexts_once(icd: Icd, sandbox: Sandbox, times: int) -> None:
    """A device that is in the list of devices more than once is the context's once."""
    with icd.open(sandbox) as session:
        for creator in creators_of(session, CONTEXT):
            objects = creator.objects
            given = [objects.device] * times
            code, handle = context_of(creator, given)
            assert code.code() == CL.SUCCESS
            assert devices_of(creator, handle) == [objects.device]
            if creator.version >= (1, 1):
                assert creator.number(handle, NUM_DEVICES, 4) == 1


@requirement("PL-CTX-004")
def test_all_devices_given_twice_are_the_contexts_once(icd: Icd, sandbox: Sandbox) -> None:
    """The same with all devices of the platform, one after the other and twice over."""
    with icd.open(sandbox) as session:
        for creator in creators_of(session, CONTEXT):
            devices = session.GetDeviceIDs(creator.platform)
            if not context_of(creator, devices)[1]:
                raise Unsupported("loader", "this platform makes no context of all its devices", "precondition")
            for given in (devices + devices, [device for device in devices for _ in range(2)]):
                code, handle = context_of(creator, given)
                assert code.code() == CL.SUCCESS
                result = devices_of(creator, handle)
                assert sorted(result) == sorted(int(device) for device in devices)


def user_sync(creator: Creator) -> None:
    if creator.version < (1, 2):
        raise Unsupported("loader", "CL_CONTEXT_INTEROP_USER_SYNC came with OpenCL 1.2", "OpenCL 1.2")


@requirement("PL-CTX-005")
@pytest.mark.parametrize("function", CONTEXTS)
def test_user_sync_is_true_or_false_and_nothing_else(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """CL_CONTEXT_INTEROP_USER_SYNC is CL_TRUE or CL_FALSE and nothing else, before and after the platform."""
    with icd.open(sandbox) as session, Parts() as parts:
        for creator in creators_of(session, function, user_sync):
            platform = (CL.CONTEXT_PLATFORM, creator.platform)
            for value, error in (
                (0, CL.SUCCESS),
                (1, CL.SUCCESS),
                (2, CL.INVALID_PROPERTY),
                (0xFFFF_FFFF, CL.INVALID_PROPERTY),
            ):
                for pairs in (
                    [platform, (CL.CONTEXT_INTEROP_USER_SYNC, value)],
                    [(CL.CONTEXT_INTEROP_USER_SYNC, value), platform],
                ):
                    with parts(shown(pairs)):
                        assert creator.create(pairs)[0] == error


def knows_termination(session: IcdSession, device: Value) -> bool:
    """Whether a device has cl_khr_terminate_context."""
    size = session.buffer(8, 0)
    session.call("clGetDeviceInfo", device, CL.DEVICE_EXTENSIONS, 0, None, size)
    text = session.buffer(max(size.u64(), 1), 0)
    session.call("clGetDeviceInfo", device, CL.DEVICE_EXTENSIONS, text.size, text, None)
    return "cl_khr_terminate_context" in text.text().split()


def can_terminate(session: IcdSession, device: Value) -> bool:
    """Whether contexts of a device can be terminated."""
    capability = session.buffer(8, 0)
    error = session.call("clGetDeviceInfo", device, CL.DEVICE_TERMINATE_CAPABILITY_KHR, 8, capability, None)
    return error == 0 and bool(capability.u64() & 1)


@requirement("PL-CTX-007")
@pytest.mark.parametrize("function", CONTEXTS)
def test_terminate_is_invalid_property_unless_every_device_can(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """CL_CONTEXT_TERMINATE_KHR is CL_INVALID_PROPERTY unless every device of the context can do that.

    Without cl_khr_terminate_context that is the error for its name, which was CL_INVALID_VALUE in OpenCL 1.0. Of all
    devices of a type, those that cannot may be left out.
    """
    with icd.open(sandbox) as session:
        for creator in creators_of(session, function):
            by_type = function == "clCreateContextFromType"
            devices = session.GetDeviceIDs(creator.platform) if by_type else [creator.objects.device]
            known = [knows_termination(session, device) for device in devices]
            able = [knows and can_terminate(session, device) for knows, device in zip(known, devices, strict=True)]
            if all(able):
                creator.require_heeded((CL.CONTEXT_TERMINATE_KHR, 0))
            error, _ = creator.create([(CL.CONTEXT_PLATFORM, creator.platform), (CL.CONTEXT_TERMINATE_KHR, 1)])
            if by_type and any(known) and not all(able):
                assert error in (creator.refusal, CL.DEVICE_NOT_FOUND, *[CL.SUCCESS] * any(able))
            else:
                assert error == (CL.SUCCESS if all(able) else creator.refusal)
