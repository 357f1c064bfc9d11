# SPDX-License-Identifier: Apache-2.0
"""Parameters of kernels that objects are given for, and objects of every kind that may be tried.

arguments = ArgumentObjects(objects)
kernel = arguments.kernel(PARAMETERS[0])
objects.session.call("clSetKernelArg", kernel, 0, 8, [arguments.object("buffer")])
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.api.codes import CL
from harness.check.icd.compute import require_compiler
from harness.probe.icd_objects import IcdObjects
from harness.probe.session import Session
from harness.probe.values import Value, pack
from harness.sandbox import Unsupported

WIDTH = 4  # of images, in pixels of four bytes; their heights and depths are the same
_IMAGES = {
    "1D image": CL.MEM_OBJECT_IMAGE1D,
    "2D image": CL.MEM_OBJECT_IMAGE2D,
    "3D image": CL.MEM_OBJECT_IMAGE3D,
    "1D image array": CL.MEM_OBJECT_IMAGE1D_ARRAY,
    "2D image array": CL.MEM_OBJECT_IMAGE2D_ARRAY,
    "1D image buffer": CL.MEM_OBJECT_IMAGE1D_BUFFER,
}
_BUFFERS = ("buffer", "sub-buffer")
MEMORY = (*_BUFFERS, *_IMAGES)
_CLASSES = {
    "kernel": "cl_kernel",
    "queue": "cl_command_queue",
    "event": "cl_event",
    "sampler": "cl_sampler",
}


@dataclass(frozen=True)
class KernelParameter:
    """A parameter of a kernel that an object is the argument for."""

    name: str
    declared: str
    takes: tuple[str, ...]  # kinds of objects
    error: int = CL.INVALID_MEM_OBJECT
    needs_object: bool = True  # NULL is refused
    since: tuple[int, int] = (1, 0)  # the version of OpenCL that its type came with

    @property
    def kernel_name(self) -> str:
        """The name of the kernel that has it alone."""
        return f"of_one_{self.name.replace('-', '_')}"

    @property
    def kernel(self) -> str:
        """The text of that kernel."""
        space = "" if self.declared.endswith("*") else " "
        return f"kernel void {self.kernel_name}({self.declared}{space}one) {{ }}\n"

    def is_built_with(self, other: KernelParameter) -> bool:
        """Whether their kernels are compiled together. The oldest kinds of images are not: compilers of drivers that
        have no others crash on some of them."""
        if self.needs_object and self.since == (1, 0):
            return self is other
        return (self.needs_object, self.since) == (other.needs_object, other.since)

    @property
    def refuses(self) -> list[str]:
        """Memory objects that it cannot have."""
        return [] if self.takes == ("sampler",) else [kind for kind in MEMORY if kind not in self.takes]

    @property
    def other_classes(self) -> list[str]:
        """Objects that are of another class."""
        memory = ["buffer", "2D image"] if self.takes == ("sampler",) else []
        return memory + [kind for kind in _CLASSES if kind not in self.takes]


PARAMETERS = [
    KernelParameter("global", "global uchar *", _BUFFERS, needs_object=False),
    KernelParameter("constant", "constant uchar *", _BUFFERS, needs_object=False),
    KernelParameter("image1d_t", "read_only image1d_t", ("1D image",), since=(1, 2)),
    KernelParameter("image2d_t", "read_only image2d_t", ("2D image",)),
    KernelParameter("image2d_t-written", "write_only image2d_t", ("2D image",)),
    KernelParameter("image3d_t", "read_only image3d_t", ("3D image",)),
    KernelParameter("image1d_array_t", "read_only image1d_array_t", ("1D image array",), since=(1, 2)),
    KernelParameter("image2d_array_t", "read_only image2d_array_t", ("2D image array",), since=(1, 2)),
    KernelParameter("image1d_buffer_t", "read_only image1d_buffer_t", ("1D image buffer",), since=(1, 2)),
    KernelParameter("sampler_t", "sampler_t", ("sampler",), CL.INVALID_SAMPLER),
]


class ArgumentObjects:
    """Kernels of one parameter, and what may be tried as their argument, in one context."""

    def __init__(self, objects: IcdObjects) -> None:
        self.objects = objects
        self.session: Session = objects.session

    def kernel(self, parameter: KernelParameter) -> Value:
        """A kernel with this parameter alone. Makes the attempt `unsupported` where the device cannot have it."""
        require_compiler([self.objects])
        if self.objects.device_version() < parameter.since:
            messages = f"{parameter.name} came with OpenCL {parameter.since[0]}.{parameter.since[1]}"
            raise Unsupported("loader", messages, parameter.name)
        if parameter.needs_object:
            self.objects.require_images()
        program = self.objects.built("".join(other.kernel for other in PARAMETERS if other.is_built_with(parameter)))
        return self.objects.made_by("clCreateKernel", program, parameter.kernel_name)

    def object(self, kind: str) -> Value:
        """A new object; of classes that no parameter can have, the usual one."""
        if kind == "buffer":
            return self._buffer()
        if kind == "sub-buffer":
            region = self.session.words([0, 16])
            return self.objects.made_by("clCreateSubBuffer", self._buffer(), 0, CL.BUFFER_CREATE_TYPE_REGION, region)
        if kind in _IMAGES:
            return self.image(_IMAGES[kind])
        if kind == "sampler":
            self.objects.require_images()
            return self.objects.made_by("clCreateSampler", self.objects.context, 0, CL.ADDRESS_NONE, CL.FILTER_NEAREST)
        return self.objects[_CLASSES[kind]]

    def image(self, kind: int, flags: int = CL.MEM_READ_WRITE) -> Value:
        """An image of four bytes a pixel."""
        self.objects.require_images()
        self.objects.require_function("clCreateImage", self.objects.version())
        flat = kind in (CL.MEM_OBJECT_IMAGE1D, CL.MEM_OBJECT_IMAGE1D_BUFFER, CL.MEM_OBJECT_IMAGE1D_ARRAY)
        layers = WIDTH if kind in (CL.MEM_OBJECT_IMAGE1D_ARRAY, CL.MEM_OBJECT_IMAGE2D_ARRAY) else 0
        depth = WIDTH if kind == CL.MEM_OBJECT_IMAGE3D else 0
        below = self._buffer() if kind == CL.MEM_OBJECT_IMAGE1D_BUFFER else 0
        image_format = self.session.data(pack([CL.RGBA, CL.UNSIGNED_INT8], 4))
        described = self.session.words([kind, WIDTH, 0 if flat else WIDTH, depth, layers, 0, 0, 0, below])
        return self.objects.made_by("clCreateImage", self.objects.context, flags, image_format, described, None)

    def count_of(self, parameter: KernelParameter) -> tuple[str, str]:
        """The function and the query that count the references of its argument."""
        if parameter.takes == ("sampler",):
            return "clGetSamplerInfo", "CL_SAMPLER_REFERENCE_COUNT"
        return "clGetMemObjectInfo", "CL_MEM_REFERENCE_COUNT"

    def _buffer(self) -> Value:
        return self.objects.made_by("clCreateBuffer", self.objects.context, CL.MEM_READ_WRITE, 64, None)
