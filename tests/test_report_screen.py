# SPDX-License-Identifier: Apache-2.0
"""The report at the end of a run: what it says, in how many lines, at which width."""

from __future__ import annotations

import dataclasses
import io
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from harness.build import build
from harness.deviation import Deviation
from harness.expectations import FOLDER, Expectations, load
from harness.report import CaseResult, Header, SubjectRecord, judge
from harness.report.causes import actual, causes
from harness.report.ending import Ending, exit_code, recorded_ending
from harness.report.progress import Progress, duration
from harness.report.records import Verdict
from harness.report.reporter import Reporter
from harness.report.saved import read
from harness.report.screen import head, screen
from harness.requirements.catalogue import catalogue
from tests.small_runs import SmallRun
from tests.test_report_terminal import BAD, FIFO, HANG, HEADER, case, expectation_file, report

WIDTHS = (60, 80, 120, 200)
SUITE = """
@requirement("DISC-LNX-013")
@pytest.mark.parametrize("platforms", [1, 2])
def test_platforms_of_a_vendor(loader, sandbox, platforms):
    \"\"\"Each vendor has one platform.\"\"\"
    sandbox.vendor("a", platforms=platforms)
    with loader.start(sandbox) as cl:
        assert len(cl.platform_names()) == 1
"""


def plain(text: str, _style: str) -> str:
    return text


def lines_at(width: int, results: Iterable[CaseResult], header: Header = HEADER, **more: Any) -> list[str]:
    """The whole report of results, head included, at some width."""
    stream = io.StringIO()
    expectations = more.pop("expectations", Expectations())
    reporter = Reporter(None, expectations=expectations, environ={})
    reporter.start(header)
    for result in results:
        reporter.case(judge(result, expectations, strict=False))
    stream.close()
    return _shown(reporter, header, width, **more)


def _shown(reporter: Reporter, header: Header, width: int, verbose: bool = False) -> list[str]:
    code = exit_code(reporter.results, False, False, False)
    ending = Ending(header, reporter.results, int(code))
    return [*head(header, width), *screen(ending, plain, width, width, verbose)]


# --- what it says ---


def test_head_says_what_is_tested_with_what() -> None:
    facts = {"path": "/lib/libvendor.so", "name": "vendor", "version": "7.25", "build_id": "abc"}
    loader = SubjectRecord("loader", "loader", {"path": "/lib/libOpenCL.so.1", "name": "Some", "version": "2"})
    header = Header(SubjectRecord("icd", "ICD", facts), (loader,), expectations="/x/some.toml")
    lines = head(header, 100)
    assert lines[0].endswith(" tests ICD vendor 7.25")
    assert lines[1:] == [
        "  ICD          /lib/libvendor.so (build abc)",
        "  used with    /lib/libOpenCL.so.1 (Some 2)",
        "  expectations /x/some.toml",
    ]
    assert head(HEADER, 100)[-1] == "  expectations none"


def test_head_parts_a_long_word_from_the_path() -> None:
    subject = SubjectRecord("vulkan_loader", "Vulkan loader", {"path": "/lib/libvulkan.so.1"})
    assert head(Header(subject), 100)[1] == "  Vulkan loader /lib/libvulkan.so.1"


def test_unexpected_case_is_a_block_with_all_that_is_needed() -> None:
    code, text = report(case("test_a"), dataclasses.replace(BAD, message="It answers.\nhappened {}"))
    assert code == 1
    block = text[text.index("UNEXPECTED") :].splitlines()
    url = "https://registry.khronos.org/OpenCL/sdk/3.0/docs/man/html/cl_khr_icd.html"
    assert block[:8] == [
        "UNEXPECTED fail  discovery/test_x.py::test_newline[a]",
        "  requirement  DISC-LNX-013 (must): A file without a trailing newline is accepted.",
        f"  read         {url}",
        "  expected     It answers.",
        "  actual       happened {}",
        "  calls        app clGetPlatformIDs(0)",
        "               icd:a clIcdGetPlatformIDsKHR",
        "  reproduce    clharness replay /tmp/kept",
    ]


