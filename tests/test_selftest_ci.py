# SPDX-License-Identifier: Apache-2.0
"""The steps of continuous integration: each runs, and those that fail are named at the end."""

from __future__ import annotations

import subprocess

import pytest

from harness.build import ROOT


def steps(script: str) -> subprocess.CompletedProcess[str]:
    command = ["bash", "-uc", f"source ci/steps.sh\n{script}\nsummary tonight"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=30)


def test_everything_passed() -> None:
    done = steps("step first true; step second echo said")
    assert done.returncode == 0
    assert "==> second: echo said\nsaid\n==> second: passed" in done.stdout
    assert done.stdout.endswith("==> everything passed tonight\n")


def test_steps_after_a_failure_run() -> None:
    done = steps("step first false; step second echo said; step third sh -c 'exit 7'")
    assert done.returncode == 1
    assert "==> third: FAILED, status 7" in done.stdout
    assert "\nsaid\n" in done.stdout
    assert done.stdout.endswith("==> failed tonight:\n      first\n      third\n")


def test_a_step_that_does_not_end() -> None:
    done = steps("step_limit=0.1; step endless sleep 20")
    assert done.returncode == 1
    assert "==> endless: FAILED, status 124" in done.stdout


@pytest.mark.parametrize("script", [".ci/run", "ci/nightly"])
def test_the_scripts_use_them(script: str) -> None:
    text = (ROOT / script).read_text()
    assert "\nsource ci/steps.sh\n" in text
    assert "./clharness selftest" in text
    assert "\nsummary " in text
