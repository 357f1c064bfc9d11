# SPDX-License-Identifier: Apache-2.0
"""The page of what campaigns have reached, run by run."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from harness.errors import HarnessError
from harness.fuzz import history
from harness.fuzz.campaign import Campaign, Target
from harness.fuzz.history import Code
from harness.fuzz.subject import FuzzSubject
from harness.fuzz.target_process import Setting

CODE = Code(90, 100, "lines", 12, ("clFlush", "helper<T>"), ("clFlush",))


def night(out: Path, day: int, edges: dict[str, int], code: Code | None = None) -> str:
    """The page after a run in which each of the targets reached so many edges."""
    out.mkdir(exist_ok=True)
    subject = FuzzSubject(out / "libOpenCL.so.1", "compiler", False, "0" * 64)
    targets = [Target(name, out / name, Setting(subject), [], None) for name in edges]
    campaign = Campaign(out, targets, 1.0, 1, lambda text: None)
    for name, count in edges.items():
        campaign.states[name].edges, campaign.states[name].seconds = count, 1.0
    return history.add(campaign, subject, code, datetime(2026, 11, day, 3, tzinfo=UTC)).read_text()


def test_each_run_adds_a_row_and_a_point(tmp_path: Path) -> None:
    night(tmp_path, 1, {"icd_file": 50})
    page = night(tmp_path, 2, {"icd_file": 100, "limits": 7})
    assert re.findall(r"<tr><td>(.*?)</td>", page) == ["2026-11-02 03:00", "2026-11-01 03:00"]
    points = re.findall(r'points="(.*?)"', page)
    assert points == ["0.0,50.0 300.0,10.0", "0.0,10.0"]
    assert "icd_file: 50 edges in the first run, 100 in the last" in page
    assert "No run has counted it" in page


def test_what_no_target_reaches_is_of_the_last_run_that_counted(tmp_path: Path) -> None:
    night(tmp_path, 1, {"icd_file": 50}, CODE)
    page = night(tmp_path, 2, {"icd_file": 50})
    assert "90 of 100 lines" in page
    assert "2 of 12 functions, as of 2026-11-01 03:00" in page
    exported, internal = re.findall(r"<h3>.*?</h3>\n<p>(.*?)</p>", page)
    assert exported == "<code>clFlush</code>"
    assert internal == "<code>helper&lt;T&gt;</code>"


def test_a_loader_that_is_reached_whole_has_no_list(tmp_path: Path) -> None:
    assert "Each function is reached" in night(tmp_path, 1, {"icd_file": 5}, Code(9, 9, "lines", 3, (), ()))


def test_a_target_that_did_not_run_is_left_out(tmp_path: Path) -> None:
    night(tmp_path, 1, {"icd_file": 50})
    page = night(tmp_path, 2, {"limits": 3})
    assert page.count("<figure>") == 2
    assert history.runs(tmp_path)[1]["targets"].keys() == {"limits"}


def test_a_broken_line_is_said_and_kept(tmp_path: Path) -> None:
    (tmp_path / "history.jsonl").write_text("{broken\n")
    with pytest.raises(HarnessError, match=r"history\.jsonl cannot be read .*: move it away"):
        night(tmp_path, 1, {"icd_file": 1})
    assert (tmp_path / "history.jsonl").read_text() == "{broken\n"