def test_verdict_is_first_and_last() -> None:
    lines = lines_at(100, [BAD, case("test_b")])
    verdict = "Some 2.3: not as expected, 1 of 2 cases unexpected."
    assert [n for n, line in enumerate(lines) if line == verdict] == [len(head(HEADER, 100)) + 1, len(lines) - 1]


def test_calls_are_those_around_the_deviation() -> None:
    flushes = (f"app | clFlush({n})" for n in range(20))
    log = (*flushes, "app | clFinish(x)", "app | clFinish = 0", "app | clA()")
    red = case("a", "fail", log=log, deviations=(Deviation("", "clFinish answered 0"),))
    text = "\n".join(lines_at(100, [red]))
    assert "  calls        app | clFlush(18)\n               app | clFlush(19)\n" in text
    assert "app | clFinish = 0\n" in text and "clA()" not in text


def test_equal_causes_are_one_block_with_a_count() -> None:
    """Three functions that answer the same wrong thing, and one that crashes."""
    how = [Deviation("size=0", "CL_SUCCESS instead of CL_INVALID_VALUE")]
    same = [case(f"test_bad[cl{n}]", "fail", "API-ARG-001", deviations=tuple(how)) for n in "ABC"]
    crash = case("test_bad[clD]", "crash", "API-ARG-001", deviations=(Deviation("size=0", "SIGSEGV"),))
    lines = lines_at(100, [*same, crash])
    titles = [line for line in lines if line.startswith("UNEXPECTED")]
    assert titles == [
        "UNEXPECTED crash  discovery/test_x.py::test_bad[clD]",
        "UNEXPECTED fail, 3 cases  discovery/test_x.py::test_bad[clA]",
    ]
    assert "  also         [clB] [clC]" in lines


def test_one_wrong_answer_for_objects_of_several_classes_is_one_cause() -> None:
    how = "CL_INVALID_VALUE instead of CL_INVALID_"
    red = [
        case(f"test_null[{name}]", "fail", deviations=(Deviation(f"{name} NULL", how + name.upper()),))
        for name in ("context", "command_queue", "program")
    ]
    assert len(causes(red)) == 1
    other = case("test_null[size]", "fail", deviations=(Deviation("size NULL", "CL_SUCCESS instead of CL_INVALID_"),))
    assert len(causes([*red, other])) == 2


def test_no_test_hides_the_others_behind_its_many_causes() -> None:
    many = [case(f"test_many[{n}]", "fail", deviations=(Deviation("", f"answer {'x' * n}"),)) for n in range(30)]
    lines = lines_at(100, [*many, case("test_other", "fail", message="S.\nother")])
    titles = [line for line in lines if line.startswith("UNEXPECTED")]
    assert titles[:2] == [f"UNEXPECTED fail  discovery/test_x.py::{name}" for name in ("test_many[0]", "test_other")]


def test_causes_without_a_block_stand_below_their_test_with_what_happened() -> None:
    """At 80 columns a name of seventy characters must not take the place of what tells the causes apart."""
    test = f"test_{'long_' * 13}name"
    red = [case(f"{test}[cl{c}]", "fail", message=f"S.\nanswer {c * 3}") for c in "ABCDEFGHIJKLMNOPQRST"]
    lines = lines_at(80, red)
    heading = lines.index(f"  discovery/test_x.py::{test}")
    assert lines[heading - 1] == "20 causes in all; the others:"
    assert "       fail  [clT] answer TTT" in lines[heading:]


