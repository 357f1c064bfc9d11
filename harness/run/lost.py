# SPDX-License-Identifier: Apache-2.0
"""The record of a case whose worker was lost: what the subject did, as far as that is known, or an error."""

from __future__ import annotations

import contextlib
import shlex
from pathlib import Path

from harness.calllog import reader
from harness.expectations import Expectations
from harness.report import CaseResult, judge
from harness.report.records import Verdict
from harness.run.cases import Case, printable, slice_of
from harness.run.pool import Lost
from harness.sandbox import folder
from harness.sandbox.machine import scratch_root

_OOM_COUNTS = ("/proc/vmstat", "/sys/fs/cgroup/memory.events")  # both have a line `oom_kill NUMBER`


def killed_for_memory() -> int:
    """How many processes the system has ended because there was no memory left."""
    total = 0
    for path in _OOM_COUNTS:
        with contextlib.suppress(OSError, ValueError):
            for line in Path(path).read_text().splitlines():
                name, _, number = line.partition(" ")
                total += int(number) if name == "oom_kill" else 0
    return total


def verdict_of(lost: Lost, out_of_memory: bool) -> tuple[Verdict, str]:
    """The verdict of a case that was lost, and why.

    A subject can only have done it where one ran: then it has left a process behind.
    """
    subject = f"while the subject ran ({', '.join(lost.left)})"
    if out_of_memory:
        return "error", f"the worker of this case {lost.how}, when the system had no memory left"
    if not lost.left:
        return "error", f"the worker of this case {lost.how}; no process of a subject ran"
    return ("hang" if lost.timed_out else "crash"), f"the worker of this case {lost.how} {subject}"


def result_of(
    case: Case, lost: Lost, out_of_memory: bool, expected: Expectations, strict: bool, subject: str
) -> CaseResult:
    """The judged record. `subject` is pytest's option that names it."""
    verdict, why = verdict_of(lost, out_of_memory)
    message = "\n".join(part for part in (case.sentence, why, lost.last_output) if part)
    log: tuple[str, ...] = ()
    if lost.note:
        with contextlib.suppress(OSError, ValueError):
            log = slice_of(reader.read(Path(lost.note) / "calllog"))
    result = CaseResult(
        case=case.id,
        requirements=case.requirements,
        verdict=verdict,
        message=printable(message),
        log=log,
        reproduce=f"pytest {shlex.quote(case.id)} {subject}",
        duration=round(lost.seconds, 4),
        number=case.number,
    )
    return judge(result, expected, strict)


def remove_sandbox(note: str | None) -> None:
    """Removes what a lost worker could not, as far as that goes."""
    if note and Path(note).parent == scratch_root() and Path(note).name.startswith("clharness-"):
        with contextlib.suppress(OSError):
            folder.remove(Path(note))
