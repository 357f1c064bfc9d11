# SPDX-License-Identifier: Apache-2.0
"""A run as the report of a release: one document, as Markdown and as a page that prints.

It is made of sections, each with sentences and one table; both forms hold the same.
"""

from __future__ import annotations

import html
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from harness.escaping import markdown, printable
from harness.expectations import Expectations
from harness.report.causes import actual, causes, sentence_of
from harness.report.compare import Comparison
from harness.report.ending import Ending
from harness.report.numbers import counted
from harness.report.records import CaseResult
from harness.requirements.catalogue import catalogue
from harness.requirements.sources import url_of

Row = tuple[str, ...]
_RED = ("fail", "crash", "hang", "leak", "error")


@dataclass(frozen=True)
class Section:
    """`sentences` stand above the table; without rows there is none."""

    title: str
    sentences: Sequence[str] = ()
    head: Row = ()
    rows: Sequence[Row] = ()


@dataclass(frozen=True)
class Release:
    """What the report is made of. `coverage` are sections of its own."""

    ending: Ending
    version: str  # of clharness
    expectations: Expectations
    comparison: Comparison | None = None  # with the release before
    coverage: Sequence[Section] = ()

    @property
    def title(self) -> str:
        """The heading of the report."""
        return f"Release report: {self.ending.header.subject.title}"

    def sections(self) -> list[Section]:
        """The parts of the report, in their order."""
        sections = [_verdict(self), _tested(self), _requirements(self.ending.results), _findings(self.ending)]
        return [*sections, _waivers(self), _compared(self.comparison), *self.coverage]


def _verdict(release: Release) -> Section:
    ending = release.ending
    good = "The release is as expected." if ending.good else "The release is NOT as expected."
    return Section("Verdict", [good, ending.sentence(), *ending.troubles])


def _tested(release: Release) -> Section:
    header = release.ending.header
    facts, machine = header.subject.facts, header.machine
    rows: list[Row] = [
        ("library", str(facts.get("real_path") or header.subject.path)),
        ("build-id", str(facts.get("build_id") or "none")),
        ("name and version", header.subject.title),
    ]
    for device in facts.get("devices") or ():
        about = f"{device.get('name')}: {device.get('version')}, driver {device.get('driver')}"
        rows.append((f"device of {device.get('platform')}", about))
    rows += [
        (f"used with ({other.word})", " ".join(filter(None, (other.title, str(other.facts.get("build_id") or "")))))
        for other in header.used_with
    ]
    system = " ".join(str(machine.get(key, "")) for key in ("system", "release", "machine", "libc"))
    rows += [
        ("machine", f"{system}, {machine.get('processors')} processors"),
        ("clharness", release.version),
        ("catalogue of requirements", str(header.catalogue or "unknown")),
        ("expectations", str(header.expectations or "none")),
        ("command", " ".join(header.arguments)),
        ("started", header.started),
    ]
    return Section("What was tested", (), ("what", "which"), rows)


def _requirements(results: Sequence[CaseResult]) -> Section:
    """The verdict on each requirement that has a case."""
    cases: dict[str, list[CaseResult]] = defaultdict(list)
    for result in results:
        for identifier in result.requirements:
            cases[identifier].append(result)
    known = catalogue()
    rows = [
        (
            identifier,
            known[identifier].strength,
            _told(cases[identifier]),
            _counted(cases[identifier]),
            known[identifier].text,
        )
        for identifier in known
        if identifier in cases
    ]
    numbers = Counter(row[2] for row in rows)
    message = ", ".join(f"{count} {verdict}" for verdict, count in numbers.most_common())
    head = ("requirement", "strength", "verdict", "cases", "statement")
    return Section("Verdict by requirement", [f"{counted(len(rows), 'requirement')}: {message}."], head, rows)


def _told(cases: Sequence[CaseResult]) -> str:
    if any(case.counts for case in cases):
        return "FAILED"
    if any(case.status == "expected" and case.verdict in _RED for case in cases):
        return "waived"
    if any(case.status == "deviation" for case in cases):
        return "deviates"
    return "not applicable" if all(case.verdict == "unsupported" for case in cases) else "passed"


def _counted(cases: Sequence[CaseResult]) -> str:
    return ", ".join(f"{count} {verdict}" for verdict, count in Counter(case.verdict for case in cases).items())


