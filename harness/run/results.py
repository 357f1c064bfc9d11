"""From a case that ended to its record, and to what pytest itself shows of it."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from harness.report import CaseResult
from harness.run import tested
from harness.run.cases import CASE, result_of


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
    outcome = yield
    report: pytest.TestReport = outcome.get_result()
    case = item.stash.get(CASE, None)
    if case is None or (call.when != "call" and call.excinfo is None):
        return
    result = result_of(
        case,
        call,
        tested.expectations(item.config),
        bool(item.config.getoption("--clharness-strict")),
        tested.option(item.config),
        bool(item.config.getoption("--keep")),
        bool(item.config.getoption("--clharness-reproducers")),
    )
    case.reported = True
    report.user_properties.append(("clharness", result.to_json()))
    _show(report, result)


def _show(report: pytest.TestReport, result: CaseResult) -> None:
    """Makes pytest's own view of the case agree with the verdict's status."""
    vars(report).pop("wasxfail", None)
    if result.counts:
        report.outcome = "failed"
        if not report.longrepr or isinstance(report.longrepr, tuple):
            report.longrepr = f"{result.status}: {result.verdict} {result.outcome or ''} {result.message}"
    elif result.verdict == "pass":
        report.outcome, report.longrepr = "passed", None
    elif result.verdict == "unsupported":
        report.outcome = "skipped"
        report.longrepr = (str(report.location[0]), report.location[1] or 0, f"Skipped: {result.reason}")
    else:
        report.outcome = "skipped"
        vars(report)["wasxfail"] = f"{result.status} {result.verdict}: {result.reason or result.strength}"
