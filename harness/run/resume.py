# SPDX-License-Identifier: Apache-2.0
"""The records of a run that was cut short, for one that goes on from there."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import UsageError
from harness.report import CaseResult, Header

SAME = ("real_path", "build_id", "name", "version")  # facts of a subject that must not have changed


@dataclass(frozen=True)
class Earlier:
    """What the file of a run holds."""

    path: Path
    header: dict[str, Any]
    results: tuple[CaseResult, ...]

    def kept(self, header: Header, planned: Collection[str]) -> list[CaseResult]:
        """The results that stand for the run that `header` begins. Raises UsageError where it is another."""
        for kind in ("loader", "layer", "icd"):
            before, now = self.header.get(kind) or {}, getattr(header, kind) or {}
            for fact in SAME:
                if before.get(fact) != now.get(fact):
                    raise UsageError(
                        f"--resume {self.path}: is of another {kind}: its {fact} was {before.get(fact)}, "
                        f"and is {now.get(fact)}"
                    )
        foreign = next((result.case for result in self.results if result.case not in planned), None)
        if foreign:
            raise UsageError(f"--resume {self.path}: has {foreign}, which this run does not: give the same selection")
        return list({result.case: result for result in self.results}.values())


def read(path: Path) -> Earlier:
    """Reads the file, whose last line may be cut off. Raises UsageError where it holds no run."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise UsageError(f"--resume {path}: {(error.strerror or str(error)).lower()}") from error
    records: list[dict[str, Any]] = []
    for number, line in enumerate(lines[:-1], 1):  # what has no end of line is not whole
        try:
            records.append(dict(json.loads(line)))
        except (ValueError, TypeError, RecursionError):
            raise UsageError(f"--resume {path}: line {number} is not a record") from None
    if not records or records[0].get("record") != "header":
        raise UsageError(f"--resume {path}: does not begin with the header of a run")
    try:
        cases = tuple(CaseResult.from_json(record) for record in records if record.get("record") == "case")
    except ValueError as error:
        raise UsageError(f"--resume {path}: {error}") from None
    return Earlier(path, records[0], cases)
