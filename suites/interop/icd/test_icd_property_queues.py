# SPDX-License-Identifier: Apache-2.0
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
    Creator,
    Icd,
    Parts,
    Sandbox,
    Unsupported,
    Value,
    creators_of,
    requirement,
    shown,
)


def older(creator: Creator, bits: int) -> tuple[int, Value]:
    """The queue of these bits, made by clCreateCommandQueue."""
    code = creator.session.buffer(4)
    queue = creator.session.call("clCreateCommandQueue", creator.objects.context, creator.objects.device, bits, code)
    assert isinstance(queue, Value)
    return Answer(code.code(), f"bits {bits:#x}"), queue


def host_bits(creator: Creator) -> int:
    return creator.device_number(CL.DEVICE_QUEUE_ON_HOST_PROPERTIES, 8)


def device_queues(creator: Creator) -> None:
    creator.require_bits()
    if not creator.device_number(CL.DEVICE_QUEUE_ON_DEVICE_PROPERTIES, 8):
        raise Unsupported("loader", "this device has no queues of its own", "device queues")


@requirement("PL-CQ-001")
def test_unknown_bits_are_refused_by_the_older_function(icd: Icd, sandbox: Sandbox) -> None:
    """clCreateCommandQueue knows two bits; all others are not valid, those of queues on the device among them."""
    with icd.open(sandbox) as session:
        for creator in creators_of(session, QUEUE):
            assert older(creator, 0)[0] == 0
            for bits in (
                1 << 12,
                1 << 33,
                1 << 40 | 2,
                CL.QUEUE_ON_DEVICE | CL.QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
                CL.QUEUE_ON_DEVICE_DEFAULT,
            ):
                assert older(creator, bits) == (CL.INVALID_VALUE, 0)


