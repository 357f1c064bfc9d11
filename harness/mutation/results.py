# SPDX-License-Identifier: Apache-2.0
"""What became of mutants, as a folder keeps it: a line for each, written at once, so that a run can go on later."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TextIO

from harness.errors import UsageError
from harness.mutation.operators import Mutant

FORMAT = 1
RECORDS = "mutants.jsonl"
# States of a mutant. Those of NOT_COUNTED do not differ from the original in code or data, or not from another mutant.
# FOUND is whatever the run counts; where that is only what is red by itself, the next two say who else would notice.
FOUND, SURVIVED, ERROR, LOST = "found", "survived", "error", "lost"
STRICT, FILE = "only with --strict", "only with a file"
NOT_COUNTED = ("no compile", "equivalent", "duplicate")


@dataclass
class Fate:
    """What became of a mutant. `near`: the checks that reach its lines, for a survivor."""

    mutant: Mutant
    state: str
    case: str = ""
    verdict: str = ""
    usually: str = ""
    message: str = ""
    own: bool = False  # found by the check's own red, for which no expectation file is needed
    ran: int = 0
    seconds: float = 0.0
    reached_by: int | None = None  # cases; None: nobody knows
    near: list[str] = field(default_factory=list)

    @property
    def counts(self) -> bool:
        """Whether the mutant counts in the share that was noticed."""
        return self.state not in NOT_COUNTED

    def as_json(self) -> dict[str, Any]:
        """The record of this mutant in the file of results, as `Fate` is read from it again."""
        return asdict(self) | {"mutant": asdict(self.mutant) | {"file": str(self.mutant.file)}}


def fate_of(row: dict[str, Any]) -> Fate:
    """The fate that a row of the file of results stands for."""
    mutant = Mutant(**row["mutant"] | {"file": Path(row["mutant"]["file"])})
    return Fate(**row | {"mutant": mutant})


class Results:
    """The fates of a run, and the folder that keeps them, if there is one."""

    def __init__(self, folder: Path | None, about: dict[str, Any]) -> None:
        """`about`: what must be the same for a run to go on. Raises UsageError where the folder holds another run."""
        self.fates: list[Fate] = []
        self.reach = folder / "reach.json" if folder else None  # what the cases reach
        self._file: TextIO | None = None
        if folder is None:
            return
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / RECORDS
        header = {"format": FORMAT, **about}
        if path.exists():
            self._read(path, header)
        self._file = path.open("a")
        if not self._file.tell():
            self._write(header)

    def _read(self, path: Path, header: dict[str, Any]) -> None:
        content = path.read_text()
        lines = content.splitlines()
        if not content.endswith("\n") and lines:
            lines.pop()  # it was cut short there
            path.write_text("".join(f"{line}\n" for line in lines))
        if not lines:
            return
        known = json.loads(lines[0])
        if other := [name for name in header if known.get(name) != header[name]]:
            raise UsageError(f"{path} is of another run ({', '.join(other)}): give another folder, or remove it")
        self.fates = [fate_of(json.loads(line)) for line in lines[1:]]

    def known(self) -> set[Mutant]:
        """The mutants that have a fate, of this run or of one that it goes on from."""
        return {fate.mutant for fate in self.fates}

    def note(self, fate: Fate) -> None:
        """Keeps a fate, on disk at once."""
        self.fates.append(fate)
        self._write(fate.as_json())

    def _write(self, row: dict[str, Any]) -> None:
        if self._file:
            self._file.write(json.dumps(row) + "\n")
            self._file.flush()
