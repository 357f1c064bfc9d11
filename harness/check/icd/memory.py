# SPDX-License-Identifier: Apache-2.0
"""What memory objects hold: contents that are written one way are read another, byte for byte.

memory = Memory(objects)
mem = memory.buffer(content)
memory.succeed("clEnqueueFillBuffer", memory.queue, mem, pattern, len(pattern), 16, 32, 0, None, None)
expect_same(memory.content(mem, len(content)), expected)
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from harness.api.codes import CL, constant
from harness.api.model import api
from harness.probe.calls import Buffer, CallFailed
from harness.probe.icd_objects import IcdObjects
from harness.probe.session import Session
from harness.probe.values import Value, pack
from harness.sandbox import Unsupported

PERIOD = 251  # a prime: no pitch, no pattern and no vector is as long


def numbered(size: int, seed: int = 0) -> bytes:
    """Bytes that differ from their neighbours, and from those of another seed; none of them is 0."""
    return bytes(1 + (i * 37 + i // PERIOD * 11 + seed * 101) % PERIOD for i in range(size))


def with_bytes(content: bytes, at: int, new: bytes) -> bytes:
    """The content with some bytes replaced."""
    return content[:at] + new + content[at + len(new) :]


def expect_same(actual: bytes, expected: bytes, what: str = "the memory") -> None:
    """Fails with the first byte that differs."""
    differs = [i for i, (one, other) in enumerate(zip(actual, expected, strict=True)) if one != other]
    assert actual == expected, f"{what} differs from what was written, first at byte {differs[0] if differs else 0}"


@dataclass(frozen=True)
class Layout:
    """Where the rows of a region lie in memory: origin and pitches in bytes, 0 for the smallest pitch."""

    origin: tuple[int, int, int]
    row: int = 0
    slice: int = 0

    def rows(self, region: Sequence[int]) -> Iterator[int]:
        """The first byte of each row."""
        row = self.row or region[0]
        slice_ = self.slice or region[1] * row
        x, y, z = self.origin
        for depth in range(region[2]):
            for height in range(region[1]):
                yield x + (y + height) * row + (z + depth) * slice_


def copied(source: bytes, source_layout: Layout, target: bytes, target_layout: Layout, region: Sequence[int]) -> bytes:
    """The target after a region of the source was copied into it."""
    for start, end in zip(source_layout.rows(region), target_layout.rows(region), strict=True):
        target = with_bytes(target, end, source[start : start + region[0]])
    return target


class Memory:
    """Memory objects of one context, and the host's memory beside them."""

    def __init__(self, objects: IcdObjects) -> None:
        self.objects = objects
        self.session: Session = objects.session
        self.queue = objects.queue

    # --- buffers ---

    def buffer(self, content: bytes, flags: str = "CL_MEM_READ_WRITE") -> Value:
        """A buffer with this content."""
        bits = flags_of(flags) | constant("CL_MEM_COPY_HOST_PTR")
        data = self.session.data(content)
        return self.objects.made_by("clCreateBuffer", self.objects.context, bits, len(content), data)

    def content(self, mem: Value, size: int, offset: int = 0) -> bytes:
        """What a buffer holds, when all before is done."""
        to = self.session.read_with_call(self.session.buffer(size))
        self.succeed("clEnqueueReadBuffer", self.queue, mem, 1, offset, size, to, 0, None, None)
        return to.bytes()

    def part(self, mem: Value, origin: int, size: int, flags: int = 0) -> Value:
        """A sub-buffer."""
        region = self.session.words([origin, size])
        kind = constant("CL_BUFFER_CREATE_TYPE_REGION")
        return self.objects.made_by("clCreateSubBuffer", mem, flags, kind, region)

    def alignment(self) -> int:
        """Bytes that the origin of a sub-buffer must be a multiple of."""
        bits = self.number("clGetDeviceInfo", self.objects.device, "CL_DEVICE_MEM_BASE_ADDR_ALIGN", 4)
        assert 8 <= bits <= 1 << 20 and bits % 8 == 0, f"CL_DEVICE_MEM_BASE_ADDR_ALIGN is {bits} bits"
        return bits // 8

    def map(self, mem: Value, flags: str, offset: int, size: int) -> Value:
        """Maps a part of a buffer, and waits for that."""
        return self.objects.made_by(
            "clEnqueueMapBuffer", self.queue, mem, 1, flags_of(flags), offset, size, 0, None, None
        )

    def unmap(self, mem: Value, mapped: Value) -> None:
        """Enqueues the unmapping of what clEnqueueMap... returned. Raises CallFailed unless it returns CL_SUCCESS."""
        self.succeed("clEnqueueUnmapMemObject", self.queue, mem, mapped, 0, None, None)

    # --- calls ---

    def succeed(self, function: str, *arguments: Any) -> None:
        """A call that must succeed; makes the attempt `unsupported` where the platform's version lacks the function."""
        self.objects.require_function(function, self.objects.version())
        self.objects.require(function, self.session.call(function, *arguments))

    def event(self, function: str, *arguments: Any) -> Value:
        """The event of a command, whose last argument it is."""
        self.objects.require_function(function, self.objects.version())
        return self.objects.given_by(function, *arguments)

    def finish(self) -> None:
        """Waits for the queue. Raises CallFailed unless clFinish returns CL_SUCCESS."""
        self.succeed("clFinish", self.queue)

    def address(self, buffer: Buffer) -> int:
        """Where the host's memory lies."""
        return int(self.session.command(f"value {buffer.token}"), 16)

    def number(self, function: str, handle: Value, query: str, size: int = 8) -> int:
        """The answer to a query, a number of so many bytes."""
        answer = self.session.read_with_call(self.session.buffer(8, 0))
        self.objects.require(function, self.session.call(function, handle, constant(query), size, answer, None))
        return answer.u64()


