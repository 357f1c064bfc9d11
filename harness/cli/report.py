# SPDX-License-Identifier: Apache-2.0
"""Report recorded runs (--json FILE): one as its run would, shards as one, several side by side."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from harness.cli.loader import add_terminal_arguments, output_path
from harness.errors import Exit, UsageError
from harness.expectations import FOLDER, Expectations, load
from harness.expectations.abilities import abilities
from harness.report import Header
from harness.report.badge import badge
from harness.report.ending import Ending, recorded_ending
from harness.report.junit import write_junit
from harness.report.markdown import summary
from harness.report.markdown_matrix import matrix
from harness.report.merge import merge
from harness.report.page import write_page
from harness.report.reporter import Reporter
from harness.report.sarif import sarif, write_sarif
from harness.report.saved import Saved, read
from harness.report.screen import head, screen
from harness.report.terminal import Terminal

EXAMPLE = """\
  clharness report build/a.jsonl build/b.jsonl --markdown build/matrix.md      several runs, side by side
  clharness report build/run.jsonl --verbose                                   a run, with all there is
  clharness report merge build/1.jsonl build/2.jsonl --json build/all.jsonl    the shards of a run, as one
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what the command takes (harness.cli.main)."""
    parser.add_argument(
        "words", nargs="+", metavar="[merge] FILE", help="records of runs; with `merge`, of all shards of one run"
    )
    parser.add_argument("--html", metavar="DIR", help="write a page of the runs, side by side, into a folder")
    parser.add_argument("--markdown", metavar="FILE", help="write a summary of a run there, or the matrix of several")
    parser.add_argument("--badge", metavar="FILE", help="write a small picture of how a run ended there, as SVG")
    parser.add_argument("--sarif", metavar="FILE", help="write the red cases of a run there, as SARIF 2.1.0")
    parser.add_argument("--json", metavar="FILE", help="write the merged records there, as JSON Lines")
    parser.add_argument("--junit", metavar="FILE", help="write JUnit XML there")
    add_terminal_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Runs the command; gives its exit code. Raises ClharnessError, whose sentence and code are the answer then."""
    if args.words[0] == "merge" and not Path("merge").exists():
        if not args.words[1:]:
            raise UsageError(
                "report merge: name the records of all shards, as in `clharness report merge 1.jsonl 2.jsonl`"
            )
        return _merge([Path(file) for file in args.words[1:]], args)
    return _report([read(Path(file)) for file in args.words], args)


def _report(runs: Sequence[Saved], args: argparse.Namespace) -> int:
    """Reports recorded runs; gives the exit code of the run, or the first one that is not 0 of several."""
    terminal = Terminal(sys.stdout, args.color)
    endings = [recorded_ending(run) for run in runs]
    _write_files(endings, args)
    if args.html:
        terminal.line(f"wrote {write_page(Path(args.html), endings)}")
    if len(endings) > 1 and (args.html or args.markdown):
        return _worst(endings)
    for ending in endings:
        lines = [
            *head(ending.header, terminal.width),
            *screen(ending, terminal.style, terminal.width, terminal.table_width, args.verbose),
        ]
        terminal.line("\n".join(lines))
    return _worst(endings)


def _write_files(endings: Sequence[Ending], args: argparse.Namespace) -> None:
    """What is about one run alone."""
    files = {name: getattr(args, name) for name in ("markdown", "badge", "sarif", "junit") if getattr(args, name)}
    alone = [name for name in files if name != "markdown"]
    if alone and len(endings) > 1:
        raise UsageError(f"--{alone[0]}: is about one run; name one file of records")
    paths = {name: output_path(f"--{name}", text) for name, text in files.items()}
    ending = endings[0]
    if "markdown" in paths:
        text = summary(ending) if len(endings) == 1 else matrix(endings)
        paths["markdown"].write_text(text, encoding="utf-8", errors="backslashreplace")
    if "badge" in paths:
        paths["badge"].write_text(badge(ending), encoding="utf-8", errors="backslashreplace")
    if "sarif" in paths:
        write_sarif(paths["sarif"], sarif(ending))
    if "junit" in paths:
        write_junit(paths["junit"], ending.header, ending.results, ending.code == Exit.INTERRUPTED)


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
    subject = header.subject
    try:
        path = Path(header.expectations or "").resolve()
        ours = path.is_relative_to(FOLDER) and path.is_file()  # the records may be a stranger's
    except (OSError, ValueError):  # no file can have that name
        return Expectations()
    able = abilities(subject.facts, lambda: header.loaders)
    return load(path, subject.version or None, able) if ours else Expectations()
