# SPDX-License-Identifier: Apache-2.0
"""Kernels that really run: what each one computes, from its source to the numbers that are read back.

compute = Compute(objects)
assert compute.added(3) == compute.sums(3)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.api.model import api
from harness.probe.answers import number_of
from harness.probe.calls import Buffer
from harness.probe.icd_objects import IcdObjects
from harness.probe.session import Session
from harness.probe.values import Value, pack
from harness.sandbox import Unsupported

# Devices of mock ICDs with the feature `compiler` know these kernels by their names (mock_icds/core/compute.c).
SOURCE = """
kernel void clharness_add(global const int *one, global const int *other, global int *sum, int factor)
{
    size_t i = get_global_id(0);
    sum[i] = one[i] + factor * other[i];
}

kernel void clharness_turn(global const int *from, global int *to, local int *group)
{
    size_t i = get_local_id(0);
    group[i] = from[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    to[get_global_id(0)] = group[get_local_size(0) - 1 - i];
}
"""
IMAGE_SOURCE = """
kernel void clharness_look(read_only image2d_t image, global int *to)
{
    const sampler_t plain = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    to[at.y * get_global_size(0) + at.x] = (int)read_imageui(image, plain, at).x;
}
"""
ERROR_SOURCE = "kernel void broken(global int *to) { to[0] = clharness_undeclared; }\n"

ITEMS, MOST_IN_GROUP = 256, 8
WIDTH, HEIGHT = 16, 4
ONE = [7 * i - 300 for i in range(ITEMS)]
OTHER = [i * i + 1 for i in range(ITEMS)]


def compiles(objects: IcdObjects) -> bool:
    """Whether the first device of a platform has a compiler."""
    if not objects.session.GetDeviceIDs(objects.platform):
        return False
    return _device_says(objects, "CL_DEVICE_COMPILER_AVAILABLE") == 1


def require_compiler(every: Sequence[IcdObjects]) -> list[IcdObjects]:
    """Those platforms that have one; makes the case `unsupported` where none has."""
    if not every:
        raise Unsupported("machine", "this ICD has no platform on this machine")
    result = [objects for objects in every if compiles(objects)]
    if not result:
        raise Unsupported("loader", "no device has a compiler", "compiler")
    return result


def _device_says(objects: IcdObjects, query: str) -> int:
    answer = objects.session.buffer(8, 0)
    objects.session.call_for(answer, "clGetDeviceInfo", objects.device, api().constant(query), 8, answer, None)
    return answer.u32()


class Compute:
    """The first device of a platform, used as an application does."""

    def __init__(self, objects: IcdObjects) -> None:
        self.objects = objects
        self.session: Session = objects.session
        self._programs: dict[str, Value] = {}

    # --- what should come out ---

    @staticmethod
    def sums(factor: int) -> list[int]:
        """What the kernel that adds must write: ONE + factor * OTHER, item by item."""
        return [one + factor * other for one, other in zip(ONE, OTHER, strict=True)]

    @staticmethod
    def turned(group: int) -> list[int]:
        """What a kernel must write that turns the order round within each work-group of `group` items."""
        return [ONE[i - i % group + group - 1 - i % group] for i in range(ITEMS)]

    # --- what does ---

    def added(self, factor: int) -> list[int]:
        """A sum of two vectors, written, computed and read on one queue."""
        queue, sum_ = self.objects.queue, self.memory()
        kernel = self.kernel("clharness_add", self.memory(ONE), self.memory(OTHER), sum_, factor)
        self.run(queue, kernel, [ITEMS], None)
        return self.read(queue, sum_)

    def added_on_two_queues(self, factor: int) -> list[int]:
        """The same, computed on a second queue, which waits for the first one by events, and the first one for it."""
        first, second = self.objects.queue, self.queue()
        one, other, sum_ = self.memory(), self.memory(), self.memory()
        written = [self.write(first, one, ONE), self.write(first, other, OTHER)]
        self.succeed("clFlush", first)
        kernel = self.kernel("clharness_add", one, other, sum_, factor)
        done = self.run(second, kernel, [ITEMS], None, written)
        self.succeed("clFlush", second)
        return self.read(first, sum_, [done])

    def turned_groups(self) -> tuple[list[int], int]:
        """Vectors turned around in each group, through local memory; and how many items a group has."""
        to = self.memory()
        kernel = self.kernel("clharness_turn", self.memory(ONE), to)
        answer = self.session.buffer(8, 0)
        query = api().constant("CL_KERNEL_WORK_GROUP_SIZE")
        self.succeed("clGetKernelWorkGroupInfo", kernel, self.objects.device, query, 8, answer, None)
        most = answer.u64()
        group = next(size for size in (MOST_IN_GROUP, 4, 2, 1) if size <= max(most, 1))
        self.succeed("clSetKernelArg", kernel, 2, 4 * group, None)
        self.run(self.objects.queue, kernel, [ITEMS], [group])
        return self.read(self.objects.queue, to), group

    def looked_at(self) -> tuple[list[int], list[int]]:
        """What a kernel reads of an image, and what was written there."""
        self.objects.require_images()
        image_format = self.session.data(pack([api().constant("CL_RGBA"), api().constant("CL_UNSIGNED_INT8")], 4))
        flags = api().constant("CL_MEM_READ_ONLY")
        image = self.objects.made_by(
            "clCreateImage2D", self.objects.context, flags, image_format, WIDTH, HEIGHT, 0, None
        )
        first = [3 * i + 1 for i in range(WIDTH * HEIGHT)]
        pixels = self.session.data(b"".join(bytes([value, 9, 9, 9]) for value in first))
        origin, region = self.session.words([0, 0, 0]), self.session.words([WIDTH, HEIGHT, 1])
        queue, to = self.objects.queue, self.memory()
        self.succeed("clEnqueueWriteImage", queue, image, 1, origin, region, 0, 0, pixels, 0, None, None)
        self.run(queue, self.kernel("clharness_look", image, to, source=IMAGE_SOURCE), [WIDTH, HEIGHT], None)
        return self.read(queue, to)[: WIDTH * HEIGHT], first

    # --- a program that cannot be built ---

    def failed_build(self) -> tuple[int, int, str]:
        """What the build of a source with an error answers, its status afterwards, and its log."""
        program = self.objects.with_source(ERROR_SOURCE)
        result = self.session.call("clBuildProgram", program, 1, [self.objects.device], None, None, None)
        status, size = self.session.buffer(4, 0), self.session.buffer(8, 0)
        self._build_info(program, "CL_PROGRAM_BUILD_STATUS", 4, status, None)
        self._build_info(program, "CL_PROGRAM_BUILD_LOG", 0, None, size)
        log = self.session.buffer(max(size.u64(), 1), 0)
        self._build_info(program, "CL_PROGRAM_BUILD_LOG", log.size, log, None)
        return result, status.i32(), log.text()

    def _build_info(self, program: Value, query: str, room: int, to: Buffer | None, size: Buffer | None) -> None:
        constant = api().constant(query)
        self.succeed("clGetProgramBuildInfo", program, self.objects.device, constant, room, to, size)

    # --- single steps ---

    def succeed(self, function: str, *arguments: Any) -> None:
        """Makes a call that returns an error code. Raises CallFailed unless that is CL_SUCCESS."""
        self.objects.require(function, self.session.call(function, *arguments))

    def queue(self) -> Value:
        """A new in-order queue on the context's device."""
        return self.objects.made_by("clCreateCommandQueue", self.objects.context, self.objects.device, 0)

    def memory(self, content: Sequence[int] = ()) -> Value:
        """A buffer for ITEMS numbers, with this content; else with zeros."""
        data = self.session.data(pack(content or [0] * ITEMS, 4))
        flags = api().constant("CL_MEM_READ_WRITE") | api().constant("CL_MEM_COPY_HOST_PTR")
        return self.objects.made_by("clCreateBuffer", self.objects.context, flags, 4 * ITEMS, data)

    def kernel(self, name: str, *arguments: Value | int, source: str = SOURCE) -> Value:
        """A kernel with these arguments: memory, or numbers of 32 bits."""
        if source not in self._programs:
            program = self._programs[source] = self.objects.with_source(source)
            self.objects.build(program, "")
        kernel = self.objects.made_by("clCreateKernel", self._programs[source], name)
        for index, argument in enumerate(arguments):
            is_memory = isinstance(argument, Value)
            data = self.session.words([argument]) if is_memory else self.session.data(pack([argument], 4))
            self.succeed("clSetKernelArg", kernel, index, 8 if is_memory else 4, data)
        return kernel

    def write(self, queue: Value, memory: Value, content: Sequence[int]) -> Value:
        """Writes without waiting; gives the event."""
        data = self.session.data(pack(content, 4))
        return self.objects.given_by("clEnqueueWriteBuffer", queue, memory, 0, 0, data.size, data, 0, None)

    def run(
        self, queue: Value, kernel: Value, size: list[int], group: list[int] | None, after: Sequence[Value] = ()
    ) -> Value:
        """Enqueues a kernel after events; gives its own."""
        waits = list(after) or None
        return self.objects.given_by(
            "clEnqueueNDRangeKernel", queue, kernel, len(size), None, size, group, len(after), waits
        )

    def read(self, queue: Value, memory: Value, after: Sequence[Value] = ()) -> list[int]:
        """The numbers in a buffer, when all before them is done."""
        to = self.session.read_with_call(self.session.buffer(4 * ITEMS))
        waits = list(after) or None
        self.succeed("clEnqueueReadBuffer", queue, memory, 1, 0, to.size, to, len(after), waits, None)
        content = to.bytes()
        return [number_of(content[i : i + 4], signed=True) for i in range(0, len(content), 4)]
