# SPDX-License-Identifier: Apache-2.0
"""What a run says about its expectation file: what is not listed, stale, unexplained, or newer than the file."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

from harness.build import build
from harness.deviation import Deviation
from harness.expectations import load
from harness.report import CaseResult, Header, SubjectRecord, judge
from harness.report.reporter import Reporter
from tests.forked import clharness

ENTRY = '[[deviation]]\nrequirement = "{}"\ncase = "{}"\nverdict = "fail"\nreason = "{}"\n'
SELECTED = "test_library_path_without_final_newline"


def case(name: str, requirement: str, *deviations: Deviation) -> CaseResult:
    verdict = "fail" if deviations else "pass"
    return CaseResult(f"suites/x/test_x.py::{name}", (requirement,), verdict, deviations=deviations)  # type: ignore[arg-type]


def report(
    folder: Path, text: str, *results: CaseResult, collected: Sequence[tuple[Sequence[str], str]] | None = None
) -> tuple[int, str]:
    path, stream = folder / "x.toml", io.StringIO()
    path.write_text(f'loader = "x"\n{text}')
    expectations = load(path)
    reporter = Reporter(stream, expectations=expectations, environ={})
    reporter.start(Header(SubjectRecord(facts={"name": "x"}), planned=len(results)))
    for result in results:
        reporter.case(judge(result, expectations, False))
    return reporter.finish(collected=collected), stream.getvalue()


def test_what_is_not_listed_is_named_alone(tmp_path: Path) -> None:
    listed = ENTRY.format("API-ARG-001", "test_a", "known") + 'deviates = ["size=0: CL_SUCCESS*"]\n'
    known, new = Deviation("size=0", "CL_SUCCESS instead of CL_INVALID_VALUE"), Deviation("ptr=NULL", "SIGSEGV")
    code, text = report(tmp_path, listed, case("test_a", "API-ARG-001", known, new))
    assert code == 1
    assert "  actual       ptr=NULL: SIGSEGV (not listed in the expectation file)\n" in text
    code, text = report(tmp_path, listed, case("test_a", "API-ARG-001", known))
    assert code == 0
    assert "     1 fail  API-ARG-001: known\n" in text


def test_an_entry_that_no_collected_case_has_is_stale_whatever_is_selected(tmp_path: Path) -> None:
    entries = ENTRY.format("DISC-LNX-011", "test_gone", "r") + ENTRY.format("DISC-LNX-011", "test_unselected", "r")
    collected = [(["DISC-LNX-011"], "test_unselected"), (["DISC-LNX-013"], "test_a")]
    code, text = report(tmp_path, entries, case("test_a", "DISC-LNX-013"), collected=collected)
    assert code == 1
    assert "deviation DISC-LNX-011 test_gone: no case has it" in text
    assert "test_unselected: no case has it" not in text


def test_entries_to_be_explained_are_reported(tmp_path: Path) -> None:
    entries = ENTRY.format("DISC-LNX-011", "test_a", "to be explained: assert 1 == 2")
    red = case("test_a", "DISC-LNX-011", Deviation("", "assert 1 == 2"))
    code, text = report(tmp_path, entries + ENTRY.format("DISC-LNX-011", "test_b", "known"), red)
    assert code == 0
    section = text[text.index("To be explained in ") :]
    assert "give each entry a reason:\n  deviation DISC-LNX-011 test_a: to be explained: assert 1 == 2\n" in section
    assert "test_b" not in section
    assert "To be explained" not in report(tmp_path, ENTRY.format("DISC-LNX-011", "test_a", "known"), red)[1]


def test_sections_that_the_file_has_not_seen_are_told(tmp_path: Path) -> None:
    head = 'confirmed = "2026-01-31"\nsections = ["DISC-LNX"]\n'
    results = [case("test_a", "DISC-LNX-011"), case("test_b", "DISP-ARG-001"), case("test_c", "DISP-ARG-001"),
               case("test_d", "DISP-EXT-001", Deviation("", "assert 1 == 2"))]  # fmt: skip
    code, text = report(tmp_path, head, *results)
    assert code == 1  # they count as any other
    assert (
        "3 cases of sections that this expectation file has not seen (last confirmed 2026-01-31): "
        "DISP-ARG, DISP-EXT (1 unexpected)\n"
    ) in text
    assert "has not seen" not in report(tmp_path, "", *results)[1]


def test_a_run_of_few_cases_reports_stale_entries(tmp_path: Path) -> None:
    """The collection knows all cases, and a selection does not silence it."""
    path = tmp_path / "x.toml"
    path.write_text(
        'loader = "clharness reference loader"\nsections = ["DISC-GEN"]\n'
        + ENTRY.format("DISC-LNX-011", "test_gone", "r").replace("fail", "hang")
        + ENTRY.format("DISC-LNX-011", "*FIFO*", "r").replace("fail", "hang")
    )
    loader = build().reference_loader
    done = clharness("loader", loader, "-k", SELECTED, "--expect", path)
    assert "deviation DISC-LNX-011 test_gone: no case has it" in done.stdout, done.stderr
    assert "*FIFO*: no case has it" not in done.stdout
    assert "has not seen: DISC-LNX" in done.stdout
    assert done.returncode == 1
