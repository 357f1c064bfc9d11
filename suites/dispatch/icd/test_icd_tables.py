# SPDX-License-Identifier: Apache-2.0
"""The dispatch table in every object of a vendor's ICD, by every way of getting one (DISP-OBJ, DISP-TAB, DISP-EXT)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from harness.check import (
    CL,
    FURTHER_OBJECTS,
    NO_TEXTS,
    OBJECT_QUERIES,
    QUERIED_OBJECTS,
    TAGGED,
    Code,
    Icd,
    IcdObjects,
    IcdSession,
    Loader,
    Sandbox,
    SubjectFailure,
    Unsupported,
    Value,
    api,
    calls,
    misspelt,
    opencl_version,
    requirement,
    slots,
)

# Suffixes of extensions; functions of OpenGL sharing have none.
_EXTENSION = re.compile(r"(KHR|EXT|[a-z]GL[A-Z]\w*)$")
# Applications call these in the loader, or nobody does since OpenCL 1.1.
_NEVER_CALLED = {"clGetExtensionFunctionAddress", "clUnloadCompiler", "clSetCommandQueueProperty", "clGetPlatformIDs"}


def answers(session: IcdSession, handle: Value, kind: str) -> int:
    """What the object's own table has for a query that each object of its class answers: the result, 0 for success."""
    function, query = OBJECT_QUERIES[kind]
    entry = session.entry(handle, function)
    if not entry and any(session.entry(handle, name) == CL.ICD2_TAG_KHR for name in TAGGED):
        return 0  # ICD 2: the loader has a table of its own
    size = session.buffer(8, 0)
    return session.call_at(entry, function, handle, api().constant(query), 0, None, size)


@requirement("DISP-OBJ-001", "DISP-OBJ-002")
@pytest.mark.parametrize("kind", OBJECT_QUERIES)
def test_object_of_each_class_begins_with_a_table(icd: Icd, sandbox: Sandbox, kind: str) -> None:
    """An object begins with the address of a dispatch table, and is known to the functions that stand there."""
    with icd.open(sandbox) as session:
        for platform in session.some_platforms():
            handle = session.objects(platform)[kind]
            session.check_table(handle)
            assert answers(session, handle, kind) == 0


