# SPDX-License-Identifier: Apache-2.0
"""Command buffers of a vendor's ICD (XM-CMD)."""

from __future__ import annotations

from typing import Any

import pytest

from harness.check import (
    CANARY,
    CL,
    EXTENSION_FUNCTIONS,
    RECORDED_SIZE,
    STATUS,
    TYPE,
    Icd,
    Sandbox,
    Unsupported,
    extension,
    pack,
    recorders,
    requirement,
)

pytestmark = extension("cl_khr_command_buffer")

EXTENSION = "cl_khr_command_buffer"
MUTABLE = "cl_khr_command_buffer_mutable_dispatch"
CREATE, ENQUEUE = "clCreateCommandBufferKHR", "clEnqueueCommandBufferKHR"


OF_BUFFERS = [name for name in EXTENSION_FUNCTIONS[EXTENSION] if name not in (CREATE, ENQUEUE)]


@requirement("XM-CMD-002")
@pytest.mark.parametrize("what", ["no queue", "NULL", "none of NULL", "two queues"])
def test_command_buffer_of_several_queues_is_invalid_value(icd: Icd, sandbox: Sandbox, what: str) -> None:
    """Without cl_khr_command_buffer_multi_device, one queue is right, and everything else CL_INVALID_VALUE."""
    with icd.open(sandbox) as session:
        for recorder in recorders(session):
            if what == "two queues" and "cl_khr_command_buffer_multi_device" in recorder.platform.extensions(
                recorder.device
            ):
                raise Unsupported("loader", "this ICD has cl_khr_command_buffer_multi_device")
            count, queues = {
                "no queue": (0, recorder.words(recorder.queue)),
                "NULL": (1, None),
                "none of NULL": (0, None),
                "two queues": (2, recorder.words(recorder.queue, recorder.queue)),
            }[what]
            assert recorder.platform.create(CREATE, count, queues, None)[0] == CL.INVALID_VALUE
            assert recorder.make()


@requirement("XM-CMD-002")
def test_null_queue_for_a_command_buffer_is_invalid_command_queue(icd: Icd, sandbox: Sandbox) -> None:
    """NULL in the list of queues gives CL_INVALID_COMMAND_QUEUE."""
    with icd.open(sandbox) as session:
        for recorder in recorders(session):
            assert recorder.platform.create(CREATE, 1, recorder.words(None), None)[0] == CL.INVALID_COMMAND_QUEUE


@requirement("PL-OTH-001", "PL-GEN-002", "PL-GEN-003", "PL-GEN-015")
def test_bad_property_of_a_command_buffer_is_invalid_value(icd: Icd, sandbox: Sandbox) -> None:
    """Unknown flags and a name that comes twice give CL_INVALID_VALUE; no list, and flags of 0, are fine.

    For a name that nobody knows the text has no error of its own: CL_INVALID_VALUE, or as elsewhere
    CL_INVALID_PROPERTY.
    """
    with icd.open(sandbox) as session:
        for recorder in recorders(session):
            for good in (None, recorder.words(0), recorder.words(CL.COMMAND_BUFFER_FLAGS_KHR, 0, 0)):
                error, buffer = recorder.platform.create(CREATE, 1, [recorder.queue], good)
                assert error == CL.SUCCESS
                assert buffer
            for bad in (
                (CL.COMMAND_BUFFER_FLAGS_KHR, 1 << 40),
                (CL.COMMAND_BUFFER_FLAGS_KHR, 0, CL.COMMAND_BUFFER_FLAGS_KHR, 0),
            ):
                assert (bad, *recorder.create(*bad)) == (bad, CL.INVALID_VALUE, 0)
            for name in (0x7777, CL.COMMAND_BUFFER_FLAGS_KHR | 1 << 40):
                error, buffer = recorder.create(name, 0)
                assert error in (CL.INVALID_VALUE, CL.INVALID_PROPERTY)
                assert not buffer


