# SPDX-License-Identifier: Apache-2.0
"""How often, in which order and which part of the cases a run runs, and what it says of cases that differ."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest

from harness.build import build
from harness.cli.main import main
from harness.report import records
from harness.run.plan import Plan, Rounds
from tests.small_runs import QUIET, Outcome, SmallRun, read

TURNS = '''
@requirement("DISC-LNX-014")
@pytest.mark.parametrize("n", range({cases}))
def test_turns_{turns}(loader, sandbox, n):
    """It answers, in its turn."""
    with Path(f"{folder}/{turns}{{n}}").open("a") as file:
        file.write("!")
        turn = file.tell() - 1
    sandbox.env.update(DO="{turns}"[turn % len("{turns}")])
    with loader.start(sandbox) as cl:
        assert cl.clGetPlatformIDs(0, None, None) == CL.PLATFORM_NOT_FOUND_KHR
'''
SCHEMA = json.loads((Path(records.__file__).parent / "schema.json").read_text())


@pytest.fixture(scope="session")
def flaky_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = Path(__file__).with_name("flaky_loader.c")
    path = tmp_path_factory.mktemp("turns") / "libOpenCL.so.1"
    flags = ["-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-DCL_TARGET_OPENCL_VERSION=300"]
    subprocess.run([build().compiler, *flags, str(source), "-o", str(path)], check=True)
    return path


Turns = Callable[..., str]


@pytest.fixture
def turns(small: SmallRun, flaky_library: Path, tmp_path: Path) -> Turns:
    """Gives a check of some cases that do what the letters say, one after the other."""
    small.library = flaky_library

    def check(letters: str, cases: int = 1) -> str:
        return TURNS.format(turns=letters, folder=tmp_path, cases=cases)

    return check


def runs(done: Outcome, name: str) -> list[str]:
    runs: list[str] = done.cases[name]["runs"]
    return runs


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_case_that_differs_between_repeats_is_flaky(small: SmallRun, turns: Turns, jobs: str) -> None:
    """Beside one that always passes, and one that always fails."""
    small.suite(turns("ppfp"), turns("p"), turns("f"))
    done = small.run("-j", jobs, "--repeat", "4")
    assert done.code == 1, done.output
    flaky = done.cases["test_turns_ppfp[0]"]
    assert (flaky["status"], flaky["verdict"]) == ("flaky", "fail")
    assert runs(done, "test_turns_ppfp[0]") == ["pass", "pass", "fail", "pass"]
    assert "CL_INVALID_VALUE" in flaky["message"], "the evidence is that of the red run"
    assert done.cases["test_turns_p[0]"]["status"] == "ok" and runs(done, "test_turns_p[0]") == ["pass"] * 4
    assert done.cases["test_turns_f[0]"]["status"] == "unexpected" and runs(done, "test_turns_f[0]") == ["fail"] * 4
    assert done.footer["counts"]["status"]["flaky"] == 1
    assert [r["record"] for r in done.records].count("run") == 12
    assert (done.footer["planned"], done.footer["recorded"], done.records[0]["repeat"]) == (3, 3, 4)
    for record in done.records:
        jsonschema.validate(record, SCHEMA)
    assert "FLAKY fail" in done.output and "pass 3 times, fail 1 time" in done.output
    assert done.output.splitlines()[-1].endswith("not as expected, 2 of 3 cases unexpected, 1 of these flaky.")
    assert re.search(r"^group .* flaky\b", done.output, re.M), "a column of the table"
    failures = {case.get("name"): case.find("failure") for case in ElementTree.parse(small.junit).iter("testcase")}
    shown = failures["test_turns_ppfp[0]"]
    assert shown is not None and shown.get("message") == "flaky: pass 3 times, fail 1 time"


def test_crash_is_worse_than_a_failure_and_that_than_a_pass(small: SmallRun, turns: Turns) -> None:
    small.suite(turns("cfp"), turns("pc"))
    done = small.run("--repeat", "3")
    assert {name: case["status"] for name, case in done.cases.items()} == {
        "test_turns_cfp[0]": "flaky",
        "test_turns_pc[0]": "flaky",
    }
    assert runs(done, "test_turns_pc[0]") == ["pass", "crash", "pass"]
    assert done.cases["test_turns_pc[0]"]["verdict"] == "crash"


def test_single_run_has_neither_runs_nor_a_column_for_flaky_cases(small: SmallRun, turns: Turns) -> None:
    small.suite(turns("pf"))
    done = small.run()
    assert done.code == 0, done.output
    assert runs(done, "test_turns_pf[0]") == []
    assert "flaky" not in done.output
    assert [r["record"] for r in done.records] == ["header", "case", "footer"]


ANY = '[[deviation]]\nrequirement = "DISC-LNX-014"\ncase = "*"\nverdict = {}\nreason = "known"\n'


@pytest.mark.parametrize(("verdict", "status", "code"), [('["pass", "fail"]', "expected", 0), ('"fail"', "flaky", 1)])
def test_chance_that_the_expectation_file_lists_is_expected(
    small: SmallRun, turns: Turns, tmp_path: Path, verdict: str, status: str, code: int
) -> None:
    small.suite(turns("pf"))
    expected = tmp_path / "expected.toml"
    expected.write_text(f'loader = "x"\n{ANY.format(verdict)}')
    done = small.run("--repeat", "2", "--expect", str(expected))
    assert (done.cases["test_turns_pf[0]"]["status"], done.code) == (status, code), done.output


def test_flaky_case_is_no_evidence_for_expectations(small: SmallRun, turns: Turns, tmp_path: Path) -> None:
    small.suite(turns("pf"))
    expected = tmp_path / "expected.toml"
    expected.write_text('loader = "x"\n')
    done = small.run("--repeat", "2", "--expect", str(expected), "--update-expectations")
    assert done.code == 1, done.output
    assert "deviation" not in expected.read_text()


# --- until a case is red ---


def test_until_red_ends_when_a_case_is_red(small: SmallRun, turns: Turns) -> None:
    small.suite(turns("ppppf"), turns("p"))
    done = small.run("-j", "1", "--until-red")
    assert done.code == 1, done.output
    assert runs(done, "test_turns_ppppf[0]") == ["pass"] * 4 + ["fail"]
    assert len(runs(done, "test_turns_p[0]")) == 4, "no further run begins"
    assert done.records[0]["repeat"] is None
    assert (done.footer["planned"], done.footer["recorded"], done.footer["complete"]) == (2, 2, True)


def test_until_red_in_the_first_round_runs_every_case_once(small: SmallRun, turns: Turns) -> None:
    small.suite(turns("f"), turns("p", 3))
    done = small.run("-j", "1", "--until-red")
    assert done.code == 1
    assert len(done.cases) == 4
    assert {case["status"] for case in done.cases.values()} == {"ok", "unexpected"}


@pytest.mark.parametrize(("option", "ran"), [(("-x",), 3), (("--maxfail", "2"), 5), (("--maxfail", "9"), 6)])
def test_run_stops_at_the_first_unexpected_cases(
    small: SmallRun, turns: Turns, option: tuple[str, ...], ran: int
) -> None:
    """Two cases pass, one fails, one passes, one fails, one passes: what ran is kept, and the report says so."""
    small.suite(turns("p", 2), turns("f"), turns("pp"), turns("ff"), turns("ppp"))
    done = small.run("-j", "1", *option)
    assert (done.code, len(done.cases)) == (1, ran), done.output
    whole = ran == 6
    assert (done.footer["complete"], done.footer["planned"], done.footer["recorded"]) == (whole, 6, ran)
    assert done.footer["exit"] == 1
    for record in done.records:
        jsonschema.validate(record, SCHEMA)
    last = done.output.splitlines()[-1]
    assert (f"stopped after {ran} of 6 cases" in last) != whole, last
    error = next((one for one in ElementTree.parse(small.junit).iter("error")), None)
    assert (error is None) == whole
    assert whole or (error is not None and error.get("message") == f"{ran} of 6 planned cases have a result")


def test_run_that_stopped_is_gone_on_with(small: SmallRun, turns: Turns) -> None:
    small.suite(turns("f"), turns("ff", 3))
    assert len(small.run("-j", "1", "-x").cases) == 1
    done = small.run("-j", "1", "--resume", str(small.records))
    assert (done.code, len(done.cases), done.footer["complete"]) == (1, 4, True), done.output


def test_until_red_with_a_number_ends_there(small: SmallRun, turns: Turns) -> None:
    small.suite(turns("p"))
    done = small.run("--until-red", "--repeat", "3")
    assert done.code == 0, done.output
    assert runs(done, "test_turns_p[0]") == ["pass"] * 3


# --- order ---


def order(done: Outcome) -> list[str]:
    return [r["case"].rpartition("::")[2] for r in done.records if r["record"] == "case"]


def test_random_order_is_repeated_by_its_seed(small: SmallRun) -> None:
    small.suite(QUIET.replace("range(6)", "range(40)"))
    usual = order(small.run("-j", "1"))
    first = small.run("-j", "1", "--random-order")
    seed = first.records[0]["random_seed"]
    assert f"  order        --random-order {seed}" in first.output.splitlines()[:6]
    assert order(first) != usual and sorted(order(first)) == sorted(usual)
    again = small.run("-j", "1", "--random-order", str(seed))
    assert order(again) == order(first)
    assert [case["number"] for case in first.cases.values()] != list(range(40))
    assert first.footer["recorded"] == 40


def test_each_round_has_an_order_of_its_own() -> None:
    rounds = Rounds(Plan(repeat=2, seed=1), range(30))
    numbers = []
    while (number := rounds.next_for(0)) is not None:
        numbers.append(number)
        rounds.take(number, records.CaseResult("x", (), "pass"))
    assert sorted(numbers[:30]) == sorted(numbers[30:]) == list(range(30))
    assert numbers[:30] != numbers[30:]


def test_case_never_runs_beside_itself() -> None:
    rounds = Rounds(Plan(repeat=2), [7])
    assert [rounds.next_for(0), rounds.next_for(1), rounds.next_for(0)] == [7, None, None]
    assert rounds.take(7, records.CaseResult("x", (), "pass")) == 1
    assert rounds.next_for(1) == 7


# --- shards ---


@pytest.mark.parametrize("of", [1, 2, 3, 7, 50])
def test_shards_are_disjoint_and_complete_whatever_the_order(of: int) -> None:
    cases = [f"test_{n * 37 % 40}" for n in range(40)]
    parts = [[cases[n] for n in Plan(shard=(index, of)).part(cases)] for index in range(1, of + 1)]
    assert sorted(case for part in parts for case in part) == sorted(cases)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
    turned = cases[::-1]
    assert [set(part) for part in parts] == [
        {turned[n] for n in Plan(shard=(index, of)).part(turned)} for index in range(1, of + 1)
    ]


def shard(small: SmallRun, text: str, *options: str) -> Path:
    small.records = small.scratch / f"{text.replace('/', '-')}.jsonl"
    small.run("--shard", text, *options)
    return small.records


def merge(small: SmallRun, *files: Path, options: tuple[str, ...] = ()) -> int:
    return main(["report", "merge", *map(str, files), "--color", "never", *options])


def test_shards_merge_to_what_one_run_says(small: SmallRun, turns: Turns, capsys: pytest.CaptureFixture[str]) -> None:
    small.suite(turns("f"), turns("p", 6))
    whole = small.run("-j", "2")
    assert whole.code == 1
    parts = [shard(small, f"{n}/3", "--random-order") for n in (1, 2, 3)]
    assert [len([r for r in read(part) if r["record"] == "case"]) for part in parts] == [3, 2, 2]
    assert sorted(read(part)[-1]["exit"] for part in parts) == [0, 0, 1]
    merged, junit = small.scratch / "merged.jsonl", small.scratch / "merged.xml"
    code = merge(small, *reversed(parts), options=("--json", str(merged), "--junit", str(junit)))
    output = capsys.readouterr().out
    assert code == whole.code
    assert output.splitlines()[-1] == whole.output.splitlines()[-1]
    one, other = whole.records, read(merged)
    assert [r["record"] for r in other] == [r["record"] for r in one]
    for record in other:
        jsonschema.validate(record, SCHEMA)
    facts = ("case", "verdict", "status", "number", "strength")
    cases = [sorted([r[f] for f in facts] for r in run if r["record"] == "case") for run in (one, other)]
    assert cases[0] == cases[1]
    for key in ("counts", "exit", "planned", "recorded", "complete"):
        assert other[-1][key] == one[-1][key]
    for key in ("subject", "selection", "catalogue", "shard", "planned"):
        assert other[0][key] == one[0][key]
    assert ElementTree.parse(junit).getroot().get("failures") == "1"


@pytest.fixture(scope="session")
def both_halves(tmp_path_factory: pytest.TempPathFactory, library: Path) -> list[Path]:
    small = SmallRun(tmp_path_factory.mktemp("halves"), library)
    small.suite(QUIET)
    return [shard(small, "1/2"), shard(small, "2/2")]


@pytest.fixture
def halves(small: SmallRun, both_halves: list[Path]) -> list[Path]:
    return [Path(shutil.copy(path, small.scratch)) for path in both_halves]


def test_missing_shard_is_named(small: SmallRun, halves: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert merge(small, halves[0]) == 2
    assert "not all shards are there: 2/2 missing" in capsys.readouterr().err


def test_same_shard_is_not_merged_twice(
    small: SmallRun, halves: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert merge(small, *halves, halves[1]) == 2
    assert "are the same shard, 2/2" in capsys.readouterr().err


def rewrite(path: Path, number: int, **values: object) -> None:
    """Changes a record."""
    all_records = read(path)
    all_records[number] |= values
    path.write_text("".join(records.to_line(record) for record in all_records))


ANOTHER = {"kind": "loader", "word": "loader", "facts": {"name": "another", "path": "/x"}}


@pytest.mark.parametrize(
    ("number", "values", "says"),
    [
        (0, {"subject": ANOTHER}, "are of different subjects: the loader's name is"),
        (0, {"catalogue": "0"}, "differ in their catalogue of requirements"),
        (0, {"clharness": "9"}, "differ in their version of clharness"),
        (0, {"selection": {"cases": 5, "digest": "0"}}, "differ in their selection of cases"),
        (0, {"shard": {"index": 2, "of": 3}}, "differ in their number of shards"),
        (0, {"shard": None}, "is not of a run with --shard"),
        (0, {"shard": {"index": 2, "of": "x"}}, "does not begin with the header of a run"),
        (0, {"planned": 9}, "3 of 9 planned cases have a record"),
        (1, {"case": "suites/discovery/test_small.py::test_quiet[0]"}, "has a record in more than one of the files"),
        (1, {"case": "suites/discovery/test_small.py::test_other"}, "which are not the 6 that were selected"),
        (1, {"verdict": ["pass"]}, "holds a case whose record is not complete"),
        (1, {"log": [1]}, "holds a case whose record is not complete"),
        (-1, {"complete": False}, "was cut short"),
        (-1, {"record": "another"}, "was cut short"),
    ],
)
def test_what_does_not_belong_together_is_not_merged(
    small: SmallRun,
    halves: list[Path],
    capsys: pytest.CaptureFixture[str],
    number: int,
    values: dict[str, object],
    says: str,
) -> None:
    rewrite(halves[1], number, **values)
    assert merge(small, *halves, options=("--json", str(small.scratch / "merged.jsonl"))) == 2
    output = capsys.readouterr()
    assert says in output.err and output.out == ""
    assert not (small.scratch / "merged.jsonl").exists()


def test_stale_expectations_of_shards_are_those_of_the_whole(
    small: SmallRun, halves: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Every shard looks for them among all cases; a run by another root than the project's looks for none."""
    for part in halves:
        rewrite(part, -1, stale=["deviation DISC-LNX-014 test_gone"], exit=1)
    assert merge(small, *halves) == 1
    output = capsys.readouterr().out
    assert "deviation DISC-LNX-014 test_gone: no case has it" in output
    assert output.splitlines()[-1].endswith("not as expected, 1 stale expectation.")


