# SPDX-License-Identifier: Apache-2.0
"""How long a vendor's objects live: reference counts, and who is kept alive by whom (API-REF)."""

from __future__ import annotations

import pytest

from harness.check import (
    CL,
    FURTHER_OBJECTS,
    OBJECT_QUERIES,
    PLAIN_FORMAT,
    SHAPES,
    Callback,
    Icd,
    IcdObjects,
    IcdSession,
    Images,
    Info,
    Sandbox,
    Unsupported,
    Value,
    api,
    calls,
    expect_same,
    numbered,
    requirement,
)

COUNTED = [kind for kind, (_, query) in OBJECT_QUERIES.items() if query.endswith("REFERENCE_COUNT")]
NAMES = {"cl_mem": "MemObject", "cl_command_queue": "CommandQueue"}
LARGE = 4 << 20  # bytes: copying them takes a while
# What an object is made of: its handle may be released before.
PARENTS = [
    ("cl_context", kind) for kind in ("cl_command_queue", "cl_mem", "cl_sampler", "cl_program", "cl_kernel", "cl_event")
] + [("cl_program", "cl_kernel")]
ORDERS = {
    "as made": ["cl_context", "cl_command_queue", "cl_mem", "cl_program", "cl_kernel", "cl_event"],
    "backwards": ["cl_event", "cl_kernel", "cl_program", "cl_mem", "cl_command_queue", "cl_context"],
    "queue last": ["cl_context", "cl_program", "cl_mem", "cl_event", "cl_kernel", "cl_command_queue"],
    "kernel first": ["cl_kernel", "cl_context", "cl_mem", "cl_command_queue", "cl_event", "cl_program"],
}
# What answers the context of an object, and the ways of making one that the classes above are not made in.
CONTEXTS = {
    "cl_command_queue": ("clGetCommandQueueInfo", "CL_QUEUE_CONTEXT"),
    "cl_mem": ("clGetMemObjectInfo", "CL_MEM_CONTEXT"),
    "cl_sampler": ("clGetSamplerInfo", "CL_SAMPLER_CONTEXT"),
    "cl_program": ("clGetProgramInfo", "CL_PROGRAM_CONTEXT"),
    "cl_kernel": ("clGetKernelInfo", "CL_KERNEL_CONTEXT"),
    "cl_event": ("clGetEventInfo", "CL_EVENT_CONTEXT"),
}
KEEPING = [function for function, (kind, _) in FURTHER_OBJECTS.items() if kind in CONTEXTS]


def change(session: IcdSession, how: str, kind: str, handle: Value) -> int:
    """clRetain… or clRelease… of a class."""
    name = NAMES.get(kind) or kind.removeprefix("cl_").title()
    return session.call(f"cl{how}{name}", handle)


def count_of(session: IcdSession, kind: str, handle: Value) -> int:
    function, query = OBJECT_QUERIES[kind]
    answer = session.buffer(4)
    assert session.call(function, handle, api().constant(query), 4, answer, None) == CL.SUCCESS
    return answer.u32()


def settled_count_of(session: IcdSession, kind: str, handle: Value) -> int:
    """The same of a new object once its driver holds it no more, which it may do "to ensure correct operation of
    in-progress or scheduled activities"."""
    session.wait_until(lambda: count_of(session, kind, handle) == 1)
    return count_of(session, kind, handle)


def release_all_but(session: IcdSession, objects: IcdObjects, child: Value) -> None:
    """Releases what was made on the way to an object; its context comes last."""
    for kind in ("cl_event", "cl_kernel", "cl_program", "cl_mem", "cl_sampler", "cl_command_queue", "cl_context"):
        own = objects.by_type().get(kind, child)
        if own != child:
            assert change(session, "Release", kind, own) == CL.SUCCESS, kind


def platform_of(session: IcdSession) -> IcdObjects:
    return session.objects(session.some_platforms()[0])


