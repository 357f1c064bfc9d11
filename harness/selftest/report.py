# SPDX-License-Identifier: Apache-2.0
"""What `clharness selftest` prints and writes: which check caught which fault, and what is left open."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from harness.escaping import printable
from harness.report.records import case_name
from harness.report.table import table
from harness.selftest.further import Check
from harness.selftest.matrix import Caught, Matrix
from harness.selftest.place import assertions
from harness.selftest.programs import SHOWN, WRONG


def open_mutants(matrix: Matrix) -> list[Caught]:
    """The mutants that no check noticed."""
    return [caught for caught in matrix.caught.values() if caught.by is None]


def open_checks(matrix: Matrix) -> list[Check]:
    """Checks whose own assertions no fault made fail, without those that cannot run against the reference loader."""
    return [check for check in matrix.checks.values() if check.applicable and not check.proof]


def _unproven(check: Check) -> str:
    if check.ended_by:
        return f"no assertion of its own fails, {check.ended_by} only ends it early: {check.name}"
    return f"no fault turns it red: {check.name}"


def idle_assertions(matrix: Matrix, suites: Path) -> list[str]:
    """Assertions that no fault made fail, as far as they were met: for a person to look at, not to judge by."""
    known = list(assertions(suites))
    idle = [place for place in known if place not in matrix.failed]
    summary = f"{len(known) - len(idle)} of {len(known)} assertions failed."
    return [*(f"never failed: {place}" for place in idle), summary]


def lines(matrix: Matrix, whole: bool, seconds: float, subject: str = "loader") -> list[str]:
    """The report as text."""
    if matrix.red_without_fault:
        result = [f"  {matrix.items[r.case].nodeid}: {r.verdict}" for r in matrix.red_without_fault]
        return ["The suites are not green without a fault, so that nothing is proven by what is red with one:", *result]
    rows = [("fault", "caught by", "verdict", "cases", f"{'s':>5}")]
    for caught in matrix.caught.values():
        by = printable(case_name(caught.by))[:60] if caught.by else "NOTHING"
        rows.append((caught.mutant.name, by, caught.verdict, str(caught.cases), f"{caught.seconds:.1f}"))
    shown = table(rows, texts=3)
    missed = open_mutants(matrix)
    for caught in missed:
        shown.append(f"not caught: {caught.mutant.name} ({', '.join(caught.mutant.requirements)}): "
                     f"{caught.mutant.about(subject)}")  # fmt: skip
    if whole:
        shown += [_unproven(check) for check in open_checks(matrix)]
        idle = [check.name for check in matrix.checks.values() if not check.applicable]
        shown += [f"cannot run against the reference loader: {name}" for name in idle]
    shown += _programs(matrix)
    caught_count = len(matrix.caught) - len(missed)
    summary = f"{caught_count} of {len(matrix.caught)} faults caught"
    if whole:
        proven = sum(1 for check in matrix.checks.values() if check.proof)
        summary += f", {proven} of {sum(1 for c in matrix.checks.values() if c.applicable)} checks proven"
    kinds = Counter(caught.verdict for caught in matrix.caught.values() if caught.by)
    verdicts = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    return [*shown, f"{summary}, {matrix.ran} cases, {seconds:.0f} s{f' ({verdicts})' if verdicts else ''}."]


def wrong_programs(matrix: Matrix) -> list[Caught]:
    """The mutants whose C program does not show what the check saw."""
    return [caught for caught in matrix.caught.values() if caught.program.startswith(WRONG)]


def _programs(matrix: Matrix) -> list[str]:
    """Which faults no C program shows, and why."""
    tried = [caught for caught in matrix.caught.values() if caught.program]
    without = [caught for caught in tried if caught.program != SHOWN]
    lines = [f"no program shows {caught.mutant.name}: {caught.program}" for caught in without]
    return [*lines, f"{len(tried) - len(without)} of {len(tried)} faults shown by a program"] if tried else []


def as_json(matrix: Matrix, whole: bool, seconds: float) -> dict[str, Any]:
    """The same for programs."""
    return {
        "format": 1,
        "whole": whole,
        "seconds": round(seconds, 1),
        "cases": matrix.ran,
        "red_without_fault": [matrix.items[result.case].nodeid for result in matrix.red_without_fault],
        "faults": [
            {
                "name": caught.mutant.name,
                "requirements": caught.mutant.requirements,
                "sentence": caught.mutant.sentence,
                "caught_by": caught.by,
                "verdict": caught.verdict or None,
                "message": caught.message,
                "program": caught.program or None,
                "cases": caught.cases,
                "seconds": round(caught.seconds, 3),
            }
            for caught in matrix.caught.values()
        ],
        "checks": [
            {
                "name": check.name,
                "cases": len(check.cases),
                "proof": check.proof,
                "ended_by": check.ended_by,
                "state": "proven" if check.proof else "unproven" if check.applicable else "not applicable",
            }
            for check in matrix.checks.values()
        ],
    }


def passed(matrix: Matrix, whole: bool) -> bool:
    """Whether the run proves what it should; only a `whole` run must prove every check."""
    wrong = open_mutants(matrix) or wrong_programs(matrix)
    return not (matrix.red_without_fault or wrong or (whole and open_checks(matrix)))
