# SPDX-License-Identifier: Apache-2.0
"""The records of a run that was cut short, for one that goes on from there."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from harness.errors import UsageError
from harness.report import CaseResult, Header
from harness.report.runs import RecordedRun, read_run

SAME = ("real_path", "build_id", "name", "version")  # facts of a subject that must not have changed


@dataclass(frozen=True)
class Earlier:
    """A run to go on from."""

    run: RecordedRun

    @property
    def path(self) -> Path:
        return self.run.path

    def kept(self, header: Header, planned: Collection[str]) -> list[CaseResult]:
        """The results that stand for the run that `header` begins. Raises UsageError where it is another."""
        subjects = {subject.kind: subject for subject in (header.subject, *header.used_with)}
        before = {subject.kind: subject for subject in (self.run.header.subject, *self.run.header.used_with)}
        for kind, subject in (before | subjects).items():
            old = before[kind].facts if kind in before else {}
            new = subjects[kind].facts if kind in subjects else {}
            for fact in SAME:
                if old.get(fact) != new.get(fact):
                    raise UsageError(
                        f"--resume {self.path}: is of another {subject.word}: its {fact} was {old.get(fact)}, "
                        f"and is {new.get(fact)}"
                    )
        foreign = next((result.case for result in self.run.results if result.case not in planned), None)
        if foreign:
            raise UsageError(f"--resume {self.path}: has {foreign}, which this run does not: give the same selection")
        return list(self.run.results)


def read(path: Path) -> Earlier:
    """Reads the file, whose last line may be cut off. Raises UsageError where it holds no run."""
    try:
        return Earlier(read_run(path))
    except UsageError as error:
        raise UsageError(f"--resume {error}") from None
