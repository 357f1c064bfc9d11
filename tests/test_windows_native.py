# SPDX-License-Identifier: Apache-2.0
"""What ci/workflows/windows-loader.yml does on Windows, done under Wine: a loader tried without the suites."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from harness.build import ROOT
from tests.built_for_windows import WINDOWS, require

REFERENCE = WINDOWS / "harness" / "reference_loader" / "OpenCL.dll"
MACHINES = 10


def tried(loader: Path) -> subprocess.CompletedProcess[str]:
    """The run of ci/windows-native on a loader."""
    wine = shutil.which("/usr/lib/wine/wine64") or shutil.which("wine64")
    require()
    if wine is None:
        pytest.skip("Wine is not installed (Debian: wine64)")
    home = {"WINEPREFIX": str(WINDOWS / "wine"), "HOME": str(WINDOWS / "wine"), "WINEDEBUG": "-all"}
    names = {"WINEDLLOVERRIDES": "mscoree,mshtml=;opencl=n;winedbg.exe=d", "PATH": "/usr/bin:/bin"}
    command = [str(part) for part in (ROOT / "ci" / "windows-native", WINDOWS, loader, "--under", wine)]
    return subprocess.run(command, env=home | names, capture_output=True, text=True, timeout=300)


def test_loader_that_lists_the_vendors_of_each_machine_is_good() -> None:
    run = tried(REFERENCE)
    assert run.returncode == 0, run.stdout + run.stderr
    assert [line[:4] for line in run.stdout.splitlines()] == ["ok  "] * MACHINES


def test_library_that_is_not_a_loader_is_not_tried() -> None:
    assert tried(WINDOWS / "mock_icds" / "not_an_icd.dll").returncode == 2


def test_faulty_loader_is_not_good(tmp_path: Path) -> None:
    """The path of the Vendors key, misspelt in a copy of the reference loader."""
    content = REFERENCE.read_bytes() if REFERENCE.exists() else b""
    loader = tmp_path / "OpenCL.dll"
    loader.write_bytes(content.replace(rb"SOFTWARE\Khronos\OpenCL\Vendors", rb"SOFTWARE\Khronos\OpenCL\Vendorz"))
    run = tried(loader)
    assert run.returncode == 1
    assert "BAD one value: 0 platforms, expected 1" in run.stdout
