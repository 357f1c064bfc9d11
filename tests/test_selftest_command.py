# SPDX-License-Identifier: Apache-2.0
"""`clharness selftest` on small suites: what it accepts, and what it does not let pass."""

from __future__ import annotations

import ast
import ctypes
import dataclasses
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.build import ROOT
from harness.cli.main import main
from harness.errors import HarnessError
from harness.run import assertions
from harness.selftest.mutants.loader import mutants
from harness.selftest.seeded import seeded_loader
from tests.forked import clharness

HEAD = '''\
"""A small suite."""
from harness.check import requirement
'''
HONEST = '''

@requirement("DISC-LNX-014")
def test_newline(loader, sandbox):
    """The newline is not part of the name."""
    sandbox.vendor("a")
    with loader.start(sandbox) as cl:
        assert cl.platform_names() == {"a"}
'''
EMPTY = '''

@requirement("DISC-LNX-014")
def test_nothing(loader, sandbox):
    """The newline is not part of the name."""
    sandbox.vendor("a")
    with loader.start(sandbox) as cl:
        names = cl.platform_names()
    assert names is not None
'''
WRONG = '''

@requirement("DISC-LNX-014")
def test_wrong(loader, sandbox):
    """No loader does this."""
    assert loader.path is None
'''
RECORDS = '''

@requirement("DISC-LNX-015")
def test_carriage_return(loader, sandbox, record):
    """A carriage return is kept or taken off."""
    mock = sandbox.icd("a")
    sandbox.vendor_file("a.icd", f"{mock}\\r\\n")
    with loader.start(sandbox) as cl:
        record("accepted" if cl.platform_count() else "ignored")
'''


