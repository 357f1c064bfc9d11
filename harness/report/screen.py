# SPDX-License-Identifier: Apache-2.0
"""The report of a run as lines of text: the verdict, what is unexpected, then counts, what to do, and the verdict.

What needs nothing from the reader takes one line; `verbose` shows all of it.
"""

from __future__ import annotations

import os
import shlex
import textwrap
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from harness import __version__
from harness.build import ROOT, installed
from harness.build import command as command_word
from harness.errors import Exit
from harness.escaping import one_line, printable
from harness.report import layout
from harness.report.blocks import Style, cause_lines, cut, field, lines_of
from harness.report.causes import by_reason, causes, verdicts_of
from harness.report.ending import Ending
from harness.report.lost_device import sign_of_lost_device
from harness.report.numbers import counted
from harness.report.records import CaseResult, Header, SubjectRecord

# How many lines each part may have, so that a bad subject does not bury the reader; --verbose has no limits.
_BLOCKS = 100
_MORE_CAUSES = 25
_REASONS = 36
_WEAK = 8
_UNLIMITED = 1_000_000
# Options that the advice of another run leaves out, and whether a word follows them.
_OF_ONE_RUN = dict.fromkeys(
    ("--json", "--junit", "--sarif", "--html", "--color", "-j", "--reproducers", "--release", "--previous", "--repeat"),
    True,
) | dict.fromkeys(("--keep", "--verbose", "--until-red", "--update-expectations"), False)


def head(header: Header, width: int) -> list[str]:
    """What is tested, before the first case runs."""
    subject = header.subject
    lines = [f"clharness {__version__} tests {one_line(subject.title)}"]
    lines += _whole(subject.word, subject.path, _build_of(subject), width)
    for other in header.used_with:
        lines += _whole("used with", other.path, other.title if other.name else "", width)
    lines += _whole("expectations", _near(header.expectations) if header.expectations else "none", "", width)
    if "," in (isolation := str(header.machine.get("isolation", ""))):
        lines += field("isolation", isolation, width)
    if header.shard:
        lines += field("shard", f"{header.shard['index']} of {header.shard['of']}", width)
    if header.random_seed is not None:
        lines += field("order", f"--random-order {header.random_seed}", width)
    return lines


def _build_of(subject: SubjectRecord) -> str:
    return f"build {subject.facts['build_id']}" if subject.facts.get("build_id") else ""


def _whole(label: str, path: str, about: str, width: int) -> list[str]:
    """A path, which stays whole to be copied, with what is known about it, beside or below it."""
    line = f"  {one_line(label):12} {one_line(path)}"
    if not about:
        return [line]
    beside = f"{line} ({one_line(about)})"
    return [beside] if len(beside) <= width else [line, f"  {'':13}{cut(one_line(about), width - 15)}"]


def _near(path: str) -> str:
    """The path as seen from the current folder, where that is shorter."""
    try:
        relative = os.path.relpath(path)
    except (OSError, ValueError):
        return path
    return relative if len(relative) < len(path) and not relative.startswith("../..") else path


def screen(ending: Ending, style: Style, width: int, table_width: int | None, verbose: bool = False) -> list[str]:
    """The whole report."""
    verdict = style(one_line(ending.sentence()), "good" if ending.good else "bad")
    lines = ["", verdict]
    if ending.results:
        lines += [*layout.summary_table(ending.results, style, table_width, by_group=not verbose)]
    if ending.unseen:
        lines += ["", ending.unseen]
    lines += _sign(ending, style, width)
    lines += _unexpected(ending, style, width, verbose)
    lines += _weak(ending.results, width, verbose)
    lines += _known(ending, width, verbose)
    lines += _one_line_each(ending, width, verbose)
    lines += _part("Calls for resources that failed, by place", layout.torture_lines(ending.results))
    subject = one_line(ending.header.expectations or "the expectation file")
    stale = [f"{one_line(entry)}: no case has it; --update-expectations removes it" for entry in ending.stale]
    lines += _part(f"Stale entries in {subject}", stale)
    lines += _part("Expectations updated", ending.changes)
    lines += _part(f"To be explained in {subject}: give each entry a reason", ending.unexplained)
    for trouble in ending.troubles:
        lines += ["", style(f"clharness: {printable(trouble)}", "bad")]
    lines += next_steps(ending)
    return [*lines, "", verdict]


def _part(title: str, lines: Sequence[str]) -> list[str]:
    return ["", f"{printable(title)}:", *(f"  {printable(line)}" for line in lines)] if lines else []


def _sign(ending: Ending, style: Style, width: int) -> list[str]:
    """What may have made most of the cases red, where they say so together."""
    sign = sign_of_lost_device(ending.unexpected)
    return ["", *(style(line, "bad") for line in textwrap.wrap(sign, width))] if sign else []


def _unexpected(ending: Ending, style: Style, width: int, verbose: bool) -> list[str]:
    groups = causes(ending.unexpected)
    lines, rest = lines_of(groups, width, style, _UNLIMITED if verbose else _BLOCKS)
    return lines + _part(f"{len(groups)} causes in all; the others", cause_lines(rest, width - 2, _MORE_CAUSES))


