# SPDX-License-Identifier: Apache-2.0
"""Parts of reports: the table by section, grey areas, what is unsupported.

Pure functions from records to lines; colours come in through `style`, which `Terminal.style` provides.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from harness.escaping import one_line
from harness.expectations import Expectations, section_key
from harness.report.numbers import counted
from harness.report.records import CaseResult, SubjectRecord
from harness.report.table import table
from harness.requirements.catalogue import catalogue, index

Style = Callable[[str, str], str]

COLUMNS = ("cases", "ok", "expected", "unexpected", "flaky", "should", "de-facto", "undefined", "unsupported")
# What a narrow terminal leaves out first; the verdict and the lists below the table say it, too.
_DISPENSABLE = ("unsupported", "undefined", "de-facto", "should", "ok", "expected")


def column(result: CaseResult) -> str:
    """The column of the table in which a case counts, besides "cases"."""
    if result.counts:
        return "flaky" if result.status == "flaky" else "unexpected"
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


def columns(counts: Mapping[str, Counter[str]]) -> list[str]:
    """The columns of a table; that for flaky cases only where there are any."""
    return [name for name in COLUMNS if name != "flaky" or any(count[name] for count in counts.values())]


def section_title(key: str) -> str:
    """A section's key with its title in the catalogue."""
    return f"{key} {index().titles[key]}" if key in index().titles else "without a requirement"


def summary_table(
    results: Sequence[CaseResult], style: Style, width: int | None = None, by_group: bool = False
) -> list[str]:
    """One row for each section, or group of sections, then the totals; zeros, and columns of zeros, are left out.

    To fit into `width`, long titles are folded, and columns that matter less are left out.
    """
    counts = section_counts(results)
    total: Counter[str] = sum(counts.values(), Counter())
    titled = _by_group(counts) if by_group else {section_title(key): count for key, count in counts.items()}
    names = _that_fit([name for name in COLUMNS if total[name]], titled, width)
    rows = [[style(name, "bold") for name in ("group" if by_group else "section", *(f"{name:>5}" for name in names))]]
    for title, count in [*titled.items(), *([("total", total)] if len(titled) > 1 else [])]:
        cells = [title, *(str(count[name] or "") for name in names)]
        rows.append([style(cell, "bad") for cell in cells] if count["unexpected"] or count["flaky"] else cells)
    return table(rows, width=width)


def _that_fit(names: list[str], titles: Iterable[str], width: int | None) -> list[str]:
    """The columns without those that a narrow terminal has no room for, even with folded titles."""
    word = max((len(word) for title in titles for word in title.split()), default=0)
    for dispensable in _DISPENSABLE:
        if width is None or word + sum(max(len(name), 5) + 2 for name in names) <= width:
            break
        names = [name for name in names if name != dispensable]
    return names


def _by_group(counts: dict[str, Counter[str]]) -> dict[str, Counter[str]]:
    groups: dict[str, Counter[str]] = defaultdict(Counter)
    for key, count in counts.items():
        group = index().groups.get(key.partition("-")[0])
        groups[group.title if group else "without a requirement"].update(count)
    return groups


def unseen_sections(results: Iterable[CaseResult], expectations: Expectations) -> str | None:
    """The cases of sections that are newer than the expectation file, in a sentence."""
    new = [r for r in results if not expectations.has_seen(r.requirements)]
    if not new:
        return None
    counts = section_counts(new)
    number = counted(len(new), "case")
    since = f" (last confirmed {expectations.confirmed})" if expectations.confirmed else ""
    sections = ", ".join(
        f"{key} ({count['unexpected']} unexpected)" if count["unexpected"] else key for key, count in counts.items()
    )
    return f"{number} of sections that this expectation file has not seen{since}: {sections}"


def unsupported_lines(results: Iterable[CaseResult], word: str) -> list[str]:
    """The unsupported cases by their reason; `word` is what the subject is called."""
    reasons = Counter(
        (word if r.unsupported == "loader" else "machine", r.reason or "no reason given")
        for r in results
        if r.verdict == "unsupported" and not r.counts
    )
    return [f"{number:4} {one_line(reason)} ({who})" for (who, reason), number in reasons.most_common()]


_FAILED_CALL = re.compile(r"\[\d+-(\w+)-([^\]]+)\]$")


def torture_lines(results: Iterable[CaseResult]) -> list[str]:
    """The calls for resources that were made to fail, by function and place in the loader, with their verdicts."""
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for result in results:
        call = _FAILED_CALL.search(result.case)
        if call and section_of(result).startswith("TORT-"):
            counts[call[1], call[2]][result.verdict] += 1
    return [
        one_line(f"{function:12} {place:32} {', '.join(f'{n} {verdict}' for verdict, n in sorted(verdicts.items()))}")
        for (function, place), verdicts in sorted(counts.items())
    ]


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


def grey_table(rows: Iterable[tuple[str, str, str]], width: int) -> list[str]:
    """The rows as lines of at most `width` characters."""
    clean = [[one_line(cell) for cell in row] for row in rows]
    widths = [min(max((len(row[n]) for row in clean), default=0), 60) for n in (0, 1)]
    lines = [f"{who:{widths[0]}}  {outcome:{widths[1]}}  {topic}".rstrip() for who, outcome, topic in clean]
    return [line if len(line) <= width else line[: width - 3] + "..." for line in lines]


def file_name(subject: SubjectRecord) -> str:
    """What an expectation file about a subject would be called."""
    return (re.sub(r"[^a-z0-9.]+", "-", subject.name.lower()).strip("-") or subject.kind) + ".toml"