def selftest(tmp_path: Path, suite: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    folder = tmp_path / "suites" / "discovery"
    folder.mkdir(parents=True)
    (folder / "test_small.py").write_text(HEAD + suite)
    return clharness("selftest", "--suites", folder.parent, *arguments, limit=120)


def test_a_check_that_works_catches_the_fault(tmp_path: Path) -> None:
    result = tmp_path / "result.json"
    done = selftest(tmp_path, HONEST, "--fault", "newline_kept", "--json", str(result))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "newline_kept" in done.stdout
    assert "1 of 1 faults caught, 1 cases" in done.stdout
    (fault,) = json.loads(result.read_text())["faults"]
    assert fault["caught_by"] == "suites/discovery/test_small.py::test_newline"
    assert fault["verdict"] == "fail"


def test_a_check_without_its_assertion_fails(tmp_path: Path) -> None:
    done = selftest(tmp_path, EMPTY, "--fault", "newline_kept")
    assert done.returncode == 1
    assert "not caught: newline_kept (DISC-LNX-014): makes the loader take the newline" in done.stdout
    assert "0 of 1 faults caught, 1 cases, " in done.stdout
    assert "()" not in done.stdout


# What may become of a check, and what the command says. The last two have to be run to be found out.
WEAKENED: dict[str, tuple[Callable[[str], str], int, str]] = {
    "no body": (lambda s: s.partition('    sandbox.vendor("a")')[0], 2, "asserts nothing"),
    "assert True": (lambda s: s.replace('cl.platform_names() == {"a"}', "True"), 2, "asserts nothing"),
    "compared with itself": (lambda s: s.replace('cl.platform_names() == {"a"}', "cl == cl"), 2, "with itself"),
    "always true": (lambda s: s.replace('== {"a"}', "is not None"), 1, "not caught: newline_kept"),
    "too many answers": (lambda s: s.replace('== {"a"}', 'in ([], ["a"])'), 1, "not caught: newline_kept"),
}


@pytest.mark.parametrize("change", WEAKENED)
def test_a_weakened_check_fails(tmp_path: Path, change: str) -> None:
    weakened, status, message = WEAKENED[change]
    done = selftest(tmp_path, weakened(HONEST), "--fault", "newline_kept")
    assert (done.returncode, message in done.stdout + done.stderr) == (status, True), done.stdout + done.stderr


def test_no_check_of_the_suites_can_lose_its_assertions() -> None:
    """Each check without its body, and each with any one assertion replaced by `assert True`, is refused."""
    checks = [
        node
        for path in sorted((ROOT / "suites").rglob("test_*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]
    assert len(checks) > 200
    for check in checks:
        assert list(assertions.problems_in(ast.FunctionDef(**(vars(check) | {"body": [ast.Pass()]})), print))
        for node in ast.walk(check):
            if isinstance(node, ast.Assert):
                node.test, kept = ast.Constant(True), node.test
                assert list(assertions.problems_in(check, print)), check.name
                node.test = kept


def test_a_crash_does_not_prove_a_check(tmp_path: Path) -> None:
    """A check whose assertion always holds is red when a call cannot be made; that proves nothing of it."""
    matrix = matrix_of(tmp_path, HONEST + EMPTY, "newline_kept", "count_query_without_entries_refused")
    assert matrix == {"open": {"test_nothing": "count_query_without_entries_refused"}, "missed": [], "passed": False}


def test_assertions_that_never_failed_are_named(tmp_path: Path) -> None:
    suite = HONEST.replace("as cl:", "as cl:\n        assert cl.open_files() == []")
    done = selftest(tmp_path, suite, "--fault", "newline_kept", "--assertions")
    assert done.returncode == 0, done.stdout + done.stderr
    line = 1 + (HEAD + suite).splitlines().index("        assert cl.open_files() == []")
    assert f"never failed: suites/discovery/test_small.py:{line}\n1 of 2 assertions failed.\n" in done.stdout


def test_only_what_a_fault_meets_runs_without_it(tmp_path: Path) -> None:
    """What is for another requirement is left out as long as a nearer check finds the fault."""
    far = WRONG.replace("LNX-014", "LNX-011")
    done = selftest(tmp_path, far + HONEST, "--fault", "newline_kept")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 of 1 faults caught, 1 cases" in done.stdout


def test_a_fault_meets_further_cases_until_one_is_red(tmp_path: Path) -> None:
    """Those of its own requirements, then all, but for what is unsupported without the fault."""
    unsupported = EMPTY.replace("test_nothing", "test_not_here").partition('    sandbox.vendor("a")')[0]
    unsupported += (
        '    from harness.check import Unsupported\n    raise Unsupported("machine", "not here")\n    assert loader\n'
    )
    blind = [EMPTY.replace("test_nothing", f"test_nothing_{n}") for n in range(4)]
    far = HONEST.replace("LNX-014", "LNX-011")
    done = selftest(tmp_path, "".join([unsupported, *blind, far]), "--fault", "newline_kept")
    assert done.returncode == 0, done.stdout + done.stderr
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("newline_kept"))
    assert "test_newline" in line and " fail         5 " in line, line
    assert "1 of 1 faults caught, 6 cases" in done.stdout


def test_a_fault_that_nothing_is_for_fails(tmp_path: Path) -> None:
    done = selftest(tmp_path, HONEST, "--fault", "newline_kept", "fifo_blocks")
    assert done.returncode == 1
    assert "not caught: fifo_blocks" in done.stdout
    assert "1 of 2 faults caught" in done.stdout


def matrix_of(tmp_path: Path, suite: str, *chosen: str) -> Any:
    """What the whole matrix says of a suite and a few faults: open checks with what ended them, missed faults."""
    program = (
        "import json, sys; from pathlib import Path; from harness.selftest.mutants.loader import mutants;"
        "from harness.selftest import report; from harness.selftest.run import run_matrix;"
        "folder, *names = sys.argv[1:]; chosen = [mutants().by_name[n] for n in names];"
        "from harness.selftest.seeded import seeded_loader;"
        "subject = (f'--loader={seeded_loader()}',);"
        "m = run_matrix(Path(folder), Path(folder), subject, chosen, 2, lambda _: None, True);"
        "checks = {check.name.partition('::')[2]: check.ended_by for check in report.open_checks(m)};"
        "missed = [caught.mutant.name for caught in report.open_mutants(m)];"
        "print(json.dumps({'open': checks, 'missed': missed, 'passed': report.passed(m, True)}))"
    )
    folder = tmp_path / "suites" / "discovery"
    folder.mkdir(parents=True)
    (folder / "test_small.py").write_text(HEAD + suite)
    command = [sys.executable, "-c", program, str(folder.parent), *chosen]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_check_that_nothing_turns_red_fails(tmp_path: Path) -> None:
    """Beside a check that catches the fault, one that does not is found out by the further faults."""
    matrix = matrix_of(tmp_path, HONEST + EMPTY, "newline_kept", "newline_takes_one_more")
    assert matrix == {"open": {"test_nothing": None}, "missed": [], "passed": False}


def test_another_outcome_is_red(tmp_path: Path) -> None:
    done = selftest(tmp_path, RECORDS, "--fault", "carriage_return_taken_off")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "changed" in done.stdout


def test_a_check_that_is_red_without_fault_proves_nothing(tmp_path: Path) -> None:
    done = selftest(tmp_path, HONEST + WRONG, "--fault", "newline_kept")
    assert done.returncode == 1
    assert "not green without a fault" in done.stdout
    assert "test_small.py::test_wrong: fail" in done.stdout
    assert "test_newline" not in done.stdout


def test_a_fault_that_hangs_costs_little(tmp_path: Path) -> None:
    suite = HONEST.replace("LNX-014", "LNX-011").replace(
        'sandbox.vendor("a")', 'sandbox.vendor("a"); __import__("os").mkfifo(sandbox.vendors / "b.icd")'
    )
    done = selftest(tmp_path, suite, "--fault", "fifo_blocks")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "hang" in done.stdout


def test_an_unknown_fault_ends_the_process() -> None:
    program = f"import ctypes; ctypes.CDLL({str(seeded_loader())!r})"
    for name, status in (("no_such_fault", -signal.SIGABRT), ("", 0), ("newline_kept", 0)):
        environment = os.environ | {"CLHARNESS_FAULT": name}
        done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
        assert done.returncode == status, done.stderr
        refused = "CLHARNESS_FAULT=no_such_fault: unknown; clharness selftest --list shows the names" in done.stderr
        assert refused == (status != 0)


def test_a_fault_that_the_build_lacks_is_not_taken_for_one_that_was_caught() -> None:
    """The library ends the process of each case over a name that it does not know."""
    fault = next(iter(mutants().by_name.values()))
    assert seeded_loader([fault]).exists()
    with pytest.raises(HarnessError, match=r"was built without a_newer_fault: .*build again"):
        seeded_loader([fault, dataclasses.replace(fault, name="a_newer_fault")])


def test_the_seeded_loader_has_the_symbols_of_the_reference_loader() -> None:
    """Its own additions stay inside: a program that is linked to it sees a loader and nothing else."""
    assert not hasattr(ctypes.CDLL(str(seeded_loader())), "clharness_seeded_fault")


def test_a_sample_is_repeatable(capsys: pytest.CaptureFixture[str]) -> None:
    samples = []
    for seed in ("1", "1", "2"):
        assert main(["selftest", "--list", "--sample", "10", "--seed", seed]) == 0
        samples.append(capsys.readouterr().out)
    assert samples[0] == samples[1] != samples[2]
    assert len(samples[0].splitlines()) == 10


@pytest.mark.parametrize(
    ("fault", "line"),
    [
        (["--fault", "newline_kept"], "DISC-LNX-014: makes the loader take the newline for a part of the name."),
        (["--icd", "--fault", "no_address_query"], "DISC-ACC-038: makes the ICD lack clGetExtensionFunctionAddress"),
        (["--icd", "--fault", "flush_fails"], "API-ARG-002: the ICD answers CL_OUT_OF_RESOURCES to clFlush."),
    ],
)
def test_the_list_says_what_a_fault_does(fault: list[str], line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["selftest", "--list", *fault]) == 0
    assert capsys.readouterr().out.split(maxsplit=1)[1].strip() == line


@pytest.mark.parametrize(
    "way", [["--fault", "newline_kept", "fifo_blocks"], ["--fault", "newline_kept", "--fault", "fifo_blocks"]]
)
def test_several_faults_may_be_named(way: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["selftest", "--list", *way]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["newline_kept", "fifo_blocks"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--fault", "nonsense"], "there is no such fault; `clharness selftest --list` prints all"),
        (["--icd", "--fault", "nonsense"], "there is no such fault; `clharness selftest --icd --list` prints all"),
        (["--fault", "flush_fails"], "no fault of loaders; `clharness selftest --icd --fault flush_fails` knows it"),
        (["--layer", "--fault", "fifo_blocks"], "`clharness selftest --fault fifo_blocks` knows it"),
        (["--fault", "fifo_blocks", "--sample", "3"], "give one of them"),
        (["--seed", "3"], "give that, too"),
        (["-k", "fifo"], "-k chooses checks for the faults of --fault; give that, too"),
        (["--fault", "fifo_blocks", "--suites", "/nowhere"], "a folder named `suites`"),
    ],
)
def test_wrong_usage_of_the_selftest_is_said(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["selftest", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_suites_without_a_check(tmp_path: Path) -> None:
    done = selftest(tmp_path, "", "--fault", "newline_kept")
    assert done.returncode == 4
    assert "nothing ran" in done.stderr
