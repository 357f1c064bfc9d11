# SPDX-License-Identifier: Apache-2.0
"""Several runs side by side as Markdown: what each subject does with each requirement."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from harness.escaping import markdown
from harness.report.ending import Ending
from harness.report.layout import section_title
from harness.report.markdown import linked
from harness.report.numbers import counted
from harness.report.records import CaseResult
from harness.report.side_by_side import marks, title, titles, with_mark
from harness.requirements.catalogue import catalogue

_RED = ("fail", "crash", "hang", "leak", "error")

Cells = Mapping[str, Mapping[int, list[CaseResult]]]


def matrix(endings: Sequence[Ending]) -> str:
    """The subjects with their versions and days, then the requirements that not all of them pass, by section."""
    cells = _by_requirement(endings)
    headers = [ending.header for ending in endings]
    subjects = [_subject(*pair) for pair in zip(endings, marks(headers), strict=True)]
    parts = ["# What the known subjects do", ""]
    parts += [
        "Made by `clharness report FILE.jsonl... --markdown FILE`. A cell counts the cases of a requirement that are",
        "red, of those that ran; *unsupported* are those for which the subject lacks what they need.",
        "",
        *_table(["subject", "version", "build", "day", "cases", "pass", "red", "unsupported"], subjects),
    ]
    shown: dict[str, list[list[str]]] = defaultdict(list)
    alike: Counter[str] = Counter()
    for identifier, requirement in catalogue().items():
        if identifier not in cells:
            continue
        row = [_cell(cells[identifier].get(n, [])) for n in range(len(endings))]
        if set(row) <= {"pass", "-"}:
            alike[requirement.key] += 1
        else:
            shown[requirement.key].append([linked(identifier), requirement.strength, *row, markdown(requirement.text)])
    for key in dict.fromkeys(requirement.key for requirement in catalogue().values()):
        if key in shown:
            more = (
                f" ({alike[key]} more {'is' if alike[key] == 1 else 'are'} passed by all that have them)"
                if alike[key]
                else ""
            )
            parts += [f"## {section_title(key)}{more}", ""]
            parts += _table(["requirement", "strength", *titles(headers), "statement"], shown[key])
    whole = sum(count for key, count in alike.items() if key not in shown)
    if whole:
        verb = "is" if whole == 1 else "are"
        parts += [f"{counted(whole, 'requirement')} of other sections {verb} passed by all that have them."]
    return "\n".join(parts).rstrip() + "\n"


def _by_requirement(endings: Sequence[Ending]) -> Cells:
    """The cases of each requirement by the number of the run."""
    cells: dict[str, dict[int, list[CaseResult]]] = defaultdict(lambda: defaultdict(list))
    for number, ending in enumerate(endings):
        for result in ending.results:
            for identifier in result.requirements:
                cells[identifier][number].append(result)
    return cells


def _subject(ending: Ending, mark: str) -> list[str]:
    subject, results = ending.header.subject, ending.results
    verdicts = Counter("red" if r.verdict in _RED else r.verdict for r in results)
    counts = [str(verdicts[name]) for name in ("pass", "red", "unsupported")]
    build = str(subject.facts.get("build_id") or "")[:12]
    name = subject.name or title(ending.header)
    return [markdown(text) for text in (with_mark(name, mark), subject.version, build, ending.header.started[:10])] + [
        str(len(results)),
        *counts,
    ]


def _cell(results: Sequence[CaseResult]) -> str:
    """What a subject does with a requirement, in a few words."""
    verdicts = Counter[str](result.verdict for result in results)
    ran = sum(count for verdict, count in verdicts.items() if verdict != "unsupported")
    red = [(verdict, verdicts[verdict]) for verdict in _RED if verdicts[verdict]]
    if red:
        return f"**{', '.join(f'{verdict} {count}' for verdict, count in red)}** of {ran}"
    return "pass" if ran else "unsupported" if results else "-"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table of cells that are Markdown already."""
    lines = [list(map(markdown, head)), ["---"] * len(head), *rows]
    return [*("| " + " | ".join(cells) + " |" for cells in lines), ""]
