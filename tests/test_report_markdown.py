# SPDX-License-Identifier: Apache-2.0
"""The summary of a run as Markdown, in the place that a CI system names."""

from __future__ import annotations

import io
from pathlib import Path

from harness.expectations import Expectations
from harness.report import judge
from harness.report.ending import Ending
from harness.report.markdown import summary
from harness.report.reporter import Reporter
from tests.test_report_terminal import BAD, FIFO, HANG, HEADER, case, expectation_file


def test_the_step_summary_is_appended(tmp_path: Path) -> None:
    path = tmp_path / "summary.md"
    path.write_text("before\n")
    reporter = Reporter(None, environ={"GITHUB_STEP_SUMMARY": str(path)})
    reporter.start(HEADER)
    reporter.case(judge(BAD, Expectations(), strict=False))
    reporter.finish()
    text = path.read_text()
    assert text.startswith("before\n### clharness: Some 2.3: not as expected, 1 of 1 case unexpected.")
    assert "unexpected fail | suites/discovery/test\\_x.py::test\\_newline\\[a\\] |" in text


def test_the_step_summary_has_table_deviations_and_grey_areas(tmp_path: Path) -> None:
    expectations = expectation_file(tmp_path, HANG)
    results = [FIFO, case("a"), case("b", "pass", "DISC-LNX-022", outcome="lost")]
    text = summary(Ending(HEADER, [judge(r, expectations, strict=False) for r in results], 0))
    assert "| DISC-LNX Linux: directory and file format | 3 | 2 | 1 |  |" in text
    assert "| 1 | hang | DISC-LNX-011 | opens it |" in text
    assert text.count("<details>") == text.count("</details>") == 2
    assert "Unexpected" not in text


def test_the_step_summary_is_bounded() -> None:
    red = (
        case(f"t{n}", "fail", message=f"S.\n{chr(97 + n // 26)}{chr(97 + n % 26)}") for n in range(203)
    )  # each for a cause of its own
    results = [judge(one, Expectations(), strict=False) for one in red]
    text = summary(Ending(HEADER, results, 1))
    assert "test\\_x.py::t199 " in text
    assert "t200 " not in text
    assert "\n... and 3 more.\n" in text
    assert "more." not in summary(Ending(HEADER, results[:200], 1))


def test_the_step_summary_tells_each_cause_once_and_what_happened() -> None:
    red = [case(f"test_a[{n}]", "fail", message="It answers.\nclFlush answered 7") for n in range(30)]
    text = summary(Ending(HEADER, [judge(one, Expectations(), strict=False) for one in red], 1))
    rows = [line for line in text.splitlines() if "unexpected fail" in line]
    assert len(rows) == 1
    assert "test\\_a\\[0\\], and 29 more cases | clFlush answered 7 |" in rows[0]


def test_a_step_summary_that_cannot_be_written_does_not_fail_the_run(tmp_path: Path) -> None:
    stream = io.StringIO()
    reporter = Reporter(stream, environ={"GITHUB_STEP_SUMMARY": str(tmp_path / "none" / "x")})
    reporter.start(HEADER)
    reporter.case(judge(case("a"), Expectations(), strict=False))
    assert reporter.finish() == 0
    assert "the step summary could not be written: No such file" in stream.getvalue()


def test_the_step_summary_says_what_the_exit_code_says(tmp_path: Path) -> None:
    """Trouble with another file makes the run end with 3; the summary must not call it as expected."""
    path = tmp_path / "summary.md"
    reporter = Reporter(None, junit=tmp_path / "none" / "x.xml", environ={"GITHUB_STEP_SUMMARY": str(path)})
    reporter.start(HEADER)
    reporter.case(judge(case("a"), Expectations(), strict=False))
    assert reporter.finish() == 3
    assert "### clharness: Some 2.3: the harness failed, the results are incomplete" in path.read_text()


def test_the_step_summary_cannot_be_broken_by_a_loader() -> None:
    evil = case("t", "pass", "DISC-LNX-022", outcome="a|b <img> `x`\n# y")
    text = summary(Ending(HEADER, [judge(evil, Expectations(), strict=False)], 0))
    assert "| DISC-LNX-022 | a\\|b &lt;img&gt; \\`x\\` # y |" in text
