# SPDX-License-Identifier: Apache-2.0
"""Records are read back from their file, those that older versions wrote included."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.errors import UsageError
from harness.report import CaseResult, Footer, Header, SubjectRecord
from harness.report.records import FORMAT, counts_of, to_line
from harness.report.saved import read

MACHINE = {"system": "Linux", "release": "6.1", "machine": "x86_64", "libc": "glibc 2.36", "root": True}
LOADER = {"path": "/lib/libOpenCL.so.1", "real_path": "/lib/libOpenCL.so.1.0", "name": "Some", "version": "2.3"}
ICD = {"path": "/lib/libvendor.so", "real_path": "/lib/libvendor.so", "name": "vendor", "version": "7.25"}
STARTED = "2026-11-22T09:50:50.689+00:00"
# What versions before this one wrote, key for key.
FORMAT_1: dict[str, Any] = {
    "record": "header",
    "format": 1,
    "clharness": "0.1.0",
    "loader": LOADER,
    "expectations": None,
    "arguments": ["clharness", "loader"],
    "layer": None,
    "icd": None,
    "machine": MACHINE,
    "started": STARTED,
}
FORMAT_2 = FORMAT_1 | {"format": 2, "icd": ICD, "planned": 2}
CASE_1: dict[str, Any] = {
    "record": "case",
    "case": "suites/discovery/test_x.py::test_y[1]",
    "requirements": ["DISC-LNX-013"],
    "verdict": "fail",
    "outcome": None,
    "unsupported": None,
    "capability": None,
    "reason": None,
    "message": "It answers.",
    "log": ["application | clGetPlatformIDs(0x0, 0x0, 0x1)"],
    "sandbox": None,
    "files": [],
    "environment": {},
    "reproduce": None,
    "duration": 0.01,
    "strength": "must",
    "expected": ["pass"],
    "expected_outcome": None,
    "status": "unexpected",
}
CASE_2 = CASE_1 | {"deviations": [{"what": "count=0", "how": "CL_SUCCESS"}], "number": 0}
FOOTER_1 = {"record": "footer", "finished": STARTED, "counts": {}, "exit": 1, "complete": True}


def write(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(map(to_line, records)))
    return path


def test_format_1_is_readable(tmp_path: Path) -> None:
    run = read(write(tmp_path / "old.jsonl", FORMAT_1, CASE_1, FOOTER_1))
    assert run.header.subject == SubjectRecord("loader", "loader", LOADER)
    assert run.header.used_with == ()
    assert (run.header.started, run.header.machine["release"], run.header.planned) == (STARTED, "6.1", None)
    assert [(r.name, r.verdict, r.deviations, r.number) for r in run.results] == [("test_y[1]", "fail", (), None)]
    assert run.complete


def test_format_2_is_readable(tmp_path: Path) -> None:
    run = read(write(tmp_path / "old.jsonl", FORMAT_2, CASE_2))
    assert run.header.subject == SubjectRecord("icd", "ICD", ICD)
    assert run.header.used_with == (SubjectRecord("loader", "loader", LOADER),)
    assert run.header.planned == 2
    assert [str(d) for d in run.results[0].deviations] == ["count=0: CL_SUCCESS"]
    assert not run.complete


def test_what_is_written_is_read(tmp_path: Path) -> None:
    vulkan = SubjectRecord("vulkan-driver", "Vulkan driver", {"path": "/x.so", "name": "v", "versions": [1, 2]})
    header = Header(vulkan, (SubjectRecord("vulkan-loader", "Vulkan loader"),), planned=2, arguments=["clharness"])
    results = [CaseResult(f"suites/a/test_x.py::test_{n}", (), "pass", number=n) for n in (0, 1)]
    footer = Footer(counts_of(results), 0, complete=True, planned=2, recorded=2)
    lines = [header.to_json(), *(r.to_json() for r in reversed(results)), footer.to_json()]
    run = read(write(tmp_path / "run.jsonl", *lines))
    assert run.header == header
    assert run.results == tuple(reversed(results))
    assert run.planned_order == results
    assert run.complete


def test_a_case_that_ran_twice_has_its_last_record(tmp_path: Path) -> None:
    run = read(write(tmp_path / "run.jsonl", FORMAT_2, CASE_2, CASE_2 | {"verdict": "pass"}))
    assert [r.verdict for r in run.planned_order] == ["pass"]


def test_a_last_line_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    path = write(tmp_path / "run.jsonl", FORMAT_2, CASE_2)
    path.write_text(path.read_text() + to_line(CASE_2)[:-40])
    assert len(read(path).results) == 1


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ([], "does not begin with the header of a run"),
        ([CASE_2], "does not begin with the header of a run"),
        ([FORMAT_2 | {"format": FORMAT + 1}], f"has format {FORMAT + 1}, and this clharness reads formats up to"),
        ([{"record": "header", "format": 1}], "does not begin with the header of a run"),
        ([{"record": "header", "format": 3, "subject": {}}], "does not begin with the header of a run"),
        ([FORMAT_2, {"record": "case"}], "holds a case whose record is not complete"),
    ],
)
def test_what_is_no_run_is_one_sentence(tmp_path: Path, lines: list[dict[str, Any]], says: str) -> None:
    path = write(tmp_path / "run.jsonl", *lines)
    with pytest.raises(UsageError) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}: {says}")


def test_a_line_that_is_not_json_is_named(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(json.dumps(FORMAT_2) + "\nabc\n{}\n")
    with pytest.raises(UsageError, match="line 2 is not a record"):
        read(path)
