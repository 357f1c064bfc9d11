# SPDX-License-Identifier: Apache-2.0
"""Kernels that show what reaches them: their arguments, the places of their work items, local memory.

kernels = Kernels(objects)
assert kernels.sifted() == kernels.sifted_expected()
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.check.icd.memory import Memory, numbered
from harness.probe.calls import Buffer
from harness.probe.icd_objects import IcdObjects
from harness.probe.values import Value

SLOT = 64  # bytes for each argument that clharness_take stores
# Parameters of clharness_take: its type, and bytes of the value. What a kernel stores of three is 12 bytes of 16.
TYPES: Mapping[str, int] = {
    "char": 1, "uchar": 1, "short": 2, "ushort": 2, "int": 4, "uint": 4, "long": 8, "ulong": 8, "float": 4,
    "char2": 2, "uchar4": 4, "short8": 16, "int3": 16, "int4": 16, "float4": 16, "long2": 16, "uint8": 32,
    "uint16": 64, "char16": 16,
}  # fmt: skip
_STORED = {"int3": 12}
_PARAMETERS = ", ".join(f"{type_} a{i}" for i, type_ in enumerate(TYPES))
_STORES = "".join(
    f"    vstore3(a{i}, 0, (global int *)(to + {SLOT * i}));\n"
    if type_ == "int3"
    else f"    *(global {type_} *)(to + {SLOT * i}) = a{i};\n"
    for i, type_ in enumerate(TYPES)
)
# Mock ICDs know these kernels by their names, too (mock_icds/core/launches.c).
_ALL = f"""
kernel void clharness_take({_PARAMETERS}, global uchar *to)
{{
{_STORES}}}

kernel void clharness_ids(global uint *to)
{{
    size_t at = get_global_id(0) - get_global_offset(0) + get_global_size(0) *
        (get_global_id(1) - get_global_offset(1) + get_global_size(1) * (get_global_id(2) - get_global_offset(2)));
    global uint *own = to + 22 * at;
    for (uint d = 0; d < 3; d++) {{
        own[d] = get_global_id(d);
        own[3 + d] = get_local_id(d);
        own[6 + d] = get_group_id(d);
        own[9 + d] = get_global_size(d);
        own[12 + d] = get_local_size(d);
        own[15 + d] = get_num_groups(d);
        own[18 + d] = get_global_offset(d);
    }}
    own[21] = get_work_dim();
}}

kernel void clharness_sift(global const uchar *from, global uchar *to, constant uchar *table, global uchar *none)
{{
    size_t i = get_global_id(0);
    to[i] = from[i] ^ table[i % 4];
    if (i == 0) {{
        to[get_global_size(0)] = none == 0 ? 1 : 2;
    }}
}}

kernel void clharness_exchange(global int *to, local int *one, local int *other)
{{
    size_t own = get_local_id(0), far = get_local_size(0) - 1 - own;
    one[own] = own;
    other[own] = 100 + own;
    barrier(CLK_LOCAL_MEM_FENCE);
    to[get_global_id(0)] = 1000 * one[far] + other[far];
}}

kernel __attribute__((reqd_work_group_size(4, 2, 1))) void clharness_fixed(global uchar *to)
{{
    to[0] = 1;
}}

