# SPDX-License-Identifier: Apache-2.0
"""Which lines of a library each case reaches: only these cases can notice a mistake there.

The library is built once more with the compiler's own marks for basic blocks (harness/mutation/reach.c). A block's
lines are those from its mark to the next one's; a function's first block begins where the function does.
"""

from __future__ import annotations

import bisect
import json
import mmap
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile  # type: ignore[import-untyped]
from elftools.elf.relocation import RelocationSection  # type: ignore[import-untyped]

FLAGS = ("-fsanitize-coverage=trace-pc", "-O0", "-g", "-U_FORTIFY_SOURCE", "-fno-sanitize=all")
LINK_FLAGS = ("-Wl,--emit-relocs",)  # which calls mark a block
RUNTIME = Path(__file__).with_name("reach.c")
_MARK = re.compile(rb"\x01")


class Marks:
    """The file into which the library marks the blocks that run."""

    def __init__(self, path: Path, library: Path) -> None:
        self.size = library.stat().st_size
        path.write_bytes(bytes(self.size))
        path.chmod(0o666)  # cases run the library as other users, too
        with path.open("r+b") as file:
            self._bytes = mmap.mmap(file.fileno(), self.size)

    def take(self) -> tuple[int, ...] | None:
        """Offsets of the blocks that ran since the last call; None where the library could not write any."""
        offsets = tuple(match.start() for match in _MARK.finditer(self._bytes))
        self._bytes[:] = bytes(self.size)
        return offsets[1:] if offsets[:1] == (0,) else None


@dataclass
class Reach:
    """`cases` by line of a file; `unknown` are the cases that may have reached anything."""

    cases: Mapping[tuple[str, int], frozenset[int]]
    unknown: frozenset[int] = frozenset()
    _lines: dict[str, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        lines: dict[str, set[int]] = defaultdict(set)
        for file, line in self.cases:
            lines[file].add(line)
        self._lines = {file: sorted(numbers) for file, numbers in lines.items()}

    def of(self, file: Path, first: int, last: int) -> frozenset[int] | None:
        """The cases that reach code of these lines, or of the line before them that has code; None: nothing is known.

        Nothing is known of a file without code that was compiled.
        """
        lines = self._lines.get(str(file))
        if not lines:
            return None
        start = max(bisect.bisect_right(lines, first) - 1, 0)
        end = bisect.bisect_right(lines, last)
        near = lines[start : max(end, start + 1)]
        return self.unknown.union(*(self.cases[str(file), line] for line in near))

    def reached(self, file: Path) -> tuple[int, int]:
        """How many lines with code a file has, and how many of them a case reaches."""
        lines = self._lines.get(str(file), [])
        return len(lines), sum(bool(self.cases[str(file), line]) for line in lines)


def kept(path: Path) -> dict[str, Any] | None:
    """What `keep` wrote; None where there is nothing, or half of it."""
    try:
        content: dict[str, Any] = json.loads(path.read_text())
    except (FileNotFoundError, ValueError):
        return None
    places = {(file, int(line)): frozenset(cases) for file, line, cases in content["lines"]}
    return content | {"reach": Reach(places, frozenset(content["unknown"]))}


def keep(path: Path, reach: Reach, others: Mapping[str, Any]) -> None:
    """Writes what is reached, and what else is to be known again."""
    places = [[file, line, sorted(cases)] for (file, line), cases in reach.cases.items()]
    path.write_text(json.dumps({"lines": places, "unknown": sorted(reach.unknown), **others}))


def reach_of(library: Path, blocks: Mapping[int, Iterable[int] | None]) -> Reach:
    """From the blocks that each case ran to the cases of each line."""
    rows = sorted(set(_rows(library)))
    addresses = [row[0] for row in rows]
    cases: dict[tuple[str, int], set[int]] = {(file, line): set() for _, file, line in rows}
    sites = _sites(library)
    begins = _begins(sites, _functions(library))
    lines_of: list[set[tuple[str, int]]] = []
    for begin, following in zip(begins, [*begins[1:], rows[-1][0] + 1], strict=True):
        # From the row that holds the mark to the one that holds the next: the call is the first of its block.
        start, end = (max(bisect.bisect_right(addresses, place) - 1, 0) for place in (begin, following))
        lines_of.append({(file, line) for _, file, line in rows[start : max(end, start + 1)]})
    for case, offsets in blocks.items():
        for block in {max(bisect.bisect_right(sites, offset) - 1, 0) for offset in offsets or ()}:
            for place in lines_of[block]:
                cases[place].add(case)
    unknown = frozenset(case for case, offsets in blocks.items() if offsets is None)
    return Reach({place: frozenset(numbers) for place, numbers in cases.items()}, unknown)


def _begins(sites: Iterable[int], functions: list[int]) -> list[int]:
    """Where each block begins: at its mark; a function's first one with what the compiler does before the mark."""
    begins: list[int] = []
    last = -1
    for site in sites:
        entry = functions[max(bisect.bisect_right(functions, site) - 1, 0)] if functions else site
        begins.append(entry if last < entry <= site else site)
        last = site
    return begins


def _functions(library: Path) -> list[int]:
    """The addresses of all functions, those that are not exported among them."""
    with library.open("rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        symbols = table.iter_symbols() if table else ()
        return sorted({s["st_value"] for s in symbols if s["st_info"]["type"] == "STT_FUNC" and s["st_value"]})


def _sites(library: Path) -> list[int]:
    """The addresses of the calls that mark blocks."""
    with library.open("rb") as file:
        elf = ELFFile(file)
        sites: set[int] = set()
        for section in elf.iter_sections():
            if isinstance(section, RelocationSection) and section.name.startswith((".rela.text", ".rel.text")):
                symbols = elf.get_section(section["sh_link"])
                for entry in section.iter_relocations():
                    if symbols.get_symbol(entry["r_info_sym"]).name == "__sanitizer_cov_trace_pc":
                        sites.add(entry["r_offset"])
    return sorted(sites)


def _rows(library: Path) -> Iterator[tuple[int, str, int]]:
    """Address, file and line of each statement, as the debugging information has it."""
    with library.open("rb") as file:
        dwarf = ELFFile(file).get_dwarf_info(relocate_dwarf_sections=False)
        for unit in dwarf.iter_CUs():
            program: Any = dwarf.line_program_for_CU(unit)
            top = unit.get_top_DIE().attributes
            directory = top["DW_AT_comp_dir"].value.decode() if "DW_AT_comp_dir" in top else ""
            names = [_name(program, entry, directory) for entry in program["file_entry"]]
            first = 0 if program["version"] >= 5 else 1  # files are counted from 0 since DWARF 5
            for entry in program.get_entries():
                state = entry.state
                if state is not None and not state.end_sequence and state.line:
                    yield state.address, names[state.file - first], state.line


def _name(program: Any, entry: Any, directory: str) -> str:
    folders = [folder.decode() for folder in program["include_directory"]]
    if program["version"] < 5:
        folders.insert(0, directory)
    return str((Path(directory) / folders[entry["dir_index"]] / entry["name"].decode()).resolve())
