# SPDX-License-Identifier: Apache-2.0
"""The report on a terminal, in a log, in a CI system's summary; and the exit codes."""

from __future__ import annotations

import dataclasses
import io
import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from harness.escaping import printable
from harness.expectations import Expectations, load
from harness.report import CaseResult, Header, SubjectRecord, judge
from harness.report.layout import COLUMNS, column, section_counts
from harness.report.reporter import Reporter
from harness.report.terminal import Color, Terminal, color_option

HEADER = Header(SubjectRecord(facts={"path": "/lib/libOpenCL.so.1", "name": "Some", "version": "2.3"}))


class Screen(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


class Full(io.StringIO):
    """A stream on a full disk."""

    def write(self, _text: str) -> int:
        raise OSError(28, "No space left on device")


class Closed(io.StringIO):
    def write(self, _text: str) -> int:
        raise BrokenPipeError(32, "Broken pipe")


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def case(name: str, verdict: str = "pass", requirement: str = "DISC-LNX-013", **changes: Any) -> CaseResult:
    return CaseResult(f"suites/discovery/test_x.py::{name}", (requirement,), verdict, **changes)  # type: ignore[arg-type]


def report(
    *results: CaseResult,
    expectations: Expectations | None = None,
    stream: io.StringIO | None = None,
    strict: bool = False,
    interrupted: bool = False,
    whole_suite: bool = False,
    **options: Any,
) -> tuple[int, str]:
    stream = stream or io.StringIO()
    expectations = expectations or Expectations()
    reporter = Reporter(stream, expectations=expectations, strict=strict, environ={}, **options)
    known = str(expectations.path) if expectations.path else None
    reporter.start(dataclasses.replace(HEADER, planned=len(results), expectations=known))
    for result in results:
        reporter.case(judge(result, expectations, strict))
    return reporter.finish(interrupted, whole_suite), stream.getvalue()


def expectation_file(folder: Path, entries: str) -> Expectations:
    path = folder / "some.toml"
    path.write_text('loader = "Some"\n' + entries)
    return load(path, "2.3")


HANG = '[[deviation]]\nrequirement = "DISC-LNX-011"\nverdict = "hang"\nreason = "opens it"\n'
FIFO = case("test_fifo", "hang", "DISC-LNX-011")

BAD = case(
    "test_newline[a]",
    "fail",
    message="expected {a}\nhappened {}",
    log=("app clGetPlatformIDs(0)", "icd:a clIcdGetPlatformIDsKHR"),
    files=("vendors/a.icd",),
    environment={"OCL_ICD_VENDORS": "/tmp/v"},
    sandbox="/tmp/kept",
    reproduce="clharness replay /tmp/kept",
)


def test_all_as_expected() -> None:
    code, text = report(case("test_a"), case("test_b"))
    assert code == 0
    assert text.splitlines()[-1] == "Some 2.3: as expected, 2 cases."
    assert "UNEXPECTED" not in text


def test_a_capability_that_vanished_is_reported_once_with_the_reason(tmp_path: Path) -> None:
    gone = case("a", "unsupported", unsupported="loader", capability="layers", reason="no layers")
    code, text = report(gone, expectations=expectation_file(tmp_path, '[capabilities]\nlayers = ""\n'))
    assert code == 1
    assert "  actual       unsupported: no layers\n" in text
    assert "Unsupported:" not in text


def test_what_is_bad_stands_out() -> None:
    _, text = report(case("a"), BAD, case("b", "pass", "DISC-GEN-001"), color="always", verbose=True)
    assert "\x1b[31mDISC-LNX Linux" in text
    assert "\nDISC-GEN " in text
    assert text.splitlines()[-1].startswith("\x1b[31mSome 2.3")
    assert report(case("a"), color="always")[1].splitlines()[-1].startswith("\x1b[32mSome 2.3")


def test_the_table_counts_each_case_once() -> None:
    results = [
        judge(result, Expectations(), strict=False)
        for result in (
            case("a"),
            case("b", "fail"),
            case("c", "fail", "DISC-LNX-011"),
            case("d", "fail", "DISC-LNX-005"),
            case("e", "fail", "DISC-LNX-022"),
            case("f", "unsupported", unsupported="machine"),
            case("g", "pass", "DISC-GEN-001"),
        )
    ]
    counts = section_counts(results)
    assert list(counts) == ["DISC-GEN", "DISC-LNX"]  # the order of the catalogue
    assert counts["DISC-LNX"] == {
        "cases": 6,
        "ok": 1,
        "unexpected": 1,
        "should": 1,
        "de-facto": 1,
        "undefined": 1,
        "unsupported": 1,
    }
    assert counts["DISC-GEN"] == {"cases": 1, "ok": 1}
    assert {column(r) for r in results} < set(COLUMNS)


def test_the_table_is_printed() -> None:
    _, text = report(case("a"), case("b", "fail"), case("c", "pass", "DISP-OBJ-001"))
    lines = text.splitlines()
    (row,) = [line for line in lines if line.startswith("Discovery ")]
    assert row.split() == ["Discovery", "2", "1", "1"]
    (total,) = [line for line in lines if line.startswith("total")]
    assert total.split() == ["total", "3", "2", "1"]


def test_a_deviation_that_is_gone_fails_the_run(tmp_path: Path) -> None:
    better = case("test_fifo", "pass", "DISC-LNX-011")
    code, text = report(better, expectations=expectation_file(tmp_path, HANG))
    assert code == 1
    assert "IMPROVED pass" in text
    assert "  actual       pass: the known deviation is gone (opens it)\n" in text
    assert "gone or changed: ./clharness loader /lib/libOpenCL.so.1 --update-expectations" in text


def test_a_changed_outcome_fails_the_run(tmp_path: Path) -> None:
    pin = '[[outcome]]\nrequirement = "DISC-LNX-022"\noutcome = "lost"\n'
    expectations = expectation_file(tmp_path, pin)
    code, text = report(case("test_bom", "pass", "DISC-LNX-022", outcome="found"), expectations=expectations)
    assert code == 1
    assert "CHANGED pass" in text
    assert "  actual       'found'; on record is 'lost'\n" in text


def test_weak_deviations_are_reported_and_do_not_count() -> None:
    weak = case("test_suffix", "fail", "DISC-LNX-005")
    code, text = report(weak, case("test_a"))
    assert code == 0
    assert "fail  DISC-LNX-005  test_suffix\n" in text
    assert report(weak, strict=True)[0] == 1


def test_stale_entries_fail_a_run_of_the_whole_suite(tmp_path: Path) -> None:
    expectations = expectation_file(tmp_path, HANG)
    code, text = report(case("a"), expectations=expectations, whole_suite=True)
    assert code == 1
    assert "deviation DISC-LNX-011: no case has it" in text
    assert text.splitlines()[-1] == "Some 2.3: not as expected, 1 stale expectation."
    assert report(case("a"), expectations=expectations)[0] == 0
    stopped = report(case("a"), expectations=expectations, whole_suite=True, interrupted=True)
    assert "no case has it" not in stopped[1]


@pytest.mark.parametrize(
    ("results", "interrupted", "code", "says"),
    [
        ([], False, 4, "nothing ran"),
        ([case("a"), case("b", "fail")], True, 130, "interrupted after 2 cases of 2, 1 unexpected so far"),
        ([], True, 130, "interrupted after 0 cases"),
        ([case("a", "error"), case("b")], False, 3, "the harness failed, 1 could not be judged (2 cases)."),
        ([case("a", "error"), case("b", "fail")], False, 1, "2 of 2 cases unexpected"),
        ([case("a", "unsupported", unsupported="machine")], False, 77, "all of 1 case unsupported"),
        ([case("a", "unsupported", unsupported="machine"), case("b")], False, 0, "2 cases, 1 unsupported."),
        ([case("a", "crash", "DISC-LNX-022")], False, 1, "1 of 1 case unexpected"),
    ],
)
def test_exit_codes(results: list[CaseResult], interrupted: bool, code: int, says: str) -> None:
    got, text = report(*results, interrupted=interrupted)
    assert got == code
    assert says in text.splitlines()[-1]


def test_the_records_are_written_as_cases_end(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    reporter = Reporter(None, path, environ={})
    reporter.start(HEADER)
    reporter.case(judge(BAD, Expectations(), strict=False))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["record"] for line in lines] == ["header", "case"]
    assert reporter.finish() == 1
    footer = json.loads(path.read_text().splitlines()[-1])
    assert (footer["record"], footer["exit"], footer["complete"]) == ("footer", 1, True)
    assert footer["counts"]["verdict"]["fail"] == 1


def test_an_interrupted_run_says_so_in_the_records(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    report(case("a"), interrupted=True, jsonl=path)
    footer = json.loads(path.read_text().splitlines()[-1])
    assert (footer["exit"], footer["complete"]) == (130, False)


def test_a_full_disk_is_one_sentence_and_exit_3() -> None:
    code, text = report(case("a"), jsonl=Path("/dev/full"))
    assert code == 3
    assert "clharness: /dev/full: the records are incomplete: No space left on device\n" in text
    assert text.splitlines()[-1] == "Some 2.3: the harness failed, the results are incomplete (1 case)."


def test_junit_is_written_and_its_trouble_told(tmp_path: Path) -> None:
    path = tmp_path / "run.xml"
    assert report(case("a"), junit=path)[0] == 0
    assert ElementTree.parse(path).getroot().get("tests") == "1"
    code, text = report(case("a"), junit=tmp_path / "none" / "run.xml")
    assert code == 3
    assert "run.xml: cannot be written: No such file or directory" in text


def test_update_makes_the_run_end_as_expected(tmp_path: Path) -> None:
    expectations = expectation_file(tmp_path, HANG)
    code, text = report(
        BAD,
        case("test_fifo", "pass", "DISC-LNX-011"),
        expectations=expectations,
        update=True,
        whole_suite=True,
    )
    assert code == 0
    assert "removed deviation DISC-LNX-011: its cases pass" in text
    after = load(tmp_path / "some.toml")
    assert after.expected(["DISC-LNX-013"], "test_newline[a]").verdicts == ("fail",)


def test_an_update_that_fails_is_reported(tmp_path: Path) -> None:
    code, text = report(BAD, update=True, update_path=tmp_path / "none" / "x.toml")
    assert code == 3
    assert "x.toml: cannot be written: No such file or directory; make it writable" in text


def test_an_interrupted_run_updates_nothing(tmp_path: Path) -> None:
    expectations = expectation_file(tmp_path, HANG)
    before = (tmp_path / "some.toml").read_text()
    report(BAD, expectations=expectations, update=True, interrupted=True)
    assert (tmp_path / "some.toml").read_text() == before


def test_control_characters_do_not_reach_the_terminal() -> None:
    evil = case("test_a", "fail", message="\x1b]0;title\x07 \udc9b x\ty", reproduce="\x1b[2J")
    _, text = report(evil)
    assert "\x1b" not in text
    assert "\\x1b]0;title\\x07 \\x9b x" in text
    assert printable("a\nb\tc") == "a\nb\tc"


@pytest.mark.parametrize(
    ("environ", "color", "colored"),
    [
        ({}, "auto", True),
        ({"NO_COLOR": "1"}, "auto", False),
        ({"NO_COLOR": ""}, "auto", True),
        ({"TERM": "dumb"}, "auto", False),
        ({}, "never", False),
        ({"NO_COLOR": "1"}, "always", True),
    ],
)
def test_colors(environ: dict[str, str], color: Color, colored: bool) -> None:
    assert Terminal(Screen(), color, environ).style("x", "bad") == ("\x1b[31mx\x1b[0m" if colored else "x")


def test_no_colors_in_a_file() -> None:
    assert Terminal(io.StringIO(), "auto", {}).style("x", "bad") == "x"
    assert Terminal(io.StringIO(), "always", {}).style("x", "bad") == "\x1b[31mx\x1b[0m"


def test_color_option() -> None:
    spellings = ["yes", "always", "no", "never", "auto", None]
    assert [color_option(o) for o in spellings] == ["always", "always", "never", "never", "auto", "auto"]


def test_progress_is_redrawn_on_a_terminal() -> None:
    screen, clock = Screen(), Clock()
    terminal = Terminal(screen, "never", {}, clock)
    clock.now = 1.0
    terminal.progress("[1/9] x" + "y" * 500)
    clock.now = 1.05
    terminal.progress("too soon")
    terminal.line("a line above")
    terminal.end_progress()
    shown = screen.getvalue()
    assert "too soon" not in shown
    first, above, last = shown.split("\r\x1b[K")[1:]
    assert first.startswith("[1/9] x")
    assert len(first) < terminal.width
    assert above == f"a line above\n{first}"
    assert last == ""


@pytest.mark.parametrize("environ", [{"CI": "true"}, {"TERM": "dumb"}])
def test_progress_is_plain_on_a_poor_terminal(environ: dict[str, str]) -> None:
    screen, clock = Screen(), Clock()
    terminal = Terminal(screen, "never", environ, clock)
    clock.now = 1.0
    terminal.progress("early")
    clock.now = 31.0
    terminal.progress("[5/9] x")
    assert screen.getvalue() == "[5/9] x\n"


def test_plain_progress_of_a_long_run_is_a_few_lines() -> None:
    screen, clock = Screen(), Clock()
    terminal = Terminal(screen, "never", {"CI": "true"}, clock)
    for second in range(3600):
        clock.now = float(second)
        terminal.progress(f"{second} s")
    assert screen.getvalue().split("\n") == ["30 s", "90 s", "210 s", "450 s", "930 s", "1890 s", ""]


def test_progress_counts_and_makes_room_for_the_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.report.terminal._REDRAW", 0.0)
    screen = Screen()
    code, text = report(BAD, case("test_b"), stream=screen)
    assert code == 1
    assert "\r\x1b[K[2 of 2] 1 unexpected  test_b" in text
    assert re.search(r"test_b\r\x1b\[K\n(\x1b\[31m)?Some 2.3: not as expected", text)


def test_deviations_are_reported_as_they_happen() -> None:
    stream = io.StringIO()
    reporter = Reporter(stream, environ={})
    reporter.start(HEADER)
    reporter.case(judge(BAD, Expectations(), strict=False))
    assert "unexpected fail  suites/discovery/test_x.py::test_newline[a]\n" in stream.getvalue()


def test_nothing_is_reported_early_when_not_live() -> None:
    stream = io.StringIO()
    reporter = Reporter(stream, live=False, environ={})
    reporter.start(HEADER)
    before = stream.getvalue()
    reporter.case(judge(BAD, Expectations(), strict=False))
    assert stream.getvalue() == before


def test_a_reader_that_has_seen_enough_is_no_trouble() -> None:
    assert report(case("a"), stream=Closed())[0] == 0
    assert report(BAD, stream=Closed())[0] == 1


def test_a_report_that_cannot_be_printed_is_trouble() -> None:
    assert report(case("a"), stream=Full())[0] == 3
    assert report(BAD, stream=Full())[0] == 1


def test_an_output_that_knows_no_unicode_is_no_trouble() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    Terminal(stream, "auto", {}).line("caf\u00e9")
    assert raw.getvalue() == b"caf\\xe9\n"


def test_a_report_that_cannot_be_printed_is_trouble_of_the_harness() -> None:
    reporter = Reporter(Full(), environ={})
    reporter.start(HEADER)
    reporter.case(judge(case("a"), Expectations(), strict=False))
    assert reporter.finish() == 3
    assert reporter.unprinted == "the report could not be printed: [Errno 28] No space left on device"


@pytest.mark.parametrize("planned", [1, 3])
def test_planned_cases_that_are_not_the_recorded_ones_are_never_green(tmp_path: Path, planned: int) -> None:
    """Terminal, JSON, JUnit and exit code agree."""
    records, junit, stream = tmp_path / "run.jsonl", tmp_path / "run.xml", io.StringIO()
    reporter = Reporter(stream, records, junit, environ={})
    reporter.start(dataclasses.replace(HEADER, planned=planned))
    for name in ("a", "b"):
        reporter.case(judge(case(name), Expectations(), strict=False))
    assert reporter.finish() == 3
    output = f"2 of {planned} planned cases have a re"
    assert output in stream.getvalue()
    footer = json.loads(records.read_text().splitlines()[-1])
    assert (footer["planned"], footer["recorded"], footer["exit"]) == (planned, 2, 3)
    assert output in junit.read_text() and 'errors="1"' in junit.read_text()


def test_the_report_is_in_the_order_of_the_plan() -> None:
    first, second = (case(name, "fail", number=number) for number, name in enumerate(("first", "second")))
    _, text = report(second, first, live=False)
    assert text.index("::first") < text.index("also         second")
