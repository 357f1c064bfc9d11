# SPDX-License-Identifier: Apache-2.0
"""What differs between two runs, case by case: what broke, what was fixed, what is otherwise than before."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from harness.errors import Exit
from harness.escaping import one_line, printable
from harness.report.blocks import Style, short_id, wrap
from harness.report.causes import actual
from harness.report.numbers import counted
from harness.report.records import FORMAT, CaseResult, Header
from harness.report.renamed import renamed
from harness.report.saved import Saved
from harness.requirements.catalogue import catalogue

Kind = Literal["broken", "fixed", "changed", "capability", "new", "gone"]
KINDS: tuple[Kind, ...] = ("broken", "fixed", "changed", "capability", "new", "gone")
TITLES: dict[Kind, str] = {kind: kind for kind in KINDS} | {"capability": "differs in capability"}
MEANING: dict[Kind, str] = {
    "broken": "was right, or less wrong, before",
    "fixed": "is right now",
    "changed": "is otherwise; nothing that was right is wrong",
    "capability": "needs what only one of the two has; nothing broke",
    "new": "has no case before",
    "gone": "has no case after",
}
# Of two products neither comes before the other: nothing broke in one that is right in the other.
_TITLES_OF_PRODUCTS: dict[Kind, str] = {"broken": "worse in the second", "fixed": "better in the second"}
_MEANING_OF_PRODUCTS: dict[Kind, str] = {
    "broken": "is right, or less wrong, in the first",
    "fixed": "is right in the second",
    "changed": "is otherwise; none that is right in the first is wrong in the second",
    "capability": "needs what only one of the two has; nothing else is worse",
    "new": "has no case in the first",
    "gone": "has no case in the second",
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
        """Both verdicts, with what tells them apart; a verdict that is the same on both sides once."""
        if self.before is None or self.after is None or self.before.verdict != self.after.verdict:
            return f"{_told(self.before)} -> {_told(self.after)}"
        if self.before.outcome == self.after.outcome:
            return f"{self.after.verdict}, otherwise"
        return f"{_told(self.before)} -> {self.after.outcome!r}"

    @property
    def lacking(self) -> str:
        """Which side lacks what the case needs, where one of the two has it: "after lacks ICD 2"; else ""."""
        if self.before is None or self.after is None or _lacks(self.before) == _lacks(self.after):
            return ""
        side, result = ("before", self.before) if _lacks(self.before) else ("after", self.after)
        return f"{side} lacks {result.capability}" if result.capability else f"{side}: {result.reason or 'unsupported'}"

    @property
    def was(self) -> str:
        """What was wrong before; "" where nothing was, or where it still counts for nothing."""
        return _wrong(self.before) if self.kind != "broken" else ""

    @property
    def now(self) -> str:
        """What is wrong now; "" where nothing is."""
        return _wrong(self.after)

    @property
    def why(self) -> str:
        """Both in a line."""
        texts = ((word, text) for word, text in (("was", self.was), ("now", self.now)) if text)
        return "; ".join(f"{word}: {text}" for word, text in texts)


@dataclass(frozen=True)
class Comparison:
    """Two runs, and what differs."""

    before: Header
    after: Header
    changes: tuple[Change, ...]
    cases: int  # in both runs
    cut_short: tuple[str, ...] = ()  # which of the runs did not come to their end: "before", "after"
    renamed: int = 0  # of the cases in both runs
    products: bool = False  # two of them, and not one before and after

    def of(self, kind: Kind) -> list[Change]:
        """The changes of one kind, in the order of the plan."""
        return [change for change in self.changes if change.kind == kind]

    def title(self, kind: Kind) -> str:
        """A kind of change in two words or so."""
        return (self.products and _TITLES_OF_PRODUCTS.get(kind)) or TITLES[kind]

    def meaning(self, kind: Kind) -> str:
        """What is so of each change of a kind: a sentence whose subject is the case."""
        return (_MEANING_OF_PRODUCTS if self.products else MEANING)[kind]

    def sentence(self) -> str:
        """What the comparison means."""
        numbers = Counter(change.kind for change in self.changes)
        short = "".join(f" Incomplete: the run {side} was cut short." for side in self.cut_short)
        if not self.cases:
            counts = ", ".join(f"{numbers[kind]} {kind}" for kind in ("new", "gone") if numbers[kind])
            return f"no case is in both runs{f'; {counts}' if counts else ''}.{short}"
        if not self.changes:
            return f"nothing differs in {counted(self.cases, 'case')}.{short}"
        counts = ", ".join(self._count(kind, numbers[kind]) for kind in KINDS if numbers[kind] or kind != "capability")
        other = f", {self.renamed} of them by another name" if self.renamed else ""
        return (
            f"{counts}; {counted(self.cases, 'case')} {'is' if self.cases == 1 else 'are'} in both runs{other}.{short}"
        )

    def _count(self, kind: Kind, number: int) -> str:
        if kind == "capability":
            return f"{number} {'differs' if number == 1 else 'differ'} in capability"
        return f"{number} {self.title(kind)}"

    @property
    def broke(self) -> bool:
        """Whether something is worse than before."""
        return any(change.kind == "broken" for change in self.changes)

    @property
    def good(self) -> bool:
        """Whether both runs are whole, have cases in common, and nothing broke."""
        return self.code == Exit.AS_EXPECTED

    @property
    def code(self) -> Exit:
        """What the command ends with, as a run does: half a comparison is none, whatever it has shown so far."""
        if self.cut_short:
            return Exit.INTERRUPTED
        if not self.cases:
            return Exit.NOTHING_RAN
        return Exit.UNEXPECTED if self.broke else Exit.AS_EXPECTED


def compare(before: Saved, after: Saved) -> Comparison:
    """What differs between two recorded runs, whatever they were expected to show."""
    old = {result.case: result for result in before.planned_order}
    new = {result.case: result for result in after.planned_order}
    names = renamed(old, new)
    old |= {now: old.pop(name) for now, name in names.items()}
    cut_short = tuple(side for side, run in (("before", before), ("after", after)) if not run.complete)
    sparse = before.written < FORMAT, after.written < FORMAT
    others = _others(before.header, after.header)
    changes = [
        Change(kind, old.get(case), new.get(case))
        for case in [*new, *(case for case in old if case not in new)]
        if (kind := _kind(old.get(case), new.get(case), sparse, others))
        and not (kind == "new" and "before" in cut_short)  # it was not reached, which says nothing of it
        and not (kind == "gone" and "after" in cut_short)
    ]
    return Comparison(
        before.header, after.header, tuple(changes), len(old.keys() & new.keys()), cut_short, len(names), others
    )


def _others(before: Header, after: Header) -> bool:
    """Whether these are two products: what one never had, it has not lost. A name that is missing is no sign."""
    names = before.subject.name, after.subject.name
    return all(names) and names[0] != names[1]


def _lacks(result: CaseResult | None) -> bool:
    return result is not None and result.verdict == "unsupported" and result.unsupported == "loader"


def _kind(before: CaseResult | None, after: CaseResult | None, sparse: tuple[bool, bool], others: bool) -> Kind | None:
    """`sparse` says of both records whether they may lack what today's hold; `others`, whether of two products."""
    if before is None or after is None:
        return "new" if before is None else "gone"
    if "unsupported" in (before.verdict, after.verdict):
        if before.verdict == after.verdict:
            return None
        if before.verdict == "pass" and _lacks(after) and not others:
            return "broken"
        return "capability" if _lacks(before) or _lacks(after) else "changed"
    was, now = before.verdict in _RED, after.verdict in _RED
    if was != now:
        return "broken" if now else "fixed"
    if now:
        return _kind_of_red(before, after, sparse)
    return "changed" if _differ(before.outcome, after.outcome, sparse) else None


