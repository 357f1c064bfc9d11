# SPDX-License-Identifier: Apache-2.0
"""Records: what stands in the files of a run, and that they survive a full disk."""

from __future__ import annotations

import dataclasses
import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest

from harness.build import ROOT
from harness.errors import UsageError
from harness.report import records
from harness.report.jsonl import JsonLines
from harness.report.junit import write_junit
from harness.report.records import CaseResult, Footer, Header, SubjectRecord, case_name, counts_of, to_line

SCHEMA = json.loads((Path(records.__file__).parent / "schema.json").read_text())
HEADER = Header(SubjectRecord(facts={"path": "/lib/libOpenCL.so.1", "name": "Some", "version": "2.3"}))
CASE = CaseResult(
    case="suites/discovery/test_x.py::TestY::test_z[a::b]",
    requirements=("DISC-LNX-011", "DISC-LNX-012"),
    verdict="crash",
    message="expected a\nhappened \x1b[31m\udc80",
    log=("app clFlush(0x0)",),
    files=("vendors/a.icd",),
    environment={"OCL_ICD_VENDORS": "/tmp/v"},
    reproduce="clharness replay x",
    duration=0.25,
    status="unexpected",
)


@pytest.mark.parametrize(
    ("case", "name"),
    [
        ("suites/a/test_x.py::test_y", "test_y"),
        ("suites/a/test_x.py::TestZ::test_y[p-q]", "test_y[p-q]"),
        ("suites/a/test_x.py::test_y[a::b]", "test_y[a::b]"),
    ],
)
def test_case_name(case: str, name: str) -> None:
    assert case_name(case) == name


def test_a_case_survives_json() -> None:
    line = to_line(CASE.to_json())
    assert line.isascii()
    assert line.count("\n") == 1
    assert CaseResult.from_json(json.loads(line)) == CASE


def test_a_reader_ignores_keys_of_later_versions() -> None:
    assert CaseResult.from_json(CASE.to_json() | {"later": [1]}) == CASE


def test_counts_have_zeros() -> None:
    counts = counts_of([CASE, CASE])
    assert counts["verdict"]["crash"] == 2
    assert counts["verdict"]["pass"] == 0
    assert sum(counts["status"].values()) == 2


def test_subject_names_the_loader_or_its_path() -> None:
    assert HEADER.subject.title == "Some 2.3"
    assert SubjectRecord(facts={"path": "/x.so", "name": "unknown"}).title == "/x.so"


def test_the_machine_is_described_without_its_name() -> None:
    assert os.uname().nodename not in json.dumps(records.machine_facts()).split('"')


def validate(record: Any) -> None:
    """Raises ValidationError where it does not follow the schema."""
    schema_of = jsonschema.validators.validator_for(SCHEMA)
    schema_of.check_schema(SCHEMA)
    schema_of(SCHEMA, format_checker=schema_of.FORMAT_CHECKER).validate(record)


ADDED = {"log_times", "loaders"}  # since the last change of the format, so that records without it are right as well


@pytest.mark.parametrize(
    ("kind", "record"),
    [
        ("header", HEADER.to_json()),
        ("case", CASE.to_json()),
        ("run", CASE.run_to_json(1)),
        ("footer", Footer(counts_of([CASE]), 1, complete=True).to_json()),
    ],
)
def test_records_follow_the_schema(kind: str, record: dict[str, Any]) -> None:
    schema = SCHEMA["$defs"][kind]
    validate(json.loads(to_line(record)))
    assert set(record) == set(schema["properties"])
    assert set(record) - ADDED == set(schema["required"])


def test_the_schema_has_the_verdicts_and_statuses_of_the_code() -> None:
    assert SCHEMA["$defs"]["verdict"]["enum"] == list(records.VERDICTS)
    assert SCHEMA["$defs"]["status"]["enum"] == list(records.STATUSES)
    assert SCHEMA["$defs"]["header"]["properties"]["format"]["const"] == records.FORMAT


def test_the_schema_refuses_a_wrong_record() -> None:
    with pytest.raises(jsonschema.ValidationError):
        validate(json.loads(to_line(CASE.to_json() | {"verdict": "slow"})))


def test_json_lines_are_there_before_the_file_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    lines = JsonLines(path)
    lines.write(HEADER.to_json())
    assert json.loads(path.read_text())["record"] == "header"
    lines.close()


