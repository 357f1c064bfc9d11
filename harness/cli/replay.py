# SPDX-License-Identifier: Apache-2.0
"""Replay a kept case: the same files, the same environment, the same calls."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from harness.calllog import reader
from harness.errors import HarnessError, UsageError
from harness.probe import stacks

EXAMPLE = """\
  clharness replay build/failures/libOpenCL.so.1-5c0d1b2e/1/discovery_test_linux_file.py_test_x
  clharness replay --gdb DIR                  under gdb, at the probe's start
  clharness replay --valgrind DIR
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", help="a kept case, as a report names it")
    under = parser.add_mutually_exclusive_group()
    under.add_argument("--gdb", action="store_true", help="run the probe under gdb")
    under.add_argument("--valgrind", action="store_true", help="run the probe under valgrind")
    parser.add_argument("--no-log", action="store_true", help="do not print the call log at the end")


def run(args: argparse.Namespace) -> int:
    folder = Path(args.folder)
    script = folder / "replay.sh"
    if not script.is_file():
        raise UsageError(
            f"{folder}: is not a kept case (there is no replay.sh in it); a report names it after 'sandbox'"
        )
    prefix = ["gdb", "-q", "--args"] if args.gdb else ["valgrind", "-q", "--error-exitcode=97"] if args.valgrind else []
    if prefix and shutil.which(prefix[0]) is None:
        raise HarnessError(f"{prefix[0]} is not installed")
    capture = None if args.gdb else subprocess.PIPE
    done = subprocess.run(["sh", str(script), *prefix], stderr=capture, text=True, errors="replace")
    if done.stderr:
        parts = [stacks.readable(done.stderr), stacks.without_stacks(done.stderr)]
        print("\n".join(part for part in parts if part), file=sys.stderr)
    status = done.returncode
    replayed = folder / "calllog.replayed"
    if replayed.exists() and not args.no_log:
        print("--- call log")
        print(reader.read(replayed).text())
    return 0 if status == 0 else 1
