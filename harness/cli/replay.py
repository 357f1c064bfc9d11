# SPDX-License-Identifier: Apache-2.0
"""Replay a kept case: the same files, the same environment, the same calls."""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from harness.calllog import reader
from harness.cli.loader import seconds
from harness.errors import Exit, HarnessError, UsageError
from harness.probe import stacks
from harness.run.again import compare, run_again
from harness.run.note import read_note

EXAMPLE = """\
  clharness replay build/failures/libOpenCL.so.1-5c0d1b2e/1/discovery_test_linux_file.py_test_x
  clharness replay --gdb DIR                  under gdb, at the probe's start
  clharness replay --valgrind DIR

  Prints the exchange and the call log of the kept case, then runs its check again on the library as it is now.
  exit codes: 0 the deviation is gone, 1 it happened again (or another one did), 3 the case cannot be run;
  with --gdb and --valgrind only the exchange runs: 0 it ended as a program should, 1 it did not
"""


_GRACE = 5.0  # seconds that the script has to clean up


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", help="a kept case, as a report names it")
    under = parser.add_mutually_exclusive_group()
    under.add_argument("--gdb", action="store_true", help="run the probe under gdb")
    under.add_argument("--valgrind", action="store_true", help="run the probe under valgrind")
    parser.add_argument(
        "--time-limit", metavar="S", type=seconds, default=30.0, help="end the exchange after so many seconds (30)"
    )
    parser.add_argument("--no-log", action="store_true", help="do not print the call log at the end")


def run(args: argparse.Namespace) -> int:
    """Runs the command; gives its exit code. Raises ClharnessError where the case cannot be run."""
    folder = Path(args.folder)
    if not (folder / "replay.sh").is_file():
        raise UsageError(
            f"{folder}: is not a kept case (there is no replay.sh in it); the line 'reproduce' of a report names one"
        )
    prefix = ["gdb", "-q", "--args"] if args.gdb else ["valgrind", "-q", "--error-exitcode=97"] if args.valgrind else []
    if prefix and shutil.which(prefix[0]) is None:
        raise HarnessError(f"{prefix[0]} is not installed")
    status = 0
    if (folder / "exchange-0").is_file():  # cases of Vulkan have none
        status = _exchange(folder, prefix, None if args.gdb else args.time_limit)
        _print_log(folder, args.no_log)
    if prefix:
        return Exit.AS_EXPECTED if status == 0 else Exit.UNEXPECTED
    try:
        note = read_note(folder)
        deviates, sentence = compare(note.result, run_again(note))
    except UsageError as error:
        raise HarnessError(str(error)) from None
    print(sentence)
    return Exit.UNEXPECTED if deviates else Exit.AS_EXPECTED


def _exchange(folder: Path, prefix: Sequence[str], limit: float | None) -> int:
    """Runs the calls of the case again, without its check; gives the exit code of the script.

    It is ended after so many seconds; without a limit it has the terminal to itself.
    """
    sys.stdout.flush()
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        program = subprocess.Popen(
            ["sh", str(folder / "replay.sh"), *prefix],
            stderr=output if limit else None,
            start_new_session=limit is not None,
        )
        try:
            status = program.wait(limit)
        except subprocess.TimeoutExpired:
            _end(program)
            status = Exit.UNEXPECTED
            print(f"--- no end after {limit:g} s (--time-limit)", flush=True)
        output.seek(0)
        text = output.read()
    for part in filter(None, [stacks.readable(text), stacks.without_stacks(text)]):
        print(part, file=sys.stderr)
    return status


def _end(program: subprocess.Popen[bytes]) -> None:
    """Ends the script and what it started, which is its session; it takes its files away first."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        os.killpg(program.pid, number)
        try:
            program.wait(_GRACE)
        except subprocess.TimeoutExpired:
            continue
        return


def _print_log(folder: Path, no_log: bool) -> None:
    replayed = folder / "calllog.replayed"
    if replayed.exists() and not no_log:
        print("--- call log")
        print(reader.read(replayed).text(), flush=True)