@requirement("PL-CQ-001")
@pytest.mark.parametrize("function", QUEUES)
def test_bits_that_the_device_lacks_are_invalid_queue_properties(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """Valid bits that the device does not support are CL_INVALID_QUEUE_PROPERTIES; those that it supports are fine."""
    with icd.open(sandbox) as session, Parts() as parts:
        for creator in creators_of(session, function, Creator.require_bits):
            for bit in (CL.QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL.QUEUE_PROFILING_ENABLE):
                error = CL.SUCCESS if host_bits(creator) & bit else CL.INVALID_QUEUE_PROPERTIES
                with parts(shown([(CL.QUEUE_PROPERTIES, bit)])):
                    assert creator.create([(CL.QUEUE_PROPERTIES, bit)])[0] == error
                assert older(creator, bit)[0] == error
            if not creator.device_number(CL.DEVICE_QUEUE_ON_DEVICE_PROPERTIES, 8):
                bits = CL.QUEUE_ON_DEVICE | CL.QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE
                unknown = [CL.INVALID_VALUE] * (creator.objects.device_version() < (2, 0))  # they came with OpenCL 2.0
                with parts(shown([(CL.QUEUE_PROPERTIES, bits)])):
                    creator.expect_refused([(CL.QUEUE_PROPERTIES, bits)], CL.INVALID_QUEUE_PROPERTIES, *unknown)


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
        for creator in creators_of(session, QUEUE):
            creator.expect_refused(pairs, *REFUSED)


@requirement("PL-CQ-003")
def test_queue_size_beyond_the_maximum_is_refused(icd: Icd, sandbox: Sandbox) -> None:
    """CL_QUEUE_SIZE may be what the device says at most."""
    bits = (CL.QUEUE_PROPERTIES, CL.QUEUE_ON_DEVICE | CL.QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
    with icd.open(sandbox) as session:
        for creator in creators_of(session, QUEUE, device_queues):
            largest = creator.device_number(CL.DEVICE_QUEUE_ON_DEVICE_MAX_SIZE, 4)
            for order in ([bits, (CL.QUEUE_SIZE, largest)], [(CL.QUEUE_SIZE, largest), bits]):
                handle = creator.expect_created(order)
                assert creator.number(handle, CL.QUEUE_PROPERTIES, 8) == bits[1]
                assert creator.number(handle, CL.QUEUE_SIZE, 4) == largest
                session.call("clReleaseCommandQueue", handle)
            creator.expect_refused([bits, (CL.QUEUE_SIZE, largest + 1)], *REFUSED)


@requirement("PL-GEN-005")
def test_queue_size_that_equals_a_name_is_a_size(icd: Icd, sandbox: Sandbox) -> None:
    """A size that is equal to the name of a property is a size."""
    bits = (CL.QUEUE_PROPERTIES, CL.QUEUE_ON_DEVICE | CL.QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
    with icd.open(sandbox) as session:
        for creator in creators_of(session, QUEUE, device_queues):
            if creator.device_number(CL.DEVICE_QUEUE_ON_DEVICE_MAX_SIZE, 4) < CL.QUEUE_PROPERTIES:
                raise Unsupported("loader", "queues on this device are smaller than the numbers of names", "queue size")
            for pairs in ([(CL.QUEUE_SIZE, CL.QUEUE_PROPERTIES), bits], [bits, (CL.QUEUE_SIZE, CL.QUEUE_PROPERTIES)]):
                handle = creator.expect_created(pairs)
                assert creator.number(handle, CL.QUEUE_SIZE, 4) == CL.QUEUE_PROPERTIES
                session.call("clReleaseCommandQueue", handle)


@requirement("PL-CQ-004")
@pytest.mark.parametrize(
    ("extension", "name"),
    [("cl_khr_priority_hints", CL.QUEUE_PRIORITY_KHR), ("cl_khr_throttle_hints", CL.QUEUE_THROTTLE_KHR)],
    ids=["priority", "throttle"],
)
def test_hints_for_a_queue_on_the_device_are_refused(icd: Icd, sandbox: Sandbox, extension: str, name: int) -> None:
    """Hints are for queues on the host: there each level is fine, and on the device CL_INVALID_QUEUE_PROPERTIES."""
    bits = (CL.QUEUE_PROPERTIES, CL.QUEUE_ON_DEVICE | CL.QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)

    def hinted(creator: Creator) -> None:
        creator.require_extension(extension)
        creator.require_bits()
        creator.require_heeded(*(pair for pair in creator.valid_pairs() if pair[0] == name))

    with icd.open(sandbox) as session, Parts() as parts:
        for creator in creators_of(session, QUEUE, hinted):
            for level in (HIGH, MED, LOW):
                creator.expect_created([(name, level)])
                for pairs in ([bits, (name, level)], [(name, level), bits]):
                    with parts(shown(pairs)):
                        creator.expect_refused(pairs, CL.INVALID_QUEUE_PROPERTIES)


@requirement("PL-CQ-006")
@pytest.mark.parametrize("function", QUEUES)
def test_queue_properties_are_the_bits_of_the_creation(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """CL_QUEUE_PROPERTIES answers the bits that the queue was made with, by a list or by the older function."""
    with icd.open(sandbox) as session:
        for creator in creators_of(session, function, Creator.require_bits):
            for bits in {
                0,
                CL.QUEUE_PROFILING_ENABLE,
                CL.QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
                CL.QUEUE_PROFILING_ENABLE | CL.QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
            }:
                if bits & ~host_bits(creator):
                    continue
                assert creator.number(creator.make([(CL.QUEUE_PROPERTIES, bits)]), CL.QUEUE_PROPERTIES, 8) == bits
                assert creator.number(older(creator, bits)[1], CL.QUEUE_PROPERTIES, 8) == bits


def other_device(creator: Creator) -> Value:
    """A device that is not the context's: another one of the platform, another platform's, or a sub-device."""
    session = creator.session
    for platform in (creator.platform, *session.platforms()):
        others = [device for device in session.GetDeviceIDs(platform) if device != creator.objects.device]
        if others:
            return others[0]
    try:
        return FURTHER_OBJECTS["clCreateSubDevices"][1](creator.objects)
    except CallFailed as error:  # which is the matter of other checks
        raise Unsupported("machine", f"there is one device here, and no sub-device of it: {error}") from None


@requirement("PL-CQ-007")
@pytest.mark.parametrize("function", QUEUES)
def test_queue_for_a_device_of_another_context_is_invalid_device(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """A device that the context was not made with is CL_INVALID_DEVICE, for the older function, too."""
    with icd.open(sandbox) as session:
        for creator in creators_of(session, function):
            context, other = creator.objects.context, other_device(creator)
            creator.expect_created(None)
            code = session.buffer(4)
            if creator.address is not None:
                queue = session.call_at(creator.address, function, context, other, None, code)
            else:
                queue = session.call(function, context, other, None, code)
            assert (code.code(), queue) == (CL.INVALID_DEVICE, 0)
            queue = session.call("clCreateCommandQueue", context, other, 0, code)
            assert (code.code(), queue) == (CL.INVALID_DEVICE, 0)
