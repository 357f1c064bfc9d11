# SPDX-License-Identifier: Apache-2.0
"""Improper calls and the errors for them (rules.toml), and calls that the state of an object forbids (states.toml)."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.api.contract import FOLDER, calls
from harness.api.contract.entries import known, source
from harness.api.contract.slots import slots
from harness.api.families import ERRORS
from harness.api.model import Api, api
from harness.tomlfile import only_keys, read, wrong

FILE = FOLDER / "rules.toml"
STATES = FOLDER / "states.toml"


@dataclass(frozen=True)
class Rule:
    """An improper call: the arguments that differ from the proper one, and the errors for it ("NULL" is one, too)."""

    function: str
    changed: Mapping[str, str]
    errors: tuple[str, ...]
    source: str

    def __str__(self) -> str:
        return " ".join(f"{name}={word}" for name, word in self.changed.items())


def load(of: Api, file: Path | None = None) -> tuple[Rule, ...]:
    """All rules of functions of an API. Raises UsageError for what is wrong in the table."""
    file = file or FILE
    loaded: list[Rule] = []
    recipes = calls.load(of)
    for function, table in read(file).items():
        known(file, f"[{function}]", "function", function, [*of.functions, *slots()])
        only_keys(file, f"[{function}]", table, ("source", "rules"))
        where = source(file, f"[{function}]", table)
        if function in of.functions and function not in recipes:
            wrong(file, f"[{function}]", f"changes the proper call of {function}, which calls.toml does not have")
        if function in of.functions:
            loaded += [_rule(of, file, function, text, where) for text in table["rules"]]
    return tuple(loaded)


def _rule(of: Api, file: Path, function: str, text: str, where: str) -> Rule:
    entry = f"[{function}] {text!r}"
    call, arrow, errors = text.partition(" -> ")
    changes = [change.partition("=") for change in call.split(" ")]
    if not arrow or not all(equals and word for _, equals, word in changes):
        wrong(file, entry, "is not a rule: PARAMETER=WORD … -> ERROR|ERROR")
    for name, _, word in changes:
        known(file, entry, "parameter", name, [p.name for p in of.functions[function].parameters])
        calls.check_word(file, entry, word, of)
    for error in errors.split("|"):
        known(file, entry, "error", error, ("NULL", *of.families[ERRORS].names))
    return Rule(function, {name: word for name, _, word in changes}, tuple(errors.split("|")), where)


@functools.cache
def rules() -> tuple[Rule, ...]:
    """The rules of the functions that the build's headers have."""
    return load(api())


@functools.cache
def states() -> tuple[Rule, ...]:
    """The calls that states forbid, of the functions that the build's headers have."""
    return load(api(), STATES)
