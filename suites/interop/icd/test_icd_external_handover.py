# SPDX-License-Identifier: Apache-2.0
"""Acquiring and releasing memory from outside OpenCL, with a vendor's ICD (XM-ACQ)."""

from __future__ import annotations

import pytest

from harness.check import (
    CL,
    STATUS,
    TYPE,
    Icd,
    Importer,
    Sandbox,
    Semaphores,
    Unsupported,
    Value,
    extension,
    importers,
    may_block,
    memory_handle_types,
    platforms_with,
    requirement,
)

pytestmark = extension("cl_khr_external_memory")

COMMANDS = {
    "Acquire": CL.COMMAND_ACQUIRE_EXTERNAL_MEM_OBJECTS_KHR,
    "Release": CL.COMMAND_RELEASE_EXTERNAL_MEM_OBJECTS_KHR,
}
BOTH = pytest.mark.parametrize("what", list(COMMANDS))
KINDS = pytest.mark.parametrize(
    "kind",
    [
        pytest.param(
            CL.EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR, id="opaque-fd", marks=extension("cl_khr_external_memory_opaque_fd")
        ),
        pytest.param(
            CL.EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR, id="dma-buf", marks=extension("cl_khr_external_memory_dma_buf")
        ),
    ],
)
EXTENSION = "cl_khr_external_memory"
BEFORE, AFTER = b"from outside" * 5, b"from OpenCL " * 5


def name_of(what: str) -> str:
    return f"clEnqueue{what}ExternalMemObjectsKHR"


def importing(session: object, kind: int, devices: int = 1) -> list[Importer]:
    return importers(session, kind, memory_handle_types()[kind], devices)  # type: ignore[arg-type]


@requirement("XM-ACQ-002")
@BOTH
def test_acquire_of_no_object_completes_after_its_wait_list(icd: Icd, sandbox: Sandbox, what: str) -> None:
    """A command of no object completes, and not before the events of its wait list."""
    with icd.open(sandbox) as session:
        for platform in platforms_with(session, EXTENSION):
            context = platform.context([platform.able[0]])
            queue = platform.queue(context, platform.able[0])
            awaited, event = platform.user_event(context), session.buffer(8, 0)
            assert platform.call(name_of(what), queue, 0, None, 1, [awaited], event) == CL.SUCCESS
            platform.expect_success("clFlush", queue)
            assert platform.event(event.handle(), STATUS) > CL.COMPLETE
            platform.set_event(awaited)
            platform.expect_success("clFinish", queue)
            assert platform.event(event.handle(), STATUS) == CL.COMPLETE


@requirement("XM-ACQ-003")
@BOTH
def test_count_and_list_of_objects_that_differ_are_invalid_value(icd: Icd, sandbox: Sandbox, what: str) -> None:
    """A count without a list, or a list without a count, gives CL_INVALID_VALUE."""
    with icd.open(sandbox) as session:
        for platform in platforms_with(session, EXTENSION):
            context = platform.context([platform.able[0]])
            queue = platform.queue(context, platform.able[0])
            memory = platform.buffer(context)
            assert platform.call(name_of(what), queue, 0, [memory], 0, None, None) == CL.INVALID_VALUE
            assert platform.call(name_of(what), queue, 1, None, 0, None, None) == CL.INVALID_VALUE
            assert platform.call(name_of(what), queue, 0, None, 0, None, None) == CL.SUCCESS


@requirement("XM-ACQ-004")
@BOTH
def test_memory_that_was_not_imported_is_invalid_mem_object(icd: Icd, sandbox: Sandbox, what: str) -> None:
    """A memory object that was not imported, or none at all, gives CL_INVALID_MEM_OBJECT."""
    with icd.open(sandbox) as session:
        for platform in platforms_with(session, EXTENSION):
            context = platform.context([platform.able[0]])
            queue = platform.queue(context, platform.able[0])
            for memory in (platform.buffer(context), None):
                assert (
                    platform.call(name_of(what), queue, 1, platform.words(memory), 0, None, None)
                    == CL.INVALID_MEM_OBJECT
                )


@requirement("XM-ACQ-004")
@KINDS
@BOTH
def test_memory_that_was_not_imported_after_imported_is_invalid_mem_object(
    icd: Icd, sandbox: Sandbox, kind: int, what: str
) -> None:
    """So does one after one that was imported."""
    with icd.open(sandbox) as session:
        for importer in importing(session, kind):
            queue = importer.platform.queue(importer.context, importer.device)
            memories = importer.words(importer.buffer(), importer.platform.buffer(importer.context))
            assert importer.call(name_of(what), queue, 2, memories, 0, None, None) == CL.INVALID_MEM_OBJECT