@pytest.mark.parametrize(
    ("one", "other", "folded"),
    [
        ("assert ['a'] == []", "assert ['b', 'c', 'd'] == []", True),
        ("assert [CL_SUCCESS, CL_SUCCESS] == [1]", "assert [CL_SUCCESS] == [1, 2]", True),
        ("assert [[], []] == [1]", "assert [[], [], []] == [1]", True),
        ("assert [CL_SUCCESS, CL_INVALID_VALUE] == []", "assert [CL_SUCCESS] == []", False),
        ("assert [] == ['a']", "assert ['b'] == ['a']", False),
    ],
)
def test_lists_of_different_lengths_are_one_cause(one: str, other: str, folded: bool) -> None:
    """As many vendors as a case has, and nothing else, tell the two apart; an empty list is another thing."""
    results = [case(f"test_x[{n}]", "fail", message=f"It answers.\n{text}") for n, text in enumerate((one, other))]
    assert len(causes(results)) == (1 if folded else 2)


def test_what_a_check_says_of_a_deviation_stands_beside_what_happened() -> None:
    """ "name 0x0" alone says which of ten names it was, and nothing of what was answered."""
    message = "An unknown name is refused.\nname 0x0\nassert CL_SUCCESS == CL_INVALID_VALUE\n +  where CL_SUCCESS = x"
    red = case("test_a", "fail", message=message, deviations=(Deviation("", "name 0x0"),))
    assert actual(red) == "name 0x0: assert CL_SUCCESS == CL_INVALID_VALUE"


def test_reason_of_several_lines_is_one_line() -> None:
    known = case("test_a", "fail", status="expected", reason="It is dropped,\nand the list cut.", expected=("fail",))
    assert any(
        "It is dropped, and the list cut." in line
        for line in screen(Ending(HEADER, [known], 0), plain, 100, 100, False)
    )


def test_known_deviations_are_one_line_for_each_reason(tmp_path: Path) -> None:
    expectations = expectation_file(tmp_path, HANG)
    others = [case(f"test_fifo[{n}]", "hang", "DISC-LNX-011") for n in range(4)]
    lines = lines_at(100, [FIFO, *others], expectations=expectations)
    assert "Known deviations: 5 cases for 1 reason:" in lines
    assert "     5 hang  DISC-LNX-011: opens it" in lines
    assert "         test_fifo" in lines_at(100, [FIFO, *others], expectations=expectations, verbose=True)


def test_one_known_deviation_is_in_the_singular(tmp_path: Path) -> None:
    lines = lines_at(100, [FIFO], expectations=expectation_file(tmp_path, HANG))
    assert "Known deviations: 1 case for 1 reason:" in lines
    assert lines[-1].endswith(": as expected, 1 case, 1 known deviation.")


def test_what_needs_nothing_takes_one_line_unless_asked_for() -> None:
    root = [case(n, "unsupported", unsupported="machine", reason="needs root") for n in "abc"]
    bom = case("test_bom", "pass", "DISC-LNX-022", outcome="vendor lost")
    crlf = [case(f"test_crlf[{n}]", "pass", "DISC-LNX-015", outcome=n) for n in "ab"]
    lines = lines_at(100, [*root, bom, *crlf])
    assert "Unsupported: 3 cases (--verbose): needs root (3)" in lines
    assert "Grey areas: 2 requirements that leave a choice (--verbose lists the outcomes)" in lines
    one_each = lines_at(100, [root[0], bom])
    assert "Unsupported: 1 case (--verbose): needs root (1)" in one_each
    assert "Grey areas: 1 requirement that leaves a choice (--verbose lists the outcomes)" in one_each
    text = "\n".join(lines_at(100, [*root, bom, *crlf], verbose=True))
    assert "     3 needs root (machine)\n" in text
    grey = text[text.index("Grey areas") :].splitlines()[1:4]
    assert grey[0].split()[:3] == ["DISC-LNX-015", "test_crlf[a]", "a"]
    assert grey[2].startswith("  DISC-LNX-022               vendor lost  A UTF-8 byte-order mark")