def _findings(ending: Ending) -> Section:
    """What makes the run fail, and what deviates without counting, each cause once."""
    known = catalogue()
    result = causes([r for r in ending.results if r.counts or r.status == "deviation"])
    rows: list[Row] = []
    for cause in result:
        first = cause.first
        requirement = next((known[i] for i in first.requirements if i in known), None)
        url = url_of(first.requirements, first.name) or ""
        rows.append(
            (
                f"{first.status} {first.verdict}",
                str(len(cause.cases)),
                f"{' '.join(first.requirements)}: {requirement.text if requirement else ''}",
                sentence_of(first),
                actual(first),
                url,
                first.reproduce or "",
            )
        )
    head = ("result", "cases", "requirement", "expected", "actual", "where it is written", "reproduce")
    return Section("Findings", [f"{len(rows)} findings."], head, rows)


def _waivers(release: Release) -> Section:
    """The entries of the expectation file, with how many cases of this run each covers."""
    results = release.ending.results
    rows: list[Row] = []
    for entry in (*release.expectations.entries, *release.expectations.expired):
        if entry.kind != "deviation":
            continue
        covered = [r for r in results if r.verdict in _RED and entry.covers(r.requirements, r.name)]
        state = "EXPIRED" if entry.expired else "used" if covered else "not used"
        until = str(entry.expires or "no date")
        about = (entry.owner or "nobody", entry.bug or entry.link or "none", until)
        rows.append((entry.requirement, entry.case or "all", str(len(covered)), state, *about, entry.reason or ""))
    expired = sum(row[3] == "EXPIRED" for row in rows)
    head = ("requirement", "case", "red cases", "state", "owner", "bug", "holds until", "reason")
    return Section("Waivers", [f"{len(rows)} waivers, {expired} of them expired."], head, rows)


def _compared(comparison: Comparison | None) -> Section:
    title = "Since the release before"
    if comparison is None:
        return Section(title, ["There is no record of a release before: `--previous FILE` names one."])
    rows = [(c.kind, c.case.name, c.how, c.why) for c in comparison.changes]
    message = f"{comparison.before.subject.title} -> {comparison.after.subject.title}: {comparison.sentence()}"
    return Section(title, [message], ("kind", "case", "before -> now", "why"), rows)


# --- forms ---


def as_markdown(release: Release) -> str:
    """The release report as Markdown, with a heading for each section."""
    lines = [f"# {markdown(release.title)}", ""]
    for section in release.sections():
        lines += [f"## {markdown(section.title)}", ""]
        lines += [line for sentence in section.sentences for line in (markdown(sentence), "")]
        if section.rows:
            rows = [section.head, tuple("---" for _ in section.head)]
            lines += [f"| {' | '.join(cells)} |" for cells in rows]
            lines += [f"| {' | '.join(map(markdown, row))} |" for row in section.rows]
            lines.append("")
    return "\n".join(lines)


_STYLE = """
body { font: 10pt/1.4 sans-serif; margin: 2em auto; max-width: 70em; color: #111; background: #fff }
table { border-collapse: collapse; width: 100% } th, td { border: 1px solid #999; padding: .2em .4em; text-align: left;
vertical-align: top; overflow-wrap: anywhere } th { background: #eee }
tr { break-inside: avoid } h2 { break-after: avoid }
@media print { body { margin: 0; max-width: none; font-size: 8pt } thead { display: table-header-group } }
@page { size: A4 landscape; margin: 1.5cm }
"""


def as_page(release: Release) -> str:
    """One page that needs nothing else."""
    lines = [
        "<!doctype html>",
        f'<html lang="en"><meta charset="utf-8"><title>{_text(release.title)}</title><style>{_STYLE}</style>',
        f"<h1>{_text(release.title)}</h1>",
    ]
    for section in release.sections():
        lines.append(f"<h2>{_text(section.title)}</h2>")
        lines += [f"<p>{_text(sentence)}</p>" for sentence in section.sentences]
        if section.rows:
            lines.append(f"<table><thead>{_cells('th', section.head)}</thead>")
            lines += [_cells("td", row) for row in section.rows]
            lines.append("</table>")
    return "\n".join([*lines, "</html>", ""])


def _cells(kind: str, cells: Row) -> str:
    return f"<tr>{''.join(f'<{kind}>{_text(cell)}</{kind}>' for cell in cells)}</tr>"


def _text(text: str) -> str:
    return html.escape(printable(text)).replace("\n", "<br>")
