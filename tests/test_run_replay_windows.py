# SPDX-License-Identifier: Apache-2.0
"""`clharness replay` of a loader for Windows, from the run to the replay, under Wine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from harness.build import ROOT
from tests.built_for_windows import WINDOWS, require

REFERENCE = WINDOWS / "harness" / "reference_loader" / "OpenCL.dll"


def clharness(*arguments: object, output: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"CLHARNESS_OUTPUT": str(output), "CLHARNESS_BUILD": str(WINDOWS)}
    command = [sys.executable, "-m", "harness.cli", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)


def test_replay_of_a_windows_loader_says_that_it_happened_again(tmp_path: Path) -> None:
    """The path of the Vendors key, misspelt in a copy of the reference loader: its vendor is not found."""
    require()
    loader = tmp_path / "OpenCL.dll"
    loader.write_bytes(REFERENCE.read_bytes().replace(rb"\OpenCL\Vendors", rb"\OpenCL\Vendorz"))
    name = "test_default_value_of_the_key_is_passed_over"
    run = clharness("loader", loader, "-k", name, "--time-limit", "60", output=tmp_path)
    assert run.returncode == 1, run.stdout + run.stderr
    (kept,) = (folder for folder in tmp_path.glob("failures/*/*/*") if (folder / "replay.sh").exists())
    again = clharness("replay", kept, output=tmp_path)
    assert again.returncode == 1, again.stdout + again.stderr
    assert "--- ended with status 0" in again.stdout
    assert f"happened again: {name}" in again.stdout
