# SPDX-License-Identifier: Apache-2.0
"""The README's worked example of a check works as it says: green as written, red with the change that it proposes, and
proven by the seeded fault that it names."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from harness.build import ROOT, build
from tests.forked import clharness, pytest_run


def block(start: str) -> str:
    """The block of the README's section that begins so."""
    section = (ROOT / "README.md").read_text().partition("## How to add a check")[2]
    blocks: list[str] = re.findall(r"```(?:python)?\n(.*?)```", section, re.S)
    return next(block for block in blocks if block.startswith(start))


@pytest.fixture
def example() -> str:
    return block("# SPDX")


def write(folder: Path, check: str) -> Path:
    """A project root of its own with this check; gives its suites."""
    suite = folder / "suites" / "discovery"
    suite.mkdir(parents=True, exist_ok=True)
    (suite / "test_linux_blank.py").write_text(check)
    return suite.parent


def run(folder: Path, check: str) -> subprocess.CompletedProcess[str]:
    write(folder, check)
    (folder / "conftest.py").write_text('pytest_plugins = ["harness.run.plugin"]\n')
    (folder / "pytest.ini").write_text((ROOT / "pytest.ini").read_text())
    command = ["-c", "pytest.ini", "--rootdir", ".", "suites", "-p", "no:cacheprovider"]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "CLHARNESS_BUILD": str(build().folder)}
    return pytest_run(*command, folder=folder, environment=environment)


def selftest(arguments: list[str], suites: Path) -> subprocess.CompletedProcess[str]:
    return clharness(*arguments, "--suites", suites, "-j", "1")


def test_example_is_green_and_can_fail(example: str, tmp_path: Path) -> None:
    """The check passes on the loader that is tested by default, and fails with the change that the README proposes."""
    green = run(tmp_path / "green", example)
    assert green.returncode == 0, green.stdout
    assert "1 passed" in green.stdout

    red = run(tmp_path / "red", example.replace('f"{blank}\\n"', 'f"{blank}\\n".replace(" ", "-")'))
    assert red.returncode == 1, red.stdout
    assert "1 failed" in red.stdout
    assert "requirement  DISC-LNX-003" in red.stdout and "reproduce    ./clharness replay" in red.stdout


def test_example_is_proven_by_its_fault(example: str, tmp_path: Path) -> None:
    """The command that the README shows has the output that it shows, but for the times."""
    program, *arguments = block("./clharness selftest").split()
    assert program == "./clharness"
    done = selftest(arguments, write(tmp_path, example))
    assert done.returncode == 0, done.stderr
    without_times = [re.sub(r" +[\d.]+$|\d+ s ", "", line) for line in done.stdout.splitlines()]
    assert without_times == [re.sub(r" +[\d.]+$|\d+ s ", "", line) for line in block("fault ").splitlines()]


def test_example_without_its_assertions_is_not_proven(example: str, tmp_path: Path) -> None:
    """The control: a check that looks at too little does not notice the fault."""
    weakened = (
        example.replace('cl.platform_names() == {"plain", "blank"}', '"plain" in cl.platform_names()').partition(
            "\n    assert sandbox.log"
        )[0]
        + "\n"
    )
    assert weakened != example
    arguments = block("./clharness selftest").split()[1:]
    done = selftest(arguments, write(tmp_path, weakened))
    assert done.returncode == 1, done.stderr
    assert "0 of 1 faults caught" in done.stdout
