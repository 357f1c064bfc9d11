# SPDX-License-Identifier: Apache-2.0
"""The starts of the basic blocks of a shared library without source, for coverage by breakpoints.

    python -m harness.fuzz.blocks libOpenCL.so.1 --output loader.blocks
    python -m harness.fuzz.blocks libOpenCL.so.1 --hits loader.hits

The first writes the file that fuzz/engine/blocks.c reads, the second says which functions a fuzz target reached.
The disassembler is binutils' objdump: it is there wherever gcc is, and knows each instruction that gcc can emit.

A breakpoint inside an instruction or in data would change what the library does. So a start is taken only where
the sweep of objdump agrees with what the library says of itself: inside a function that .eh_frame or a symbol
delimits, that begins and ends between two instructions, and in which everything is an instruction. In such a
function a breakpoint before any instruction is harmless; a jump table read too far costs nothing.
"""

from __future__ import annotations

import argparse
import os
import shutil
import struct
import subprocess
import sys
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from elftools.common.exceptions import ELFError  # type: ignore[import-untyped]
from elftools.dwarf.callframe import FDE  # type: ignore[import-untyped]
from elftools.elf.elffile import ELFFile  # type: ignore[import-untyped]

from harness.errors import ClharnessError, HarnessError, UsageError
from harness.subject.library import read_library

_EXECUTABLE, _WRITABLE, _ALLOCATED = 4, 1, 2  # flags of a section
_STUBS = (".plt", ".init", ".fini")  # no blocks of the library's own
_PREFIXES = {"bnd", "notrack", "lock", "rep", "repz", "repnz", "data16", "addr32", "cs", "ds", "es", "ss", "rex.W"}
_PADDING = ("nop", "endbr", "int3")  # endbr: where the processor enforces it, nothing else may stand there
_ENDS = ("ret", "iret", "ud", "hlt", "int3", "jmp")
_BRANCHES = ("j", "loop", "xbegin")
_BOUNDARY, _LEADER, _SKIPPED, _BAD = 1, 2, 4, 8  # marks of a byte
_TABLE_DISTANCE = 400  # bytes of code, at most, between the address of a jump table and the jump


@dataclass(frozen=True)
class Function:
    """A piece of code that is one function, or a part of one that the compiler moved away."""

    start: int
    end: int
    name: str  # "" where the library has no symbol for it


@dataclass
class Blocks:
    """The starts of a library's blocks, as addresses in its file, and where they came from."""

    library: Path
    build_id: str
    size: int
    crc: int
    starts: list[int] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)  # in which they are
    left_out: list[Function] = field(default_factory=list)  # functions in which not everything is an instruction

    def write(self, file: Path) -> None:
        """Replaces the file in one step: a fuzz target that is being started reads the old one or the new one."""
        lines = [
            "clharness-blocks 1",
            f"library {self.library}",
            f"build-id {self.build_id or '-'}",
            f"size {self.size}",
            f"crc32 {self.crc:08x}",
            f"blocks {len(self.starts)}",
            *(f"{start:x}" for start in self.starts),
        ]
        file.parent.mkdir(parents=True, exist_ok=True)
        fresh = file.with_name(f"{file.name}.{os.getpid()}")
        fresh.write_text("\n".join(lines) + "\n")
        fresh.replace(file)


def blocks_file(library: Path, folder: Path) -> Path:
    """The block file of the library in the folder; made unless the one of this very library is there."""
    content = library.read_bytes() if library.is_file() else b""
    file = folder / f"{library.name}-{zlib.crc32(content):08x}.blocks"
    if not file.exists():
        find_blocks(library).write(file)
    return file


def find_blocks(library: Path) -> Blocks:
    """Raises UsageError for a file that is not a shared library for x86-64, or that does not say where its code is."""
    facts = read_library(library, "a loader or an ICD", "build/libOpenCL.so.1")
    if facts.machine != "EM_X86_64" or facts.bits != 64:
        machine = facts.machine.removeprefix("EM_")
        raise UsageError(f"{library} is a {facts.bits}-bit library for {machine}: breakpoints are for x86-64 only")
    content = facts.real_path.read_bytes()
    blocks = Blocks(facts.real_path, facts.build_id, len(content), zlib.crc32(content))
    with facts.real_path.open("rb") as file:
        elf = ELFFile(file)
        functions, data = _functions(elf), _constants(elf)
        for section in _code_sections(elf):
            _Sweep(section.name, section["sh_addr"], section["sh_size"], data).run(functions, blocks)
    if not blocks.starts:
        raise UsageError(f"{library} has neither .eh_frame nor symbols that say where its functions are")
    blocks.starts.sort()
    blocks.functions.sort(key=lambda function: function.start)
    return blocks


