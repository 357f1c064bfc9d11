"""Objects of a vendor, by every way of getting one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.api.model import api
from harness.probe.convenience import CallFailed
from harness.probe.objects import Objects
from harness.probe.values import Value
from harness.requirements.catalogue import opencl_version, slots
from harness.sandbox import Unsupported

INVALID_VALUE, INVALID_OPERATION, PARTITION_FAILED = -30, -59, -18

# A query that every object of a class answers.
INFO = {
    "cl_platform_id": ("clGetPlatformInfo", "CL_PLATFORM_NAME"),
    "cl_device_id": ("clGetDeviceInfo", "CL_DEVICE_NAME"),
    "cl_context": ("clGetContextInfo", "CL_CONTEXT_REFERENCE_COUNT"),
    "cl_command_queue": ("clGetCommandQueueInfo", "CL_QUEUE_REFERENCE_COUNT"),
    "cl_mem": ("clGetMemObjectInfo", "CL_MEM_REFERENCE_COUNT"),
    "cl_sampler": ("clGetSamplerInfo", "CL_SAMPLER_REFERENCE_COUNT"),
    "cl_program": ("clGetProgramInfo", "CL_PROGRAM_REFERENCE_COUNT"),
    "cl_kernel": ("clGetKernelInfo", "CL_KERNEL_REFERENCE_COUNT"),
    "cl_event": ("clGetEventInfo", "CL_EVENT_REFERENCE_COUNT"),
}


class IcdObjects(Objects):
    """One object of each class; programs are built before kernels are made of them, as real vendors want it."""

    def _make(self, handle: str) -> Value:
        cl = self.session
        if handle == "cl_device_id" and not cl.GetDeviceIDs(self.platform):
            raise Unsupported("machine", f"the platform {self.owner} has no device on this machine")
        if handle == "cl_kernel":
            error = cl.call("clBuildProgram", self.program, 0, None, None, None, None)
            if error:
                raise CallFailed(f"clBuildProgram of an empty kernel answered {error}, expected CL_SUCCESS")
        return super()._make(handle)

    def made_by(self, function: str, *arguments: Any) -> Value:
        """The object that a function answers whose last argument is errcode_ret."""
        code = self.session.buffer(4)
        made = self.session.call(function, *arguments, code)
        assert isinstance(made, Value)
        self.require(function, code.i32())
        return made

    def given_by(self, function: str, *arguments: Any, after: tuple[Any, ...] = ()) -> Value:
        """The object that a function writes: `arguments` stand before that output, `after` behind it."""
        given = self.session.buffer(8, 0)
        self.require(function, self.session.call(function, *arguments, given, *after))
        return given.handle()

    def require(self, function: str, error: int) -> None:
        """Makes the case `unsupported` where a function is optional and says so; raises CallFailed for other errors."""
        if error == INVALID_OPERATION or (
            function == "clCreateSubDevices" and error in (INVALID_VALUE, PARTITION_FAILED)
        ):
            raise Unsupported("loader", f"{function} answered {error}: this platform does not have it", function)
        if error:
            raise CallFailed(f"{function} answered {error}, expected CL_SUCCESS")

    def require_function(self, function: str, version: tuple[int, int]) -> None:
        """Makes the case `unsupported` for functions that came after the platform's version of OpenCL."""
        major, minor = opencl_version(slots()[function]).split(".")
        if (int(major), int(minor)) > version:
            raise Unsupported("loader", f"{function} came with OpenCL {major}.{minor}", function)


def _compiled(objects: IcdObjects) -> Value:
    error = objects.session.call("clCompileProgram", objects.program, 0, None, None, 0, None, None, None, None)
    objects.require("clCompileProgram", error)
    return objects.program


def _sub_buffer(o: IcdObjects) -> Value:
    region = o.session.words([0, 16])
    return o.made_by("clCreateSubBuffer", o.mem, 0, api().constant("CL_BUFFER_CREATE_TYPE_REGION"), region)


