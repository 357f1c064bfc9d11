"""Print the state of the catalogue: which requirements have a check, and which do not yet."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

from harness.errors import Exit
from harness.requirements.catalogue import catalogue, index
from harness.requirements.marks import Check, find_checks
from harness.requirements.state import STATES, checks_by_requirement, problems, section_states, state_of

EXAMPLE = """\
  clharness requirements                the table
  clharness requirements --check        for CI: complains where the discovery suite, say, leaves a gap
  clharness requirements --json | jq '.[] | select(.state == "open") | .id'
"""

_SUITES = Path(__file__).resolve().parents[2] / "suites"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    form.add_argument("--json", action="store_true", help="print every requirement with its state and checks")
    form.add_argument(
        "--check",
        action="store_true",
        help="exit 1 if a requirement of loaders, in the field of a suite that exists, has neither check nor "
        "reason, or a check names an unknown requirement",
    )


def run(args: argparse.Namespace) -> int:
    checks = find_checks(_SUITES) if _SUITES.is_dir() else []
    if args.json:
        print(json.dumps(_entries(checks), indent=1, ensure_ascii=False))
    elif args.markdown:
        print("\n".join(_markdown(_rows(checks))))
    else:
        print("\n".join(_table(_rows(checks))))
    if not args.check:
        return Exit.AS_EXPECTED
    found = problems(catalogue(), index(), checks, _SUITES)
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
        }
        for requirement in catalogue().values()
    ]


def _rows(checks: list[Check]) -> list[list[str]]:
    """The head, a row for each section, and the totals."""
    states = section_states(catalogue(), checks_by_requirement(checks))
    total: Counter[str] = sum(states.values(), Counter())
    rows = [["section", "entries", *STATES]]
    named = [(f"{key} {index().titles[key]}", counts) for key, counts in states.items()]
    for name, counts in [*named, ("total", total)]:
        rows.append([name, str(counts.total()), *(str(counts[state] or "") for state in STATES)])
    return rows


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
