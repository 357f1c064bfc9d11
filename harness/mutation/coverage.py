# SPDX-License-Identifier: Apache-2.0
"""How much of a library's lines and branches the suites reach, by clang's own measure.

The counters lie in a file that each process maps (LLVM's continuous mode), so that a crash loses none.
"""

from __future__ import annotations

import dataclasses
import json
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from harness.errors import HarnessError
from harness.mutation.builder import Builder, Subject, Unit, run

PROFILE = "counters.profraw"
FLAGS = ("-fcoverage-mapping", "-O0", "-g0", "-mllvm", "-runtime-counter-relocation", "-Qunused-arguments",
         "-Wno-unknown-warning-option", "-Wno-ignored-optimization-argument")  # fmt: skip


@dataclass(frozen=True)
class Covered:
    """A file's lines and branches: how many there are, how many were reached, and what was not, by line."""

    file: Path
    lines: int
    lines_reached: int
    branches: int
    branches_reached: int
    missed_lines: tuple[tuple[int, int], ...]  # first and last of each group
    missed_branches: tuple[tuple[int, str], ...]  # line, and which way it never went

    def __str__(self) -> str:
        lines = f"{self.lines_reached} of {self.lines} ({_percent(self.lines_reached, self.lines)})"
        branches = f"{self.branches_reached} of {self.branches} ({_percent(self.branches_reached, self.branches)})"
        return f"lines {lines}, branches {branches}"


def _percent(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "none"


class _InPlace(Builder):
    """Compiles the files where they lie: coverage is told of the file that the compiler reads."""

    def _compile(self, unit: Unit, text: bytes, object_: Path, work: Path, flags: Sequence[str] = ()) -> str:
        return run([*unit.command, "-w", *flags, "-c", str(unit.source), "-o", str(object_)], unit.directory)


class Counting:
    """A library that counts what is reached, built in a folder."""

    def __init__(self, subject: Subject, folder: Path) -> None:
        require_tools()
        beside = folder / "original"  # the library's own folder, which private roots have, too
        beside.mkdir()
        beside.chmod(0o777)  # cases run the library as other users, too
        self._folder = beside
        profile = beside / f"%m%c-{PROFILE}"
        flags = (f"-fprofile-instr-generate={profile}",)
        units = tuple(dataclasses.replace(u, command=("clang", *u.command[1:], *flags, *FLAGS)) for u in subject.units)
        link = ("clang", *subject.link[1:], *flags)
        self.sources = subject.sources
        self.library = _InPlace(dataclasses.replace(subject, units=units, link=link), folder).original

    def measured(self) -> list[Covered]:
        """What was reached until now, file by file."""
        profiles = sorted(self._folder.glob(f"*-{PROFILE}"))
        if not profiles:
            raise HarnessError("the library was never loaded: there is nothing to measure")
        data = self._folder / "counters.profdata"
        _output(_tool("llvm-profdata"), "merge", "-sparse", *profiles, "-o", data)
        exported = _output(_tool("llvm-cov"), "export", self.library, f"-instr-profile={data}")
        files = {Path(row["filename"]): row for row in json.loads(exported)["data"][0]["files"]}
        return [_covered(source, files[source]) for source in self.sources if source in files]


def require_tools() -> None:
    """Before anything is built or run: systems have clang without the rest of LLVM."""
    for name in ("llvm-profdata", "llvm-cov"):
        if not shutil.which(tool := _tool(name)):
            raise HarnessError(f"{tool} is missing: install clang and llvm, of the same version")


def _tool(name: str) -> str:
    """LLVM's tool of the version that clang has."""
    return _output("clang", f"-print-prog-name={name}").strip()


def _output(*command: str | Path) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError as error:
        raise HarnessError(f"{error.filename} is missing: install clang and llvm, of the same version") from None
    if done.returncode:
        raise HarnessError(f"{' '.join(map(str, command))} failed:\n{done.stderr[-2000:]}")
    return done.stdout


def _covered(source: Path, row: dict[str, Any]) -> Covered:
    summary = row["summary"]
    missed = []
    for line, column, _, _, true, false, *_ in row["branches"]:
        missed += [(line, f"{column}: never {way}") for way, count in (("true", true), ("false", false)) if not count]
    return Covered(
        source,
        summary["lines"]["count"],
        summary["lines"]["covered"],
        summary["branches"]["count"],
        summary["branches"]["covered"],
        tuple(_missed(row["segments"])),
        tuple(sorted(set(missed))),
    )


def _missed(segments: Sequence[Any]) -> list[tuple[int, int]]:
    """The groups of lines that were never reached: from a segment of count 0 to the next one."""
    groups: list[tuple[int, int]] = []
    for (line, _, count, counted, _, gap), (until, column, *_) in pairwise(segments):
        if counted and not count and not gap:  # a gap is what lies between two statements
            last = until - (column <= 1 and until > line)
            if groups and line <= groups[-1][1] + 1:
                groups[-1] = (groups[-1][0], max(last, groups[-1][1]))
            else:
                groups.append((line, last))
    return groups


def lines(covered: Sequence[Covered], root: Path, details: bool) -> list[str]:
    """The report as text."""
    report = []
    for one in covered:
        name = one.file.relative_to(root) if one.file.is_relative_to(root) else one.file
        report.append(f"{name}: {one}")
        if details:
            report += [f"  {name}:{first}{f'-{last}' if last != first else ''}: never reached"
                       for first, last in one.missed_lines]  # fmt: skip
            report += [f"  {name}:{line}:{way}" for line, way in one.missed_branches]
    return report
