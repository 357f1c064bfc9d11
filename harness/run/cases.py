# SPDX-License-Identifier: Apache-2.0
"""From what happened to a case to its record: the verdict, the message, and what is kept for a replay."""

from __future__ import annotations

import dataclasses
import os
import shlex
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from harness.build import command
from harness.calllog import naming
from harness.calllog.reader import CallLog
from harness.deviation import Deviation
from harness.expectations import Expectations
from harness.probe import Session, SubjectFailure
from harness.probe.connection import Connection
from harness.probe.deviations import deviations_of
from harness.probe.icd_session import IcdSession
from harness.report import CaseResult, judge
from harness.report.records import UnsupportedKind, Verdict, case_name
from harness.run import replay, reproducer
from harness.run.exchange import NotReproducible
from harness.sandbox import Sandbox, Unsupported

LOG_LINES = 40
COMMAND = "clharness-command"  # the name among pytest's plugins of what drives a run of the command


@dataclass
class Case:
    """One case while it runs. `sandbox` is set once it has one, `outcome` when the check records it."""

    id: str
    requirements: tuple[str, ...]
    suite: str
    sentence: str = ""  # the check's docstring: what must hold
    check: Callable[..., Any] | None = None  # the test function
    is_for_nothing: bool = False  # pytest's stand-in for a parametrisation without values
    number: int | None = None  # its place in the plan
    sandbox: Sandbox | None = None
    outcome: str | None = None
    result: CaseResult | None = None  # once the check has ended
    problems: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The case's name without its file."""
        return case_name(self.id)


CASE = pytest.StashKey[Case]()


def printable(text: str) -> str:
    """Text for a record: bytes that are not UTF-8 (in names of files, values of variables) are shown as \\udcff."""
    return text.encode(errors="backslashreplace").decode()


def verdict_of(error: BaseException | None) -> tuple[Verdict, UnsupportedKind | None, str | None]:
    """What the end of a case means: verdict, who lacks what (if unsupported), and the reason."""
    if error is None:
        return "pass", None, None
    if isinstance(error, Unsupported):
        return "unsupported", "loader" if error.kind == "loader" else "machine", error.reason
    if isinstance(error, SubjectFailure):
        return (
            ("hang" if error.verdict == "hang" else "leak" if error.verdict == "leak" else "crash"),
            None,
            None,
        )
    if isinstance(error, pytest.skip.Exception):
        return "unsupported", "machine", str(error)
    if isinstance(error, (AssertionError, pytest.fail.Exception)):  # the latter is what pytest.raises does
        return "fail", None, None
    return "error", None, None


def explained(error: BaseException, sandbox: Sandbox | None) -> BaseException:
    """The error; or, where it comes of what the subject did, a failure that says so: it listed fewer platforms than the
    check takes from lists and tables, or removed what the next session needs from its sandbox.
    """
    if isinstance(error, OSError) and sandbox is not None and sandbox.runs and (gone := sandbox.gone()):
        return AssertionError(f"{gone} was removed from the sandbox, by what ran in it: {error}").with_traceback(
            error.__traceback__
        )
    if not isinstance(error, (IndexError, KeyError, StopIteration, ValueError, ZeroDivisionError)) or sandbox is None:
        return error
    listed = [run.platforms_listed for run in sandbox.runs if isinstance(run, Session)]
    fewest = min((number for number in listed if number is not None), default=sandbox.platforms)
    if fewest >= sandbox.platforms:
        return error
    place = traceback.extract_tb(error.__traceback__)[-1]
    return AssertionError(
        f"{fewest} of the {sandbox.platforms} platforms in the sandbox were listed, and the check needs more: "
        f"{type(error).__name__} ({error}) at {place.line}"
    ).with_traceback(error.__traceback__)


def _traceback(excinfo: pytest.ExceptionInfo[BaseException]) -> str:
    try:
        return str(excinfo.getrepr(style="short"))
    except Exception as trouble:
        return f"(its traceback cannot be shown: {type(trouble).__name__})"


def result_of(
    case: Case,
    call: pytest.CallInfo[None],
    expected: Expectations,
    strict: bool,
    subject: str,
    place: Callable[[], Path],
    keep: bool,
    keep_failed: bool = False,
) -> CaseResult:
    """The judged record of a case; keeps its sandbox where that helps, or where it was asked for.

    `subject` is pytest's option that names it; `place` gives the folder where the sandbox is kept. Nothing that the
    subject leaves behind keeps the record away.
    """
    case.problems = []
    error = explained(call.excinfo.value, case.sandbox) if call.excinfo else None
    verdict, who, reason = verdict_of(error)
    message = "" if error is None else f"{type(error).__name__}: {error}" if verdict == "error" else str(error)
    if verdict == "error" and call.excinfo is not None:
        message += f"\n{_traceback(call.excinfo)}"
    if message and case.sentence:
        message = f"{case.sentence}\n{message}"
    result = judge(
        CaseResult(
            case=case.id,
            requirements=case.requirements,
            verdict=verdict,
            outcome=case.outcome,
            unsupported=who,
            capability=error.capability if isinstance(error, Unsupported) else None,
            reason=reason,
            message=printable(message),
            deviations=_deviations(error) if verdict in ("fail", "crash", "hang", "leak") and error else (),
            duration=round(call.duration, 4),
            number=case.number,
        ),
        expected,
        strict,
    )
    try:
        result = _with_evidence(case, result, error, subject, place, keep, keep_failed)
    except Exception as trouble:  # what a subject leaves in its sandbox must not cost the verdict
        case.problems.append(f"the report of this case is not complete: {type(trouble).__name__}: {trouble}")
    return with_problems(result, case.problems)


