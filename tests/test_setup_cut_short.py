# SPDX-License-Identifier: Apache-2.0
"""The launcher where it cannot build, or where its build is cut short: a sentence, and the next command makes it."""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from tests.test_setup_launcher import BASE, checkout, launch, library

__all__ = ["checkout", "library"]


@pytest.mark.parametrize("mark", list('"#$;<>:\\\n\t'), ids=repr)
def test_path_that_cmake_cannot_build_in_is_one_sentence(
    checkout: Path, tmp_path: Path, library: str, mark: str
) -> None:
    run = launch(checkout, "loader", library, CLHARNESS_BUILD=str(tmp_path / f"a{mark}b"))

    assert (run.returncode, run.stderr.count("\n")) == (3, 1), run.stderr
    assert "cannot build in " in run.stderr and "set CLHARNESS_BUILD to another folder" in run.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_build_that_was_cut_short_is_made_by_the_next_command(
    checkout: Path, tmp_path: Path, library: str, number: signal.Signals
) -> None:
    """The signal goes to all that the terminal started, or to the launcher alone, while a compiler runs."""
    waits, begun = tmp_path / "waits", tmp_path / "begun"
    waits.touch()
    compiler = tmp_path / "compiler"
    compiler.write_text(f'#!/bin/sh\ntouch {begun}\nwhile [ -e {waits} ]; do sleep 0.05; done\nexec "$@"\n')
    compiler.chmod(0o755)
    for whole_group in (True, False):
        shutil.rmtree(checkout / "build", ignore_errors=True)
        begun.unlink(missing_ok=True)
        waits.touch()
        environment = BASE | {"CMAKE_C_COMPILER_LAUNCHER": str(compiler)}
        command = [str(checkout / "clharness"), "loader", library]
        null = subprocess.DEVNULL
        with subprocess.Popen(
            command, env=environment, process_group=0, stdin=null, stdout=null, stderr=null
        ) as process:
            while not begun.exists():
                assert process.poll() is None
                select.select([], [], [], 0.01)
            os.killpg(process.pid, number) if whole_group else process.send_signal(number)
            waits.unlink()
        run = launch(checkout, "loader", library)
        assert (run.returncode, run.stdout[:4]) == (0, "ran "), run.stderr
