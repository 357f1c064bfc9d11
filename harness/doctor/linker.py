# SPDX-License-Identifier: Apache-2.0
"""Which file the dynamic linker takes for a name: ld.so(8) as rules, so that no program has to be run."""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from harness.doctor import access
from harness.doctor.access import globbed
from harness.doctor.elf import Damaged, Elf, read, this_machine

_CACHE_MAGIC = b"glibc-ld.so.cache1.1"
_TRIPLES = {3: "i386-linux-gnu", 40: "arm-linux-gnueabihf", 62: "x86_64-linux-gnu", 183: "aarch64-linux-gnu"}
_LIKELY = ("/usr/local/lib", "/usr/local/lib64", "/usr/local/cuda/lib64", "/opt/rocm/lib", "/opt/rocm/opencl/lib")
_LIKELY_PATTERNS = ("opt/*/lib", "opt/*/lib64", "opt/*/*/lib", "usr/lib/*/*", "usr/local/cuda-*/lib64", "usr/lib/*")


@dataclass(frozen=True)
class Place:
    """A file that the linker takes, and the rule by which it finds it."""

    path: Path
    how: str


@dataclass
class Search:
    """The search for one name: where it ended, and the files that were passed over: for another machine, or closed."""

    name: str
    place: Place | None = None
    passed_over: list[Path] = field(default_factory=list)
    closed: list[Path] = field(default_factory=list)  # files that this user may not read
    dangling: list[Path] = field(default_factory=list)  # links of that name to nothing


@dataclass
class Closure:
    """What a library or program needs, itself first: name, and the search for it; `needed_by` names who needs it."""

    searches: dict[str, Search] = field(default_factory=dict)
    needed_by: dict[str, str] = field(default_factory=dict)
    elves: dict[str, Elf] = field(default_factory=dict)

    def missing(self) -> list[str]:
        """The names of needed libraries that the dynamic linker does not find."""
        return [name for name, search in self.searches.items() if search.place is None]


class Linker:
    """The rules for files of one class and machine, in one environment. `secure`: the program ignores variables."""

    def __init__(
        self, environment: Mapping[str, str], machine: tuple[int, int] | None = None, secure: bool = False
    ) -> None:
        self.machine = machine or this_machine()
        text = "" if secure else environment.get("LD_LIBRARY_PATH", "")
        # An empty element is the current folder; an empty variable counts as unset.
        self.variable = [part or "." for part in re.split("[:;]", text)] if text else []
        triple = _TRIPLES.get(self.machine[1], "")
        bits = "64" if self.machine[0] == 64 else "32"
        folders = [f"/lib/{triple}", f"/usr/lib/{triple}"] if triple else []
        self.default = [*folders, f"/lib{bits}", f"/usr/lib{bits}", "/lib", "/usr/lib"]

    def fits(self, path: Path) -> bool:
        """Whether the linker would take the file. One that is not ELF at all it takes, and fails."""
        try:
            elf = read(path)
        except Damaged:
            return True
        except OSError:
            return False
        return (elf.bits, elf.machine) == self.machine

    def search(self, name: str, by: Elf | None = None, loaded_by: Elf | None = None) -> Search:
        """Looks for a name for a library or program; `loaded_by` is the program, whose DT_RPATH counts too."""
        search = Search(name)
        by_path = iter([Place(Path(name), "its path")])
        for place in by_path if "/" in name else self._candidates(name, by, loaded_by):
            if not os.path.exists(place.path):
                search.dangling += [place.path] if os.path.islink(place.path) else []
                continue
            if "/" in name or self.fits(place.path):
                search.place = place
                return search
            passed = search.closed if access.closed(place.path) else search.passed_over
            if place.path not in passed:
                passed.append(place.path)
        return search

    def searches(self, path: Path) -> bool:
        """Whether the file lies where the linker looks for its name."""
        places = {os.path.realpath(place.path) for place in self._candidates(path.name, None, None)}
        return os.path.realpath(path) in places

    def _candidates(self, name: str, by: Elf | None, loaded_by: Elf | None) -> Iterator[Place]:
        if by and not by.runpath:
            for elf in filter(None, (by, loaded_by)):
                yield from (Place(Path(f) / name, f"RPATH of {elf.path}") for f in _expanded(elf.rpath, elf))
        yield from (Place(Path(folder) / name, "LD_LIBRARY_PATH") for folder in self.variable)
        if by:
            yield from (Place(Path(f) / name, f"RUNPATH of {by.path}") for f in _expanded(by.runpath, by))
        yield from (Place(Path(path), "/etc/ld.so.cache") for path in cached().get(name, []))
        yield from (Place(Path(folder) / name, "the system's folders") for folder in self.default)

    def closure(self, path: Path) -> Closure:
        """Everything that a library or program needs, and what that needs. Raises Damaged and OSError for itself."""
        closure = Closure()
        top = read(path)
        closure.searches[str(path)] = Search(str(path), Place(path, "by its path"))
        closure.elves[str(path)] = top
        waiting = [(name, top) for name in top.needed]
        while waiting:
            name, by = waiting.pop(0)
            if name in closure.searches or _is_linker(name):
                continue
            search = self.search(name, by, top)
            closure.searches[name] = search
            closure.needed_by[name] = str(by.path)
            if search.place:
                try:
                    elf = closure.elves[name] = read(search.place.path)
                except (Damaged, OSError):
                    continue
                waiting += [(other, elf) for other in elf.needed]
        return closure

    def expanded(self, path: str) -> str:
        """A path with $LIB and $PLATFORM as dlopen replaces them; the first one that exists, else as it is."""
        for library in dict.fromkeys(folder.removeprefix("/usr").lstrip("/") for folder in self.default):
            replaced = re.sub(r"\$(LIB\b|\{LIB\})", library, path)
            replaced = re.sub(r"\$(PLATFORM\b|\{PLATFORM\})", os.uname().machine, replaced)
            if os.path.exists(replaced):
                return replaced
        return path

    def outside(self, name: str, *beside: Path) -> list[Path]:
        """Files of that name for this machine in folders that the linker does not search; first those in `beside`."""
        folders = [*map(Path, _LIKELY), *(result for p in _LIKELY_PATTERNS for result in globbed(Path("/"), p))]
        result = {folder / name for folder in [*folders, *configured()] if os.path.exists(folder / name)}
        near = [path for folder in beside for path in _near(folder, name)]
        return [path for path in dict.fromkeys([*near, *sorted(result)]) if self.fits(path)]


