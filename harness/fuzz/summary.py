# SPDX-License-Identifier: Apache-2.0
"""What a campaign says at its end: for people, and as JSON."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from harness.escaping import printable
from harness.fuzz import history
from harness.fuzz.campaign import Campaign, State
from harness.fuzz.causes import causes
from harness.fuzz.findings import Finding
from harness.fuzz.subject import FuzzSubject
from harness.report.blocks import wrap

_FIRST_WORDS, _LAST_WORDS = 2, 5  # lines of a description that the summary shows: the last ones did it
_MOST_LINES = 6  # in which each of them is folded


def lines(campaign: Campaign, subject: FuzzSubject, interrupted: bool, width: int = 100) -> list[str]:
    """The end of a campaign for a terminal of that width: a line a target, then the findings."""
    unit = "blocks" if subject.coverage == "breakpoints" else "edges"
    text = ["", f"subject: {subject.path}: {subject.words}", ""]
    text.append(f"{'target':20}{'inputs':>12}{'a second':>10}{unit:>8}{'corpus':>8}{'seconds':>9}{'findings':>10}")
    for target in campaign.targets:
        state = campaign.states[target.name]
        count = sum(1 for finding in campaign.findings if finding.target == target.name)
        text.append(
            f"{target.name:20}{state.inputs:12,}{_rate(state):10,.0f}{state.edges:8}{state.corpus:8}"
            f"{state.seconds:9.0f}{count:10}"
        )
        text += [f"  {state.resting}"] if state.resting else []
        text += [f"  {state.cut}: {printable(error)}" for error in state.errors[:1]]
        text += [
            f"  not confirmed: {key}: {printable(sentence)}" for key, sentence in sorted(state.unconfirmed.items())
        ]
    for group in causes(campaign.findings):
        text += _finding(group[0], width)
        text += _rest(group[1:])
    for finding in campaign.gone:
        text += ["", f"no longer happens: {finding.target}: {finding.kind} {finding.key}", f"  {finding.folder}"]
    text += ["", _last(campaign, interrupted)]
    return text


def _rate(state: State) -> float:
    return state.inputs / state.seconds if state.seconds else 0.0


def _finding(finding: Finding, width: int) -> list[str]:
    text = ["", f"{finding.target}: {finding.kind} in {finding.place} ({finding.size} bytes)"]
    text.append(f"  {printable(finding.sentence)}")
    text += [f"  at {finding.source}"] if finding.source else []
    for line in _shown(finding.words()):
        first, *more = wrap(f"input: {printable(line)}", width, "         ", _MOST_LINES)
        text += [f"  {first.lstrip()}", *more]
    if finding.before:
        inputs = "input" if finding.before == 1 else f"{finding.before} inputs"
        text.append(f"  after the {inputs} in {finding.folder}/before")
    if not finding.stable:
        text.append("  unstable: a fresh process does not show it each time, so that it was not made smaller")
    if finding.times > 1:
        text.append(f"  it ended a process {finding.times} times")
    text.append(f"  replay:      {finding.folder}/reproduce.sh")
    text.append(f"  regression:  clharness fuzz --keep NAME {finding.folder}")
    return text


def _shown(words: Sequence[str]) -> Sequence[str]:
    left_out = len(words) - _FIRST_WORDS - _LAST_WORDS
    if left_out <= 1:
        return words
    return [*words[:_FIRST_WORDS], f"… {left_out} more, in description.txt …", *words[-_LAST_WORDS:]]


def _rest(others: Sequence[Finding]) -> list[str]:
    """Findings that seem to have the cause of the one before them: where, and how each is replayed."""
    if not others:
        return []
    text = [f"  probably the same defect, by its calls or by its input ({len(others)} more):"]
    for one in others:
        text += [f"    {one.target}: {one.kind} in {one.place}", f"      replay:  {one.folder}/reproduce.sh"]
    return text


def _last(campaign: Campaign, interrupted: bool) -> str:
    count = len(campaign.findings)
    defects = len(causes(campaign.findings))
    total = "nothing was found" if not count else f"{count} finding{'' if count == 1 else 's'}"
    total += f" of probably {defects} defect{'' if defects == 1 else 's'}" if defects < count else ""
    ends = defaultdict(list)
    for name, state in campaign.states.items():
        if state.errors:
            ends[state.cut].append(name)
    cut = "".join(f"; {', '.join(names)} {end}" for end, names in ends.items())
    cut += "; interrupted" if interrupted else ""
    return f"{total}{cut}; corpora, findings and {history.PAGE} are in {campaign.out}"


def as_json(campaign: Campaign, subject: FuzzSubject, interrupted: bool) -> dict[str, Any]:
    """The end of a campaign as --json writes it."""
    targets: Sequence[dict[str, Any]] = [
        {
            "target": target.name,
            "mode": target.setting.mode,
            "inputs": state.inputs,
            "inputs_per_second": round(_rate(state), 1),
            "coverage": state.edges,
            "corpus": state.corpus,
            "seconds": round(state.seconds, 1),
            "all_inputs": state.all_inputs,
            "all_seconds": round(state.all_seconds, 1),
            "resting": state.resting or None,
            "errors": state.errors,
            "unconfirmed": state.unconfirmed,
        }
        for target in campaign.targets
        for state in [campaign.states[target.name]]
    ]
    numbers = {one.folder: number for number, group in enumerate(causes(campaign.findings)) for one in group}
    return {
        "subject": {
            "path": str(subject.path),
            "sha256": subject.sha256,
            "coverage": subject.coverage,
            "address_sanitizer": subject.sanitized,
        },
        "folder": str(campaign.out),
        "interrupted": interrupted,
        "targets": targets,
        "findings": [
            asdict(finding) | {"description": finding.words(), "cause": numbers[finding.folder]}
            for finding in campaign.findings
        ],
        "gone": [asdict(finding) for finding in campaign.gone],
    }
