"""Facts that stand in the file of a shared library, read without loading it."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from elftools.common.exceptions import ELFError  # type: ignore[import-untyped]
from elftools.elf.dynamic import DynamicSection  # type: ignore[import-untyped]
from elftools.elf.elffile import ELFFile  # type: ignore[import-untyped]
from elftools.elf.relocation import RelocationSection  # type: ignore[import-untyped]
from elftools.elf.sections import NoteSection  # type: ignore[import-untyped]

from harness.errors import UsageError

SANITIZERS = ("libasan", "libtsan", "libclang_rt")
_DF_TEXTREL, _DF_SYMBOLIC = 4, 2
_PF_X = 1


@dataclass
class SharedLibrary:
    """A file that is a shared library for this machine."""

    real_path: Path
    bits: int = 0
    machine: str = ""
    soname: str = ""
    build_id: str = ""
    needed: list[str] = field(default_factory=list)
    exported: set[str] = field(default_factory=set)
    functions: set[str] = field(default_factory=set)  # of the exported names, those of code
    vague: set[str] = field(default_factory=set)  # of the exported names, those that may be in several libraries (C++)
    undefined: set[str] = field(default_factory=set)
    by_name: set[str] = field(default_factory=set)  # own exported names that another library's of that name may replace
    text_relocations: bool = False
    executable_stack: bool = False
    search_paths: list[str] = field(default_factory=list)  # DT_RPATH and DT_RUNPATH

    @property
    def sanitizer(self) -> str:
        return next((name for name in self.needed if name.startswith(SANITIZERS)), "")


def read_library(path: Path, what: str, example: str) -> SharedLibrary:
    """Reads the file. Raises UsageError in one clear sentence where it is no shared library; `what` it should be."""
    real = Path(os.path.realpath(path))
    if not real.is_file():
        problem = "is no file" if real.exists() else "does not exist"
        raise UsageError(f"{path} {problem}: give the path of {what}, for example {example}")
    found = SharedLibrary(real)
    try:
        with real.open("rb") as file:
            elf = ELFFile(file)
            if elf["e_type"] != "ET_DYN":
                raise UsageError(f"{path} is an ELF file but no shared library")
            _read(elf, found)
    except ELFError as error:
        raise UsageError(f"{path} is no shared library ({error})") from None
    except (OSError, ValueError, KeyError) as error:
        raise UsageError(f"{path} is a damaged library ({error})") from None
    return found


def require_this_machine(path: Path, library: SharedLibrary) -> None:
    """Raises UsageError for a library of another ELF class or machine: no process here can load it."""
    bits, here = 8 * struct.calcsize("P"), os.uname().machine
    if library.bits != bits or (here == "x86_64" and bits == 64 and library.machine != "EM_X86_64"):
        machine = library.machine.removeprefix("EM_")
        raise UsageError(
            f"{path} is a {library.bits}-bit library for {machine}; this harness was built for {bits} bit {here}"
        )


def _read(elf: ELFFile, found: SharedLibrary) -> None:
    found.bits, found.machine = elf.elfclass, str(elf["e_machine"])
    section = elf.get_section_by_name(".dynsym")
    symbols = list(section.iter_symbols()) if section else []
    for symbol in symbols:
        if symbol.name and symbol["st_shndx"] == "SHN_UNDEF":
            found.undefined.add(symbol.name)
        elif symbol.name:
            found.exported.add(symbol.name)
            if symbol["st_info"]["bind"] in ("STB_WEAK", "STB_LOOS"):  # the latter is GNU's unique
                found.vague.add(symbol.name)
            if symbol["st_info"]["type"] in ("STT_FUNC", "STT_GNU_IFUNC"):
                found.functions.add(symbol.name)
    stacks = [s for s in elf.iter_segments() if s["p_type"] == "PT_GNU_STACK"]
    found.executable_stack = any(s["p_flags"] & _PF_X for s in stacks)
    symbolic = False
    relocated: set[str] = set()
    for section in elf.iter_sections():
        if isinstance(section, DynamicSection):
            found.soname = next((t.soname for t in section.iter_tags("DT_SONAME")), "")
            found.needed = [t.needed for t in section.iter_tags("DT_NEEDED")]
            paths = [t.rpath for t in section.iter_tags("DT_RPATH")]
            paths += [t.runpath for t in section.iter_tags("DT_RUNPATH")]
            found.search_paths = [part for path in paths for part in path.split(":")]
            flags = sum(t["d_val"] for t in section.iter_tags("DT_FLAGS"))
            symbolic = any(section.iter_tags("DT_SYMBOLIC")) or bool(flags & _DF_SYMBOLIC)
            found.text_relocations = any(section.iter_tags("DT_TEXTREL")) or bool(flags & _DF_TEXTREL)
        elif isinstance(section, RelocationSection):
            relocated |= set(_relocated(section, symbols))
        elif isinstance(section, NoteSection):
            notes = [n["n_desc"] for n in section.iter_notes() if n["n_type"] == "NT_GNU_BUILD_ID"]
            found.build_id = next(iter(notes), found.build_id)
    found.by_name = set() if symbolic else relocated & found.functions


def _relocated(section: RelocationSection, symbols: list[Any]) -> Iterator[str]:
    """Names that the dynamic linker looks up for the library's own use."""
    for relocation in section.iter_relocations():
        index = relocation["r_info_sym"]
        if 0 < index < len(symbols):
            yield symbols[index].name