@pytest.mark.parametrize(("kind", "word"), [("loader", "loader"), ("icd", "ICD"), ("layer", "layer"), ("x-y", "X Y")])
def test_words_fit_the_subject(kind: str, word: str) -> None:
    facts = {"path": "/lib/libmine.so", "name": "mine", "version": "1"}
    header = Header(SubjectRecord(kind, word, facts), arguments=["clharness", kind, "/lib/libmine.so"])
    lacks = case("b", "unsupported", unsupported="loader", reason="lacks it")
    results = [BAD, lacks, case("c", "pass", "DISC-LNX-022", outcome="o")]
    for verbose in (False, True):
        lines = lines_at(
            100, [dataclasses.replace(r, log=(), reproduce=None) for r in results], header, verbose=verbose
        )
        report_of_it = "\n".join(line for line in lines if not line.startswith(("  requirement", "Grey", "  DISC")))
        assert ("loader" in report_of_it) == (kind == "loader")
        assert f"No expectation file is about this {word}. To accept what it does:" in lines
        assert f"  ./clharness {kind} /lib/libmine.so --update-expectations --expect mine.toml" in lines


def test_advised_run_is_the_one_that_was_and_writes_no_reports() -> None:
    """Where an expectation file was named, another one must not be rewritten."""
    arguments = ["clharness", "icd", "pocl", "--env", "A=b c", "--expect=my.toml", "-k", "x or y", "-j", "4", "--junit"]
    arguments += ["a.xml", "--color=never", "--keep", "--strict"]
    header = Header(SubjectRecord("icd", "ICD", {"path": "pocl"}), arguments=arguments, expectations="/x/my.toml")
    advice = "./clharness icd pocl --env 'A=b c' --expect=my.toml -k 'x or y' --strict --update-expectations"
    assert any(line.endswith(f": {advice}") for line in lines_at(100, [BAD], header))


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("icd", "libmine.so"),
        ("icd", "mine"),
        ("layer", "../lib/libmine.so"),
        ("loader", "./libmine.so"),
        ("loader", ""),
    ],
)
def test_advised_run_names_the_subject_once(kind: str, given: str) -> None:
    """As it was named: by a relative path, or by the name of an installed one; where it was not, by its path."""
    arguments = ["clharness", kind, *filter(None, [given]), "-k", "x"]
    header = Header(SubjectRecord(kind, kind, {"path": "/lib/libmine.so", "name": "mine"}), arguments=arguments)
    advice = f"./clharness {kind} {given or '/lib/libmine.so'} -k x --update-expectations --expect mine.toml"
    assert f"  {advice}" in lines_at(120, [BAD], header)


def test_advice_is_for_the_command_that_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLHARNESS_COMMAND", "clharness")
    lines = lines_at(100, [BAD])
    assert any(line.startswith("What is demanded: clharness explain") for line in lines)
    assert not any("./clharness loader" in line for line in lines)


def test_advice_that_names_no_path_fits_into_a_narrow_terminal() -> None:
    (line,) = (line for line in lines_at(80, [BAD]) if line.startswith("What is demanded: ./clharness explain"))
    assert len(line) <= 80 and line.endswith("--html DIR")


# --- how many lines, how wide ---


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Header, CaseResult, CaseResult]:
    """Header, a green and a red case of a small run that was recorded."""
    small = SmallRun(tmp_path_factory.mktemp("recorded"), build().reference_loader)
    small.suite(SUITE)
    small.run()
    run = read(small.records)
    assert recorded_ending(run).code == 1
    green = next(r for r in run.results if r.verdict == "pass")
    red = next(r for r in run.results if r.verdict == "fail")
    assert red.log and red.reproduce
    return run.header, green, red


def copies(result: CaseResult, number: int, but: Iterable[str] = (), **changes: Any) -> list[CaseResult]:
    """The same for many requirements, all of them demanded."""
    identifiers = [r.id for r in catalogue().values() if r.strength == "must" and r.id not in set(but)]
    return [
        dataclasses.replace(
            result,
            case=f"{result.case.partition('[')[0]}_{n}[{n}]",
            requirements=(identifiers[n * 7 % len(identifiers)],),
            **changes,
        )
        for n in range(number)
    ]


