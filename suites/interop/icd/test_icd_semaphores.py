# SPDX-License-Identifier: Apache-2.0
"""Semaphores of a vendor's ICD: properties, queries, references, waits and signals (XM-SEM)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.check import (
    CANARY,
    CL,
    STATUS,
    TYPE,
    Icd,
    Platform,
    Sandbox,
    Semaphores,
    Unsupported,
    Value,
    extension,
    may_block,
    pack,
    platforms_with,
    requirement,
)

pytestmark = extension("cl_khr_semaphore")

EXTENSION = "cl_khr_semaphore"
CREATE = "clCreateSemaphoreWithPropertiesKHR"
COMMANDS = {"Wait": CL.COMMAND_SEMAPHORE_WAIT_KHR, "Signal": CL.COMMAND_SEMAPHORE_SIGNAL_KHR}
BOTH = pytest.mark.parametrize("what", list(COMMANDS))
BINARY = [CL.SEMAPHORE_TYPE_KHR, CL.SEMAPHORE_TYPE_BINARY_KHR]


def name_of(what: str) -> str:
    return f"clEnqueue{what}SemaphoresKHR"


def semaphores_of(session: object, devices: int = 1) -> list[Semaphores]:
    """For each platform that has so many devices with the extension."""
    return [Semaphores(platform, devices) for platform in platforms_with(session, EXTENSION, devices)]  # type: ignore[arg-type]


def ready(semaphores: Semaphores, what: str, queue: Value) -> Value:
    """A semaphore that a wait or a signal may take: one that is signalled, or one that is not."""
    semaphore = semaphores.make()
    if what == "Wait":
        semaphores.enqueue("Signal", queue, semaphore)
        semaphores.finish(queue)
    return semaphore


@pytest.mark.parametrize(
    "what",
    [
        pytest.param(what, marks=pytest.mark.requirement("XM-SEM-001" if what == "NULL" else "XM-SEM-002"))
        for what in ("NULL", "empty", "device list")
    ],
)
def test_semaphore_without_a_type_is_invalid_value(icd: Icd, sandbox: Sandbox, what: str) -> None:
    """NULL for the property list, and a list without a type, give CL_INVALID_VALUE."""
    with icd.open(sandbox) as session:
        for semaphores in semaphores_of(session):
            listed = {
                "NULL": None,
                "empty": semaphores.words(0),
                "device list": semaphores.words(semaphores.list_name, semaphores.device, 0, 0),
            }[what]
            assert semaphores.platform.create(CREATE, semaphores.context, listed)[0] == CL.INVALID_VALUE
            assert semaphores.make()


@requirement("XM-SEM-003")
@pytest.mark.parametrize(
    "words",
    [[*BINARY, 0x7001, 1], [0x7001, 1, *BINARY], [CL.SEMAPHORE_TYPE_KHR, 0x7FFF], [*BINARY, *BINARY]],
    ids=["unknown name", "unknown name first", "unknown type", "type twice"],
)
def test_wrong_property_of_a_semaphore_is_invalid_property(icd: Icd, sandbox: Sandbox, words: list[int]) -> None:
    """An unknown name, a bad value and a name that is there twice give CL_INVALID_PROPERTY."""
    with icd.open(sandbox) as session:
        for semaphores in semaphores_of(session):
            assert semaphores.create(*words)[0] == CL.INVALID_PROPERTY
            assert semaphores.make()


@requirement("XM-SEM-003")
def test_semaphore_with_two_device_lists_is_invalid_property(icd: Icd, sandbox: Sandbox) -> None:
    """So does a list of devices that is there twice."""
    with icd.open(sandbox) as session:
        for semaphores in semaphores_of(session):
            listed = [semaphores.list_name, semaphores.device, 0]
            assert semaphores.create(*BINARY, *listed, *listed)[0] == CL.INVALID_PROPERTY
            assert semaphores.create(*BINARY, *listed)[1]


def require_one_device(platform: Platform) -> None:
    if not platform.is_since(1, 0, 0):
        raise Unsupported("loader", f"that a semaphore is of one device came with revision 1.0.0 of {EXTENSION}")


@requirement("XM-SEM-004")
def test_semaphore_of_several_devices_without_a_list_is_invalid_property(icd: Icd, sandbox: Sandbox) -> None:
    """In a context of several devices a list without devices gives CL_INVALID_PROPERTY (grey area 42)."""
    with icd.open(sandbox) as session:
        for semaphores in semaphores_of(session, devices=2):
            require_one_device(semaphores.platform)
            assert semaphores.create(*BINARY)[0] == CL.INVALID_PROPERTY
            assert semaphores.make(device=semaphores.devices[1])


@requirement("XM-SEM-005")
@pytest.mark.parametrize("what", ["none", "two", "of no context"])
def test_semaphore_device_list_of_other_than_one_is_invalid_device(icd: Icd, sandbox: Sandbox, what: str) -> None:
    """A list of no device, of two, or of one that is none of the context's gives CL_INVALID_DEVICE."""
    with icd.open(sandbox) as session:
        for semaphores in semaphores_of(session, devices=2 if what == "two" else 1):
            if what == "two":
                require_one_device(semaphores.platform)
            others = [device for device in semaphores.platform.devices if device not in semaphores.devices]
            if what == "of no context" and not others:
                raise Unsupported("machine", "this ICD has no second device on this machine")
            for before in (True, False):
                devices = {
                    "none": [],
                    "two": semaphores.devices,
                    "of no context": others[:1],
                }
                listed = [semaphores.list_name, *devices[what], 0]
                words = [*listed, *BINARY] if before else [*BINARY, *listed]
                assert semaphores.create(*words)[0] == CL.INVALID_DEVICE
            assert semaphores.make()


