# SPDX-License-Identifier: Apache-2.0
"""What a mutation run prints and writes."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

from ci.mutation.campaign import ERROR, FOUND, LOST, NOT_COUNTED, SURVIVED, Campaign, Fate
from ci.mutation.operators import shown


def share(campaign: Campaign) -> float:
    """Of the mutants that count, how many the suites find, from 0 to 1."""
    counted = [fate for fate in campaign.fates if fate.counts]
    return sum(fate.state == FOUND for fate in counted) / len(counted) if counted else 0.0


def _table(title: str, groups: dict[str, list[Fate]]) -> list[str]:
    width = max(map(len, [title, *groups]))
    lines = [f"{title:<{width}}  mutants  found  share"]
    for name, fates in sorted(groups.items()):
        found = sum(fate.state == FOUND for fate in fates)
        lines.append(f"{name:<{width}}  {len(fates):>7}  {found:>5}  {found / len(fates):>5.0%}")
    return lines


def place(path: Path) -> str:
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("../..") else relative


def lines(campaign: Campaign, seconds: float) -> list[str]:
    """The report as text."""
    by_file: dict[str, list[Fate]] = {}
    by_operator: dict[str, list[Fate]] = {}
    counted = [fate for fate in campaign.fates if fate.counts]
    for fate in counted:
        by_file.setdefault(place(fate.mutant.file), []).append(fate)
        by_operator.setdefault(fate.mutant.operator, []).append(fate)
    report = [*_table("file", by_file), "", *_table("operator", by_operator), ""] if counted else []
    titles = {
        SURVIVED: "Survived: no case noticed",
        ERROR: "Noticed only by an error of the harness",
        LOST: "Without a verdict",
    }
    for state, title in titles.items():
        of_state = [fate for fate in counted if fate.state == state]
        report += [f"{title}: {len(of_state)}"] * bool(of_state)
        for fate in sorted(of_state, key=lambda fate: (fate.mutant.file, fate.mutant.start)):
            mutant = fate.mutant
            report.append(f"  {place(mutant.file)}:{mutant.line} {mutant.function}(): {mutant.operator}: "
                          f"{shown(mutant.before)} → {shown(mutant.after)}")  # fmt: skip
            if why := fate.answer.error_only or (fate.answer.message if state == LOST else ""):
                report.append(f"    {shown(why)}")
    if campaign.suites and campaign.suites.unstable:
        names = sorted(campaign.suites.items[n].nodeid for n in campaign.suites.unstable)
        report += ["Left out, as they do not always do the same with the unchanged library:"]
        report += [f"  {name}" for name in names]
    states = Counter(fate.state for fate in campaign.fates)
    states["not reached"] = len(campaign.mutants) - len(campaign.fates)
    rest = ", ".join(f"{states[state]} {state}" for state in (*NOT_COUNTED, "not reached") if states[state])
    found = states[FOUND]
    cases = len(campaign.suites.items) if campaign.suites else 0
    report.append(f"{found} of {len(counted)} mutants found ({share(campaign):.1%}), {cases} cases, {seconds:.0f} s"
                  + (f"; not counted: {rest}." if rest else "."))  # fmt: skip
    return report


def as_json(campaign: Campaign, seconds: float) -> dict[str, Any]:
    """The same for programs."""
    suites = campaign.suites
    return {
        "format": 1,
        "seconds": round(seconds, 1),
        "cases": len(suites.items) if suites else 0,
        "unstable": sorted(suites.items[n].nodeid for n in suites.unstable) if suites else [],
        "share": round(share(campaign), 4),
        "mutants": [_fate(fate) for fate in campaign.fates],
    }


def _fate(fate: Fate) -> dict[str, Any]:
    mutant, answer = fate.mutant, fate.answer
    return {
        "file": place(mutant.file),
        "line": mutant.line,
        "column": mutant.column,
        "function": mutant.function,
        "operator": mutant.operator,
        "before": mutant.before,
        "after": mutant.after,
        "state": fate.state,
        "found_by": fate.case or None,
        "verdict": answer.verdict or None,
        "message": answer.message or answer.error_only,
        "cases": answer.ran,
        "seconds": round(answer.seconds, 2),
    }
