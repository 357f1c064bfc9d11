# SPDX-License-Identifier: Apache-2.0
"""What the lists of mutants of layers, ICDs and Vulkan drivers have in common: mocks with faults and settings."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.sandbox.faults import Kind
from harness.sandbox.faults import faults as mock_faults
from harness.selftest.mutants import VARIABLE, Mutant, known
from harness.tomlfile import only_keys, read, text, wrong

ABOUT = ("name", "requirement", "sentence", "cases")  # what an entry says of the mutant; the rest makes the mock


@dataclass(frozen=True)
class MockMutant:
    """A mock that is wrong in one thing, and what the sandbox makes it of."""

    mutant: Mutant
    settings: Mapping[str, Any] = field(default_factory=dict)


def read_lists(folder: Path, load: Callable[[Path], Sequence[MockMutant]]) -> dict[str, MockMutant]:
    """The entries of all lists in a folder, by the names of their mutants.

    Raises UsageError where a name is listed twice, or an entry names an unknown requirement.
    """
    entries: dict[str, MockMutant] = {}
    for path in sorted(folder.glob("*.toml")):
        for entry in load(path):
            for requirement in entry.mutant.requirements:
                known(path, entry.mutant.name, requirement)
            if entry.mutant.name in entries:
                wrong(path, entry.mutant.name, "is listed twice; give each mutant a name of its own")
            entries[entry.mutant.name] = entry
    return entries


def read_mutants(kind: Kind, keys: Collection[str], path: Path) -> list[MockMutant]:
    """The entries `[[mutant]]` of a list that holds nothing else; `keys` are those of settings."""
    data = read(path)
    only_keys(path, "the head", data, ("mutant",))
    return [read_mutant(path, table, kind, keys) for table in data.get("mutant", [])]


def chosen(mutants: Mapping[str, MockMutant]) -> Mapping[str, Any]:
    """The settings of the mutant that the environment names; none where it names none."""
    name = os.environ.get(VARIABLE)
    return mutants[name].settings if name else {}


def requirements_of(table: Mapping[str, Any]) -> tuple[str, ...]:
    """The IDs under `requirement`, which may be one or a list."""
    listed = table["requirement"]
    return (listed,) if isinstance(listed, str) else tuple(listed)


def read_mutant(path: Path, table: Mapping[str, Any], kind: Kind, keys: Collection[str]) -> MockMutant:
    """One entry; its sentence may be that of its first mock fault."""
    where = f"mutant {table.get('name', '')}"
    only_keys(path, where, table, (*ABOUT, *keys))
    faults = table.get("faults", ())
    sentence = table.get("sentence") or mock_faults(kind)[faults[0].partition("=")[0].partition("@")[0]]
    name = text(path, where, table, "name")
    mutant = Mutant(name, requirements_of(table), sentence, cases=table.get("cases", ""))
    return MockMutant(mutant, {key: value for key, value in table.items() if key not in ABOUT})


def without_log(mock: Path) -> None:
    """Takes the call log from a mock."""
    config = Path(f"{mock}.conf")
    lines = [line for line in config.read_text().splitlines() if not line.startswith("log = ")]
    config.write_text("\n".join(lines) + "\n")
