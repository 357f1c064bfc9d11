# SPDX-License-Identifier: Apache-2.0
"""A stretch of fuzzing: one process of a target for some time, and what came of it. The same for every engine."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.fuzz.guarded import Guarded, begin_anew, output_of
from harness.fuzz.target_process import Defect, Setting, environment

_GRACE = 60.0  # seconds that a process may take longer than it was told to
_EXCHANGE = 5.0  # seconds between two exchanges of inputs
_WRITTEN = 1.0  # seconds after which an input is whole in its file
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
    """The running processes of a campaign, which end with it."""

    def __init__(self) -> None:
        self.stop = threading.Event()

    def run(
        self,
        command: Sequence[str],
        variables: Mapping[str, str],
        log: Path,
        seconds: float,
        folder: Path,
        is_stuck: Callable[[], bool] = lambda: False,
        campaign: Path | None = None,
    ) -> tuple[int | None, bytes]:
        """Runs it, for at most some seconds and its grace; its exit code, or None where it had to be ended, and what it
        said. It is ended early where `is_stuck` says so, which is asked now and then."""
        log.unlink(missing_ok=True)
        with (
            log.open("a+b") as output,
            Guarded(command, environment(variables), folder, output, campaign=campaign) as process,
        ):
            until = time.monotonic() + seconds + _GRACE
            status = None
            while time.monotonic() < until and not is_stuck():
                if process.has_ended(_LOOK):
                    status = process.code()
                    break
                if self.stop.is_set():
                    status = process.interrupt()
                    break
                begin_anew(output)
            return status, output_of(output)


class Exchange:
    """The inputs that one process adds to the corpus of its target, in a folder of its own: the subject cannot take the
    others away. What other processes add comes there, too."""

    def __init__(self, own: Path, corpus: Path) -> None:
        self.own, self._corpus = own, corpus
        shutil.rmtree(own, ignore_errors=True)
        own.mkdir(parents=True)
        self._known, self._at = set(os.listdir(corpus)), time.monotonic()

    def sometimes(self) -> None:
        """To be called while the process runs."""
        if time.monotonic() - self._at > _EXCHANGE:
            self.now(_WRITTEN)

    def now(self, age: float = 0.0) -> None:
        """Of inputs that are so many seconds old. Each goes once: what was set aside does not come back."""
        for source, to in ((self.own, self._corpus), (self._corpus, self.own)):
            with contextlib.suppress(FileNotFoundError):  # the subject has removed its folder
                for name in set(os.listdir(source)) - self._known:
                    self._take(source / name, to / name, age)
        self._at = time.monotonic()

    def _take(self, source: Path, to: Path, age: float) -> None:
        with contextlib.suppress(OSError):  # it is one that another job set aside, or that the subject has closed
            state = source.lstat()
            if stat.S_ISREG(state.st_mode) and time.time() - state.st_mtime >= age:
                self._known.add(source.name)
                shutil.copyfile(source, to)


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
