"""Command queues of a vendor's ICD: what their properties want of the device and of each other (PL-CQ)."""

from __future__ import annotations

import pytest

from harness.check import (
    CL,
    FURTHER_OBJECTS,
    HIGH,
    LOW,
    MED,
    QUEUE,
    QUEUES,
    Answer,
    CallFailed,
    Icd,
    Lists,
    Sandbox,
    Unsupported,
    Value,
    listed,
    lists_of,
    requirement,
)


def older(lists: Lists, bits: int) -> tuple[int, Value]:
    """The queue of these bits, made by clCreateCommandQueue."""
    code = lists.session.buffer(4)
    made = lists.session.call("clCreateCommandQueue", lists.objects.context, lists.objects.device, bits, code)
    assert isinstance(made, Value)
    return Answer(code.code(), f"bits {bits:#x}"), made


def host_bits(lists: Lists) -> int:
    return lists.device_number(CL.DEVICE_QUEUE_ON_HOST_PROPERTIES, 8)


def device_queues(lists: Lists) -> None:
    if not lists.device_number(CL.DEVICE_QUEUE_ON_DEVICE_PROPERTIES, 8):
        raise Unsupported("loader", "this device has no queues of its own", "device queues")


@requirement("PL-CQ-001")
def test_unknown_bits_are_refused_by_the_older_function(icd: Icd, sandbox: Sandbox) -> None:
    """clCreateCommandQueue knows two bits; all others are not valid, those of queues on the device among them."""
    with icd.open(sandbox) as session:
        for lists in lists_of(session, QUEUE):
            assert older(lists, 0)[0] == 0
            for bits in (
                1 << 12,
                1 << 33,
                1 << 40 | 2,
                CL.QUEUE_ON_DEVICE | CL.QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
                CL.QUEUE_ON_DEVICE_DEFAULT,
            ):
                assert older(lists, bits) == (CL.INVALID_VALUE, 0)


