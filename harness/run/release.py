# SPDX-License-Identifier: Apache-2.0
"""`clharness icd … --release DIR`: writes the report of a release from the records of the run."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from harness.api.contract.queries import queries
from harness.api.contract.rules import rules, states
from harness.api.model import api
from harness.errors import UsageError
from harness.expectations import Expectations, load
from harness.expectations.abilities import abilities
from harness.report import CaseResult, saved
from harness.report.compare import compare
from harness.report.ending import recorded_ending
from harness.report.release import Release, Section, as_markdown, as_page

RECORDS = "records.jsonl"
_FUNCTION = re.compile(r"(?<![A-Za-z0-9])cl[A-Z][A-Za-z0-9]*")


def prepare(text: str, records: str | None) -> tuple[Path, Path]:
    """Makes the folder of a report; gives it, and where the records of the run go. Raises UsageError."""
    folder = Path(text).absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--release {text}: {(error.strerror or str(error)).lower()}") from None
    return folder, Path(records).absolute() if records else folder / RECORDS


def write(folder: Path, records: Path, previous: Path | None) -> None:
    """Writes release.md and release.html. Raises UsageError where records cannot be read, OSError."""
    run = saved.read(records, "--json")
    file, tested = run.header.expectations, run.header.subject
    able = abilities(tested.facts, lambda: run.header.loaders)
    expectations = load(Path(file), tested.version or None, able) if file and Path(file).exists() else Expectations()
    before = saved.read(previous, "--previous") if previous else None
    comparison = compare(before, run) if before else None
    ending = recorded_ending(run)
    if not run.complete:
        ending = dataclasses.replace(
            ending, troubles=["The run was cut short: what did not run is not in this report."]
        )
    coverage = [by_function(run.results), by_query(run.results)]
    release = Release(ending, run.version or "unknown", expectations, comparison, coverage)
    (folder / "release.md").write_text(as_markdown(release), encoding="utf-8", errors="backslashreplace")
    (folder / "release.html").write_text(as_page(release), encoding="utf-8", errors="backslashreplace")


def by_function(results: Sequence[CaseResult]) -> Section:
    """How many cases are about each function of the API, by what they came to."""
    verdicts: dict[str, Counter[str]] = {name: Counter() for name in api().functions}
    for result in results:
        for name in set(_FUNCTION.findall(result.name)) & set(verdicts):
            verdicts[name][result.verdict] += 1
    improper = Counter(rule.function for rule in (*rules(), *states()))
    counts = Counter(query.function for query in queries())
    rows = [
        (
            name,
            str(sum(matches.values())),
            ", ".join(f"{n} {v}" for v, n in matches.items()),
            str(improper[name]),
            str(counts[name]),
        )
        for name, matches in verdicts.items()
    ]
    ran = sum(any(v != "unsupported" for v in matches) for matches in verdicts.values())
    message = (
        f"{ran} of {len(rows)} functions have cases of their own that ran; others are called by cases about objects."
    )
    return Section(
        "Coverage by function", [message], ("function", "cases", "verdicts", "improper calls", "queries"), rows
    )


def by_query(results: Sequence[CaseResult]) -> Section:
    """What each query of the contract came to: its function's cases ran, and none, or some, deviated at its name."""
    ran = {name for r in results if r.verdict not in ("unsupported", "error") for name in _FUNCTION.findall(r.name)}
    wrong = Counter(name for r in results for d in r.deviations for name in set(re.findall(r"\bCL_\w+", d.what)))
    rows = [
        (query.function, query.name, "asked" if query.function in ran else "not asked", str(wrong[query.name] or ""))
        for query in queries()
    ]
    count = sum(row[2] == "asked" for row in rows)
    head = ("function", "query", "", "cases that deviate")
    return Section("Coverage by query", [f"{count} of {len(rows)} queries were asked."], head, rows)