# --- again ---


def test_rerun_runs_what_failed_and_finds_what_is_flaky(small: SmallRun, turns: Turns) -> None:
    small.suite(turns("fp"), turns("f"), turns("p", 3))
    first = small.run()
    assert first.code == 1 and len(first.cases) == 5
    failed = small.records
    small.records = small.scratch / "again.jsonl"
    done = small.run("--rerun-failed", str(failed))
    assert done.code == 1, done.output
    assert {name: case["status"] for name, case in done.cases.items()} == {
        "test_turns_fp[0]": "flaky",
        "test_turns_f[0]": "unexpected",
    }
    assert runs(done, "test_turns_fp[0]") == ["fail", "pass"]
    assert "CL_INVALID_VALUE" in done.cases["test_turns_fp[0]"]["message"]
    assert (done.footer["planned"], done.footer["recorded"]) == (2, 2)


def test_rerun_on_another_build_does_not_compare(small: SmallRun, turns: Turns) -> None:
    small.suite(turns("fp"))
    assert small.run().code == 1
    subject: dict[str, dict[str, object]] = read(small.records)[0]["subject"]
    rewrite(small.records, 0, subject=subject | {"facts": subject["facts"] | {"build_id": "older"}})
    failed = small.records
    small.records = small.scratch / "again.jsonl"
    done = small.run("--rerun-failed", str(failed))
    assert done.code == 0, done.output
    assert done.cases["test_turns_fp[0]"]["status"] == "ok"
    assert f"{failed} is of another build" in done.output


def test_rerun_of_a_green_run_has_nothing_to_do(small: SmallRun) -> None:
    small.suite(QUIET)
    assert small.run().code == 0
    done = small.run("--rerun-failed", str(small.records))
    assert done.code == 4
    assert "all its cases were as expected" in done.output


# --- options ---


@pytest.mark.parametrize(
    "options",
    [
        ["--repeat", "0"],
        ["--repeat", "x"],
        ["--random-order", "x"],
        ["--random-order", "4294967296"],
        *(["--shard", text] for text in ("0/2", "3/2", "1", "1/", "a/b", "1/0", "-1/2")),
    ],
)
@pytest.mark.parametrize("command", ["loader", "layer", "icd"])
def test_wrong_plans_are_refused(command: str, options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main([command, "x", *options])
    assert caught.value.code == 2
    assert options[0] in capsys.readouterr().err


def test_report_says_what_it_needs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "merge"]) == 2
    assert "clharness report merge 1.jsonl 2.jsonl" in capsys.readouterr().err