@requirement("PL-CQ-001")
@pytest.mark.parametrize("function", QUEUES)
def test_bits_that_the_device_lacks_are_invalid_queue_properties(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """Valid bits that the device does not support are CL_INVALID_QUEUE_PROPERTIES; those that it supports are fine."""
    with icd.open(sandbox) as session:
        for lists in lists_of(session, function):
            for bit in (CL.QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL.QUEUE_PROFILING_ENABLE):
                error = CL.SUCCESS if host_bits(lists) & bit else CL.INVALID_QUEUE_PROPERTIES
                assert lists.create(listed((CL.QUEUE_PROPERTIES, bit)))[0] == error
                assert older(lists, bit)[0] == error
            if not lists.device_number(CL.DEVICE_QUEUE_ON_DEVICE_PROPERTIES, 8):
                bits = CL.QUEUE_ON_DEVICE | CL.QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE
                assert lists.create(listed((CL.QUEUE_PROPERTIES, bits))) == (CL.INVALID_QUEUE_PROPERTIES, 0)


REFUSED = (CL.INVALID_VALUE, CL.INVALID_QUEUE_PROPERTIES)
DEPENDENT = {
    "on device in order": [(CL.QUEUE_PROPERTIES, CL.QUEUE_ON_DEVICE)],
    "on device in order, profiling": [(CL.QUEUE_PROPERTIES, CL.QUEUE_ON_DEVICE | CL.QUEUE_PROFILING_ENABLE)],
    "default of no queue on device": [(CL.QUEUE_PROPERTIES, CL.QUEUE_ON_DEVICE_DEFAULT)],
    "default of a queue on host": [
        (CL.QUEUE_PROPERTIES, CL.QUEUE_ON_DEVICE_DEFAULT | CL.QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
    ],
    "size of a queue on host": [(CL.QUEUE_SIZE, 1024)],
    "size of a queue with bits on host": [(CL.QUEUE_PROPERTIES, CL.QUEUE_PROFILING_ENABLE), (CL.QUEUE_SIZE, 1024)],
    "size first": [(CL.QUEUE_SIZE, 1024), (CL.QUEUE_PROPERTIES, 0)],
}


@requirement("PL-CQ-003")
@pytest.mark.parametrize("pairs", DEPENDENT.values(), ids=[name.replace(" ", "_") for name in DEPENDENT])
def test_bits_without_those_they_need_are_refused(icd: Icd, sandbox: Sandbox, pairs: list[tuple[int, int]]) -> None:
    """Queues on the device are out of order, the default is on the device, and only these have a size.

    Which of the two errors that is depends on whether the device has such queues at all, and is not laid down.
    """
    with icd.open(sandbox) as session:
        for lists in lists_of(session, QUEUE):
            error, made = lists.create(listed(*pairs))
            assert error in REFUSED
            assert not made


@requirement("PL-CQ-003")
def test_queue_size_beyond_the_maximum_is_refused(icd: Icd, sandbox: Sandbox) -> None:
    """CL_QUEUE_SIZE may be what the device says at most."""
    bits = (CL.QUEUE_PROPERTIES, CL.QUEUE_ON_DEVICE | CL.QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
    with icd.open(sandbox) as session:
        for lists in lists_of(session, QUEUE, device_queues):
            largest = lists.device_number(CL.DEVICE_QUEUE_ON_DEVICE_MAX_SIZE, 4)
            for order in ([bits, (CL.QUEUE_SIZE, largest)], [(CL.QUEUE_SIZE, largest), bits]):
                error, made = lists.create(listed(*order))
                assert error == CL.SUCCESS
                assert lists.number(made, CL.QUEUE_PROPERTIES, 8) == bits[1]
                assert lists.number(made, CL.QUEUE_SIZE, 4) == largest
                assert lists.version < (3, 0) or lists.given_back(made) == listed(*order)
                session.call("clReleaseCommandQueue", made)
            error, made = lists.create(listed(bits, (CL.QUEUE_SIZE, largest + 1)))
            assert error in REFUSED
            assert not made


@requirement("PL-GEN-005")
def test_queue_size_that_equals_a_name_is_a_size(icd: Icd, sandbox: Sandbox) -> None:
    """A size that is equal to the name of a property is a size."""
    bits = (CL.QUEUE_PROPERTIES, CL.QUEUE_ON_DEVICE | CL.QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
    with icd.open(sandbox) as session:
        for lists in lists_of(session, QUEUE, device_queues):
            if lists.device_number(CL.DEVICE_QUEUE_ON_DEVICE_MAX_SIZE, 4) < CL.QUEUE_PROPERTIES:
                raise Unsupported("loader", "queues on this device are smaller than the numbers of names", "queue size")
            for pairs in ([(CL.QUEUE_SIZE, CL.QUEUE_PROPERTIES), bits], [bits, (CL.QUEUE_SIZE, CL.QUEUE_PROPERTIES)]):
                error, made = lists.create(listed(*pairs))
                assert error == CL.SUCCESS
                assert lists.number(made, CL.QUEUE_SIZE, 4) == CL.QUEUE_PROPERTIES
                session.call("clReleaseCommandQueue", made)


@requirement("PL-CQ-004")
@pytest.mark.parametrize(
    ("extension", "name"),
    [("cl_khr_priority_hints", CL.QUEUE_PRIORITY_KHR), ("cl_khr_throttle_hints", CL.QUEUE_THROTTLE_KHR)],
    ids=["priority", "throttle"],
)
def test_hints_for_a_queue_on_the_device_are_refused(icd: Icd, sandbox: Sandbox, extension: str, name: int) -> None:
    """Hints are for queues on the host: there each level is fine, and on the device CL_INVALID_QUEUE_PROPERTIES."""
    bits = (CL.QUEUE_PROPERTIES, CL.QUEUE_ON_DEVICE | CL.QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
    with icd.open(sandbox) as session:
        for lists in lists_of(session, QUEUE, lambda one: one.require_extension(extension)):
            for level in (HIGH, MED, LOW):
                assert lists.create(listed((name, level)))[0] == 0
                for pairs in ([bits, (name, level)], [(name, level), bits]):
                    assert lists.create(listed(*pairs)) == (CL.INVALID_QUEUE_PROPERTIES, 0)


@requirement("PL-CQ-006")
@pytest.mark.parametrize("function", QUEUES)
def test_queue_properties_are_the_bits_of_the_creation(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """CL_QUEUE_PROPERTIES answers the bits that the queue was made with, by a list or by the older function."""
    with icd.open(sandbox) as session:
        for lists in lists_of(session, function):
            for bits in {
                0,
                CL.QUEUE_PROFILING_ENABLE,
                CL.QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
                CL.QUEUE_PROFILING_ENABLE | CL.QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
            }:
                if bits & ~host_bits(lists):
                    continue
                assert lists.number(lists.made(listed((CL.QUEUE_PROPERTIES, bits))), CL.QUEUE_PROPERTIES, 8) == bits
                assert lists.number(older(lists, bits)[1], CL.QUEUE_PROPERTIES, 8) == bits


def other_device(lists: Lists) -> Value:
    """A device that is not the context's: another one of the platform, another platform's, or a sub-device."""
    session = lists.session
    for platform in (lists.platform, *session.platforms()):
        others = [device for device in session.GetDeviceIDs(platform) if device != lists.objects.device]
        if others:
            return others[0]
    try:
        return FURTHER_OBJECTS["clCreateSubDevices"][1](lists.objects)
    except CallFailed as error:  # which is the matter of other checks
        raise Unsupported("machine", f"there is one device here, and no sub-device of it: {error}") from None


@requirement("PL-CQ-007")
@pytest.mark.parametrize("function", QUEUES)
def test_queue_for_a_device_of_another_context_is_invalid_device(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """A device that the context was not made with is CL_INVALID_DEVICE, for the older function, too."""
    with icd.open(sandbox) as session:
        for lists in lists_of(session, function):
            context, other = lists.objects.context, other_device(lists)
            assert lists.create(None)[0] == 0
            code = session.buffer(4)
            if lists.address is not None:
                made = session.call_at(lists.address, function, context, other, None, code)
            else:
                made = session.call(function, context, other, None, code)
            assert (code.code(), made) == (CL.INVALID_DEVICE, 0)
            made = session.call("clCreateCommandQueue", context, other, 0, code)
            assert (code.code(), made) == (CL.INVALID_DEVICE, 0)