def _kind_of_red(before: CaseResult, after: CaseResult, sparse: tuple[bool, bool]) -> Kind | None:
    more = set(map(str, after.deviations)) - set(map(str, before.deviations))
    if _WORSE.index(after.verdict) > _WORSE.index(before.verdict) or (more and before.deviations):
        return "broken"
    if before.verdict != after.verdict or _differ(before.deviations, after.deviations, sparse):
        return "changed"
    return None


def _differ(before: object, after: object, sparse: tuple[bool, bool]) -> bool:
    """Whether two sides say otherwise; a side that could not say it says nothing."""
    return before != after and not any(old and not new for old, new in zip(sparse, (before, after), strict=True))


def _wrong(result: CaseResult | None) -> str:
    return actual(result, 2) if result is not None and result.verdict in (*_RED, "unsupported") else ""


def _told(result: CaseResult | None) -> str:
    if result is None:
        return "no case"
    return f"{result.verdict} {result.outcome!r}" if result.outcome is not None else result.verdict


# --- as text ---


def groups(changes: Iterable[Change]) -> list[list[Change]]:
    """Changes of the same requirements from and to the same verdicts, put together; those by one capability as well."""
    result: dict[Hashable, list[Change]] = defaultdict(list)
    for change in changes:
        result[change.lacking or (change.case.requirements, change.how)].append(change)
    return list(result.values())


