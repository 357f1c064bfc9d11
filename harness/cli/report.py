# SPDX-License-Identifier: Apache-2.0
"""Put the records of shards together, and report them as one run would."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from harness.cli.loader import output_path
from harness.errors import UsageError
from harness.expectations import FOLDER, Expectations, load
from harness.report import Header, Reporter
from harness.report.merge import merge
from harness.report.saved import read

EXAMPLE = """\
  clharness report merge build/1.jsonl build/2.jsonl --json build/all.jsonl    the shards of a run, as one
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what the command takes (harness.cli.main)."""
    parser.add_argument(
        "words", nargs="+", metavar="merge FILE", help="records of all shards of a run (--shard I/N --json FILE)"
    )
    parser.add_argument("--json", metavar="FILE", help="write the merged records there, as JSON Lines")
    parser.add_argument("--junit", metavar="FILE", help="write JUnit XML there")
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto")


def run(args: argparse.Namespace) -> int:
    """Runs the command; gives its exit code. Raises ClharnessError, whose sentence and code are the answer then."""
    task, *files = args.words
    if task != "merge" or not files:
        raise UsageError("report: say what to do with which files, as in `clharness report merge 1.jsonl 2.jsonl`")
    return _merge([Path(file) for file in files], args)


def _merge(files: Sequence[Path], args: argparse.Namespace) -> int:
    """Reports the shards as one run; gives the exit code that it would have had."""
    outputs = {option: output_path(f"--{option}", getattr(args, option)) if getattr(args, option) else None
               for option in ("json", "junit")}  # fmt: skip
    merged = merge([read(file) for file in files])
    expectations = _expectations(merged.header)
    reporter = Reporter(
        sys.stdout, outputs["json"], outputs["junit"], expectations=expectations, color=args.color, live=False
    )
    reporter.start(merged.header, merged.results)
    return reporter.finish(known_stale=merged.stale)


def _expectations(header: Header) -> Expectations:
    """The file of this project that the run was judged by; the judgement itself is part of the records."""
    path = Path(header.expectations or "").resolve()
    ours = path.is_file() and path.is_relative_to(FOLDER)  # the records may be a stranger's
    return load(path, header.subject.version or None) if ours else Expectations()
