# SPDX-License-Identifier: Apache-2.0
"""The index of what was collected: -k reads few files, selects what it selects without it, and never what once was."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.build import ROOT
from tests.forked import pytest_run

# Each file says that it is read.
FILE = '''\
"""A suite."""
from pathlib import Path
import pytest
from harness.check import requirement
with open({log!r}, "a") as log:
    log.write({name!r} + "\\n")
'''
CHECK = '''
@requirement({requirement!r})
@pytest.mark.parametrize("way", {ways!r})
def {name}(way):
    """It is."""
    assert Path(way)
'''
COLLECT = """
import sys
from pathlib import Path
import pytest
from harness.run import index
index.ROOT = Path(sys.argv[1])
options = ["-c", f"{sys.argv[1]}/pytest.ini", "--rootdir", sys.argv[1]]
options += ["-p", "harness.run.plugin", "-p", "no:cacheprovider"]


class Known:
    def pytest_collection_finish(self, session):
        from harness.run.collection import COLLECTED

        print("known:", *sorted(name for _, name in session.config.stash[COLLECTED]))


sys.exit(pytest.main([*options, "-q", "--collect-only", *sys.argv[2:]], plugins=[Known()]))
"""


@dataclass
class Project:
    """A project with suites, and the runs that collect them."""

    root: Path

    def file(self, name: str, *checks: tuple[str, list[str]], folder: str = "discovery") -> None:
        path = self.root / "suites" / folder / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        head = FILE.format(log=str(self.root.parent / "log"), name=name)
        own = {"discovery": "DISC-LNX-014", "layers": "LAY-DSC-001"}[folder]
        path.write_text(head + "".join(CHECK.format(name=n, ways=ways, requirement=own) for n, ways in checks))

    def collect(self, *options: str) -> subprocess.CompletedProcess[str]:
        (self.root.parent / "log").unlink(missing_ok=True)
        variables = {"PYTHONPATH": str(ROOT), "CLHARNESS_OUTPUT": str(self.root.parent / "output")}
        environment = os.environ | variables
        return pytest_run(self.root, *options, folder=self.root, environment=environment, program=COLLECT)

    def cases(self, *options: str) -> set[str]:
        """The names of the cases that a run selects."""
        lines = self.collect(*options).stdout.splitlines()
        return {line.split("::", 1)[1] for line in lines if line.startswith("suites/")}

    def known(self, *options: str) -> set[str]:
        """The names of the cases that a run knows of, selected or not."""
        lines = self.collect(*options).stdout.splitlines()
        return {name for line in lines if line.startswith("known:") for name in line.split()[1:]}

    @property
    def read(self) -> set[str]:
        """The files that the last run read."""
        log = self.root.parent / "log"
        return set(log.read_text().split()) if log.exists() else set()


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path / "root")
    project.file("test_one", ("test_a", ["Left", "right"]), ("test_b", ["left"]))
    project.file("test_two", ("test_c", ["left::up"]), ("test_d", ["x"]))
    (project.root / "suites" / "discovery" / "helper.py").write_text("A = 1\n")
    (project.root / "pytest.ini").write_text((ROOT / "pytest.ini").read_text())
    return project


def test_the_first_run_reads_everything(project: Project) -> None:
    assert project.cases("-k", "test_b") == {"test_b[left]"}
    assert project.read == {"test_one", "test_two"}
    project.collect("-k", "test_nothing")
    assert project.read == set()


def test_a_later_run_reads_what_it_selects_from(project: Project) -> None:
    project.collect()
    assert project.read == {"test_one", "test_two"}
    assert project.cases("-k", "test_d") == {"test_d[x]"}
    assert project.read == {"test_two"}


@pytest.mark.parametrize(
    "expression",
    [
        "test_a", "LEFT", "left and not test_b", "not left", "test_one", "test_two or right", "discovery",
        "requirement", "not discovery", "test_b[left]", "left::up", "test", "x or y", "parametrize and test_d",
    ],
)  # fmt: skip
def test_an_expression_selects_what_it_selects_without_the_index(project: Project, expression: str) -> None:
    first = project.cases("-k", expression)  # without an index, which it leaves
    assert project.cases("-k", expression) == first
    assert len(project.read) < 2 or first


@pytest.mark.parametrize("expression", ["test_d", "not test_d", "left", "not left", "test_e"])
def test_a_run_of_a_folder_knows_all_its_cases_and_no_others(project: Project, expression: str) -> None:
    """What a run knows of decides which expectations are stale."""
    project.file("test_other", ("test_e", ["left", "x"]), folder="layers")
    project.collect()
    own = {"test_a[Left]", "test_a[right]", "test_b[left]", "test_c[left::up]", "test_d[x]"}
    assert project.known("-k", expression, "suites/discovery") == own
    assert project.known("-k", expression) == own | {"test_e[left]", "test_e[x]"}


def test_a_case_that_came_is_found(project: Project) -> None:
    project.collect()
    project.file("test_two", ("test_c", ["left"]), ("test_new", ["left"]))
    project.file("test_three", ("test_new_too", ["left"]))
    assert project.cases("-k", "test_new") == {"test_new[left]", "test_new_too[left]"}
    assert project.read == {"test_two", "test_three"}
    assert project.cases("-k", "test_new_too") == {"test_new_too[left]"}
    assert project.read == {"test_three"}, "the index was not brought up to date"


def test_a_case_that_went_is_not_found(project: Project) -> None:
    project.collect()
    project.file("test_two", ("test_d", ["x"]))
    assert project.cases("-k", "test_c") == set()
    (project.root / "suites" / "discovery" / "test_one.py").unlink()
    assert project.cases("-k", "test_a or test_d") == {"test_d[x]"}


def test_code_that_cases_may_depend_on_makes_all_files_read(project: Project) -> None:
    project.collect()
    (project.root / "suites" / "discovery" / "helper.py").write_text("A = 22\n")
    project.collect("-k", "test_d")
    assert project.read == {"test_one", "test_two"}
    project.collect("-k", "test_d")
    assert project.read == {"test_two"}


def test_what_depends_on_the_environment_is_kept_apart(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.collect()
    monkeypatch.setenv("CLHARNESS_SOMETHING", "1")
    project.collect("-k", "test_d")
    assert project.read == {"test_one", "test_two"}


@pytest.mark.parametrize("variable", ["CLHARNESS_FAULT", "CLHARNESS_SCRATCH"])
def test_what_a_case_does_when_it_runs_changes_nothing(
    project: Project, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    project.collect()
    monkeypatch.setenv(variable, "1")
    assert project.cases("-k", "test_d") == {"test_d[x]"}
    assert project.read == {"test_two"}


def test_a_run_of_pieces_leaves_no_index(project: Project) -> None:
    project.collect("suites/discovery/test_one.py::test_a")
    assert project.cases("-k", "test_b") == {"test_b[left]"}


def test_a_file_that_was_changed_is_seen_by_the_lint(project: Project) -> None:
    project.collect()
    path = project.root / "suites" / "discovery" / "test_two.py"
    path.write_text(path.read_text().replace("assert Path(way)", "assert True"))
    ended = project.collect("-k", "test_d")
    assert ended.returncode == pytest.ExitCode.USAGE_ERROR
    assert "asserts a constant" in ended.stderr
    assert "asserts a constant" in project.collect("-k", "test_d").stderr, "what is not in order was kept"


def test_a_name_that_another_file_has_is_seen_when_one_of_them_comes(project: Project) -> None:
    project.collect()
    project.file("test_three", ("test_a", ["again"]))
    ended = project.collect("-k", "again")
    assert "test_a is the name of 2 tests" in ended.stderr


def test_a_damaged_index_is_none(project: Project, tmp_path: Path) -> None:
    project.collect()
    (index,) = (tmp_path / "output" / "derived").glob("cases-*.json")
    index.write_text(index.read_text()[:100])
    assert project.cases("-k", "test_d") == {"test_d[x]"}
    assert project.read == {"test_one", "test_two"}