def _code_sections(elf: ELFFile) -> list[Any]:
    return [s for s in elf.iter_sections() if s["sh_flags"] & _EXECUTABLE and not s.name.startswith(_STUBS)]


def _constants(elf: ELFFile) -> list[tuple[int, bytes]]:
    """Address and content of the sections in which jump tables stand."""
    flags = _ALLOCATED | _WRITABLE | _EXECUTABLE
    sections = [
        s for s in elf.iter_sections() if s["sh_flags"] & flags == _ALLOCATED and s["sh_type"] == "SHT_PROGBITS"
    ]
    return [(s["sh_addr"], s.data()) for s in sections if not s.name.startswith(".eh_frame")]


def _functions(elf: ELFFile) -> list[Function]:
    """By .eh_frame, which stripped libraries have too; by symbol where that says nothing of a function."""
    names: dict[int, str] = {}
    sizes: dict[int, int] = {}
    for table in (".dynsym", ".symtab"):
        section = elf.get_section_by_name(table)
        for symbol in section.iter_symbols() if section else []:
            if symbol["st_info"]["type"] == "STT_FUNC" and symbol["st_shndx"] != "SHN_UNDEF":
                names.setdefault(symbol["st_value"], symbol.name)
                sizes[symbol["st_value"]] = symbol["st_size"]
    try:
        dwarf = elf.get_dwarf_info(relocate_dwarf_sections=False)
        entries = dwarf.EH_CFI_entries() if dwarf.has_EH_CFI() else []
        frames = {e["initial_location"]: e["address_range"] for e in entries if isinstance(e, FDE)}
    except (ELFError, ValueError, KeyError, AssertionError) as error:
        raise UsageError(f"{elf.stream.name} has a damaged .eh_frame ({error})") from None
    sizes.update(frames)
    return [Function(start, start + size, names.get(start, "")) for start, size in sorted(sizes.items()) if size > 0]


class _Sweep:
    """One section, disassembled from its start to its end; a byte of marks for each byte of code."""

    def __init__(self, name: str, address: int, size: int, data: list[tuple[int, bytes]]) -> None:
        self.name, self.address, self.size, self.data = name, address, size, data
        self.marks = bytearray(size + 1)
        self.marks[size] = _BOUNDARY
        self.tables: list[tuple[int, int]] = []  # address of an indirect jump, address of what may be its table

    def run(self, functions: list[Function], blocks: Blocks) -> None:
        self._read(_disassembled(blocks.library, self.name))
        inside = [f for f in functions if self.address <= f.start and f.end <= self.address + self.size]
        sound = [f for f in inside if self._is_code(f)]
        blocks.functions += sound
        blocks.left_out += [f for f in inside if not self._is_code(f)]
        self._follow_tables(sound)
        starts: set[int] = set()
        for function in sound:
            starts |= set(self._starts(function))
        blocks.starts += starts

    def _read(self, lines: Iterable[tuple[int, str]]) -> None:
        ended = False
        near: list[tuple[int, int]] = []  # addresses that were loaded: where, and which
        for address, text in lines:
            at = address - self.address
            self.marks[at] |= _BOUNDARY | (_LEADER if ended else 0)
            words = text.split("#")[0].split()
            while words and words[0] in _PREFIXES:
                words.pop(0)
            if not words or words[0].startswith((".", "(")) or "(bad)" in words:
                self.marks[at] |= _BAD
                ended = True
                continue
            mnemonic = words[0]
            if mnemonic.startswith(_PADDING) or words[:2] == ["xchg", "%ax,%ax"]:
                self.marks[at] |= _SKIPPED
            ended = mnemonic.startswith((*_ENDS, *_BRANCHES))
            if mnemonic == "lea" and "# " in text:
                near = [(where, what) for where, what in near if address - where < _TABLE_DISTANCE]
                near.append((address, int(text.split("# ")[1].split()[0], 16)))
            elif mnemonic.startswith("jmp") and words[1].startswith("*%"):
                self.tables += [(address, what) for where, what in near if address - where < _TABLE_DISTANCE]
            elif mnemonic.startswith(_BRANCHES) and len(words) > 1 and not words[1].startswith("*"):
                self._mark_target(int(words[1].split(",")[-1], 16))

    def _mark_target(self, address: int) -> None:
        if 0 <= address - self.address < self.size:
            self.marks[address - self.address] |= _LEADER

    def _is_code(self, function: Function) -> bool:
        start, end = function.start - self.address, function.end - self.address
        bounded = self.marks[start] & self.marks[end] & _BOUNDARY
        return bool(bounded) and not any(mark & _BAD for mark in self.marks[start:end])

    def _follow_tables(self, functions: list[Function]) -> None:
        """Marks the targets of jump tables: numbers of 32 bits, relative to the table, that lead into the function."""
        index = 0
        for jump, table in sorted(set(self.tables)):
            while index < len(functions) and functions[index].end <= jump:
                index += 1
            if index == len(functions):
                return
            if functions[index].start <= jump:
                for target in self._entries(table):
                    if not functions[index].start <= target < functions[index].end:
                        break
                    self._mark_target(target)

    def _entries(self, table: int) -> Iterator[int]:
        for address, content in self.data:
            if address <= table < address + len(content):
                for offset in range(table - address, len(content) - 3, 4):
                    yield table + int(struct.unpack_from("<i", content, offset)[0])

    def _starts(self, function: Function) -> Iterator[int]:
        """The function's leaders, each moved past the padding that it stands on."""
        end = function.end - self.address
        for at in range(function.start - self.address, end):
            if not (self.marks[at] & _LEADER or at == function.start - self.address):
                continue
            if not self.marks[at] & _BOUNDARY:
                continue  # a jump past a prefix, as hand-written code does
            while at < end and (self.marks[at] & _SKIPPED or not self.marks[at] & _BOUNDARY):
                at += 1
            if at < end:
                yield self.address + at