@requirement("PL-OTH-001")
def test_flags_that_the_device_cannot_do_are_invalid_property(icd: Icd, sandbox: Sandbox) -> None:
    """Simultaneous use is CL_INVALID_PROPERTY where the device does not say that it can do that.

    Where the flag is not known, as it came to be one of cl_khr_command_buffer_mutable_dispatch, it is CL_INVALID_VALUE.
    """
    with icd.open(sandbox) as session:
        for recorder in recorders(session):
            query_error, value = recorder.platform.answer(
                "clGetDeviceInfo", recorder.device, CL.DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR
            )
            able = (
                query_error == 0 and int.from_bytes(value, "little") & CL.COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE_KHR
            )
            error, buffer = recorder.create(CL.COMMAND_BUFFER_FLAGS_KHR, CL.COMMAND_BUFFER_SIMULTANEOUS_USE_KHR)
            refusals = {CL.INVALID_PROPERTY}
            if MUTABLE not in recorder.platform.extensions(recorder.device) and recorder.platform.may_be_since(0, 9, 8):
                refusals.add(CL.INVALID_VALUE)
            assert error in ({CL.SUCCESS} if able else refusals)
            assert bool(buffer) == (error == 0)


@requirement("XM-CMD-003")
def test_command_buffer_records_until_it_is_finalized(icd: Icd, sandbox: Sandbox) -> None:
    """A new command buffer records; a finalized one is executable, and is not finalized again."""
    with icd.open(sandbox) as session:
        for recorder in recorders(session):
            buffer = recorder.make()
            assert recorder.state(buffer) == CL.COMMAND_BUFFER_STATE_RECORDING_KHR
            assert recorder.call("clFinalizeCommandBufferKHR", buffer) == CL.SUCCESS
            assert recorder.state(buffer) == CL.COMMAND_BUFFER_STATE_EXECUTABLE_KHR
            again = recorder.call("clFinalizeCommandBufferKHR", buffer)
            assert again == CL.INVALID_OPERATION or not recorder.platform.is_since(0, 9, 1)
            assert recorder.state(buffer) == CL.COMMAND_BUFFER_STATE_EXECUTABLE_KHR


@requirement("XM-CMD-004")
def test_enqueue_while_it_records_is_invalid_operation(icd: Icd, sandbox: Sandbox) -> None:
    """A command buffer that records gives CL_INVALID_OPERATION when it is enqueued."""
    with icd.open(sandbox) as session:
        for recorder in recorders(session):
            buffer = recorder.make()
            assert recorder.call(ENQUEUE, 0, None, buffer, 0, None, None) == CL.INVALID_OPERATION
            recorder.expect_success("clFinalizeCommandBufferKHR", buffer)
            assert recorder.call(ENQUEUE, 0, None, buffer, 0, None, None) == CL.SUCCESS
            recorder.expect_success("clFinish", recorder.queue)


@requirement("XM-CMD-004")
def test_recording_when_finalized_is_invalid_operation(icd: Icd, sandbox: Sandbox) -> None:
    """A finalized command buffer gives CL_INVALID_OPERATION to a further command."""
    with icd.open(sandbox) as session:
        for recorder in recorders(session):
            assert recorder.fill(recorder.filling(1), 2) == CL.INVALID_OPERATION


@requirement("XM-CMD-005")
@pytest.mark.parametrize("name", ["NUM_QUEUES", "QUEUES", "REFERENCES", "STATE", "CONTEXT"])
def test_command_buffer_queries_answer_by_the_size_rules(icd: Icd, sandbox: Sandbox, name: str) -> None:
    """Each query gives its value, by the size rules of all queries."""
    with icd.open(sandbox) as session:
        for recorder in recorders(session):
            if name == "CONTEXT" and not recorder.platform.is_since(0, 9, 2):
                raise Unsupported("loader", f"this query came with revision 0.9.2 of {EXTENSION}")
            buffer = recorder.make()
            query, expected = {
                "NUM_QUEUES": (CL.COMMAND_BUFFER_NUM_QUEUES_KHR, pack([1], 4)),
                "QUEUES": (CL.COMMAND_BUFFER_QUEUES_KHR, pack([recorder.queue])),
                "REFERENCES": (CL.COMMAND_BUFFER_REFERENCE_COUNT_KHR, b""),
                "STATE": (CL.COMMAND_BUFFER_STATE_KHR, pack([CL.COMMAND_BUFFER_STATE_RECORDING_KHR], 4)),
                "CONTEXT": (CL.COMMAND_BUFFER_CONTEXT_KHR, pack([recorder.context])),
            }[name]
            if name == "REFERENCES":  # no text says how many a new one has
                expected = recorder.query(buffer, query)[1]
                assert len(expected) == 4 and any(expected)
            assert recorder.query(buffer, query) == (0, expected)
            function = "clGetCommandBufferInfoKHR"
            for room in (0, 1, len(expected) - 1):
                assert recorder.call(function, buffer, query, room, session.buffer(8), None) == CL.INVALID_VALUE
            larger = session.buffer(len(expected) + 16)
            assert recorder.call(function, buffer, query, len(expected), larger, None) == CL.SUCCESS
            assert larger.bytes() == expected + bytes([CANARY]) * 16


