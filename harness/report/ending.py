# SPDX-License-Identifier: Apache-2.0
"""How a run ended: its results with what was found out at the end; every report is made of this."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.errors import Exit
from harness.report.numbers import counted
from harness.report.records import CaseResult, Header
from harness.report.saved import Saved


@dataclass(frozen=True)
class Ending:
    """A run that is over. The lists hold sentences, one for each thing to be told."""

    header: Header
    results: Sequence[CaseResult]  # judged, in the order of the plan
    code: int
    stale: Sequence[str] = ()  # entries of the expectation file that no case has
    changes: Sequence[str] = ()  # what --update-expectations changed
    unexplained: Sequence[str] = ()  # entries of the expectation file without a reason
    unseen: str | None = None  # sections that are newer than the expectation file
    troubles: Sequence[str] = ()  # of the harness
    stopped: bool = False  # because so many cases were unexpected

    @property
    def good(self) -> bool:
        """Whether nothing is left to be done."""
        return self.code in (Exit.AS_EXPECTED, Exit.NOT_APPLICABLE)

    @property
    def unexpected(self) -> list[CaseResult]:
        """The cases that make the run fail."""
        return [result for result in self.results if result.counts]

    def sentence(self) -> str:
        """What the run means: the first and the last line of its report."""
        who, results = self.header.subject.title, self.results
        cases = counted(len(results), "case")
        if self.code == Exit.INTERRUPTED:
            total = f" of {self.header.planned}" if self.header.planned is not None else ""
            return (
                f"{who}: interrupted after {cases}{total}, {len(self.unexpected)} unexpected so far; what ran is kept."
            )
        if self.stopped and self.code == Exit.UNEXPECTED:
            of = f"stopped after {len(results)} of {counted(self.header.planned or len(results), 'case')}"
            return f"{who}: not as expected, {of}, {len(self.unexpected)} unexpected; what ran is kept."
        if self.code == Exit.NOTHING_RAN:
            return f"{who}: nothing ran. Does the selection match any check?"
        if self.code == Exit.NOT_APPLICABLE:
            return f"{who}: not applicable here, all of {cases} unsupported."
        if self.code == Exit.HARNESS:
            errors = sum(r.verdict == "error" for r in results)
            trouble = f"{errors} could not be judged" if errors else "the results are incomplete"
            return f"{who}: the harness failed, {trouble} ({cases})."
        if self.code == Exit.UNEXPECTED and not self.unexpected:
            return f"{who}: not as expected, {counted(len(self.stale), 'stale expectation')}."
        if self.code == Exit.UNEXPECTED:
            flaky = f", {n} of these flaky" if (n := sum(r.status == "flaky" for r in results)) else ""
            return f"{who}: not as expected, {len(self.unexpected)} of {cases} unexpected{flaky}."
        tail = f", {n} unsupported" if (n := sum(r.verdict == "unsupported" for r in results)) else ""
        known = f", {counted(n, 'known deviation')}" if (n := sum(r.status == "expected" for r in results)) else ""
        weak = (
            f", {n} that {'does' if n == 1 else 'do'} not count"
            if (n := sum(r.status == "deviation" for r in results))
            else ""
        )
        return f"{who}: as expected, {cases}{known}{weak}{tail}."


def exit_code(results: Sequence[CaseResult], stale: bool, interrupted: bool, trouble: bool) -> Exit:
    """The exit code of a run. `trouble` is the harness's own."""
    if interrupted:
        return Exit.INTERRUPTED
    if trouble:
        return Exit.HARNESS
    if not results:
        return Exit.NOTHING_RAN
    if stale or any(r.counts and r.verdict != "error" for r in results):
        return Exit.UNEXPECTED
    if any(r.verdict == "error" for r in results):
        return Exit.HARNESS
    if all(r.verdict == "unsupported" for r in results):
        return Exit.NOT_APPLICABLE
    return Exit.AS_EXPECTED


def recorded_ending(run: Saved) -> Ending:
    """How a recorded run ended: as its footer says, or, where that is missing, interrupted."""
    results = run.planned_order
    judged = exit_code(results, False, run.footer is None, False)
    code = int(run.footer["exit"]) if run.footer and "exit" in run.footer else int(judged)
    stopped = run.footer is not None and not run.complete and code == Exit.UNEXPECTED
    return Ending(run.header, results, code, run.stale, stopped=stopped)
