# SPDX-License-Identifier: Apache-2.0
"""clharness coverage: lines and branches of a small library; no end of a process loses a counter."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from harness.cli.main import main
from harness.errors import HarnessError
from harness.mutation.builder import Subject, units
from harness.mutation.coverage import Counting, Covered, lines, require_tools
from harness.mutation.link import with_output

try:
    require_tools()
except HarnessError as missing:
    pytest.skip(str(missing), allow_module_level=True)

SOURCE = """\
int clGetPlatformIDs(int count)
{
    if (count > 0) {
        return 1;
    }
    return 0;
}
int clFinish(void)
{
    return 2;
}
"""
CALLS = "import ctypes, os, signal, sys; ctypes.CDLL(sys.argv[1]).clGetPlatformIDs(int(sys.argv[2])); "
ENDS = {"exit": "", "crash": "os.kill(os.getpid(), signal.SIGSEGV)", "kill": "os.kill(os.getpid(), signal.SIGKILL)"}


def counting(folder: Path) -> Counting:
    (folder / "loader.c").write_text(SOURCE)
    entry = {"directory": str(folder), "file": "loader.c", "command": "cc -fPIC -O2 -c loader.c -o loader.o"}
    (folder / "compile_commands.json").write_text(json.dumps([entry]))
    all_units = units(folder, "")
    link = with_output(["cc", "-shared", "{objects}", "-o", "x"])
    return Counting(Subject(all_units, link, folder, (folder / "loader.c",)), folder)


def after(one: Counting, end: str, *counts: int) -> Covered:
    for count in counts:
        subprocess.run([sys.executable, "-c", CALLS + ENDS[end], one.library, str(count)])
    (covered,) = one.measured()
    return covered


@pytest.mark.parametrize("end", ENDS)
def test_what_ran_counts_however_the_process_ends(tmp_path: Path, end: str) -> None:
    """Two processes, one for each branch: their counters are added up."""
    covered = after(counting(tmp_path), end, 0, 1)
    assert (covered.branches_reached, covered.branches) == (2, 2)
    assert covered.missed_branches == ()
    assert covered.missed_lines == ((9, 11),)  # of clFinish, which nobody calls


def test_what_did_not_run_is_listed(tmp_path: Path) -> None:
    covered = after(counting(tmp_path), "exit", 0)
    assert (covered.branches_reached, covered.branches) == (1, 2)
    report = "\n".join(lines([covered], tmp_path, details=True))
    assert "loader.c: lines " in report
    assert "loader.c:3:9: never true" in report
    assert "loader.c:9-11: never reached" in report


def test_coverage_of_the_reference_loader(capsys: pytest.CaptureFixture[str]) -> None:
    """The command builds it, runs a check of files of directories, and says what of their reader was reached."""
    words = ["-k", "test_library_path_without_final_newline", "-j", "1", "--suite", "discovery", "--file", "os_linux.c"]
    assert main(["coverage", *words]) == 0
    shown = capsys.readouterr().out
    (line,) = (line for line in shown.splitlines() if "os_linux.c: lines" in line)
    assert "branches" in line
    assert " 0 of " not in line


def test_clang_without_the_rest_of_llvm_is_said_before_anything_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "clang").write_text("#!/bin/sh\necho ${1#-print-prog-name=}\n")
    (tmp_path / "clang").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HarnessError, match="llvm-profdata is missing: install clang and llvm, of the same version"):
        counting(tmp_path)
    assert not (tmp_path / "original").exists()
