# SPDX-License-Identifier: Apache-2.0
"""A known deviation hides no new one in the same case: which calls deviate and how is part of what is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.deviation import Deviation
from harness.expectations import load
from harness.probe.deviations import Parts, deviations_of, part_deviation
from harness.probe.verdicts import Crashed, Hung, Leaked
from harness.report import CaseResult, judge
from harness.report.records import Verdict

TEXT = """\
loader = "x"
[[deviation]]
requirement = "API-ARG-001"
case = "test_improper[clBuildProgram]"
verdict = "fail"
deviates = ["num_devices=0: CL_SUCCESS instead of CL_INVALID_VALUE", "options=*: CL_INVALID_*"]
reason = "known"
"""
KNOWN = Deviation("num_devices=0", "CL_SUCCESS instead of CL_INVALID_VALUE")
OPTIONS = Deviation("options=-x [y]", "CL_INVALID_VALUE instead of CL_INVALID_BUILD_OPTIONS")
CRASH = Deviation("device_list=NULL", "SIGSEGV")


def judged(tmp_path: Path, verdict: Verdict, *deviations: Deviation, text: str = TEXT) -> CaseResult:
    path = tmp_path / "x.toml"
    path.write_text(text)
    case = "suites/dispatch/icd/test_x.py::test_improper[clBuildProgram]"
    return judge(CaseResult(case, ("API-ARG-001",), verdict, deviations=deviations), load(path), strict=False)


def test_listed_deviations_are_expected(tmp_path: Path) -> None:
    result = judged(tmp_path, "fail", KNOWN, OPTIONS)
    assert (result.status, result.reason) == ("expected", "known")


@pytest.mark.parametrize("verdict", ["fail", "crash"])
def test_a_new_crash_beside_listed_deviations_is_unexpected_and_named_alone(tmp_path: Path, verdict: Verdict) -> None:
    text = TEXT.replace('"fail"', f'"{verdict}"')
    result = judged(tmp_path, "crash", KNOWN, OPTIONS, CRASH, text=text)
    assert (result.status, result.reason) == ("unexpected", "not listed: device_list=NULL: SIGSEGV")


def test_another_answer_to_a_listed_call_is_unexpected(tmp_path: Path) -> None:
    other = Deviation("num_devices=0", "CL_INVALID_DEVICE instead of CL_INVALID_VALUE")
    result = judged(tmp_path, "fail", other, OPTIONS)
    assert (result.status, result.reason) == ("unexpected", f"not listed: {other}")


def test_a_listed_deviation_that_is_gone_makes_the_case_improved(tmp_path: Path) -> None:
    result = judged(tmp_path, "fail", KNOWN)
    assert (result.status, result.reason) == ("improved", "no longer: options=*: CL_INVALID_*")
    crashing = TEXT.replace('"fail"', '"crash"').replace("options=*: CL_INVALID_*", "device_list=NULL: SIGSEGV")
    assert judged(tmp_path, "fail", KNOWN, text=crashing).status == "improved"
    assert judged(tmp_path, "pass", text=crashing).status == "improved"


def test_what_is_new_goes_before_what_is_gone(tmp_path: Path) -> None:
    assert judged(tmp_path, "fail", CRASH).status == "unexpected"


def test_without_a_list_the_verdict_decides(tmp_path: Path) -> None:
    old = "\n".join(line for line in TEXT.splitlines() if not line.startswith("deviates"))
    assert judged(tmp_path, "fail", KNOWN, CRASH, text=old).status == "expected"


def test_where_chance_decides_a_listed_deviation_may_be_missing(tmp_path: Path) -> None:
    text = TEXT.replace('"fail"', '["fail", "pass"]')
    assert judged(tmp_path, "fail", KNOWN, text=text).status == "expected"
    assert judged(tmp_path, "pass", text=text).status == "ok"
    assert judged(tmp_path, "fail", CRASH, text=text).status == "unexpected"


def test_a_red_case_that_says_nothing_more_is_not_listed(tmp_path: Path) -> None:
    assert judged(tmp_path, "fail").reason == "not listed: fail"


# --- from a failure to what deviated ---


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (Crashed("SIGSEGV in: call 2 clGetPlatformIDs 0 0 b1", "thread 1: 0x1"), "clGetPlatformIDs: SIGSEGV"),
        (Crashed("SIGABRT in: address 71 r70 clFlush r51"), "clFlush: SIGABRT"),
        (Crashed("SIGSEGV in: exit"), "SIGSEGV"),
        (Hung("no answer within 0.5 s to: call 2 clFinish 0"), "clFinish: no answer"),
        (Leaked("4 rounds: 18544 bytes were in use, and then 20208"), "4 rounds: * bytes were in use, and then *"),
        (AssertionError("answered -30, expected CL_A (-34)"), "CL_INVALID_VALUE instead of CL_A"),
        (AssertionError("answered CL_SUCCESS, expected CL_A or CL_B"), "CL_SUCCESS instead of CL_A or CL_B"),
        (AssertionError("assert 0 == -30\n where 0 = ..."), "CL_SUCCESS instead of CL_INVALID_VALUE"),
        (AssertionError("assert CL_SUCCESS == CL_INVALID_VALUE"), "CL_SUCCESS instead of CL_INVALID_VALUE"),
        (AssertionError("assert 0 == 1"), "assert 0 == 1"),
        (AssertionError("gave an object beside the error -1"), "gave an object beside the error CL_DEVICE_NOT_FOUND"),
        (AssertionError("assert 139784825974032 == 0\n where ..."), "assert * == 0"),
        (AssertionError("assert not <a.b.CallLog object at 0x7fac7e39c610>"), "assert not <CallLog>"),
        (AssertionError("handler was (nil), is 0x7f6789e36570"), "handler was (nil), is *"),
        (AssertionError("assert (CL_SUCCESS t...0}, an object) == 3"), "assert (CL_SUCCESS *}, an object) == 3"),
        (AssertionError("/dev/shm/clharness-x/a.icd: not read"), "*: not read"),
        (AssertionError("{0xffffffffffffffff, 0x7777, 0}"), "{0xffffffffffffffff, 0x7777, 0}"),
    ],
)  # fmt: skip
def test_a_failure_says_how_it_deviated(error: BaseException, shown: str) -> None:
    assert [str(d) for d in deviations_of(error)] == [shown]


def test_what_pytest_leaves_out_is_matched_by_the_whole_text() -> None:
    cut = part_deviation("", AssertionError("assert ['z', 'm.0', ...', 'a'] == {'a'}"))
    assert Deviation("", "assert ['z', 'm.0', 'm.1', 'a'] == {'a'}").fits(str(cut))


def failures_of(*parts: tuple[str, BaseException | None]) -> BaseException:
    with pytest.raises((AssertionError, Crashed)) as caught, Parts() as all_parts:
        for what, error in parts:
            with all_parts(what):
                if error:
                    raise error
    return caught.value


def test_parts_are_all_judged() -> None:
    error = failures_of(("a", AssertionError("assert 1 == 2")), ("b", None), ("c", AssertionError("assert 3 == 4")))
    assert deviations_of(error) == (Deviation("a", "assert 1 == 2"), Deviation("c", "assert 3 == 4"))
    assert str(error) == "a: assert 1 == 2\nc: assert 3 == 4"


def test_parts_before_a_crash_are_told() -> None:
    error = failures_of(("a", AssertionError("no")), ("b", Crashed("SIGSEGV in: call 1 clFlush r1")), ("c", None))
    assert isinstance(error, Crashed)
    assert deviations_of(error) == (Deviation("a", "no"), Deviation("b", "SIGSEGV"))
    assert str(error) == "SIGSEGV in: call 1 clFlush r1\na: no"


def test_parts_say_what_fails_outside_of_them() -> None:
    with pytest.raises(AssertionError) as caught, Parts() as parts:
        parts.fail("a", "is wrong")
        raise AssertionError("assert False")
    assert deviations_of(caught.value) == (Deviation("a", "is wrong"), Deviation("", "assert False"))


def test_parts_that_are_in_order_say_nothing() -> None:
    with Parts() as parts, parts("a"):
        assert deviations_of(AssertionError("x")) == (Deviation("", "x"),)


def test_trouble_of_the_harness_is_not_hidden_by_parts() -> None:
    with pytest.raises(KeyError), Parts() as parts:
        parts.fail("a", "is wrong")
        raise KeyError
