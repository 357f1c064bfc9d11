# SPDX-License-Identifier: Apache-2.0
"""Improper calls and the errors for them (rules.toml), and calls that the state of an object forbids (states.toml)."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.api.contract import FOLDER, calls
from harness.api.contract.entries import known, source
from harness.api.contract.slots import opencl_version, slots
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
    since: tuple[int, int] = (1, 0)  # the version of OpenCL in which its sentence came; that of the function, at least
    until: tuple[int, int] | None = None  # the last version that has the sentence
    unless: str = ""  # the extension that makes the call a proper one

    def holds_for(self, version: tuple[int, int], extensions: Collection[str] = ()) -> bool:
        """Whether the text of a version of OpenCL has the sentence, and no extension of the device takes it away."""
        return self.since <= version and (self.until is None or version <= self.until) and self.unless not in extensions

    def __str__(self) -> str:
        return " ".join(f"{name}={word}" for name, word in self.changed.items())


def load(model: Api, file: Path | None = None) -> tuple[Rule, ...]:
    """All rules of functions of an API. Raises UsageError for what is wrong in the table."""
    file = file or FILE
    loaded: list[Rule] = []
    recipes = calls.load(model)
    for function, table in read(file).items():
        known(file, f"[{function}]", "function", function, [*model.functions, *slots()])
        only_keys(file, f"[{function}]", table, ("source", "rules"))
        where = source(file, f"[{function}]", table)
        if function in model.functions and function not in recipes:
            wrong(file, f"[{function}]", f"changes the proper call of {function}, which calls.toml does not have")
        if function in model.functions:
            loaded += [_rule(model, file, function, text, where) for text in table["rules"]]
    return tuple(loaded)


def _rule(model: Api, file: Path, function: str, text: str, where: str) -> Rule:
    entry = f"[{function}] {text!r}"
    row, _, versions = text.partition(" @")
    row, _, unless = row.partition(" unless ")
    call, arrow, errors = row.partition(" -> ")
    changes = [change.partition("=") for change in call.split(" ")]
    if not arrow or not all(equals and word for _, equals, word in changes):
        wrong(
            file,
            entry,
            "is not a rule: PARAMETER=WORD … -> ERROR|ERROR, or with unless EXTENSION, @1.2 or @1.0-2.0 at the end",
        )
    if " unless " in text and not re.fullmatch(r"cl_[a-z]+_\w+", unless):
        wrong(file, entry, f"has {unless!r} after unless; write the name of an extension")
    for name, _, word in changes:
        known(file, entry, "parameter", name, [p.name for p in model.functions[function].parameters])
        calls.check_word(file, entry, word, model)
    for error in errors.split("|"):
        known(file, entry, "error", error, ("NULL", *model.families[ERRORS].names))
    since, until = _versions(file, entry, function, versions)
    changed = {name: word for name, _, word in changes}
    return Rule(function, changed, tuple(errors.split("|")), where, since, until, unless)


def _versions(file: Path, entry: str, function: str, text: str) -> tuple[tuple[int, int], tuple[int, int] | None]:
    """The first and the last version of OpenCL whose text has a sentence, as a row ends with them: 1.2, or 1.0-2.0."""
    match = re.fullmatch(r"(?:(\d)\.(\d)(?:-(\d)\.(\d))?)?", text)
    if match is None:
        wrong(file, entry, f"ends with the versions {text!r}; write the first, as in @1.2, or both, as in @1.0-2.0")
    came = slots().get(function)
    first = tuple(map(int, opencl_version(came).split("."))) if came else (1, 0)
    since = (int(match[1]), int(match[2])) if match[1] else (first[0], first[1])
    return max(since, (first[0], first[1])), (int(match[3]), int(match[4])) if match[3] else None


def accepted(rule: Rule, of: Iterable[Rule] | None = None) -> frozenset[str]:
    """The errors for a call; where each of its changed arguments is improper by itself, those for each, too."""
    among = rules() if of is None else of
    parts = [r for r in among if r.function == rule.function and r.changed.items() < rule.changed.items()]
    if {name for part in parts for name in part.changed} != set(rule.changed):
        parts = []  # some are proper by themselves, and may make the others proper
    return frozenset(error for part in (rule, *parts) for error in part.errors)


@functools.cache
def rules() -> tuple[Rule, ...]:
    """The rules of the functions that the build's headers have."""
    return load(api())


@functools.cache
def states() -> tuple[Rule, ...]:
    """The calls that states forbid, of the functions that the build's headers have."""
    return load(api(), STATES)