@requirement("XM-ACQ-005")
@BOTH
def test_null_queue_for_external_memory_is_invalid_command_queue(icd: Icd, sandbox: Sandbox, what: str) -> None:
    """NULL for the queue gives CL_INVALID_COMMAND_QUEUE."""
    with icd.open(sandbox) as session:
        for platform in platforms_with(session, EXTENSION):
            assert platform.call(name_of(what), None, 0, None, 0, None, None) == CL.INVALID_COMMAND_QUEUE


@requirement("XM-ACQ-005")
@KINDS
@BOTH
@pytest.mark.parametrize("how", ["not listed", "not in its context"])
def test_queue_of_a_device_without_the_import_is_invalid_command_queue(
    icd: Icd, sandbox: Sandbox, kind: int, what: str, how: str
) -> None:
    """A queue of a device that the memory was not imported for gives CL_INVALID_COMMAND_QUEUE."""
    with icd.open(sandbox) as session:
        for importer in importing(session, kind, devices=2):
            context = importer.platform.context(importer.able[:2])
            listed = [CL.MEM_DEVICE_HANDLE_LIST_KHR, importer.device, 0]
            memory = importer.buffer(*listed, context=context) if how == "not listed" else importer.buffer()
            queues = [importer.platform.queue(context, device) for device in importer.able[:2]]
            words = importer.words(memory)
            assert importer.call(name_of(what), queues[1], 1, words, 0, None, None) == CL.INVALID_COMMAND_QUEUE
            if how == "not listed":
                importer.hand_over("Acquire", queues[0], memory)
                importer.hand_over("Release", queues[0], memory)
                importer.expect_success("clFinish", queues[0])


@requirement("XM-ACQ-006")
@BOTH
@pytest.mark.parametrize("how", ["count", "list", "no event", "no event after one"])
def test_wait_list_that_does_not_fit_a_hand_over_is_refused(icd: Icd, sandbox: Sandbox, what: str, how: str) -> None:
    """A count without a list of events, a list without a count, or NULL for an event: CL_INVALID_EVENT_WAIT_LIST."""
    with icd.open(sandbox) as session:
        for platform in platforms_with(session, EXTENSION):
            context = platform.context([platform.able[0]])
            queue = platform.queue(context, platform.able[0])
            event = platform.user_event(context)
            platform.set_event(event)
            count, events = {
                "count": (1, None),
                "list": (0, platform.words(event)),
                "no event": (1, platform.words(None)),
                "no event after one": (2, platform.words(event, None)),
            }[how]
            result = platform.call(name_of(what), queue, 0, None, count, events, None)
            assert result == CL.INVALID_EVENT_WAIT_LIST
            assert platform.call(name_of(what), queue, 0, None, 1, platform.words(event), None) == CL.SUCCESS


@requirement("XM-ACQ-006")
@BOTH
def test_failed_event_before_a_hand_over_is_an_error(icd: Icd, sandbox: Sandbox, what: str) -> None:
    """A failed event in the list gives CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST."""
    with icd.open(sandbox) as session:
        for platform in platforms_with(session, EXTENSION):
            context = platform.context([platform.able[0]])
            queue = platform.queue(context, platform.able[0])
            event = platform.user_event(context)
            platform.set_event(event, CL.OUT_OF_RESOURCES)
            assert (
                platform.call(name_of(what), queue, 0, None, 1, [event], None)
                == CL.EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
            )


@requirement("XM-ACQ-007")
@BOTH
def test_event_of_a_hand_over_has_its_type(icd: Icd, sandbox: Sandbox, what: str) -> None:
    """The event of the command tells what it is."""
    with icd.open(sandbox) as session:
        for platform in platforms_with(session, EXTENSION):
            queue = platform.queue(platform.context([platform.able[0]]), platform.able[0])
            event = session.buffer(8, 0)
            assert platform.call(name_of(what), queue, 0, None, 0, None, event) == CL.SUCCESS
            assert platform.event(event.handle(), TYPE) == COMMANDS[what]


@requirement("XM-ACQ-008")
@KINDS
@pytest.mark.parametrize("listed", [False, True], ids=["not listed", "listed"])
def test_acquired_memory_is_usable_on_all_devices_of_the_import(
    icd: Icd, sandbox: Sandbox, kind: int, listed: bool
) -> None:
    """What one queue acquires may be used in the queues of all devices of the import; what one releases, by none."""
    with icd.open(sandbox) as session:
        for importer in importing(session, kind, devices=2):
            devices = importer.able[:2]
            context = importer.platform.context(devices)
            words = [CL.MEM_DEVICE_HANDLE_LIST_KHR, *devices, 0] if listed else []
            importer.memory.write(BEFORE)
            memory = importer.buffer(*words, context=context)
            queues = [importer.platform.queue(context, device) for device in devices]
            importer.hand_over("Acquire", queues[0], memory)
            importer.expect_success("clFinish", queues[0])
            assert importer.platform.read(queues[1], memory, len(BEFORE)) == BEFORE
            importer.platform.write(queues[1], memory, AFTER)
            importer.expect_success("clFinish", queues[1])
            importer.hand_over("Release", queues[1], memory)
            importer.expect_success("clFinish", queues[1])
            assert importer.memory.read(len(AFTER)) == AFTER


