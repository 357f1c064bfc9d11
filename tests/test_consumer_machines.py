# SPDX-License-Identifier: Apache-2.0
"""clharness in projects that describe the machine in other ways: what would be built is looked at, and nothing is."""

from __future__ import annotations

from pathlib import Path

from tests.consumers import CLHARNESS, Consumer, run
from tests.test_consumer_errors import SHARED, TESTING, consumer

# A machine of the same kind under another compiler's name, with a command in front of each program.
TOOLCHAIN = """
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER cc)
set(CMAKE_CROSSCOMPILING_EMULATOR /usr/bin/env)
"""


def steps(project: Consumer, *targets: str) -> set[str]:
    """The commands that would make some targets, without their numbers."""
    listed = run("cmake", "--build", project.build, "--target", *targets, "--", "-n", "-v").stdout
    return {line.partition("] ")[2] for line in listed.splitlines() if line.startswith("[")}


def test_all_of_a_project_has_all_that_its_tests_need(tmp_path: Path) -> None:
    (tmp_path / "toolchain.cmake").write_text(TOOLCHAIN)
    project = consumer(tmp_path, f"{TESTING}{CLHARNESS}{SHARED}")
    for options in ((), ("--fresh", f"-DCMAKE_TOOLCHAIN_FILE={tmp_path}/toolchain.cmake")):
        configured = project.configure("-G", "Ninja", *options)
        assert configured.returncode == 0, configured.stdout
        needed = steps(project, "clharness_all")
        assert len(needed) > 50 and needed <= steps(project, "all")


def test_project_in_whose_folder_the_size_of_a_pointer_was_taken_away(tmp_path: Path) -> None:
    """As by Khronos' loader, at the end of its file, for the sake of its package's version."""
    project = consumer(tmp_path, f"{TESTING}{SHARED}unset(CMAKE_SIZEOF_VOID_P)\n{CLHARNESS}")
    configured = project.configure("-G", "Ninja")
    assert configured.returncode == 0, configured.stdout
    assert '"bits": 64' in (project.build / "clharness" / "clharness.json").read_text()
