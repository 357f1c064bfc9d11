# SPDX-License-Identifier: Apache-2.0
"""ELF files as the dynamic linker reads them: by program headers, of any class and machine, damaged ones too.

harness/subject/elf.py reads proper libraries of this machine by their sections, with pyelftools; this one needs Python
alone, and its business is to say what is wrong with a file.
"""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

_PT_LOAD, _PT_DYNAMIC, _PT_INTERP, _PT_GNU_STACK = 1, 2, 3, 0x6474E551
_NEEDED, _HASH, _STRTAB, _SYMTAB, _STRSZ, _SONAME, _RPATH, _RUNPATH = 1, 4, 5, 6, 10, 14, 15, 29
_FLAGS_1, _PIE = 0x6FFFFFFB, 0x08000000
_GNU_HASH, _VERNEED, _VERNEEDNUM, _VERDEF, _VERDEFNUM = 0x6FFFFEF5, 0x6FFFFFFE, 0x6FFFFFFF, 0x6FFFFFFC, 0x6FFFFFFD
_KINDS = {1: "object", 2: "program", 3: "library", 4: "core file"}
_MACHINES = {
    3: "i386",
    8: "MIPS",
    20: "PowerPC",
    21: "ppc64",
    22: "s390x",
    40: "32-bit Arm",
    62: "x86-64",
    183: "arm64",
    243: "RISC-V",
    258: "LoongArch",
}
_OF_UNAME = {
    "x86_64": (64, 62),
    "aarch64": (64, 183),
    "arm64": (64, 183),
    "i686": (32, 3),
    "i386": (32, 3),
    "armv7l": (32, 40),
    "riscv64": (64, 243),
    "ppc64le": (64, 21),
    "s390x": (64, 22),
    "loongarch64": (64, 258),
}
_MOST_SYMBOLS = 1 << 20


class Damaged(Exception):
    """The file cannot be loaded; the message goes on after its path: "is empty"."""


@dataclass
class Elf:
    """What the file says. `rpath` and `runpath` are as written, with $ORIGIN; `versions` by library that has them."""

    path: Path
    bits: int
    machine: int
    kind: str
    interpreter: str = ""
    soname: str = ""
    needed: list[str] = field(default_factory=list)
    rpath: list[str] = field(default_factory=list)
    runpath: list[str] = field(default_factory=list)
    exported: set[str] = field(default_factory=set)
    undefined: set[str] = field(default_factory=set)
    versions: dict[str, list[str]] = field(default_factory=dict)
    defined_versions: list[str] = field(default_factory=list)
    executable_stack: bool = False

    @property
    def words(self) -> str:
        """Class and machine, for a sentence."""
        return machine_words(self.bits, self.machine)


def machine_words(bits: int, machine: int) -> str:
    """A machine in words, such as "64-bit x86"; both are as ELF's header has them."""
    name = _MACHINES.get(machine, f"machine {machine}")
    return name if "bit" in name else f"{bits}-bit {name}"


def this_machine() -> tuple[int, int]:
    """Class and machine of what runs here: the Python that runs this, for a 32-bit system on a 64-bit kernel."""
    return _of_file(os.path.realpath("/proc/self/exe")) or _OF_UNAME.get(os.uname().machine, (64, 62))


@cache
def _of_file(path: str) -> tuple[int, int] | None:
    try:
        elf = read(Path(path))
    except (Damaged, OSError):
        return None
    return elf.bits, elf.machine


def read(path: Path) -> Elf:
    """Reads the file. Raises Damaged where it is not an ELF file that can be loaded, and OSError."""
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
        if os.fstat(file.fileno()).st_size == 0:
            raise Damaged("is empty")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            try:
                return _Reader(path, data).elf
            except (struct.error, IndexError, ValueError) as error:
                raise Damaged(f"is a damaged ELF file ({error})") from None