def _weak(results: Sequence[CaseResult], width: int, verbose: bool) -> list[str]:
    """Deviations from what is not demanded, by cause."""
    groups = causes(r for r in results if r.status == "deviation")
    if not groups:
        return []
    number = sum(len(cause.cases) for cause in groups)
    rows = []
    for cause in groups[: None if verbose else _WEAK]:
        first = cause.first
        line = f"{len(cause.cases):4} {first.verdict:5} {' '.join(first.requirements)}  {one_line(first.name)}"
        rows.append(cut(line, width - 2))
    if len(groups) > len(rows):
        rows.append(f"     and {len(groups) - len(rows)} more: --verbose")
    return _part(f"Deviations that do not count: {number} (--strict counts should and de-facto)", rows)


def _known(ending: Ending, width: int, verbose: bool) -> list[str]:
    """Known deviations by reason."""
    known = [r for r in ending.results if r.status == "expected" and r.verdict != "unsupported"]
    reasons = by_reason(known)
    rows = []
    for reason, cases in reasons[: None if verbose else _REASONS]:
        identifiers = list(dict.fromkeys(identifier for case in cases for identifier in case.requirements[:1]))
        also = f" +{len(identifiers) - 1}" if len(identifiers) > 1 else ""
        rows.append(
            cut(
                f"{len(cases):4} {verdicts_of(cases):5} {identifiers[0]}{also}: {one_line(' '.join(reason.split()))}",
                width - 2,
            )
            if identifiers
            else cut(f"{len(cases):4} {verdicts_of(cases):5} {one_line(' '.join(reason.split()))}", width - 2)
        )
        if verbose:
            rows += [f"       {one_line(case.name)}" for case in cases]
    if len(reasons) > len(reasons[: None if verbose else _REASONS]):
        rows.append(f"     and {len(reasons) - _REASONS} more: --verbose")
    return _part(f"Known deviations: {counted(len(known), 'case')} for {counted(len(reasons), 'reason')}", rows)


def _one_line_each(ending: Ending, width: int, verbose: bool) -> list[str]:
    """What needs nothing from the reader."""
    unsupported = [r for r in ending.results if r.verdict == "unsupported" and not r.counts]
    grey = layout.grey_rows(ending.results)
    if verbose:
        word = ending.header.subject.word
        return [
            *_part("Unsupported", layout.unsupported_lines(ending.results, word)),
            *_part(f"Grey areas: the outcome that this {word} shows", layout.grey_table(grey, width - 2)),
        ]
    lines = []
    if unsupported:
        names = Counter(r.capability or r.reason or "no reason given" for r in unsupported)
        few = ", ".join(f"{name} ({number})" for name, number in names.most_common(3))
        lines.append(cut(f"Unsupported: {counted(len(unsupported), 'case')} (--verbose): {one_line(few)}", width))
    if grey:
        requirements = len({row.partition(" ")[0] for row, _, _ in grey})
        areas = f"{counted(requirements, 'requirement')} that leave{'s' if requirements == 1 else ''} a choice"
        lines.append(cut(f"Grey areas: {areas} (--verbose lists the outcomes)", width))
    return ["", *lines] if lines else []


def next_steps(ending: Ending) -> list[str]:
    """What to do now: at most three lines."""
    if ending.code != Exit.UNEXPECTED:
        return []
    header, steps = ending.header, []
    statuses = {r.status for r in ending.unexpected}
    command = one_line(_command(header))
    if header.expectations is None:
        file = layout.file_name(header.subject)
        steps.append(f"No expectation file is about this {header.subject.word}. To accept what it does:")
        steps.append(f"  {command} --update-expectations --expect {file}")
    elif installed() and Path(header.expectations).is_relative_to(ROOT):
        copy = shlex.join(["cp", header.expectations, Path(header.expectations).name])
        steps.append("To accept what has changed, in a file of your own, with a reason for each:")
        steps.append(
            one_line(f"  {copy} && {_command(header)} --update-expectations --expect {Path(header.expectations).name}")
        )
    elif statuses - {"unexpected"} or ending.stale:
        steps.append(f"Known deviations are gone or changed: {command} --update-expectations")
    elif statuses:
        steps.append(f"To accept them, with a reason for each: {command} --update-expectations")
    first = next((r.requirements[0] for r in ending.unexpected if r.requirements), None)
    if first:
        steps.append(f"What is demanded: {command_word()} explain {first}. Every case: --html DIR")
    return ["", *steps] if steps else []


def _command(header: Header) -> str:
    """The command that ran, without the options that say what is written and how often cases run."""
    arguments = list(header.arguments)
    if len(arguments) < 2 or Path(arguments[0]).name != "clharness":
        return shlex.join([command_word(), header.subject.kind, header.subject.path])
    kept, rest = [], arguments[2:]
    while rest:
        option, _, value = (word := rest.pop(0)).partition("=")
        if option in _OF_ONE_RUN:
            if not value and _OF_ONE_RUN[option] and rest:
                rest.pop(0)
            continue
        kept.append(word)
    # Only a loader need not be named; a recorded run may have been in another folder.
    is_named = arguments[1] != "loader" or Path(header.subject.path).name in (Path(word).name for word in kept)
    return shlex.join([command_word(), arguments[1], *([] if is_named else [header.subject.path]), *kept])