@requirement("XM-SEM-006")
def test_new_semaphore_is_not_signalled(icd: Icd, sandbox: Sandbox) -> None:
    """A new semaphore is not signalled."""
    with icd.open(sandbox) as session:
        for semaphores in semaphores_of(session):
            assert semaphores.payload(semaphores.make()) == 0


@requirement("XM-SEM-008")
@pytest.mark.parametrize(
    ("query", "size"),
    [
        pytest.param(CL.SEMAPHORE_CONTEXT_KHR, 8, id="context"),
        pytest.param(CL.SEMAPHORE_REFERENCE_COUNT_KHR, 4, id="reference count"),
        pytest.param(CL.SEMAPHORE_PROPERTIES_KHR, 0, id="properties"),
        pytest.param(CL.SEMAPHORE_PAYLOAD_KHR, 8, id="payload"),
        pytest.param(CL.SEMAPHORE_TYPE_KHR, 4, id="type"),
        pytest.param(0, 0, id="devices"),
    ],
)
def test_semaphore_queries_answer_by_the_size_rules(icd: Icd, sandbox: Sandbox, query: int, size: int) -> None:
    """Each query gives its value, by the size rules of all queries."""
    with icd.open(sandbox) as session:
        for semaphores in semaphores_of(session):
            listed = [*BINARY, semaphores.list_name, semaphores.device, 0]
            error, semaphore = semaphores.create(*listed)
            assert not error
            name = query or semaphores.list_name
            expected = {
                CL.SEMAPHORE_CONTEXT_KHR: [pack([semaphores.context])],
                CL.SEMAPHORE_PROPERTIES_KHR: [pack([*listed, 0])],
                CL.SEMAPHORE_PAYLOAD_KHR: [pack([0])],
                CL.SEMAPHORE_TYPE_KHR: [pack([CL.SEMAPHORE_TYPE_BINARY_KHR], 4)],
                0: [
                    pack([semaphores.device]),
                    pack([semaphores.device, 0]),
                ],  # no text says whether an end marker belongs to it
            }.get(query)
            error, value = semaphores.query(semaphore, name)
            assert error == CL.SUCCESS
            assert any(value) if expected is None else value in expected  # no text says how many references there are
            assert size in (0, len(value))
            for room in (0, 1, len(value) - 1):
                memory = session.buffer(max(room, 1))
                result = semaphores.call("clGetSemaphoreInfoKHR", semaphore, name, room, memory, None)
                assert result == CL.INVALID_VALUE
            larger = session.buffer(len(value) + 32)
            assert semaphores.call("clGetSemaphoreInfoKHR", semaphore, name, len(value), larger, None) == CL.SUCCESS
            assert larger.bytes() == value + bytes([CANARY]) * 32


