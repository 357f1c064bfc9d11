# SPDX-License-Identifier: Apache-2.0
"""What is built for Windows, which tests try under Wine: where it is, and whether it is of these sources."""

from __future__ import annotations

import functools
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.build import ROOT

WINDOWS = ROOT / "build" / "mingw"
_AGAIN = "./clharness loader OpenCL.dll does it"


def lacks(folder: Path) -> str:
    """Why a build cannot be tried, in words; "" where it can. Of the build tools, Ninja alone can be asked."""
    if not (folder / "wine" / ".complete").exists():
        return f"nothing is built for Windows: {_AGAIN}"
    if (folder / "build.ninja").exists() and shutil.which("ninja"):
        asked = subprocess.run(["ninja", "-C", folder, "-n"], capture_output=True, text=True)
        if "no work to do" not in asked.stdout:
            return f"what is built for Windows is of other sources, and must be built again: {_AGAIN}"
    return ""


_of_this_project = functools.cache(lacks)


def require() -> None:
    """Skips a test where it cannot be tried."""
    if reason := _of_this_project(WINDOWS):
        pytest.skip(reason)