def native_memory(objects: IcdObjects) -> Memory:
    """Memory of a device that runs native kernels. Makes the attempt `unsupported` on another."""
    memory = Memory(objects)
    able = memory.number("clGetDeviceInfo", objects.device, "CL_DEVICE_EXECUTION_CAPABILITIES")
    if not able & CL.EXEC_NATIVE_KERNEL:
        raise Unsupported("loader", "this device runs no native kernels", "clEnqueueNativeKernel")
    return memory


class Shared(Memory):
    """Shared virtual memory. Makes the attempt `unsupported` on a device that has none."""

    def __init__(self, objects: IcdObjects) -> None:
        super().__init__(objects)
        objects.named("svm")

    def allocate(self, content: bytes) -> Value:
        """Memory with this content, which the host may use while it is mapped."""
        size = len(content)
        at = self.session.call("clSVMAlloc", self.objects.context, constant("CL_MEM_READ_WRITE"), size, 0)
        assert isinstance(at, Value)
        if not at:
            raise CallFailed(f"clSVMAlloc of {size} bytes answered NULL on a device with shared virtual memory")
        self.succeed("clEnqueueSVMMemcpy", self.queue, 1, at, self.session.data(content), size, 0, None, None)
        return at

    def held(self, at: Value, size: int) -> bytes:
        """What the memory holds, copied to the host."""
        to = self.session.read_with_call(self.session.buffer(size))
        self.succeed("clEnqueueSVMMemcpy", self.queue, 1, to, at, size, 0, None, None)
        return to.bytes()


def flags_of(names: str) -> int:
    """Flags by name: CL_NAME, or CL_NAME|CL_NAME."""
    return sum(constant(name) for name in names.split("|"))


# --- images ---

CHANNELS = {
    "CL_R": 1, "CL_A": 1, "CL_RG": 2, "CL_RA": 2, "CL_RGBA": 4, "CL_BGRA": 4, "CL_ARGB": 4, "CL_ABGR": 4,
    "CL_INTENSITY": 1, "CL_LUMINANCE": 1, "CL_DEPTH": 1, "CL_sRGBA": 4, "CL_sBGRA": 4,
}  # fmt: skip
CHANNEL_SIZES = {
    "CL_SNORM_INT8": 1, "CL_SNORM_INT16": 2, "CL_UNORM_INT8": 1, "CL_UNORM_INT16": 2, "CL_SIGNED_INT8": 1,
    "CL_SIGNED_INT16": 2, "CL_SIGNED_INT32": 4, "CL_UNSIGNED_INT8": 1, "CL_UNSIGNED_INT16": 2,
    "CL_UNSIGNED_INT32": 4, "CL_HALF_FLOAT": 2, "CL_FLOAT": 4,
}  # fmt: skip
SHAPES = {
    "CL_MEM_OBJECT_IMAGE1D": (13, 1, 1),
    "CL_MEM_OBJECT_IMAGE2D": (13, 7, 1),
    "CL_MEM_OBJECT_IMAGE3D": (13, 7, 5),
    "CL_MEM_OBJECT_IMAGE1D_ARRAY": (13, 6, 1),
    "CL_MEM_OBJECT_IMAGE2D_ARRAY": (13, 7, 4),
    "CL_MEM_OBJECT_IMAGE1D_BUFFER": (13, 1, 1),
}


