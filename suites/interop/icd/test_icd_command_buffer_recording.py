# SPDX-License-Identifier: Apache-2.0
"""What a command buffer refuses to record, and what it tells of what it has recorded (XM-CMD)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from harness.check import (
    CL,
    Icd,
    IcdObjects,
    Kernels,
    Range,
    Recorder,
    Sandbox,
    Unsupported,
    Value,
    api,
    calls,
    extension,
    recorders,
    requirement,
)

pytestmark = extension("cl_khr_command_buffer")

# What is recorded, and the command that has the same arguments and errors.
LIKE = {
    "clCommandFillBufferKHR": "clEnqueueFillBuffer",
    "clCommandCopyBufferKHR": "clEnqueueCopyBuffer",
    "clCommandCopyBufferRectKHR": "clEnqueueCopyBufferRect",
    "clCommandCopyImageKHR": "clEnqueueCopyImage",
    "clCommandCopyImageToBufferKHR": "clEnqueueCopyImageToBuffer",
    "clCommandCopyBufferToImageKHR": "clEnqueueCopyBufferToImage",
    "clCommandFillImageKHR": "clEnqueueFillImage",
    "clCommandNDRangeKernelKHR": "clEnqueueNDRangeKernel",
}
OF_QUEUES = ("command_queue", "num_events_in_wait_list", "event_wait_list", "event")
COMMANDS = pytest.mark.parametrize("function", LIKE)


def record(objects: IcdObjects, recorder: Recorder, function: str, changed: Mapping[str, str], **further: Any) -> int:
    """Records the proper call of a command with some arguments changed, in a new command buffer; gives the answer."""
    recorder.require_signatures()
    call = calls.prepare(objects, LIKE[function], changed)
    named = {p.name: a for p, a in zip(call.function.parameters, call.arguments, strict=True)}
    named = {name: value for name, value in named.items() if name not in OF_QUEUES} | further
    return recorder.platform.call_named(function, command_buffer=recorder.make(), **named)


@requirement("XM-CMD-011")
@COMMANDS
def test_command_is_refused_as_its_like_is_when_it_is_enqueued(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """An improper argument gives the error that the command of a queue gives; a proper call is recorded."""
    with icd.open(sandbox) as session:
        recorder = recorders(session)[0]
        objects = recorder.objects()
        if "Image" in LIKE[function]:
            objects.require_images()
        assert record(objects, recorder, function, {}) == CL.SUCCESS
        wrong = []
        for rule in (*calls.rules(), *calls.states()):
            if rule.function != LIKE[function] or not rule.holds_for(objects.device_version()):
                continue
            error = record(objects, recorder, function, rule.changed)
            codes = [api().constant(name) for name in {*rule.errors, *calls.accepted(rule)}]
            if error not in codes:
                wrong.append(f"{rule}: {error}")
        assert not wrong, "; ".join(wrong)


@requirement("XM-CMD-011")
@COMMANDS
def test_object_of_another_context_is_not_recorded(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """NULL for a memory object or a kernel is the error of its class, one of another context CL_INVALID_CONTEXT."""
    errors = {"cl_mem": CL.INVALID_MEM_OBJECT, "cl_kernel": CL.INVALID_KERNEL}
    with icd.open(sandbox) as session:
        recorder = recorders(session)[0]
        objects = recorder.objects()
        if "Image" in LIKE[function]:
            objects.require_images()
        for parameter, word in zip(
            api().functions[LIKE[function]].parameters, calls.recipes()[LIKE[function]].words, strict=True
        ):
            if parameter.handle not in errors or parameter.kind != "handle":
                continue
            other = objects.other.named(word)
            assert record(objects, recorder, function, {}, **{parameter.name: None}) == errors[parameter.handle]
            assert record(objects, recorder, function, {}, **{parameter.name: other}) == CL.INVALID_CONTEXT


@requirement("XM-CMD-011")
@COMMANDS
def test_queue_and_handle_are_left_out_when_a_command_is_recorded(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """A queue is CL_INVALID_COMMAND_QUEUE and a place for a handle CL_INVALID_VALUE, where no extension allows them."""
    with icd.open(sandbox) as session:
        recorder = recorders(session)[0]
        objects, names = recorder.objects(), recorder.platform.extensions(recorder.device)
        if "Image" in LIKE[function]:
            objects.require_images()
        if "cl_khr_command_buffer_multi_device" not in names:
            error = record(objects, recorder, function, {}, command_queue=recorder.queue)
            assert error == CL.INVALID_COMMAND_QUEUE
        if "cl_khr_command_buffer_mutable_dispatch" not in names:
            error = record(objects, recorder, function, {}, mutable_handle=session.buffer(8))
            assert error == CL.INVALID_VALUE


@requirement("XM-CMD-010")
@COMMANDS
def test_recorded_command_gives_a_sync_point(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """Each command writes a sync point of its own, which the next one may wait for; an unknown one is refused."""
    with icd.open(sandbox) as session:
        recorder = recorders(session)[0]
        objects = recorder.objects()
        if "Image" in LIKE[function]:
            objects.require_images()
        recorder.require_signatures()
        buffer, points = recorder.make(), [session.buffer(4), session.buffer(4)]
        call = calls.prepare(objects, LIKE[function])
        named = {p.name: a for p, a in zip(call.function.parameters, call.arguments, strict=True)}
        named = {name: value for name, value in named.items() if name not in OF_QUEUES}

        def again(**further: Any) -> int:
            return recorder.platform.call_named(function, command_buffer=buffer, **named, **further)

        assert again(sync_point=points[0]) == CL.SUCCESS
        waits = {"num_sync_points_in_wait_list": 1, "sync_point_wait_list": points[0]}
        assert again(sync_point=points[1], **waits) == CL.SUCCESS
        first, second = (point.u32() for point in points)
        unwritten = int.from_bytes(session.buffer(4).bytes(), "little")
        assert unwritten not in (first, second), "no sync point was written"
        assert first != second, f"two commands have the same sync point {first}"
        unknown = session.data((0x7FFFFFF0).to_bytes(4, "little"))
        error = again(num_sync_points_in_wait_list=1, sync_point_wait_list=unknown)
        assert error == CL.INVALID_SYNC_POINT_WAIT_LIST_KHR


@requirement("XM-CMD-007")
@pytest.mark.parametrize(
    "range_",
    [Range((8,), (100,), (4,)), Range((6, 4), (7, 300), (3, 2)), Range((4, 2, 3), (), (2, 1, 3))],
    ids=["offset", "two dimensions", "three dimensions"],
)
def test_recorded_kernel_has_its_range(icd: Icd, sandbox: Sandbox, range_: Range) -> None:
    """Sizes, offsets and groups of a recorded kernel are those that it was recorded with."""
    with icd.open(sandbox) as session:
        for recorder in recorders(session):
            recorder.require_signatures()
            kernels = Kernels(recorder.objects())

            def run(kernel: Value, own: Range, recorder: Recorder = recorder) -> None:
                buffer = recorder.make()
                lists = {
                    "global_work_offset": own.offset,
                    "global_work_size": own.size,
                    "local_work_size": own.group,
                }
                words = {name: session.words(list(value)) for name, value in lists.items() if value}
                values = {"command_buffer": buffer, "kernel": kernel, "work_dim": len(own.size), **words}
                assert recorder.platform.call_named("clCommandNDRangeKernelKHR", **values) == CL.SUCCESS
                recorder.expect_success("clFinalizeCommandBufferKHR", buffer)
                recorder.execute(buffer)
                recorder.expect_success("clFinish", recorder.queue)

            kernels.run = run  # type: ignore[assignment, method-assign]
            actual = kernels.places(range_)
            for place, expected in zip(actual, range_.places((*range_.group, 1, 1)[:3]), strict=True):
                assert place == expected, f"a work item has {place}, expected {expected}"


@requirement("XM-CMD-010")
def test_barrier_is_recorded_between_commands(icd: Icd, sandbox: Sandbox) -> None:
    """A barrier is recorded, gives a sync point, and what is before it is there for what is after it."""
    with icd.open(sandbox) as session:
        for recorder in recorders(session):
            recorder.require_signatures()
            buffer, point = recorder.make(), session.buffer(4)
            name = "clCommandBarrierWithWaitListKHR"
            if name not in api().functions:
                raise Unsupported("machine", f"the OpenCL-Headers lack {name}", name)
            assert recorder.fill(buffer, 3) == 0
            assert recorder.platform.call_named(name, command_buffer=buffer, sync_point=point) == CL.SUCCESS
            assert point.bytes() != session.buffer(4).bytes(), "no sync point was written"
            assert recorder.fill(buffer, 5) == 0
            recorder.expect_success("clFinalizeCommandBufferKHR", buffer)
            recorder.execute(buffer)
            recorder.expect_success("clFinish", recorder.queue)
            assert recorder.content() == b"\5" * len(recorder.content())


@requirement("XM-CMD-011")
def test_copy_that_overlaps_is_not_recorded(icd: Icd, sandbox: Sandbox) -> None:
    """A copy within a buffer whose parts overlap is CL_MEM_COPY_OVERLAP; one beside the other is recorded."""
    with icd.open(sandbox) as session:
        recorder = recorders(session)[0]
        objects = recorder.objects()
        for offset, expected in ((8, CL.MEM_COPY_OVERLAP), (0, CL.MEM_COPY_OVERLAP), (16, CL.SUCCESS)):
            values = {"src_buffer": objects.mem, "dst_buffer": objects.mem, "src_offset": 0, "dst_offset": offset}
            error = record(objects, recorder, "clCommandCopyBufferKHR", {}, **values)
            assert error == expected, f"answered {error} for bytes 0 and {offset}, expected {expected!r}"
