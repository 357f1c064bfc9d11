# SPDX-License-Identifier: Apache-2.0
"""Collects the suites with pytest, and runs their cases against one library after the other.

The suites are collected once, with the unchanged library; workers are forked from the process that did. Each worker
meets a library with case after case until a verdict is another than with the unchanged one. A worker that dies, or that
is not done in time, costs the library that it had, and is replaced.
"""

from __future__ import annotations

import contextlib
import io
import multiprocessing
import os
import resource
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import pytest

from harness.build import ROOT, build
from harness.errors import HarnessError, UsageError
from harness.probe import stacks
from harness.run.cases import CASE
from harness.run.tested import LOADER
from harness.selftest.worker import Result, Runner, Usual

MEMORY = 8 << 30  # bytes of address space that a case may take: a mutant that asks for all of it harms only itself
FILE = 1 << 30
HANG = 5.0  # seconds: what did not end in its usual time is given this before it counts as hung


@dataclass(frozen=True)
class Usually:
    """What a case does with the unchanged library."""

    verdict: str
    outcome: str | None
    seconds: float


@dataclass
class Answer:
    """What became of a library: `case` is the first that noticed it; the others ran without noticing."""

    case: int | None = None
    verdict: str = ""
    usually: str = ""
    message: str = ""
    ran: int = 0
    seconds: float = 0.0
    unstable: list[int] = field(default_factory=list)  # cases that now differ with the unchanged library, too
    error_only: str = ""  # a case that ended in an error of the harness, where none noticed


@dataclass(frozen=True)
class Lost:
    """A worker gave no answer."""

    reason: str


@dataclass(frozen=True)
class Job:
    """A library, and the cases that meet it, in this order."""

    key: int
    library: Path
    cases: tuple[int, ...]


class Against:
    """Runs cases in this process against a library that takes the place of the one they were collected with."""

    def __init__(self, items: Sequence[pytest.Item], usual: Mapping[int, Usually] | None = None) -> None:
        self.items = items
        self.usual = usual or {}
        times = {number: known.seconds for number, known in self.usual.items()}
        self._runner = Runner(items, Usual({}, times))
        self._patient = Runner(items, Usual({}, dict.fromkeys(times, HANG / 10)))
        self._loader = items[0].config.stash[LOADER]
        self._original = self._loader.path

    def run(self, number: int, library: Path | None = None, patient: bool = False) -> Result:
        self._loader.path = library or self._original
        try:
            return (self._patient if patient else self._runner).run(number)
        finally:
            self._loader.path = self._original

    def differs(self, result: Result) -> bool:
        known = self.usual[result.case]
        if result.verdict != known.verdict:
            return True
        return result.verdict == "pass" and result.outcome != known.outcome

    def results(self, job: Job) -> list[Result]:
        """What all cases do."""
        return [self.run(number, job.library) for number in job.cases]

    def answer(self, job: Job) -> Answer:
        """The first case that does not what it usually does."""
        answer, started = Answer(), time.perf_counter()
        for number in job.cases:
            answer.ran += 1
            result = self.run(number, job.library)
            if result.verdict == "hang" and self.differs(result):
                result = self.run(number, job.library, patient=True)
            if not self.differs(result):
                continue
            if self.differs(self.run(number)):
                answer.unstable.append(number)
            elif result.verdict == "error":
                answer.error_only = f"{self.items[number].nodeid}: {result.message}"
            else:
                answer.case, answer.verdict, answer.message = number, result.verdict, result.message
                answer.usually = self.usual[number].verdict
                if result.verdict == answer.usually:
                    answer.verdict = f"{result.verdict} ({self.usual[number].outcome} → {result.outcome})"
                break
        answer.seconds = time.perf_counter() - started
        return answer


@dataclass
class Suites:
    """The collected cases, and what they do with the unchanged library."""

    items: list[pytest.Item]
    usual: dict[int, Usually] = field(default_factory=dict)
    unstable: set[int] = field(default_factory=set)

    @property
    def memory(self) -> int:
        """What a case may take; a sanitizer's shadow of it is larger than any limit."""
        sanitized = bool(self.items[0].config.stash[LOADER].facts.sanitizer or build().sanitize)
        return resource.RLIM_INFINITY if sanitized else MEMORY

    def check_of(self, number: int) -> str:
        return self.items[number].nodeid.partition("[")[0]

    def learn(self, jobs: int, tick: Callable[[str], None], rounds: int = 2) -> None:
        """Runs all cases without a mistake, more than once: those that do not always do the same are left out."""
        library = self.items[0].config.stash[LOADER].path
        seen: dict[int, list[Usually]] = {}
        numbers = range(len(self.items))

        def done(_: Job, results: list[Result] | Lost) -> None:
            if isinstance(results, Lost):
                raise HarnessError(f"the suites cannot be run with the unchanged library: {results.reason}")
            for result in results:
                known = Usually(result.verdict, result.outcome, result.seconds)
                seen.setdefault(result.case, []).append(known)
            tick(f"unchanged: {sum(map(len, seen.values()))} of {rounds * len(self.items)} runs")

        def parts() -> Iterator[Job]:
            for _ in range(rounds):
                yield from (Job(0, library, tuple(numbers[start::100])) for start in range(min(100, len(numbers))))

        Pool(Against(self.items).results, jobs, 600, self.memory).run(parts(), done)
        for number, runs in seen.items():
            self.usual[number] = Usually(runs[0].verdict, runs[0].outcome, max(run.seconds for run in runs))
            if any((run.verdict, run.outcome) != (runs[0].verdict, runs[0].outcome) for run in runs):
                self.unstable.add(number)

    def usable(self) -> list[int]:
        """Cases that can notice something: the quick ones first, one of each check, then the second of each, ..."""
        checks: dict[str, list[int]] = {}
        for number, known in self.usual.items():
            if known.verdict not in ("unsupported", "error") and number not in self.unstable:
                checks.setdefault(self.check_of(number), []).append(number)
        position = {n: place for cases in checks.values() for place, n in enumerate(cases)}
        return sorted(position, key=lambda n: (position[n], self.usual[n].seconds))


