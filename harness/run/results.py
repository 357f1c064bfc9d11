# SPDX-License-Identifier: Apache-2.0
"""From a case that ended to its one record, and to what pytest itself shows of it.

The verdict is that of the check; where it was not red, trouble in the clean-up after it is. The record is complete, and
is handed on, when that is over.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from harness import escaping
from harness.report import CaseResult
from harness.report.blocks import block, field
from harness.report.causes import Cause
from harness.run import failures, tested, torture
from harness.run.cases import CASE, Case, result_of, with_problems
from harness.run.note import write_note

PROPERTY = "clharness"  # of pytest's report that carries the record
GREEN = ("pass", "unsupported")
_WIDTH = 100  # of what pytest shows


def _result(item: pytest.Item, case: Case, call: pytest.CallInfo[None]) -> CaseResult:
    config = item.config
    result = result_of(
        case,
        call,
        tested.expectations(config),
        bool(config.getoption("--clharness-strict")),
        tested.option(config),
        lambda: failures.place(config).of(case.id),
        bool(config.getoption("--keep")),
        bool(config.getoption("--clharness-reproducers")),
    )
    if result.sandbox:
        options = [*tested.options(config), *torture.options(config)]
        write_note(Path(result.sandbox), result, config.rootpath, options)
    return result


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
    outcome = yield
    report: pytest.TestReport = outcome.get_result()
    case = item.stash.get(CASE, None)
    if case is None:
        return
    if call.when == "setup":
        case.result = None
    if call.when == "call" or (call.excinfo and (case.result is None or case.result.verdict in GREEN)):
        case.result = _result(item, case, call)
        _show(report, case.result)
    elif call.when == "teardown" and call.excinfo:  # the case is red for a better reason
        report.outcome, report.longrepr = "passed", None
    if call.when == "teardown" and case.result is not None:
        case.result = with_problems(case.result, case.sandbox.problems if case.sandbox else ())
        report.user_properties.append((PROPERTY, case.result.to_json()))


def _make_printable(shown: Any) -> None:
    """What pytest shows of an exception, whose message may have a subject's own bytes."""
    alone = [(shown.reprtraceback, shown.reprcrash, None)] if hasattr(shown, "reprtraceback") else []
    for traceback, place, _ in getattr(shown, "chain", alone):
        for part in traceback.reprentries:
            for lines in (part, getattr(part, "reprlocals", None)):
                if lines is not None:
                    lines.lines = [escaping.printable(line) for line in lines.lines]
            if arguments := getattr(part, "reprfuncargs", None):
                arguments.args = [(name, escaping.printable(value)) for name, value in arguments.args]
        if place is not None:
            place.message = escaping.printable(place.message)


def _machine(result: CaseResult) -> list[str]:
    """The machine that the check made: files that say something, links, FIFOs, and its variables."""
    files = [file for file in result.files if re.search(r"\((\d+ bytes: |link|FIFO|socket)", file)]
    variables = [f"{name}={value}" for name, value in result.environment.items()]
    return [
        line
        for label, texts in (("files", files), ("environment", variables))
        for number, text in enumerate(texts)
        for line in field(label if number == 0 else "", text, _WIDTH)
    ]


def _show(report: pytest.TestReport, result: CaseResult) -> None:
    """Makes pytest's own view of the case agree with the verdict's status, and show what the command shows."""
    vars(report).pop("wasxfail", None)
    _make_printable(report.longrepr)
    if result.counts:
        report.outcome = "failed"
        if not report.longrepr or isinstance(report.longrepr, tuple):
            report.longrepr = f"{result.status}: {result.verdict} {result.outcome or ''} {result.message}"
        lines = [*block(Cause((result,)), _WIDTH, lambda text, _: text), *_machine(result)]
        report.sections.append(("clharness", "\n".join(lines)))
    elif result.verdict == "pass":
        report.outcome, report.longrepr = "passed", None
    elif result.verdict == "unsupported":
        report.outcome = "skipped"
        report.longrepr = (str(report.location[0]), report.location[1] or 0, f"Skipped: {result.reason}")
    else:
        report.outcome = "skipped"
        vars(report)["wasxfail"] = f"{result.status} {result.verdict}: {result.reason or result.strength}"
