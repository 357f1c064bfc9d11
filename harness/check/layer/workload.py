# SPDX-License-Identifier: Apache-2.0
"""What a small application does, from its first call to its last: what it saw can be compared between runs."""

from __future__ import annotations

from harness.api.model import api
from harness.calllog.reader import CallLog
from harness.probe.objects import Objects
from harness.probe.session import Session

CREATED = (
    ("cl_kernel", "Kernel"),
    ("cl_program", "Program"),
    ("cl_mem", "MemObject"),
    ("cl_sampler", "Sampler"),
    ("cl_event", "Event"),
    ("cl_command_queue", "CommandQueue"),
    ("cl_context", "Context"),
)


def run_workload(cl: Session) -> list[object]:
    """Platforms, devices, objects of each class, work and release; gives all that the application saw."""
    seen: list[object] = [cl.platform_count(), list(cl.used_platforms())]
    for platform in cl.GetPlatformIDs():
        objects = Objects(cl, platform)
        for handle, name in CREATED:
            seen.append(
                (name, cl.call(f"clRetain{name}", objects[handle]), cl.call(f"clRelease{name}", objects[handle]))
            )
        seen += _work(cl, objects)
        seen += [(name, cl.call(f"clRelease{name}", objects[handle])) for handle, name in CREATED]
        seen.append(
            [bool(cl.GetExtensionFunctionAddress(n)) for n in ("clNothing", "clThingAA", "clCreateEventFromGLsyncKHR")]
        )
    seen.append(cl.call("clUnloadCompiler"))
    return seen


def run_mistakes(cl: Session) -> list[object]:
    """Calls that are refused; gives what with."""
    seen: list[object] = [
        cl.call("clFlush", None),
        cl.call("clRetainContext", None),
        cl.call("clWaitForEvents", 0, None),
    ]
    return [
        *seen,
        cl.call("clGetPlatformIDs", 0, None, None),
        cl.call("clGetPlatformInfo", None, 0x0902, 0, None, None),
    ]


MANY = 100  # events of a list
ALIVE = 300  # buffers at once
STRINGS = ("CL_PLATFORM_NAME", "CL_PLATFORM_VENDOR", "CL_PLATFORM_VERSION", "CL_PLATFORM_EXTENSIONS")
TYPES = ("CL_DEVICE_TYPE_DEFAULT", "CL_DEVICE_TYPE_CPU", "CL_DEVICE_TYPE_GPU", "CL_DEVICE_TYPE_ACCELERATOR")


def run_rarities(cl: Session) -> list[object]:
    """What applications seldom do: long lists of events, many objects at once, failed events, each type of device."""
    seen: list[object] = []
    for platform in cl.GetPlatformIDs():
        objects = Objects(cl, platform)
        seen += [cl.GetPlatformInfo(platform, name) for name in STRINGS]
        for kind in TYPES:
            count = cl.buffer(4, 0)
            seen += [cl.call("clGetDeviceIDs", platform, api().constant(kind), 0, None, count), count.u32()]
        seen += _events(cl, objects) + _buffers(cl, objects)
    return seen


def _events(cl: Session, objects: Objects) -> list[object]:
    """A list of events to wait for, and an event that has failed."""
    status, running = cl.buffer(4, 0), api().constant("CL_EVENT_COMMAND_EXECUTION_STATUS")
    seen: list[object] = [
        cl.call("clSetUserEventStatus", objects.event, 0),
        cl.call("clWaitForEvents", MANY, [objects.event] * MANY),
        cl.call("clEnqueueMarkerWithWaitList", objects.queue, MANY, [objects.event] * MANY, None),
        cl.call(
            "clEnqueueReadBuffer",
            objects.queue,
            objects.mem,
            1,
            0,
            16,
            cl.buffer(16),
            MANY,
            [objects.event] * MANY,
            None,
        ),
    ]
    objects.forget("cl_event")
    return [
        *seen,
        cl.call("clSetUserEventStatus", objects.event, -5),
        cl.call("clGetEventInfo", objects.event, running, 4, status, None),
        status.i32(),
    ]


