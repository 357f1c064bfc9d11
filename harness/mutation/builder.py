# SPDX-License-Identifier: Apache-2.0
"""Builds mutants: the commands are those of a compile_commands.json, and of the link of the library.

The mutated file is compiled in place of the original, the other objects stay as they are. A mutant that does not
compile, whose object is that of the unchanged file, or that of another mutant, is none.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
import shlex
import subprocess
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile  # type: ignore[import-untyped]
from elftools.elf.relocation import RelocationSection  # type: ignore[import-untyped]

from harness.errors import HarnessError, UsageError
from harness.mutation import reach
from harness.mutation.link import undefined_symbols
from harness.mutation.operators import Mutant

COMPILE_LIMIT = 60  # seconds
ASSEMBLY = (".S", ".s", ".asm")
LAUNCHERS = ("ccache", "sccache", "distcc")  # every mutant is new to them
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
        """The compiler's arguments, without the compiler."""
        return self.command[1:]


@dataclasses.dataclass(frozen=True)
class Subject:
    """A library to mutate. The command that links it names the units' objects, or {objects}, and {output}."""

    units: tuple[Unit, ...]
    link: tuple[str, ...]
    directory: Path  # of the link
    sources: tuple[Path, ...]  # those to mutate
    versions: str = ""  # the linker's script that the command calls {versions}
    name: str = "libOpenCL.so.1"
    assembled: tuple[Unit, ...] = ()  # in assembly language: linked with {objects}, and not mutated
    undefined: frozenset[str] | None = None  # symbols that the library which it is linked like takes from others

    @property
    def digest(self) -> str:
        """Of everything that a mutant is made of."""
        parts = [(unit.command, unit.text) for unit in (*self.units, *self.assembled)]
        everything = self.link, self.versions, parts
        return hashlib.sha256(repr(everything).encode()).hexdigest()

    def unit(self, source: Path) -> Unit:
        """The unit that a source is compiled in; the source is one of the subject's."""
        return next(unit for unit in self.units if unit.source == source)


def units(folder: Path, target: str, names: Collection[str] = ()) -> tuple[Unit, ...]:
    """The C files of a CMake target, by compile_commands.json; all, where no target is named; else those of a name.

    A file that is compiled twice, as libtool does, counts once: as it is compiled for a shared library. Of
    several files of one name (a loader's and its test drivers') it is that which is built where most of the names are.
    """
    compiled: dict[Path, Unit] = {}
    for unit, words in _commands(folder, target):
        source, of_name = unit.source, not names or unit.source.name in names
        if source.suffix == ".c" and of_name and (source not in compiled or _shared(words)):
            compiled[source] = dataclasses.replace(unit, command=tuple(w for w in unit.command if w != "-c"))
    if not compiled:
        raise UsageError(f"{folder / 'compile_commands.json'} names no C file of {target or 'the library'}")
    return _of_one_place(compiled.values()) if names else tuple(compiled.values())


def assembled(folder: Path, target: str, beside: Sequence[Unit]) -> tuple[Unit, ...]:
    """The files in assembly language that are built where C files of the library are."""
    places = {_place(unit) for unit in beside}
    found = {unit.source: unit for unit, _ in _commands(folder, target) if unit.source.suffix in ASSEMBLY}
    return tuple(unit for unit in found.values() if _place(unit) in places)


def _commands(folder: Path, target: str) -> Iterator[tuple[Unit, Sequence[str]]]:
    """What compile_commands.json says of a target, or of all: the command as a unit's, and whole."""
    path = folder / "compile_commands.json"
    try:
        entries = json.loads(path.read_text())
    except FileNotFoundError:
        raise UsageError(
            f"{path} does not exist: configure with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON, or build with `bear -- make`"
        ) from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not JSON: {error}; configure again") from None
    if not isinstance(entries, list):
        raise UsageError(f"{path} holds no list of commands; configure again")
    for number, entry in enumerate(entries, 1):
        try:
            unit, words = _command(entry)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError):
            raise UsageError(f"{path}: entry {number} is not a command; configure again") from None
        if unit.source.suffix in (".c", *ASSEMBLY) and (not target or f"/{target}.dir/" in f"/{unit.object}"):
            try:
                text = unit.source.read_bytes()
            except OSError as error:
                raise UsageError(f"{path}: {unit.source} cannot be read: {error.strerror}; build it first") from None
            yield dataclasses.replace(unit, text=text), words


def _command(entry: Any) -> tuple[Unit, Sequence[str]]:
    """What an entry says, without the text of its source."""
    words = list(entry["arguments"]) if "arguments" in entry else shlex.split(entry["command"])
    words = words[1:] if Path(words[0]).name in LAUNCHERS else words
    directory = Path(entry["directory"])
    source = (directory / entry["file"]).resolve()
    output = str(words[words.index("-o") + 1]) if "-o" in words else source.with_suffix(".o").name
    left_out = {"-o", output, entry["file"]}
    command = tuple(w for w in words if w not in left_out and (directory / w).resolve() != source)
    return Unit(source, b"", directory, output, command), words


