# SPDX-License-Identifier: Apache-2.0
"""Objects of a vendor, by every way of getting one."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from harness.api.codes import CL
from harness.api.contract.slots import opencl_version, slots
from harness.api.model import api
from harness.probe.calls import CallFailed
from harness.probe.icd_abilities import is_promised
from harness.probe.icd_states import STATES
from harness.probe.objects import Objects
from harness.probe.session import Session
from harness.probe.values import Value, pack
from harness.sandbox import Unsupported

KERNEL_OF_ARGUMENTS = """
kernel void args(global int *to, int number, local int *own, constant int *from) { to[0] = number + own[0] + from[0]; }
"""
KERNELS = "kernel void name() {}" + KERNEL_OF_ARGUMENTS
ARGUMENT_INFORMATION = "-cl-kernel-arg-info"

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

    def __init__(self, session: Session, platform: Value) -> None:
        super().__init__(session, platform)
        self._gate: Mapping[str, str] = vars(session).get("gate", {})  # of an IcdSession
        self._further: dict[str, Value] = {}
        self._built: dict[str, Value] = {}
        self._other: IcdObjects | None = None
        self._version: tuple[int, int] | None = None

    def _make(self, handle: str) -> Value:
        if handle in self._gate:
            raise Unsupported("loader", f"precondition failed: {self._gate[handle]}", "precondition")
        if handle == "cl_device_id":
            return self._device()
        if handle == "cl_kernel":
            self.build(self.program, "")
        if handle == "cl_sampler":
            self.require_images()
        return super()._make(handle)

    def _device(self) -> Value:
        """The one that the run was asked to use, else the first."""
        devices = self.session.GetDeviceIDs(self.platform)
        wanted = getattr(self.session, "only_device", "")
        if wanted.isdecimal():
            devices = devices[int(wanted) : int(wanted) + 1]
        elif wanted:
            devices = [device for device in devices if wanted.lower() in self._name(device).lower()]
        if not devices:
            which = f"device {wanted!r}" if wanted else "device"
            raise Unsupported("machine", f"the platform {self.owner} has no {which} on this machine")
        return devices[0]

    def _name(self, device: Value) -> str:
        text = self.session.buffer(1024, 0)
        self.session.call("clGetDeviceInfo", device, CL.DEVICE_NAME, 1024, text, None)
        return text.text()

    def build(self, program: Value, options: str) -> None:
        """Builds a program that is in order."""
        error = self.session.call("clBuildProgram", program, 0, None, options, None, None)
        if error:
            message = f"clBuildProgram of a plain kernel with the options {options!r} answered {error}"
            raise CallFailed(f"{message}, expected CL_SUCCESS; the build log: {self.build_log(program)}")

    def build_log(self, program: Value) -> str:
        """What the compiler said, on one line."""
        text = self.session.buffer(4096, 0)
        query = api().constant("CL_PROGRAM_BUILD_LOG")
        self.session.call("clGetProgramBuildInfo", program, self.device, query, 4096, text, None)
        return " ".join(text.text().split())

    def with_source(self, source: str = KERNELS) -> Value:
        """A program that is not built."""
        return self.made_by(
            "clCreateProgramWithSource", self.context, 1, [self.session.data(source.encode() + b"\0")], None
        )

    def built(self, source: str) -> Value:
        """A program that is built, for kernels that are made of it: one for each source."""
        if source not in self._built:
            program = self.with_source(source)
            self.build(program, "")
            self._built[source] = program
        return self._built[source]

    def require_images(self) -> None:
        """Makes the case `unsupported` on a device without images."""
        answer = self.session.buffer(4, 0)
        query = api().constant("CL_DEVICE_IMAGE_SUPPORT")
        self.session.call_for(answer, "clGetDeviceInfo", self.device, query, 4, answer, None)
        if not answer.u32():
            raise Unsupported("loader", "the device has no images", "images")

    def named(self, name: str) -> Value:
        """An object by the name that calls.toml has for it; each is made when it is first asked for, and shared and
        mapped memory each time: what is not counted is gone once a call has given it back."""
        if f"cl_{name}" in self:
            return self[f"cl_{name}"]
        if name in _CLASSES:
            return self[_CLASSES[name]]
        if name in _NOT_COUNTED:
            return _NAMED[name](self)
        if name not in self._further:
            self._further[name] = _NAMED[name](self)
        return self._further[name]

    @property
    def other(self) -> IcdObjects:
        """The same in another context of the platform."""
        if self._other is None:
            self._other = IcdObjects(self.session, self.platform)
            self._other.remember("cl_device_id", self.device)
        return self._other

    def made_by(self, function: str, *arguments: Any) -> Value:
        """The object that a function answers whose last argument is errcode_ret."""
        code = self.session.buffer(4)
        handle = self.session.call_for(code, function, *arguments, code)
        assert isinstance(handle, Value)
        self.require(function, code.code())
        return handle

    def given_by(self, function: str, *arguments: Any, after: tuple[Any, ...] = ()) -> Value:
        """The object that a function writes: `arguments` stand before that output, `after` after it."""
        output = self.session.buffer(8, 0)
        self.require(function, self.session.call_for(output, function, *arguments, output, *after))
        return output.handle()

    def require(self, function: str, error: int) -> None:
        """Makes the case `unsupported` where a function is optional, and refused by a device that does not say that it
        has what the function is for; raises CallFailed for other errors.
        """
        refused = error == CL.INVALID_OPERATION or (function == "clCreateSubDevices" and error == CL.INVALID_VALUE)
        indivisible = function == "clCreateSubDevices" and error == CL.DEVICE_PARTITION_FAILED
        if indivisible or (refused and not is_promised(self, function)):
            raise Unsupported("loader", f"{function} answered {error}: this platform does not have it", function)
        self.require_device(error)
        if error:
            raise CallFailed(f"{function} answered {error}, expected CL_SUCCESS")

    def require_device(self, error: int | None = None) -> None:
        """Makes the case `unsupported` where an error, if one is given, says that there is no device, and the machine
        has none.
        """
        if error in (None, CL.DEVICE_NOT_FOUND) and not self.device:
            raise CallFailed("the device is NULL")

    def version(self) -> tuple[int, int]:
        """The version of OpenCL that the platform reports."""
        if self._version is None:
            match = re.match(r"OpenCL (\d+)\.(\d+)", self.session.GetPlatformInfo(self.platform, "CL_PLATFORM_VERSION"))
            self._version = (int(match[1]), int(match[2])) if match else (1, 0)
        return self._version

    def device_version(self) -> tuple[int, int]:
        """The version of OpenCL that the device reports; not above the platform's."""
        text = self.session.buffer(256, 0)
        query = api().constant("CL_DEVICE_VERSION")
        self.session.call_for(text, "clGetDeviceInfo", self.device, query, 256, text, None)
        match = re.match(r"OpenCL (\d+)\.(\d+)", text.text())
        return min((int(match[1]), int(match[2])) if match else (1, 0), self.version())

    def require_function(self, function: str, version: tuple[int, int]) -> None:
        """Makes the case `unsupported` for functions that came after the platform's version of OpenCL."""
        major, minor = opencl_version(slots()[function]).split(".")
        if (int(major), int(minor)) > version:
            raise Unsupported("loader", f"{function} came with OpenCL {major}.{minor}", function)


