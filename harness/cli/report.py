# SPDX-License-Identifier: Apache-2.0
"""Report recorded runs (--json FILE): one as its run would, shards as one, several side by side."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from harness.cli.loader import output_path
from harness.errors import UsageError
from harness.expectations import FOLDER, Expectations, load
from harness.report import Header, Reporter
from harness.report.ending import Ending, recorded_ending
from harness.report.merge import merge
from harness.report.page import write_page
from harness.report.saved import Saved, read
from harness.report.screen import head, screen
from harness.report.terminal import Terminal

EXAMPLE = """\
  clharness report build/run.jsonl --verbose                                   a run, with all there is
  clharness report merge build/1.jsonl build/2.jsonl --json build/all.jsonl    the shards of a run, as one
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what the command takes (harness.cli.main)."""
    parser.add_argument(
        "words", nargs="+", metavar="[merge] FILE", help="records of runs; with `merge`, of all shards of one run"
    )
    parser.add_argument("--html", metavar="DIR", help="write a page of the runs, side by side, into a folder")
    parser.add_argument("--verbose", action="store_true", help="show all cases, reasons and outcomes")
    parser.add_argument("--json", metavar="FILE", help="write the merged records there, as JSON Lines")
    parser.add_argument("--junit", metavar="FILE", help="write JUnit XML there")
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto")


def run(args: argparse.Namespace) -> int:
    """Runs the command; gives its exit code. Raises ClharnessError, whose sentence and code are the answer then."""
    if args.words[0] == "merge" and not Path("merge").exists():
        if not args.words[1:]:
            raise UsageError("report merge: name the records of all shards, as in `report merge 1.jsonl 2.jsonl`")
        return _merge([Path(file) for file in args.words[1:]], args)
    return _report([read(Path(file)) for file in args.words], args)


def _report(runs: Sequence[Saved], args: argparse.Namespace) -> int:
    """Reports recorded runs; gives the exit code of the run, or the first one that is not 0 of several."""
    terminal = Terminal(sys.stdout, args.color)
    endings = [recorded_ending(run) for run in runs]
    if args.html:
        terminal.line(f"wrote {write_page(Path(args.html), endings)}")
        if len(endings) > 1:
            return _worst(endings)
    for ending in endings:
        lines = [
            *head(ending.header, terminal.width),
            *screen(ending, terminal.style, terminal.width, terminal.table_width, args.verbose),
        ]
        terminal.line("\n".join(lines))
    return _worst(endings)


def _worst(endings: Sequence[Ending]) -> int:
    return next((ending.code for ending in endings if ending.code), 0)


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
