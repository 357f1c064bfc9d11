# SPDX-License-Identifier: Apache-2.0
"""Forked workers, each with one task at a time; one that is lost, or that is not done in time, is replaced.

The parent hands out tasks one by one, so that what came of one may decide what comes next. A worker ends with its
parent. Nothing that happens to a worker can stop the parent: it waits for nobody longer than a second.
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import mmap
import os
import pickle
import select
import signal
import socket
import struct
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from harness.run import orphans
from harness.run.interrupts import Interrupts
from harness.sandbox import guard

TICK = 1.0  # seconds between two looks at workers that are silent
HALT_LIMIT = 3.0  # seconds for workers to put away what they have when a run is interrupted
SAID = 4000  # bytes of a lost worker's last words

Task = TypeVar("Task")
Answer = TypeVar("Answer")
Note = Callable[[Any], None]


@dataclass(frozen=True)
class Lost:
    """What is known of a worker that gave no answer."""

    status: int  # as of a process: its exit code, or the number of a signal below 0
    seconds: float  # since it got the task
    timed_out: bool = False  # it was ended by the pool
    left: tuple[str, ...] = ()  # names of the processes that it had
    note: Any = None  # the last one of the task
    last_output: str = ""  # the end of its output

    @property
    def how(self) -> str:
        """How the worker ended, in words that follow its name."""
        if self.timed_out:
            return f"was not done after {self.seconds:.0f} s"
        if self.status >= 0:
            return f"ended with exit code {self.status}"
        with contextlib.suppress(ValueError):
            return f"was ended by {signal.Signals(-self.status).name}"
        return f"was ended by signal {-self.status}"


class _Line:
    """One end of a connection: whole messages, and no waiting for half of one."""

    def __init__(self, end: socket.socket) -> None:
        self.end = end
        self._received = b""

    def send(self, message: object) -> None:
        content = pickle.dumps(message)
        self.end.sendall(struct.pack("=Q", len(content)) + content)

    def receive(self) -> list[Any]:
        """The messages that have come, after waiting for bytes. Raises EOFError at the end of the connection."""
        try:
            part = self.end.recv(1 << 20)
        except ConnectionResetError:
            part = b""
        if not part:
            raise EOFError
        self._received += part
        messages = []
        while len(self._received) >= 8:
            (size,) = struct.unpack_from("=Q", self._received)
            if len(self._received) < 8 + size:
                break
            try:
                messages.append(pickle.loads(self._received[8 : 8 + size]))
            except Exception:  # a subject wrote into the worker's memory
                raise EOFError from None
            self._received = self._received[8 + size :]
        return messages


@dataclass
class _Worker(Generic[Task]):
    place: int  # from 0; one that replaces another has its place
    pid: int
    descriptor: int  # of the process; readable when it has ended
    line: _Line
    output: int  # descriptor of a file in memory
    task: Task | None = None
    note: Any = None
    since: float = 0.0
    until: float = float("inf")

    def signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.descriptor, number)

    def has_ended(self, wait: float = 0.0) -> bool:
        return bool(select.select([self.descriptor], [], [], wait)[0])

    def last_output(self) -> str:
        with contextlib.suppress(OSError):
            size = os.fstat(self.output).st_size
            return os.pread(self.output, SAID, max(0, size - SAID)).decode(errors="backslashreplace").strip()
        return ""


def in_turn(tasks: Iterator[Task | None]) -> Callable[[int], Task | None]:
    """The tasks in their order, whichever worker is free."""
    return lambda _place: next(tasks, None)


class Pool(Generic[Task, Answer]):
    """Use it as a context manager; the workers are forked when it is entered.

    `work` does a task in a worker; what it gives to its second argument is the `note` of a Lost. `limit` is the time
    in seconds that a task may take, whatever it does.
    """

    def __init__(
        self,
        work: Callable[[Task, Note], Answer],
        jobs: int,
        limit: float = float("inf"),
        interrupts: Interrupts | None = None,
    ) -> None:
        self._work = work
        self._jobs = jobs
        self._limit = limit
        self._interrupts = interrupts
        self._workers: list[_Worker[Task]] = []
        self._others: set[int] = set()
        self._halting = mmap.mmap(-1, 1)  # shared with the workers

    def __enter__(self) -> Self:
        orphans.take_in()
        guard.hide()
        self._others = set(orphans.children())
        gc.enable()  # see harness/run/command.py
        gc.freeze()  # memory that nobody writes to stays shared
        self._workers = [self._start(place) for place in range(self._jobs)]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._halt()
        gc.unfreeze()

    # --- workers ---

    def _start(self, place: int) -> _Worker[Task]:
        ours, theirs = socket.socketpair()
        output = os.memfd_create("worker")
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            try:
                orphans.end_with(parent)
                os.setpgid(0, 0)  # what is meant for the whole group is the parent's to hand on
                for worker in self._workers:
                    worker.line.end.close()
                ours.close()
                self._serve(_Line(theirs), output)
            finally:
                os._exit(3)
        theirs.close()
        return _Worker(place, pid, os.pidfd_open(pid), _Line(ours), output)

    def _serve(self, line: _Line, output: int) -> None:
        """The life of a worker."""
        # A handler, for what is ignored stays ignored in every program that the worker starts.
        signal.signal(signal.SIGINT, self._interrupted)
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        faulthandler.enable(2)
        try:
            while True:
                for task in line.receive():
                    line.send(("answer", self._work(task, lambda note: line.send(("note", note)))))
        except (KeyboardInterrupt, EOFError, BrokenPipeError):
            os._exit(0)
        except BaseException:
            faulthandler.disable()
            import traceback

            os.write(2, traceback.format_exc()[-SAID:].encode(errors="backslashreplace"))
            os._exit(1)

    def _interrupted(self, *_: object) -> None:
        if self._halting[0]:  # else a subject sent it
            raise KeyboardInterrupt

    def _halt(self) -> None:
        """Ends all workers; those that are at work may put away what they have."""
        self._halting[0] = 1
        for worker in self._workers:
            with contextlib.suppress(OSError):
                worker.line.end.shutdown(socket.SHUT_WR)
            if worker.task is not None:
                worker.signal(signal.SIGCONT)
                worker.signal(signal.SIGINT)
        until = time.monotonic() + HALT_LIMIT
        for worker in list(self._workers):
            worker.has_ended(max(0.0, until - time.monotonic()))
            self._end(worker)
            os.close(worker.output)
        self._halting[0] = 0

    def _end(self, worker: _Worker[Task]) -> tuple[int, list[str]]:
        """Ends a worker for good; gives its status, and the names of the processes that it had."""
        worker.signal(signal.SIGKILL)
        worker.has_ended(TICK)
        self._workers.remove(worker)
        known = self._others | {worker.pid} | {other.pid for other in self._workers}
        left = orphans.end_orphans(known)  # one of them may trace the worker: then its end is told there first
        pid, status = os.waitpid(worker.pid, os.WNOHANG)
        if pid == 0:
            self._others.add(worker.pid)
        worker.line.end.close()
        os.close(worker.descriptor)
        return os.waitstatus_to_exitcode(status) if pid else -signal.SIGKILL, left

    def _replace(self, worker: _Worker[Task], timed_out: bool = False) -> Lost:
        seconds = time.monotonic() - worker.since
        status, left = self._end(worker)
        message = worker.last_output()
        os.close(worker.output)
        self._workers.append(self._start(worker.place))
        return Lost(status, seconds, timed_out, tuple(left), worker.note, message)

    # --- work ---

    def run(self, task_for: Callable[[int], Task | None], done: Callable[[Task, Answer | Lost], None]) -> bool:
        """Does tasks and calls `done` for each; gives whether that came to its end, which interrupts prevent.

        `task_for` gives the next one for the worker of a place, from 0 to `jobs` - 1. Where it is None, there is none
        until one of those at work is done.
        """
        pending: list[Task] = []
        while not (self._interrupts and self._interrupts.happened):
            for worker in [w for w in self._workers if w.task is None]:
                task = pending.pop() if pending else task_for(worker.place)
                if task is None:
                    break
                if not self._give(worker, task):
                    pending.append(task)
            busy = [worker for worker in self._workers if worker.task is not None]
            if not busy and not pending:
                return True
            self._wait(busy)
            for worker in busy:
                self._hear(worker, done)
        return False

    def _give(self, worker: _Worker[Task], task: Task) -> bool:
        """Whether the worker took the task; one that died since its last one is replaced."""
        try:
            if not worker.has_ended():
                worker.line.send(task)
                worker.task, worker.note, worker.since = task, None, time.monotonic()
                worker.until = worker.since + self._limit
                return True
        except OSError:
            pass
        self._replace(worker)
        return False

    def _wait(self, busy: list[_Worker[Task]]) -> None:
        """Until a worker has something to say, has ended or is out of time, a signal came, or a second has passed."""
        watched: list[Any] = [end for w in busy for end in (w.line.end, w.descriptor)]
        if self._interrupts:
            watched.append(self._interrupts.descriptor)
        soonest = min((w.until for w in busy), default=0.0) - time.monotonic()
        if select.select(watched, [], [], max(0.0, min(TICK, soonest)))[0]:
            return
        for worker in busy:
            if orphans.state(worker.pid) == "T":
                worker.signal(signal.SIGCONT)  # a subject stopped it, or somebody who did not mean it alone

    def _hear(self, worker: _Worker[Task], done: Callable[[Task, Answer | Lost], None]) -> None:
        task = worker.task
        assert task is not None
        ended = worker.has_ended()  # asked before: what it said until then can be read
        try:
            while select.select([worker.line.end], [], [], 0)[0]:
                for kind, content in worker.line.receive():
                    if kind == "note":
                        worker.note = content
                    else:
                        worker.task, worker.until = None, float("inf")
                        done(task, content)
                        return
        except EOFError:
            ended = ended or worker.has_ended(TICK)
        timed_out = time.monotonic() >= worker.until
        if ended or timed_out:
            lost = self._replace(worker, timed_out and not ended)
            done(task, lost)