def with_suites(library: Path, folders: Sequence[Path], expression: str, use: Callable[[Suites], None]) -> None:
    """Calls `use` with the collected suites, from within pytest. Raises where they cannot be collected, or are none."""
    loop = _Loop(use)
    arguments = ["-c", str(ROOT / "pytest.ini"), "--rootdir", str(folders[0].parent.parent), "-p", "harness.run.plugin"]
    for plugin in ("cacheprovider", "logging", "faulthandler", "xdist"):
        arguments += ["-p", f"no:{plugin}"]
    arguments += ["-q", "-s", "-W", "ignore::pytest.PytestAssertRewriteWarning", f"--loader={library}"]
    arguments += ["-k", expression] if expression else []
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        status = pytest.main([*arguments, *map(str, folders)], plugins=[loop])
    if loop.error is not None:
        raise loop.error
    if not loop.called:
        last = "\n".join(output.getvalue().splitlines()[-20:])
        if status == pytest.ExitCode.NO_TESTS_COLLECTED:
            raise UsageError("no case matches")
        raise HarnessError(f"the suites cannot be collected:\n{last}")


class _Loop:
    """A pytest plugin that takes the place of pytest's own loop."""

    def __init__(self, use: Callable[[Suites], None]) -> None:
        self._use = use
        self.called = False
        self.error: BaseException | None = None

    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        items = [item for item in session.items if CASE in item.stash]
        if not items:
            return None
        self.called = True
        try:
            self._use(Suites(items))
        except BaseException as error:  # raised again outside of pytest, which would print it
            self.error = error
        return True


def _bounded(kind: int, value: int) -> None:
    hard = resource.getrlimit(kind)[1]
    if value != resource.RLIM_INFINITY and (hard == resource.RLIM_INFINITY or value < hard):
        resource.setrlimit(kind, (value, hard))


def _work(connection: Connection, answer: Callable[[Job], Any], memory: int) -> None:
    signal.signal(signal.SIGTERM, lambda *_: os._exit(1))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _bounded(resource.RLIMIT_AS, memory)
    _bounded(resource.RLIMIT_FSIZE, FILE)
    _bounded(resource.RLIMIT_CORE, 0)
    stacks.readable = lambda *_: ""  # nobody reads them here, and they take long
    stacks.ask = lambda *_: 0
    with contextlib.suppress(EOFError):
        while (job := connection.recv()) is not None:
            connection.send(answer(job))
    os._exit(0)


@dataclass
class _Worker:
    process: Any
    connection: Connection
    job: Job | None = None
    until: float = 0.0


class Pool:
    """Forked workers; one that dies, or that works on a job for more than `limit` seconds, is replaced."""

    def __init__(self, answer: Callable[[Job], Any], jobs: int, limit: float, memory: int = MEMORY) -> None:
        self._answer = answer
        self._memory = memory
        self._jobs = jobs
        self._limit = limit
        self._context = multiprocessing.get_context("fork")

    def _start(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_work, args=(theirs, self._answer, self._memory), daemon=True)
        process.start()
        theirs.close()
        return _Worker(process, ours)

    @staticmethod
    def _end(worker: _Worker) -> None:
        worker.process.kill()  # a probe does not outlive its parent
        worker.process.join()
        worker.connection.close()

    def run(self, jobs: Iterator[Job], done: Callable[[Job, Any], None]) -> None:
        """Hands jobs out one by one, so that what is found may decide what comes next."""
        workers = [self._start() for _ in range(self._jobs)]
        try:
            while True:
                for worker in workers:
                    if worker.job is None and (job := next(jobs, None)) is not None:
                        worker.connection.send(job)
                        worker.job, worker.until = job, time.monotonic() + self._limit
                busy = [worker for worker in workers if worker.job]
                if not busy:
                    return
                soonest = min(worker.until for worker in busy)
                wait([worker.connection for worker in busy], max(0.0, soonest - time.monotonic()))
                for worker in busy:
                    self._hear(workers, worker, done)
        finally:
            for worker in workers:
                self._end(worker)

    def _hear(self, workers: list[_Worker], worker: _Worker, done: Callable[[Job, Any], None]) -> None:
        """Takes a worker's answer, if there is one; replaces it, if there will be none."""
        job = worker.job
        assert job is not None
        answer: Any = None
        if worker.connection.poll():
            try:
                answer = worker.connection.recv()
            except (EOFError, OSError):
                answer = Lost("the worker died")
        elif time.monotonic() >= worker.until:
            answer = Lost(f"not done after {self._limit:g} s")
        if answer is None:
            return
        worker.job = None
        if isinstance(answer, Lost):
            self._end(worker)
            workers[workers.index(worker)] = self._start()
        done(job, answer)