@requirement("DISP-OBJ-003")
@pytest.mark.parametrize("function", FURTHER_OBJECTS)
def test_object_that_a_function_makes_begins_with_a_table(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """So does every object that a function gives: events of commands, sub-devices, kernels of programs and so on."""
    kind, make = FURTHER_OBJECTS[function]
    with icd.open(sandbox) as session:
        for platform in session.some_platforms():
            version = session.version(platform)
            objects = session.objects(platform)
            objects.require_function(function, version)
            handle = make(objects)
            session.check_table(handle)
            assert answers(session, handle, kind) == 0


# What gives several objects at once: their class, and a function that gives them.
LISTS: dict[str, tuple[str, Callable[[IcdObjects], list[Value]]]] = {
    "clGetDeviceIDs": ("cl_device_id", lambda o: o.session.GetDeviceIDs(o.platform)),
    "clCreateSubDevices": ("cl_device_id", lambda o: parts(o)),
    "clCreateKernelsInProgram": ("cl_kernel", lambda o: kernels(o)),
    "CL_CONTEXT_DEVICES": ("cl_device_id", lambda o: listed(o, "clGetContextInfo", of_all(o), "CL_CONTEXT_DEVICES")),
}


def of_all(objects: IcdObjects) -> Value:
    """A context of all devices of the platform."""
    properties = [api().constant("CL_CONTEXT_PLATFORM"), objects.platform, 0]
    devices = objects.session.GetDeviceIDs(objects.platform)
    return objects.made_by("clCreateContext", properties, len(devices), devices, None, None)


def listed(objects: IcdObjects, function: str, handle: Value, query: str) -> list[Value]:
    """The objects that a query answers."""
    session, size = objects.session, objects.session.buffer(8, 0)
    number = api().constant(query)
    objects.require(function, session.call(function, handle, number, 0, None, size))
    answer = session.buffer(size.u64(), 0)
    objects.require(function, session.call(function, handle, number, size.u64(), answer, None))
    return answer.handles()


def several(objects: IcdObjects, function: str, *arguments: Any) -> list[Value]:
    """The objects of a function that takes the room for them, a list, and where their number goes."""
    session, count = objects.session, objects.session.buffer(4, 0)
    objects.require_function(function, objects.version())
    objects.require(function, session.call(function, *arguments, 0, None, count))
    listed = session.buffer(8 * count.u32(), 0)
    objects.require(function, session.call(function, *arguments, count.u32(), listed, None))
    return listed.handles()


def parts(objects: IcdObjects) -> list[Value]:
    """The sub-devices of one compute unit each."""
    return several(objects, "clCreateSubDevices", objects.device, [api().constant("CL_DEVICE_PARTITION_EQUALLY"), 1, 0])


def kernels(objects: IcdObjects) -> list[Value]:
    """The kernels of a program that has two."""
    return several(objects, "clCreateKernelsInProgram", objects.named("built"))


@requirement("DISP-OBJ-003")
@pytest.mark.parametrize("way", LISTS)
def test_every_object_of_a_list_begins_with_a_table(icd: Icd, sandbox: Sandbox, way: str) -> None:
    """So does each of several objects that are given at once, and not the first one alone."""
    kind, give = LISTS[way]
    with icd.open(sandbox) as session:
        for platform in session.some_platforms():
            session.objects(platform).require_device()
            objects = give(session.objects(platform))
            assert objects, "the list is empty"
            for number, handle in enumerate(objects):
                session.check_table(handle)
                assert answers(session, handle, kind) == 0, f"number {number} of {len(objects)}"


@requirement("DISP-OBJ-003")
def test_event_of_every_command_begins_with_a_table(icd: Icd, sandbox: Sandbox) -> None:
    """So does the event of each command that a function of the core enqueues."""

    def check(objects: IcdObjects, function: str) -> None:
        session, event = objects.session, objects.session.buffer(8, 0)
        call = calls.prepare(objects, function)
        call.arguments[[parameter.name for parameter in call.function.parameters].index("event")] = event
        error = call.make()
        calls.require_function(objects, function, error)
        objects.require(function, error)
        assert isinstance(session, IcdSession)
        session.check_table(event.handle())
        assert answers(session, event.handle(), "cl_event") == 0

    with icd.attempts(sandbox) as attempts:
        for function in calls.recipes():
            if function.startswith("clEnqueue") and "event" in {p.name for p in api().functions[function].parameters}:
                attempts.check(function, lambda objects, function=function: check(objects, function))  # type: ignore[misc]


@requirement("DISP-OBJ-003")
def test_queue_on_the_device_begins_with_a_table(icd: Icd, sandbox: Sandbox) -> None:
    """So does a queue on the device, which runs nothing for the host."""
    name = "clCreateCommandQueueWithProperties"
    bits = CL.QUEUE_ON_DEVICE | CL.QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE
    with icd.open(sandbox) as session:
        objects = session.objects(session.some_platforms()[0])
        objects.require_function(name, objects.version())
        able = session.buffer(8, 0)
        session.call("clGetDeviceInfo", objects.device, CL.DEVICE_QUEUE_ON_DEVICE_PROPERTIES, 8, able, None)
        if not able.u64() & CL.QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE:
            raise Unsupported("loader", "the device has no queues of its own", "device queues")
        queue = objects.made_by(name, objects.context, objects.device, [CL.QUEUE_PROPERTIES, bits, 0])
        session.check_table(queue)
        assert answers(session, queue, "cl_command_queue") == 0


@requirement("DISP-OBJ-004")
@pytest.mark.parametrize(("source", "query", "kind"), QUERIED_OBJECTS, ids=lambda text: str(text).removeprefix("CL_"))
def test_object_that_a_query_answers_begins_with_a_table(
    icd: Icd, sandbox: Sandbox, source: str, query: str, kind: str
) -> None:
    """So does every object that a query about another object answers."""
    with icd.open(sandbox) as session:
        for platform in session.some_platforms():
            objects = session.objects(platform)
            answer = session.buffer(8, 0)
            assert (
                session.call(OBJECT_QUERIES[source][0], objects[source], api().constant(query), 8, answer, None)
                == CL.SUCCESS
            )
            session.check_table(answer.handle())
            assert answers(session, answer.handle(), kind) == 0


def empty_slots(session: IcdSession, platform: Value) -> list[str]:
    """The functions of the version that a platform reports which its table does not have."""
    version = session.version(platform)
    required = [
        slot
        for slot in slots().values()
        if tuple(map(int, opencl_version(slot).split("."))) <= version
        and not _EXTENSION.search(slot.function)
        and slot.function not in _NEVER_CALLED
    ]
    assert required
    return [s.function for s in required if not session.word(session.table(platform), 8 * s.number)]


@requirement("DISP-TAB-008")
def test_table_has_every_function_of_its_version(icd: Icd, sandbox: Sandbox) -> None:
    """The table has every function of the version of OpenCL that the platform reports."""
    with icd.open(sandbox) as session:
        for platform in session.some_platforms():
            empty = empty_slots(session, platform)
            assert not empty


@requirement("DISP-TAB-008")
def test_application_reaches_every_function_of_the_version(icd: Icd, through: Loader, sandbox: Sandbox) -> None:
    """What an application gets that calls a function of the version through a loader comes from the vendor."""
    with icd.open(sandbox) as session:
        empty = empty_slots(session, session.some_platforms()[0])
    seen = [f"{function}: {call_through(through, icd, sandbox, function)}" for function in empty]
    assert not seen, "; ".join(seen)


def call_through(loader: Loader, icd: Icd, sandbox: Sandbox, function: str) -> str:
    """What an application gets of a call whose slot is empty."""
    if function not in calls.recipes():
        return "not called: harness/api/contract has no proper call of it"
    try:
        with icd.start(loader, sandbox) as cl:
            error = calls.prepare(IcdObjects(cl, cl.GetPlatformIDs()[0]), function).make()
    except Unsupported as reason:
        return f"not called: {reason}"
    except SubjectFailure as failure:
        return str(failure).partition("\n")[0]
    return f"{Code(error)}, which no vendor said"


@requirement("DISP-EXT-017")
def test_address_query_for_no_function_or_no_platform_is_null(icd: Icd, sandbox: Sandbox) -> None:
    """clGetExtensionFunctionAddressForPlatform answers NULL to a name of no function, and to a platform of nobody's."""
    name = "clGetExtensionFunctionAddressForPlatform"
    with icd.open(sandbox) as session:
        for platform in session.some_platforms():
            objects = session.objects(platform)
            objects.require_function(name, session.version(platform))
            for unknown in ("clharnessNoSuchFunction", "cl"):
                assert not session.call(name, platform, unknown), unknown
            for function in api().functions:
                if session.call(name, platform, function):
                    for unknown in misspelt(function):
                        assert unknown in api().functions or not session.call(name, platform, unknown), repr(unknown)
            assert not session.call(name, None, "clIcdGetPlatformIDsKHR")


@requirement("DISP-EXT-017")
@pytest.mark.parametrize("bytes_", NO_TEXTS)
def test_address_query_for_a_platform_and_bytes_that_are_no_text_is_null(
    icd: Icd, sandbox: Sandbox, bytes_: str
) -> None:
    """clGetExtensionFunctionAddressForPlatform answers NULL to bytes that are no text of any encoding."""
    name = "clGetExtensionFunctionAddressForPlatform"
    with icd.open(sandbox) as session:
        for platform in session.some_platforms():
            session.objects(platform).require_function(name, session.version(platform))
            assert not session.call(name, platform, session.data(NO_TEXTS[bytes_] + b"\0"))
