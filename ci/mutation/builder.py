# SPDX-License-Identifier: Apache-2.0
"""Builds mutants: the commands are those of a compile_commands.json, and of the link of the library.

The mutated file is compiled in place of the original, the other objects stay as they are. A mutant that does not
compile, whose object is that of the unchanged file, or that of another mutant, is none.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import shlex
import subprocess
from collections.abc import Iterable, Sequence
from fnmatch import fnmatch
from pathlib import Path

from elftools.elf.elffile import ELFFile  # type: ignore[import-untyped]
from elftools.elf.relocation import RelocationSection  # type: ignore[import-untyped]

from ci.mutation.operators import Mutant
from harness.errors import HarnessError, UsageError

COMPILE_LIMIT = 60  # seconds
_ALLOC = 0x2  # SHF_ALLOC
# Compilers name debug sections and unwinding tables after lines, which say nothing of what the code does.
_BESIDE_THE_CODE = (".eh_frame", ".note", ".debug")


@dataclasses.dataclass(frozen=True)
class Unit:
    """A file of the library: how it is compiled, without its output and its input.

    Its text is kept: somebody may work on the file while mutants are made of it.
    """

    source: Path
    text: bytes
    directory: Path
    object: str  # as the command that links names it
    command: tuple[str, ...]

    @property
    def arguments(self) -> tuple[str, ...]:
        return self.command[1:]


@dataclasses.dataclass(frozen=True)
class Subject:
    """A library to mutate. The command that links it names the units' objects, or {objects}, and {output}."""

    units: tuple[Unit, ...]
    link: tuple[str, ...]
    directory: Path  # of the link
    sources: tuple[Path, ...]  # those to mutate

    def unit(self, source: Path) -> Unit:
        return next(unit for unit in self.units if unit.source == source)


def units(folder: Path, target: str) -> tuple[Unit, ...]:
    """The C files of a CMake target, by compile_commands.json; all, where no target is named."""
    path = folder / "compile_commands.json"
    try:
        entries = json.loads(path.read_text())
    except FileNotFoundError:
        raise UsageError(f"{path} does not exist: configure with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON") from None
    compiled = []
    for entry in entries:
        words = list(entry["arguments"]) if "arguments" in entry else shlex.split(entry["command"])
        directory = Path(entry["directory"])
        source = (directory / entry["file"]).resolve()
        output = str(words[words.index("-o") + 1]) if "-o" in words else source.with_suffix(".o").name
        if source.suffix == ".c" and (not target or f"/{target}.dir/" in f"/{output}"):
            left_out = {"-c", "-o", output, entry["file"], str(source)}
            command = tuple(word for word in words if word not in left_out)
            compiled.append(Unit(source, source.read_bytes(), directory, output, command))
    if not compiled:
        raise UsageError(f"{path} names no C file of {target or 'anything'}")
    return tuple(compiled)


def chosen(all_units: Iterable[Unit], patterns: Sequence[str]) -> tuple[Path, ...]:
    """The sources that match a pattern: of the whole path, or of its end."""
    sources = [unit.source for unit in all_units]
    return tuple(s for s in sources if any(fnmatch(str(s), p) or fnmatch(str(s), f"*/{p}") for p in patterns))


def cmake_link(folder: Path, target: str) -> tuple[Path, tuple[str, ...]]:
    """The command that links a target, as CMake wrote it for make or ninja, and its folder."""
    if scripts := list(folder.rglob(f"{target}.dir/link.txt")):
        return scripts[0].parents[2], with_output(shlex.split(scripts[0].read_text().strip()))
    if not (folder / "build.ninja").exists():
        raise UsageError(f"{folder}: how {target} is linked is not found; give --link")
    commands = subprocess.run(["ninja", "-C", folder, "-t", "commands", target], capture_output=True, text=True)
    for line in reversed(commands.stdout.splitlines()):
        words = [word for word in shlex.split(line) if word not in ("&&", ":")]
        if f"/{target}.dir/" in line and "-o" in words and "-c" not in words:
            return folder, with_output(words)
    raise UsageError(f"{folder}: ninja knows no command that links {target}; give --link")