@requirement("XM-CMD-005")
def test_properties_of_a_command_buffer_come_back(icd: Icd, sandbox: Sandbox) -> None:
    """The properties are those that were given; without any the list may be empty or its end marker."""
    with icd.open(sandbox) as session:
        for recorder in recorders(session):
            assert recorder.query(recorder.make(), CL.COMMAND_BUFFER_PROPERTIES_ARRAY_KHR) in ((0, b""), (0, pack([0])))
            error, buffer = recorder.create(CL.COMMAND_BUFFER_FLAGS_KHR, 0)
            assert not error
            assert recorder.query(buffer, CL.COMMAND_BUFFER_PROPERTIES_ARRAY_KHR) == (
                0,
                pack([CL.COMMAND_BUFFER_FLAGS_KHR, 0, 0]),
            )


@requirement("XM-CMD-005")
def test_unknown_query_of_a_command_buffer_is_invalid_value(icd: Icd, sandbox: Sandbox) -> None:
    """A query that nobody knows gives CL_INVALID_VALUE."""
    with icd.open(sandbox) as session:
        for recorder in recorders(session):
            buffer = recorder.make()
            for name in (0, 0x7001, CL.QUEUE_CONTEXT):
                assert recorder.query(buffer, name)[0] == CL.INVALID_VALUE


@requirement("XM-CMD-006")
def test_reference_count_of_a_command_buffer_follows_retain_and_release(icd: Icd, sandbox: Sandbox) -> None:
    """Each retain adds a reference, each release drops one."""
    with icd.open(sandbox) as session:
        for recorder in recorders(session):
            buffer = recorder.make()
            before = int.from_bytes(recorder.query(buffer, CL.COMMAND_BUFFER_REFERENCE_COUNT_KHR)[1], "little")
            for function, more in (("Retain", 1), ("Retain", 2), ("Release", 1), ("Release", 0)):
                assert recorder.call(f"cl{function}CommandBufferKHR", buffer) == CL.SUCCESS
                assert recorder.query(buffer, CL.COMMAND_BUFFER_REFERENCE_COUNT_KHR) == (0, pack([before + more], 4))
            assert recorder.call("clReleaseCommandBufferKHR", buffer) == CL.SUCCESS


