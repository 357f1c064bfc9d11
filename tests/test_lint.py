# SPDX-License-Identifier: Apache-2.0
"""The lint at collection: each thing that it refuses is seen to be refused."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import harness.check
from harness.build import ROOT, build
from harness.expectations import Expectations, load
from harness.run.cases import Case
from harness.run.lint import faults_without_their_cases, lint, unused_expectations, unused_mock_faults
from harness.selftest.mutants import Mutant
from tests.forked import pytest_run

FILE = "suites/discovery/test_a.py"


def case(
    name: str = "test_x", *requirements: str, suite: str = "discovery", sentence: str = "So.", nothing: bool = False
) -> Case:
    identifier = f"suites/{suite}/test_a.py::{name}"
    return Case(identifier, requirements or ("DISC-LNX-011",), suite, sentence, is_for_nothing=nothing)


def test_cases_that_are_in_order() -> None:
    assert lint([case(), case("test_y[a]"), case("test_y[b]"), case("test_z", "DISP-ARG-017", suite="dispatch")]) == []


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (case("test_x", "DISC-LNX-999"), "there is no requirement DISC-LNX-999"),
        (case("test_x", "DISP-ARG-017"), "DISP-ARG-017 is of group DISP, not of this folder"),
        (case(suite="elsewhere"), "there is no suite 'elsewhere'"),
        (case(sentence=""), "has no docstring"),
        (case(nothing=True), "its parametrisation yields nothing"),
        (Case(f"{FILE}::test_x", (), "discovery", "So."), "names no requirement"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_wrong_with_a_case(wrong: Case, message: str) -> None:
    (problem,) = lint([wrong])
    assert message in problem
    assert problem.startswith(wrong.id.partition("[")[0])


def test_a_case_that_is_there_twice() -> None:
    assert lint([case("test_x[a]"), case("test_x[a]")]) == [
        f"{FILE}::test_x[a]: is there 2 times; give each case a name of its own"
    ]


def expectations(folder: Path, requirement: str, pattern: str | None) -> Expectations:
    path = folder / "some.toml"
    path.write_text(
        f'loader = "Some"\nversions = ">=1"\n[[deviation]]\nrequirement = "{requirement}"\nverdict = "fail"\n'
        'reason = "why"\nversions = ">=7"\n' + (f'case = "{pattern}"\n' if pattern else "")
    )
    return load(path, "1.0")


@pytest.mark.parametrize("pattern", ["test_x", "test_*", None])
def test_an_expectation_that_a_case_can_meet(tmp_path: Path, pattern: str | None) -> None:
    assert list(unused_expectations([case()], [expectations(tmp_path, "DISC-LNX-011", pattern)])) == []


@pytest.mark.parametrize(("requirement", "pattern"), [("DISC-LNX-011", "test_gone*"), ("DISC-LNX-012", None)])
def test_an_expectation_that_matches_nothing(tmp_path: Path, requirement: str, pattern: str | None) -> None:
    """Also one of other versions than that of the loader under test."""
    (message,) = unused_expectations([case()], [expectations(tmp_path, requirement, pattern)])
    assert message.startswith(f"some.toml: deviation {requirement}")
    assert message.endswith("no case is named so; correct or remove the entry")


def test_an_expectation_of_a_suite_that_was_not_collected(tmp_path: Path) -> None:
    assert list(unused_expectations([case()], [expectations(tmp_path, "DISP-ARG-017", None)])) == []


def test_a_seeded_fault_that_names_cases() -> None:
    known = [
        Mutant(name, ("DISC-LNX-011",), "fail.", cases=cases) for name, cases in (("a", "test_x"), ("b", "test_y"))
    ]
    assert list(faults_without_their_cases([case()], known)) == [
        "mutant b: no case has 'test_y' in its name; correct `cases`"
    ]
    other = Mutant("c", ("DISP-ARG-017",), "fail.", cases="test_y")
    assert list(faults_without_their_cases([case()], [other])) == []


MOCK_USES: dict[str, str] = {
    "plain": 'faults=["count_fails"]',
    "value": "faults=['count_fails=-6']",
    "platform": 'f"count_fails@{number}"',
    "composed": 'f"{what}_fails={value}"',
    "table": '"count": ("icd", ["count_fails"])',
}


@pytest.mark.parametrize("use", MOCK_USES)
def test_a_mock_fault_that_is_used(tmp_path: Path, use: str) -> None:
    header = mock_faults(tmp_path, "count_fails")
    (tmp_path / "test_a.py").write_text(MOCK_USES[use] + "\n")
    assert list(unused_mock_faults(header, [tmp_path])) == []


@pytest.mark.parametrize("text", ["count_fails", '"count_fails_after_writing"', 'f"{fault}={value}"', '"count"'])
def test_a_mock_fault_that_nothing_uses(tmp_path: Path, text: str) -> None:
    header = mock_faults(tmp_path, "count_fails")
    (tmp_path / "test_a.py").write_text(text + "\n")
    assert list(unused_mock_faults(header, [tmp_path])) == [
        "mock_icds/faults.h: no suite and no test uses count_fails; write its check, or remove it"
    ]


def test_a_mock_fault_that_is_there_twice(tmp_path: Path) -> None:
    header = mock_faults(tmp_path, "count_fails", "count_fails")
    (tmp_path / "test_a.py").write_text('"count_fails"\n')
    assert list(unused_mock_faults(header, [tmp_path])) == ["mock_icds/faults.h: count_fails is there 2 times"]


def mock_faults(folder: Path, *names: str) -> Path:
    header = folder / "mock_icds" / "faults.h"
    header.parent.mkdir()
    header.write_text("".join(f"/* Fails. */\nFAULT({name})\n" for name in names))
    return header


# --- in a run of pytest ---

HEAD = '"""A suite."""\nimport pytest\nfrom harness.check import requirement\n'
ORDERLY = '''\
@requirement("DISC-LNX-014")
def test_a(loader):
    """It has a path."""
    assert loader.path.exists()
'''

Change = Callable[[str], str]
CHANGES: dict[str, tuple[Change, str]] = {
    "no assertion": (lambda s: s.replace("assert loader.path.exists()", "pass"), "asserts nothing"),
    "assert True": (lambda s: s.replace("loader.path.exists()", "True"), "asserts nothing"),
    "another assertion": (lambda s: s + "    assert True\n", "line 8: asserts a constant"),
    "wrong folder": (lambda s: s.replace("DISC-LNX-014", "DISP-ARG-017"), "not of this folder"),
    "side door": (
        lambda s: s + "from harness.probe.values import pack\n",
        "test_small.py: line 8: imports harness.probe.values; import from harness.check only",
    ),
    "side door to a part": (
        lambda s: s + "import harness.check.marks\n",
        "test_small.py: line 8: imports harness.check.marks; import from harness.check only",
    ),
    "nothing to run for": (
        lambda s: s.replace("@req", '@pytest.mark.parametrize("n", [])\n@req').replace("(loader)", "(loader, n)"),
        "its parametrisation yields nothing",
    ),
}


def run(folder: Path, suite: str, *options: str) -> subprocess.CompletedProcess[str]:
    suites = folder / "suites" / "discovery"
    suites.mkdir(parents=True)
    (suites / "test_small.py").write_text(HEAD + suite)
    command = ["-c", str(ROOT / "pytest.ini"), "--rootdir", str(folder)]
    command += ["-p", "harness.run.plugin", "-p", "no:cacheprovider", "-q", *options, str(suites.parent)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    if "-n" not in options:
        return pytest_run(*command, folder=folder, environment=environment)
    whole = [sys.executable, "-m", "pytest", *command]  # which its workers are started like
    return subprocess.run(whole, cwd=folder, env=environment, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("change", [None, *CHANGES])
def test_a_run_does_not_start(tmp_path: Path, change: str | None) -> None:
    done = run(tmp_path, CHANGES[change][0](ORDERLY) if change else ORDERLY, "--collect-only")
    assert done.returncode == (4 if change else 0), done.stdout + done.stderr
    if change:
        assert CHANGES[change][1] in done.stderr


@pytest.mark.parametrize("place", ["suites/dispatch/test_other.py", "tests/test_other.py"])
def test_a_name_that_another_test_has(tmp_path: Path, place: str) -> None:
    """In another suite, which need not be collected, or among the project's own tests."""
    other = tmp_path / place
    other.parent.mkdir(parents=True)
    other.write_text("def test_a():\n    assert 1 > 2\n")
    done = run(tmp_path, ORDERLY, "--collect-only", "--ignore", str(other))
    assert done.returncode == 4, done.stdout + done.stderr
    assert "test_a is the name of 2 tests, in suites/d" in done.stderr
    assert place in done.stderr


