# SPDX-License-Identifier: Apache-2.0
"""Queries of a vendor's objects, whose answers are compared with each other and with how the objects were made.

info = Info(objects)
assert info.number("clGetContextInfo", context, "CL_CONTEXT_NUM_DEVICES") == 1
"""

from __future__ import annotations

from typing import Any

from harness.api.codes import constant
from harness.api.contract.queries import Query, queries
from harness.probe.answers import number_of, numbers_of
from harness.probe.icd_objects import IcdObjects
from harness.probe.session import Session
from harness.sandbox import Unsupported

_LARGEST = 1 << 20  # bytes of an answer that is read
_NAME_SIZE = 64  # of the name in a cl_name_version


class Info:
    """Queries of one platform's objects. An attempt is `unsupported` where the version lacks the query."""

    def __init__(self, objects: IcdObjects) -> None:
        self.objects = objects
        self.session: Session = objects.session

    def answer(self, function: str, *about: Any, query: str | None = None) -> bytes:
        """The answer to a query; what it is about is given first, and its name last or as `query`."""
        name = query or about[-1]
        before = about if query else about[:-1]
        row = self._require(function, name)
        number = row.number if row else constant(name)
        size = self.session.read_with_call(self.session.buffer(8, 0))
        self.objects.require(f"{function}({name})", self.session.call(function, *before, number, 0, None, size))
        length = size.u64()
        assert length <= _LARGEST, f"{name} has {length} bytes"
        if not length:
            return b""
        to = self.session.read_with_call(self.session.buffer(length, 0))
        self.objects.require(f"{function}({name})", self.session.call(function, *before, number, length, to, None))
        return to.bytes()

    def _require(self, function: str, name: str) -> Query | None:
        """What is known of the query; also where the headers of this build are older than it, and lack its name."""
        of_device = function == "clGetDeviceInfo"
        version = self.objects.device_version() if of_device else self.objects.version()
        known = next((q for q in queries() if q.function == function and q.name == name), None)
        if isinstance(known, Query) and known.version > version:
            raise Unsupported("loader", f"{name} came with OpenCL {'.'.join(map(str, known.version))}", name)
        return known

    def number(self, function: str, *about: Any) -> int:
        """An answer of 4 or 8 bytes; also a handle or an address."""
        return number_of(self.answer(function, *about))

    def words(self, function: str, *about: Any) -> list[int]:
        """An answer that is a list of 64-bit words."""
        return numbers_of(self.answer(function, *about), 8)

    def text(self, function: str, *about: Any) -> str:
        """An answer that is a string, whose end is a part of it."""
        content = self.answer(function, *about)
        assert content.endswith(b"\0"), f"{about[-1]} has {len(content)} bytes, and no terminator at their end"
        return content.split(b"\0")[0].decode(errors="replace")

    def versions(self, function: str, *about: Any) -> list[tuple[str, tuple[int, int]]]:
        """A list of names with major and minor versions, in its order."""
        content = self.answer(function, *about)
        step = 4 + _NAME_SIZE
        assert len(content) % step == 0, f"{about[-1]} has {len(content)} bytes, and an element {step}"
        result = []
        for at in range(0, len(content), step):
            version = int.from_bytes(content[at : at + 4], "little")
            name = content[at + 4 : at + step].split(b"\0")[0].decode(errors="replace")
            result.append((name, numeric_version(version)))
        return result


def numeric_version(version: int) -> tuple[int, int]:
    """Major and minor of a cl_version."""
    return version >> 22, version >> 12 & 0x3FF