@requirement("XM-SEM-008")
def test_unknown_query_of_a_semaphore_is_invalid_value(icd: Icd, sandbox: Sandbox) -> None:
    """A query that nobody knows gives CL_INVALID_VALUE."""
    with icd.open(sandbox) as session:
        for semaphores in semaphores_of(session):
            semaphore = semaphores.make()
            for name in (0, 0x7001, CL.QUEUE_CONTEXT):
                assert semaphores.query(semaphore, name)[0] == CL.INVALID_VALUE


@requirement("XM-SEM-009")
@pytest.mark.parametrize("shape", ["type", "type and device", "device and type"])
def test_properties_of_a_semaphore_come_back(icd: Icd, sandbox: Sandbox, shape: str) -> None:
    """The property list is answered as it was given, with nested lists and the end marker."""
    with icd.open(sandbox) as session:
        for semaphores in semaphores_of(session):
            nested = [semaphores.list_name, semaphores.device, 0]
            words = {
                "type": BINARY,
                "type and device": [*BINARY, *nested],
                "device and type": [*nested, *BINARY],
            }[shape]
            error, semaphore = semaphores.create(*words)
            assert not error
            assert semaphores.query(semaphore, CL.SEMAPHORE_PROPERTIES_KHR) == (0, pack([*words, 0]))


@requirement("XM-SEM-010")
def test_reference_count_of_a_semaphore_follows_retain_and_release(icd: Icd, sandbox: Sandbox) -> None:
    """Each retain adds a reference, each release drops one."""
    with icd.open(sandbox) as session:
        for semaphores in semaphores_of(session):
            semaphore = semaphores.make()
            before = int.from_bytes(semaphores.query(semaphore, CL.SEMAPHORE_REFERENCE_COUNT_KHR)[1], "little")
            for function, more in (("Retain", 1), ("Retain", 2), ("Release", 1), ("Release", 0)):
                assert semaphores.call(f"cl{function}SemaphoreKHR", semaphore) == CL.SUCCESS
                assert semaphores.query(semaphore, CL.SEMAPHORE_REFERENCE_COUNT_KHR) == (0, pack([before + more], 4))
            assert semaphores.call("clReleaseSemaphoreKHR", semaphore) == CL.SUCCESS


