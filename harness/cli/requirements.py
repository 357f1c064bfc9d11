# SPDX-License-Identifier: Apache-2.0
"""Print the state of the catalogue: which requirements have a check, and which do not yet."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.build import ROOT, build
from harness.errors import Exit, NotBuilt, UsageError
from harness.report.blocks import wrap
from harness.report.table import table
from harness.report.terminal import Terminal
from harness.requirements.catalogue import catalogue, index
from harness.requirements.marks import Check, find_checks
from harness.requirements.quotations import documents, misquoted
from harness.requirements.state import (
    STATES,
    checks_by_requirement,
    checks_without_proof,
    not_proven,
    problems,
    section_states,
    state_of,
    without_proof,
)
from harness.requirements.statements import carried, document_of, listed, page, unknown_entries
from harness.selftest.mutants import Mutant
from harness.selftest.mutants.loader import Mutants, lists, load_all, of_functions, vulkan_mutants
from harness.selftest.targets import TARGETS

EXAMPLE = """\
  clharness requirements                the table
  clharness requirements --proof        each requirement with its checks, and the faults that they have to notice
  clharness requirements --check        for CI: complains where the discovery suite, say, leaves a gap
  clharness requirements --markdown --selftest result.json > requirements.md
  clharness requirements --statements docs/statements --texts ~/OpenCL-Docs --texts ~/Vulkan-Loader
  clharness requirements --json | jq '.[] | select(.state == "open") | .id'
