# SPDX-License-Identifier: Apache-2.0
"""Reads the file of an ELF library."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from elftools.common.exceptions import ELFError  # type: ignore[import-untyped]
from elftools.elf.dynamic import DynamicSection  # type: ignore[import-untyped]
from elftools.elf.elffile import ELFFile  # type: ignore[import-untyped]
from elftools.elf.gnuversions import GNUVerDefSection  # type: ignore[import-untyped]
from elftools.elf.relocation import RelocationSection  # type: ignore[import-untyped]
from elftools.elf.sections import NoteSection  # type: ignore[import-untyped]

from harness.subject.facts import NotShared, SharedLibrary

_DF_TEXTREL, _DF_SYMBOLIC = 4, 2
_PF_X = 1
_SHF_ALLOC, _SHF_EXECINSTR = 2, 4


def read(path: Path, library: SharedLibrary) -> None:
    """Fills in what the file says. Raises NotShared, also where it is damaged, and OSError."""
    try:
        with path.open("rb") as file:
            elf = ELFFile(file)
            if elf["e_type"] != "ET_DYN":
                raise NotShared("is an ELF file but not a shared library")
            _read(elf, library)
    except ELFError as error:
        raise NotShared(f"is not a shared library ({error})") from None
    except (OSError, NotShared):
        raise
    except Exception as error:  # of pyelftools, which has no word of its own for most of what can be damaged
        raise NotShared(f"is a damaged library ({type(error).__name__}: {error})") from None


def data(path: Path) -> bytes:
    """What stands in a library's data, without its code and the names of its symbols; everything, if it is no ELF."""
    with path.open("rb") as file:
        try:
            sections = [s for s in ELFFile(file).iter_sections() if s["sh_type"] == "SHT_PROGBITS"]
        except ELFError:
            return path.read_bytes()
        return b"\0".join(
            s.data() for s in sections if s["sh_flags"] & _SHF_ALLOC and not s["sh_flags"] & _SHF_EXECINSTR
        )


def _read(elf: ELFFile, library: SharedLibrary) -> None:
    library.bits, library.machine = elf.elfclass, str(elf["e_machine"])
    if elf.num_sections() == 0 and any(s["p_type"] == "PT_DYNAMIC" for s in elf.iter_segments()):
        raise NotShared("has no section headers, by which its symbols are read: give the library as it was before")
    section = elf.get_section_by_name(".dynsym")
    symbols = list(section.iter_symbols()) if section else []
    for symbol in symbols:
        _read_symbol(symbol, library)
    stacks = [s for s in elf.iter_segments() if s["p_type"] == "PT_GNU_STACK"]
    library.executable_stack = any(s["p_flags"] & _PF_X for s in stacks)
    symbolic = False
    relocated: set[str] = set()
    for section in elf.iter_sections():
        if isinstance(section, DynamicSection):
            symbolic = _read_dynamic(section, library)
        elif isinstance(section, RelocationSection):
            relocated |= set(_relocated(section, symbols))
        elif isinstance(section, NoteSection):
            notes = [n["n_desc"] for n in section.iter_notes() if n["n_type"] == "NT_GNU_BUILD_ID"]
            library.build_id = next(iter(notes), library.build_id)
        elif isinstance(section, GNUVerDefSection):
            library.symbol_versions = [next(names).name for _, names in section.iter_versions()]
    library.by_name = set() if symbolic else relocated & library.functions


def _read_symbol(symbol: Any, library: SharedLibrary) -> None:
    if symbol.name and symbol["st_shndx"] == "SHN_UNDEF":
        library.undefined.add(symbol.name)
    elif symbol.name:
        library.exported.add(symbol.name)
        if symbol["st_info"]["bind"] in ("STB_WEAK", "STB_LOOS"):  # the latter is GNU's unique
            library.vague.add(symbol.name)
        if symbol["st_info"]["type"] in ("STT_FUNC", "STT_GNU_IFUNC"):
            library.functions.add(symbol.name)


def _read_dynamic(section: DynamicSection, library: SharedLibrary) -> bool:
    """Whether the library is linked so that it looks into itself first."""
    library.soname = next((t.soname for t in section.iter_tags("DT_SONAME")), "")
    library.needed = [t.needed for t in section.iter_tags("DT_NEEDED")]
    paths = [t.rpath for t in section.iter_tags("DT_RPATH")]
    paths += [t.runpath for t in section.iter_tags("DT_RUNPATH")]
    library.search_paths = [part for path in paths for part in path.split(":")]
    flags = sum(t["d_val"] for t in section.iter_tags("DT_FLAGS"))
    library.text_relocations = any(section.iter_tags("DT_TEXTREL")) or bool(flags & _DF_TEXTREL)
    return any(section.iter_tags("DT_SYMBOLIC")) or bool(flags & _DF_SYMBOLIC)


def _relocated(section: RelocationSection, symbols: list[Any]) -> Iterator[str]:
    """Names that the dynamic linker looks up for the library's own use."""
    for relocation in section.iter_relocations():
        index = relocation["r_info_sym"]
        if 0 < index < len(symbols):
            yield symbols[index].name
