# SPDX-License-Identifier: Apache-2.0
"""Cases that are red for one cause, put together: what fails twenty times for one reason is told once."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter

from harness.report.records import VERDICTS, CaseResult
from harness.requirements.catalogue import STRENGTHS, catalogue

# What differs between two functions, or two runs: names, numbers, and the class of object that a function takes.
_VARYING = re.compile(
    r"\b(?:cl|vk)[A-Z]\w+|\b0x[0-9a-f]+\b|\b\d+\b|'[^']*'"
    r"|\bCL_INVALID_(?:PLATFORM|DEVICE|CONTEXT|COMMAND_QUEUE|MEM_OBJECT|SAMPLER|PROGRAM|KERNEL|EVENT)\b"
)
# Elements of a list that are equal, each after the other: how many there are, a parameter of the case may decide.
_REPEATED = re.compile(r"(?<![^\s,()\[\]{}])([^\s,()\[\]{}][^,()\[\]{}]*|\[\]|\(\)|\{\})(?:, \1(?![^,()\[\]{}]))+")
_COMPARED = 100  # characters of a text: deviations are cut, at different places where names differ in length
_HINT = re.compile(r"Omitting |Differing items:|Use -v|Full diff:|\.\.\.Full output")
_IDLE = re.compile(r"\d+ of \d+ calls|=+|AddressSanitizer:DEADLYSIGNAL")  # lines that say nothing of a crash
# How urgent a verdict is, most urgent first: what the harness could not judge, then what ends a process.
_URGENCY = ("error", "crash", "hang", "leak", "fail", "unsupported", "pass")


@dataclass(frozen=True)
class Cause:
    """Cases with the same requirements that deviate in the same way, in the order of the plan."""

    cases: tuple[CaseResult, ...]

    @property
    def first(self) -> CaseResult:
        """The case that stands for all of them."""
        return self.cases[0]

    @property
    def test(self) -> str:
        """The ID of its first case without parameters."""
        return self.first.case.partition("[")[0]


def causes(results: Iterable[CaseResult]) -> list[Cause]:
    """The cases by cause, most urgent first: by verdict, then strength, then the order of the catalogue.

    Of causes that are equally urgent, those that one test shows take turns with those of others, so that no test,
    however many causes it shows, hides the rest.
    """
    groups: dict[Hashable, list[CaseResult]] = defaultdict(list)
    for result in results:
        groups[_key(result)].append(result)
    before: Counter[Hashable] = Counter()
    placed = []
    for cause in sorted((Cause(tuple(group)) for group in groups.values()), key=_urgency):
        verdict, strength, place = _urgency(cause)
        turn = (verdict, strength, cause.test)
        placed.append(((verdict, strength, before[turn], place), cause))
        before[turn] += 1
    return [cause for _, cause in sorted(placed, key=itemgetter(0))]


def _key(result: CaseResult) -> Hashable:
    common = (result.status, result.verdict, result.requirements)
    if result.status == "improved" or result.verdict == "unsupported":
        return *common, result.reason
    if result.status == "changed":
        return *common, result.outcome
    return *common, frozenset(_steady(how) for how in _hows(result))


def _hows(result: CaseResult) -> list[str]:
    return [deviation.how for deviation in result.deviations] or actual_lines(result)[:1]


def _steady(text: str) -> str:
    """The text without what differs between two functions or two runs, and with equal elements of lists once."""
    return _REPEATED.sub(r"\1", _VARYING.sub("*", text))[:_COMPARED]


def _urgency(cause: Cause) -> tuple[int, int, int]:
    first = cause.first
    order = list(catalogue())
    place = order.index(first.requirements[0]) if first.requirements and first.requirements[0] in order else len(order)
    return _URGENCY.index(first.verdict), STRENGTHS.index(first.strength), place


def sentence_of(result: CaseResult) -> str:
    """What must hold, as the check says it: the first line of the message; "" where there is no message."""
    return result.message.strip().partition("\n")[0] if result.verdict not in ("pass", "unsupported") else ""


def actual_lines(result: CaseResult) -> list[str]:
    """What happened, line by line, without the sentence of the check and without what pytest explains of it."""
    lines = result.message.strip().splitlines()[1:] or result.message.strip().splitlines()
    return [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("+")]


def actual(result: CaseResult, most: int = 3) -> str:
    """What happened, in one line."""
    if result.status == "improved":
        return f"{result.verdict}: the known deviation is gone ({result.reason})"
    if result.status == "flaky":
        return f"several runs differ: {result.runs_in_words}"
    if result.status == "changed":
        if result.expected_outcome is None:
            return f"{result.outcome!r}, which is not on record, as every outcome of this version is"
        return f"{result.outcome!r}; on record is {result.expected_outcome!r}"
    if result.verdict == "unsupported":
        return f"unsupported: {result.reason or 'no reason given'}"
    texts = [str(deviation) for deviation in result.deviations]
    lines = actual_lines(result)
    if len(lines) > 1 and texts == lines[:1] and lines[1].startswith("assert "):
        texts = [f"{lines[0]}: {lines[1]}"]  # which of several it was, and what that answered
    unlisted = (result.reason or "").partition("not listed: ")[2]
    if unlisted:
        texts = [f"{unlisted} (not listed in the expectation file)"]
    elif texts and texts[0].startswith("assert ") and "*" in texts[0]:
        texts = _in_full(lines) or texts
    if not texts or result.verdict in ("crash", "hang", "leak", "error"):
        shown = [line for line in actual_lines(result) if not _IDLE.fullmatch(line)]
        texts = [*(text for text in texts if not any(line.startswith(text) for line in shown)), *shown]
    rest = len(texts) - most
    return "; ".join([*texts[:most], *([f"and {rest} more"] if rest > 0 else [])]) or result.verdict


def _in_full(lines: Sequence[str]) -> list[str]:
    """What an assertion says with all that varies between runs, which deviations leave out; [] if it says none."""
    if not lines or not lines[0].startswith("assert "):
        return []
    lines_told = [line for line in lines if not _HINT.match(line)]
    items = [line for line in lines_told[1:] if " != " in line]
    return items or lines_told  # items of two dictionaries say more than what fits of both


def by_reason(results: Sequence[CaseResult]) -> list[tuple[str, list[CaseResult]]]:
    """Cases by the reason on record, in the order of the catalogue; those without a reason by their requirement."""
    groups: dict[str, list[CaseResult]] = defaultdict(list)
    for result in sorted(results, key=lambda r: _urgency(Cause((r,)))[2]):
        groups[result.reason or f"no reason given ({' '.join(result.requirements)})"].append(result)
    return list(groups.items())


def verdicts_of(results: Iterable[CaseResult]) -> str:
    """The verdicts of several cases, such as "crash, fail"."""
    seen = {result.verdict for result in results}
    return ", ".join(verdict for verdict in VERDICTS if verdict in seen)
