# SPDX-License-Identifier: Apache-2.0
"""Reads the records of a run back from its file (`--json FILE`), whichever version of clharness wrote it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import UsageError
from harness.report.records import FORMAT, CaseResult, Header


@dataclass(frozen=True)
class RecordedRun:
    """What the file of a run holds. Without a footer the run was cut short."""

    path: Path
    header: Header
    results: tuple[CaseResult, ...]  # one for each case, in the order in which they ended
    footer: Mapping[str, Any] | None = None

    @property
    def planned_order(self) -> list[CaseResult]:
        """The results in the order of the plan, where that is known."""
        return sorted(self.results, key=lambda result: -1 if result.number is None else result.number)

    @property
    def complete(self) -> bool:
        """Whether every planned case has its record."""
        return self.footer is not None and bool(self.footer.get("complete"))


def read_run(path: Path) -> RecordedRun:
    """Reads the file, whose last line may be cut off. Raises UsageError where it holds no run."""
    records = _records(path)
    if not records or records[0].get("record") != "header":
        raise UsageError(f"{path}: does not begin with the header of a run")
    written = records[0].get("format", 0)
    if not isinstance(written, int) or written > FORMAT:
        raise UsageError(f"{path}: has format {written}, and this clharness reads formats up to {FORMAT}")
    try:
        header = Header.from_json(records[0])
    except (TypeError, KeyError, ValueError):
        raise UsageError(f"{path}: its header is not complete") from None
    try:
        cases = [CaseResult.from_json(record) for record in records if record.get("record") == "case"]
    except (TypeError, KeyError):
        raise UsageError(f"{path}: holds a case whose record is not complete") from None
    results = {result.case: result for result in cases}.values()
    footer = next((record for record in records if record.get("record") == "footer"), None)
    return RecordedRun(path, header, tuple(results), footer)


def _records(path: Path) -> list[dict[str, Any]]:
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise UsageError(f"{path}: {(error.strerror or str(error)).lower()}") from error
    records: list[dict[str, Any]] = []
    for number, line in enumerate(lines[:-1], 1):  # what has no end of line is not whole
        try:
            records.append(dict(json.loads(line)))
        except (ValueError, TypeError, RecursionError):
            raise UsageError(f"{path}: line {number} is not a record") from None
    return records