def test_a_name_within_a_text_is_not_a_test(tmp_path: Path) -> None:
    """Tests of the harness write suites, whose tests may have any name."""
    other = tmp_path / "tests" / "test_other.py"
    other.parent.mkdir(parents=True)
    other.write_text('SUITE = """\ndef test_a():\n    assert 1 > 2\n"""\n')
    done = run(tmp_path, ORDERLY, "--collect-only")
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_name_at_the_door_is_there_and_used() -> None:
    """What harness.check lists can be imported, and some suite does."""
    names = set(dir(harness.check))
    assert len(names) > 100
    assert all(getattr(harness.check, name) is not None for name in names)
    imported = set()
    for path in (ROOT / "suites").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module == "harness.check":
                imported |= {alias.name for alias in node.names}
    assert names == imported


def test_door_loads_what_is_asked_for() -> None:
    """The vocabulary of loaders does not bring in that of vendors, and an unknown name is said to be unknown."""
    script = (
        "import sys\nfrom harness.check import Loader, Sandbox, api, requirement\n"
        "assert Loader.__name__ == 'Loader'\nassert 'harness.check.icd.gl' not in sys.modules\n"
        "from harness.check import Lawder\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert "cannot import name 'Lawder' from 'harness.check'" in done.stderr


def test_workers_say_what_is_wrong_once(tmp_path: Path) -> None:
    pytest.importorskip("xdist")
    wrong, message = CHANGES["assert True"]
    done = run(tmp_path, wrong(ORDERLY), "-n", "2", f"--loader={build().reference_loader}")
    assert done.returncode == 4, done.stdout + done.stderr
    assert done.stderr.count(message) == 1
    assert "INTERNALERROR" not in done.stdout