@requirement("XM-CMD-006")
@pytest.mark.parametrize("function", [*OF_BUFFERS, ENQUEUE])
def test_null_for_a_command_buffer_is_invalid_command_buffer(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """NULL for the command buffer gives CL_INVALID_COMMAND_BUFFER_KHR: no loader looks at these handles."""
    with icd.open(sandbox) as session:
        for recorder in recorders(session):
            if function.startswith("clCommand"):
                recorder.require_signatures()
            values: dict[str, Any] = {}
            if function == "clGetCommandBufferInfoKHR":
                values = {
                    "param_name": CL.COMMAND_BUFFER_STATE_KHR,
                    "param_value_size": 4,
                    "param_value": session.buffer(4),
                }
            assert recorder.platform.call_named(function, **values) == CL.INVALID_COMMAND_BUFFER_KHR


@requirement("XM-CMD-007")
def test_commands_are_executed_at_each_enqueue(icd: Icd, sandbox: Sandbox) -> None:
    """What was recorded is done each time that the command buffer is enqueued, and not before."""
    with icd.open(sandbox) as session:
        for recorder in recorders(session):
            recorder.platform.write(recorder.queue, recorder.memory, bytes(RECORDED_SIZE))
            buffer = recorder.filling(0x5A)
            assert recorder.content() == bytes(RECORDED_SIZE)
            for _ in range(2):
                recorder.execute(buffer)
                recorder.expect_success("clFinish", recorder.queue)
                assert recorder.content() == b"\x5a" * RECORDED_SIZE
                recorder.platform.write(recorder.queue, recorder.memory, bytes(RECORDED_SIZE))


@requirement("XM-CMD-008")
@pytest.mark.parametrize("how", ["count", "list", "no event", "no event after one"])
def test_wait_list_that_does_not_fit_a_command_buffer_is_refused(icd: Icd, sandbox: Sandbox, how: str) -> None:
    """A count without a list of events, a list without a count, or NULL for an event: CL_INVALID_EVENT_WAIT_LIST."""
    with icd.open(sandbox) as session:
        for recorder in recorders(session):
            buffer = recorder.make()
            recorder.expect_success("clFinalizeCommandBufferKHR", buffer)
            event = recorder.platform.user_event(recorder.context)
            recorder.platform.set_event(event)
            count, events = {
                "count": (1, None),
                "list": (0, recorder.words(event)),
                "no event": (1, recorder.words(None)),
                "no event after one": (2, recorder.words(event, None)),
            }[how]
            assert recorder.call(ENQUEUE, 0, None, buffer, count, events, None) == CL.INVALID_EVENT_WAIT_LIST
            assert recorder.execute(buffer, after=event)
            recorder.expect_success("clFinish", recorder.queue)


@requirement("XM-CMD-008")
def test_command_buffer_waits_for_the_events_of_its_list(icd: Icd, sandbox: Sandbox) -> None:
    """Nothing is executed before the events of the list are complete."""
    with icd.open(sandbox) as session:
        for recorder in recorders(session):
            recorder.platform.write(recorder.queue, recorder.memory, bytes(RECORDED_SIZE))
            awaited = recorder.platform.user_event(recorder.context)
            event = recorder.execute(recorder.filling(7), after=awaited)
            recorder.expect_success("clFlush", recorder.queue)
            assert recorder.platform.event(event, STATUS) > CL.COMPLETE
            recorder.platform.set_event(awaited)
            recorder.expect_success("clFinish", recorder.queue)
            assert recorder.platform.event(event, STATUS) == CL.COMPLETE
            assert recorder.content() == b"\7" * RECORDED_SIZE


@requirement("XM-CMD-008")
def test_event_of_a_command_buffer_has_its_type(icd: Icd, sandbox: Sandbox) -> None:
    """The event tells that its command is a command buffer."""
    with icd.open(sandbox) as session:
        for recorder in recorders(session):
            buffer = recorder.make()
            recorder.expect_success("clFinalizeCommandBufferKHR", buffer)
            event = recorder.execute(buffer)
            recorder.expect_success("clFinish", recorder.queue)
            assert recorder.platform.event(event, TYPE) == CL.COMMAND_COMMAND_BUFFER_KHR


@requirement("XM-CMD-009")
@pytest.mark.parametrize("what", ["count without list", "list without count", "two"])
def test_queues_that_do_not_fit_at_execution_are_invalid_value(icd: Icd, sandbox: Sandbox, what: str) -> None:
    """Queues that do not fit those of the creation give CL_INVALID_VALUE; as many as there, or none, are right."""
    with icd.open(sandbox) as session:
        for recorder in recorders(session):
            buffer = recorder.make()
            recorder.expect_success("clFinalizeCommandBufferKHR", buffer)
            count, queues = {
                "count without list": (1, None),
                "list without count": (0, recorder.words(recorder.queue)),
                "two": (2, recorder.words(recorder.queue, recorder.queue)),
            }[what]
            assert recorder.call(ENQUEUE, count, queues, buffer, 0, None, None) == CL.INVALID_VALUE
            for count, queues in ((0, None), (1, recorder.words(recorder.queue))):
                assert recorder.call(ENQUEUE, count, queues, buffer, 0, None, None) == CL.SUCCESS
                recorder.expect_success("clFinish", recorder.queue)


@requirement("XM-CMD-010")
@pytest.mark.parametrize("what", ["count without list", "list without count"])
def test_sync_points_that_do_not_fit_are_refused(icd: Icd, sandbox: Sandbox, what: str) -> None:
    """A number of sync points that does not fit the list gives CL_INVALID_SYNC_POINT_WAIT_LIST_KHR."""
    with icd.open(sandbox) as session:
        for recorder in recorders(session):
            buffer, point = recorder.make(), session.buffer(4, 0)
            assert recorder.fill(buffer, 1, sync_point=point) == 0
            count = {"num_sync_points_in_wait_list": 1}
            points = {"sync_point_wait_list": point}
            wrong: dict[str, Any] = count if what == "count without list" else points
            assert recorder.fill(buffer, 1, **wrong) == CL.INVALID_SYNC_POINT_WAIT_LIST_KHR
            assert recorder.fill(buffer, 1, **count, **points) == 0