@requirement("XM-ACQ-010")
@KINDS
def test_hand_over_makes_data_visible_on_the_other_side(icd: Icd, sandbox: Sandbox, kind: int) -> None:
    """Data from outside are there after each acquire, data of OpenCL outside after each release."""
    with icd.open(sandbox) as session:
        for importer in importing(session, kind):
            memory = importer.buffer()
            queue = importer.platform.queue(importer.context, importer.device)
            for turn in range(3):
                outside, inside = bytes([turn]) + BEFORE, bytes([turn]) + AFTER
                importer.memory.write(outside)
                importer.hand_over("Acquire", queue, memory)
                assert importer.platform.read(queue, memory, len(outside)) == outside
                importer.platform.write(queue, memory, inside)
                importer.hand_over("Release", queue, memory)
                importer.expect_success("clFinish", queue)
                assert importer.memory.read(len(inside)) == inside


@requirement("XM-ACQ-010")
@KINDS
@pytest.mark.parametrize("properties", [0, CL.QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE], ids=["in order", "out of order"])
def test_hand_over_after_an_event_sees_the_data_of_that_moment(
    icd: Icd, sandbox: Sandbox, kind: int, properties: int
) -> None:
    """An acquire that waits for an event sees the data that were there when the event completed."""
    with icd.open(sandbox) as session:
        for importer in importing(session, kind):
            memory = importer.buffer()
            queue = in_order_or_not(importer, properties)
            awaited = importer.platform.user_event(importer.context)
            acquired = importer.hand_over("Acquire", queue, memory, after=awaited)
            content, event = session.buffer(len(BEFORE), 0), session.buffer(8, 0)
            importer.expect_success(
                "clEnqueueReadBuffer", queue, memory, 0, 0, len(BEFORE), content, 1, [acquired], event
            )
            importer.expect_success("clFlush", queue)
            importer.memory.write(BEFORE)
            importer.platform.set_event(awaited)
            importer.expect_success("clFinish", queue)
            assert content.bytes() == BEFORE


def in_order_or_not(importer: Importer, properties: int) -> Value:
    error, queue = importer.platform.create("clCreateCommandQueue", importer.context, importer.device, properties)
    if error:
        raise Unsupported("machine", f"clCreateCommandQueue answered {error}: no out-of-order queue", "out of order")
    return queue


@requirement("XM-ACQ-010")
@extension("cl_khr_semaphore")
@KINDS
def test_hand_over_by_semaphores_keeps_their_order(icd: Icd, sandbox: Sandbox, kind: int) -> None:
    """Wait, acquire, work, release, signal: nothing of it happens before the first semaphore is signalled."""
    outcomes: list[str] = []
    with icd.open(sandbox) as session:
        platforms_with(session, "cl_khr_semaphore")
        for importer in importing(session, kind):
            semaphores = Semaphores(importer.platform)
            importer.context = semaphores.context
            memory = importer.buffer()
            first, last = semaphores.make(), semaphores.make()
            queues = [semaphores.queue(), semaphores.queue()]
            importer.memory.write(BEFORE)
            awaited = importer.platform.user_event(importer.context)
            with may_block(outcomes):
                semaphores.enqueue("Signal", queues[0], first, after=awaited)
                importer.expect_success("clFlush", queues[0])
                semaphores.enqueue("Wait", queues[1], first)
                importer.hand_over("Acquire", queues[1], memory)
                event = session.buffer(8, 0)
                importer.platform.write(queues[1], memory, AFTER, event)
                importer.hand_over("Release", queues[1], memory)
                semaphores.enqueue("Signal", queues[1], last)
                importer.expect_success("clFlush", queues[1])
                assert importer.memory.read(len(BEFORE)) == BEFORE
                assert semaphores.payload(last) == 0
                importer.platform.set_event(awaited)
                semaphores.finish(queues[1])
                assert importer.memory.read(len(AFTER)) == AFTER
                assert semaphores.payload(last) == 1
            if outcomes:
                raise Unsupported("loader", "this ICD waits in the call, as it may: one thread cannot see the order")