def expected_ones(expectations: Expectations, red: CaseResult) -> list[CaseResult]:
    """A case for each entry of an expectation file, that deviates as the entry says."""
    results = []
    for n, entry in enumerate(e for e in expectations.all_entries if e.kind == "deviation"):
        verdict: Verdict = entry.verdicts[0]  # type: ignore[assignment]
        name = (entry.case or f"test_{n}").replace("[[]", "[").replace("*", "x").replace("?", "x")
        hows = tuple(Deviation("", text) for text in entry.deviates or ())
        results.append(
            dataclasses.replace(
                red,
                case=f"suites/discovery/test_x.py::{name}",
                requirements=(entry.requirement,),
                verdict=verdict,
                deviations=hows,
            )
        )
    return results


Recorded = tuple[Header, CaseResult, CaseResult]


@pytest.mark.parametrize("width", WIDTHS)
def test_conforming_loader_takes_25_lines(recorded: Recorded, width: int) -> None:
    header, green, _ = recorded
    results = copies(green, 4000) + copies(green, 60, outcome="ignored")
    results += copies(dataclasses.replace(green, verdict="unsupported"), 200, reason="no layers", capability="layers")
    lines = lines_at(width, results, dataclasses.replace(header, expectations="/x/reference.toml"))
    assert lines[-1].endswith("as expected, 4260 cases, 200 unsupported.")
    assert len(lines) <= 25
    assert_fits(lines, width)


@pytest.mark.parametrize("width", WIDTHS)
def test_known_loader_as_expected_takes_60_lines(recorded: Recorded, width: int) -> None:
    header, green, red = recorded
    expectations = load(FOLDER / "ocl-icd.toml", "2.3.1")
    deviating = expected_ones(expectations, red)
    results = [r for r in deviating if judge(r, expectations, False).status == "expected"]
    greens = copies(green, 4000, but=[entry.requirement for entry in expectations.all_entries])
    assert len({judge(r, expectations, False).reason for r in results}) > 25
    lines = lines_at(width, greens + results, header, expectations=expectations)
    assert "as expected" in lines[-1] and "not as" not in lines[-1]
    assert len(lines) <= 60
    assert_fits(lines, width)


@pytest.mark.parametrize("width", WIDTHS)
def test_33_red_cases_take_200_lines(recorded: Recorded, width: int) -> None:
    header, green, red = recorded
    lines = lines_at(width, [*copies(green, 1000), *copies(red, 33)], header)
    assert "unexpected." in lines[-1]
    assert len(lines) <= 200
    assert max(map(len, blocks(lines))) <= 15
    assert_fits(lines, width)


def blocks(lines: list[str]) -> list[list[str]]:
    starts = [n for n, line in enumerate(lines) if line.startswith("UNEXPECTED")]
    assert starts
    return [lines[start : lines.index("", start)] for start in starts]


def assert_fits(lines: list[str], width: int) -> None:
    """Only what is to be copied as a whole is longer: commands, URLs, names of cases; and the verdict."""
    for line in lines[:-1]:
        whole = re.match(r"(  (read|reproduce|loader|expectations) |UNEXPECTED|  \./clharness |.*\./clharness)", line)
        assert len(line) <= width or whole or line == lines[-1], f"{len(line)} characters: {line}"


def test_recorded_run_is_reported_as_it_was(tmp_path: Path) -> None:
    """The JSON Lines of a run give the report of the run."""
    records, stream = tmp_path / "run.jsonl", io.StringIO()
    reporter = Reporter(stream, records, environ={}, live=False)
    reporter.start(dataclasses.replace(HEADER, planned=2))
    for number, result in enumerate([BAD, case("test_b")]):
        reporter.case(judge(dataclasses.replace(result, number=number), Expectations(), strict=False))
    assert reporter.finish() == 1
    ending = recorded_ending(read(records))
    again = [*head(ending.header, 100), *screen(ending, plain, 100, None)]
    assert "\n".join(again) + "\n" == stream.getvalue()


