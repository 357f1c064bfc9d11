# SPDX-License-Identifier: Apache-2.0
"""Where nothing is built: help and the catalogue work, and everything else says so in one sentence."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.build import ROOT

SENTENCE = "nothing is built in"


def run_without_build(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "CLHARNESS_BUILD": str(folder), "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-P", "-m", *command], env=environment, cwd=ROOT, capture_output=True, text=True, check=False
    )


# Prints the name of each subcommand for which help can be made.
HELP = """
from harness.cli.main import command_parser
for name, (parser, _) in command_parser().items():
    assert parser.format_help().startswith(f"usage: clharness {name} ")
    print(name)
"""


def test_help_needs_no_build(tmp_path: Path) -> None:
    done = run_without_build(tmp_path, "harness.cli", "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: clharness ")


def test_help_of_each_command_needs_no_build(tmp_path: Path) -> None:
    environment = {**os.environ, "CLHARNESS_BUILD": str(tmp_path), "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-P", "-c", HELP], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert {"loader", "icd", "layer", "selftest", "report"} <= set(done.stdout.split())


def test_requirement_is_explained(tmp_path: Path) -> None:
    done = run_without_build(tmp_path, "harness.cli", "explain", "DISC-LNX-013")
    assert (done.returncode, done.stderr) == (0, "")
    assert "test_linux_file.py" in done.stdout


def test_table_of_requirements_is_printed(tmp_path: Path) -> None:
    done = run_without_build(tmp_path, "harness.cli", "requirements")
    assert done.returncode == 0
    assert "DISC-LNX" in done.stdout


def test_requirements_cannot_be_checked(tmp_path: Path) -> None:
    done = run_without_build(tmp_path, "harness.cli", "requirements", "--check")
    assert done.returncode == 2
    assert done.stderr.startswith(f"clharness: {SENTENCE} {tmp_path}") and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "argument", ["suites/discovery", "suites/layers/layer/test_layer_calls.py", "tests/test_mock_layers.py", "--co"]
)
def test_pytest_says_one_sentence(argument: str, tmp_path: Path) -> None:
    done = run_without_build(tmp_path, "pytest", "-q", "-p", "no:cacheprovider", argument)
    output = done.stdout + done.stderr
    assert done.returncode == pytest.ExitCode.USAGE_ERROR, output
    assert output.count(f"{SENTENCE} {tmp_path}") == 1 and "Traceback" not in output
    assert len(output.splitlines()) < 8, output


def test_pytest_runs_tests_that_need_no_build(tmp_path: Path) -> None:
    done = run_without_build(tmp_path, "pytest", "-q", "-p", "no:cacheprovider", "tests/test_report_table.py")
    assert done.returncode == 0, done.stdout
    assert "passed" in done.stdout


def test_build_of_another_version_is_named(tmp_path: Path) -> None:
    (tmp_path / "clharness.json").write_text(json.dumps({"system": "linux", "mock_icds": {}, "mock_layers": {}}))
    done = run_without_build(tmp_path, "harness.cli", "requirements", "--check")
    assert done.returncode == 2
    assert done.stderr == f"clharness: the build in {tmp_path} is of another version of clharness: build again\n"