def _built(o: IcdObjects, source: str = KERNELS, options: str = "") -> Value:
    program = o.with_source(source)
    o.build(program, options)
    return program


def _with_arguments(o: IcdObjects) -> Value:
    """A kernel whose arguments can be asked for."""
    return o.made_by("clCreateKernel", _built(o, KERNEL_OF_ARGUMENTS, ARGUMENT_INFORMATION), "args")


def _image(o: IcdObjects) -> Value:
    o.require_images()
    image_format = o.session.data(pack([api().constant("CL_RGBA"), api().constant("CL_UNSIGNED_INT8")], 4))
    return o.made_by("clCreateImage2D", o.context, 0, image_format, 4, 4, 0, None)


def _described_image(o: IcdObjects, function: str, *properties: None) -> Value:
    """A 2D image of four by four pixels."""
    o.require_images()
    image_format = o.session.data(pack([CL.RGBA, CL.UNSIGNED_INT8], 4))
    description = o.session.words([CL.MEM_OBJECT_IMAGE2D, 4, 4, 0, 0, 0, 0, 0, 0])
    return o.made_by(function, o.context, *properties, CL.MEM_READ_WRITE, image_format, description, None)


def _pipe(o: IcdObjects) -> Value:
    """A pipe of four packets. Makes the case `unsupported` on a device without pipes."""
    answer = o.session.buffer(4, 0)
    o.session.call("clGetDeviceInfo", o.device, CL.DEVICE_PIPE_SUPPORT, 4, answer, None)
    if not answer.u32() and o.device_version() >= (3, 0):
        raise Unsupported("loader", "the device has no pipes", "pipes")
    return o.made_by("clCreatePipe", o.context, CL.MEM_HOST_NO_ACCESS, 4, 4, None)


def _marker(o: IcdObjects) -> Value:
    """The event of a command that has ended."""
    event = o.given_by("clEnqueueWriteBuffer", o.queue, o.mem, 1, 0, 16, o.session.buffer(16), 0, None)
    o.session.call("clFinish", o.queue)
    return event


def _profiled(o: IcdObjects) -> Value:
    profiling = api().constant("CL_QUEUE_PROFILING_ENABLE")
    queue = o.made_by("clCreateCommandQueue", o.context, o.device, profiling)
    event = o.given_by("clEnqueueWriteBuffer", queue, o.mem, 1, 0, 16, o.session.buffer(16), 0, None)
    o.session.call("clFinish", queue)
    return event


def _mapped(o: IcdObjects) -> Value:
    """Where a buffer is mapped to."""
    flags = api().constant("CL_MAP_READ")
    return o.made_by("clEnqueueMapBuffer", o.queue, o.mem, 1, flags, 0, 16, 0, None, None)


