# SPDX-License-Identifier: Apache-2.0
"""Say why an ICD is skipped on this machine, and what to do."""

from __future__ import annotations

import argparse
import json
import os

from harness.doctor.examine import examine
from harness.doctor.text import as_data, as_text
from harness.errors import Exit, UsageError

EXAMPLE = """\
  clharness doctor                                  the loader, vendors, layers and devices of this machine
  clharness doctor clinfo ./application             the same, as these programs get them
  clharness doctor --json > machine.json            for a report
  clharness doctor --trace -- ./application         its OpenCL calls, on the real vendors
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what the command takes (harness.cli.main)."""
    parser.add_argument("program", metavar="PROGRAM", nargs="*", help="program that uses OpenCL; it is not run")
    parser.add_argument("--json", action="store_true", help="print JSON (harness/doctor/schema.json)")
    parser.add_argument("--verbose", action="store_true", help="show every vendor's way through the loader's decisions")
    parser.add_argument(
        "--time-limit", metavar="S", type=float, default=15.0, help="seconds for a driver to answer (default: 15)"
    )
    parser.add_argument("--trace", action="store_true", help="run PROGRAM, given after --, and show its OpenCL calls")
    parser.add_argument("--perfetto", metavar="FILE", help="with --trace: write the calls for ui.perfetto.dev instead")
    parser.add_argument(
        "--html", metavar="FILE", help="with --trace: write the calls as a page with a timeline instead"
    )


def run(args: argparse.Namespace) -> int:
    """Runs the command; gives its exit code. Raises ClharnessError, whose sentence and code are the answer then."""
    if args.trace:
        from harness.doctor.trace import trace  # which needs a build

        return trace(args.program, args.perfetto, args.html)
    for option in ("perfetto", "html"):
        if getattr(args, option):
            raise UsageError(f"--{option} goes with --trace: clharness doctor --trace --{option} FILE -- PROGRAM")
    if args.time_limit <= 0:
        raise UsageError("--time-limit: give seconds, more than 0")
    diagnosis = examine(args.program, os.environ, args.time_limit)
    if args.json:
        print(json.dumps(as_data(diagnosis), indent=2))
    else:
        print(as_text(diagnosis, args.verbose))
    return Exit.UNEXPECTED if diagnosis.findings else Exit.AS_EXPECTED