kernel void clharness_defined(global int *to)
{{
    to[0] = CLHARNESS_FIRST;
    to[1] = CLHARNESS_SECOND;
    to[2] = CLHARNESS_THIRD;
    to[3] = CLHARNESS_FOURTH;
}}
"""
IDS = 22
# What clharness_defined stores; it can only be built with options that define each of them.
DEFINED = ("CLHARNESS_FIRST", "CLHARNESS_SECOND", "CLHARNESS_THIRD", "CLHARNESS_FOURTH")
# Each kernel is a program: a compiler that cannot translate one of them still runs the others.
SOURCES = {
    match[1]: f"{text}\n" for text in _ALL.strip().split("\n\n") if (match := re.search(r"(clharness_\w+)\(", text))
}


@dataclass(frozen=True)
class Range:
    """The range of a kernel, by dimension: offsets, sizes, and group sizes, which may be left to the driver."""

    size: tuple[int, ...]
    offset: tuple[int, ...] = ()
    group: tuple[int, ...] = ()

    @property
    def items(self) -> int:
        """How many work-items the range has."""
        count = 1
        for size in self.size:
            count *= size
        return count

    def places(self, group: Sequence[int]) -> list[list[int]]:
        """What clharness_ids stores for each work item, where groups have this size."""
        size = (*self.size, 1, 1)[:3]
        offset = (*self.offset, 0, 0, 0)[:3] if self.offset else (0, 0, 0)
        result = []
        for z in range(size[2]):
            for y in range(size[1]):
                for x in range(size[0]):
                    at = (x, y, z)
                    own = [min(group[d], size[d] - at[d] // group[d] * group[d]) for d in range(3)]
                    result.append(
                        [at[d] + offset[d] for d in range(3)]
                        + [at[d] % group[d] for d in range(3)]
                        + [at[d] // group[d] for d in range(3)]
                        + list(size)
                        + own
                        + [-(-size[d] // group[d]) for d in range(3)]
                        + list(offset)
                        + [len(self.size)]
                    )
        return result


class Kernels(Memory):
    """The kernels of SOURCES on the first device of a platform, or those of a program."""

    def __init__(self, objects: IcdObjects, program: Value | None = None, options: str = "") -> None:
        super().__init__(objects)
        self.program = program
        self.options = options

    def kernel(self, name: str) -> Value:
        """A new kernel, of a new program where none was given."""
        program = self.program
        if program is None:
            program = self.objects.with_source(SOURCES[name])
            self.objects.build(program, self.options)
        return self.objects.made_by("clCreateKernel", program, name)

    def set(self, kernel: Value, index: int, value: bytes | Value | None, size: int = 0) -> Buffer | None:
        """Sets an argument: bytes, a memory object or NULL for one, or local memory of a size; gives where it lay."""
        data: Buffer | None = None
        if isinstance(value, bytes):
            data, size = self.session.data(value), len(value)
        elif not size:
            data, size = self.session.words([value if value is not None else 0]), 8
        self.succeed("clSetKernelArg", kernel, index, size, data)
        return data

    def run(self, kernel: Value, range_: Range, after: Sequence[Value] = ()) -> None:
        """Enqueues a kernel."""
        offset, group = (list(words) or None for words in (range_.offset, range_.group))
        self.succeed(
            "clEnqueueNDRangeKernel", self.queue, kernel, len(range_.size), offset, list(range_.size), group,
            len(after), list(after) or None, None,
        )  # fmt: skip

    # --- single kernels ---

    def values(self, seed: int, bits: int = 0) -> list[bytes]:
        """A value for each parameter of clharness_take; its numbers are plain ones in every type. `bits` are set in
        each byte: with 0x80 the numbers are negative ones, or large."""
        return [
            bytes(1 + byte % 62 | bits for byte in numbered(size, seed + i)) for i, size in enumerate(TYPES.values())
        ]

    def stored(self, values: Sequence[bytes], before: bytes) -> bytes:
        """What clharness_take leaves in memory."""
        for i, (type_, value) in enumerate(zip(TYPES, values, strict=True)):
            kept = value[: _STORED.get(type_, len(value))]
            before = before[: SLOT * i] + kept + before[SLOT * i + len(kept) :]
        return before

    def sifted(self, part: Value | None = None, none: Value | None = None) -> bytes:
        """What clharness_sift makes of 64 bytes; of a sub-buffer, where one is given."""
        mem = part if part is not None else self.buffer(numbered(64, 7))
        to = self.buffer(bytes(65))
        kernel = self.kernel("clharness_sift")
        for index, value in enumerate((mem, to, self.buffer(bytes([1, 2, 4, 8])), none)):
            self.set(kernel, index, value)
        self.run(kernel, Range((64,)))
        return self.content(to, 65)

    def sifted_expected(self, content: bytes | None = None, none: int = 1) -> bytes:
        """What the kernel that sifts must leave of `content`, and the byte that says whether its pointer was NULL."""
        content = numbered(64, 7) if content is None else content
        return bytes(byte ^ (1, 2, 4, 8)[i % 4] for i, byte in enumerate(content)) + bytes([none])

    def places(self, range_: Range) -> list[list[int]]:
        """What clharness_ids stores for each work item."""
        size = 4 * IDS * range_.items
        to, kernel = self.buffer(bytes(size)), self.kernel("clharness_ids")
        self.set(kernel, 0, to)
        self.run(kernel, range_)
        content = b"".join(self.content(to, min(2048, size - at), at) for at in range(0, size, 2048))
        words = struct.unpack(f"<{size // 4}I", content)
        return [list(words[i : i + IDS]) for i in range(0, len(words), IDS)]
