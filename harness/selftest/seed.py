# SPDX-License-Identifier: Apache-2.0
"""Writes copies of the reference loader's sources in which each mutant of the lists can be chosen at run time.

    python -m harness.selftest.seed --out FOLDER SOURCE...

Where a mutant replaces an expression its copy reads `(SEEDED(name) ? (instead) : (code))`, where it replaces a
statement `if (SEEDED(name)) { instead } else { code }`. CLHARNESS_FAULT=name, read once when the library is loaded,
chooses the mutant; an unknown name ends the process, so that nothing passes by mistake.
"""

from __future__ import annotations

import argparse
import functools
import json
import re
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import ClharnessError, UsageError
from harness.selftest.mutants import Mutant
from harness.selftest.mutants.families import families
from harness.selftest.mutants.loader import FOLDER, lists, load_all

HEADER = "seeded_faults.h"
SYSTEM_HEADERS = (
    *("ctype.h", "dirent.h", "dlfcn.h", "fcntl.h", "limits.h", "link.h", "pthread.h", "signal.h", "stdatomic.h"),
    *("stdbool.h", "stdio.h", "stdlib.h", "string.h", "strings.h", "sys/stat.h", "unistd.h"),
)


@dataclass
class _Place:
    """A piece of a source that faults replace. Places lie apart or in one another, as the syntax does."""

    start: int
    end: int
    faults: list[Mutant]


def seeded(name: str, source: str, faults: Iterable[Mutant], path: Path = FOLDER) -> str:
    """The source with its faults. UsageError where the code of a fault is not there, or there more than once."""
    places: list[_Place] = []
    for fault in faults:
        start, end = _span(name, source, fault, path)
        same = next((p for p in places if (p.start, p.end) == (start, end)), None)
        if same is None:
            places.append(_Place(start, end, [fault]))
        else:
            same.faults.append(fault)
    places.sort(key=lambda place: (place.start, -place.end))
    for index, place in enumerate(places):
        for other in places[index + 1 :]:
            if other.start < place.end < other.end:
                names = f"{place.faults[0].name} and {other.faults[0].name}"
                raise UsageError(f"{path}: faults {names} overlap in part; choose one place inside the other")
    return _replaced(source, 0, len(source), places)


def _span(name: str, source: str, fault: Mutant, path: Path) -> tuple[int, int]:
    """Where the code of a fault stands; white space may differ."""
    where = f"{name}, function {fault.function}" if fault.function else name
    start, end = 0, len(source)
    if fault.function:
        start, end = _function(name, source, fault, path)
    pattern = r"\s+".join(re.escape(word) for word in fault.code.split())
    spans = [match.span() for match in re.finditer(pattern, source[start:end])]
    if len(spans) != 1:
        how_often = "does not occur" if not spans else f"occurs {len(spans)} times"
        remedy = "correct its code" if not spans else "give more of it, or its function"
        raise UsageError(f"{path}: fault {fault.name}: its code {how_often} in {where}; {remedy}: {fault.code.strip()}")
    return start + spans[0][0], start + spans[0][1]


def _function(name: str, source: str, fault: Mutant, path: Path) -> tuple[int, int]:
    """Where a function's definition stands: from its name to the brace in the first column."""
    spans = _definitions(source, fault.function)
    if len(spans) != 1:
        how_often = "is not" if not spans else "is more than once"
        raise UsageError(f"{path}: fault {fault.name}: its function {fault.function} {how_often} in {name}; correct it")
    return spans[0]


@functools.cache  # a function has a dozen faults, and a source is long
def _definitions(source: str, function: str) -> list[tuple[int, int]]:
    head = re.compile(rf"^\w[^;{{}}=\n]*\b{re.escape(function)}\([^;{{}}]*\)\n\{{$.*?^\}}$", re.M | re.S)
    return [match.span() for match in head.finditer(source)]


def _replaced(source: str, start: int, end: int, places: Sequence[_Place]) -> str:
    """The text from start to end, in which `places` (sorted, outer ones first) are replaced."""
    parts, at, index = [], start, 0
    while index < len(places):
        place = places[index]
        inner = [p for p in places[index + 1 :] if p.end <= place.end]
        parts += [source[at : place.start], _choice(place.faults, _replaced(source, place.start, place.end, inner))]
        at = place.end
        index += 1 + len(inner)
    return "".join(parts) + source[at:end]


def _choice(faults: Sequence[Mutant], code: str) -> str:
    """The correct code and its faults. The lines of the source stay on their numbers."""
    for fault in reversed(faults):
        instead = " ".join(fault.instead.split())
        if fault.is_statement:
            code = f"if (SEEDED({fault.name})) {{ {instead} }} else {{ {code} }}"
        else:
            code = f"(SEEDED({fault.name}) ? ({instead}) : ({code}))"
    return code


_OF_LINUX = re.compile(r"\b(readlink|link_map|environ|secure_getenv|geteuid|getuid)\b")


