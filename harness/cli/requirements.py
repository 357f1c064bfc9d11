"""Print the state of the catalogue: which requirements have a check, and which do not yet."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

from harness.errors import Exit
from harness.reference_loader.faults import Faults, faults
from harness.requirements.catalogue import catalogue, index
from harness.requirements.marks import Check, find_checks
from harness.requirements.state import (
    STATES,
    checks_by_requirement,
    problems,
    section_states,
    state_of,
    without_proof,
)

EXAMPLE = """\
  clharness requirements                the table
  clharness requirements --check        for CI: complains where the discovery suite, say, leaves a gap
  clharness requirements --json | jq '.[] | select(.state == "open") | .id'
"""

_SUITES = Path(__file__).resolve().parents[2] / "suites"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    form.add_argument("--json", action="store_true", help="print every requirement with its state, checks and faults")
    form.add_argument("--proof", action="store_true", help="print the faults that prove each requirement's checks")
    form.add_argument(
        "--check",
        action="store_true",
        help="exit 1 if a requirement of loaders, in the field of a suite that exists, has neither check nor "
        "reason, a check names an unknown requirement, or nothing proves that a requirement's checks can fail",
    )


def run(args: argparse.Namespace) -> int:
    checks = find_checks(_SUITES) if _SUITES.is_dir() else []
    if args.json:
        print(json.dumps(_entries(checks), indent=1, ensure_ascii=False))
    elif args.markdown:
        print("\n".join(_markdown(_rows(checks))))
    elif args.proof:
        print("\n".join(_proofs(checks, faults())))
    else:
        print("\n".join(_table(_rows(checks))))
    if not args.check:
        return Exit.AS_EXPECTED
    found = problems(catalogue(), index(), checks, _SUITES)
    proven = {i: True for i in (*catalogue(), *faults().reasons) if i in faults().reasons or faults().of(i)}
    found += without_proof(catalogue(), checks_by_requirement(checks), proven)
    sys.stdout.flush()
    for problem in found:
        print(f"clharness: {problem}", file=sys.stderr)
    return Exit.UNEXPECTED if found else Exit.AS_EXPECTED


def _entries(checks: list[Check]) -> list[dict[str, object]]:
    checked = checks_by_requirement(checks)
    return [
        vars(requirement)
        | {
            "state": state_of(requirement, checked),
            "checks": [{"file": c.file, "line": c.line, "name": c.name} for c in checked.get(requirement.id, [])],
            "faults": [fault.name for fault in faults().of(requirement.id)],
            "no_fault": faults().reasons.get(requirement.id),
        }
        for requirement in catalogue().values()
    ]


def _rows(checks: list[Check]) -> list[list[str]]:
    """The head, a row for each section, and the totals."""
    states = section_states(catalogue(), checks_by_requirement(checks))
    total: Counter[str] = sum(states.values(), Counter())
    proven = Counter(r.key for r in catalogue().values() if faults().of(r.id))
    rows = [["section", "entries", *STATES, "faults"]]
    named = [(f"{key} {index().titles[key]}", counts, proven[key]) for key, counts in states.items()]
    for name, counts, faulty in [*named, ("total", total, proven.total())]:
        rows.append([name, str(counts.total()), *(str(counts[state] or "") for state in STATES), str(faulty or "")])
    return rows


def _proofs(checks: list[Check], known: Faults) -> list[str]:
    """Each requirement that is checked, with the faults that its checks have to notice."""
    checked = checks_by_requirement(checks)
    lines = []
    for requirement in catalogue().values():
        if requirement.id in checked:
            names = ", ".join(fault.name for fault in known.of(requirement.id))
            reason = known.reasons.get(requirement.id)
            lines.append(f"{requirement.id}  {names or (f'none: {reason}' if reason else '-')}")
    return lines


def _table(rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    return [
        "  ".join(
            cell.ljust(width) if n == 0 else cell.rjust(width)
            for n, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _markdown(rows: list[list[str]]) -> list[str]:
    rule = ["---", *["--:"] * (len(rows[0]) - 1)]
    return ["| " + " | ".join(row) + " |" for row in [rows[0], rule, *rows[1:]]]
