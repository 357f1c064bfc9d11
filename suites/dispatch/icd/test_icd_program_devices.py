# SPDX-License-Identifier: Apache-2.0
"""What programs and queues say in a context of several devices, and where kernels run (API-CON)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.check import (
    CL,
    KERNEL_SOURCES,
    Icd,
    IcdObjects,
    Info,
    Sandbox,
    Unsupported,
    Value,
    api,
    require_compiler,
    requirement,
)

PROGRAM, BUILD, PARTS = "clGetProgramInfo", "clGetProgramBuildInfo", "clCreateSubDevices"
NAME = "clharness_fixed"  # a kernel with one argument


def two_devices(objects: IcdObjects) -> list[Value]:
    """The platform's first two devices; parts of one device may share what is built for it."""
    devices = objects.session.GetDeviceIDs(objects.platform)
    if len(devices) < 2:
        raise Unsupported("machine", "the platform has one device", "two devices")
    return devices[:2]


def two_parts(objects: IcdObjects) -> list[Value]:
    """The first two of the sub-devices of one compute unit each."""
    cl, properties = objects.session, [api().constant("CL_DEVICE_PARTITION_EQUALLY"), 1, 0]
    objects.require_function(PARTS, objects.version())
    count = cl.buffer(4, 0)
    objects.require(PARTS, cl.call(PARTS, objects.device, properties, 0, None, count))
    parts = cl.buffer(8 * count.u32(), 0)
    objects.require(PARTS, cl.call(PARTS, objects.device, properties, count.u32(), parts, None))
    return parts.handles()[:2]


def context_of(objects: IcdObjects, devices: list[Value]) -> Value:
    properties = [api().constant("CL_CONTEXT_PLATFORM"), objects.platform, 0]
    return objects.made_by("clCreateContext", properties, len(devices), devices, None, None)


def create(objects: IcdObjects, devices: list[Value], built_for: list[Value]) -> tuple[Value, Value]:
    """A context of the devices, and a program of it that is built for some."""
    context = context_of(objects, devices)
    source = [objects.session.data(KERNEL_SOURCES[NAME].encode() + b"\0")]
    program = objects.made_by("clCreateProgramWithSource", context, 1, source, None)
    error = objects.session.call("clBuildProgram", program, len(built_for), built_for, None, None, None)
    objects.require("clBuildProgram", error)
    return context, program


@requirement("API-CON-030")
def test_program_answers_for_each_of_its_devices(icd: Icd, sandbox: Sandbox) -> None:
    """A program of two devices lists both, and has a size and a binary for each."""

    def check(objects: IcdObjects) -> None:
        require_compiler([objects])
        devices, info, cl = two_devices(objects), Info(objects), objects.session
        _, program = create(objects, devices, devices)
        assert info.number(PROGRAM, program, "CL_PROGRAM_NUM_DEVICES") == 2
        listed = info.words(PROGRAM, program, "CL_PROGRAM_DEVICES")
        assert sorted(listed) == sorted(map(int, devices)), "CL_PROGRAM_DEVICES are not the devices of the context"
        sizes = info.words(PROGRAM, program, "CL_PROGRAM_BINARY_SIZES")
        assert len(sizes) == 2 and min(sizes) > 0, f"CL_PROGRAM_BINARY_SIZES is {sizes} of a program of two devices"
        assert max(sizes) < 1 << 28, f"CL_PROGRAM_BINARY_SIZES is {sizes}"  # which nothing could hold
        other, binary = cl.buffer(sizes[0] + 16), cl.buffer(sizes[1] + 16)
        objects.require(PROGRAM, cl.call(PROGRAM, program, CL.PROGRAM_BINARIES, 16, [other, binary], None))
        assert binary[: sizes[1]] != b"\xa5" * sizes[1], "CL_PROGRAM_BINARIES wrote nothing for the second device"
        assert binary[sizes[1] :] == b"\xa5" * 16, "CL_PROGRAM_BINARIES wrote past the size of the second binary"

    with icd.attempts(sandbox) as attempts:
        attempts.check("built for both", check)


@requirement("API-CON-030", "API-STA-001")
def test_program_is_built_for_those_devices_that_are_named(icd: Icd, sandbox: Sandbox) -> None:
    """Built for the second device alone, a program has no status, no binary and no kernels that run for the first."""

    def check(objects: IcdObjects) -> None:
        require_compiler([objects])
        devices, info, cl = two_devices(objects), Info(objects), objects.session
        context, program = create(objects, devices, devices[1:])
        states = [info.answer(BUILD, program, device, "CL_PROGRAM_BUILD_STATUS") for device in devices]
        actual = [int.from_bytes(state, "little", signed=True) for state in states]
        states_in_order = [CL.BUILD_NONE, CL.BUILD_SUCCESS]
        assert actual == states_in_order, (
            f"CL_PROGRAM_BUILD_STATUS is {actual} for the two devices, expected {states_in_order}"
        )
        place = info.words(PROGRAM, program, "CL_PROGRAM_DEVICES").index(devices[0])
        sizes = info.words(PROGRAM, program, "CL_PROGRAM_BINARY_SIZES")
        assert not sizes[place] and sizes[1 - place], f"CL_PROGRAM_BINARY_SIZES is {sizes}"
        kernel = objects.made_by("clCreateKernel", program, NAME)
        mem = objects.made_by("clCreateBuffer", context, CL.MEM_READ_WRITE, 64, None)
        objects.require("clSetKernelArg", cl.call("clSetKernelArg", kernel, 0, 8, [mem]))
        items, group = cl.words([4, 2, 1]), cl.words([4, 2, 1])
        for device, expected in zip(devices, (CL.INVALID_PROGRAM_EXECUTABLE, CL.SUCCESS), strict=True):
            queue = objects.made_by("clCreateCommandQueue", context, device, 0)
            error = cl.call("clEnqueueNDRangeKernel", queue, kernel, 3, None, items, group, 0, None, None)
            assert error == expected, f"answered {error}, expected {expected!r}"
            objects.require("clFinish", cl.call("clFinish", queue))

    with icd.attempts(sandbox) as attempts:
        attempts.check("built for the second", check)


@requirement("API-CON-008", "API-CON-013")
@pytest.mark.parametrize("function", ["clCreateCommandQueue", "clCreateCommandQueueWithProperties"])
def test_queue_is_of_the_device_that_it_was_made_for(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """In a context of two devices, or of two parts of one, each queue names its own, and each event its queue."""

    def check(objects: IcdObjects, chosen: Callable[[IcdObjects], list[Value]]) -> None:
        objects.require_function(function, objects.version())
        devices, info, cl = chosen(objects), Info(objects), objects.session
        context = context_of(objects, devices)
        properties = 0 if function == "clCreateCommandQueue" else None
        queues = [objects.made_by(function, context, device, properties) for device in devices]
        for number, (queue, device) in enumerate(zip(queues, devices, strict=True)):
            named = info.number("clGetCommandQueueInfo", queue, "CL_QUEUE_DEVICE")
            assert named == device, f"the queue for device {number} names another one"
            event = cl.buffer(8, 0)
            objects.require("clEnqueueMarker", cl.call("clEnqueueMarker", queue, event))
            of = info.number("clGetEventInfo", event.handle(), "CL_EVENT_COMMAND_QUEUE")
            assert of == queue, f"the event of a command in the queue for device {number} names another queue"
            objects.require("clFinish", cl.call("clFinish", queue))

    with icd.attempts(sandbox) as attempts:
        attempts.check("two devices", lambda objects: check(objects, two_devices))
        attempts.check("two parts of a device", lambda objects: check(objects, two_parts))
