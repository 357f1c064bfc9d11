# SPDX-License-Identifier: Apache-2.0
"""Every source file says which licence it is under."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from harness.build import ROOT

SUFFIXES = {".c", ".cmake", ".h", ".ini", ".py", ".sh", ".toml", ".yaml"}
INPUTS = ("fuzz/corpus/", "fuzz/reproducers/")  # bytes for fuzz targets, not sources
LINE = "SPDX-License-Identifier: Apache-2.0"


def sources() -> list[str]:
    """The files of the checkout that are sources by their suffix, or scripts by their first line."""
    git = shutil.which("git")
    done = git and subprocess.run([git, "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if not done or done.returncode:
        pytest.skip("git is not installed, or this is not a git checkout")
    names = [name for name in done.stdout.splitlines() if not name.startswith(INPUTS) and (ROOT / name).is_file()]
    return [
        name
        for name in names
        if (ROOT / name).suffix in SUFFIXES or (ROOT / name).name == "CMakeLists.txt" or first_bytes(name) == b"#!"
    ]


def first_bytes(name: str) -> bytes:
    with (ROOT / name).open("rb") as file:
        return file.read(2)


def test_every_source_names_its_licence_in_its_first_lines() -> None:
    names = sources()
    assert len(names) > 400, "the sources are listed"
    without = [name for name in names if LINE not in "\n".join((ROOT / name).read_text().splitlines()[:3])]
    assert without == []