def _disassembled(library: Path, section: str) -> Iterator[tuple[int, str]]:
    """Address and text of each instruction of the section."""
    objdump = shutil.which("objdump")
    if not objdump:
        raise HarnessError("objdump is not installed: it comes with gcc, in the package binutils")
    command = [objdump, "--disassemble", "--wide", "--no-show-raw-insn", f"--section={section}", "-Matt", str(library)]
    environment = {**os.environ, "LC_ALL": "C"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace", env=environment) as process:
        assert process.stdout
        last = 0
        for line in process.stdout:
            place, tab, text = line.partition(":\t")
            if tab:
                last = int(place, 16)
                yield last, text.rstrip("\n")
            elif line.startswith("\t..."):
                yield last + 1, "(bad)"  # zeros, which objdump does not show
    if process.returncode:
        raise HarnessError(f"objdump could not read {library} (exit code {process.returncode})")


@dataclass(frozen=True)
class Reached:
    """How much of one function was reached."""

    function: Function
    hit: int
    blocks: int

    def __str__(self) -> str:
        name = self.function.name or f"function at 0x{self.function.start:x}"
        return f"{self.hit:6} of {self.blocks:5}  {name}"


def reached(blocks: Blocks, hits: Path) -> list[Reached]:
    """What the breakpoints that a fuzz target wrote down (fuzz/engine/blocks.h) say of each function."""
    starts = set(blocks.starts)
    try:
        hit = {int(line, 16) for line in hits.read_text().split()}
    except ValueError as error:
        raise UsageError(f"{hits} is not a list of blocks that were hit ({error})") from None
    if strangers := hit - starts:
        raise UsageError(f"{hits} is of another library: {library_has_no(strangers)} in {blocks.library}")
    functions_reached: list[Reached] = []
    functions = iter(blocks.functions)
    function, counted, of_them = next(functions), 0, 0
    for start in blocks.starts:
        while start >= function.end:
            functions_reached.append(Reached(function, of_them, counted))
            function, counted, of_them = next(functions), 0, 0
        counted += 1
        of_them += start in hit
    functions_reached.append(Reached(function, of_them, counted))
    return [r for r in functions_reached if r.blocks]


def library_has_no(addresses: set[int]) -> str:
    """What is wrong with block addresses that a library does not have."""
    return f"no block starts at 0x{min(addresses):x}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Basic blocks of a shared library, for coverage by breakpoints.")
    parser.add_argument("library", type=Path)
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the file for CLHARNESS_FUZZ_BLOCKS")
    parser.add_argument("--hits", type=Path, metavar="FILE", help="show what was reached of each function")
    args = parser.parse_args(arguments)
    try:
        blocks = find_blocks(args.library)
        if args.output:
            blocks.write(args.output)
        if args.hits:
            rows = reached(blocks, args.hits)
            print("\n".join(str(row) for row in rows))
            print(f"{sum(row.hit for row in rows):6} of {len(blocks.starts):5}  {blocks.library}")
        else:
            left_out = f", {len(blocks.left_out)} of them left out" if blocks.left_out else ""
            print(f"{len(blocks.starts)} blocks in {len(blocks.functions)} functions{left_out}: {blocks.library}")
    except ClharnessError as error:
        print(f"clharness: {error}", file=sys.stderr)
        return int(error.exit_code)
    return 0


if __name__ == "__main__":
    sys.exit(main())