@dataclass(frozen=True)
class Format:
    """An image format whose size is known."""

    order: str
    type: str

    @property
    def size(self) -> int:
        """Bytes of a pixel."""
        return CHANNELS[self.order] * CHANNEL_SIZES[self.type]

    def __str__(self) -> str:
        return f"{self.order} {self.type}"


PLAIN = Format("CL_RGBA", "CL_UNSIGNED_INT8")


class Images(Memory):
    """Images of one context. Makes the attempt `unsupported` on a device that has none."""

    def __init__(self, objects: IcdObjects) -> None:
        objects.require_images()
        super().__init__(objects)

    def formats(self, kind: str, names: str = "CL_MEM_READ_ONLY") -> list[Format]:
        """Those that can be read and written from the host, with these flags, as far as their sizes are known here."""
        arguments = self.objects.context, flags_of(names) if names else 0, constant(kind)
        query = "clGetSupportedImageFormats"
        told = self.session.read_with_call(self.session.buffer(4, 0))
        self.succeed(query, *arguments, 0, None, told)
        count = told.u32()
        listed = self.session.read_with_call(self.session.buffer(8 * count, 0))
        if count:
            self.succeed(query, *arguments, count, listed, None)
        orders_and_types = struct.iter_unpack("<II", bytes(listed.bytes()))
        known = {
            (api().constants[order], api().constants[type_]): Format(order, type_)
            for order in CHANNELS if order in api().constants
            for type_ in CHANNEL_SIZES
        }  # fmt: skip
        return [known[pair] for pair in orders_and_types if pair in known]

    def require(self, kind: str, image_format: Format) -> None:
        """Makes the attempt `unsupported` where such an image cannot be had."""
        if image_format not in self.formats(kind):
            raise Unsupported("loader", f"there is no {kind} of {image_format}", kind)

    def image(
        self,
        kind: str,
        image_format: Format,
        flags: str = "CL_MEM_READ_WRITE",
        own: Value | int = 0,
        host: Buffer | None = None,
        pitches: tuple[int, int] = (0, 0),
        shape: tuple[int, int, int] | None = None,
    ) -> Value:
        """An image of this size, by default that of SHAPES; an image buffer of its own buffer, or of a new one.
        `host` is memory of the host's that it is made of, whose rows and slices lie apart as `pitches` say."""
        self.objects.require_function("clCreateImage", self.objects.version())
        width, height, depth = shape or SHAPES[kind]
        array = {"CL_MEM_OBJECT_IMAGE1D_ARRAY": height, "CL_MEM_OBJECT_IMAGE2D_ARRAY": depth}.get(kind, 0)
        if kind == "CL_MEM_OBJECT_IMAGE1D_BUFFER" and not own:
            own = self.buffer(bytes(width * image_format.size))
        tall = kind in ("CL_MEM_OBJECT_IMAGE2D", "CL_MEM_OBJECT_IMAGE3D", "CL_MEM_OBJECT_IMAGE2D_ARRAY")
        deep = kind == "CL_MEM_OBJECT_IMAGE3D"
        words = [constant(kind), width, height if tall else 0, depth if deep else 0, array, *pitches, 0, own]
        described = self.session.words(words)
        pair = pack([constant(image_format.order), constant(image_format.type)], 4)
        return self.objects.made_by(
            "clCreateImage", self.objects.context, flags_of(flags), self.session.data(pair), described, host
        )

    def write(self, image: Value, origin: Sequence[int], region: Sequence[int], content: bytes, row: int = 0) -> None:
        """Writes a region, with the smallest pitches or rows of this pitch."""
        data = self.session.data(content)
        at, size = self.session.words(list(origin)), self.session.words(list(region))
        self.succeed("clEnqueueWriteImage", self.queue, image, 1, at, size, row, 0, data, 0, None, None)

    def read(self, image: Value, origin: Sequence[int], region: Sequence[int], pixel: int) -> bytes:
        """The pixels of a region, without gaps."""
        to = self.session.read_with_call(self.session.buffer(pixel * region[0] * region[1] * region[2]))
        at, size = self.session.words(list(origin)), self.session.words(list(region))
        self.succeed("clEnqueueReadImage", self.queue, image, 1, at, size, 0, 0, to, 0, None, None)
        return to.bytes()


def layout_of(kind: str, pixel: int, origin: Sequence[int]) -> Layout:
    """Where a region begins in the pixels of a whole image that lie without gaps."""
    width, height, _ = SHAPES[kind]
    return Layout((origin[0] * pixel, origin[1], origin[2]), width * pixel, width * height * pixel)
