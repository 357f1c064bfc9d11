# SPDX-License-Identifier: Apache-2.0
"""Mutants of the reference loader: what its seeded copy can be told to do wrong (CLHARNESS_FAULT=name), one thing each.

The lists lie in loader/, a file for each section of the catalogue. An entry `[[mutant]]` has these keys:

name         of lower-case letters, digits and underscores
requirement  the ID, or a list of IDs, whose checks should notice
sentence     goes on after "Makes the loader …"
file         the source; `function` where the code stands in it more than once
code         what is replaced, as it stands there (white space may differ): a statement, or an expression
instead      what stands in its place; left out, the statement is dropped
at_load      in place of the four: statements that run when the library is loaded
cases        left out, or parts of the names of the cases that should notice: `clharness selftest` runs them first. A
             mutant of an API function meets the cases first that have its name in theirs.

The kinds follow the catalogue's "mutant" lines, and what mutation operators make: negated conditions, off by one,
dropped calls, swapped arguments, ignored failures, wrong constants and separators, missing copies, lost locks,
double closes, early returns, leaks. `[no_mutant]` holds reasons for requirements that no mutant can break.

The dynamic linker reads symbols from memory, so that a library can make its own ones faulty while it is loaded.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.build import build
from harness.selftest.mutants import Mutant, known
from harness.selftest.mutants.families import families
from harness.tomlfile import only_keys, read, text, wrong

FOLDER = Path(__file__).with_name("loader")
WINDOWS = Path(__file__).with_name("windows")
VULKAN_FOLDER = Path(__file__).with_name("vulkan")

_KEYS = ("name", "requirement", "sentence", "file", "function", "code", "instead", "at_load", "cases")
_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class Mutants:
    """All mutants of the reference loader, and the requirements that no mutant can break."""

    by_name: Mapping[str, Mutant]
    reasons: Mapping[str, str]  # requirement: why no mutant can be had

    def of(self, requirement: str) -> list[Mutant]:
        """The mutants that the checks of a requirement should notice."""
        return [mutant for mutant in self.by_name.values() if requirement in mutant.requirements]


@functools.cache
def mutants() -> Mutants:
    """The project's own list, and the mutants that each forwarded function can have."""
    own = load_all(lists(build().windows))
    return Mutants({**own.by_name, **of_functions()}, own.reasons)


def of_functions() -> dict[str, Mutant]:
    """The mutants that each forwarded function can have, by name; which functions there are a build says."""
    return {mutant.name: mutant for mutant in families(json.loads(build().api.read_text()))}


@functools.cache
def vulkan_mutants() -> Mutants:
    """Those of the reference loader for Vulkan drivers."""
    return load_all(sorted(VULKAN_FOLDER.glob("*.toml")))


def lists(windows: bool = False) -> list[Path]:
    """The files that hold the mutants of the reference loader, by section; those of Windows' files are further ones."""
    return sorted(FOLDER.glob("*.toml")) + (sorted(WINDOWS.glob("*.toml")) if windows else [])


def load_all(paths: Iterable[Path]) -> Mutants:
    """Several lists as one. UsageError where two hold the same name."""
    by_name: dict[str, Mutant] = {}
    reasons: dict[str, str] = {}
    for path in paths:
        result = load(path)
        for name in result.by_name:
            if name in by_name:
                wrong(path, f"mutant {name}", "is in another list, too; give each a name of its own")
        by_name |= result.by_name
        reasons |= result.reasons
    return Mutants(by_name, reasons)


def load(path: Path) -> Mutants:
    """Reads one list of mutants; UsageError names the entry that is wrong."""
    data = read(path)
    only_keys(path, "the head", data, ("mutant", "no_mutant"))
    by_name: dict[str, Mutant] = {}
    for number, table in enumerate(data.get("mutant", []), 1):
        mutant = _mutant(path, f"mutant {table.get('name') or number}", table)
        if mutant.name in by_name:
            wrong(path, f"mutant {mutant.name}", "is listed twice; give each a name of its own")
        by_name[mutant.name] = mutant
    reasons: dict[str, str] = {}
    for requirement in data.get("no_mutant", {}):
        known(path, "no_mutant", requirement)
        reasons[requirement] = " ".join(text(path, "no_mutant", data["no_mutant"], requirement).split())
        if of_it := next((m.name for m in by_name.values() if requirement in m.requirements), None):
            wrong(path, f"no_mutant: {requirement}", f"has a mutant, {of_it}; remove the reason")
    return Mutants(by_name, reasons)


def _mutant(path: Path, where: str, table: Mapping[str, Any]) -> Mutant:
    only_keys(path, where, table, _KEYS)
    name = text(path, where, table, "name")
    if not _NAME.fullmatch(name) or name == "none":
        wrong(path, where, "needs a name of lower-case letters, digits and underscores")
    listed = table.get("requirement")
    requirements = (listed,) if isinstance(listed, str) else tuple(listed or ())
    if not requirements:
        wrong(path, where, "needs `requirement`, the ID (or a list of IDs) of what it breaks")
    for requirement in requirements:
        known(path, where, requirement)
    if "at_load" in table:
        if "code" in table:
            wrong(path, where, "has both `code` and `at_load`; one mutant breaks one thing")
        sentence = text(path, where, table, "sentence")
        return Mutant(name, requirements, sentence, at_load=table["at_load"], cases=table.get("cases", ""))
    mutant = Mutant(
        name,
        requirements,
        text(path, where, table, "sentence"),
        text(path, where, table, "file"),
        table.get("function", ""),
        text(path, where, table, "code"),
        table.get("instead", ""),
        cases=table.get("cases", ""),
    )
    if not mutant.is_statement and not mutant.instead.strip():
        wrong(path, where, "needs `instead`: only a statement can be left out")
    if mutant.is_statement and mutant.instead.strip() and not mutant.instead.rstrip().endswith((";", "}")):
        wrong(path, where, "does not replace the statement by one: end `instead` in a semicolon or brace")
    return mutant
