# SPDX-License-Identifier: Apache-2.0
"""What the report says, as lines of text: the table by section, each deviation, the grey areas, the verdict.

Pure functions from records to lines; colours come in through `style`, which `Terminal.style` provides.
"""

from __future__ import annotations

import textwrap
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence

from harness.errors import Exit
from harness.escaping import one_line, printable
from harness.expectations import Expectations, section_key
from harness.report.records import CaseResult, Header
from harness.report.table import table
from harness.requirements.catalogue import Requirement, catalogue, index

Style = Callable[[str, str], str]

COLUMNS = ("cases", "ok", "expected", "unexpected", "should", "de-facto", "undefined", "unsupported")
_LOG_LINES = 40  # of one case on the terminal; the JSON has them all
_LABEL = 13


def column(result: CaseResult) -> str:
    """The column of the table in which a case counts, besides "cases"."""
    if result.counts:
        return "unexpected"
    if result.status == "expected":
        return "expected"
    if result.status == "deviation":
        return result.strength
    return "unsupported" if result.verdict == "unsupported" else "ok"


def section_of(result: CaseResult) -> str:
    """The section in which a case is listed: that of its first known requirement."""
    return section_key(result.requirements) or "none"


def section_counts(results: Iterable[CaseResult]) -> dict[str, Counter[str]]:
    """The numbers of the table by section, in the order of the catalogue."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for result in results:
        counts[section_of(result)].update(("cases", column(result)))
    order = [*index().section_order, "none"]
    return {key: counts[key] for key in sorted(counts, key=order.index)}


def section_title(key: str) -> str:
    return f"{key} {index().titles[key]}" if key in index().titles else "without a requirement"


def summary_table(results: Sequence[CaseResult], style: Style, width: int | None = None) -> list[str]:
    """One row for each section, then the totals; zeros are left out so that what matters stands out.

    To fit into `width`, columns without a number are left out as well, and long titles are folded.
    """
    counts = section_counts(results)
    total: Counter[str] = sum(counts.values(), Counter())
    names = [name for name in COLUMNS if width is None or total[name]]
    rows = [[style(name, "bold") for name in ("section", *(f"{name:>5}" for name in names))]]
    for title, count in [*((section_title(key), count) for key, count in counts.items()), ("total", total)]:
        cells = [title, *(str(count[name] or "") for name in names)]
        rows.append([style(cell, "bad") for cell in cells] if count["unexpected"] else cells)
    return table(rows, width=width)


def unseen_sections(results: Iterable[CaseResult], expectations: Expectations) -> str | None:
    """The cases of sections that are newer than the expectation file, in a sentence."""
    new = [r for r in results if not expectations.has_seen(r.requirements)]
    if not new:
        return None
    counts = section_counts(new)
    number = f"{len(new)} case{'s' if len(new) > 1 else ''}"
    since = f" (last confirmed {expectations.confirmed})" if expectations.confirmed else ""
    sections = ", ".join(
        f"{key} ({count['unexpected']} unexpected)" if count["unexpected"] else key for key, count in counts.items()
    )
    return f"{number} of sections that this expectation file has not seen{since}: {sections}"


def deviation_block(result: CaseResult, width: int, style: Style) -> list[str]:
    """A case that counts, with all that is known about it."""
    title = f"{result.status.upper()} {result.verdict}"
    lines = [f"{style(title, 'bad')}  {one_line(result.case)}"]
    for identifier in result.requirements:
        requirement = catalogue().get(identifier)
        said = requirement_sentence(requirement) if requirement else f"{identifier}: not in the catalogue"
        lines += _field("requirement", said, width)
        if requirement:
            lines += _field("source", requirement.source, width)
    lines += _field("expected", _expectation(result), width)
    lines += _field("happened", _happening(result), width)
    lines += _block("message", printable(result.message).strip().splitlines())
    log = [one_line(line) for line in result.log]
    if len(log) > _LOG_LINES:
        log = [*log[:_LOG_LINES], f"... {len(log) - _LOG_LINES} more lines in the JSON records"]
    lines += _block("call log", log)
    lines += _block("files", [one_line(line) for line in result.files])
    lines += _block("environment", [one_line(f"{k}={v}") for k, v in result.environment.items()])
    if result.sandbox:
        lines += _field("sandbox", result.sandbox, 10_000)
    if result.reproduce:
        lines += _field("reproduce", result.reproduce, 10_000)
    return lines


def requirement_sentence(requirement: Requirement) -> str:
    return f"{requirement.id} ({requirement.strength}): {requirement.text}"


def _expectation(result: CaseResult) -> str:
    expected = " or ".join(result.expected)
    if result.expected_outcome is not None:
        expected += f", outcome {result.expected_outcome!r}"
    return expected


def _happening(result: CaseResult) -> str:
    happened: str = result.verdict
    if result.outcome is not None:
        happened += f", outcome {result.outcome!r}"
    if result.reason and (result.verdict == "unsupported" or (result.counts and result.deviations)):
        happened += f" ({result.reason})"
    if result.status == "improved":
        happened += ": the listed deviation is gone; --update-expectations takes it off the list"
    elif result.status == "changed":
        happened += ": not the outcome on record; --update-expectations records the new one"
    return happened


def _field(label: str, text: str, width: int) -> list[str]:
    """`label  text`, wrapped under itself."""
    wrapped = textwrap.wrap(printable(text), max(width - _LABEL - 2, 30), break_long_words=False) or [""]
    return [f"  {label:{_LABEL}}{wrapped[0]}", *(f"  {'':{_LABEL}}{line}" for line in wrapped[1:])]


def _block(label: str, lines: Sequence[str]) -> list[str]:
    return [f"  {label}", *(f"    {line}".rstrip() for line in lines)] if lines else []


def one_liner(result: CaseResult) -> str:
    """A case in one line, with its reason where there is one."""
    requirement = " ".join(result.requirements)
    line = f"{result.verdict:5} {requirement}  {result.name}"
    return printable(f"{line}: {result.reason}" if result.reason else line).replace("\n", " ")


def unsupported_lines(results: Iterable[CaseResult]) -> list[str]:
    """The unsupported cases by their reason."""
    reasons = Counter(
        (r.unsupported or "machine", r.reason or "no reason given")
        for r in results
        if r.verdict == "unsupported" and not r.counts
    )
    return [f"{number:4} {printable(reason)} ({who})" for (who, reason), number in reasons.most_common()]


def grey_rows(results: Iterable[CaseResult]) -> list[tuple[str, str, str]]:
    """Requirement or case, outcome, statement: one row for a requirement whose cases all show the same."""
    by_requirement: dict[str, list[CaseResult]] = defaultdict(list)
    for result in results:
        if result.outcome is not None:
            by_requirement[result.requirements[0] if result.requirements else "none"].append(result)
    rows: list[tuple[str, str, str]] = []
    known = catalogue()
    for identifier in sorted(by_requirement, key=lambda i: list(known).index(i) if i in known else -1):
        cases = by_requirement[identifier]
        topic = known[identifier].text if identifier in known else ""
        if len({r.outcome for r in cases}) == 1:
            rows.append((identifier, str(cases[0].outcome), topic))
        else:
            rows += [(f"{identifier} {r.name}", str(r.outcome), topic) for r in cases]
    return rows


def grey_table(results: Iterable[CaseResult], width: int) -> list[str]:
    rows = [[one_line(cell) for cell in row] for row in grey_rows(results)]
    widths = [min(max((len(row[n]) for row in rows), default=0), 60) for n in (0, 1)]
    lines = [f"{who:{widths[0]}}  {outcome:{widths[1]}}  {topic}".rstrip() for who, outcome, topic in rows]
    return [line if len(line) <= width else line[: width - 3] + "..." for line in lines]


def verdict_sentence(header: Header, results: Sequence[CaseResult], code: int) -> str:
    """The last line: what the run means."""
    who = one_line(header.subject)
    unexpected = sum(r.counts for r in results)
    cases = f"{len(results)} case{'' if len(results) == 1 else 's'}"
    if code == Exit.INTERRUPTED:
        of = f" of {header.planned}" if header.planned is not None else ""
        return f"{who}: interrupted after {cases}{of}, {unexpected} unexpected so far; what ran is kept."
    if code == Exit.NOTHING_RAN:
        return f"{who}: nothing ran. Does the selection match any check?"
    if code == Exit.NOT_APPLICABLE:
        return f"{who}: not applicable here, all of {cases} unsupported."
    errors = sum(r.verdict == "error" for r in results)
    if code == Exit.HARNESS:
        trouble = f"{errors} could not be judged" if errors else "the results are incomplete"
        return f"{who}: the harness failed, {trouble} ({cases})."
    if code == Exit.UNEXPECTED:
        return f"{who}: not as expected, {unexpected} of {cases} unexpected."
    tail = f", {n} unsupported" if (n := sum(r.verdict == "unsupported" for r in results)) else ""
    known = f", {n} known deviations" if (n := sum(r.status == "expected" for r in results)) else ""
    weak = f", {n} that do not count" if (n := sum(r.status == "deviation" for r in results)) else ""
    return f"{who}: as expected, {cases}{known}{weak}{tail}."
