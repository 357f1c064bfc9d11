# SPDX-License-Identifier: Apache-2.0
"""The summary of a run as Markdown, for the page that GitHub shows for a job (`GITHUB_STEP_SUMMARY`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from harness.escaping import markdown
from harness.report.causes import Cause, actual, by_reason, causes, verdicts_of
from harness.report.ending import Ending
from harness.report.layout import columns, grey_rows, section_counts, section_title
from harness.report.lost_device import sign_of_lost_device
from harness.report.numbers import counted
from harness.requirements.catalogue import catalogue
from harness.requirements.sources import url_of

_LIMIT = 200  # rows of one table: GitHub cuts off a summary beyond 1 MiB


def write_step_summary(environ: Mapping[str, str], ending: Ending) -> str | None:
    """Appends the summary to the file that GitHub names; a sentence says why if that fails."""
    path = environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return None
    try:
        with open(path, "a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(summary(ending))
    except OSError as error:
        return f"{path}: the step summary could not be written: {error.strerror}"
    return None


def summary(ending: Ending) -> str:
    """The run as Markdown."""
    results = ending.results
    parts = [f"### clharness: {markdown(ending.sentence())}", ""]
    counts = section_counts(results)
    names = columns(counts)
    rows = [[section_title(key), *(str(count[name] or "") for name in names)] for key, count in counts.items()]
    parts += table(["section", *names], rows)
    if sign := sign_of_lost_device(ending.unexpected):
        parts += [markdown(sign), ""]
    if groups := causes(ending.unexpected):
        parts += ["#### Unexpected", ""]
        parts += table(["requirement", "result", "case", "what happened", "statement"], map(_row, groups), linked)
    accepted = [
        [str(len(cases)), verdicts_of(cases), " ".join(dict.fromkeys(i for r in cases for i in r.requirements)), reason]
        for reason, cases in by_reason([r for r in results if r.status == "expected"])
    ]
    if accepted:
        parts += ["<details><summary>Known deviations</summary>", ""]
        parts += [*table(["cases", "verdict", "requirement", "reason"], accepted), "</details>", ""]
    grey = [list(row) for row in grey_rows(results)]
    if grey:
        parts += ["<details><summary>Grey areas</summary>", ""]
        parts += [*table(["requirement", "outcome", "statement"], grey), "</details>", ""]
    return "\n".join(parts) + "\n"


def _row(cause: Cause) -> list[str]:
    """A cause in one row: its first case, and how many more there are."""
    first, more = cause.first, len(cause.cases) - 1
    known = catalogue()
    return [
        " ".join(first.requirements),
        f"{first.status} {first.verdict}",
        f"{first.case}, and {counted(more, 'more case')}" if more else first.case,
        actual(first),
        next((known[i].text for i in first.requirements if i in known), ""),
    ]


def table(head: Sequence[str], rows: Iterable[Sequence[str]], first: Callable[[str], str] | None = None) -> list[str]:
    """A table; `first` makes the cells of the first column."""
    lines = ["| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head)]]
    rows = list(rows)
    for row in rows[:_LIMIT]:
        cells = [(first or markdown)(row[0]), *map(markdown, row[1:])]
        lines.append("| " + " | ".join(cells) + " |")
    if len(rows) > _LIMIT:
        lines += ["", f"... and {len(rows) - _LIMIT} more."]
    return [*lines, ""]


def linked(identifiers: str) -> str:
    """Requirements that lead to where they are written."""
    url = url_of(identifiers.split())
    return f"[{markdown(identifiers)}]({url})" if url else markdown(identifiers)
