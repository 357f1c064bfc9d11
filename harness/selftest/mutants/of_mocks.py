# SPDX-License-Identifier: Apache-2.0
"""What the lists of mutants of layers and of ICDs have in common: both are mocks with faults and settings."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from harness.sandbox.faults import Kind
from harness.sandbox.faults import faults as mock_faults
from harness.selftest.mutants import Mutant, known
from harness.tomlfile import only_keys, text, wrong


class _OfMock(Protocol):
    @property
    def mutant(self) -> Mutant: ...


Entry = TypeVar("Entry", bound=_OfMock)


def read_lists(folder: Path, load: Callable[[Path], Sequence[Entry]]) -> dict[str, Entry]:
    """The entries of all lists in a folder, by the names of their mutants.

    Raises UsageError where a name is listed twice, or an entry names an unknown requirement.
    """
    entries: dict[str, Entry] = {}
    for path in sorted(folder.glob("*.toml")):
        for entry in load(path):
            for requirement in entry.mutant.requirements:
                known(path, entry.mutant.name, requirement)
            if entry.mutant.name in entries:
                wrong(path, entry.mutant.name, "is listed twice; give each mutant a name of its own")
            entries[entry.mutant.name] = entry
    return entries


def requirements_of(table: Mapping[str, Any]) -> tuple[str, ...]:
    """The IDs under `requirement`, which may be one or a list."""
    listed = table["requirement"]
    return (listed,) if isinstance(listed, str) else tuple(listed)


def read_mutant(path: Path, table: Mapping[str, Any], kind: Kind, keys: Collection[str]) -> Mutant:
    """The name, requirements and sentence of an entry; the sentence may be that of its first mock fault."""
    where = f"mutant {table.get('name', '')}"
    only_keys(path, where, table, tuple(keys))
    faults = table.get("faults", ())
    sentence = table.get("sentence") or mock_faults(kind)[faults[0].partition("=")[0].partition("@")[0]]
    return Mutant(text(path, where, table, "name"), requirements_of(table), sentence, cases=table.get("cases", ""))


def without_log(mock: Path) -> None:
    """Takes the call log from a mock."""
    config = Path(f"{mock}.conf")
    lines = [line for line in config.read_text().splitlines() if not line.startswith("log = ")]
    config.write_text("\n".join(lines) + "\n")
