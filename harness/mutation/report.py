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
from harness.mutation.results import ERROR, FILE, FOUND, LOST, NOT_COUNTED, STRICT, SURVIVED, Fate

TITLES = {
    STRICT: "Shown, but red with --strict alone: what fails is should or de-facto",
    FILE: "Red with an expectation file alone: no requirement is broken",
    SURVIVED: "Survived: no case noticed",
    ERROR: "Noticed only by an error of the harness",
    LOST: "Without a verdict",
}


def share(fates: Sequence[Fate]) -> float:
    """Of the mutants that count, how many the suites find, from 0 to 1."""
    counted = [fate for fate in fates if fate.counts]
    return sum(fate.state == FOUND for fate in counted) / len(counted) if counted else 0.0


def figures(fates: Sequence[Fate]) -> dict[str, int]:
    """How many mutants count, and how many of them are red by whom; each number has that before it within it."""
    states = Counter(fate.state for fate in fates if fate.counts)
    red, strict, file = states[FOUND], states[STRICT], states[FILE]
    result = {"mutants": states.total(), "red": red, "red with --strict": red + strict}
    return result | {"red with an expectation file": red + strict + file}


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


def detail(fate: Fate) -> str:
    """What there is to say of a mutant that was not found: who would have noticed, or how many cases did not."""
    if fate.state == SURVIVED:
        return reached(fate) + "; nearest:" * bool(nearest(fate))
    return f"{fate.verdict}, {fate.message}" if fate.state in (STRICT, FILE) else fate.message


def checks_of(fate: Fate) -> Sequence[str]:
    """The check that noticed a mutant, or those that are nearest."""
    return nearest(fate) if fate.state == SURVIVED else [fate.case] * (fate.state in (STRICT, FILE))


def _survivor(fate: Fate, width: int) -> list[str]:
    """What changed, what became of it, and the names of checks, each of which is unique."""
    mutant = fate.mutant
    head = f"{place(mutant.file)}:{mutant.line} {mutant.function}(): {mutant.operator}"
    checks = [check.rpartition("::")[2] for check in checks_of(fate)]
    details = [f"{shown(mutant.before)} → {shown(mutant.after)}", shown(detail(fate))]
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
    cases = len(campaign.suites.items) if campaign.suites else 0
    numbers = figures(fates)
    counted = numbers["mutants"]

    def part(name: str) -> str:
        return f"{numbers[name]} ({numbers[name] / counted if counted else 0:.1%})"

    result = f"{numbers['red']} of {counted} mutants found ({share(fates):.1%})"
    if campaign.own:
        result = (
            f"{numbers['red']} of {counted} mutants found without an expectation file ({share(fates):.1%}), "
            f"with --strict {part('red with --strict')}, with a file {part('red with an expectation file')}"
        )
    return f"{result}, {cases} cases, {seconds:.0f} s" + (f"; not counted: {rest}." if rest else ".")
