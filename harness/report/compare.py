# SPDX-License-Identifier: Apache-2.0
"""What differs between two runs, case by case: what broke, what was fixed, what is otherwise than before."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from harness.escaping import printable
from harness.report.blocks import Style, cut, short_id
from harness.report.causes import actual
from harness.report.records import CaseResult, Header
from harness.report.saved import Saved
from harness.requirements.catalogue import catalogue

Kind = Literal["broken", "fixed", "changed", "new", "gone"]
KINDS: tuple[Kind, ...] = ("broken", "fixed", "changed", "new", "gone")
MEANING: dict[Kind, str] = {
    "broken": "was right, or less wrong, before",
    "fixed": "is right now",
    "changed": "is otherwise, and not wrong or not more wrong",
    "new": "has no case before",
    "gone": "has no case after",
}
_RED = ("fail", "crash", "hang", "leak", "error")
_WORSE = ("fail", "leak", "crash", "hang", "error")  # from what a program may survive to what it does not
_SHOWN = 12  # groups of each kind on the terminal


@dataclass(frozen=True)
class Change:
    """A case that differs."""

    kind: Kind
    before: CaseResult | None
    after: CaseResult | None

    @property
    def case(self) -> CaseResult:
        """The newer of the two results."""
        result = self.after or self.before
        assert result is not None
        return result

    @property
    def how(self) -> str:
        """Both verdicts, with what tells them apart."""
        return f"{_told(self.before)} -> {_told(self.after)}"

    @property
    def why(self) -> str:
        """What happens now, or what was wrong before."""
        if self.kind == "changed" and self.after is not None and self.after.outcome is not None:
            return ""
        red = self.after if self.after is not None and self.after.verdict in (*_RED, "unsupported") else self.before
        return actual(red, 2) if red is not None and red.verdict in (*_RED, "unsupported") else ""


@dataclass(frozen=True)
class Comparison:
    """Two runs, and what differs."""

    before: Header
    after: Header
    changes: tuple[Change, ...]
    cases: int  # in both runs

    def of(self, kind: Kind) -> list[Change]:
        """The changes of one kind, in the order of the plan."""
        return [change for change in self.changes if change.kind == kind]

    def sentence(self) -> str:
        """What the comparison means."""
        numbers = Counter(change.kind for change in self.changes)
        if not self.changes:
            return f"nothing differs in {self.cases} cases."
        counts = ", ".join(f"{numbers[kind]} {kind}" for kind in KINDS)
        return f"{counts}; {self.cases} cases are in both runs."

    @property
    def broke(self) -> bool:
        """Whether something is worse than before."""
        return any(change.kind == "broken" for change in self.changes)


def compare(before: Saved, after: Saved) -> Comparison:
    """What differs between two recorded runs, whatever they were expected to show."""
    old = {result.case: result for result in before.planned_order}
    new = {result.case: result for result in after.planned_order}
    changes = [
        Change(kind, old.get(case), new.get(case))
        for case in [*new, *(case for case in old if case not in new)]
        if (kind := _kind(old.get(case), new.get(case)))
    ]
    return Comparison(before.header, after.header, tuple(changes), len(old.keys() & new.keys()))


def _kind(before: CaseResult | None, after: CaseResult | None) -> Kind | None:
    if before is None or after is None:
        return "new" if before is None else "gone"
    was, now = before.verdict in _RED, after.verdict in _RED
    if was != now:
        return "broken" if now else "fixed"
    if now:
        more = set(map(str, after.deviations)) - set(map(str, before.deviations))
        if _WORSE.index(after.verdict) > _WORSE.index(before.verdict) or (more and before.deviations):
            return "broken"
        return "changed" if (before.verdict, before.deviations) != (after.verdict, after.deviations) else None
    if before.verdict == "pass" and after.unsupported == "loader":
        return "broken"  # it has lost a capability
    return "changed" if (before.verdict, before.outcome) != (after.verdict, after.outcome) else None


def _told(result: CaseResult | None) -> str:
    if result is None:
        return "no case"
    return f"{result.verdict} {result.outcome!r}" if result.outcome is not None else result.verdict


# --- as text ---


def groups(changes: Iterable[Change]) -> list[list[Change]]:
    """Changes of the same requirements from and to the same verdicts, put together."""
    found: dict[Hashable, list[Change]] = defaultdict(list)
    for change in changes:
        found[change.case.requirements, change.how].append(change)
    return list(found.values())


def compared(header: Header) -> str:
    """A side of the comparison in a line."""
    build = f", build {header.subject.facts['build_id']}" if header.subject.facts.get("build_id") else ""
    return f"{header.subject.title} ({header.subject.path}{build}, {header.started[:10]})"


def lines(comparison: Comparison, style: Style, width: int, verbose: bool = False) -> list[str]:
    """The comparison as lines of text."""
    verdict = style(comparison.sentence(), "bad" if comparison.broke else "good")
    told = [f"before  {printable(compared(comparison.before))}", f"after   {printable(compared(comparison.after))}"]
    told += ["", verdict]
    for kind in KINDS:
        changes = comparison.of(kind)
        if not changes:
            continue
        told += ["", style(f"{kind.upper()}: {len(changes)} cases: each {MEANING[kind]}", "bold")]
        all_groups = groups(changes)
        for group in all_groups[: None if verbose else _SHOWN]:
            told += _group(group, kind, width, verbose)
        if not verbose and len(all_groups) > _SHOWN:
            told.append(f"  and {len(all_groups) - _SHOWN} more groups (--verbose)")
    return [*told, "", verdict] if comparison.changes else told


def _group(group: Sequence[Change], kind: Kind, width: int, verbose: bool) -> list[str]:
    first = group[0]
    count = f"{len(group)} cases, first " if len(group) > 1 else ""
    identifiers = " ".join(first.case.requirements) or "no requirement"
    told = [cut(f"  {identifiers}  {first.how}  {count}{printable(short_id(first.case))}", width)]
    if kind in ("new", "gone") and not verbose:
        return told
    known = catalogue().get(first.case.requirements[0]) if first.case.requirements else None
    if known:
        told.append(cut(f"    {known.strength}: {known.text}", width))
    if first.why:
        told.append(cut(f"    {'now' if kind == 'broken' else 'was'}: {printable(first.why)}", width))
    if kind == "broken" and first.case.reproduce:
        told.append(f"    {printable(first.case.reproduce)}")
    if verbose:
        told += [f"    {printable(short_id(change.case))}" for change in group[1:]]
    return told
