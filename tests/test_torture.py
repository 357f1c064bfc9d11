# SPDX-License-Identifier: Apache-2.0
"""Calls for resources that fail: what is counted, what fails and how, what is lost; and the cases that come of it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from harness.build import build
from harness.report import CaseResult
from harness.report.layout import torture_lines
from tests import forked
from tests.small_runs import read

PROGRAM = """
#include <dlfcn.h>
int main(int count, char **arguments)
{
    void *library = dlopen(arguments[1], RTLD_NOW);
    void (*go)(const char *) = library ? (void (*)(const char *))dlsym(library, "go") : 0;
    if (count != 3 || !go) {
        return 1;
    }
    go(arguments[2]);
    return 0;
}
"""
FUNCTIONS = [
    *("malloc", "calloc", "strdup", "realloc", "open", "fopen", "opendir", "scandir", "dlopen", "mmap"),
    "pthread_create",
]


class Subject:
    """The library of torture_library.c, and a program that uses it."""

    def __init__(self, folder: Path) -> None:
        self.library, self.program, self.report = folder / "libgo.so", folder / "program", folder / "report"
        self.preloaded = folder / build().torture.name  # a path without blanks, which LD_PRELOAD cannot hold
        self.preloaded.symlink_to(build().torture)
        (folder / "program.c").write_text(PROGRAM)
        source = Path(__file__).with_name("torture_library.c")
        flags = ["-O1", "-fno-builtin", "-Wall", "-Wextra", "-pthread"]
        for command in (
            ["-shared", "-fPIC", str(source), "-o", str(self.library)],
            [str(folder / "program.c"), "-o", str(self.program)],
        ):
            subprocess.run([build().compiler, *flags, *command], check=True)

    def run(self, failing: int = 0, **variables: str) -> tuple[list[str], list[list[str]]]:
        """What the library said, and the lines of the report."""
        self.report.write_text("")
        variables |= {"CLHARNESS_TORTURE_IN": str(self.library), "CLHARNESS_TORTURE_REPORT": str(self.report)}
        variables |= {"CLHARNESS_TORTURE_FAIL": str(failing)} if failing else {}
        variables |= {"LD_PRELOAD": str(self.preloaded), "PATH": os.environ["PATH"]}
        command = [str(self.program), str(self.library), str(self.library.parent)]
        done = subprocess.run(command, env=variables, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines(), [line.split() for line in self.report.read_text().splitlines()]


@pytest.fixture(scope="module")
def subject(tmp_path_factory: pytest.TempPathFactory) -> Subject:
    return Subject(tmp_path_factory.mktemp("torture"))


def test_calls_of_the_library_are_counted_by_what_it_called(subject: Subject) -> None:
    output, report = subject.run()
    assert output == []
    assert [line[2] for line in report if line[0] == "call"] == FUNCTIONS
    assert [line[1] for line in report[:-1]] == [str(n) for n in range(1, len(FUNCTIONS) + 1)]
    assert report[-1] == ["end"]


@pytest.mark.parametrize("number", range(1, len(FUNCTIONS) + 1), ids=lambda n: FUNCTIONS[n - 1])
def test_one_call_fails_and_nothing_is_lost(subject: Subject, number: int) -> None:
    output, report = subject.run(number)
    function = FUNCTIONS[number - 1]
    assert [line.partition(":")[0] for line in output] == [function]
    errors = {"open": "Too many", "fopen": "Too many", "opendir": "Too many", "dlopen": "no reason"}
    errors["pthread_create"] = "Resource temporarily"
    assert output[0].partition(": ")[2].startswith(errors.get(function, "Cannot allocate memory"))
    assert [line[:2] for line in report] == [["fail", str(number)], ["end"]]


def test_memory_without_a_pointer_to_it_and_descriptors_are_lost(subject: Subject) -> None:
    """A block that the library's data points to is not."""
    _, report = subject.run(LOSE="1")
    left = [line[:3] for line in report if line[0] in ("left", "lost")]
    assert sorted(left) == [["left", "1", "open"], ["lost", "1", "malloc"]]
    assert len([line for line in report if line[0] == "call"]) == len(FUNCTIONS) + 3


def clharness(folder: Path, *options: str) -> tuple[int, str, list[dict[str, object]]]:
    records = folder / "run.jsonl"
    done = forked.clharness("loader", build().reference_loader, "--json", records, *options)
    return done.returncode, done.stdout + done.stderr, read(records)


def test_each_call_of_a_loader_is_a_case_with_one_record(tmp_path: Path) -> None:
    code, output, records = clharness(tmp_path, "--torture", "-k", "discovery and (dlopen or nothing)")
    assert code == 0, output
    names = [str(r["case"]).partition("[")[2] for r in records if r["record"] == "case"]
    assert "0-nothing]" in names and len(names) == len(set(names)) > 4
    assert all("-dlopen-" in name for name in names if name != "0-nothing]")
    assert records[-1]["planned"] == records[-1]["recorded"] == len(names)
    assert "Calls for resources that failed, by place:" in output
    assert all("+0x" in name for name in names if name != "0-nothing]"), "the places have names"


def test_cases_of_torture_are_collected_only_where_asked_for(tmp_path: Path) -> None:
    code, output, _ = clharness(tmp_path, "-k", "test_discovery_goes_on_where_a_call_fails")
    assert code == 4, output
    code, output, _ = clharness(tmp_path, "--torture", "-k", "fifo")
    assert code == 4, output
    code, output, _ = clharness(tmp_path, "--torture", "--suite", "layers")
    assert code == 2 and "torture is a suite of its own" in output


def test_verdicts_are_counted_for_each_place() -> None:
    cases = [("7-malloc-f+0x1", "pass"), ("9-malloc-f+0x1", "crash"), ("8-dlopen-0x12", "pass")]
    results = [
        CaseResult(f"suites/torture/test_x.py::test_x[{name}]", ("TORT-DSC-001",), "crash" if v == "crash" else "pass")
        for name, v in cases
    ]
    assert [line.split() for line in torture_lines(results)] == [
        ["dlopen", "0x12", "1", "pass"],
        ["malloc", "f+0x1", "1", "crash,", "1", "pass"],
    ]
    assert torture_lines([CaseResult("t[7-malloc-x]", ("DISC-LNX-001",), "pass")]) == []
