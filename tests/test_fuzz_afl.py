# SPDX-License-Identifier: Apache-2.0
"""The targets under AFL++: a planted fault is found, and replayed with the same program."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.build import ROOT


def test_planted_fault_is_found(tmp_path: Path) -> None:
    if shutil.which("afl-fuzz") is None or shutil.which("afl-clang-fast") is None:
        pytest.skip("AFL++ is not installed (Debian: afl++)")
    command = [sys.executable, "-m", "harness.cli", "fuzz", "vendor_directory", "--engine", "afl"]
    command += ["--fault", "missing_folder_is_a_crash", "--first", "--time", "10s", "--out", str(tmp_path / "out")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 1 and "finding: vendor_directory: crash " in done.stdout, done.stdout + done.stderr
    (folder,) = (tmp_path / "out" / "findings").iterdir()
    again = subprocess.run([folder / "reproduce.sh"], capture_output=True, text=True)
    assert again.returncode != 0 and "clharness-fuzz: finding: crash " in again.stderr, again.stderr
