# SPDX-License-Identifier: Apache-2.0
"""Objects of a vendor in states that forbid calls (harness/api/contract/states.toml), by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from harness.api.codes import CL, constant
from harness.probe.calls import CallFailed
from harness.probe.values import Value, pack
from harness.sandbox import Unsupported


class Maker(Protocol):
    """What makes the objects (harness/probe/icd_objects.py)."""

    @property
    def session(self) -> Any:
        """The session that makes the calls."""

    @property
    def context(self) -> Value:
        """The context that objects are made in."""

    @property
    def device(self) -> Value:
        """The device of that context."""

    @property
    def queue(self) -> Value:
        """An in-order queue on it."""

    @property
    def mem(self) -> Value:
        """A buffer of the context."""

    @property
    def other(self) -> Any:
        """The same objects once more, in a context of their own."""

    def version(self) -> tuple[int, int]:
        """The version of OpenCL that the platform reports."""

    def made_by(self, function: str, *arguments: Any) -> Value:
        """What a creating function makes. Raises CallFailed where it returns an error."""

    def require(self, function: str, error: int) -> None:
        """Raises CallFailed where a function returned an error."""

    def require_function(self, function: str, version: tuple[int, int]) -> None:
        """Makes the case `unsupported` where the function is newer than the platform."""

    def require_images(self) -> None:
        """Makes the case `unsupported` where the device has no images."""

    def with_source(self, source: str = ...) -> Value:
        """A program of this source, not built."""

    def build(self, program: Value, options: str) -> None:
        """Builds a program. Raises CallFailed where that returns an error."""


BROKEN = "kernel void broken(global int *to) { to[0] = clharness_undeclared; }\n"
OF_IMAGE = """
kernel void of_image(read_only image2d_t from, global int *to)
{
    const sampler_t plain = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;
    to[0] = (int)read_imageui(from, plain, (int2)(0, 0)).x;
}
"""
OF_GROUPS = "kernel __attribute__((reqd_work_group_size(4, 2, 1))) void of_groups(global int *to) { to[0] = 1; }\n"


def _buffer(o: Maker, flags: str, size: int = 64) -> Value:
    o.require_function("clCreateSubBuffer", o.version())
    return o.made_by("clCreateBuffer", o.context, sum(map(constant, flags.split())), size, None)


def _image(o: Maker, flags: str, type_: str = "CL_UNSIGNED_INT8") -> Value:
    o.require_images()
    o.require_function("clCreateImage", o.version())  # the flags came with OpenCL 1.2
    pair = o.session.data(pack([constant("CL_RGBA"), constant(type_)], 4))
    return o.made_by("clCreateImage2D", o.context, constant(flags), pair, 4, 4, 0, None)


def _broken(o: Maker) -> Value:
    program = o.with_source(BROKEN)
    o.session.call("clBuildProgram", program, 0, None, None, None, None)
    return program


def _built(o: Maker, source: str | None = None) -> Value:
    program = o.with_source(source) if source else o.with_source()
    o.build(program, "")
    return program


def _with_kernel(o: Maker) -> Value:
    program = _built(o)
    if not o.made_by("clCreateKernel", program, "name"):
        raise CallFailed("clCreateKernel gave no kernel beside CL_SUCCESS")
    return program


def _of_binary(o: Maker) -> Value:
    program, cl = _built(o), o.session
    size = cl.buffer(8, 0)
    o.require("clGetProgramInfo", cl.call("clGetProgramInfo", program, CL.PROGRAM_BINARY_SIZES, 8, size, None))
    if not size.u64():
        raise Unsupported("loader", "the program has no binary", "binaries")
    binary = cl.buffer(min(size.u64(), 1 << 24), 0)
    o.require("clGetProgramInfo", cl.call("clGetProgramInfo", program, CL.PROGRAM_BINARIES, 8, [binary], None))
    return o.made_by("clCreateProgramWithBinary", o.context, 1, [o.device], [binary.size], [binary], None)


def _kernel(o: Maker, source: str, name: str) -> Value:
    return o.made_by("clCreateKernel", _built(o, source), name)


def _of_image(o: Maker) -> Value:
    o.require_images()
    return _kernel(o, OF_IMAGE, "of_image")


def _of_groups(o: Maker) -> Value:
    kernel = _kernel(o, OF_GROUPS, "of_groups")
    o.require("clSetKernelArg", o.session.call("clSetKernelArg", kernel, 0, 8, [o.mem]))
    return kernel


def _half_set(o: Maker) -> Value:
    """A kernel of four arguments, of which the second is missing."""
    kernel = o.made_by("clCreateKernel", _built(o), "args")
    for index, size, value in ((0, 8, [o.mem]), (2, 16, None), (3, 8, [o.mem])):
        o.require("clSetKernelArg", o.session.call("clSetKernelArg", kernel, index, size, value))
    return kernel


def _user_event(o: Maker, status: int) -> Value:
    event = o.made_by("clCreateUserEvent", o.context)
    o.require("clSetUserEventStatus", o.session.call("clSetUserEventStatus", event, status))
    return event


def _unmapped(o: Maker) -> Value:
    """The address of a mapping that was given back."""
    mem = o.mem
    mapped = o.made_by("clEnqueueMapBuffer", o.queue, mem, 1, CL.MAP_READ, 0, 16, 0, None, None)
    o.require("clEnqueueUnmapMemObject", o.session.call("clEnqueueUnmapMemObject", o.queue, mem, mapped, 0, None, None))
    o.require("clFinish", o.session.call("clFinish", o.queue))
    return mapped


def _part(o: Maker) -> Value:
    region = o.session.words([0, 32])
    return o.made_by("clCreateSubBuffer", o.mem, 0, CL.BUFFER_CREATE_TYPE_REGION, region)


def _on_device(o: Maker) -> Value:
    name, out_of_order = "clCreateCommandQueueWithProperties", CL.QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE
    able = o.session.buffer(8, 0)
    o.require_function(name, o.version())
    o.session.call("clGetDeviceInfo", o.device, CL.DEVICE_QUEUE_ON_DEVICE_PROPERTIES, 8, able, None)
    if not able.u64() & out_of_order:
        raise Unsupported("loader", "the device has no queues of its own", "device queues")
    return o.made_by(name, o.context, o.device, [CL.QUEUE_PROPERTIES, CL.QUEUE_ON_DEVICE | out_of_order, 0])


STATES: dict[str, Callable[[Any], Value]] = {
    # programs and kernels
    "broken": _broken,
    "with_kernel": _with_kernel,
    "of_binary": _of_binary,
    "unset": lambda o: o.made_by("clCreateKernel", _built(o), "args"),
    "half_set": _half_set,
    "of_image": _of_image,
    "of_groups": _of_groups,
    # memory objects
    "hidden": lambda o: _buffer(o, "CL_MEM_HOST_NO_ACCESS"),
    "host_reads": lambda o: _buffer(o, "CL_MEM_HOST_READ_ONLY"),
    "host_writes": lambda o: _buffer(o, "CL_MEM_HOST_WRITE_ONLY"),
    "read_only": lambda o: _buffer(o, "CL_MEM_READ_ONLY"),
    "write_only": lambda o: _buffer(o, "CL_MEM_WRITE_ONLY"),
    "hidden_image": lambda o: _image(o, "CL_MEM_HOST_NO_ACCESS"),
    "host_reads_image": lambda o: _image(o, "CL_MEM_HOST_READ_ONLY"),
    "host_writes_image": lambda o: _image(o, "CL_MEM_HOST_WRITE_ONLY"),
    "wide_image": lambda o: _image(o, "CL_MEM_READ_WRITE", "CL_FLOAT"),
    "part": _part,
    "unmapped": _unmapped,
    # queues
    "on_device": _on_device,
    # events
    "failed": lambda o: _user_event(o, CL.OUT_OF_RESOURCES),
    "ended": lambda o: _user_event(o, CL.COMPLETE),
    "of_another_context": lambda o: o.other.named("done"),
}
