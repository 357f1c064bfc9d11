# SPDX-License-Identifier: Apache-2.0
"""The library of which mutants are made: the reference loader, or any that a compile_commands.json is about."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

from harness.build import ROOT, build, require_checkout
from harness.errors import HarnessError, UsageError
from harness.mutation.builder import Subject, Unit, assembled, chosen, units
from harness.mutation.link import (
    cmake_link,
    link_like,
    loaders_target,
    source_names,
    undefined_symbols,
    version_script,
    with_output,
)
from harness.mutation.operators import Mutant, mutants
from harness.mutation.syntax import parse

REFERENCE = "clharness_reference_loader"


def reference_loader(patterns: Sequence[str] = ("*.c",)) -> Subject:
    """The reference loader without seeded faults, configured in a folder of its own; only what is written by hand."""
    require_checkout("The reference loader, without --compile-commands of another one,")
    folder = build().folder / "mutants"
    if not (folder / "compile_commands.json").exists():
        _must_run(["cmake", "-S", ROOT, "-B", folder, "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"])
    _must_run(["cmake", "--build", folder, "--target", REFERENCE])
    all_units = units(folder, REFERENCE)
    directory, link = cmake_link(folder, REFERENCE)
    here = ROOT / "harness" / "reference_loader"
    own = [unit for unit in all_units if unit.source.parent == here]
    return Subject(all_units, link, directory, _sources(own, patterns))


def subject_named(
    folder: Path | None, loader: Path | None, target: str, link: str | None, patterns: Sequence[str]
) -> Subject:
    """What a command line names: the library of a build folder, else the reference loader."""
    if folder:
        return subject_of(folder, loader, target, link, patterns)
    if loader or target or link:
        raise UsageError("--loader, --target and --link are about the library of --compile-commands; give that, too")
    return reference_loader(patterns)


def subject_of(folder: Path, loader: Path | None, target: str, link: str | None, patterns: Sequence[str]) -> Subject:
    """A library that is built in `folder`: a target of CMake's, or of what its own symbol table says."""
    folder = folder.resolve()
    if loader is not None and not loader.is_file():
        raise UsageError(f"--loader {loader}: there is no such file")
    if not (loader or target or link) and (folder / "compile_commands.json").exists():
        target = loaders_target(folder)
    names = source_names(loader) if loader and not target else ()
    all_units = units(folder, target, names)
    sources = _sources(all_units, patterns)
    parts = assembled(folder, target, all_units)
    if link:
        return Subject(all_units, with_output(shlex.split(link)), folder, sources, assembled=parts)
    if loader:
        command = link_like(loader, all_units[0].command[0])
        versions, undefined = version_script(loader), undefined_symbols(loader)
        return Subject(all_units, command, folder, sources, versions, assembled=parts, undefined=undefined)
    directory, command = cmake_link(folder, target)
    return Subject(all_units, command, directory, sources)


def _sources(all_units: Sequence[Unit], patterns: Sequence[str]) -> tuple[Path, ...]:
    sources = chosen(all_units, patterns)
    if not sources:
        raise UsageError(f"--file: none of {', '.join(unit.source.name for unit in all_units)} matches")
    return sources


def all_mutants(subject: Subject) -> list[Mutant]:
    """Every mutant of the subject's sources. Raises HarnessError where a source changes meanwhile."""
    result: list[Mutant] = []
    for source in dict.fromkeys(subject.sources):
        unit = subject.unit(source)
        parsed = parse(source, unit.arguments, unit.directory)
        if parsed.text != unit.text:
            raise HarnessError(f"{source} is being changed; start again")
        result += mutants(parsed)
    return result


def _must_run(command: Sequence[str | Path]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise HarnessError(f"{shlex.join(map(str, command))} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
