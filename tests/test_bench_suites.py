# SPDX-License-Identifier: Apache-2.0
"""clharness bench suites: the times are those of cases that ran, the parts make up the whole, and files have parts."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.bench.suites import measure_suites, suite_lines
from harness.build import ROOT, build
from harness.errors import HarnessError
from harness.run import accounts


def test_parts_make_up_the_whole() -> None:
    numbers = measure_suites(build().reference_loader, 8, ("-k", "test_vendor_file_is_read_within_its_memory"))
    assert 8 <= numbers["cases"] < 16
    assert numbers["case_ms"] == pytest.approx(numbers["python_ms"] + numbers["processes_ms"], abs=0.01)
    assert sum(numbers["python_parts_ms"].values()) == pytest.approx(numbers["python_ms"], abs=0.01)
    assert set(numbers["python_parts_ms"]) <= {*accounts.PARTS.values(), accounts.REST}
    assert numbers["sessions"] >= 1 and numbers["processes_ms"] > 0 and numbers["session_ms"] > 0
    text = suite_lines(numbers)
    assert text[0].startswith(f"a case: {numbers['case_ms']:.1f} ms") and str(build().reference_loader) in text[-1]
    assert all(len(line) <= 120 for line in text[:-1])


def test_time_in_which_no_look_was_taken_has_a_part(tmp_path: Path) -> None:
    kept = accounts.Accounts(str(tmp_path / "numbers"), 1)
    kept._write()
    assert json.loads((tmp_path / f"numbers.{os.getpid()}").read_text())["samples"] == {accounts.REST: 1}


def test_suites_that_do_not_run_are_an_error() -> None:
    with pytest.raises(HarnessError, match=r"the suites did not run:\n.*no check matches the selection"):
        measure_suites(build().reference_loader, 8, ("-k", "no_such_check"))


@pytest.mark.parametrize(
    ("file", "part"),
    [
        ("suites/discovery/test_general_list.py", "checks"),
        ("harness/check/icd/compute.py", "checks"),
        ("harness/probe/calls.py", "sessions"),
        ("harness/calllog/reader.py", "call log"),
        ("harness/escaping.py", accounts.REST),
        ("/usr/lib/python3/dist-packages/pytest/__init__.py", ""),
    ],
)
def test_file_belongs_to_a_part(file: str, part: str) -> None:
    assert accounts.part_of(str(ROOT / file)) == part


def test_innermost_file_of_the_project_counts(tmp_path: Any) -> None:
    """What a package or Python does for a part of the project is that part's."""
    kept = accounts.Accounts(str(tmp_path / "numbers"), 1)

    def frame(file: str, back: Any = None) -> Any:
        return SimpleNamespace(f_code=SimpleNamespace(co_filename=file), f_back=back)

    check = frame(f"{ROOT}/suites/dispatch/test_table.py")
    session = frame("/usr/lib/python3.11/socket.py", frame(f"{ROOT}/harness/probe/connection.py", check))
    for where in (check, session, session, frame("/usr/lib/python3.11/gc.py")):
        kept._sample(0, where)
    assert kept._samples == {"checks": 1, "sessions": 2, accounts.REST: 1}
