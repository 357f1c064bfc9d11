# SPDX-License-Identifier: Apache-2.0
"""Asks a library in a process of its own, which may crash or hang: that is an answer, too."""

from __future__ import annotations

import contextlib
import json
import os
import re
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.errors import HarnessError

_HOST = Path(__file__).with_name("host.py")
_END_CODE = 83  # what a host is told to end with: what a library ends it with on the way hardly is the same
_MOST_OUTPUT = 16 << 20  # bytes that are read of what the host reports
_MOST_WRITTEN = 1 << 20  # of what libraries and the linker write
_LINE = re.compile(r"^(?!ERROR: ld\.so).*\S.*$", re.MULTILINE)


@dataclass
class Answer:
    """What a host reported until it ended.

    `reports` in order; `within` is the step that it did not come back from, "" where it ended well. `end`: "", "hang",
    the name of a signal, or "exit code N"; `after` is the same of a process that had done everything. `output` is what
    the libraries wrote to standard output and error.
    """

    reports: list[dict[str, Any]] = field(default_factory=list)
    within: str = ""
    end: str = ""
    after: str = ""
    output: str = ""

    def get(self, key: str, default: Any = None) -> Any:
        """The last value that was reported under a name."""
        return next((report[key] for report in reversed(self.reports) if key in report), default)

    def every(self, key: str) -> list[Any]:
        """All values that were reported under a key, in their order."""
        return [report[key] for report in self.reports if key in report]

    @property
    def errors(self) -> list[str]:
        """The errors that were reported, in the words of the dynamic linker."""
        return [str(text) for text in self.every("error")]

    @property
    def last_words(self) -> str:
        """The last line that it wrote, shortened."""
        lines = _LINE.findall(self.output)
        return lines[-1].strip()[:200] if lines else ""


@dataclass
class Asker:
    """Starts hosts in an environment. `limit` is in seconds, for one host."""

    environment: Mapping[str, str]
    limit: float = 15.0
    files: tuple[int, int] | None = None  # limits of open files that a program has here; None: those of this process

    def ask(
        self,
        mode: str,
        *names: str,
        without: Sequence[str] = (),
        raise_limits: bool = False,
        new_home: bool = False,
        linker_tells: str = "",
    ) -> Answer:
        """One host. `without`: variables to leave out; `raise_limits`: soft limits up to the hard ones; `new_home`: a
        home that can be written; `linker_tells`: what the dynamic linker writes about its work (LD_DEBUG).
        """
        variables = {name: value for name, value in self.environment.items() if name not in without}
        if linker_tells:
            variables = {k: v for k, v in variables.items() if k != "LD_DEBUG_OUTPUT"} | {"LD_DEBUG": linker_tells}
        with _no_caches(variables, new_home) as quiet:
            return self._run([mode, *names], quiet, raise_limits)

    def _run(self, arguments: list[str], variables: dict[str, str], raise_limits: bool) -> Answer:
        ours, theirs = os.pipe()
        output = os.memfd_create("clharness-doctor")
        mode, *names = arguments
        command = [sys.executable, "-I", str(_HOST), mode, str(theirs), str(ours), str(_END_CODE), *names]
        try:
            process = subprocess.Popen(
                command,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=[theirs],
                start_new_session=True,
            )
            _limit(process.pid, self.files, raise_limits)
            data, in_time = _read_all(ours, time.monotonic() + self.limit, process)
            return _answer(data, in_time, process, output)
        except BlockingIOError:
            most = resource.getrlimit(resource.RLIMIT_NPROC)[0]
            raise HarnessError(
                f"this user may have {most} processes (ulimit -u), and no more can be started; drivers with threads "
                "fail for the same reason: raise the limit, or end some of them"
            ) from None
        finally:
            for descriptor in (ours, theirs, output):
                if descriptor >= 0:
                    os.close(descriptor)


