# SPDX-License-Identifier: Apache-2.0
"""The summary of a run as Markdown, for the page that GitHub shows for a job (`GITHUB_STEP_SUMMARY`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.escaping import markdown
from harness.report.layout import COLUMNS, grey_rows, section_counts, section_title, verdict_sentence
from harness.report.records import CaseResult, Header
from harness.requirements.catalogue import catalogue

_LIMIT = 200  # rows of one table: GitHub cuts off a summary beyond 1 MiB


def write_step_summary(
    environ: Mapping[str, str], header: Header, results: Sequence[CaseResult], code: int
) -> str | None:
    """Appends the summary to the file that GitHub names; a sentence says why if that fails."""
    path = environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return None
    try:
        with open(path, "a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(summary(header, results, code))
    except OSError as error:
        return f"{path}: the step summary could not be written: {error.strerror}"
    return None


def summary(header: Header, results: Sequence[CaseResult], code: int) -> str:
    parts = [f"### clharness: {markdown(verdict_sentence(header, results, code))}", ""]
    rows = [
        [section_title(key), *(str(count[name] or "") for name in COLUMNS)]
        for key, count in section_counts(results).items()
    ]
    parts += _table(["section", *COLUMNS], rows)
    known = catalogue()
    unexpected = [
        [
            " ".join(r.requirements),
            f"{r.status} {r.verdict}",
            r.case,
            next((known[i].text for i in r.requirements if i in known), ""),
        ]
        for r in results
        if r.counts
    ]
    if unexpected:
        parts += ["#### Unexpected", ""]
        parts += _table(["requirement", "result", "case", "statement"], unexpected)
    accepted = [
        [" ".join(r.requirements), r.verdict, r.name, r.reason or ""] for r in results if r.status == "expected"
    ]
    if accepted:
        parts += ["<details><summary>Expected deviations</summary>", ""]
        parts += [*_table(["requirement", "verdict", "case", "reason"], accepted), "</details>", ""]
    grey = [list(row) for row in grey_rows(results)]
    if grey:
        parts += ["<details><summary>Grey areas</summary>", ""]
        parts += [*_table(["requirement", "outcome", "statement"], grey), "</details>", ""]
    return "\n".join(parts) + "\n"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = ["| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head)]]
    lines += ["| " + " | ".join(map(markdown, row)) + " |" for row in rows[:_LIMIT]]
    if len(rows) > _LIMIT:
        lines += ["", f"... and {len(rows) - _LIMIT} more."]
    return [*lines, ""]