def for_windows(faults: Mapping[str, Mutant], names: Collection[str]) -> dict[str, Mutant]:
    """The faults that the loader for Windows can have: not those of Linux' own files and functions."""
    return {
        fault.name: fault
        for fault in faults.values()
        if fault.file in names and not _OF_LINUX.search(fault.code + fault.instead)
    }


def header(faults: Mapping[str, Mutant], system_headers: Sequence[str] = SYSTEM_HEADERS) -> str:
    """What the seeded copies include first: the choice, and the system headers that faults need."""
    listed = "".join(f"    /* Makes the loader {f.sentence} */\n    FAULT_{f.name},\n" for f in faults.values())
    return f"""/* Generated from the lists of mutants. Do not edit. */
#ifndef CLHARNESS_SEEDED_FAULTS_H
#define CLHARNESS_SEEDED_FAULTS_H

#define _GNU_SOURCE
{"".join(f"#include <{name}>" + chr(10) for name in system_headers)}
enum seeded_fault {{
    FAULT_none,
{listed}}};

extern enum seeded_fault clharness_seeded_fault;

#define SEEDED(name) (clharness_seeded_fault == FAULT_##name)

#endif
"""


def chooser(faults: Mapping[str, Mutant], own_header: str = "loader.h") -> str:
    """The C file that reads CLHARNESS_FAULT before anything else of the library runs."""
    names = "".join(f'    "{name}",\n' for name in faults)
    at_load = "".join(
        f"    if (SEEDED({f.name})) {{\n        {f.at_load.strip()}\n    }}\n" for f in faults.values() if f.at_load
    )
    return f"""/* Generated from the lists of mutants. Do not edit. */
#include "{HEADER}"
#include "{own_header}"

enum seeded_fault clharness_seeded_fault;

static const char *const names[] = {{
    "",
{names}}};

__attribute__((constructor(101))) static void choose_fault(void)
{{
    const char *asked = getenv("CLHARNESS_FAULT"); /* also with elevated privileges: it is for tests only */
    for (size_t i = 0; asked && i < sizeof names / sizeof *names; i++) {{
        if (strcmp(asked, names[i]) == 0) {{
            clharness_seeded_fault = (enum seeded_fault)i;
            asked = NULL;
        }}
    }}
    if (asked) {{
        fprintf(stderr, "clharness: CLHARNESS_FAULT=%s: unknown; clharness selftest --list shows the names\\n", asked);
        abort();
    }}
}}

__attribute__((constructor)) static void run_at_load(void)
{{
{at_load}}}
"""


def write(
    out: Path,
    sources: Sequence[Path],
    files: Sequence[Path],
    api: Mapping[str, Any] | None = None,
    own_header: str = "loader.h",
    windows: bool = False,
) -> None:
    """Writes the seeded copy of each source, the header and the chooser; with an API model also the families."""
    faults = dict(load_all(files).by_name)
    list_path = files[0] if len(files) == 1 else FOLDER
    faults |= {fault.name: fault for fault in families(api)} if api else {}
    names = {source.name for source in sources}
    if windows:
        faults = for_windows(faults, names)
    for fault in faults.values():
        if fault.file and fault.file not in names:
            raise UsageError(f"{list_path}: fault {fault.name}: {fault.file} is not a source of the loader; correct it")
    out.mkdir(parents=True, exist_ok=True)
    for source in sources:
        own = [fault for fault in faults.values() if fault.file == source.name]
        copy = seeded(source.name, source.read_text(), own, list_path)
        (out / source.name).write_text(f'#include "{HEADER}"\n#line 1 "{source}"\n{copy}')
    (out / HEADER).write_text(header(faults, [h for h in SYSTEM_HEADERS if not windows or h != "link.h"]))
    (out / "seeded_faults.c").write_text(chooser(faults, own_header))


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m harness.selftest.seed")
    parser.add_argument("sources", type=Path, nargs="+", help="sources and headers of the loader")
    parser.add_argument("--out", type=Path, required=True, help="folder for the copies")
    parser.add_argument(
        "--faults", type=Path, nargs="+", help="the lists of faults, or folders of them (default: the project's own)"
    )
    parser.add_argument("--windows", action="store_true", help="for the loader of Windows")
    parser.add_argument("--api", type=Path, help="api.json of harness.api.generate, for the faults of each function")
    parser.add_argument("--header", default="loader.h", help="the header of the loader")
    options = parser.parse_args(arguments)
    given = [sorted(path.glob("*.toml")) if path.is_dir() else [path] for path in options.faults or ()]
    files = [file for listed in given for file in listed] or lists(options.windows)
    api = json.loads(options.api.read_text()) if options.api else None
    try:
        sources = [source.absolute() for source in options.sources]
        write(options.out, sources, files, api, options.header, options.windows)
    except ClharnessError as error:
        print(f"clharness: {error}", file=sys.stderr)
        return int(error.exit_code)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
