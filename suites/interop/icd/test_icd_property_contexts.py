"""Contexts of a vendor's ICD: properties, devices and callbacks that they are made with (PL-CTX)."""

from __future__ import annotations

import pytest

from harness.check import (
    CL,
    CONTEXT,
    CONTEXTS,
    Callback,
    Icd,
    Lists,
    Sandbox,
    Unsupported,
    Value,
    api,
    listed,
    lists_of,
    requirement,
)

NUM_DEVICES = api().constant("CL_CONTEXT_NUM_DEVICES")
DEVICES = api().constant("CL_CONTEXT_DEVICES")


@requirement("PL-CTX-002", "PL-GEN-015")
@pytest.mark.parametrize("function", CONTEXTS)
@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
def test_platform_of_another_vendor_is_invalid_platform(
    icd: Icd, sandbox: Sandbox, function: str, before: bool
) -> None:
    """A platform that is none of the ICD's is refused with CL_INVALID_PLATFORM.

    It is an object as any vendor has them, with a dispatch table; here it comes before and behind other properties.
    """
    with icd.open(sandbox) as session:
        for lists in lists_of(session, function):
            others = [pair for pair in lists.pairs() if pair[0] != CL.CONTEXT_PLATFORM]
            assert lists.create(listed(*others, (CL.CONTEXT_PLATFORM, lists.platform)))[0] == 0
            foreign = session.words([session.table(lists.platform), *[0] * 511])
            words = listed((CL.CONTEXT_PLATFORM, 0), *others) if before else listed(*others, (CL.CONTEXT_PLATFORM, 0))
            words[words.index(CL.CONTEXT_PLATFORM) + 1] = foreign.at(0)
            assert lists.create(words) == (CL.INVALID_PLATFORM, 0)


@requirement("PL-CTX-003")
@pytest.mark.parametrize("function", CONTEXTS)
def test_user_data_without_callback_is_invalid_value(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """user_data without pfn_notify is CL_INVALID_VALUE; neither, and pfn_notify alone, are fine."""
    with icd.open(sandbox) as session:
        for lists in lists_of(session, function):
            words = listed((CL.CONTEXT_PLATFORM, lists.platform))
            arguments = list(lists.creator.arguments(lists.objects, words))
            assert lists.create(words)[0] == 0
            code = session.buffer(4)
            made = session.call(function, *arguments[:-1], session.buffer(8), code)
            assert (code.code(), made) == (CL.INVALID_VALUE, 0)
            for user_data in (None, session.buffer(8)):
                callback = Callback(f"{function}.pfn_notify")
                made = session.call(function, *arguments[:-2], callback, user_data, code)
                assert code.code() == CL.SUCCESS
                assert made


def devices_of(lists: Lists, context: Value) -> list[int]:
    size = lists.session.buffer(8, 0)
    lists.session.call("clGetContextInfo", context, DEVICES, 0, None, size)
    devices = lists.session.buffer(size.u64(), 0)
    lists.session.call("clGetContextInfo", context, DEVICES, size.u64(), devices, None)
    return [int(device) for device in devices.handles()]


@requirement("PL-CTX-004")
@pytest.mark.parametrize("times", [2, 5])
def test_device_given_several_times_is_the_contexts_once(icd: Icd, sandbox: Sandbox, times: int) -> None:
    """A device that is in the list of devices more than once is the context's once."""
    with icd.open(sandbox) as session:
        for lists in lists_of(session, CONTEXT):
            objects = lists.objects
            given = [objects.device] * times
            code = session.buffer(4)
            words = listed((CL.CONTEXT_PLATFORM, lists.platform))
            made = session.call(CONTEXT, words, len(given), given, None, None, code)
            assert isinstance(made, Value)
            assert code.code() == CL.SUCCESS
            assert devices_of(lists, made) == [objects.device]
            if lists.version >= (1, 1):
                assert lists.number(made, NUM_DEVICES, 4) == 1


@requirement("PL-CTX-004")
def test_all_devices_given_twice_are_the_contexts_once(icd: Icd, sandbox: Sandbox) -> None:
    """The same with all devices of the platform, one behind the other and twice over."""
    with icd.open(sandbox) as session:
        for lists in lists_of(session, CONTEXT):
            devices = session.GetDeviceIDs(lists.platform)
            for given in (devices + devices, [device for device in devices for _ in range(2)]):
                code = session.buffer(4)
                made = session.call(
                    CONTEXT, listed((CL.CONTEXT_PLATFORM, lists.platform)), len(given), given, None, None, code
                )
                assert isinstance(made, Value)
                assert code.code() == CL.SUCCESS
                found = devices_of(lists, made)
                assert sorted(found) == sorted(int(device) for device in devices)


def user_sync(lists: Lists) -> None:
    if lists.version < (1, 2):
        raise Unsupported("loader", "CL_CONTEXT_INTEROP_USER_SYNC came with OpenCL 1.2", "OpenCL 1.2")


@requirement("PL-CTX-005")
@pytest.mark.parametrize("function", CONTEXTS)
def test_user_sync_is_true_or_false_and_nothing_else(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """CL_CONTEXT_INTEROP_USER_SYNC is CL_TRUE or CL_FALSE and nothing else, before and behind the platform."""
    with icd.open(sandbox) as session:
        for lists in lists_of(session, function, user_sync):
            platform = (CL.CONTEXT_PLATFORM, lists.platform)
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
                    assert lists.create(listed(*pairs))[0] == error


@requirement("PL-CTX-007")
@pytest.mark.parametrize("function", CONTEXTS)
def test_terminate_is_invalid_property_unless_every_device_can(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """CL_CONTEXT_TERMINATE_KHR is CL_INVALID_PROPERTY unless every device can do that.

    Without cl_khr_terminate_context that is the error for its name.
    """
    with icd.open(sandbox) as session:
        for lists in lists_of(session, function):
            able = "cl_khr_terminate_context" in lists.extensions and all(
                lists.objects.session.call(  # the same of each device
                    "clGetDeviceInfo", device, CL.DEVICE_TERMINATE_CAPABILITY_KHR, 8, capability, None
                )
                == 0
                and capability.u64() & 1
                for device in session.GetDeviceIDs(lists.platform)
                for capability in [session.buffer(8, 0)]
            )
            error, _ = lists.create(listed((CL.CONTEXT_PLATFORM, lists.platform), (CL.CONTEXT_TERMINATE_KHR, 1)))
            assert error == (0 if able else CL.INVALID_PROPERTY)
