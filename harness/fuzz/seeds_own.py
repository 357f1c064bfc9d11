# SPDX-License-Identifier: Apache-2.0
"""Seeds of the targets for our own readers and writers: recorded exchanges, and the pieces of call logs.

python -m harness.fuzz.seeds_own --out FOLDER     writes FOLDER/recording, FOLDER/call_log
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from harness.fuzz import seeds

EXCHANGES = (
    ("hello", "environment", "heap", "handlers", "exports", "counted", "callbacks"),
    ("symbol clFinish", "symbol clFinish OPENCL_1.0", "open", "close", "module @clFinish"),
    ("buffer 1 4 165", "call 2 clGetPlatformIDs 0 0 b1", "get 1 0 4", "value r2", "free 1"),
    ("buffer 1 16 0", "word 1 0 0x4250", "word 1 8 -1", "put 1 4 00ff10", "get 1 0 16", "protect 1", "get 1 2 3"),
    ("buffer 1 64 165", "buffer 2 8 0", "word 2 0 b1+8", "value *b2", "read *b2 8", "peek 3 b2 0", "value r3"),
    ("call 1 clFinish 7", "call 2 clFlush r1", "call 3 clRetainContext 0x7fffffffffffffff", "value r3"),
    ("call 1 clCreateContext 0 1 b1 0 0 0", "call 1 clWaitForEvents 1 0", "call 1 clNobody 1", "call x clFinish"),
    ("buffer 4 8 1", "call 5 clCreateContext 0 1 b4 ^clCreateContext.pfn_notify b4 0"),
    ("when clCreateContext.pfn_notify call 9 clFinish c0", "call 8 clCreateContext 0 0 0 0 0 0", "callbacks"),
    ("thread 0 call 1 clFinish 1", "thread 1 layer clDeinitLayer", "layer clDeinitLayer 1 2 3 4"),
    ("count 2f746d70 call 1 clFinish 3", "count  call 1 clFlush 3", "counted"),
    ("target 1 150 writable", "target 2 3 -", "layer clGetLayerInfo 0x4240 4 b1 0", "layer clInitLayer 150 r1 b1 b1"),
    ("getenv 50415448", "getenv 00", "unsetenv", "descriptor 1 memory 16", "descriptor 2 copy r1 -1", "descriptor"),
    ("buffer 1 5000 1", "read b1 4096", "read b1 4097", "get 1 0 5000", "buffer 65535 1 0", "buffer 65536 1 0"),
    ("thread 255 call 1 clFinish 1", "thread 256 call 1 clFinish 1", "layer clDeinitLayer 1 2 3 4 5 6 7 8 9 1 2 3 4 5"),
    ("# a comment", "", "quit", "call", "buffer 1 2", "get 1 0 99999999999", "free 70000", "put 1 0 0g", "word 1 0 b9"),
)


def recording() -> Iterator[bytes]:
    """Inputs of the target `recording`: exchanges as the harness records them, and too long ones."""
    for exchange in EXCHANGES:
        yield ("\n".join(exchange) + "\n").encode()
    yield b"when x y\n" * 63
    yield b"thread 3 y\n" * 63
    yield "\n".join(line for exchange in EXCHANGES for line in exchange).encode()[:1000]


def text(content: bytes) -> bytes:
    """As take_text reads it."""
    return bytes([len(content)]) + content


def line(event: int, who: bytes, name: bytes, *parts: bytes, values: int = 0) -> bytes:
    """One line of a call log with so many values, as the target `call_log` reads it from its input."""
    numbers = bytes([7 if values > 7 else 0, values]) + b"".join(number(1 << i % 64) for i in range(values))
    return bytes([event]) + text(who) + text(name) + numbers + bytes([len(parts)]) + b"".join(parts)


def number(value: int) -> bytes:
    """As take_long reads it."""
    return value.to_bytes(8, "little")


def member(key: int, kind: int, rest: bytes = b"") -> bytes:
    """One member of such a line."""
    return bytes([key, kind]) + rest


def call_log() -> Iterator[bytes]:
    """Inputs of the target `call_log`: lines with members of every kind and many lengths."""

    def string(content: bytes, times: int = 0) -> bytes:
        return member(4, 5, len(content).to_bytes(2, "little") + content + bytes([times]))

    def words(count: int) -> bytes:
        return member(0, 1, bytes([0, count]) + b"".join(number(1 << i) for i in range(count)))

    result = member(1, 0, number(0x123456789ABCDEF0))
    begin, end = member(2, 3), member(2, 7)
    for size in (0, 1, 200, 1399):
        log = size.to_bytes(2, "little") + number(size) + number(0x7F0000000000)
        yield log + line(0, b"vendor", b"clFinish", words(3), begin, string(b'a"b\\c\n\x80\xff'), end, values=3)
        yield log + line(1, b"layer", b"clFlush", result, begin, begin, result, end, end, values=1) * 3
        yield log + line(2, b"\x01" * 120, b"loaded", string(b"\x00\x7f~ ", 7), string(b"x" * 200, 3)) * 2
    for values in (0, 64, 65):
        log = b"\0\4" + number(0) * 2
        yield log + line(0, b"deep", b"x", *[begin] * 18, result, *[end] * 18, values=values)
        yield log + line(0, b"long", b"x", *[string(b"\x00" * 90, 7)] * 3, result, values=values)


if __name__ == "__main__":
    sys.exit(seeds.main("harness.fuzz.seeds_own", __doc__, (recording, call_log), sys.argv[1:]))
