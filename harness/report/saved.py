# SPDX-License-Identifier: Apache-2.0
"""Reads the records of a run that ended, or was cut short, back from their file; nothing in it is trusted."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from harness.errors import Exit, UsageError
from harness.report.records import FORMAT, CaseResult, Header

_WORD = re.compile("[A-Za-z][A-Za-z _-]{0,39}")  # for a kind of subject
LONGEST_LINE = 1 << 26  # bytes; the longest record of a case has a few hundred thousand


@dataclass(frozen=True)
class Saved:
    """What the file of a run holds."""

    path: Path
    header: Header
    results: tuple[CaseResult, ...]
    version: str | None = None  # of clharness
    footer: Mapping[str, Any] | None = None  # None: the run was cut short
    written: int = FORMAT  # the format of the file: what older ones could not hold is missing

    @property
    def complete(self) -> bool:
        """Whether the run came to its end."""
        return self.footer is not None and bool(self.footer.get("complete"))

    @property
    def planned_order(self) -> list[CaseResult]:
        """The results in the order of the plan, where that is known; of a case with several, the last."""
        last = {result.case: result for result in self.results}.values()
        return sorted(last, key=lambda result: -1 if result.number is None else result.number)

    @property
    def stale(self) -> list[str]:
        """The entries of the expectation file that no case of this run has."""
        return list((self.footer or {}).get("stale") or ())


def read(path: Path, option: str = "") -> Saved:
    """Reads the file, whose last line may be cut off. Raises UsageError, which names the `option`."""
    where = f"{option} {path}".strip()
    try:
        with path.open("rb") as file:
            records = list(_records(file, where))
    except OSError as error:
        raise UsageError(f"{where}: {(error.strerror or str(error)).lower()}") from error
    written = records[0].get("format", 0) if records else 0
    if not isinstance(written, int) or written > FORMAT:
        raise UsageError(f"{where}: has format {written}, and this clharness reads formats up to {FORMAT}")
    if not records or not _is_header(records[0]):
        raise UsageError(f"{where}: does not begin with the header of a run")
    cases = [record for record in records if record.get("record") == "case"]
    try:
        results = tuple(map(CaseResult.from_json, cases))
    except ValueError:
        raise UsageError(f"{where}: holds a case whose record is not complete") from None
    footer = next((record for record in records if record.get("record") == "footer"), None)
    if footer and not _is_footer(footer):
        raise UsageError(f"{where}: has a footer that is not one of a run")
    version = records[0].get("clharness")
    own = version if isinstance(version, str) else None
    return Saved(path, Header.from_json(records[0]), results, own, footer, written)


def _records(file: BinaryIO, where: str) -> Iterator[dict[str, Any]]:
    """The record of each line. A file that never ends, such as /dev/zero, is refused like any other that holds none."""
    for number in itertools.count(1):
        line = file.readline(LONGEST_LINE)
        if not line.endswith(b"\n") and len(line) < LONGEST_LINE:
            return  # what has no end of line is not whole
        try:
            yield dict(json.loads(line))
        except (ValueError, TypeError, RecursionError):
            raise UsageError(f"{where}: line {number} is not a record") from None


def _is_header(record: Mapping[str, Any]) -> bool:
    shard, selection = record.get("shard"), record.get("selection")
    return (
        record.get("record") == "header"
        and _has_subject(record)
        and isinstance(record.get("machine", {}), dict)
        and (shard is None or _has_numbers(shard, "index", "of"))
        and (selection is None or (_has_numbers(selection, "cases") and isinstance(selection.get("digest"), str)))
        and all(isinstance(record.get(key), int | None) for key in ("planned", "repeat", "random_seed"))
        and all(isinstance(record.get(key), str | None) for key in ("expectations", "catalogue"))
        and isinstance(record.get("started", ""), str)
        and _is_list_of_texts(record.get("arguments", []))
    )


def _is_footer(record: Mapping[str, Any]) -> bool:
    return record.get("exit", 0) in tuple(Exit) and _is_list_of_texts(record.get("stale") or [])


def _has_numbers(table: Any, *keys: str) -> bool:
    return isinstance(table, dict) and all(isinstance(table.get(key), int) for key in keys)


def _has_subject(record: Mapping[str, Any]) -> bool:
    if record.get("format", 0) < 3:
        facts = (record.get("loader"), record.get("layer") or {}, record.get("icd") or {})
        return all(isinstance(each, dict) for each in facts)
    others = record.get("used_with", [])
    return isinstance(others, list) and all(
        isinstance(each, dict)
        and all(_is_word(each.get(key)) for key in ("kind", "word")[: 1 + ("word" in each)])
        and isinstance(each.get("facts"), dict)
        for each in (record.get("subject"), *others)
    )


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and _WORD.fullmatch(value) is not None


def _is_list_of_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