def title_of(group: Sequence[Change]) -> str:
    """What the changes of a group have in common, besides what its first change says: requirements, or a capability."""
    return group[0].lacking or " ".join(group[0].case.requirements) or "no requirement"


def how_of(group: Sequence[Change]) -> str:
    """Verdicts before and after; where a capability is missing, those of the side that has it."""
    first = group[0]
    if not first.lacking:
        return first.how
    results = [change.before if _lacks(change.after) else change.after for change in group]
    counts = Counter(result.verdict for result in results if result)
    counts_in_words = ", ".join(f"{number} {verdict}" for verdict, number in counts.most_common())
    return f"{counts_in_words} {'before' if _lacks(first.after) else 'after'}"


def compared(header: Header) -> str:
    """A side of the comparison in a line."""
    build = f", build {header.subject.facts['build_id']}" if header.subject.facts.get("build_id") else ""
    return one_line(f"{header.subject.title} ({header.subject.path}{build}, {header.started[:10]})")


def lines(comparison: Comparison, style: Style, width: int, verbose: bool = False) -> list[str]:
    """The comparison as lines of text."""
    verdict = [style(line, "good" if comparison.good else "bad") for line in wrap(comparison.sentence(), width)]
    output = [f"before  {compared(comparison.before)}", f"after   {compared(comparison.after)}"]
    output += ["", *verdict]
    for kind in KINDS:
        changes = comparison.of(kind)
        if not changes:
            continue
        each = "" if len(changes) == 1 else "each "
        title = f"{comparison.title(kind).upper()}: {counted(len(changes), 'case')}: {each}{comparison.meaning(kind)}"
        output += ["", *(style(line, "bold") for line in wrap(title, width))]
        all_groups = groups(changes)
        if kind == "capability":
            output += _capabilities(all_groups, width, verbose)
            continue
        for group in all_groups[: None if verbose else _SHOWN]:
            output += _group(group, kind, width, verbose)
        if not verbose and len(all_groups) > _SHOWN:
            output += _rest(all_groups[_SHOWN:], width)
    return [*output, "", *verdict] if comparison.changes else output


def _capabilities(all_groups: Sequence[Sequence[Change]], width: int, verbose: bool) -> list[str]:
    """A line for each capability: who lacks it, and what the cases do where it is there."""
    output = []
    for group in sorted(all_groups, key=len, reverse=True):
        first, *more = wrap(f"{printable(title_of(group))} ({how_of(group)})", width, "       ", 3)
        output += [f"{len(group):5}{first[5:]}", *more]
        if verbose:
            output += [f"       {one_line(short_id(change.case))}" for change in group]
    return output


def _rest(more: Sequence[Sequence[Change]], width: int) -> list[str]:
    """Groups that are not shown, by what they have in common."""
    counts: Counter[str] = Counter()
    for group in more:
        counts[group[0].lacking or group[0].how] += len(group)
    message = ", ".join(f"{counted(number, 'case')} {how}" for how, number in counts.most_common(3))
    others = f", and {len(counts) - 3} other kinds of change" if len(counts) > 3 else ""
    groups_ = "1 more group" if len(more) == 1 else f"{len(more)} more groups"
    return wrap(f"and {groups_} (--verbose): {printable(message)}{others}", width, "  ")


def _group(group: Sequence[Change], kind: Kind, width: int, verbose: bool) -> list[str]:
    first = group[0]
    count = f"{len(group)} cases, the first of which is" if len(group) > 1 else ""
    output = wrap(f"{printable(title_of(group))}  {printable(how_of(group))}  {count}".rstrip(), width, "  ")
    output.append(f"    {one_line(short_id(first.case))}")  # whole: it is copied
    if kind not in ("new", "gone") or verbose:
        known = catalogue().get(first.case.requirements[0]) if first.case.requirements else None
        if known:
            output += wrap(f"{known.strength}: {known.text}", width, "    ", 2)
        output += [
            line
            for word, text in (("was", first.was), ("now", first.now))
            if text
            for line in wrap(f"{word}: {printable(text)}", width, "    ", 2)
        ]
    if kind == "broken" and first.case.reproduce:
        output.append(f"    {one_line(first.case.reproduce)}")
    if verbose:
        output += [f"    {one_line(short_id(change.case))}" for change in group[1:]]
    return output
