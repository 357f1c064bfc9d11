# SPDX-License-Identifier: Apache-2.0
"""The data of the HTML page: all runs, with every text once, and what a browser needs to show each case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.escaping import printable
from harness.report.ending import Ending
from harness.report.records import VERDICTS, CaseResult, SubjectRecord
from harness.report.side_by_side import titles
from harness.requirements.catalogue import catalogue, grey_area_of, index
from harness.requirements.sources import links_of

# What a page calls a status, in the order of filters.
STATUS_WORDS = {
    "unexpected": "unexpected",
    "flaky": "flaky",
    "improved": "improved",
    "changed": "changed",
    "deviation": "not counted",
    "expected": "known",
    "unsupported": "unsupported",
    "ok": "ok",
}
_ROOM = 2_000_000  # characters of logs, files and messages, so that a page of 5,000 cases stays below 3 MB
_FACTS = ("path", "real_path", "soname", "build_id", "name", "version", "opencl_version", "exports", "capabilities")


class Texts:
    """Every text once; data refers to it by its number."""

    def __init__(self) -> None:
        self.all: list[str] = []
        self.size = 0
        self._numbers: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        number = self._numbers.get(text)
        if number is None:
            number = self._numbers[text] = len(self.all)
            self.all.append(text)
            self.size += len(text)
        return number


def page_data(endings: Sequence[Ending]) -> dict[str, Any]:
    """What the page's scripts read."""
    texts = Texts()
    cases: dict[str, int] = {}
    requirements: dict[str, int] = {}
    of_case: list[list[int]] = []
    for ending in endings:
        for result in ending.results:
            if result.case not in cases:
                cases[result.case] = len(cases)
                named = result.requirements or ("none",)
                of_case.append([requirements.setdefault(i, len(requirements)) for i in named])
    names = titles([ending.header for ending in endings])
    return {
        "runs": [_run(ending, name, cases, texts) for ending, name in zip(endings, names, strict=True)],
        "cases": list(cases),
        "requirementsOfCase": of_case,
        "requirements": [_requirement(identifier) for identifier in requirements],
        "sections": index().titles,
        "order": list(catalogue()),
        "verdicts": list(VERDICTS),
        "statuses": STATUS_WORDS,
        "texts": texts.all,
    }


def _run(ending: Ending, name: str, cases: Mapping[str, int], texts: Texts) -> dict[str, Any]:
    header = ending.header
    return {
        "title": printable(name),
        "word": header.subject.word,
        "started": header.started[:19].replace("T", " "),
        "sentence": printable(ending.sentence()),
        "good": ending.good,
        "subject": _facts(header.subject),
        "usedWith": [_facts(other) for other in header.used_with],
        "machine": {key: str(value) for key, value in header.machine.items()},
        "expectations": header.expectations,
        "arguments": list(header.arguments),
        "results": [_result(result, cases, texts) for result in _important_first(ending.results)],
    }


def _important_first(results: Sequence[CaseResult]) -> list[CaseResult]:
    """Where there is not room for all details, those of unexpected cases are there."""
    return sorted(results, key=lambda r: (not r.counts, r.verdict in ("pass", "unsupported")))


def _facts(subject: SubjectRecord) -> dict[str, str]:
    facts = {"kind": subject.word}
    for name in _FACTS:
        value = subject.facts.get(name)
        if value:
            facts[name] = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return facts


def _result(result: CaseResult, cases: Mapping[str, int], texts: Texts) -> list[Any]:
    """Case, verdict, status, milliseconds, outcome, reason, details; without the last ones where there are none."""
    status = "unsupported" if result.verdict == "unsupported" and not result.counts else result.status
    row: list[Any] = [
        cases[result.case],
        VERDICTS.index(result.verdict),
        list(STATUS_WORDS).index(status),
        round(result.duration * 1000, 1),
        -1 if result.outcome is None else texts(result.outcome),
        -1 if not result.reason else texts(result.reason),
        _details(result, texts),
    ]
    while row[-1] in (-1, None):
        row.pop()
    return row


def _details(result: CaseResult, texts: Texts) -> dict[str, Any] | None:
    if result.verdict in ("pass", "unsupported") and not result.counts and not result.log:
        return None
    details: dict[str, Any] = {}
    if result.expected != ("pass",):
        details["expected"] = list(result.expected)
    if result.expected_outcome is not None:
        details["expectedOutcome"] = texts(result.expected_outcome)
    if result.deviations:
        details["deviations"] = [texts(str(deviation)) for deviation in result.deviations[:50]]
    if result.reproduce:
        details["reproduce"] = texts(result.reproduce)
    if result.sandbox:
        details["sandbox"] = texts(result.sandbox)
    if texts.size > _ROOM:
        details["cut"] = 1
        details["message"] = texts(result.message[:300])
        return details
    details["message"] = texts(result.message[:8000])
    details["log"] = [texts(line.strip()) for line in result.log]
    if len(result.log_times) == len(result.log):
        details["times"] = list(result.log_times)
    details["files"] = [texts(line) for line in result.files]
    details["environment"] = [texts(f"{name}={value}") for name, value in result.environment.items()]
    return {key: value for key, value in details.items() if value not in ([], None)}


def _requirement(identifier: str) -> dict[str, Any]:
    requirement = catalogue().get(identifier)
    if requirement is None:
        return {"id": identifier, "text": "", "strength": "must", "section": "", "source": "", "links": []}
    area = grey_area_of(identifier)
    return {
        "id": identifier,
        "text": requirement.text,
        "strength": requirement.strength,
        "section": requirement.key,
        "source": requirement.source,
        "links": [[f"{link.text} ({link.document})", link.url] for link in links_of(requirement.source)],
        "grey": f"{area.topic}: {area.text}. {area.policy}" if area else "",
    }
