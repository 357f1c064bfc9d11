# SPDX-License-Identifier: Apache-2.0
"""A stretch of fuzzing: one process of a target for some time, and what came of it. The same for every engine."""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.fuzz.target_process import Defect, Setting, environment
from harness.probe.process import children_of, has_ended

_SAYS = 5.0  # seconds in which a fuzzer that is interrupted says how far it came
_GRACE = 60.0  # seconds that a process may take longer than it was told to
_KILLED = 10.0  # seconds in which a process that is killed is gone, also on a busy machine
_LOOK = 0.2  # seconds between looks at a running process


@dataclass(frozen=True)
class Job:
    """What to run."""

    target: str
    program: Path
    setting: Setting
    seconds: float
    corpus: Path
    work: Path  # for this job alone
    known: Path
    dictionary: Path | None


@dataclass
class ProcessEnd:
    """An input with which the process ended; without one the process ended by itself."""

    defect: Defect
    data: bytes | None
    before: tuple[bytes, ...] = ()  # what the same process ran before it, oldest first, where that can matter


@dataclass
class JobResult:
    """What came of a job."""

    seconds: float = 0.0
    inputs: int = 0
    edges: int = 0
    ends: list[ProcessEnd] = field(default_factory=list)
    error: str | None = None  # the target could not run
    begun: bool = True  # it had run the whole corpus, with which it begins


class Processes:
    """The running processes, which end with this one; asked for by whoever prints progress, too."""

    def __init__(self) -> None:
        self.stop = threading.Event()
        self._lock = threading.Lock()
        self._running: dict[int, subprocess.Popen[bytes]] = {}

    def run(
        self, command: Sequence[str], variables: Mapping[str, str], log: Path, seconds: float, folder: Path
    ) -> int | None:
        """Runs it, for at most some seconds and its grace; its exit code, or None where it had to be ended."""
        with log.open("wb") as output:
            process = subprocess.Popen(
                command,
                env=environment(variables),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=folder,
                start_new_session=True,  # Ctrl-C comes to this process alone, which then ends its own
            )
        with self._lock:
            self._running[process.pid] = process
        until = time.monotonic() + seconds + _GRACE
        try:
            while process.poll() is None:
                if self.stop.wait(_LOOK):
                    return _end(process)
                if time.monotonic() > until:
                    _end(process)
                    return None
            return process.returncode
        finally:
            if process.poll() is None:
                _kill(process)
            with self._lock:
                del self._running[process.pid]


def _end(process: subprocess.Popen[bytes]) -> int | None:
    """A fuzzer that is interrupted says how far it came, and what it started ends with it; None where it was killed."""
    with _family(process) as descriptors:
        process.send_signal(signal.SIGINT)
        if not has_ended(descriptors[-1], _SAYS):
            _kill(process)
            return None
        _kill_all(process, descriptors)
    return process.wait()


def _kill(process: subprocess.Popen[bytes]) -> None:
    """With what it started: a symbolizer, and AFL++'s server of processes, which makes a session of its own and is
    stopped most of the time, so that nothing else ends it.
    """
    process.send_signal(signal.SIGSTOP)  # it starts nothing more
    with _family(process) as descriptors:
        _kill_all(process, descriptors)
    process.wait()


@contextlib.contextmanager
def _family(process: subprocess.Popen[bytes]) -> Iterator[list[int]]:
    """Descriptors of a process and of what it started, the newest first."""
    family = [process.pid]
    for member in family:
        family += children_of(member)
    with contextlib.ExitStack() as opened:
        descriptors = []
        for member in reversed(family):
            with contextlib.suppress(ProcessLookupError):
                descriptors.append(os.pidfd_open(member))
                opened.callback(os.close, descriptors[-1])
        yield descriptors


def _kill_all(process: subprocess.Popen[bytes], family: Iterable[int]) -> None:
    for descriptor in family:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    for descriptor in family:
        has_ended(descriptor, _KILLED)


def inputs_of(folder: Path) -> list[Path]:
    """The inputs in a folder, the smallest first; jobs that run beside may take some of them away."""
    sizes = []
    for file in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):
            sizes.append((file.stat().st_size, file.name, file))
    return [file for *_, file in sorted(sizes)]


def add_inputs(source: Path, corpus: Path) -> int:
    """Copies inputs, named by their content, so that none is listed twice. Gives how many there were."""
    corpus.mkdir(parents=True, exist_ok=True)
    count = 0
    for file in sorted(source.rglob("*")):
        if file.is_file() and not file.name.startswith("."):
            data = file.read_bytes()
            (corpus / hashlib.sha1(data).hexdigest()).write_bytes(data)
            count += 1
    return count


def set_aside(data: bytes, corpus: Path, aside: Path) -> bool:
    """Takes an input out of the corpus: each process begins by running all of them, and would end with it again."""
    moved = False
    for file in corpus.iterdir() if corpus.exists() else ():
        with contextlib.suppress(FileNotFoundError):  # another job did it
            if file.is_file() and file.stat().st_size == len(data) and file.read_bytes() == data:
                aside.mkdir(parents=True, exist_ok=True)
                file.replace(aside / file.name)
                moved = True
    return moved