class Builder:
    """Builds mutants in a folder of its own."""

    def __init__(self, subject: Subject, folder: Path) -> None:
        self.subject = subject
        self.folder = folder
        self._digests: dict[Path, set[str]] = {}
        self._objects: dict[Path, Path] = {}
        self._original_digest: dict[Path, str] = {}
        for unit in subject.units:
            self._objects[unit.source] = folder / f"{len(self._objects)}-{unit.source.stem}.o"
            if problem := self._compile(unit, unit.text, self._objects[unit.source], folder / "base"):
                raise HarnessError(f"{unit.source} does not compile:\n{problem}")
            self._original_digest[unit.source] = digest(self._objects[unit.source])
            self._digests[unit.source] = set()
        self.original = folder / "original" / "libOpenCL.so.1"
        self.original.parent.mkdir(exist_ok=True)
        if problem := self._link(self.original, self._objects):
            raise HarnessError(f"the unchanged library cannot be linked:\n{problem}")

    def build(self, mutant: Mutant, output: Path) -> str:
        """Writes the mutant's library; else says why there is none: "no compile", "equivalent" or "duplicate"."""
        unit = self.subject.unit(mutant.file)
        work = self.folder / "work"
        object_ = work / "mutant.o"
        work.mkdir(exist_ok=True)
        if self._compile(unit, mutant.applied(unit.text), object_, work):
            return "no compile"
        checksum = digest(object_)
        if checksum == self._original_digest[mutant.file]:
            return "equivalent"
        if checksum in self._digests[mutant.file]:
            return "duplicate"
        self._digests[mutant.file].add(checksum)
        output.parent.mkdir(parents=True, exist_ok=True)
        return "no compile" if self._link(output, self._objects | {mutant.file: object_}) else ""

    def _compile(self, unit: Unit, text: bytes, object_: Path, work: Path) -> str:
        """What the compiler has against it; empty if nothing."""
        work.mkdir(exist_ok=True)
        file = work / unit.source.name
        # The line names the original: __FILE__, __LINE__ and messages stay as they are.
        file.write_bytes(f'#line 1 "{unit.source}"\n'.encode() + text)
        command = [*unit.command, "-w", "-Wno-error", "-g0", "-iquote", str(unit.source.parent)]
        return _run([*command, "-c", str(file), "-o", str(object_)], unit.directory)

    def _link(self, output: Path, objects: dict[Path, Path]) -> str:
        names = {unit.object: str(objects[unit.source]) for unit in self.subject.units}
        command: list[str] = []
        for word in self.subject.link:
            if word == "{objects}":
                command += names.values()
            else:
                command.append(str(output) if word == "{output}" else names.get(word, word))
        return _run(command, self.subject.directory)


def with_output(link: Sequence[str]) -> tuple[str, ...]:
    """The command with {output} in place of what follows -o."""
    words = list(link)
    if "{output}" not in words:
        if "-o" not in words:
            raise UsageError("--link: name the output, -o {output}")
        words[words.index("-o") + 1] = "{output}"
    return tuple(words)


def _run(command: Sequence[str], directory: Path) -> str:
    try:
        done = subprocess.run(command, cwd=directory, capture_output=True, timeout=COMPILE_LIMIT)
    except subprocess.TimeoutExpired:
        return f"not done after {COMPILE_LIMIT} s"
    return (done.stderr.decode(errors="replace") or f"status {done.returncode}") if done.returncode else ""


def digest(object_: Path) -> str:
    """What the object holds of code and data, and what they refer to."""
    hasher = hashlib.sha256()
    with object_.open("rb") as file:
        elf = ELFFile(file)
        sections = list(elf.iter_sections())
        for section in sections:
            beside = section.name.removeprefix(".rela").startswith(_BESIDE_THE_CODE)
            if isinstance(section, RelocationSection):
                if not beside and sections[section["sh_info"]]["sh_flags"] & _ALLOC:
                    symbols = sections[section["sh_link"]]
                    hasher.update(section.name.encode())
                    for entry in section.iter_relocations():
                        symbol = symbols.get_symbol(entry["r_info_sym"])
                        place = symbol["st_shndx"], symbol["st_value"]
                        addend = entry["r_addend"] if section.is_RELA() else 0
                        row = entry["r_offset"], entry["r_info_type"], symbol.name, place, addend
                        hasher.update(repr(row).encode())
            elif section["sh_flags"] & _ALLOC and not beside:
                data = b"" if section["sh_type"] == "SHT_NOBITS" else section.data()
                hasher.update(repr((section.name, section["sh_size"], section["sh_flags"])).encode() + data)
    return hasher.hexdigest()