def _sub_device(o: IcdObjects) -> Value:
    properties = [api().constant("CL_DEVICE_PARTITION_EQUALLY"), 1, 0]
    count = o.session.buffer(4, 0)
    o.require("clCreateSubDevices", o.session.call("clCreateSubDevices", o.device, properties, 0, None, count))
    made = o.session.buffer(8 * max(count.u32(), 1), 0)
    error = o.session.call("clCreateSubDevices", o.device, properties, max(count.u32(), 1), made, None)
    o.require("clCreateSubDevices", error)
    return made.handle()


def _kernel_of_program(o: IcdObjects) -> Value:
    assert o.kernel  # the program is built
    return o.given_by("clCreateKernelsInProgram", o.program, 1, after=(None,))


def _context_from_type(o: IcdObjects) -> Value:
    properties = [api().constant("CL_CONTEXT_PLATFORM"), o.platform, 0]
    return o.made_by("clCreateContextFromType", properties, api().constant("CL_DEVICE_TYPE_ALL"), None, None)


def _written(o: IcdObjects) -> Value:
    return o.given_by("clEnqueueWriteBuffer", o.queue, o.mem, 1, 0, 16, o.session.buffer(16), 0, None)


def _ran(o: IcdObjects) -> Value:
    size = o.session.words([1])
    made = o.given_by("clEnqueueNDRangeKernel", o.queue, o.kernel, 1, None, size, None, 0, None)
    o.session.call("clFinish", o.queue)
    return made


_SAMPLER = ("CL_SAMPLER_ADDRESSING_MODE", "CL_ADDRESS_NONE", "CL_SAMPLER_FILTER_MODE", "CL_FILTER_NEAREST")

# Functions that give an object, and what they are called with; besides those that Objects calls.
FURTHER: dict[str, tuple[str, Callable[[IcdObjects], Value]]] = {
    "clCreateContextFromType": ("cl_context", _context_from_type),
    "clCreateSubDevices": ("cl_device_id", _sub_device),
    "clCreateSubBuffer": ("cl_mem", _sub_buffer),
    "clCreateKernelsInProgram": ("cl_kernel", _kernel_of_program),
    "clLinkProgram": (
        "cl_program",
        lambda o: o.made_by("clLinkProgram", o.context, 0, None, None, 1, [_compiled(o)], None, None),
    ),
    "clCreateCommandQueueWithProperties": (
        "cl_command_queue",
        lambda o: o.made_by("clCreateCommandQueueWithProperties", o.context, o.device, None),
    ),
    "clCreateSamplerWithProperties": (
        "cl_sampler",
        lambda o: o.made_by(
            "clCreateSamplerWithProperties", o.context, [api().constant(name) for name in _SAMPLER] + [0]
        ),
    ),
    "clCloneKernel": ("cl_kernel", lambda o: o.made_by("clCloneKernel", o.kernel)),
    "clCreateBufferWithProperties": (
        "cl_mem",
        lambda o: o.made_by("clCreateBufferWithProperties", o.context, None, 0, 64, None),
    ),
    "clEnqueueMarker": ("cl_event", lambda o: o.given_by("clEnqueueMarker", o.queue)),
    "clEnqueueWriteBuffer": ("cl_event", _written),
    "clEnqueueNDRangeKernel": ("cl_event", _ran),
}

# Queries that answer with an object: whom of, the query, and the class of the answer.
QUERIED = (
    ("cl_device_id", "CL_DEVICE_PLATFORM", "cl_platform_id"),
    ("cl_context", "CL_CONTEXT_DEVICES", "cl_device_id"),
    ("cl_command_queue", "CL_QUEUE_CONTEXT", "cl_context"),
    ("cl_command_queue", "CL_QUEUE_DEVICE", "cl_device_id"),
    ("cl_mem", "CL_MEM_CONTEXT", "cl_context"),
    ("cl_sampler", "CL_SAMPLER_CONTEXT", "cl_context"),
    ("cl_program", "CL_PROGRAM_CONTEXT", "cl_context"),
    ("cl_program", "CL_PROGRAM_DEVICES", "cl_device_id"),
    ("cl_kernel", "CL_KERNEL_CONTEXT", "cl_context"),
    ("cl_kernel", "CL_KERNEL_PROGRAM", "cl_program"),
    ("cl_event", "CL_EVENT_CONTEXT", "cl_context"),
)