def with_problems(result: CaseResult, problems: Sequence[str]) -> CaseResult:
    """The result, with what could not be done for it in its message."""
    if not problems:
        return result
    return dataclasses.replace(result, message=printable("\n".join([result.message, *problems]).strip()))


def _deviations(error: BaseException) -> tuple[Deviation, ...]:
    return tuple(Deviation(printable(d.what), printable(d.how)) for d in deviations_of(error))


def _with_evidence(
    case: Case,
    result: CaseResult,
    error: BaseException | None,
    subject: str,
    place: Callable[[], Path],
    keep: bool,
    keep_failed: bool,
) -> CaseResult:
    """The result with log, files, environment and reproducer where they help; the sandbox is kept where it counts."""
    sandbox = case.sandbox
    if sandbox is None or not sandbox.root.exists() or (result.verdict == "pass" and not result.counts and not keep):
        return result
    log = sandbox.log_so_far
    values: dict[str, Any] = {
        "log": slice_of(log),
        "log_times": times_of(log),
        "files": tuple(map(printable, sandbox.listing())),
        "environment": {name: printable(value) for name, value in sandbox.env.items()},
        "reproduce": f"pytest {shlex.quote(case.id)} {subject}",
    }
    failed = result.verdict not in ("pass", "unsupported", "error")
    if result.counts or keep or (keep_failed and failed):
        kept = _keep(case, sandbox, place())
        values |= {"sandbox": str(kept), "reproduce": f"{command()} replay {shlex.quote(str(kept))}"}
        if program := _program(case, sandbox, kept, result.message, error):
            source, built = shlex.quote(program.name), shlex.quote(program.stem)
            folder = shlex.quote(str(program.parent))
            values["reproduce"] = f"(cd {folder} && cc -w {source} -ldl -o {built} && ./{built})"
    return dataclasses.replace(result, **values)


def _program(case: Case, sandbox: Sandbox, kept: Path, message: str, error: BaseException | None) -> Path | None:
    """A C program that shows the failure of a vendor's library; where there is none, a file that says why."""
    if not any(isinstance(run, IcdSession) for run in sandbox.runs):
        return None
    try:
        program = reproducer.of_case(case.name, error, sandbox)
        if program.library.is_relative_to(sandbox.root):  # a mock in the place of the ICD, of which the copy stays
            program = dataclasses.replace(program, library=kept / program.library.relative_to(sandbox.root))
        return program.write(kept, case.id, message)
    except NotReproducible as reason:
        (kept / reproducer.NONE).write_text(f"{reason}\n", encoding="utf-8", errors="backslashreplace")
    return None


def slice_of(log: CallLog) -> tuple[str, ...]:
    """The start of the log, where discovery is, and its end, where the case stopped."""
    lines = naming.lines(log)
    left_out = len(lines) - LOG_LINES
    if left_out <= 0:
        return tuple(lines)
    half = LOG_LINES // 2
    return (*lines[:half], f"... {left_out} more events: clharness replay shows them ...", *lines[-half:])


def times_of(log: CallLog) -> tuple[int, ...]:
    """When the lines of `slice_of` were written, in nanoseconds since the first; for what is left out, its end."""
    times = [event.time - log.events[0].time for event in log]
    half = LOG_LINES // 2
    return tuple(times if len(times) <= LOG_LINES else [*times[:half], times[-half], *times[-half:]])


def _keep(case: Case, sandbox: Sandbox, folder: Path) -> Path:
    """Copies the sandbox with what a replay needs."""
    try:
        sandbox.keep(folder)
        sessions = [s for s in sandbox.runs if isinstance(s, Connection)]
        for number, session in enumerate(sessions):
            (folder / f"exchange-{number}").write_text("\n".join(session.exchange) + "\n")
        script = replay.script(case.id, sandbox, sessions)
        (folder / "replay.sh").write_bytes(os.fsencode(script))  # values may hold any byte
    except (OSError, RecursionError) as error:
        case.problems.append(f"the sandbox could not be kept: {str(error)[:500]}")
    return folder
