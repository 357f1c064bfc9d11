# SPDX-License-Identifier: Apache-2.0
"""A run of the command that keeps account of the processor time of its cases (harness/bench/suites.py).

    python -m harness.run.accounts FILE CASES loader PATH...

Each worker writes FILE.PID, as JSON: numbers of cases and of sessions, seconds of Python and of the processes that the
cases started, and samples of where Python was, by part. Of all cases that are selected about CASES are run.
"""

from __future__ import annotations

import json
import os
import runpy
import signal
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any
from unittest.mock import patch

from harness.build import ROOT
from harness.probe.process import Process
from harness.run.plan import Plan
from harness.run.pool import Note
from harness.run.worker import CaseWorker

_SAMPLE = 0.002  # seconds of processor time between two looks at where Python is
REST = "pytest and others"
# What a file of the project is part of, by where it lies; the innermost one counts.
PARTS = {
    "suites": "checks",
    "harness/check": "checks",
    "harness/sandbox": "sandbox",
    "harness/calllog": "call log",
    "harness/probe": "sessions",
    "harness/run": "running a case",
    "harness/report": "running a case",
    "harness/expectations": "running a case",
}


class Accounts:
    """What the cases of this process took so far."""

    def __init__(self, file: str, cases: int) -> None:
        self._file, self._most = file, cases
        self._part, self._run, self._start = Plan.part, CaseWorker.__call__, Process.__init__
        self._cases = self._sessions = 0
        self._python = self._processes = 0.0
        self._samples: Counter[str] = Counter()

    def part(self, plan: Plan, cases: Sequence[str]) -> list[int]:
        """In the place of Plan.part: so many cases, from all of them."""
        numbers = self._part(plan, cases)
        return numbers[:: max(1, len(numbers) // self._most)]

    def start(self, process: Process, *args: Any, **options: Any) -> None:
        """In the place of Process.__init__."""
        self._sessions += 1
        self._start(process, *args, **options)

    def run(self, worker: CaseWorker, number: int, note: Note) -> dict[str, Any]:
        """In the place of CaseWorker.__call__."""
        signal.signal(signal.SIGPROF, self._sample)
        signal.setitimer(signal.ITIMER_PROF, _SAMPLE, _SAMPLE)
        python, before = time.process_time(), os.times()
        try:
            return self._run(worker, number, note)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            after = os.times()
            self._cases += 1
            self._python += time.process_time() - python
            self._processes += after.children_user + after.children_system
            self._processes -= before.children_user + before.children_system
            self._write()

    def _sample(self, _: int, frame: FrameType | None) -> None:
        while frame is not None:
            if part := part_of(frame.f_code.co_filename):
                self._samples[part] += 1
                return
            frame = frame.f_back
        self._samples[REST] += 1

    def _write(self) -> None:
        numbers = {
            "cases": self._cases,
            "sessions": self._sessions,
            "python_s": self._python,
            "processes_s": self._processes,
            "samples": self._samples or {REST: 1},  # of few and short cases no look may have been taken
        }
        Path(f"{self._file}.{os.getpid()}").write_text(json.dumps(numbers))


def part_of(file: str) -> str:
    """The part that a file of the project belongs to; "" for one of Python's or of a package."""
    if not file.startswith(f"{ROOT}/"):
        return ""
    place = file[len(str(ROOT)) + 1 :]
    names = place.split("/")
    return PARTS.get("/".join(names[:2]), PARTS.get(names[0], REST if place.startswith("harness/") else ""))


def _main() -> None:
    file, cases, *arguments = sys.argv[1:]
    accounts = Accounts(file, int(cases))
    sys.argv[1:] = arguments
    with (
        patch.object(Plan, "part", lambda plan, cases: accounts.part(plan, cases)),
        patch.object(Process, "__init__", lambda process, *args, **options: accounts.start(process, *args, **options)),
        patch.object(CaseWorker, "__call__", lambda worker, number, note: accounts.run(worker, number, note)),
    ):
        runpy.run_module("harness.cli", run_name="__main__")  # the command as it is


if __name__ == "__main__":
    _main()
