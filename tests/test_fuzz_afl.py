# SPDX-License-Identifier: Apache-2.0
"""The targets under AFL++: a planted fault is found, and replayed with the same program."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.build import ROOT
from harness.fuzz import afl
from harness.fuzz.job import Job, Processes
from harness.fuzz.subject import FuzzSubject
from harness.fuzz.target_process import Setting

AFL_FUZZ = """#!/bin/sh
printf '\\033[1mWARNING: Test case '\\''id:000001,time:0,execs:0,orig:bad'\\'' results in a crash, skipping\\033[0m\\n'
"""
TARGET = """#!/bin/sh
for file; do :; done
[ "$(cat "$file")" = bad ] || exit 0
echo 'clharness-fuzz: finding: crash memory@here: it crashes' >&2
kill -ABRT $$
"""


def test_a_seed_that_crashes_beside_others_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """afl-fuzz goes on without it, and keeps it nowhere."""
    for name, script in {"afl-fuzz": AFL_FUZZ, "fuzz_stub": TARGET}.items():
        (tmp_path / name).write_text(script)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for name in ("bad", "good"):
        (corpus / name).write_text(name)
    setting = Setting(FuzzSubject(tmp_path / "libOpenCL.so.1", "AFL++", False, ""), engine="afl")
    job = Job("stub", tmp_path / "fuzz_stub", setting, 1.0, corpus, tmp_path / "work", tmp_path / "known", None)
    result = afl.run(job, Processes())
    assert [(end.defect.key, end.data) for end in result.ends] == [("memory@here", b"bad")]
    assert result.error is None


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
