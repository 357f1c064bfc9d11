"""Command queues of a vendor's ICD: what their properties want of the device and of each other (PL-CQ)."""

from __future__ import annotations

import pytest

from harness.check import (
    FURTHER_OBJECTS,
    HIGH,
    INVALID_QUEUE_PROPERTIES,
    INVALID_VALUE,
    LOW,
    MED,
    ON_DEVICE,
    ON_DEVICE_DEFAULT,
    OUT_OF_ORDER,
    PRIORITY,
    PROFILING,
    QUEUE,
    QUEUE_PROPERTIES,
    QUEUE_SIZE,
    QUEUES,
    THROTTLE,
    CallFailed,
    Code,
    Icd,
    Lists,
    Parts,
    Sandbox,
    Unsupported,
    Value,
    listed,
    lists_of,
    requirement,
    shown,
)

SUCCESS, INVALID_DEVICE = Code(0), Code(-33)
HOST_PROPERTIES, DEVICE_PROPERTIES, DEVICE_MAX_SIZE = 0x102A, 0x104E, 0x1050  # CL_DEVICE_QUEUE_ON_…


def older(lists: Lists, bits: int) -> tuple[int, Value]:
    """The queue of these bits, made by clCreateCommandQueue."""
    code = lists.session.buffer(4)
    made = lists.session.call("clCreateCommandQueue", lists.objects.context, lists.objects.device, bits, code)
    assert isinstance(made, Value)
    return Code(code.i32(), f"bits {bits:#x}"), made


def host_bits(lists: Lists) -> int:
    return lists.device_number(HOST_PROPERTIES, 8)


def device_queues(lists: Lists) -> None:
    if not lists.device_number(DEVICE_PROPERTIES, 8):
        raise Unsupported("loader", "this device has no queues of its own", "device queues")


@requirement("PL-CQ-001")
def test_unknown_bits_are_refused_by_the_older_function(icd: Icd, sandbox: Sandbox) -> None:
    """clCreateCommandQueue knows two bits; all others are not valid, those of queues on the device among them."""
    with icd.open(sandbox) as session:
        for lists in lists_of(session, QUEUE):
            assert older(lists, 0)[0] == 0
            for bits in (1 << 12, 1 << 33, 1 << 40 | 2, ON_DEVICE | OUT_OF_ORDER, ON_DEVICE_DEFAULT):
                assert older(lists, bits) == (INVALID_VALUE, 0)


