# SPDX-License-Identifier: Apache-2.0
"""Measure which lines and branches of a loader the suites reach; needs its sources and clang."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from harness.build import ROOT
from harness.cli import built_loader
from harness.cli.loader import positive
from harness.errors import Exit, HarnessError

EXAMPLE = """\
  clharness coverage                                                   the reference loader
  clharness coverage --compile-commands build --loader build/libOpenCL.so.1 --missed
  clharness coverage --compile-commands build --target OpenCL --suite layers --file icd.c
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    built_loader.add_options(parser, "report only these files")
    parser.add_argument("--suite", metavar="NAME", help="run only this suite")
    parser.add_argument("-k", metavar="EXPRESSION", help="run only the checks that match (as pytest's -k)")
    parser.add_argument("-j", metavar="N", type=positive, help="processes; default: one per processor")
    parser.add_argument("--missed", action="store_true", help="list what was not reached, too")


def run(args: argparse.Namespace) -> int:
    from harness.mutation.coverage import Counting, lines

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # the run of the suites ends with this one
    subject = built_loader.subject_of(args)
    with tempfile.TemporaryDirectory(prefix="clharness-coverage-", ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o755)  # cases run the library as an ordinary user, too
        counting = Counting(subject, Path(name))
        options = [word for option in ("suite", "j", "k") for word in _given(args, option)]
        command = [sys.executable, "-P", "-m", "harness.cli", "loader", str(counting.library), *options]
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        # What is unexpected does not matter here, but that it ran does.
        if done.returncode not in (Exit.AS_EXPECTED, Exit.UNEXPECTED):
            raise HarnessError(f"the suites ended with {done.returncode}:\n{(done.stdout + done.stderr)[-2000:]}")
        print("\n".join(done.stdout.splitlines()[-1:]))
        print("\n".join(lines(counting.measured(), Path.cwd(), args.missed)))
    return Exit.AS_EXPECTED


def _given(args: argparse.Namespace, option: str) -> list[str]:
    value = getattr(args, option)
    return [] if value is None else [f"{'--' if len(option) > 1 else '-'}{option}", str(value)]