def other_format(data: bytes) -> str:
    """What a file that is not ELF is, after its path."""
    if data.startswith(b"version https://git-lfs"):
        return "is a pointer of Git LFS, not the library itself"
    if data.startswith(b"!<arch>"):
        return "is a static library (an archive)"
    if data.startswith(b"MZ"):
        return "is a Windows library"
    if data[:4] in (b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe"):
        return "is a library of macOS"
    start = data[:4096]
    if b"GROUP" in start or b"INPUT" in start:
        return "is a linker script, which only the compiler understands, not a library"
    if data.startswith(b"#!"):
        return "is a script, not a library"
    if start.strip(b"\0") == b"":
        return "holds nothing but zeros"
    if all(byte in b"\t\r\n" or byte >= 32 for byte in start):
        return "is a text file, not a library"
    return "is not an ELF file"


class _Reader:
    def __init__(self, path: Path, data: mmap.mmap) -> None:
        self.data = data
        if data[:4] != b"\x7fELF":
            raise Damaged(other_format(data[:4096]))
        if len(data) < 64:
            raise Damaged(f"is cut short: it ends after {len(data)} bytes, within the header")
        self.wide = data[4] == 2
        self.order = "<" if data[5] != 2 else ">"
        kind, machine = self._unpack("HH", 16)
        self.elf = Elf(path, 64 if self.wide else 32, machine, _KINDS.get(kind, f"file of type {kind}"))
        self.segments = list(self._segments())
        self._check_length()
        self._read()

    def _unpack(self, shape: str, at: int) -> tuple[int, ...]:
        return struct.unpack_from(self.order + shape, self.data, at)

    def _segments(self) -> Iterator[tuple[int, int, int, int, int]]:
        """Type, flags, offset, address and length in the file of each program header."""
        (start,) = self._unpack("Q", 32) if self.wide else self._unpack("I", 28)
        size, number = self._unpack("HH", 54 if self.wide else 42)
        if start + size * number > len(self.data):
            raise Damaged(f"is cut short: it ends after {len(self.data)} bytes, before its program headers")
        for at in range(start, start + size * number, size or 1):
            if self.wide:
                kind, flags, offset, address, _, length = self._unpack("IIQQQQ", at)
            else:
                kind, offset, address, _, length, _, flags = self._unpack("IIIIIII", at)
            yield kind, flags, offset, address, length

    def _check_length(self) -> None:
        end = max((offset + length for kind, _, offset, _, length in self.segments if kind == _PT_LOAD), default=0)
        if end > len(self.data):
            raise Damaged(f"is cut short: it has {len(self.data)} bytes of {end} or more")

    def _offset(self, address: int) -> int:
        for kind, _, offset, start, length in self.segments:
            if kind == _PT_LOAD and start <= address < start + length:
                return address - start + offset
        raise ValueError(f"nothing lies at address {address:#x}")

    def _text(self, at: int) -> str:
        end = self.data.find(b"\0", at)
        if not 0 <= at < end or end - at > 4096:
            return ""
        return self.data[at:end].decode(errors="backslashreplace")

    def _read(self) -> None:
        tags: list[tuple[int, int]] = []
        for kind, flags, offset, _, length in self.segments:
            if kind == _PT_INTERP:
                self.elf.interpreter = self._text(offset)
            elif kind == _PT_GNU_STACK:
                self.elf.executable_stack = bool(flags & 1)
            elif kind == _PT_DYNAMIC:
                tags = list(self._tags(offset, length))
        if tags:
            self._read_dynamic(tags)

    def _tags(self, offset: int, length: int) -> Iterator[tuple[int, int]]:
        shape, size = ("QQ", 16) if self.wide else ("II", 8)
        for at in range(offset, offset + length - size + 1, size):
            tag, value = self._unpack(shape, at)
            if tag == 0:
                return
            yield tag, value

    def _read_dynamic(self, tags: list[tuple[int, int]]) -> None:
        known = dict(tags)
        if _STRTAB not in known:
            return
        elf, self.names = self.elf, self._offset(known[_STRTAB])

        def texts(which: int) -> list[str]:
            return [self._text(self.names + value) for tag, value in tags if tag == which]

        elf.needed = texts(_NEEDED)
        if known.get(_FLAGS_1, 0) & _PIE:
            elf.kind = "program"
        elf.soname = next(iter(texts(_SONAME)), "")
        elf.rpath = [part for text in texts(_RPATH) for part in text.split(":") if part]
        elf.runpath = [part for text in texts(_RUNPATH) for part in text.split(":") if part]
        if _VERNEED in known:
            self._read_needed_versions(self._offset(known[_VERNEED]), known.get(_VERNEEDNUM, 0))
        if _VERDEF in known:
            self._read_defined_versions(self._offset(known[_VERDEF]), known.get(_VERDEFNUM, 0))
        if _SYMTAB in known:
            self._read_symbols(self._offset(known[_SYMTAB]), self._symbol_count(known))

    def _read_needed_versions(self, at: int, number: int) -> None:
        for _ in range(min(number, 1000)):
            _, count, file, first, following = self._unpack("HHIII", at)
            names = self.elf.versions.setdefault(self._text(self.names + file), [])
            entry = at + first
            for _ in range(count):
                _, _, _, name, after = self._unpack("IHHII", entry)
                names.append(self._text(self.names + name))
                entry += after
            at += following

    def _read_defined_versions(self, at: int, number: int) -> None:
        for _ in range(min(number, 1000)):
            _, _, _, _, _, first, following = self._unpack("HHHHIII", at)
            (name,) = self._unpack("I", at + first)
            self.elf.defined_versions.append(self._text(self.names + name))
            at += following

    def _symbol_count(self, known: dict[int, int]) -> int:
        if _HASH in known:
            return self._unpack("II", self._offset(known[_HASH]))[1]
        if _GNU_HASH not in known:
            return 0
        at = self._offset(known[_GNU_HASH])
        buckets, first, words, _ = self._unpack("IIII", at)
        at += 16 + words * (8 if self.wide else 4)
        last = max(self._unpack(f"{buckets}I", at), default=0)
        if last < first:
            return first
        chain = at + 4 * buckets
        while not self._unpack("I", chain + 4 * (last - first))[0] & 1:
            last += 1
        return last + 1

    def _read_symbols(self, at: int, number: int) -> None:
        size = 24 if self.wide else 16
        for index in range(1, min(number, _MOST_SYMBOLS)):
            if self.wide:
                name, info, _, section = self._unpack("IBBH", at + size * index)
            else:
                name, _, _, info, _, section = self._unpack("IIIBBH", at + size * index)
            text = self._text(self.names + name)
            if text and section:
                self.elf.exported.add(text)
            elif text and info >> 4 == 1:  # a weak one may stay without a definition
                self.elf.undefined.add(text)