# --- while it runs ---


def test_progress_says_how_far_how_long_and_what_is_unexpected() -> None:
    now = 0.0
    progress = Progress(200, clock=lambda: now)
    progress.add(True)
    assert progress.text("test_a") == "[1 of 200] 1 unexpected  test_a"
    for _ in range(99):
        progress.add(False)
    now = 50.0
    assert progress.text("test_b") == "[100 of 200] 1 unexpected, 50 s left  test_b"
    assert Progress(None).text("test_a") == "[0] 0 unexpected  test_a"


def test_cases_of_an_earlier_run_say_nothing_of_the_time_left() -> None:
    now = 0.0
    progress = Progress(200, kept=100, clock=lambda: now)
    for _ in range(50):
        progress.add(False)
    now = 10.0
    assert progress.text("t") == "[150 of 200] 0 unexpected, 10 s left  t"


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "1 s"), (59, "59 s"), (61, "1 min 1 s"), (7300, "2 h 1 min"), (3599.7, "1 h 0 min")]
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_many_unexpected_cases_do_not_flood_the_terminal() -> None:
    _, text = report(*(case(f"test_{n}", "fail", message=f"S.\n{'x' * n}") for n in range(25)))
    assert text.count("unexpected fail  suites/") == 10
    assert text.count("more are unexpected: the report at the end has them all\n") == 1


# --- a device that is lost ---


def lost(number: int, code: str, verdict: str = "fail") -> list[CaseResult]:
    """Cases of several causes in each of which a call answered a code, or nothing, where it should have succeeded."""
    hows = (f"clFinish answered {code}, expected CL_SUCCESS", f"{code} instead of CL_INVALID_VALUE")
    return [
        case(f"test_{verdict}[{i}]", verdict, deviations=(Deviation(what=f"call {i}", how=hows[i % 2]),))
        for i in range(number)
    ]


def sign_in(results: Iterable[CaseResult]) -> list[str]:
    return [line for line in lines_at(200, results) if "look first for a device" in line]


def test_code_of_a_lost_device_in_many_cases_is_said_once_before_them() -> None:
    for code in ("CL_OUT_OF_RESOURCES", "CL_DEVICE_NOT_AVAILABLE"):
        lines = lines_at(100, [*lost(6, code), *lost(2, "CL_INVALID_KERNEL"), case("test_good")])
        (output,) = [i for i, line in enumerate(lines) if line.startswith(f"6 of 8 unexpected cases got {code} where")]
        assert output < next(i for i, line in enumerate(lines) if line.startswith("UNEXPECTED"))


def test_device_that_stops_is_said_once() -> None:
    (line,) = sign_in([*lost(7, "CL_SUCCESS", "hang"), *lost(1, "CL_INVALID_VALUE")])
    assert line.startswith("7 of 8 unexpected cases got no answer")


@pytest.mark.parametrize(
    "results",
    [lost(4, "CL_OUT_OF_RESOURCES"), [*lost(5, "CL_OUT_OF_RESOURCES"), *lost(20, "CL_INVALID_VALUE")]],
    ids=["few cases", "a small share"],
)
def test_few_cases_are_no_sign_of_a_lost_device(results: list[CaseResult]) -> None:
    assert not sign_in(results)
    assert sign_in(lost(5, "CL_OUT_OF_RESOURCES"))


def test_code_that_is_expected_is_no_sign_of_a_lost_device() -> None:
    how = "CL_SUCCESS instead of CL_OUT_OF_RESOURCES"
    assert not sign_in(case(f"test_{i}", "fail", deviations=(Deviation(what="", how=how),)) for i in range(9))
