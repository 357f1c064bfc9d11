# SPDX-License-Identifier: Apache-2.0
"""Compare two runs, or two subjects, which it then runs: what broke, what was fixed, what is otherwise."""

from __future__ import annotations

import argparse
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

from harness.cli.loader import add_selection_arguments, add_terminal_arguments, output_path
from harness.cli.variables import add_variables_argument
from harness.errors import Exit, HarnessError, NothingToRun, UsageError
from harness.report.compare import Comparison, compare, lines
from harness.report.ending import recorded_ending
from harness.report.markdown_compare import comparison_summary
from harness.report.page import write_page
from harness.report.saved import Saved, read
from harness.report.terminal import Terminal
from harness.subject.identify import identify

EXAMPLE = """\
  clharness compare before.jsonl after.jsonl                        records of two runs (--json FILE)
  clharness compare /usr/lib/libOpenCL.so.1 build/libOpenCL.so.1    two loaders, which are run now
  clharness compare before.jsonl build/libOpenCL.so.1 --markdown build/changes.md
"""
# How a run can end that has records: also cut short, which the comparison then says.
_COMPARABLE = (Exit.AS_EXPECTED, Exit.UNEXPECTED, Exit.NOT_APPLICABLE, Exit.INTERRUPTED)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what the command takes (harness.cli.main)."""
    for name in ("before", "after"):
        parser.add_argument(name, metavar=name.upper(), help="records of a run, or a library to run the checks on")
    add_selection_arguments(parser)
    add_variables_argument(parser, "both libraries need")
    parser.add_argument("--markdown", metavar="FILE", help="write the comparison there, as Markdown")
    parser.add_argument("--html", metavar="DIR", help="write a page of both runs into a folder")
    add_terminal_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Runs the command; gives its exit code. Raises ClharnessError, whose sentence and code are the answer then."""
    markdown = output_path("--markdown", args.markdown) if args.markdown else None
    with tempfile.TemporaryDirectory(prefix="clharness-compare-") as folder:
        runs = [_side(text, Path(folder) / f"{number}.jsonl", args) for number, text in enumerate(_sides(args))]
    comparison = compare(*runs)
    if markdown:
        markdown.write_text(comparison_summary(comparison), encoding="utf-8", errors="backslashreplace")
    _print(comparison, args)
    if args.html:
        endings = [recorded_ending(run) for run in runs]
        print(f"wrote {write_page(Path(args.html), endings, comparison)}")
    return comparison.code


def _sides(args: argparse.Namespace) -> tuple[str, str]:
    return args.before, args.after


def _print(comparison: Comparison, args: argparse.Namespace) -> None:
    terminal = Terminal(sys.stdout, args.color)
    terminal.line("\n".join(lines(comparison, terminal.style, terminal.width, args.verbose)))


def _side(text: str, records: Path, args: argparse.Namespace) -> Saved:
    """A recorded run, or the run of a library, which is made now."""
    path = Path(text)
    if _is_records(path):
        return read(path)
    command = identify(path).command
    if not command:
        raise UsageError(f"{text}: is neither records of a run (--json FILE) nor {identify(path).words}")
    options = [f"--json={records}"]
    options += [f"{name}={value}" for name, value in _handed_on(args).items() if value is not None]
    options += [f"--env={text}" for text in args.env]
    print(f"clharness: running the checks on {text}", file=sys.stderr, flush=True)
    whole = [sys.executable, "-m", "harness.cli", command, str(path), *options]
    done = subprocess.run(whole, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    if done.returncode == Exit.NOTHING_RAN:
        raise NothingToRun(f"nothing ran on {text}. Does the selection match any check?")
    if done.returncode not in _COMPARABLE:
        tail = "\n".join(done.stdout.splitlines()[-10:])
        raise HarnessError(f"the run of {text} ended with {done.returncode}:\n{tail}")
    return read(records)


def _handed_on(args: argparse.Namespace) -> dict[str, object]:
    return {"-k": args.k, "-j": args.j, "--time-limit": args.time_limit}


def _is_records(path: Path) -> bool:
    """Whether the file is not one that names or is a library. Of a pipe nothing is read: it would be lost."""
    try:
        if not path.is_dir() and not stat.S_ISREG(path.stat().st_mode):
            return True
        with path.open("rb") as file:
            return file.read(1) == b"{" and not identify(path).command
    except IsADirectoryError:
        raise UsageError(f"{path}: is a folder; name the records of a run, or a library") from None
    except OSError as error:
        raise UsageError(f"{path}: {(error.strerror or str(error)).lower()}") from None