OTHER_RUN = """
import sys
from pathlib import Path
from harness.report.jsonl import JsonLines
lines = JsonLines(Path(sys.argv[1]))
lines.write({"record": "header"})
print("written", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("first", [(), (HEADER.to_json(),)], ids=["new", "gone on with"])
def test_a_file_that_another_run_is_writing_is_refused_and_left_as_it_is(
    tmp_path: Path, first: tuple[dict[str, Any], ...]
) -> None:
    path = tmp_path / "run.jsonl"
    command = [sys.executable, "-P", "-c", OTHER_RUN, str(path)]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=os.environ | {"PYTHONPATH": str(ROOT)}, **pipes) as other:
        assert other.stdout and other.stdout.readline() == "written\n"
        with pytest.raises(UsageError, match="another run is writing it"):
            JsonLines(path, first)
        assert path.read_text() == '{"record": "header"}\n'
        assert other.communicate()
    JsonLines(path, first).close()
    assert [json.loads(line)["record"] for line in path.read_text().splitlines()] == ["header"] * len(first)
    assert [one.name for one in tmp_path.iterdir()] == ["run.jsonl"]


def test_a_full_device_is_trouble_and_no_exception() -> None:
    lines = JsonLines(Path("/dev/full"))
    lines.write(HEADER.to_json())
    lines.write(CASE.to_json())
    lines.close()
    assert lines.trouble == "/dev/full: the records are incomplete: No space left on device"


def test_a_file_that_fills_up_ends_with_a_whole_line(tmp_path: Path) -> None:
    """The limit on the size of files stands in for the disk: a write that only half fits comes back short."""
    path = tmp_path / "run.jsonl"
    record = CASE.to_json()
    room = len(to_line(record)) * 5 // 2
    old_limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    old_handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, old_limit[1]))
        lines = JsonLines(path)
        for _ in range(4):
            lines.write(record)
        lines.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old_limit)
        signal.signal(signal.SIGXFSZ, old_handler)
    assert lines.trouble == f"{path}: the records are incomplete: File too large"
    text = path.read_text()
    assert text == to_line(record) * 2


def test_a_folder_that_is_missing_is_a_wrong_use(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none/run\.jsonl: cannot be written: No such file or directory"):
        JsonLines(tmp_path / "none" / "run.jsonl")


def result(name: str, **changes: Any) -> CaseResult:
    return dataclasses.replace(CASE, case=f"suites/discovery/test_x.py::{name}", **changes)


def test_junit_agrees_with_the_exit_code(tmp_path: Path) -> None:
    path = tmp_path / "run.xml"
    results = [
        result("ok", verdict="pass", status="ok"),
        result("bad", status="unexpected"),
        result("better", verdict="pass", status="improved"),
        result("other", verdict="pass", status="changed", outcome="b"),
        result("known", status="expected", reason="upstream knows"),
        result("weak", verdict="fail", status="deviation", strength="should"),
        result("not", verdict="unsupported", status="ok", reason="needs root"),
        result("gone", verdict="unsupported", status="unexpected"),
        result("broken", verdict="error", status="unexpected"),
    ]
    write_junit(path, HEADER, results)
    root = ElementTree.parse(path).getroot()
    (suite,) = root
    assert suite.get("name") == "DISC-LNX Linux: directory and file format"
    tags = {
        case.get("name"): next((child.tag for child in case if child.tag != "properties"), None)
        for case in suite.iter("testcase")
    }
    assert tags == {
        "ok": None,
        "bad": "failure",
        "better": "failure",
        "other": "failure",
        "known": "system-out",
        "weak": "system-out",
        "not": "skipped",
        "gone": "failure",
        "broken": "error",
    }
    assert {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "9",
        "failures": "4",
        "errors": "1",
        "skipped": "1",
    }
    assert next(element.text for element in suite.iter("system-out")) == "known deviation: crash: upstream knows"
    known = [p.get("value") for p in suite.iter("property") if p.get("name") == "known-deviation"]
    assert known == ["upstream knows"]
    assert {key: root.get(key) for key in ("tests", "failures")} == {"tests": "9", "failures": "4"}


def test_junit_names_cases_and_requirements_and_stays_valid(tmp_path: Path) -> None:
    path = tmp_path / "run.xml"
    write_junit(path, HEADER, [CASE])
    (case,) = ElementTree.parse(path).getroot().iter("testcase")
    assert case.get("classname") == "suites.discovery.test_x"
    assert case.get("name") == "TestY::test_z[a::b]"
    properties = [(p.get("name"), p.get("value")) for p in case.iter("property")]
    assert ("requirement", "DISC-LNX-011") in properties
    assert ("requirement", "DISC-LNX-012") in properties
    failure = case.find("failure")
    assert failure is not None
    assert failure.get("type") == "crash"
    assert failure.get("message") == "unexpected crash: expected a"
    text = failure.text or ""
    assert text.startswith("DISC-LNX-011: Special files (FIFO, socket, device)")
    assert "happened \\x1b[31m\\x80\napp clFlush(0x0)" in text
    assert text.endswith("reproduce: clharness replay x")
    assert [p.name for p in tmp_path.iterdir()] == ["run.xml"]
