# SPDX-License-Identifier: Apache-2.0
"""One cause as a block of at most fifteen lines: requirement, expected, actual, calls, cases, one command.

Pure functions from records to lines; colours come in through `style`, which `Terminal.style` provides.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Sequence

from harness.escaping import one_line, printable
from harness.report.causes import Cause, actual, sentence_of
from harness.report.records import CaseResult
from harness.requirements.catalogue import catalogue
from harness.requirements.sources import url_of

Style = Callable[[str, str], str]

_LABEL = 13
_CALLS = 4  # lines of the call log around a deviation


def block(cause: Cause, width: int, style: Style) -> list[str]:
    """The block of a cause, as its first case shows it."""
    first = cause.first
    title = f"{first.status.upper()} {first.verdict}"
    count = f", {len(cause.cases)} cases" if len(cause.cases) > 1 else ""
    lines = [f"{style(title, 'bad')}{count}  {style(one_line(short_id(first)), 'bold')}"]
    lines += _requirement(first, width)
    if sentence := sentence_of(first):
        lines += field("expected", sentence, width, 2)
    elif first.status == "unexpected":
        lines += field("expected", " or ".join(first.expected), width, 1)
    lines += field("actual", actual(first), width, 2)
    lines += _calls(first, width)
    if len(cause.cases) > 1:
        lines += field("also", _others(cause), width, 2)
    if first.reproduce:
        lines.append(f"  {'reproduce':{_LABEL}}{one_line(first.reproduce)}")
    return lines


def short_id(result: CaseResult) -> str:
    """The ID of a case without the folder that all have."""
    return result.case.removeprefix("suites/")


def field(label: str, text: str, width: int, most: int = 100) -> list[str]:
    """`label  text`, wrapped under itself, in `most` lines at most; what is left out shows as "…"."""
    folded = wrap(printable(text), max(width - _LABEL - 2, 30), most=most)
    return [f"  {label if n == 0 else '':{_LABEL}}{line}" for n, line in enumerate(folded)]


def _requirement(result: CaseResult, width: int) -> list[str]:
    known = [catalogue()[identifier] for identifier in result.requirements if identifier in catalogue()]
    if not known:
        return field("requirement", " ".join(result.requirements) or "none", width, 1)
    also = f" (also {', '.join(r.id for r in known[1:])})" if len(known) > 1 else ""
    lines = field("requirement", f"{known[0].id} ({known[0].strength}): {known[0].text}{also}", width, 2)
    if url := url_of(result.requirements, result.name):
        lines.append(f"  {'read':{_LABEL}}{url}")
    return lines


def _others(cause: Cause) -> str:
    """The other cases: their parameters where they are of the same test, else their names."""
    test = cause.first.name.partition("[")[0]
    names = [
        case.name.removeprefix(test) if case.name.partition("[")[0] == test else case.name for case in cause.cases[1:]
    ]
    return " ".join(names)


def _calls(result: CaseResult, width: int) -> list[str]:
    if result.status in ("improved", "changed"):
        return []
    return [
        f"  {'calls' if n == 0 else '':{_LABEL}}{cut(line, max(width - _LABEL - 2, 30))}"
        for n, line in enumerate(around(result))
    ]


def around(result: CaseResult, most: int = _CALLS) -> list[str]:
    """The lines of the call log around the deviation: those that end with the last call that it names."""
    log = [one_line(line).strip() for line in result.log]
    names = re.findall(r"\b(?:cl|vk)[A-Z]\w+", " ".join([*map(str, result.deviations), result.message]))
    own = re.findall(r"\[((?:cl|vk)[A-Z]\w+)", result.name)
    relevant = {*names, *own}
    places = [n for n, line in enumerate(log) if any(f"| {name}" in line for name in relevant)]
    end = (places[-1] if places and result.verdict == "fail" else len(log) - 1) + 1
    return log[max(end - most, 0) : end]


def wrap(text: str, width: int, indent: str = "", most: int = 100) -> list[str]:
    """The text in `most` lines of at most `width` characters, each after the indent; what is left out shows as "…"."""
    room = max(width - len(indent), 20)
    folded = textwrap.wrap(text, room) or [""]
    if len(folded) > most:
        folded = [*folded[: most - 1], folded[most - 1][: room - 2].rstrip() + " …"]
    return [f"{indent}{line}" for line in folded]


def cut(text: str, width: int) -> str:
    """The text in one line of at most `width` characters."""
    flat = text.replace("\n", " ")
    return flat if len(flat) <= width else flat[: width - 1].rstrip() + "…"


def cause_lines(groups: Sequence[Cause], width: int, most: int | None = None) -> list[str]:
    """A line for each of the first `most` causes, below the tests that show them."""
    lines: list[str] = []
    top = groups[:most]
    for test in dict.fromkeys(cause.test for cause in top):
        lines.append(one_line(test.removeprefix("suites/")))
        lines += [_cause_line(cause, width) for cause in top if cause.test == test]
    if len(groups) > len(top):
        lines.append(f"and {len(groups) - len(top)} more: --verbose, or --html DIR, shows all")
    return lines


def _cause_line(cause: Cause, width: int) -> str:
    first = cause.first
    count = f"{len(cause.cases):4} " if len(cause.cases) > 1 else "     "
    parameters = one_line(first.case.removeprefix(cause.test))
    return cut(f"{count}{first.verdict:5} {parameters}{' ' if parameters else ''}{one_line(actual(first))}", width)


def lines_of(groups: Sequence[Cause], width: int, style: Style, budget: int) -> tuple[list[str], Sequence[Cause]]:
    """Blocks while they fit into a budget of lines, and the causes that are left."""
    blocks: list[str] = []
    for number, cause in enumerate(groups):
        own = ["", *block(cause, width, style)]
        if number and len(blocks) + len(own) > budget:
            return blocks, groups[number:]
        blocks += own
    return blocks, []