@requirement("PL-CQ-001")
@pytest.mark.parametrize("function", QUEUES)
def test_bits_that_the_device_lacks_are_invalid_queue_properties(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """Valid bits that the device does not support are CL_INVALID_QUEUE_PROPERTIES; those that it supports are fine."""
    with icd.open(sandbox) as session, Parts() as parts:
        for lists in lists_of(session, function):
            for bit in (OUT_OF_ORDER, PROFILING):
                error = SUCCESS if host_bits(lists) & bit else INVALID_QUEUE_PROPERTIES
                with parts(shown(listed((QUEUE_PROPERTIES, bit)))):
                    assert lists.create(listed((QUEUE_PROPERTIES, bit)))[0] == error
                assert older(lists, bit)[0] == error
            if not lists.device_number(DEVICE_PROPERTIES, 8):
                bits = ON_DEVICE | OUT_OF_ORDER
                with parts(shown(listed((QUEUE_PROPERTIES, bits)))):
                    assert lists.create(listed((QUEUE_PROPERTIES, bits))) == (INVALID_QUEUE_PROPERTIES, 0)


REFUSED = (INVALID_VALUE, INVALID_QUEUE_PROPERTIES)
DEPENDENT = {
    "on device in order": [(QUEUE_PROPERTIES, ON_DEVICE)],
    "on device in order, profiling": [(QUEUE_PROPERTIES, ON_DEVICE | PROFILING)],
    "default of no queue on device": [(QUEUE_PROPERTIES, ON_DEVICE_DEFAULT)],
    "default of a queue on host": [(QUEUE_PROPERTIES, ON_DEVICE_DEFAULT | OUT_OF_ORDER)],
    "size of a queue on host": [(QUEUE_SIZE, 1024)],
    "size of a queue with bits on host": [(QUEUE_PROPERTIES, PROFILING), (QUEUE_SIZE, 1024)],
    "size first": [(QUEUE_SIZE, 1024), (QUEUE_PROPERTIES, 0)],
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
    bits = (QUEUE_PROPERTIES, ON_DEVICE | OUT_OF_ORDER)
    with icd.open(sandbox) as session:
        for lists in lists_of(session, QUEUE, device_queues):
            largest = lists.device_number(DEVICE_MAX_SIZE, 4)
            for order in ([bits, (QUEUE_SIZE, largest)], [(QUEUE_SIZE, largest), bits]):
                error, made = lists.create(listed(*order))
                assert error == 0
                assert lists.number(made, QUEUE_PROPERTIES, 8) == bits[1]
                assert lists.number(made, QUEUE_SIZE, 4) == largest
                assert lists.version < (3, 0) or lists.given_back(made) == listed(*order)
                session.call("clReleaseCommandQueue", made)
            error, made = lists.create(listed(bits, (QUEUE_SIZE, largest + 1)))
            assert error in REFUSED
            assert not made


@requirement("PL-GEN-005")
def test_queue_size_that_equals_a_name_is_a_size(icd: Icd, sandbox: Sandbox) -> None:
    """A size that is equal to the name of a property is a size."""
    bits = (QUEUE_PROPERTIES, ON_DEVICE | OUT_OF_ORDER)
    with icd.open(sandbox) as session:
        for lists in lists_of(session, QUEUE, device_queues):
            if lists.device_number(DEVICE_MAX_SIZE, 4) < QUEUE_PROPERTIES:
                raise Unsupported("loader", "queues on this device are smaller than the numbers of names", "queue size")
            for pairs in ([(QUEUE_SIZE, QUEUE_PROPERTIES), bits], [bits, (QUEUE_SIZE, QUEUE_PROPERTIES)]):
                error, made = lists.create(listed(*pairs))
                assert error == 0
                assert lists.number(made, QUEUE_SIZE, 4) == QUEUE_PROPERTIES
                session.call("clReleaseCommandQueue", made)


@requirement("PL-CQ-004")
@pytest.mark.parametrize(
    ("extension", "name"),
    [("cl_khr_priority_hints", PRIORITY), ("cl_khr_throttle_hints", THROTTLE)],
    ids=["priority", "throttle"],
)
def test_hints_for_a_queue_on_the_device_are_refused(icd: Icd, sandbox: Sandbox, extension: str, name: int) -> None:
    """Hints are for queues on the host: there each level is fine, and on the device CL_INVALID_QUEUE_PROPERTIES."""
    bits = (QUEUE_PROPERTIES, ON_DEVICE | OUT_OF_ORDER)
    with icd.open(sandbox) as session, Parts() as parts:
        for lists in lists_of(session, QUEUE, lambda one: one.require_extension(extension)):
            for level in (HIGH, MED, LOW):
                with parts(shown(listed((name, level)))):
                    assert lists.create(listed((name, level)))[0] == 0
                for pairs in ([bits, (name, level)], [(name, level), bits]):
                    with parts(shown(listed(*pairs))):
                        assert lists.create(listed(*pairs)) == (INVALID_QUEUE_PROPERTIES, 0)


@requirement("PL-CQ-006")
@pytest.mark.parametrize("function", QUEUES)
def test_queue_properties_are_the_bits_of_the_creation(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """CL_QUEUE_PROPERTIES answers the bits that the queue was made with, by a list or by the older function."""
    with icd.open(sandbox) as session:
        for lists in lists_of(session, function):
            for bits in {0, PROFILING, OUT_OF_ORDER, PROFILING | OUT_OF_ORDER}:
                if bits & ~host_bits(lists):
                    continue
                assert lists.number(lists.made(listed((QUEUE_PROPERTIES, bits))), QUEUE_PROPERTIES, 8) == bits
                assert lists.number(older(lists, bits)[1], QUEUE_PROPERTIES, 8) == bits


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
            assert (Code(code.i32()), made) == (INVALID_DEVICE, 0)
            made = session.call("clCreateCommandQueue", context, other, 0, code)
            assert (Code(code.i32()), made) == (INVALID_DEVICE, 0)
