# SPDX-License-Identifier: Apache-2.0
"""What a mutation run prints."""

from __future__ import annotations

import os
import textwrap
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from harness.mutation.campaign import Campaign
from harness.mutation.operators import shown
from harness.mutation.results import ERROR, FOUND, LOST, NOT_COUNTED, SURVIVED, Fate

TITLES = {
    SURVIVED: "Survived: no case noticed",
    ERROR: "Noticed only by an error of the harness",
    LOST: "Without a verdict",
}


def share(fates: Sequence[Fate]) -> float:
    """Of the mutants that count, how many the suites find, from 0 to 1."""
    counted = [fate for fate in fates if fate.counts]
    return sum(fate.state == FOUND for fate in counted) / len(counted) if counted else 0.0


def groups(fates: Sequence[Fate]) -> tuple[dict[str, list[Fate]], dict[str, list[Fate]]]:
    """The mutants that count, by file and by operator."""
    by_file: dict[str, list[Fate]] = {}
    by_operator: dict[str, list[Fate]] = {}
    for fate in fates:
        if fate.counts:
            by_file.setdefault(place(fate.mutant.file), []).append(fate)
            by_operator.setdefault(fate.mutant.operator, []).append(fate)
    return by_file, by_operator


def _table(title: str, of_name: dict[str, list[Fate]]) -> list[str]:
    width = max(map(len, [title, *of_name]))
    lines = [f"{title:<{width}}  mutants  found  share"]
    for name, fates in sorted(of_name.items()):
        result = sum(fate.state == FOUND for fate in fates)
        lines.append(f"{name:<{width}}  {len(fates):>7}  {result:>5}  {result / len(fates):>5.0%}")
    return lines


def place(path: Path) -> str:
    """A path as a reader of the report finds it: from the current folder, unless that is far away."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("../..") else relative


def of_state(fates: Sequence[Fate], state: str) -> list[Fate]:
    """The fates in a state, in the order of the sources."""
    return sorted((f for f in fates if f.state == state), key=lambda fate: (fate.mutant.file, fate.mutant.start))


def reached(fate: Fate) -> str:
    """How many cases reach a survivor, in words."""
    if fate.reached_by is None:
        return "all cases ran"
    if not fate.reached_by:
        return "no case reaches it"
    return f"{fate.reached_by} cases reach it, {fate.ran} ran"


def nearest(fate: Fate) -> Sequence[str]:
    """The checks that are nearest to a survivor which cases reach."""
    return fate.near[:3] if fate.reached_by else ()


def _survivor(fate: Fate, width: int) -> list[str]:
    """What changed, how many cases reach it, and the names of the nearest checks, each of which is unique."""
    mutant = fate.mutant
    head = f"{place(mutant.file)}:{mutant.line} {mutant.function}(): {mutant.operator}"
    survived = fate.state == SURVIVED
    checks = [check.rpartition("::")[2] for check in nearest(fate)] if survived else []
    detail = reached(fate) + "; nearest:" * bool(checks) if survived else shown(fate.message)
    details = [f"{shown(mutant.before)} → {shown(mutant.after)}", detail]
    rows = [("  ", head), *(("    ", text) for text in details), *(("      ", check) for check in checks)]
    return [line for indent, text in rows for line in _folded(text, width, indent)]


def _folded(text: str, width: int, indent: str) -> list[str]:
    return [indent + line for line in _wrapped(text, max(width - len(indent), 30))]


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False) or [""]


def lines(campaign: Campaign, seconds: float, width: int = 100) -> list[str]:
    """The report as text, in lines of at most `width` characters where paths allow that."""
    fates = campaign.fates
    by_file, by_operator = groups(fates)
    report = [*_table("file", by_file), "", *_table("operator", by_operator), ""] if by_file else []
    for state, title in TITLES.items():
        group = of_state(fates, state)
        report += [f"{title}: {len(group)}"] * bool(group)
        report += [line for fate in group for line in _survivor(fate, width)]
    if campaign.suites and campaign.suites.unstable:
        names = sorted(campaign.suites.items[n].nodeid for n in campaign.suites.unstable)
        report += ["Left out, as they do not always do the same with the unchanged library:"]
        report += [f"  {name}" for name in names]
    return [*report, *_reached_lines(campaign), *_folded(summary(campaign, seconds), width, "")]


def _reached_lines(campaign: Campaign) -> list[str]:
    """How much of each file the cases reach."""
    reach = campaign.suites.reach if campaign.suites else None
    rows = [(source, *reach.reached(source)) for source in campaign.subject.sources] if reach else []
    return [f"Lines that cases reach, {place(source)}: {n} of {of} ({n / of:.1%})" for source, of, n in rows if of]


def summary(campaign: Campaign, seconds: float) -> str:
    """The campaign in one sentence; `seconds` is what it took."""
    fates = campaign.fates
    states = Counter(fate.state for fate in fates)
    states["not tried"] = len(campaign.mutants) - len(fates)
    rest = ", ".join(f"{states[state]} {state}" for state in (*NOT_COUNTED, "not tried") if states[state])
    counted = sum(fate.counts for fate in fates)
    cases = len(campaign.suites.items) if campaign.suites else 0
    how = " without an expectation file" if campaign.own else ""
    return (f"{states[FOUND]} of {counted} mutants found{how} ({share(fates):.1%}), {cases} cases, {seconds:.0f} s"
            + (f"; not counted: {rest}." if rest else "."))  # fmt: skip