def _buffers(cl: Session, objects: Objects) -> list[object]:
    """Buffers that are all alive, each with the error of its creation."""
    buffers, seen = [], []
    for _ in range(ALIVE):
        error = cl.words([0x1234])
        buffers.append(cl.call("clCreateBuffer", objects.context, 0, 64, None, error))
        seen += [bool(buffers[-1]), error.i32()]
    return [*seen, *(cl.call("clReleaseMemObject", buffer) for buffer in buffers if buffer)]


def run_rare_mistakes(cl: Session) -> list[object]:
    """Calls on objects that are refused, with the errors that they answer in either way."""
    seen: list[object] = []
    for platform in cl.GetPlatformIDs():
        objects = Objects(cl, platform)
        error = cl.words([0x1234])
        seen += [bool(cl.call("clCreateBuffer", objects.context, 0, 0, None, error)), error.i32()]
        error = cl.words([0x1234])
        mapping = ("clEnqueueMapBuffer", objects.queue, objects.mem, 1, 1, 1 << 40, 16, 0, None, None, error)
        seen += [bool(cl.call(*mapping)), error.i32()]
        sizes = cl.words([1] * 4)
        kernel = ("clEnqueueNDRangeKernel", objects.queue, objects.kernel, 4, None, sizes, None, 0, None, None)
        seen.append(cl.call(*kernel))
    return seen


def _work(cl: Session, objects: Objects) -> list[object]:
    constant = api().constant
    count, references = cl.buffer(4, 0), cl.buffer(4, 0)
    size = cl.words([16])
    text = cl.buffer(64, 0)
    seen: list[object] = [
        cl.call("clBuildProgram", objects.program, 1, [objects.device], "-cl-opt", None, None),
        cl.call("clSetKernelArg", objects.kernel, 0, 8, cl.words([7])),
        cl.call("clEnqueueNDRangeKernel", objects.queue, objects.kernel, 1, None, size, None, 0, None, None),
        cl.call("clEnqueueReadBuffer", objects.queue, objects.mem, 1, 0, 16, cl.buffer(16), 0, None, None),
        cl.call("clEnqueueWriteBuffer", objects.queue, objects.mem, 1, 0, 16, cl.buffer(16), 1, [objects.event], None),
        cl.call("clSetUserEventStatus", objects.event, 0),
        cl.call("clWaitForEvents", 1, [objects.event]),
        cl.call("clFlush", objects.queue),
        cl.call("clFinish", objects.queue),
        cl.call("clGetDeviceIDs", objects.platform, constant("CL_DEVICE_TYPE_ALL"), 0, None, count),
        cl.call("clGetContextInfo", objects.context, constant("CL_CONTEXT_REFERENCE_COUNT"), 4, references, None),
        cl.call("clGetDeviceInfo", objects.device, constant("CL_DEVICE_NAME"), 64, text, None),
        cl.call("clGetDeviceInfo", objects.device, 0x7FFF, 64, text, None),
    ]
    return [*seen, count.u32(), references.u32(), text.text()]


def vendors_numbers(log: CallLog, vendors: str) -> list[tuple[str, str, list[int]]]:
    """The functions that each vendor was called by, and the numbers among their arguments."""
    functions = api().functions
    return [
        (
            e.who,
            e.name,
            [a for a, p in zip(e.arguments, functions[e.name].parameters, strict=False) if p.kind == "integer"],
        )
        for e in log.calls()
        if e.who in vendors and e.name in functions
    ]


def vendors_calls(log: CallLog, vendors: str) -> list[tuple[str, str, int | None]]:
    """The functions that each vendor was called by, and their results where those are not addresses."""
    results = {"signed", "unsigned"}
    functions = api().functions
    return [
        (e.who, e.name, e.result if e.name in functions and functions[e.name].result_kind in results else None)
        for e in log
        if e.who in vendors and e.kind == "return"
    ]
