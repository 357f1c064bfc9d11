# SPDX-License-Identifier: Apache-2.0
"""Which verdicts count: the table of all that decides it."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.deviation import Deviation
from harness.expectations import Expectations, Expected, load
from harness.report import CaseResult, judge, status
from harness.report.records import STATUSES, Verdict
from harness.report.status import strength_of

PASS = Expected()
HANG = Expected(("hang",), reason="known")
FLAKY = Expected(("pass", "hang"))
LACKS = Expected(("unsupported",))
PINNED = Expected(outcome="a")
ALL_PINNED = Expected(all_pinned=True)

NO_FILE, FILE = False, True
LAX, STRICT = False, True

TABLE = [
    # verdict, expected, strength, file, strict, vanished, outcome, status
    ("pass", PASS, "must", NO_FILE, LAX, False, None, "ok"),
    ("pass", PASS, "undefined", FILE, LAX, False, None, "ok"),
    # Without a file, strength decides.
    ("fail", PASS, "must", NO_FILE, LAX, False, None, "unexpected"),
    ("fail", PASS, "should", NO_FILE, LAX, False, None, "deviation"),
    ("fail", PASS, "de-facto", NO_FILE, LAX, False, None, "deviation"),
    ("fail", PASS, "undefined", NO_FILE, LAX, False, None, "deviation"),
    ("leak", PASS, "must", NO_FILE, LAX, False, None, "unexpected"),
    ("leak", PASS, "should", NO_FILE, LAX, False, None, "deviation"),
    ("leak", PASS, "undefined", NO_FILE, LAX, False, None, "unexpected"),
    # A crash or a hang counts whatever the strength.
    ("crash", PASS, "must", NO_FILE, LAX, False, None, "unexpected"),
    ("crash", PASS, "should", NO_FILE, LAX, False, None, "unexpected"),
    ("hang", PASS, "de-facto", NO_FILE, LAX, False, None, "unexpected"),
    ("hang", PASS, "undefined", NO_FILE, LAX, False, None, "unexpected"),
    ("crash", PASS, "undefined", NO_FILE, LAX, False, None, "unexpected"),
    # --strict makes should and de-facto count; of undefined there is nothing to be strict about.
    ("fail", PASS, "should", NO_FILE, STRICT, False, None, "unexpected"),
    ("fail", PASS, "de-facto", NO_FILE, STRICT, False, None, "unexpected"),
    ("fail", PASS, "undefined", NO_FILE, STRICT, False, None, "deviation"),
    # With a file, every difference from it counts.
    ("fail", PASS, "should", FILE, LAX, False, None, "unexpected"),
    ("fail", PASS, "undefined", FILE, LAX, False, None, "unexpected"),
    ("leak", PASS, "de-facto", FILE, LAX, False, None, "unexpected"),
    ("hang", HANG, "must", FILE, LAX, False, None, "expected"),
    ("hang", HANG, "must", FILE, STRICT, False, None, "expected"),
    ("crash", HANG, "must", FILE, LAX, False, None, "unexpected"),
    ("pass", HANG, "must", FILE, LAX, False, None, "improved"),
    ("pass", HANG, "undefined", FILE, LAX, False, "a", "improved"),
    ("pass", FLAKY, "must", FILE, LAX, False, None, "ok"),
    ("hang", FLAKY, "must", FILE, LAX, False, None, "expected"),
    # Outcomes.
    ("pass", PASS, "undefined", FILE, LAX, False, "a", "ok"),
    ("pass", PINNED, "undefined", FILE, LAX, False, "a", "ok"),
    ("pass", PINNED, "undefined", FILE, LAX, False, "b", "changed"),
    ("pass", PINNED, "undefined", FILE, LAX, False, None, "changed"),
    ("fail", PINNED, "undefined", FILE, LAX, False, "a", "unexpected"),
    # Where a file has every outcome, one that it does not have is new.
    ("pass", ALL_PINNED, "undefined", FILE, LAX, False, "a", "changed"),
    ("pass", ALL_PINNED, "undefined", FILE, LAX, False, None, "ok"),
    ("fail", ALL_PINNED, "undefined", FILE, LAX, False, "a", "unexpected"),
    # Unsupported.
    ("unsupported", PASS, "must", NO_FILE, LAX, False, None, "ok"),
    ("unsupported", PASS, "must", NO_FILE, STRICT, False, None, "ok"),
    ("unsupported", PASS, "must", FILE, LAX, False, None, "ok"),
    ("unsupported", HANG, "must", FILE, LAX, False, None, "ok"),
    ("unsupported", PASS, "must", FILE, LAX, True, None, "unexpected"),
    ("unsupported", HANG, "must", FILE, LAX, True, None, "unexpected"),
    ("unsupported", LACKS, "must", FILE, LAX, False, None, "expected"),
    ("pass", LACKS, "must", FILE, LAX, False, None, "improved"),
    # The harness's own trouble always counts.
    ("error", PASS, "undefined", NO_FILE, LAX, False, None, "unexpected"),
    ("error", Expected(("error",)), "must", FILE, LAX, False, None, "unexpected"),
]


@pytest.mark.parametrize(("verdict", "expected", "strength", "file", "strict", "vanished", "outcome", "result"), TABLE)
def test_status(
    verdict: Verdict,
    expected: Expected,
    strength: str,
    file: bool,
    strict: bool,
    vanished: bool,
    outcome: str | None,
    result: str,
) -> None:
    assert status(verdict, expected, strength, file, strict, vanished, outcome) == result


def test_the_table_shows_every_status() -> None:
    assert {row[-1] for row in TABLE} == set(STATUSES) - {"flaky"}, "which takes several runs"


@pytest.mark.parametrize(
    ("runs", "verdicts", "result"),
    [
        (("pass", "fail"), ("pass",), "flaky"),
        (("fail", "pass"), ("fail",), "flaky"),
        (("fail", "fail"), ("pass",), "unexpected"),
        (("fail", "fail"), ("fail",), "expected"),
        (("pass", "fail"), ("pass", "fail"), "expected"),
        (("pass", "crash", "fail"), ("pass", "fail"), "flaky"),
        (("fail: ignored", "fail: refused"), ("pass",), "flaky"),
    ],
)
def test_runs_that_differ_are_flaky(
    tmp_path: Path, runs: tuple[str, ...], verdicts: tuple[str, ...], result: str
) -> None:
    path = tmp_path / "x.toml"
    entry = f'[[deviation]]\nrequirement = "DISC-LNX-011"\nverdict = {list(verdicts)}\nreason = "known"\n'
    path.write_text('loader = "x"\n' + (entry if verdicts != ("pass",) else ""))
    case = CaseResult("t", ("DISC-LNX-011",), "fail", runs=runs)
    judged = judge(case, load(path), strict=False)
    assert judged.status == result
    assert judged.counts == (result in ("flaky", "unexpected"))


@pytest.mark.parametrize("verdict", ["fail", "crash", "hang", "leak"])
@pytest.mark.parametrize("strength", ["must", "should", "de-facto", "undefined"])
def test_a_file_is_never_laxer_than_no_file(verdict: Verdict, strength: str) -> None:
    counts = {"unexpected", "improved", "changed"}
    without = status(verdict, PASS, strength, NO_FILE, STRICT, False, None) in counts
    assert not without or status(verdict, PASS, strength, FILE, LAX, False, None) in counts


def test_the_strongest_requirement_of_a_case_decides() -> None:
    assert strength_of(["DISC-LNX-022", "DISC-LNX-011"]) == "should"
    assert strength_of(["DISC-LNX-022"]) == "undefined"
    assert strength_of([]) == "must"


def test_judge_fills_in_the_judgement(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text(
        'loader = "x"\n[[deviation]]\nrequirement = "DISC-LNX-011"\ncase = "test_f[a]"\n'
        'verdict = "hang"\nreason = "known"\n'
    )
    raw = CaseResult("suites/discovery/test_x.py::test_f[a]", ("DISC-LNX-011",), "hang")
    judged = judge(raw, load(path), strict=False)
    assert (judged.status, judged.expected, judged.reason) == ("expected", ("hang",), "known")
    assert (judged.strength, judged.counts) == ("should", False)
    other = CaseResult("suites/discovery/test_x.py::test_f[b]", ("DISC-LNX-011",), "hang")
    assert judge(other, load(path), strict=False).status == "unexpected"
    assert judge(other, load(path), strict=False).counts


def test_judge_is_strict_about_a_loader_with_a_file(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text('loader = "x"\n')
    weak = CaseResult("t", ("DISC-LNX-005",), "fail")
    assert judge(weak, load(path), strict=False).status == "unexpected"
    assert judge(weak, Expectations(), strict=False).status == "deviation"


def test_judge_keeps_the_reason_of_the_machine() -> None:
    raw = CaseResult("t", ("DISC-ENV-013",), "unsupported", unsupported="machine", reason="needs root")
    judged = judge(raw, Expectations(), strict=True)
    assert (judged.status, judged.reason) == ("ok", "needs root")


def test_judge_counts_a_capability_that_vanished(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text('loader = "x"\n[capabilities]\n"layers" = ""\n"ICD 2" = ">=3.1"\n')

    def lacks(capability: str | None, version: str) -> str:
        raw = CaseResult("t", ("DISC-ENV-013",), "unsupported", unsupported="loader", capability=capability)
        return judge(raw, load(path, version), strict=False).status

    assert lacks("layers", "3.0") == "unexpected"
    assert lacks("ICD 2", "3.1") == "unexpected"
    assert lacks("ICD 2", "3.0") == "ok"
    assert lacks("another", "3.1") == "ok"
    assert lacks(None, "3.1") == "ok"


@pytest.mark.parametrize(
    ("listed", "message", "expected"),
    [
        ("clFinish: SIGSEGV", "==7==ERROR: AddressSanitizer: SEGV on unknown address", "expected"),
        ("clFlush: SIGSEGV", "==7==ERROR: AddressSanitizer: SEGV on unknown address", "unexpected"),
        ("clFinish: SIGSEGV", "bye", "unexpected"),
    ],
)
def test_report_of_a_sanitizer_is_the_known_crash(tmp_path: Path, listed: str, message: str, expected: str) -> None:
    """Built without one, the same loader dies of the signal in the same call; another exit stays what it is."""
    text = '[[deviation]]\nrequirement = "DISC-LNX-011"\nverdict = "crash"\nreason = "r"\ndeviates = ["%s"]\n'
    path = tmp_path / "x.toml"
    path.write_text(f'loader = "x"\n{text % listed}')
    how = (Deviation("clFinish", "the process ended with exit code 1"),)
    result = CaseResult("suites/x.py::test_a", ("DISC-LNX-011",), "crash", message=f"S.\n{message}", deviations=how)
    assert judge(result, load(path), strict=False).status == expected