@requirement("API-REF-001")
@pytest.mark.parametrize("kind", COUNTED)
def test_reference_count_of_each_class_follows_retain_and_release(icd: Icd, sandbox: Sandbox, kind: str) -> None:
    """A retain raises the reference count by one, a release lowers it by one."""
    with icd.open(sandbox) as session:
        handle = platform_of(session)[kind]
        before = count_of(session, kind, handle)
        assert before >= 1
        for more in (1, 2, 3):
            assert change(session, "Retain", kind, handle) == 0
            assert count_of(session, kind, handle) == before + more
        for more in (2, 1, 0):
            assert change(session, "Release", kind, handle) == 0
            assert count_of(session, kind, handle) == before + more


@requirement("API-REF-001")
def test_reference_count_of_a_sub_device_follows_retain_and_release(icd: Icd, sandbox: Sandbox) -> None:
    """So it is of a sub-device, which is counted, unlike the device that it is a part of."""
    with icd.open(sandbox) as session:
        objects = platform_of(session)
        objects.require_function("clCreateSubDevices", objects.version())
        part, answer = FURTHER_OBJECTS["clCreateSubDevices"][1](objects), session.buffer(4)
        query = api().constant("CL_DEVICE_REFERENCE_COUNT")
        assert session.call("clGetDeviceInfo", part, query, 4, answer, None) == CL.SUCCESS
        before = answer.u32()
        for how, more in (("Retain", 1), ("Retain", 2), ("Release", 1), ("Release", 0)):
            assert change(session, how, "cl_device", part) == CL.SUCCESS
            assert session.call("clGetDeviceInfo", part, query, 4, answer, None) == CL.SUCCESS
            assert answer.u32() == before + more


