# SPDX-License-Identifier: Apache-2.0
"""Plain pytest shows of a red check what the command shows, and tests the same loader."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from harness.build import build
from tests.forked import Done, pytest_run
from tests.small_runs import QUIET, SmallRun, kept_folder, read

RED = '''
@requirement("DISC-LNX-014")
def test_bad_answer(loader, sandbox):
    """It finds a platform."""
    sandbox.vendor("plain")
    sandbox.env["OPENCL_LAYERS"] = "none"
    with loader.start(sandbox) as cl:
        assert cl.clGetPlatformIDs(0, None, None) == 0
'''
PYTEST = """
import sys, pytest
from harness.subject import search
if sys.argv.pop(1) == "without":
    search.system_loader = lambda: None
sys.exit(pytest.main(sys.argv[1:]))
"""


def options(small: SmallRun) -> list[str]:
    words = ["-c", str(small.root / "pytest.ini"), "--rootdir", str(small.root), "-p", "harness.run.plugin"]
    return [*words, "-p", "no:cacheprovider", f"--clharness-json={small.records}", str(small.root / "suites")]


def run(small: SmallRun, *further: str, machine: str = "with") -> Done:
    command = [machine, *options(small), *further]
    return pytest_run(*command, folder=Path.cwd(), environment=small.environment, program=PYTEST)


@pytest.mark.parametrize("workers", ["0", "2"])
def test_red_check_shows_what_the_command_shows(small: SmallRun, workers: str) -> None:
    if workers != "0":
        pytest.importorskip("xdist")
    small.suite(RED, QUIET)
    done = run(small, f"--loader={small.library}", *(["-n", workers] if workers != "0" else []))
    assert done.returncode == 1, done.stdout + done.stderr
    failures = done.stdout.partition("= FAILURES =")[2].partition("short test summary")[0]
    assert "== 0" in failures.partition("AssertionError")[0]
    kept = kept_folder(small, "discovery_test_small.py_test_bad_answer")
    for line in (
        "requirement  DISC-LNX-014 (must): ",
        "read         https://",
        "expected     It finds a platform.",
        "calls        application | clGetPlatformIDs(",
        f"reproduce    ./clharness replay {shlex.quote(str(kept))}",
        "files        libraries/libplain.so.conf  (",
        "             vendors/plain.icd  (",
        "environment  OPENCL_LAYERS=none",
    ):
        assert line in failures, line
    assert "stdout  (0 bytes)" not in failures
    footer = read(small.records)[-1]
    assert (footer["planned"], footer["recorded"], footer["exit"]) == (7, 7, 1)


RAW = '''
@requirement("DISC-LNX-014")
def test_raw(loader, sandbox):
    """It finds a platform."""
    title = "\\x1b]0;owned\\x07\\u202e\\x9b31m"
    try:
        raise ValueError(title)
    except ValueError as error:
        raise AssertionError(f"platforms: {title}, expected none") from error
'''


@pytest.mark.parametrize("style", ["auto", "long", "short", "line", "native"])
def test_what_a_subject_says_reaches_no_terminal_as_it_is(small: SmallRun, style: str) -> None:
    small.suite(RAW)
    done = run(small, f"--loader={small.library}", f"--tb={style}", "--showlocals")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "platforms: \\x1b]0;owned\\x07\\u202e\\x9b31m" in done.stdout
    acting = {character for character in done.stdout if not character.isprintable()} - {"\n", "\t"}
    assert not acting, done.stdout


def test_worker_of_xdist_that_is_lost_has_a_record(small: SmallRun) -> None:
    pytest.importorskip("xdist")
    small.suite(
        """
@requirement("DISC-LNX-014")
def test_dies(loader):
    \"\"\"It answers.\"\"\"
    os.kill(os.getpid(), 9)
    assert loader
""",
        QUIET,
    )
    done = run(small, f"--loader={small.library}", "-n", "2")
    assert done.returncode == 1, done.stdout + done.stderr
    cases = {r["case"].rpartition("::")[2]: r["verdict"] for r in read(small.records) if r["record"] == "case"}
    assert len(cases) == 7 and cases["test_dies"] == "error"


def test_first_failure_ends_a_run_that_asks_for_that(small: SmallRun) -> None:
    small.suite(RED, QUIET)
    assert run(small, f"--loader={small.library}", "-x").returncode == 1
    footer = read(small.records)[-1]
    assert (footer["planned"], footer["recorded"], footer["complete"]) == (7, 1, False)


def test_python_without_assertions_is_refused(small: SmallRun) -> None:
    """Those that checks share would pass whatever the subject does."""
    small.suite(QUIET)
    environment = small.environment | {"PYTHONOPTIMIZE": "1"}  # which a Python of its own heeds
    command = [sys.executable, "-c", PYTEST, "with", *options(small), f"--loader={small.library}"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 4 and "Python runs without assertions: unset PYTHONOPTIMIZE" in done.stderr


def test_reference_loader_is_tested_on_a_machine_without_a_loader(small: SmallRun) -> None:
    small.suite(RED.replace("0, None, None", "0, None, cl.buffer(4)"))
    done = run(small, machine="without")
    assert done.returncode == 0, done.stdout + done.stderr
    head = done.stdout.partition("collected")[0]
    assert (
        "loader: there is no libOpenCL.so.1 on this machine: the suites test clharness's own reference loader" in head
    )
    assert read(small.records)[0]["subject"]["facts"]["path"] == str(build().reference_loader)


def test_loader_that_is_named_is_tested_on_a_machine_without_a_loader(small: SmallRun) -> None:
    small.suite(QUIET)
    done = run(small, f"--loader={small.library}", machine="without")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "there is no" not in done.stdout
    assert Path(read(small.records)[0]["subject"]["facts"]["path"]) == small.library


EXPLAINED = '''
@requirement("DISC-LNX-014")
def test_explained(loader, sandbox, request):
    """It finds a platform."""
    assert request.config.get_terminal_writer() is not None
    answers = [1, 2]
    assert answers == [1, 3]
'''


def test_comparison_is_explained_where_pytest_asks_its_terminal(small: SmallRun) -> None:
    small.suite(EXPLAINED)
    done = small.run("-j", "1")
    assert done.cases, done.output
    message = done.cases["test_explained"]["message"]
    assert message.splitlines()[1] == "assert [1, 2] == [1, 3]"