def _near(folder: Path, name: str) -> list[Path]:
    """Files of that name in the folder of a library, one below it, or one beside it: packages of drivers have such."""
    paths = [folder / name] if os.path.exists(folder / name) else []
    usual = str(folder) in _LIKELY or str(folder).startswith(("/usr/lib", "/lib"))  # where thousands of others are, too
    return paths if usual else [*paths, *globbed(folder, f"*/{name}"), *globbed(folder.parent, f"lib*/{name}")]


def _is_linker(name: str) -> bool:
    return name.startswith(("ld-linux", "ld64.so", "ld.so", "linux-vdso"))


def _expanded(folders: list[str], elf: Elf) -> list[str]:
    origin = str(Path(os.path.realpath(elf.path)).parent)
    library = "lib64" if elf.bits == 64 else "lib"
    words = {"ORIGIN": origin, "LIB": library, "PLATFORM": os.uname().machine}
    return [re.sub(r"\$\{?(ORIGIN|LIB|PLATFORM)\}?", lambda m: words[m[1]], folder) for folder in folders]


@cache
def cached() -> dict[str, list[str]]:
    """Paths by name in /etc/ld.so.cache, in its order; nothing where it cannot be read."""
    try:
        data = Path("/etc/ld.so.cache").read_bytes()
    except OSError:
        return {}
    start = data.find(_CACHE_MAGIC)
    if start < 0:
        return {}
    paths: dict[str, list[str]] = {}
    try:
        (number,) = struct.unpack_from("<I", data, start + 20)
        for index in range(number):
            _, key, value = struct.unpack_from("<iII", data, start + 48 + 24 * index)
            name, path = (data[start + at : data.index(b"\0", start + at)] for at in (key, value))
            paths.setdefault(name.decode(errors="replace"), []).append(path.decode(errors="replace"))
    except (struct.error, ValueError):
        pass
    return paths


@cache
def configured() -> tuple[Path, ...]:
    """The folders that /etc/ld.so.conf names: a library there is found only once ldconfig has run."""
    folders: list[Path] = []
    waiting, seen = [Path("/etc/ld.so.conf")], set()
    while waiting:
        file = waiting.pop(0)
        if file in seen:
            continue
        seen.add(file)
        try:
            lines = file.read_text(errors="replace").splitlines()
        except OSError:
            continue
        for line in (raw.partition("#")[0].strip() for raw in lines):
            if line.startswith("include"):
                pattern = line.removeprefix("include").strip()
                base = Path("/") if pattern.startswith("/") else file.parent
                waiting += globbed(base, pattern.lstrip("/"))
            elif line:
                folders.append(Path(line.partition("=")[0].strip()))
    return tuple(folders)