@requirement("API-REF-001")
@pytest.mark.parametrize("function", [f for f in KEEPING if FURTHER_OBJECTS[f][0] != "cl_event"])
def test_reference_count_follows_whichever_function_made_it(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """So it is of an object of each function that makes one."""
    with icd.open(sandbox) as session:
        objects = platform_of(session)
        objects.require_function(function, objects.version())
        kind, make = FURTHER_OBJECTS[function]
        handle = make(objects)
        before = settled_count_of(session, kind, handle)
        for how, more in (("Retain", 1), ("Retain", 2), ("Release", 1), ("Release", 0)):
            assert change(session, how, kind, handle) == CL.SUCCESS
            count = count_of(session, kind, handle)
            assert count == before + more, f"{count} references after cl{how}, expected {before + more}"


@requirement("API-REF-007")
@pytest.mark.parametrize("function", [f for f, (kind, _) in FURTHER_OBJECTS.items() if kind != "cl_event"])
def test_new_object_has_one_reference(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """An object of each function has one reference when it has been made."""
    with icd.open(sandbox) as session:
        objects = platform_of(session)
        objects.require_function(function, objects.version())
        kind, make = FURTHER_OBJECTS[function]
        handle = make(objects)
        if kind == "cl_device_id":
            answer, query = session.buffer(4), api().constant("CL_DEVICE_REFERENCE_COUNT")
            assert session.call("clGetDeviceInfo", handle, query, 4, answer, None) == CL.SUCCESS
            count = answer.u32()
        else:
            count = settled_count_of(session, kind, handle)
        assert count == 1, f"a new {kind} has {count} references, expected 1"


@requirement("API-REF-002")
@pytest.mark.parametrize(("parent", "kind"), PARENTS)
def test_object_keeps_what_it_is_made_of(icd: Icd, sandbox: Sandbox, parent: str, kind: str) -> None:
    """An object goes on to work when what it was made of is released before it."""
    with icd.open(sandbox) as session:
        objects = platform_of(session)
        child, above = objects[kind], objects[parent]
        assert change(session, "Release", parent, above) == 0
        assert count_of(session, kind, child) >= 1
        if kind == "cl_command_queue":
            assert session.call("clFinish", child) == CL.SUCCESS
        query, name = CONTEXTS[kind] if parent == "cl_context" else ("clGetKernelInfo", "CL_KERNEL_PROGRAM")
        answer = session.buffer(8, 0)
        assert session.call(query, child, api().constant(name), 8, answer, None) == CL.SUCCESS
        assert answer.handle() == above, f"{name} is another object"
        assert change(session, "Release", kind, child) == 0


@requirement("API-REF-011")
@pytest.mark.parametrize(("parent", "kind"), PARENTS)
def test_what_an_object_is_made_of_is_asked_after_its_release(
    icd: Icd, sandbox: Sandbox, parent: str, kind: str
) -> None:
    """The context or the program that an object names answers a query when the application has released it."""
    with icd.open(sandbox) as session:
        objects = platform_of(session)
        child, above = objects[kind], objects[parent]
        assert change(session, "Release", parent, above) == 0
        query = "clGetContextInfo" if parent == "cl_context" else "clGetProgramInfo"
        number = CL.CONTEXT_NUM_DEVICES if parent == "cl_context" else CL.PROGRAM_NUM_DEVICES
        asked = session.call(query, above, number, 4, session.buffer(4), None)
        assert asked == CL.SUCCESS, f"{query} of what it is made of answered {asked}"
        assert change(session, "Release", kind, child) == 0


@requirement("API-REF-002")
@pytest.mark.parametrize("function", KEEPING)
def test_object_goes_on_without_the_others_whichever_function_made_it(
    icd: Icd, sandbox: Sandbox, function: str
) -> None:
    """So does an object that is made in another way: it is asked when all that it was made with is released."""
    with icd.open(sandbox) as session:
        objects = platform_of(session)
        objects.require_function(function, objects.version())
        kind = FURTHER_OBJECTS[function][0]
        child, context = FURTHER_OBJECTS[function][1](objects), objects.context
        release_all_but(session, objects, child)
        query, name = CONTEXTS[kind]
        answer = session.buffer(8, 0)
        assert session.call(query, child, api().constant(name), 8, answer, None) == CL.SUCCESS
        assert answer.handle() == context, f"{name} is another object"
        assert change(session, "Release", kind, child) == 0


@requirement("API-REF-011")
@pytest.mark.parametrize("function", KEEPING)
def test_object_keeps_its_context_whichever_function_made_it(icd: Icd, sandbox: Sandbox, function: str) -> None:
    """The context of an object that is made in another way is asked when the application has released it."""
    with icd.open(sandbox) as session:
        objects = platform_of(session)
        objects.require_function(function, objects.version())
        kind = FURTHER_OBJECTS[function][0]
        child = FURTHER_OBJECTS[function][1](objects)
        release_all_but(session, objects, child)
        query, name = CONTEXTS[kind]
        answer = session.buffer(8, 0)
        assert session.call(query, child, api().constant(name), 8, answer, None) == CL.SUCCESS
        context, count = answer.handle(), session.buffer(4, 0)
        query_result = session.call("clGetContextInfo", context, CL.CONTEXT_NUM_DEVICES, 4, count, None)
        assert (query_result, count.u32()) == (CL.SUCCESS, 1), "its context is gone"
        assert change(session, "Release", kind, child) == 0


@requirement("API-REF-002")
@pytest.mark.parametrize("used", ["cl_mem", "cl_kernel"])
def test_what_a_command_uses_is_released_before_it_ends(icd: Icd, sandbox: Sandbox, used: str) -> None:
    """A command that was enqueued, and not flushed, keeps its memory object and its kernel until it has ended.

    No user event holds it: releases of what is not an event are undefined before that is set (clSetUserEventStatus).
    """
    with icd.open(sandbox) as session:
        objects = platform_of(session)
        large = [objects.made_by("clCreateBuffer", objects.context, 0, LARGE, None) for _ in range(2)]
        call = calls.prepare(objects, "clEnqueueNDRangeKernel" if used == "cl_kernel" else "clEnqueueWriteBuffer")
        event = session.buffer(8, 0)
        names = [parameter.name for parameter in call.function.parameters]
        call.arguments[names.index("event")] = event
        if "blocking_write" in names:
            call.arguments[names.index("blocking_write")] = 0
        for _ in range(8):  # which it has to wait for
            assert session.call("clEnqueueCopyBuffer", objects.queue, *large, 0, 0, LARGE, 0, None, None) == CL.SUCCESS
        assert call.make() == CL.SUCCESS
        assert change(session, "Release", used, objects.mem if used == "cl_mem" else call.arguments[1]) == 0
        assert session.call("clWaitForEvents", 1, [event.handle()]) == CL.SUCCESS
        assert session.call("clFinish", objects.queue) == CL.SUCCESS


@requirement("API-REF-002")
def test_event_that_a_command_waits_for_is_released_before_it_runs(icd: Icd, sandbox: Sandbox) -> None:
    """A command keeps the event that it waits for, also where the application gives back a reference to that."""
    with icd.open(sandbox) as session:
        objects = platform_of(session)
        gate, event = objects.made_by("clCreateUserEvent", objects.context), session.buffer(8, 0)
        calls.enqueue(objects, "clEnqueueWriteBuffer", [gate], objects.queue, event)
        assert change(session, "Retain", "cl_event", gate) == 0
        assert change(session, "Release", "cl_event", gate) == 0
        assert session.call("clSetUserEventStatus", gate, CL.COMPLETE) == CL.SUCCESS
        assert session.call("clWaitForEvents", 1, [event.handle()]) == CL.SUCCESS
        assert session.call("clFinish", objects.queue) == CL.SUCCESS


@requirement("API-REF-002")
def test_sub_buffer_keeps_its_buffer(icd: Icd, sandbox: Sandbox) -> None:
    """So does a sub-buffer without its buffer: it names it still, and can be read."""
    with icd.open(sandbox) as session:
        objects = platform_of(session)
        region = session.words([0, 16])
        part = objects.made_by(
            "clCreateSubBuffer", objects.mem, 0, api().constant("CL_BUFFER_CREATE_TYPE_REGION"), region
        )
        content = session.data(bytes(range(16)))
        assert session.call("clEnqueueWriteBuffer", objects.queue, part, 1, 0, 16, content, 0, None, None) == CL.SUCCESS
        assert change(session, "Release", "cl_mem", objects.mem) == 0
        assert count_of(session, "cl_mem", part) >= 1
        whole = session.buffer(8, 0)
        query = api().constant("CL_MEM_ASSOCIATED_MEMOBJECT")
        assert session.call("clGetMemObjectInfo", part, query, 8, whole, None) == CL.SUCCESS
        assert whole.handle() == objects.mem, "CL_MEM_ASSOCIATED_MEMOBJECT is another object than the buffer"
        got = session.buffer(16)
        assert session.call("clEnqueueReadBuffer", objects.queue, part, 1, 0, 16, got, 0, None, None) == CL.SUCCESS
        assert got.bytes() == bytes(range(16)), "the sub-buffer lost its content when its buffer was released"
        assert change(session, "Release", "cl_mem", part) == 0


@requirement("API-REF-002")
def test_sub_device_keeps_the_one_that_it_is_a_part_of(icd: Icd, sandbox: Sandbox) -> None:
    """A part of a sub-device goes on to work when that was released: it names it still, and runs commands."""
    equally, function = api().constant("CL_DEVICE_PARTITION_EQUALLY"), "clCreateSubDevices"
    with icd.open(sandbox) as session:
        objects = platform_of(session)
        objects.require_function(function, objects.version())
        if Info(objects).number("clGetDeviceInfo", objects.device, "CL_DEVICE_MAX_COMPUTE_UNITS") < 4:
            raise Unsupported("machine", "the device has fewer than four compute units", "compute units")
        parts: list[Value] = [objects.device]
        for units in (2, 1):
            count = session.buffer(4, 0)
            objects.require(function, session.call(function, parts[-1], [equally, units, 0], 0, None, count))
            devices = session.buffer(8 * count.u32(), 0)
            error = session.call(function, parts[-1], [equally, units, 0], count.u32(), devices, None)
            objects.require(function, error)
            parts.append(devices.handle())
            for other in devices.handles()[1:]:
                assert change(session, "Release", "cl_device", other) == CL.SUCCESS
        whole, part = parts[1:]
        assert change(session, "Release", "cl_device", whole) == CL.SUCCESS
        parent = Info(objects).number("clGetDeviceInfo", part, "CL_DEVICE_PARENT_DEVICE")
        assert parent == whole, "CL_DEVICE_PARENT_DEVICE is another device than the released one"
        platform = [api().constant("CL_CONTEXT_PLATFORM"), objects.platform, 0]
        context = objects.made_by("clCreateContext", platform, 1, [part], None, None)
        queue = objects.made_by("clCreateCommandQueue", context, part, 0)
        mem, content = objects.made_by("clCreateBuffer", context, 0, 16, None), session.data(bytes(range(16)))
        assert session.call("clEnqueueWriteBuffer", queue, mem, 1, 0, 16, content, 0, None, None) == CL.SUCCESS
        for kind, own in (("cl_mem", mem), ("cl_command_queue", queue), ("cl_context", context), ("cl_device", part)):
            assert change(session, "Release", kind, own) == CL.SUCCESS, kind
        assert session.quit() == 0


@requirement("API-REF-002")
def test_queue_is_released_before_its_event(icd: Icd, sandbox: Sandbox) -> None:
    """A queue that is released runs its commands to the end; their events can be waited for."""
    with icd.open(sandbox) as session:
        objects = platform_of(session)
        content = session.buffer(64)
        event = objects.given_by("clEnqueueWriteBuffer", objects.queue, objects.mem, 0, 0, 64, content, 0, None)
        assert change(session, "Release", "cl_command_queue", objects.queue) == 0
        assert session.call("clWaitForEvents", 1, [event]) == CL.SUCCESS
        assert count_of(session, "cl_event", event) >= 1
        assert change(session, "Release", "cl_event", event) == 0


@requirement("API-REF-003")
@pytest.mark.parametrize("order", ORDERS)
def test_release_in_any_order_ends_well(icd: Icd, sandbox: Sandbox, order: str) -> None:
    """Objects that belong together are released in any order, and the process ends as usual."""
    with icd.open(sandbox) as session:
        objects = platform_of(session)
        items = {kind: objects[kind] for kind in ORDERS[order]}
        for kind, handle in items.items():
            assert change(session, "Release", kind, handle) == 0, kind
        assert session.quit() == 0


@requirement("API-REF-003")
def test_buffer_is_released_while_it_is_mapped(icd: Icd, sandbox: Sandbox) -> None:
    """A mapping keeps nobody from releasing the application's reference, whether it is the last one or not."""
    with icd.open(sandbox) as session:
        objects = platform_of(session)
        code = session.buffer(4)
        for references in (2, 1):
            if references > 1:
                assert change(session, "Retain", "cl_mem", objects.mem) == 0
                session.call(
                    "clEnqueueMapBuffer", objects.queue, objects.mem, 1, CL.MAP_READ, 0, 16, 0, None, None, code
                )
                assert code.code() == CL.SUCCESS
            assert change(session, "Release", "cl_mem", objects.mem) == CL.SUCCESS
        assert session.call("clFinish", objects.queue) == CL.SUCCESS


@requirement("API-REF-008")
def test_image_of_a_buffer_leaves_the_references_to_its_buffer(icd: Icd, sandbox: Sandbox) -> None:
    """The application's reference to a buffer stays when an image is made of it, and no other is left by the image."""

    with icd.open(sandbox) as session:
        kind, images = "CL_MEM_OBJECT_IMAGE1D_BUFFER", Images(platform_of(session))
        images.require(kind, PLAIN_FORMAT)
        content = numbered(4 * SHAPES[kind][0])
        mem = images.buffer(content)
        before = count_of(session, "cl_mem", mem)
        for _ in range(3):
            image = images.image(kind, PLAIN_FORMAT, own=mem)
            with_image = count_of(session, "cl_mem", mem)
            assert with_image >= before, f"{with_image} references to the buffer of an image, {before} before"
            assert change(session, "Release", "cl_mem", image) == CL.SUCCESS
            after = count_of(session, "cl_mem", mem)
            assert after == before, f"{after} references to the buffer after the release of its image, {before} before"
        expect_same(images.content(mem, len(content)), content, "the buffer")


@requirement("API-REF-003")
def test_root_device_is_not_counted(icd: Icd, sandbox: Sandbox) -> None:
    """Retaining and releasing a device that is not a sub-device does nothing, however often."""
    with icd.open(sandbox) as session:
        objects = platform_of(session)
        objects.require_function("clRetainDevice", objects.version())
        for how in ("Release", "Release", "Retain", "Release", "Release"):
            assert change(session, how, "cl_device", objects.device) == 0, how
        answer = session.buffer(8)
        assert (
            session.call("clGetDeviceInfo", objects.device, api().constant("CL_DEVICE_TYPE"), 8, answer, None)
            == CL.SUCCESS
        )


@requirement("API-REF-004")
def test_destructor_callbacks_are_called_in_reverse_order_once(icd: Icd, sandbox: Sandbox) -> None:
    """The destructor callbacks of a memory object are called with its last release, in reverse order, each once."""
    name = "clSetMemObjectDestructorCallback"
    with icd.open(sandbox) as session:
        objects = platform_of(session)
        objects.require_function(name, objects.version())
        session.count_callback(f"{name}.pfn_notify", objects.device)
        for number in (1, 2, 3):
            assert session.call(name, objects.mem, Callback(f"{name}.pfn_notify"), number) == CL.SUCCESS
        assert change(session, "Retain", "cl_mem", objects.mem) == 0
        assert change(session, "Release", "cl_mem", objects.mem) == 0
        assert session.callbacks() == 0
        assert not [e for e in sandbox.log if e.name == f"callback {name}.pfn_notify"]
        assert change(session, "Release", "cl_mem", objects.mem) == 0
        session.await_callbacks(3)
        assert session.quit() == 0
        called = [e.arguments[1] for e in sandbox.log if e.name == f"callback {name}.pfn_notify"]
        assert called == [3, 2, 1]


@requirement("API-REF-006")
def test_destructor_callback_of_a_buffer_waits_for_its_sub_buffer(icd: Icd, sandbox: Sandbox) -> None:
    """A buffer that is released before its sub-buffer is deleted, and tells that, when the sub-buffer is."""
    name = "clSetMemObjectDestructorCallback"
    with icd.open(sandbox) as session:
        objects = platform_of(session)
        objects.require_function(name, objects.version())
        part = FURTHER_OBJECTS["clCreateSubBuffer"][1](objects)
        session.count_callback(f"{name}.pfn_notify", objects.device)
        assert session.call(name, objects.mem, Callback(f"{name}.pfn_notify"), 1) == CL.SUCCESS
        assert change(session, "Release", "cl_mem", objects.mem) == 0
        assert session.callbacks() == 0
        assert change(session, "Release", "cl_mem", part) == 0
        session.await_callbacks(1)
        called = session.callbacks()
        assert called == 1, (
            f"the buffer's callback was called {called} times after the release of its part, expected once"
        )
        assert session.quit() == 0


@requirement("API-REF-005")
def test_destructor_callbacks_of_a_context_are_called_in_reverse_order_once(icd: Icd, sandbox: Sandbox) -> None:
    """The destructor callbacks of a context are called when it is destroyed, in reverse order, each once."""
    name = "clSetContextDestructorCallback"
    with icd.open(sandbox) as session:
        objects = platform_of(session)
        objects.require_function(name, objects.version())
        properties = [api().constant("CL_CONTEXT_PLATFORM"), objects.platform, 0]
        context = objects.made_by("clCreateContext", properties, 1, [objects.device], None, None)
        session.count_callback(f"{name}.pfn_notify", objects.device)
        for number in (1, 2, 3):
            objects.require(name, session.call(name, context, Callback(f"{name}.pfn_notify"), number))
        assert change(session, "Retain", "cl_context", context) == 0
        assert change(session, "Release", "cl_context", context) == 0
        assert not [e for e in sandbox.log if e.name == f"callback {name}.pfn_notify"], "called before the last release"
        assert change(session, "Release", "cl_context", context) == 0
        session.await_callbacks(3)
        assert session.quit() == 0
        called = [tuple(e.arguments[:2]) for e in sandbox.log if e.name == f"callback {name}.pfn_notify"]
        assert called == [(context, 3), (context, 2), (context, 1)]