@requirement("XM-SEM-010")
@pytest.mark.parametrize("function", ["clRetainSemaphoreKHR", "clReleaseSemaphoreKHR", "clGetSemaphoreInfoKHR"])
def test_null_for_a_semaphore_is_invalid_semaphore(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """NULL for the semaphore gives CL_INVALID_SEMAPHORE_KHR: no loader looks at these handles."""
    with icd.open(sandbox) as session:
        for platform in platforms_with(session, EXTENSION):
            value = session.buffer(8)
            further = [CL.SEMAPHORE_PAYLOAD_KHR, 8, value, None] if function.endswith("InfoKHR") else []
            assert platform.call(function, None, *further) == CL.INVALID_SEMAPHORE_KHR


@requirement("XM-SEM-011")
@BOTH
def test_wait_or_signal_of_no_semaphore_is_invalid_value(icd: Icd, sandbox: Sandbox, what: str) -> None:
    """A wait or signal of no semaphore gives CL_INVALID_VALUE, with a list or without."""
    with icd.open(sandbox) as session:
        for semaphores in semaphores_of(session):
            queue = semaphores.queue()
            semaphore = ready(semaphores, what, queue)
            for listed in (None, semaphores.words(semaphore)):
                assert semaphores.call(name_of(what), queue, 0, listed, None, 0, None, None) == CL.INVALID_VALUE
            semaphores.enqueue(what, queue, semaphore)
            semaphores.finish(queue)


@requirement("XM-SEM-012")
@BOTH
@pytest.mark.parametrize("how", ["alone", "after one"])
def test_null_in_a_list_of_semaphores_is_invalid_semaphore(icd: Icd, sandbox: Sandbox, what: str, how: str) -> None:
    """NULL in the list gives CL_INVALID_SEMAPHORE_KHR."""
    with icd.open(sandbox) as session:
        for semaphores in semaphores_of(session):
            queue = semaphores.queue()
            words = [None] if how == "alone" else [ready(semaphores, what, queue), None]
            result = semaphores.call(name_of(what), queue, len(words), semaphores.words(*words), None, 0, None, None)
            assert result == CL.INVALID_SEMAPHORE_KHR


@requirement("XM-SEM-012")
@BOTH
def test_semaphore_of_another_context_is_invalid_context(icd: Icd, sandbox: Sandbox, what: str) -> None:
    """A semaphore of another context of the same device gives CL_INVALID_CONTEXT."""
    with icd.open(sandbox) as session:
        for platform in platforms_with(session, EXTENSION):
            one, two = Semaphores(platform), Semaphores(platform)
            queue = one.queue()
            own, other = ready(one, what, queue), ready(two, what, two.queue())
            for words in ([other], [own, other]):
                listed = platform.words(*words)
                assert (
                    platform.call(name_of(what), queue, len(words), listed, None, 0, None, None) == CL.INVALID_CONTEXT
                )


@requirement("XM-SEM-012")
@BOTH
@pytest.mark.parametrize("how", ["other device", "NULL"])
def test_queue_of_a_device_without_the_semaphore_is_invalid_command_queue(
    icd: Icd, sandbox: Sandbox, what: str, how: str
) -> None:
    """A queue of a device that the semaphore is not for, or none at all, gives CL_INVALID_COMMAND_QUEUE."""
    with icd.open(sandbox) as session:
        for semaphores in semaphores_of(session, devices=2 if how == "other device" else 1):
            semaphore = ready(semaphores, what, semaphores.queue())
            other = semaphores.queue(semaphores.devices[1]) if how == "other device" else None
            listed = semaphores.words(semaphore)
            assert semaphores.call(name_of(what), other, 1, listed, None, 0, None, None) == CL.INVALID_COMMAND_QUEUE


@requirement("XM-SEM-013")
@BOTH
@pytest.mark.parametrize("payload", [None, 0, 1, 0xDEAD_BEEF_0000_0001], ids=str)
def test_payloads_of_binary_semaphores_are_ignored(icd: Icd, sandbox: Sandbox, what: str, payload: int | None) -> None:
    """Binary semaphores need no payloads; what is given is ignored."""
    with icd.open(sandbox) as session:
        for semaphores in semaphores_of(session):
            queue = semaphores.queue()
            semaphore = ready(semaphores, what, queue)
            given = None if payload is None else semaphores.words(payload)
            result = semaphores.call(name_of(what), queue, 1, semaphores.words(semaphore), given, 0, None, None)
            assert result == CL.SUCCESS
            semaphores.finish(queue)
            if what == "Signal":
                assert semaphores.payload(semaphore) == 1


@requirement("XM-SEM-014")
@BOTH
@pytest.mark.parametrize("how", ["count", "list", "no event", "no event after one"])
def test_wait_list_that_does_not_fit_a_semaphore_command_is_refused(
    icd: Icd, sandbox: Sandbox, what: str, how: str
) -> None:
    """A count without a list of events, a list without a count, or NULL for an event: CL_INVALID_EVENT_WAIT_LIST."""
    with icd.open(sandbox) as session:
        for semaphores in semaphores_of(session):
            queue = semaphores.queue()
            semaphore = ready(semaphores, what, queue)
            event = semaphores.platform.user_event(semaphores.context)
            semaphores.platform.set_event(event)
            count, events = {
                "count": (1, None),
                "list": (0, semaphores.words(event)),
                "no event": (1, semaphores.words(None)),
                "no event after one": (2, semaphores.words(event, None)),
            }[how]
            listed = semaphores.words(semaphore)
            result = semaphores.call(name_of(what), queue, 1, listed, None, count, events, None)
            assert result == CL.INVALID_EVENT_WAIT_LIST
            assert semaphores.enqueue(what, queue, semaphore, after=event)
            semaphores.finish(queue)


@requirement("XM-SEM-014")
@BOTH
@pytest.mark.parametrize("how", ["failed", "of another context"])
def test_semaphore_command_after_a_bad_event_is_an_error(icd: Icd, sandbox: Sandbox, what: str, how: str) -> None:
    """A failed event gives CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, one of another context CL_INVALID_CONTEXT."""
    with icd.open(sandbox) as session:
        for semaphores in semaphores_of(session):
            queue = semaphores.queue()
            listed = semaphores.words(ready(semaphores, what, queue))
            context = semaphores.context if how == "failed" else semaphores.platform.context([semaphores.device])
            event = semaphores.platform.user_event(context)
            semaphores.platform.set_event(event, CL.OUT_OF_RESOURCES if how == "failed" else CL.COMPLETE)
            result = semaphores.call(name_of(what), queue, 1, listed, None, 1, [event], None)
            assert result == (CL.EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST if how == "failed" else CL.INVALID_CONTEXT)


@requirement("XM-SEM-014")
@BOTH
def test_semaphore_command_waits_for_the_events_of_its_list(
    icd: Icd, sandbox: Sandbox, record: Callable[[str], None], what: str
) -> None:
    """A wait or signal does nothing before the events of its list are complete."""
    outcomes: list[str] = []
    with icd.open(sandbox) as session:
        for semaphores in semaphores_of(session):
            queue = semaphores.queue()
            semaphore = ready(semaphores, what, queue)
            awaited = semaphores.platform.user_event(semaphores.context)
            with may_block(outcomes):
                event = semaphores.enqueue(what, queue, semaphore, after=awaited)
                semaphores.expect_success("clFlush", queue)
                assert semaphores.platform.event(event, STATUS) > CL.COMPLETE
                semaphores.platform.set_event(awaited)
                semaphores.finish(queue)
                assert semaphores.platform.event(event, STATUS) == CL.COMPLETE
                assert what == "Wait" or semaphores.payload(semaphore) == 1
                outcomes.append("returns")
            if "blocks" in outcomes:
                break
    record(outcomes[-1])


@requirement("XM-SEM-015")
@BOTH
def test_event_of_a_semaphore_command_has_its_type(icd: Icd, sandbox: Sandbox, what: str) -> None:
    """The event of the command tells what it is."""
    with icd.open(sandbox) as session:
        for semaphores in semaphores_of(session):
            queue = semaphores.queue()
            event = semaphores.enqueue(what, queue, ready(semaphores, what, queue))
            semaphores.finish(queue)
            assert semaphores.platform.event(event, TYPE) == COMMANDS[what]


@requirement("XM-SEM-016")
@pytest.mark.parametrize("count", [1, 3])
def test_payload_follows_signal_and_wait(icd: Icd, sandbox: Sandbox, count: int) -> None:
    """A completed signal leaves each semaphore signalled, again and again, with a wait between."""
    with icd.open(sandbox) as session:
        for semaphores in semaphores_of(session):
            queue = semaphores.queue()
            several = [semaphores.make() for _ in range(count)]
            for what in ("Signal", "Wait") * 3:
                semaphores.enqueue(what, queue, *several)
                semaphores.finish(queue)
                if what == "Signal":
                    assert [semaphores.payload(semaphore) for semaphore in several] == [True] * count


@requirement("XM-SEM-020")
@pytest.mark.parametrize("count", [1, 3])
def test_wait_leaves_semaphores_as_they_were_at_first(icd: Icd, sandbox: Sandbox, count: int) -> None:
    """When a wait has completed, the payload of each semaphore is 0 again."""
    with icd.open(sandbox) as session:
        for semaphores in semaphores_of(session):
            queue = semaphores.queue()
            several = [semaphores.make() for _ in range(count)]
            for _ in range(3):
                for what in ("Signal", "Wait"):
                    semaphores.enqueue(what, queue, *several)
                    semaphores.finish(queue)
                assert [semaphores.payload(semaphore) for semaphore in several] == [0] * count


@requirement("XM-SEM-016")
def test_wait_ends_with_the_signal(icd: Icd, sandbox: Sandbox, record: Callable[[str], None]) -> None:
    """A wait for a semaphore whose signal has been enqueued ends when that is done, not before."""
    outcomes: list[str] = []
    with icd.open(sandbox) as session:
        for semaphores in semaphores_of(session):
            queues = [semaphores.queue(), semaphores.queue()]
            semaphore = semaphores.make()
            awaited = semaphores.platform.user_event(semaphores.context)
            with may_block(outcomes):
                semaphores.enqueue("Signal", queues[0], semaphore, after=awaited)
                semaphores.expect_success("clFlush", queues[0])
                event = semaphores.enqueue("Wait", queues[1], semaphore)
                semaphores.expect_success("clFlush", queues[1])
                assert semaphores.platform.event(event, STATUS) > CL.COMPLETE
                semaphores.platform.set_event(awaited)
                semaphores.finish(queues[1])
                assert semaphores.platform.event(event, STATUS) == CL.COMPLETE
                outcomes.append("returns")
            if "blocks" in outcomes:
                break
    record(outcomes[-1])


@requirement("XM-SEM-018")
def test_command_after_a_barrier_comes_after_the_semaphore_wait(
    icd: Icd, sandbox: Sandbox, record: Callable[[str], None]
) -> None:
    """In an out-of-order queue, what stands after a barrier after a wait comes after the wait."""
    outcomes: list[str] = []
    with icd.open(sandbox) as session:
        for semaphores in semaphores_of(session):
            queue = out_of_order_queue(semaphores.platform, semaphores)
            semaphore = ready(semaphores, "Wait", queue)
            awaited = semaphores.platform.user_event(semaphores.context)
            with may_block(outcomes):
                semaphores.enqueue("Wait", queue, semaphore, after=awaited)
                semaphores.expect_success("clEnqueueBarrierWithWaitList", queue, 0, None, None)
                event = session.buffer(8, 0)
                memory = semaphores.platform.buffer(semaphores.context)
                semaphores.platform.write(queue, memory, b"after the barrier", event)
                semaphores.expect_success("clFlush", queue)
                assert semaphores.platform.event(event.handle(), STATUS) > CL.COMPLETE
                semaphores.platform.set_event(awaited)
                semaphores.finish(queue)
                assert semaphores.platform.event(event.handle(), STATUS) == CL.COMPLETE
                outcomes.append("returns")
            if "blocks" in outcomes:
                break
    record(outcomes[-1])


def out_of_order_queue(platform: Platform, semaphores: Semaphores) -> Value:
    error, queue = platform.create(
        "clCreateCommandQueue", semaphores.context, semaphores.device, CL.QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE
    )
    if error:
        raise Unsupported("machine", f"clCreateCommandQueue answered {error}: no out-of-order queue", "out of order")
    return queue