def take_files() -> tuple[int, int]:
    """Lets this process open more files than a program may here; gives the limits that programs have."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limits[1], limits[1]))
    return limits


@dataclass(frozen=True)
class Limit:
    """A limit of processes: its name, its letter for ulimit, and the least that drivers have everywhere else."""

    words: str
    which: int
    letter: str
    least: int

    def is_low(self, soft: int) -> bool:
        """Whether a soft limit of this size is below what drivers need."""
        unlimited = resource.RLIM_INFINITY
        return soft != unlimited and (self.least == unlimited or soft < self.least)


LIMITS = (
    Limit("open files", resource.RLIMIT_NOFILE, "n", 64),
    Limit("memory", resource.RLIMIT_AS, "v", resource.RLIM_INFINITY),
    Limit("data", resource.RLIMIT_DATA, "d", resource.RLIM_INFINITY),
    Limit("size of files", resource.RLIMIT_FSIZE, "f", resource.RLIM_INFINITY),
    Limit("stack", resource.RLIMIT_STACK, "s", 1 << 20),
    Limit("locked memory", resource.RLIMIT_MEMLOCK, "l", 64 << 10),
    Limit("processes", resource.RLIMIT_NPROC, "u", 64),
)


def _limit(pid: int, files: tuple[int, int] | None, raise_limits: bool) -> None:
    """No core files; open files as programs have them; where asked for, as much of everything as may be had."""
    with contextlib.suppress(OSError, ValueError):
        if files and not raise_limits:
            resource.prlimit(pid, resource.RLIMIT_NOFILE, files)
        resource.prlimit(pid, resource.RLIMIT_CORE, (0, resource.prlimit(pid, resource.RLIMIT_CORE)[1]))
        for which in (limit.which for limit in LIMITS) if raise_limits else ():
            hard = resource.prlimit(pid, which)[1]
            resource.prlimit(pid, which, (hard, hard))


def _read_all(descriptor: int, until: float, process: subprocess.Popen[bytes]) -> tuple[bytes, bool]:
    """What comes until the host has ended, and whether that was in time. What it started may hold the pipe open."""
    data = bytearray()
    with _end_of(process) as ended:
        poll = select.poll()
        for one in (descriptor, *ended):
            poll.register(one, select.POLLIN)
        while len(data) < _MOST_OUTPUT:
            remaining = until - time.monotonic()
            if remaining <= 0:
                return bytes(data), False
            if descriptor in dict(poll.poll(1000 * min(remaining, 0.1))):
                data += os.read(descriptor, 1 << 16)
            elif process.poll() is not None:
                break
    try:
        process.wait(max(until - time.monotonic(), 0.1))
    except subprocess.TimeoutExpired:
        return bytes(data), False
    return bytes(data), True


@contextlib.contextmanager
def _end_of(process: subprocess.Popen[bytes]) -> Iterator[list[int]]:
    """A descriptor that can be read from when a process has ended; none on systems that have no such thing."""
    descriptors: list[int] = []
    with contextlib.suppress(OSError):
        descriptors.append(os.pidfd_open(process.pid))
    try:
        yield descriptors
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


def _answer(data: bytes, in_time: bool, process: subprocess.Popen[bytes], output: int) -> Answer:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    status = process.wait()
    answer = Answer(output=os.pread(output, _MOST_WRITTEN, 0).decode(errors="replace"))
    for line in data.split(b"\n"):
        with contextlib.suppress(ValueError):
            report = json.loads(line)
            if isinstance(report, dict):
                answer.reports.append(report)
    end = "hang" if not in_time else signal.Signals(-status).name if status < 0 else f"exit code {status}"
    if answer.get("done"):
        answer.after = end if status != _END_CODE else ""
        return answer
    begun = [str(report["begins"]) for report in answer.reports if "begins" in report]
    over = [str(report["ends"]) for report in answer.reports if "ends" in report]
    answer.within = begun[-1] if len(begun) > len(over) else "its own work"
    answer.end = end
    return answer


@contextlib.contextmanager
def _no_caches(variables: dict[str, str], new_home: bool) -> Iterator[dict[str, str]]:
    """Drivers keep what they compile below the user's home: here in a folder that is removed again.

    Where they could not write anyway, they meet that: it may be why they fail.
    """
    caches = {
        "XDG_CACHE_HOME": variables.get("XDG_CACHE_HOME") or f"{variables.get('HOME', '')}/.cache",
        "POCL_CACHE_DIR": variables.get("POCL_CACHE_DIR") or f"{variables.get('HOME', '')}/.cache",
    }
    in_use = [name for name, path in caches.items() if new_home or can_be_written(Path(path))]
    try:
        folder = tempfile.mkdtemp(prefix="clharness-doctor-") if in_use else ""
    except OSError:
        folder = ""
    quiet = {"CUDA_CACHE_DISABLE": "1", "NEO_CACHE_PERSISTENT": "0"} | dict.fromkeys(in_use if folder else (), folder)
    if new_home and folder:
        quiet["HOME"] = folder
    try:
        yield variables | quiet
    finally:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)


def can_be_written(path: Path) -> bool:
    """Whether a file could be made there, or a folder that is missing on the way."""
    there = next((folder for folder in (path, *path.parents) if os.path.exists(folder)), Path("/"))
    return os.access(there, os.W_OK | os.X_OK)
