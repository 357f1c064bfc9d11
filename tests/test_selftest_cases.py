# SPDX-License-Identifier: Apache-2.0
"""Mutants of layers, ICDs, Vulkan loaders and drivers name cases that are there; the lint looks at those of loaders."""

from __future__ import annotations

import subprocess
import sys

import pytest

from harness.build import ROOT, build
from harness.selftest.targets import TARGETS


@pytest.mark.parametrize("option", [name for name, target in TARGETS.items() if name and not target.named])
def test_a_mutant_names_cases_that_are_there(option: str) -> None:
    target = TARGETS[option]
    if "vulkan" in option and build().vulkan is None:
        pytest.skip("this build has nothing for Vulkan")
    mutants = [mutant for mutant in target.mutants().values() if mutant.cases]
    program = [sys.executable, "-m", "pytest", "-q", "--collect-only", *target.arguments([])]
    done = subprocess.run([*program, f"suites/{target.folder}"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    cases = done.stdout
    assert mutants
    parts = [(mutant.name, part) for mutant in mutants for part in mutant.parts]
    assert [f"{name}: {part}" for name, part in parts if part not in cases] == []
