# SPDX-License-Identifier: Apache-2.0
"""Run the cases that a recorded run names as red again, with the exit codes that `git bisect run` wants."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

from harness.cli import main as command
from harness.cli.variables import add_variables_argument
from harness.errors import Exit, UsageError
from harness.report.records import CaseResult
from harness.report.saved import Saved, read
from harness.run.resume import failed
from harness.subject import KINDS

EXAMPLE = """\
  git bisect start BAD GOOD
  git bisect run sh -c 'make || exit 125
                        clharness bisect-run bad.jsonl build/libOpenCL.so.1'

  bad.jsonl are the records of a run of the bad version (clharness loader ... --json bad.jsonl).
  exit codes: 0 none of its red cases is red, 1 one of them is, 125 this version cannot be tested
"""

RED = ("fail", "crash", "hang", "leak")
SKIP = 125  # of git bisect run: neither good nor bad


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what the command takes (harness.cli.main)."""
    parser.add_argument("records", metavar="FILE", help="records of a run whose red cases are to run (--json FILE)")
    parser.add_argument("path", metavar="PATH", help="library of the version to test")
    parser.add_argument("-j", metavar="N", help="processes; default: one per processor")
    parser.add_argument("--time-limit", metavar="S", help="seconds until a call counts as hung")
    add_variables_argument(parser, "the subject needs, as in that run")
    parser.add_argument("--expect", metavar="FILE", help="expectation file; default: found by the subject's name")


def run(args: argparse.Namespace) -> int:
    """Runs the command; gives its exit code. Raises ClharnessError where the records are of no use: bisecting stops."""
    return bisect(Path(args.records), args.path, handed_on(args))


def handed_on(args: argparse.Namespace) -> list[str]:
    """The options that the run of the cases has, too."""
    options = [("-j", args.j), ("--time-limit", args.time_limit), ("--expect", args.expect)]
    options += [("--env", text) for text in args.env]
    return [part for name, value in options if value is not None for part in (name, str(value))]


def bisect(records: Path, path: str, given: Sequence[str]) -> int:
    """Runs the red cases of a recorded run on a library, with further options; gives the exit code for `git bisect`."""
    run_before = read(records)
    if not failed(run_before):
        print(f"clharness: {records}: no case of that run is red: there is nothing to look for")
        return 128  # git bisect run gives up
    with tempfile.TemporaryDirectory(prefix="clharness-bisect-") as folder:
        now = Path(folder) / "now.jsonl"
        files = ["--rerun-failed", str(records.absolute()), "--json", str(now)]
        code = Exit(command.main([_command(run_before), path, *files, *given]))
        if code not in (Exit.AS_EXPECTED, Exit.UNEXPECTED):
            return int(code) if code == Exit.INTERRUPTED else SKIP
        bad = any(map(_is_bad, read(now).results))
    print(f"clharness: {'bad' if bad else 'good'}: {path}")
    return int(bad)


def _command(run_before: Saved) -> str:
    """The command that makes such a run. Raises UsageError where there is none."""
    subject = run_before.header.subject
    kind = KINDS.get(subject.kind)
    if kind is None:
        raise UsageError(f"{run_before.path}: is about a {subject.word}, which this clharness does not test")
    return kind.identity.command


def _is_bad(result: CaseResult) -> bool:
    """Whether a case is red now. Without a build ID it is taken for another run of the recorded subject: flaky."""
    if result.status == "flaky":
        return result.runs[-1].partition(":")[0] in RED
    return result.counts
