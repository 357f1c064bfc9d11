# SPDX-License-Identifier: Apache-2.0
"""Handles that an application gets in every way: each is the vendor's own, and is good for further calls."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.check import (
    CL,
    CallbackArgument,
    CallLog,
    Function,
    Loader,
    Objects,
    PatternedCall,
    Sandbox,
    Session,
    Value,
    also_through_layers,
    api,
    reached,
    requirement,
)

# How a handle of each class is used again.
USED = {
    "cl_platform_id": "clGetPlatformInfo",
    "cl_device_id": "clRetainDevice",
    "cl_context": "clRetainContext",
    "cl_command_queue": "clRetainCommandQueue",
    "cl_mem": "clRetainMemObject",
    "cl_sampler": "clRetainSampler",
    "cl_program": "clRetainProgram",
    "cl_kernel": "clRetainKernel",
    "cl_event": "clRetainEvent",
}
LISTS = ("kernels", "out_devices")  # outputs that get two handles
# Queries that answer with a handle: whose, the function, what is asked, and the class of the answer.
QUERIES = [
    ("cl_device_id", "clGetDeviceInfo", "CL_DEVICE_PLATFORM", "cl_platform_id"),
    ("sub-device", "clGetDeviceInfo", "CL_DEVICE_PARENT_DEVICE", "cl_device_id"),
    ("sub-device", "clGetDeviceInfo", "CL_DEVICE_PLATFORM", "cl_platform_id"),
    ("cl_context", "clGetContextInfo", "CL_CONTEXT_DEVICES", "cl_device_id"),
    ("cl_command_queue", "clGetCommandQueueInfo", "CL_QUEUE_CONTEXT", "cl_context"),
    ("cl_command_queue", "clGetCommandQueueInfo", "CL_QUEUE_DEVICE", "cl_device_id"),
    ("cl_command_queue", "clGetCommandQueueInfo", "CL_QUEUE_DEVICE_DEFAULT", "cl_command_queue"),
    ("cl_mem", "clGetMemObjectInfo", "CL_MEM_CONTEXT", "cl_context"),
    ("sub-buffer", "clGetMemObjectInfo", "CL_MEM_ASSOCIATED_MEMOBJECT", "cl_mem"),
    ("cl_sampler", "clGetSamplerInfo", "CL_SAMPLER_CONTEXT", "cl_context"),
    ("cl_program", "clGetProgramInfo", "CL_PROGRAM_CONTEXT", "cl_context"),
    ("cl_program", "clGetProgramInfo", "CL_PROGRAM_DEVICES", "cl_device_id"),
    ("cl_kernel", "clGetKernelInfo", "CL_KERNEL_CONTEXT", "cl_context"),
    ("cl_kernel", "clGetKernelInfo", "CL_KERNEL_PROGRAM", "cl_program"),
    ("cl_event", "clGetEventInfo", "CL_EVENT_CONTEXT", "cl_context"),
    ("command", "clGetEventInfo", "CL_EVENT_COMMAND_QUEUE", "cl_command_queue"),
]
# Callbacks whose first argument is a handle.
CALLBACKS = {
    "clBuildProgram": ("pfn_notify", "cl_program"),
    "clCompileProgram": ("pfn_notify", "cl_program"),
    "clLinkProgram": ("pfn_notify", "cl_program"),
    "clSetProgramReleaseCallback": ("pfn_notify", "cl_program"),
    "clSetEventCallback": ("pfn_notify", "cl_event"),
    "clSetMemObjectDestructorCallback": ("pfn_notify", "cl_mem"),
    "clSetContextDestructorCallback": ("pfn_notify", "cl_context"),
    "clEnqueueSVMFree": ("pfn_free_func", "cl_command_queue"),
}


def mistakes(log: CallLog) -> list[str]:
    """What the vendors noticed of handles that are not theirs."""
    return [str(event) for event in log if event.name in ("foreign handle", "bad reference")]


class Uses:
    """Uses handles of one vendor again, and says which of them did not reach it."""

    def __init__(self, cl: Session, vendor: str) -> None:
        self.cl = cl
        self.vendor = vendor
        self.handles: list[tuple[str, Value, str]] = []

    def add(self, how: str, handle: Value, kind: str) -> None:
        """Uses a handle that the application got by `how`."""
        rest = [api().constant("CL_PLATFORM_NAME"), 0, None, None] if kind == "cl_platform_id" else []
        self.handles.append((how, handle, kind))
        self.cl.call_later(USED[kind], handle, *rest)

    def problems(self, sandbox: Sandbox) -> list[str]:
        self.cl.command("hello")
        log = sandbox.log
        arrived = {(event.name, event.arguments[0]) for event in log.calls(by=self.vendor) if event.arguments}
        assert self.handles
        lost = [f"{how}: {USED[kind]}({int(h):#x})" for how, h, kind in self.handles if (USED[kind], h) not in arrived]
        return lost + mistakes(log)


def creators(cl: Session) -> Iterator[tuple[Function, Value | None]]:
    """Every function that makes objects, by its result or through its arguments."""
    for function, address in reached(cl).items():
        outputs = any(p.kind == "handle_out" for p in function.parameters)
        if function.name != "clGetDeviceIDs" and (function.result_kind == "handle" or outputs):
            yield function, address


def given(call: PatternedCall) -> Iterator[tuple[Value, str]]:
    """The handles that a call gave, with their classes."""
    if call.function.result_kind == "handle":
        assert isinstance(call.result, Value)
        yield call.result, call.function.result_handle
    for parameter, sent in zip(call.function.parameters, call.sent, strict=True):
        if parameter.kind == "handle_out" and sent.buffer:
            handles = sent.buffer.handles()[: 2 if parameter.name in LISTS else 1]
            yield from ((handle, parameter.handle) for handle in handles)


def special(cl: Session, objects: Objects, name: str) -> Value:
    """An object that is made from one of its own class, or by a command."""
    if name == "command":
        room = cl.room(1, 0)
        assert cl.clEnqueueMarker(objects.queue, room) == CL.SUCCESS
        return room.handle()
    if name == "sub-device":
        room = cl.room(1, 0)
        partition = [api().constant("CL_DEVICE_PARTITION_EQUALLY"), 1, 0]
        assert cl.clCreateSubDevices(objects.device, partition, 1, room, None) == 0
        return room.handle()
    if name == "sub-buffer":
        region = api().constant("CL_BUFFER_CREATE_TYPE_REGION")
        part = cl.clCreateSubBuffer(objects.mem, 0, region, [0, 16], None)
        assert isinstance(part, Value) and part
        return part
    return objects[name]


def two_vendors(loader: Loader, sandbox: Sandbox, icd2: bool, **more: object) -> None:
    """The vendor "m" whose handles are used, and one of the other kind around it."""
    if icd2:
        loader.require("ICD 2")
    other = not icd2 and loader.has("ICD 2")
    sandbox.vendor("a", icd2=other)
    sandbox.vendor(
        "m", icd2=icd2, exact_objects=True, validates=False, faults=["icd2_table_holds_tags_only"] * icd2, **more
    )
    sandbox.vendor("z", icd2=other)


def objects_of_m(cl: Session) -> Objects:
    return next(objects for objects in (Objects(cl, p) for p in cl.GetPlatformIDs()) if objects.owner == "m")


@requirement("DISP-OBJ-006")
@pytest.mark.parametrize("icd2", [False, True], ids=["icd1", "icd2"])
def test_created_handles_are_the_vendors_own(loader: Loader, sandbox: Sandbox, icd2: bool) -> None:
    """What a function makes, it gives as the vendor's own handle: as its result, in an argument, in an array."""
    two_vendors(loader, sandbox, icd2)
    with loader.start(sandbox) as cl:
        objects, uses = objects_of_m(cl), Uses(cl, "m")
        for function, address in creators(cl):
            call = PatternedCall(cl, function, objects, address=address)
            call.make()
            for handle, kind in given(call):
                uses.add(str(function), handle, kind)
        assert len({how for how, _, _ in uses.handles}) > 60
        assert not uses.problems(sandbox)