def _of_one_place(compiled: Collection[Unit]) -> tuple[Unit, ...]:
    """One unit of each file name: names are all that a library's symbol table has of its sources."""
    names = Counter(place for place, _ in {(_place(unit), unit.source.name) for unit in compiled})
    best: dict[str, Unit] = {}
    for unit in compiled:
        other = best.get(unit.source.name)
        if other is None or names[_place(unit)] > names[_place(other)]:
            best[unit.source.name] = unit
    return tuple(best.values())


def _place(unit: Unit) -> str:
    """What a unit is built for: CMake's target, else the folder of its source."""
    target, result, _ = f"{unit.directory}/{unit.object}".partition(".dir/")
    return target if result else str(unit.source.parent)


def _shared(words: Sequence[str]) -> bool:
    return "-fPIC" in words or "-fpic" in words


def chosen(all_units: Iterable[Unit], patterns: Sequence[str]) -> tuple[Path, ...]:
    """The sources that match a pattern: of the whole path, or of its end."""
    sources = [unit.source for unit in all_units]
    return tuple(s for s in sources if any(fnmatch(str(s), p) or fnmatch(str(s), f"*/{p}") for p in patterns))


class Builder:
    """Builds mutants in a folder of its own."""

    def __init__(self, subject: Subject, folder: Path) -> None:
        self.subject = subject
        self.folder = folder
        (folder / "versions.map").write_text(subject.versions)
        self._digests: dict[Path, set[str]] = {}
        self._objects: dict[Path, Path] = {}
        self._original_digest: dict[Path, str] = {}
        for unit in subject.units:
            self._objects[unit.source] = folder / f"{len(self._objects)}-{unit.source.stem}.o"
            if problem := self._compile(unit, unit.text, self._objects[unit.source], folder / "base"):
                raise HarnessError(f"{unit.source} does not compile:\n{problem}")
            self._original_digest[unit.source] = digest(self._objects[unit.source])
            self._digests[unit.source] = set()
        self._assembled = [self._assemble(unit) for unit in subject.assembled]
        self.original = folder / "original" / subject.name
        self.original.parent.mkdir(exist_ok=True)
        if problem := self._link(self.original, self._objects):
            raise HarnessError(f"the unchanged library cannot be linked:\n{problem}")
        if lacking := self._lacking():
            raise HarnessError(
                f"the library as it is linked here lacks {', '.join(lacking)}, which the built one has: "
                "name it by --target or --link, so that it is linked as its build does"
            )

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

    def marking(self, marks: Path) -> Path:
        """The unchanged library that marks its blocks in a file beside it (harness.mutation.reach)."""
        folder = marks.parent
        runtime = folder / "reach.o"
        first = self.subject.units[0]
        command = [first.command[0], "-O2", "-fPIC", f'-DREACH_FILE="{marks}"', "-c", str(reach.RUNTIME)]
        problem = run([*command, "-o", str(runtime)], folder)
        objects: dict[Path, Path] = {}
        for unit in self.subject.units:
            objects[unit.source] = folder / f"{len(objects)}-{unit.source.stem}.o"
            problem = problem or self._compile(unit, unit.text, objects[unit.source], folder, reach.FLAGS)
        problem = problem or self._link(folder / self.subject.name, objects, (str(runtime), *reach.LINK_FLAGS))
        if problem:
            raise HarnessError(f"the library that says which lines are reached cannot be built:\n{problem}")
        return folder / self.subject.name

    def _assemble(self, unit: Unit) -> str:
        """The object of a file in assembly language."""
        object_ = self.folder / f"{unit.source.stem}-{unit.source.suffix[1:]}.o"
        if problem := run([*unit.command, "-o", str(object_), str(unit.source)], unit.directory):
            raise HarnessError(f"{unit.source} cannot be assembled:\n{problem}")
        return str(object_)

    def _lacking(self) -> list[str]:
        """What the unchanged library has of nobody, though the one that it is linked like does: a library can be linked
        without parts of it, and then not be loaded."""
        if self.subject.undefined is None:
            return []
        more = undefined_symbols(self.original) - self.subject.undefined
        problem = self._link(self.folder / "complete.so", self._objects, ("-Wl,-z,defs",)) if more else ""
        return sorted(more & set(re.findall(r"\w+", problem)))

    def _compile(self, unit: Unit, text: bytes, object_: Path, work: Path, flags: Sequence[str] = ("-g0",)) -> str:
        """What the compiler has against it; empty if nothing."""
        work.mkdir(exist_ok=True)
        file = work / unit.source.name
        # The line names the original: __FILE__, __LINE__ and messages stay as they are.
        file.write_bytes(f'#line 1 "{unit.source}"\n'.encode() + text)
        command = [*unit.command, "-w", "-Wno-error", *flags, "-iquote", str(unit.source.parent)]
        return run([*command, "-c", str(file), "-o", str(object_)], unit.directory)

    def _link(self, output: Path, objects: dict[Path, Path], others: tuple[str, ...] = ()) -> str:
        names = {unit.object: str(objects[unit.source]) for unit in self.subject.units}
        command: list[str] = []
        for word in self.subject.link:
            if word == "{objects}":
                command += [*names.values(), *self._assembled]
            else:
                word = word.replace("{versions}", str(self.folder / "versions.map"))
                command.append(str(output) if word == "{output}" else names.get(word, word))
        return run([*command, *others], self.subject.directory)


def run(command: Sequence[str], directory: Path) -> str:
    """Runs a command in a folder; gives what went wrong, or nothing."""
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
