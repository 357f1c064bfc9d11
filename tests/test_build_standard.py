# SPDX-License-Identifier: Apache-2.0
"""The C standard that everything is compiled with, whatever the project chose that includes this one."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

INCLUDING = f"""\
cmake_minimum_required(VERSION 3.21)
project(including C)
set(CMAKE_C_STANDARD 23)
set(CMAKE_C_EXTENSIONS OFF)
add_subdirectory("{ROOT}" clharness)
file(WRITE ${{CMAKE_BINARY_DIR}}/after.txt "${{CMAKE_C_STANDARD}} ${{CMAKE_C_EXTENSIONS}}")
"""


def test_everything_is_c11_with_extensions(tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(INCLUDING)
    build = tmp_path / "build"
    options = ["-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-DCLHARNESS_SEEDED_FAULTS=ON", "-DCLHARNESS_BUILD_TESTS=ON"]
    options += ["-DBUILD_TESTING=ON", f"-DCLHARNESS_PYTHON={sys.executable}"]
    done = subprocess.run(["cmake", "-S", tmp_path, "-B", build, *options], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr

    compiled = json.loads((build / "compile_commands.json").read_text())
    others = [entry["file"] for entry in compiled if re.findall(r"-std=(\S+)", entry["command"]) != ["gnu11"]]

    assert len(compiled) > 100
    assert others == []
    assert (build / "after.txt").read_text() == "23 OFF", "what the including project chose for itself"
