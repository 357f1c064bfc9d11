# SPDX-License-Identifier: Apache-2.0
"""Deviations that are waived until a day: what they hold, and that they turn red after it."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

import harness.expectations as expectations
from harness.errors import UsageError
from harness.report import CaseResult, judge

FILE = """
loader = "some"
[[deviation]]
requirement = "API-ARG-001"
case = "test_size"
verdict = "fail"
reason = "known since 3.1"
owner = "Jane"
bug = "BUG-12"
expires = {day}
"""
RED = CaseResult("suites/x/test_x.py::test_size", ("API-ARG-001",), "fail", message="a sentence\nwrong")


def loaded(tmp_path: Path, day: str) -> expectations.Expectations:
    file = tmp_path / "some.toml"
    file.write_text(FILE.format(day=day))
    return expectations.load(file)


@pytest.mark.parametrize("day", ["2027-03-31", '"2027-03-31"'], ids=["date", "text"])
def test_waiver_holds_through_its_last_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, day: str) -> None:
    monkeypatch.setattr(expectations, "today", lambda: date(2027, 3, 31))
    assert judge(RED, loaded(tmp_path, day), False).status == "expected"


def test_waiver_is_red_after_its_last_day_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expectations, "today", lambda: date(2027, 4, 1))
    result = judge(RED, loaded(tmp_path, "2027-03-31"), False)
    assert result.status == "unexpected"
    assert result.reason == "waiver expired on 2027-03-31 (Jane, BUG-12): known since 3.1"


def test_day_that_is_not_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="2027-03-31"):
        loaded(tmp_path, '"next spring"')
