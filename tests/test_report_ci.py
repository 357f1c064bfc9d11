# SPDX-License-Identifier: Apache-2.0
"""What CI systems read: annotations, SARIF, a badge; each names requirement and place in the specification."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import re
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from harness.build import ROOT
from harness.cli.main import main
from harness.expectations import Expectations
from harness.report import SubjectRecord, judge
from harness.report.annotations import error_lines
from harness.report.badge import badge
from harness.report.ending import Ending
from harness.report.junit import write_junit
from harness.report.reporter import Reporter
from harness.report.sarif import sarif
from tests.sarif import assert_sarif
from tests.test_report_compare import run, written
from tests.test_report_terminal import BAD, HEADER, case

URL = "https://registry.khronos.org/OpenCL/sdk/3.0/docs/man/html/cl_khr_icd.html"
RED = dataclasses.replace(BAD, status="unexpected", message="It answers.\n100% {a}: b,\nc")
KNOWN = case("test_known", "hang", "DISC-LNX-011", status="expected", reason="opens it")
ENDING = Ending(HEADER, [RED, KNOWN, case("test_a")], 1)
ACTIONS = {"GITHUB_ACTIONS": "true"}


def test_annotation_is_at_the_line_of_the_requirement() -> None:
    (line,) = error_lines(ENDING, ACTIONS)
    match = re.match(r"::error file=(\S+),line=(\d+),title=([^:]*)::(.*)$", line)
    assert match
    text = (ROOT / match[1]).read_text().splitlines()
    assert text[int(match[2]) - 1] == "[DISC-LNX-013]"
    assert match[3] == "unexpected fail DISC-LNX-013"
    assert "100%25 {a}: b," in match[4] and "%0A" in match[4] and URL in match[4]


def test_equal_causes_are_one_annotation_and_there_are_ten_at_most() -> None:
    same = [dataclasses.replace(RED, case=f"suites/x.py::test_{n}") for n in range(3)]
    (line,) = error_lines(Ending(HEADER, same, 1), ACTIONS)
    assert "::3 cases, first suites/x.py::test_0" in line
    other = [dataclasses.replace(RED, message=f"S.\n{'x' * n}") for n in range(30)]
    assert len(error_lines(Ending(HEADER, other, 1), ACTIONS)) == 10


def test_annotations_are_printed_only_where_they_are_asked_for() -> None:
    assert error_lines(ENDING, {}) == []
    for environ in ({}, ACTIONS):
        stream = io.StringIO()
        reporter = Reporter(stream, environ=environ)
        reporter.start(HEADER)
        reporter.case(judge(BAD, Expectations(), strict=False))
        reporter.finish()
        assert ("\n::error " in stream.getvalue()) == bool(environ)


def test_sarif_has_rules_results_and_suppressions() -> None:
    report = sarif(ENDING)
    assert report["version"] == "2.1.0"
    (only,) = report["runs"]
    rules = only["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["DISC-LNX-013", "DISC-LNX-011"]
    assert rules[0]["helpUri"] == URL
    assert rules[0]["shortDescription"]["text"] == "A file without a trailing newline is accepted."
    red, known = only["results"]
    assert (red["ruleId"], red["ruleIndex"], red["level"]) == ("DISC-LNX-013", 0, "error")
    assert red["message"]["text"].startswith("fail: 100% {a}: b,")
    assert red["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "libOpenCL.so.1"
    assert "suppressions" not in red
    assert known["suppressions"] == [{"kind": "external", "justification": "opens it"}]


@pytest.mark.parametrize("kind", ["loader", "layer", "icd"])
def test_sarif_is_valid_whatever_the_subject_is_called(kind: str) -> None:
    """A blank, a number sign or a per cent sign in a file's name are no part of a URI as they are."""
    facts = {"path": "/opt/a b/lib öl#1%25?.so", "name": "Some", "version": "1"}
    header = dataclasses.replace(HEADER, subject=SubjectRecord(kind, kind, facts))
    report = sarif(Ending(header, [RED, KNOWN, dataclasses.replace(RED, requirements=())], 1))
    assert_sarif(report)
    place = report["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "lib%20%C3%B6l%231%2525%3F.so"


def test_wrong_sarif_is_noticed() -> None:
    """What is held is held by something that can fail."""
    spoilers: list[Callable[[dict[str, Any]], object]] = [
        lambda run: run["tool"]["driver"].pop("name"),
        lambda run: run["results"][0].update(ruleIndex=7),
        lambda run: run["results"][0].update(level="fatal"),
        lambda run: run["results"][0].update(verdict="fail"),
        lambda run: run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"].update(uri="a b"),
        lambda run: run["results"][0].update(suppressions=[{"kind": "known"}]),
    ]
    for spoil in spoilers:
        report = sarif(ENDING)
        spoil(report["runs"][0])
        with pytest.raises(AssertionError):
            assert_sarif(report)


@pytest.mark.parametrize("kind", ["fifo", "link", "link to nothing", "plain"])
def test_files_of_a_run_stay_what_they_are(kind: str, tmp_path: Path) -> None:
    """Root, too, could replace a device such as /dev/stdout or /dev/null."""
    wanted = {name: tmp_path / name for name in ("json", "junit", "sarif")}
    for path in wanted.values():
        if kind == "fifo":
            os.mkfifo(path)
        elif kind.startswith("link"):
            path.symlink_to(tmp_path / f"{path.name}-itself")
        if kind in ("link", "plain"):
            path.write_text("older")
    states = {path: path.lstat() for path in wanted.values()}
    read: dict[str, bytes] = {}
    readers = [threading.Thread(target=lambda n=n: read.update({n: wanted[n].read_bytes()})) for n in wanted]
    for reader in readers if kind == "fifo" else ():
        reader.start()
    reporter = Reporter(None, wanted["json"], wanted["junit"], sarif=wanted["sarif"], environ={})
    reporter.start(HEADER, [judge(BAD, Expectations(), strict=False)])
    assert reporter.finish() == 1
    for reader in readers if kind == "fifo" else ():
        reader.join(timeout=30)
    contents = read if kind == "fifo" else {name: path.read_bytes() for name, path in wanted.items()}
    assert all(contents[name] and contents[name] != b"older" for name in wanted)
    for path, before in states.items():
        assert stat.S_IFMT(path.lstat().st_mode) == stat.S_IFMT(before.st_mode)


def test_run_writes_sarif_and_says_where_it_cannot(tmp_path: Path) -> None:
    for path, code in ((tmp_path / "x.sarif", 1), (tmp_path / "none" / "x.sarif", 3)):
        reporter = Reporter(None, sarif=path, environ={})
        reporter.start(HEADER)
        reporter.case(judge(BAD, Expectations(), strict=False))
        assert reporter.finish() == code
    assert json.loads((tmp_path / "x.sarif").read_text())["runs"][0]["results"]


@pytest.mark.parametrize(
    ("ending", "says"),
    [
        (ENDING, "1 unexpected"),
        (Ending(HEADER, [case("a"), KNOWN, case("b", "unsupported")], 0), "1 of 2 pass"),
        (Ending(HEADER, [], 130), "interrupted"),
        (Ending(HEADER, [], 3), "no result"),
    ],
)
def test_badge_says_how_the_run_ended(ending: Ending, says: str) -> None:
    picture = ElementTree.fromstring(badge(ending))
    assert picture.get("aria-label") == f"Some 2.3: {says}"


def test_report_command_writes_every_form(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = written(tmp_path / "a.jsonl", run(RED), 1)
    files = {name: tmp_path / f"out.{name}" for name in ("markdown", "badge", "sarif", "junit")}
    options = [part for name, path in files.items() for part in (f"--{name}", str(path))]
    assert main(["report", str(records), *options]) == 1
    starts = {"markdown": "### clharness: Some 1", "badge": "<svg", "sarif": "{", "junit": "<?xml"}
    assert {name: path.read_text().startswith(starts[name]) for name, path in files.items()} == dict.fromkeys(
        files, True
    )
    assert main(["report", str(records), str(records), "--badge", str(files["badge"])]) == 2
    assert "is about one run" in capsys.readouterr().err


def test_every_form_carries_the_place_in_the_specification(tmp_path: Path) -> None:
    write_junit(tmp_path / "x.xml", HEADER, ENDING.results)
    assert URL in (tmp_path / "x.xml").read_text()