"""

_SUITES = ROOT / "suites"
_MOST = 8  # faults that are named in a line


def add_arguments(parser: argparse.ArgumentParser) -> None:
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--markdown", action="store_true", help="print the table and the whole matrix as Markdown")
    form.add_argument("--json", action="store_true", help="print every requirement with its state, checks and faults")
    form.add_argument("--proof", action="store_true", help="print each requirement with its checks and faults")
    parser.add_argument(
        "--check",
        action="store_true",
        help="exit 1 if a requirement of loaders, in the field of a suite that exists, has neither check nor "
        "reason, a check names an unknown requirement, or nothing proves that a check can fail",
    )
    parser.add_argument(
        "--texts",
        metavar="DIR",
        action="append",
        type=Path,
        help="exit 1 if a document below a folder, such as a checkout of OpenCL-Docs, does not say what requirements "
        "quote; may be given several times",
    )
    parser.add_argument(
        "--statements",
        metavar="DIR",
        type=Path,
        help="with --texts: write a page for each document that says which requirement carries which of its normative "
        "statements; exit 1 if a statement has none, and no reason for that",
    )
    parser.add_argument(
        "--selftest",
        metavar="FILE",
        help="a result of `clharness selftest --json FILE`: say which fault proved each check",
    )


@dataclass(frozen=True)
class Proofs:
    """What shows that checks can fail: the faults, and what became of the checks in a run of the self-test."""

    faults: Mutants
    states: Mapping[str, str]  # pytest ID of a check: proven, unproven or not applicable
    proofs: Mapping[str, str]  # pytest ID of a check: the fault

    def of_check(self, check: Check) -> str | None:
        """The word for how well a check is proven; None where the self-test did not run it."""
        return self.proofs.get(f"{check.file}::{check.name}")

    def known(self) -> dict[str, bool]:
        """The requirements that have a fault, or a reason for none."""
        named = {identifier for fault in self.faults.by_name.values() for identifier in fault.requirements}
        layers = {identifier for fault in _of_mocks() for identifier in fault.requirements}
        return dict.fromkeys((*named, *layers, *self.faults.reasons), True)

    def faults_of(self, identifier: str) -> str:
        """The faults of a requirement, or the reason for none, or nothing."""
        names = [fault.name for fault in self.faults.of(identifier)]
        names += [fault.name for fault in _of_mocks() if identifier in fault.requirements]
        more = [f"and {len(names) - _MOST} more"] if len(names) > _MOST else []
        reason = self.faults.reasons.get(identifier)
        return ", ".join([*names[:_MOST], *more]) or (f"none: {reason}" if reason else "")


def run(args: argparse.Namespace) -> int:
    if args.statements:
        return _statements(args.statements, args.texts)
    if args.texts:
        return _quotations(args.texts)
    if args.check:
        build()  # many faults come from it
    checks = find_checks(_SUITES) if _SUITES.is_dir() else []
    proofs = _proofs_of(args.selftest)
    if args.json:
        print(json.dumps(_entries(checks, proofs), indent=1, ensure_ascii=False))
    elif args.markdown:
        print("\n".join([*_markdown(_rows(checks, proofs)), "", *_markdown(_matrix(checks, proofs), numbers=False)]))
    elif args.proof:
        print("\n".join(_proof_lines(checks, proofs)))
    else:
        width = Terminal(sys.stdout).table_width
        print("\n".join([*table(_rows(checks, proofs), width=width), "", *_without_check(checks, width)]))
    if not args.check:
        return Exit.AS_EXPECTED
    sentences = problems(catalogue(), index(), checks, _SUITES)
    sentences += without_proof(catalogue(), checks_by_requirement(checks), proofs.known())
    sentences += checks_without_proof(checks, proofs.known())
    sentences += not_proven(proofs.states)
    sys.stdout.flush()
    for problem in sentences:
        print(f"clharness: {problem}", file=sys.stderr)
    return Exit.UNEXPECTED if sentences else Exit.AS_EXPECTED


def _quotations(folders: list[Path]) -> int:
    quoting = [requirement for requirement in catalogue().values() if requirement.sentence]
    lines = misquoted(quoting, documents(folders))
    print("\n".join([*lines, f"{len(quoting) - len(lines)} of {len(quoting)} sentences stand in the documents."]))
    return Exit.UNEXPECTED if lines else Exit.AS_EXPECTED


def _statements(folder: Path, texts: list[Path] | None) -> int:
    if not texts:
        raise UsageError("--statements: needs the documents; give a checkout of each with --texts")
    complaints = []
    folder.mkdir(parents=True, exist_ok=True)
    for known in listed():
        result = carried(document_of(known, texts), known, catalogue().values())
        (folder / f"{known.path.stem}.md").write_text("\n".join([*page(known, result), ""]), encoding="utf-8")
        gaps = [one.statement for one in result if one.is_gap]
        complaints += [f"{known.document}, {one.section}, {one.number}: no requirement, no reason" for one in gaps]
        complaints += unknown_entries(known, result)
        print(f"{known.document:5} {len(result):4} statements, {len(gaps)} without a requirement or a reason")
    print("\n".join(complaints), end="\n" if complaints else "")
    return Exit.UNEXPECTED if complaints else Exit.AS_EXPECTED


def _proofs_of(file: str | None) -> Proofs:
    if file is None:
        return Proofs(_faults(), {}, {})
    try:
        result = json.loads(Path(file).read_text())
        states = {check["name"]: str(check["state"]) for check in result["checks"]}
        proofs = {check["name"]: str(check["proof"]) for check in result["checks"] if check["proof"]}
        whole = bool(result["whole"])
    except OSError as error:
        raise UsageError(f"--selftest {file}: cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"--selftest {file}: is not a result of `clharness selftest --json`") from error
    if not whole:
        raise UsageError(f"--selftest {file}: is of a part of the faults; give the result of the whole self-test")
    return Proofs(_faults(), states, proofs)


def _faults() -> Mutants:
    """The faults of OpenCL loaders, and the reasons for none, also those of Vulkan loaders.

    Faults of generated functions come from a build; without one, the lists alone."""
    listed = load_all(lists(windows=True))  # with the part for Windows, which this build may not have
    reasons = {**listed.reasons, **vulkan_mutants().reasons}
    try:
        return Mutants({**listed.by_name, **of_functions()}, reasons)
    except NotBuilt:
        print("clharness: without a build, faults of generated functions are left out", file=sys.stderr)
        return Mutants(listed.by_name, reasons)


def _of_mocks() -> list[Mutant]:
    """The mutants of layers, ICDs, Vulkan drivers and Vulkan loaders; without a build, none of them."""
    others = (target for option, target in TARGETS.items() if option and target.named is None)
    try:
        return [mutant for target in others for mutant in target.mutants().values()]
    except NotBuilt:
        return []


def _entries(checks: list[Check], proofs: Proofs) -> list[dict[str, object]]:
    checked = checks_by_requirement(checks)
    return [
        vars(requirement)
        | {
            "state": state_of(requirement, checked),
            "checks": [
                {"file": c.file, "line": c.line, "name": c.name}
                | ({"proof": proofs.of_check(c)} if proofs.states else {})
                for c in checked.get(requirement.id, [])
            ],
            "faults": [fault.name for fault in proofs.faults.of(requirement.id)],
            "no_fault": proofs.faults.reasons.get(requirement.id),
        }
        for requirement in catalogue().values()
    ]


def _named(check: Check, proofs: Proofs) -> str:
    proof = proofs.of_check(check)
    return (check.name or f"{check.file}:{check.line}") + (f" (fails under {proof})" if proof else "")


def _matrix(checks: list[Check], proofs: Proofs) -> list[list[str]]:
    """A row for each requirement: its checks, the faults that they have to notice, or why there are none."""
    checked = checks_by_requirement(checks)
    rows = [["requirement", "strength", "checks", "faults"]]
    for requirement in catalogue().values():
        own = [_named(check, proofs) for check in checked.get(requirement.id, [])]
        why = requirement.no_check or (f"later: {requirement.later}" if requirement.later else "open")
        shown = ", ".join(dict.fromkeys(own)) or f"none: {why.removeprefix('none: ')}"
        rows.append([requirement.id, requirement.strength, shown, proofs.faults_of(requirement.id)])
    return rows


def _rows(checks: list[Check], proofs: Proofs) -> list[list[str]]:
    """The head, a row for each section, and the totals."""
    states = section_states(catalogue(), checks_by_requirement(checks))
    total: Counter[str] = sum(states.values(), Counter())
    named = {identifier for fault in proofs.faults.by_name.values() for identifier in fault.requirements}
    proven = Counter(requirement.key for requirement in catalogue().values() if requirement.id in named)
    rows = [["section", "entries", *STATES, "faults"]]
    sections = [(f"{key} {index().titles[key]}", counts, proven[key]) for key, counts in states.items()]
    for name, counts, faulty in [*sections, ("total", total, proven.total())]:
        rows.append([name, str(counts.total()), *(str(counts[state] or "") for state in STATES), str(faulty or "")])
    return rows


def _without_check(checks: list[Check], width: int | None) -> list[str]:
    """What the two states without a check and without a reason for none mean, and the requirements in them."""
    checked = checks_by_requirement(checks)
    lines = []
    for state, meaning in (("later", "its check waits for something"), ("open", "it has no check yet")):
        names = [requirement.id for requirement in catalogue().values() if state_of(requirement, checked) == state]
        text = f"{state} ({meaning}): {', '.join(names) or 'none'}"
        lines += wrap(text, width) if width else [text]
    return lines


def _proof_lines(checks: list[Check], proofs: Proofs) -> list[str]:
    """Each requirement that is checked, with its checks and the faults that they have to notice."""
    checked = checks_by_requirement(checks)
    lines = []
    for requirement in catalogue().values():
        if own := checked.get(requirement.id):
            lines.append(f"{requirement.id}  {requirement.strength}")
            lines += [f"  check   {text}" for text in dict.fromkeys(_named(check, proofs) for check in own)]
            lines.append(f"  faults  {proofs.faults_of(requirement.id) or '-'}")
    return lines


def _markdown(rows: list[list[str]], numbers: bool = True) -> list[str]:
    rule = ["---", *["--:" if numbers else "---"] * (len(rows[0]) - 1)]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in [rows[0], rule, *rows[1:]]]