@requirement("DISP-OBJ-006")
@pytest.mark.parametrize("icd2", [False, True], ids=["icd1", "icd2"])
def test_queried_handles_can_be_used(loader: Loader, sandbox: Sandbox, icd2: bool) -> None:
    """What an object says of its relatives are handles that can be used."""
    two_vendors(loader, sandbox, icd2)
    with loader.start(sandbox) as cl:
        objects, uses, answers = objects_of_m(cl), Uses(cl, "m"), []
        assert QUERIES
        for name, function, query, kind in QUERIES:
            answer = cl.room(1, 0)
            requests = (special(cl, objects, name), api().constant(query), answer.size, answer, None)
            assert cl.call(function, *requests) == CL.SUCCESS
            answers.append((query, answer.handle(), kind))
        relatives = [objects.device, objects.context, objects.queue, objects.program, objects.platform, objects.mem]
        # Before they are used: a value that is not a handle may crash the loader.
        assert {int(handle) for _, handle, _ in answers} <= {int(handle) for handle in relatives}
        for answered in answers:
            uses.add(*answered)
        assert not uses.problems(sandbox)


@requirement("DISP-OBJ-006")
@pytest.mark.parametrize("way", ["calls_back", "calls_back_threaded"])
@pytest.mark.parametrize("icd2", [False, True], ids=["icd1", "icd2"])
def test_handles_in_callbacks_can_be_used(loader: Loader, sandbox: Sandbox, icd2: bool, way: str) -> None:
    """A handle that a callback is given can be used in it, in the thread of the call or another one."""
    two_vendors(loader, sandbox, icd2, functions={way: list(CALLBACKS)})
    with loader.start(sandbox) as cl:
        objects = objects_of_m(cl)
        functions = [(f, address) for f, address in reached(cl).items() if f.name in CALLBACKS]
        uses = []
        for function, _ in functions:
            parameter, kind = CALLBACKS[function.name]
            uses.append((cl.when(f"{function.name}.{parameter}", USED[kind], CallbackArgument(0)), function))
        for function, _ in functions:
            PatternedCall(cl, function, objects).make()
        assert cl.callbacks() == len(functions) > 0
        assert [use.result() for use, _ in uses] == [0] * len(uses)
        log = sandbox.log
        for _, function in uses:
            (inside,) = log.during(function.name)
            assert USED[CALLBACKS[function.name][1]] in inside.of("m").functions(), function
        assert not mistakes(log)


also_through_layers(globals())
