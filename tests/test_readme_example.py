"""The README's worked example of a check works as it says: green as written, red with the change that it proposes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from harness.build import ROOT, build


@pytest.fixture
def example() -> str:
    section = (ROOT / "README.md").read_text().partition("## How to add a check")[2]
    found = re.search(r"```python\n(.*?)```", section, re.S)
    assert found, "the README shows no check"
    return found[1]


def run(folder: Path, check: str) -> subprocess.CompletedProcess[str]:
    """Runs a check in a project root of its own."""
    suite = folder / "suites" / "discovery"
    suite.mkdir(parents=True, exist_ok=True)
    (suite / "test_linux_blank.py").write_text(check)
    (folder / "conftest.py").write_text('pytest_plugins = ["harness.run.plugin"]\n')
    (folder / "pytest.ini").write_text((ROOT / "pytest.ini").read_text())
    command = [sys.executable, "-m", "pytest", "-c", "pytest.ini", "--rootdir", ".", "suites", "-p", "no:cacheprovider"]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "CLHARNESS_BUILD": str(build().folder)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def test_example_is_green_and_can_fail(example: str, tmp_path: Path) -> None:
    """The check passes on the loader that is tested by default, and fails with the change that the README proposes."""
    green = run(tmp_path / "green", example)
    assert green.returncode == 0, green.stdout
    assert "1 passed" in green.stdout

    red = run(tmp_path / "red", example.replace('f"{blank}\\n"', 'f"{blank}\\n".replace(" ", "-")'))
    assert red.returncode == 1, red.stdout
    assert "1 failed" in red.stdout
    assert "requirement  DISC-LNX-003" in red.stdout and "reproduce    ./clharness replay" in red.stdout