def _shared(o: IcdObjects) -> Value:
    """Shared virtual memory."""
    o.require_function("clSVMAlloc", o.version())
    answer = o.session.buffer(8, 0)
    o.session.call("clGetDeviceInfo", o.device, api().constant("CL_DEVICE_SVM_CAPABILITIES"), 8, answer, None)
    if not answer.u64():
        raise Unsupported("loader", "the device has no shared virtual memory", "SVM")
    memory = o.session.call("clSVMAlloc", o.context, api().constant("CL_MEM_READ_WRITE"), 64, 0)
    assert isinstance(memory, Value)
    if not memory:
        raise CallFailed("clSVMAlloc of 64 bytes answered NULL on a device with shared virtual memory")
    return memory


def _shared_and_mapped(o: IcdObjects) -> Value:
    """Shared virtual memory that the host has: only that can be given back."""
    memory = _shared(o)
    flags = api().constant("CL_MAP_READ")
    o.require("clEnqueueSVMMap", o.session.call("clEnqueueSVMMap", o.queue, 1, flags, memory, 16, 0, None, None))
    return memory


def _compiled_anew(o: IcdObjects) -> Value:
    program = o.with_source()
    o.require("clCompileProgram", o.session.call("clCompileProgram", program, 0, None, None, 0, None, None, None, None))
    return program


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
    devices = o.session.buffer(8 * max(count.u32(), 1), 0)
    error = o.session.call("clCreateSubDevices", o.device, properties, max(count.u32(), 1), devices, None)
    o.require("clCreateSubDevices", error)
    return devices.handle()


def _kernel_of_program(o: IcdObjects) -> Value:
    assert o.kernel  # the program is built
    return o.given_by("clCreateKernelsInProgram", o.program, 1, after=(None,))


def _context_from_type(o: IcdObjects) -> Value:
    assert o.device  # without any there is no context
    properties = [api().constant("CL_CONTEXT_PLATFORM"), o.platform, 0]
    return o.made_by("clCreateContextFromType", properties, api().constant("CL_DEVICE_TYPE_ALL"), None, None)


def _written(o: IcdObjects) -> Value:
    return o.given_by("clEnqueueWriteBuffer", o.queue, o.mem, 1, 0, 16, o.session.buffer(16), 0, None)


def _ran(o: IcdObjects) -> Value:
    size = o.session.words([1])
    event = o.given_by("clEnqueueNDRangeKernel", o.queue, o.kernel, 1, None, size, None, 0, None)
    o.session.call("clFinish", o.queue)
    return event


_CLASSES = {"platform": "cl_platform_id", "device": "cl_device_id", "queue": "cl_command_queue"}

# Objects of calls.toml that are not one of a class.
_NAMED: dict[str, Callable[[IcdObjects], Value]] = {
    "source": lambda o: o.with_source(),
    "built": _built,
    "compiled": lambda o: _compiled_anew(o),
    "args": _with_arguments,
    "mem2": lambda o: o.made_by("clCreateBuffer", o.context, 0, 64, None),
    "image": _image,
    "image2": _image,
    "done": _marker,
    "profiled": _profiled,
    "mapped": _mapped,
    "pipe": _pipe,
    "sub_device": lambda o: _sub_device(o),
    "svm": _shared,
    "svm2": _shared,
    "svm_mapped": _shared_and_mapped,
    **STATES,
}

_NOT_COUNTED = {"svm", "svm2", "svm_mapped", "mapped"}

_SAMPLER = ("CL_SAMPLER_ADDRESSING_MODE", "CL_ADDRESS_NONE", "CL_SAMPLER_FILTER_MODE", "CL_FILTER_NEAREST")


def _sampler_with_properties(o: IcdObjects) -> Value:
    """A sampler with a list, else with an empty one: whether lists are accepted is not what is asked here."""
    listed = [api().constant(name) for name in _SAMPLER] + [0]
    try:
        return o.made_by("clCreateSamplerWithProperties", o.context, listed)
    except CallFailed:
        return o.made_by("clCreateSamplerWithProperties", o.context, [0])


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
    "clCreateSamplerWithProperties": ("cl_sampler", _sampler_with_properties),
    "clCloneKernel": ("cl_kernel", lambda o: o.made_by("clCloneKernel", o.kernel)),
    "clCreateBufferWithProperties": (
        "cl_mem",
        lambda o: o.made_by("clCreateBufferWithProperties", o.context, None, 0, 64, None),
    ),
    "clCreateImage": ("cl_mem", lambda o: _described_image(o, "clCreateImage")),
    "clCreateImageWithProperties": ("cl_mem", lambda o: _described_image(o, "clCreateImageWithProperties", None)),
    "clCreateImage2D": ("cl_mem", _image),
    "clCreatePipe": ("cl_mem", _pipe),
    "clCreateProgramWithBinary": ("cl_program", STATES["of_binary"]),
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
