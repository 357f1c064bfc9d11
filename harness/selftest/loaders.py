"""Reads faults*.toml: the faults that the seeded copy of the reference loader can be told to have."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.build import build
from harness.requirements.catalogue import catalogue
from harness.tomlfile import only_keys, read, text, wrong

FILE = Path(__file__).parent / "mutants" / "loader" / "faults.toml"
FILES = (FILE, *sorted(FILE.parent.glob("faults_*.toml")))

_KEYS = ("name", "requirement", "sentence", "file", "function", "code", "instead", "at_load", "cases")
_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class Fault:
    """One thing that can be wrong with the loader: `instead` in the place of `code`, or `at_load` in addition."""

    name: str
    requirements: tuple[str, ...]  # whose checks should notice
    sentence: str  # goes on after "Makes the loader …"
    file: str = ""  # name of the source file
    function: str = ""  # in which `code` stands; empty: anywhere in the file
    code: str = ""  # a statement where it ends in ; or }, else an expression
    instead: str = ""
    at_load: str = ""  # statements that run when the library is loaded
    family: str = ""  # of faults that exist once for each function
    cases: str = ""  # part of the names of the cases that should notice; `clharness selftest` runs them first

    @property
    def is_statement(self) -> bool:
        return self.code.rstrip().endswith((";", "}"))


@dataclass(frozen=True)
class Faults:
    by_name: Mapping[str, Fault]
    reasons: Mapping[str, str]  # requirement: why no fault can be had

    def of(self, requirement: str) -> list[Fault]:
        """The faults that the checks of a requirement should notice."""
        return [fault for fault in self.by_name.values() if requirement in fault.requirements]


@functools.cache
def faults() -> Faults:
    """The project's own list, and the faults that each forwarded function can have."""
    from harness.selftest.families import families  # which builds on this module

    own = load_all(FILES)
    api = json.loads(build().api.read_text())
    return Faults({**own.by_name, **{fault.name: fault for fault in families(api)}}, own.reasons)


def load_all(paths: Iterable[Path]) -> Faults:
    """Several lists as one."""
    by_name: dict[str, Fault] = {}
    reasons: dict[str, str] = {}
    for path in paths:
        found = load(path)
        for name in found.by_name:
            if name in by_name:
                wrong(path, f"fault {name}", "is in another list, too; give each a name of its own")
        by_name |= found.by_name
        reasons |= found.reasons
    return Faults(by_name, reasons)


def load(path: Path) -> Faults:
    """Reads one list of faults; UsageError names the entry that is wrong."""
    data = read(path)
    only_keys(path, "the head", data, ("fault", "no_fault"))
    by_name: dict[str, Fault] = {}
    for number, table in enumerate(data.get("fault", []), 1):
        fault = _fault(path, f"fault {table.get('name') or number}", table)
        if fault.name in by_name:
            wrong(path, f"fault {fault.name}", "is there twice; give each a name of its own")
        by_name[fault.name] = fault
    reasons: dict[str, str] = {}
    for requirement in data.get("no_fault", {}):
        _known(path, "no_fault", requirement)
        reasons[requirement] = " ".join(text(path, "no_fault", data["no_fault"], requirement).split())
        if fault_of := next((f for f in by_name.values() if requirement in f.requirements), None):
            wrong(path, f"no_fault: {requirement}", f"has a fault, {fault_of.name}; remove the reason")
    return Faults(by_name, reasons)


def _fault(path: Path, where: str, table: Mapping[str, Any]) -> Fault:
    only_keys(path, where, table, _KEYS)
    name = text(path, where, table, "name")
    if not _NAME.fullmatch(name) or name == "none":
        wrong(path, where, "needs a name of lower-case letters, digits and underscores")
    listed = table.get("requirement")
    requirements = (listed,) if isinstance(listed, str) else tuple(listed or ())
    if not requirements:
        wrong(path, where, "needs `requirement`, the ID (or a list of IDs) of what it breaks")
    for requirement in requirements:
        _known(path, where, requirement)
    if "at_load" in table:
        if "code" in table:
            wrong(path, where, "has both `code` and `at_load`; one fault breaks one thing")
        sentence = text(path, where, table, "sentence")
        return Fault(name, requirements, sentence, at_load=table["at_load"], cases=table.get("cases", ""))
    fault = Fault(
        name,
        requirements,
        text(path, where, table, "sentence"),
        text(path, where, table, "file"),
        table.get("function", ""),
        text(path, where, table, "code"),
        table.get("instead", ""),
        cases=table.get("cases", ""),
    )
    if not fault.is_statement and not fault.instead.strip():
        wrong(path, where, "needs `instead`: only a statement can be left out")
    if fault.is_statement and fault.instead.strip() and not fault.instead.rstrip().endswith((";", "}")):
        wrong(path, where, "replaces a statement by none: end `instead` in a semicolon or brace")
    return fault


def _known(path: Path, where: str, requirement: object) -> None:
    if requirement not in catalogue():
        wrong(path, where, f"names the unknown requirement {requirement}")
