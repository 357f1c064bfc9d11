# SPDX-License-Identifier: Apache-2.0
"""Reads the file of a Windows library (PE): Microsoft's "PE Format"."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from pathlib import Path

from harness.subject.facts import NotShared, SharedLibrary

MACHINES = {0x14C: "i386", 0x8664: "x86_64", 0xAA64: "aarch64", 0x1C4: "arm"}
_LIBRARY = 0x2000  # IMAGE_FILE_DLL
_EXPORTS, _IMPORTS, _RESOURCES = 0, 1, 2
_MAX_NAMES = 1 << 16
_VERSION_SIGNATURE = struct.pack("<I", 0xFEEF04BD)


@dataclass
class _Image:
    """A file, and where its sections come to lie in memory."""

    content: bytes
    sections: list[tuple[int, int, int]]  # address, size, place in the file
    directories: list[tuple[int, int]]

    def place(self, address: int) -> int:
        for start, size, offset in self.sections:
            if start <= address < start + size:
                return address - start + offset
        raise ValueError(f"no section holds the address {address:#x}")

    def numbers(self, format_: str, address: int) -> tuple[int, ...]:
        return struct.unpack_from("<" + format_, self.content, self.place(address))

    def text(self, address: int) -> str:
        start = self.place(address)
        return self.content[start : self.content.index(b"\0", start)].decode("ascii", "replace")

    def directory(self, number: int) -> int:
        """The address of a data directory; 0 for none."""
        return self.directories[number][0] if number < len(self.directories) else 0


def _image(content: bytes, library: SharedLibrary) -> _Image:
    start = struct.unpack_from("<I", content, 0x3C)[0]
    if content[start : start + 4] != b"PE\0\0":
        raise NotShared("is a program of MS-DOS, not a Windows library")
    machine, count, _, _, _, optional, flags = struct.unpack_from("<HHIIIHH", content, start + 4)
    if not flags & _LIBRARY:
        raise NotShared("is a Windows program, not a library")
    library.machine = MACHINES.get(machine, f"machine {machine:#x}")
    at = start + 24
    library.bits = 64 if struct.unpack_from("<H", content, at)[0] == 0x20B else 32
    directories_at = at + (112 if library.bits == 64 else 96)
    number = min(struct.unpack_from("<I", content, directories_at - 4)[0], 16)
    directories = [struct.unpack_from("<II", content, directories_at + 8 * i) for i in range(number)]
    sections = []
    for i in range(count):
        size, address, stored, offset = struct.unpack_from("<IIII", content, at + optional + 40 * i + 8)
        sections.append((address, max(size, stored), offset))
    return _Image(content, sections, directories)


def _read_exports(image: _Image, library: SharedLibrary) -> None:
    table = image.directory(_EXPORTS)
    if not table:
        return
    name, _, _, names, _, names_at = image.numbers("IIIIII", table + 12)
    library.soname = image.text(name)
    for i in range(min(names, _MAX_NAMES)):
        library.exported.add(image.text(image.numbers("I", names_at + 4 * i)[0]))
    library.functions |= library.exported


def _read_imports(image: _Image, library: SharedLibrary) -> None:
    at = image.directory(_IMPORTS)
    while at:
        names, _, _, name, places = image.numbers("IIIII", at)
        if not name:
            return
        library.needed.append(image.text(name))
        at += 20
        step, by_number = (8, 1 << 63) if library.bits == 64 else (4, 1 << 31)
        entry = names or places
        while value := image.numbers("Q" if step == 8 else "I", entry)[0]:
            if not value & by_number:
                library.undefined.add(image.text(value + 2))
            entry += step


def read(path: Path, library: SharedLibrary) -> None:
    """Fills in what the file says. Raises NotShared where it is not a library, ValueError or struct.error where it is
    damaged."""
    image = _image(path.read_bytes(), library)
    _read_exports(image, library)
    _read_imports(image, library)


def file_version(path: Path) -> str:
    """The FileVersion in the fixed part of the version resource, as a.b.c.d; "" where there is none."""
    content = path.read_bytes()
    match = re.search(re.escape(_VERSION_SIGNATURE), content)
    if not match or len(content) < match.start() + 16:
        return ""
    high, low = struct.unpack_from("<II", content, match.start() + 8)
    return f"{high >> 16}.{high & 0xFFFF}.{low >> 16}.{low & 0xFFFF}"
