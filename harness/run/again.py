# SPDX-License-Identifier: Apache-2.0
"""Runs the check of a kept case again, on the library as it is now, and says whether it deviates as it did."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from harness.build import ROOT
from harness.errors import ClharnessError, Exit, HarnessError
from harness.report import CaseResult
from harness.report.saved import read
from harness.run import command
from harness.run.note import Note
from harness.run.plan import ONCE

RED = ("fail", "crash", "hang", "leak")


def run_again(note: Note) -> CaseResult:
    """The result of the case now. Raises HarnessError where it cannot be run."""
    with tempfile.TemporaryDirectory(prefix="clharness-again-") as scratch:
        records = Path(scratch) / "now.jsonl"
        # What it keeps goes to the scratch folder, so that the folder that is replayed stays.
        own = {"CLHARNESS_BUILD": note.build, "CLHARNESS_PARTS": note.parts, "CLHARNESS_OUTPUT": scratch}
        environment = {**os.environ, **own}
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), environment.get("PYTHONPATH")]))
        arguments = [*note.options, f"--clharness-json={records}", note.result.case]
        program = [sys.executable, "-P", "-m", "harness.run.again", note.root, *arguments]
        done = subprocess.run(program, env=environment, capture_output=True, text=True, errors="replace")
        if done.returncode not in (Exit.AS_EXPECTED, Exit.UNEXPECTED):
            raise HarnessError(f"the case cannot be run: {' '.join((done.stderr or done.stdout).split()) or 'no word'}")
        now = [result for result in read(records).results if result.case == note.result.case]
    if not now or (now[0].verdict in ("error", "unsupported") and now[0].verdict != note.result.verdict):
        why = (now[0].reason or now[0].message) if now else "it has no record"
        raise HarnessError(f"the case cannot be run: {why}")
    return now[0]


def compare(before: CaseResult, now: CaseResult) -> tuple[bool, str]:
    """Whether it deviates now, and a sentence that says how this compares with the kept case."""
    red = now.verdict in RED
    if _what(before) == _what(now) and (red or before.counts):
        return True, f"happened again: {now.name}: {_said(now)}"
    if red:
        return True, f"deviates otherwise: {now.name} was {_said(before)}, and is {_said(now)} now"
    if before.verdict in RED or before.counts:
        return False, f"gone: {now.name} was {_said(before)}, and is {_said(now)} now"
    return False, f"as before: {now.name}: {_said(now)}"


def _what(result: CaseResult) -> tuple[str, str | None, list[str]]:
    return result.verdict, result.outcome, _deviations(result)


def _deviations(result: CaseResult) -> list[str]:
    return list(map(str, result.deviations))


def _said(result: CaseResult) -> str:
    texts = _deviations(result)
    more = f"; and {len(texts) - 1} more" if len(texts) > 1 else ""
    how = f"{texts[0]}{more}" if texts else result.outcome
    return f"{result.verdict} ({how})" if how else result.verdict


def _main(root: str, *options: str) -> int:
    """Runs a case in this process; gives the exit code of the run."""
    try:
        return command.run(Path(root), options, 1, ONCE)
    except ClharnessError as error:
        print(error, file=sys.stderr)
        return int(error.exit_code)


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:]))
