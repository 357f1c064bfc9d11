# SPDX-License-Identifier: Apache-2.0
"""The records of a run that was cut short, for one that goes on from there; or whose red cases are to run again."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from harness.errors import NothingToRun, UsageError
from harness.report import CaseResult, Header
from harness.report.records import paired
from harness.report.saved import Saved, read

SAME = ("real_path", "build_id", "name", "version")  # facts of a subject that must not have changed


def earlier(path: Path) -> Saved:
    """Raises UsageError where the file holds no run."""
    return read(path, "--resume")


def red(path: Path) -> Saved:
    """Raises UsageError where the file holds no run, NothingToRun where that had no red case."""
    saved = read(path, "--rerun-failed")
    if not failed(saved):
        raise NothingToRun(f"--rerun-failed {path}: all its cases were as expected; there is nothing to run again")
    return saved


def kept(saved: Saved, header: Header, planned: Collection[str]) -> list[CaseResult]:
    """The results that stand for the run that `header` begins. Raises UsageError where it is another."""
    option = f"--resume {saved.path}"
    if not saved.results and not any(old for _, old, _ in paired(saved.header, header)):
        return []  # it was interrupted before it knew its subject
    if difference := _difference(saved.header, header):
        kind, fact, before, now = difference
        raise UsageError(f"{option}: is of another {kind}: its {fact} was {before}, and is {now}")
    foreign = next((result.case for result in saved.results if result.case not in planned), None)
    if foreign:
        raise UsageError(f"{option}: has {foreign}, which this run does not: give the same selection")
    whole = [r for r in saved.results if header.repeat is not None and max(1, len(r.runs)) >= header.repeat]
    return list({result.case: result for result in whole}.values())


def failed(saved: Saved) -> dict[str, CaseResult]:
    """The cases that made that run fail."""
    return {result.case: result for result in saved.results if result.counts}


def is_of_same_subject(saved: Saved, header: Header) -> bool:
    """Whether saved records are of the subject of this run, as it is now."""
    return _difference(saved.header, header) is None


def _difference(before: Header, now: Header) -> tuple[str, str, object, object] | None:
    """What kind of subject differs, in which fact, and both of that."""
    for word, old, new in paired(before, now):
        for fact in SAME:
            if old.get(fact) != new.get(fact):
                return word, fact, old.get(fact), new.get(fact)
    return None
