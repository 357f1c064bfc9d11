# SPDX-License-Identifier: Apache-2.0
"""A failed case of a vendor's library as a C program that needs the OpenCL-Headers and nothing else.

Each program has run before anybody gets it: it shows the defect on the library, and a mock ICD that is correct shows
none of it. A case of which no form of program does so has none, and its report says why.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.probe.icd_session import IcdSession
from harness.probe.patience import TICK
from harness.probe.process import Process
from harness.probe.verdicts import Crashed, Hung, Leaked, SubjectFailure
from harness.run import orphans
from harness.run.exchange import IN_ORDER, LEFT, OF_EVENTS, OF_OBJECTS, NotReproducible
from harness.run.program import LEAVES, Failure, Part, part, program
from harness.sandbox import Sandbox
from harness.selftest.mutants import VARIABLE
from harness.selftest.mutants.icd import seeded_icd

NAME = "reproducer"
NONE = "reproducer.none"  # the file that says why there is none
MOST = 24  # failures of one case that its program shows
_NO_C = "not compiled"
_SECONDS = 5  # until a part counts as hung while programs are tried
_MAX_OUTPUT = 1 << 20  # bytes that a program may print
_OWN = ("HOME", "LD_LIBRARY_PATH", "XDG_CACHE_HOME")  # variables that the harness sets
_SHOWN = {"=> the defect is there": "there", "=> the defect is gone": "gone", "=> cannot be judged": "not judged"}


@dataclass(frozen=True)
class Reproducer:
    """A program in parts, with what it needs."""

    library: Path
    variables: Mapping[str, str]
    parts: tuple[Part, ...]

    def text(self, title: str, message: str, name: str = NAME, seconds: int = 30) -> str:
        """The C program, in which a part counts as hung after some seconds."""
        return program(title, message, name, self.library, self.variables, self.parts, seconds)

    def write(self, folder: Path, title: str, message: str) -> Path:
        """Writes the program, and its parts for programs of several cases."""
        source = folder / f"{NAME}.c"
        source.write_text(self.text(title, message), encoding="utf-8", errors="backslashreplace")
        data = {
            "library": str(self.library),
            "variables": dict(self.variables),
            "parts": [each.to_json() for each in self.parts],
        }
        (folder / f"{NAME}.json").write_text(json.dumps(data))
        return source


def read(folder: Path) -> Reproducer:
    """What `write` wrote. Raises OSError, ValueError."""
    data = json.loads((folder / f"{NAME}.json").read_text())
    return Reproducer(Path(data["library"]), data["variables"], tuple(map(Part.from_json, data["parts"])))


def of_case(case: str, error: BaseException | None, sandbox: Sandbox) -> Reproducer:
    """The program of a case that failed. Raises NotReproducible, with the reason, where there is none."""
    sessions = [run for run in sandbox.runs if isinstance(run, IcdSession)]
    if not sessions:
        raise NotReproducible("the case makes no call without a loader")
    if isinstance(error, Leaked) and not any(what in str(error) for what in LEAVES):
        raise NotReproducible(LEFT)
    library = Path(sessions[0].argv[sessions[0].argv.index("--loader") + 1])
    variables = {name: value for name, value in sandbox.env.items() if name not in _OWN}
    failures = _failures(case, sessions, error, _called(sandbox) if len(sessions) == 1 else None)[:MOST]
    return Reproducer(library, variables, _chosen(library, variables, failures))


def _called(sandbox: Sandbox) -> list[tuple[str, int, int]]:
    """Each call of a callback by its name, with the status where it is of an event, and data that are a number."""
    calls = []
    for event in sandbox.log:
        name = event.name.removeprefix("callback ")
        if name != event.name and name in (OF_EVENTS, *OF_OBJECTS):
            status, data = event.arguments[1:3] if name == OF_EVENTS else (0, event.arguments[1])
            calls.append((name, (status & 0xFFFFFFFF ^ 0x80000000) - 0x80000000, 0 if data >> 32 else data))
    return calls


def _failures(
    case: str,
    sessions: Sequence[IcdSession],
    error: BaseException | None,
    called: Sequence[tuple[str, int, int]] | None = None,
) -> list[Failure]:
    leaves = next((what for what in LEAVES if what in str(error)), "") if isinstance(error, Leaked) else ""
    failed = {(session.attempt): session for session in sessions if session.failed}  # the last of each attempt
    shown = list(failed.values()) or [sessions[-1]]
    return [
        Failure(
            session.attempt or case,
            session.exchange,
            session.replies,
            session.record.comparisons,
            _ended(session, error, bool(failed)),
            called,
            leaves,
        )
        for session in shown
    ]


def _ended(session: IcdSession, error: BaseException | None, attempted: bool) -> bool:
    """Whether the process of a session did not come back from its last call."""
    if attempted:
        return len(session.replies) < len(session.exchange)
    return isinstance(error, (Crashed, Hung)) or (
        isinstance(error, SubjectFailure) and len(session.replies) < len(session.exchange)
    )


def _chosen(library: Path, variables: Mapping[str, str], failures: Sequence[Failure]) -> tuple[Part, ...]:
    """For each failure the first form that shows it on the library alone."""
    chosen: dict[int, Part] = {}
    second: dict[int, Part] = {}  # shown on the library, and a correct ICD cannot do what comes first
    reason = IN_ORDER
    waiting = {number: list(failure.forms()) for number, failure in enumerate(failures)}
    while waiting:
        parts: dict[int, Part] = {}
        for number in list(waiting):
            try:
                parts[number] = part(failures[number], waiting[number].pop(0))
            except NotReproducible as error:
                reason = str(error)
            except IndexError:
                del waiting[number]
        shown = tried(Reproducer(library, variables, tuple(parts.values()))) if parts else []
        for (number, each), (here, correct) in zip(parts.items(), shown, strict=True):
            if here == "there" and correct == "gone":
                chosen[number] = each
                waiting.pop(number, None)
            elif here == "there" and correct == "not judged" and not failures[number].is_guess(each.form):
                second.setdefault(number, each)
            elif here == _NO_C:
                reason = f"the program does not compile: {correct}"
    chosen = second | chosen
    if not chosen:
        raise NotReproducible(reason)
    return tuple(chosen[number] for number in sorted(chosen))


def tried(reproducer: Reproducer) -> list[tuple[str, str]]:
    """What each part shows on the library, and on a correct mock ICD: "there", "gone" or "not judged".

    A part that does not compile is _NO_C, and what the compiler says. Without a compiler nothing can be tried, and each
    is believed to show its defect.
    """
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None:
        return [("there", "gone")] * len(reproducer.parts)
    with tempfile.TemporaryDirectory(prefix="clharness-reproducer-") as folder:
        source, built = Path(folder) / f"{NAME}.c", Path(folder) / NAME
        source.write_text(reproducer.text("", "", seconds=_SECONDS), encoding="utf-8", errors="backslashreplace")
        command = [compiler, "-w", str(source), "-ldl", "-o", str(built)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            if len(reproducer.parts) == 1:
                lines = next((line for line in done.stderr.splitlines() if "error:" in line), done.stderr)
                return [(_NO_C, lines.partition("error:")[2].strip() or lines.strip())]
            return [
                tried(Reproducer(reproducer.library, reproducer.variables, (each,)))[0] for each in reproducer.parts
            ]
        with correct_mock() as correct:
            return list(zip(_run(built, reproducer.library, reproducer), _run(built, correct, reproducer), strict=True))


def _run(built: Path, library: Path, source: Reproducer) -> list[str]:
    """What each part shows on a library, under the guard: the library is the one that did harm in the case."""
    environment = {**os.environ, "HOME": str(built.parent)}
    environment.pop(VARIABLE, None)
    output = os.memfd_create("output", os.MFD_CLOEXEC)
    try:
        command = [str(built), str(library)]
        limit = IcdSession.file_limit
        process = Process(command, environment, limit, stdout=output, stderr=subprocess.DEVNULL, cwd=built.parent)
        try:
            _wait(process, output, time.monotonic() + 2 * _SECONDS * (len(source.parts) + 3))
        finally:
            process.end()
        lines = [line.strip() for line in os.pread(output, _MAX_OUTPUT, 0).decode(errors="replace").splitlines()]
    finally:
        os.close(output)
    shown = [_SHOWN[line] for line in lines if line in _SHOWN]
    return shown if len(shown) == len(source.parts) else ["not judged"] * len(source.parts)


def _wait(process: Process, output: int, until: float) -> None:
    """Until the program has ended, said more than it can have to say, or taken more time than all its parts may.

    One that the library stopped is not waited for.
    """
    while time.monotonic() < until and os.fstat(output).st_size <= _MAX_OUTPUT:
        if select.select([process.descriptor], [], [], TICK)[0] or orphans.state(process.pid) == "T":
            return


@contextlib.contextmanager
def correct_mock() -> Iterator[Path]:
    """A mock ICD that can do whatever is optional, and does it rightly."""
    sandbox = Sandbox()
    fault = os.environ.pop(VARIABLE, None)
    try:
        path = seeded_icd(sandbox).path
    finally:
        if fault is not None:
            os.environ[VARIABLE] = fault
    try:
        yield path
    finally:
        sandbox.close()
