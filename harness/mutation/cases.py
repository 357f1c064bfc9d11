# SPDX-License-Identifier: Apache-2.0
"""Collects the suites with pytest, and runs their cases against one library after the other.

The suites are collected once, with the unchanged library; workers are forked from the process that did. Each worker
meets a library with case after case until a verdict is another than with the unchanged one. A worker that dies, or that
is not done in time, costs the library that it had, and is replaced.
"""

from __future__ import annotations

import contextlib
import enum
import io
import multiprocessing
import os
import resource
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import pytest

from harness.build import ROOT, build
from harness.errors import HarnessError, UsageError
from harness.expectations import Expected
from harness.mutation.reach import Marks, Reach, keep, kept, reach_of
from harness.probe import stacks
from harness.probe.deviations import deviations_of
from harness.probe.process import children_of
from harness.report.status import status, strength_of
from harness.run.cases import CASE, explained, verdict_of
from harness.run.tested import LOADER
from harness.selftest.worker import protocol
from harness.subject import capabilities

Tick = Callable[[str], None]
MEMORY = 8 << 30  # bytes of address space that a case may take: a mutant that asks for all of it harms only itself
FILE = 1 << 30
VENDORS = "OCL_ICD_VENDORS"
TICK = 0.5  # seconds between two looks at what a worker has computed
STARVED = 4  # times the limit: what is given up by the clock, where only computing counts
HANG = 5.0  # seconds: what did not end in its usual time is given this before it counts as hung


class Level(enum.IntEnum):
    """Which runs a difference from the unchanged library makes red."""

    NONE = 0
    FILE = 1  # that of who has an expectation file
    STRICT = 2  # a strict one (`--strict`), too: a check of what is should or de-facto fails
    RED = 3  # every run


@dataclass(frozen=True)
class Seen:
    """What a case did with a library."""

    verdict: str
    outcome: str | None
    deviations: tuple[str, ...]
    message: str
    seconds: float
    red: bool  # it would fail a run without an expectation file
    strict: bool  # it would fail such a run with --strict

    def level(self, usual: Seen) -> Level:
        """Who would notice the difference from what is usual."""
        if self.red and not usual.red:
            return Level.RED
        if self.strict and not usual.strict:
            return Level.STRICT
        return Level.FILE if self.differs(usual) else Level.NONE

    def differs(self, usual: Seen) -> bool:
        """Whether a run with an expectation file, written from the unchanged library's records, would notice."""
        mine, others = (self.verdict, self.outcome, self.deviations), (usual.verdict, usual.outcome, usual.deviations)
        return mine != others

    def shown(self, usual: Seen) -> str:
        """How this differs from what is usual, in a few words."""
        if self.verdict != usual.verdict:
            return self.verdict
        now, before = (self.outcome, usual.outcome) if self.verdict == "pass" else (self.deviations, usual.deviations)
        return f"{self.verdict} ({before} → {now})"


@dataclass
class Answer:
    """What became of a library: `case` is the first that noticed it at the highest level that any did."""

    level: Level = Level.NONE
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
    by_clock: bool = False  # it was not done in time, which the machine may be to blame for


@dataclass(frozen=True)
class Job:
    """A library, and the cases that meet it, in this order. `own`: only the checks' own red counts. `last`: it is not
    tried again.
    """

    key: int
    library: Path
    cases: tuple[int, ...]
    own: bool = False
    last: bool = False


class Lookups(set[str]):
    """The capabilities of a loader; keeps which of them were asked for."""

    def __init__(self, names: Iterable[str]) -> None:
        super().__init__(names)
        self.names: set[str] = set()

    def __contains__(self, name: object) -> bool:
        present = super().__contains__(name)
        if present:
            self.names.add(str(name))
        return present


class Against:
    """Runs cases in this process against a library that takes the place of the one they were collected with."""

    def __init__(self, items: Sequence[pytest.Item], seconds: Mapping[int, float] | None = None) -> None:
        self.items = items
        self._seconds = seconds or {}
        self._usual: dict[int, Seen] = {}
        self._loader = items[0].config.stash[LOADER]
        self._original = self._loader.path
        self._capabilities = frozenset(self._loader.capabilities)
        self._by_variable = self._loader.by_variable

    def run(self, number: int, library: Path | None = None, patient: bool = False) -> Seen:
        """What a case does with a library, else with the unchanged one."""
        item = self.items[number]
        case = item.stash[CASE]
        case.sandbox, case.outcome = None, None
        item.config.option.time_limit = HANG if patient else max(1.0, 10 * self._seconds.get(number, 0.5))
        self._loader.path = library or self._original
        started = time.perf_counter()
        try:
            caught = protocol(item)
        finally:
            self._loader.path = self._original
        error = explained(caught, case.sandbox) if caught else None
        verdict = verdict_of(error)[0]
        red = verdict in ("fail", "crash", "hang", "leak") and error is not None
        deviations = tuple(sorted(map(str, deviations_of(error)))) if red and error else ()
        strength = strength_of(case.requirements)
        counts, strictly = (
            status(verdict, Expected(), strength, False, strict, False, None) == "unexpected"
            for strict in (False, True)
        )
        message = f"{type(error).__name__}: {error}"[:500] if error else ""
        return Seen(verdict, case.outcome, deviations, message, time.perf_counter() - started, counts, strictly)

    def usual(self, number: int) -> Seen:
        """What a case does with the unchanged library; asked once."""
        if number not in self._usual:
            self._reset()
            self._usual[number] = self.run(number)
        return self._usual[number]

    def _reset(self, lost: frozenset[str] = frozenset()) -> Lookups:
        """Gives the loader its capabilities, but for those that a mutant has lost."""
        self._loader.capabilities = lookups = Lookups(self._capabilities - lost)
        self._loader.by_variable = self._by_variable and VENDORS not in lost
        return lookups

    def marked(self, number: int, marks: Marks) -> tuple[tuple[int, ...] | None, float, str]:
        """The blocks of the library that a case reaches, its time and verdict; the library is one that marks them."""
        marks.take()
        seen = self.run(number, patient=True)
        return marks.take(), seen.seconds, seen.verdict

    def answer(self, job: Job) -> Answer:
        """The first case that does not what it usually does; with `job.own`, the first that makes every run red, else
        the first at the highest level that any reaches.
        """
        answer, started = Answer(), time.perf_counter()
        lost: frozenset[str] = frozenset()
        known: frozenset[str] = frozenset()  # capabilities that the mutant was asked for
        for number in job.cases:
            answer.ran += 1
            usual = self.usual(number)
            lookups = self._reset(lost)
            seen = self.run(number, job.library)
            if seen.verdict == "hang" and seen.differs(usual):
                seen = self.run(number, job.library, patient=True)
            by_itself = job.own and seen.level(usual) > max(answer.level, Level.FILE)
            if by_itself and (new := (lookups.names | {VENDORS}) - known):
                # A run would have asked the mutant itself what it can do.
                known |= new
                gone = frozenset(name for name in new & self._capabilities if not self._has(name, job.library))
                if gone:
                    lost |= gone
                    self._reset(lost)
                    seen = self.run(number, job.library, patient=True)
            level = seen.level(usual)
            if level <= answer.level:
                continue
            self._reset()
            if self.run(number).differs(usual):
                # What only a file would have noticed costs no case that may yet be red by itself.
                answer.unstable += [number] * (not job.own or level > Level.FILE)
            elif seen.verdict == "error":
                answer.error_only = answer.error_only or f"{self.items[number].nodeid}: {seen.message}"
            else:
                answer.level, answer.case, answer.message, answer.usually = level, number, seen.message, usual.verdict
                answer.verdict = seen.shown(usual)
                if level == Level.RED or not job.own:
                    break
        answer.seconds = time.perf_counter() - started
        return answer

    def _has(self, capability: str, library: Path) -> bool:
        self._loader.path = library
        try:
            return "yes" in capabilities.outcomes(self._loader, capability).values()
        finally:
            self._loader.path = self._original


@dataclass
class Suites:
    """The collected cases; what they reach of the library, and how long they take."""

    items: list[pytest.Item]
    seconds: dict[int, float] = field(default_factory=dict)
    unstable: set[int] = field(default_factory=set)
    idle: set[int] = field(default_factory=set)  # cases that can notice nothing here: they are unsupported
    reach: Reach | None = None

    @property
    def memory(self) -> int:
        """What a case may take; a sanitizer's shadow of it is larger than any limit."""
        sanitized = bool(self.items[0].config.stash[LOADER].facts.sanitizer or build().sanitize)
        return resource.RLIM_INFINITY if sanitized else MEMORY

    def check_of(self, number: int) -> str:
        """The check of a case, as file and function."""
        return self.items[number].nodeid.partition("[")[0]

    def learn(self, marking: Callable[[Path], Path], folder: Path, path: Path | None, tick: Tick) -> None:
        """Runs all cases with a library that marks what they reach; `path` keeps that for another run."""
        names = [item.nodeid for item in self.items]
        known = kept(path) if path else None
        if known is not None and known["names"] == names:
            self.reach, self.idle = known["reach"], set(known["idle"])
            self.seconds = {int(number): seconds for number, seconds in known["seconds"].items()}
            return
        folder.mkdir()
        marks = folder / "marks"  # beside the library: private roots have that folder
        self._learn(marking(marks), marks, tick)
        if path and self.reach:
            keep(path, self.reach, {"names": names, "idle": sorted(self.idle), "seconds": self.seconds})

    def _learn(self, library: Path, marks: Path, tick: Tick) -> None:
        blocks: dict[int, tuple[int, ...] | None] = {}
        shared = Marks(marks, library)

        def run(job: Job) -> list[tuple[int, tuple[int, ...] | None, float, str]]:
            against = Against(self.items)
            against._original = job.library
            return [(number, *against.marked(number, shared)) for number in job.cases]

        def done(job: Job, answers: Any) -> None:
            if isinstance(answers, Lost):  # whatever they reach, they are tried
                blocks.update(dict.fromkeys(job.cases))
                return
            for number, reached, seconds, verdict in answers:
                blocks[number], self.seconds[number] = reached, seconds
                if verdict == "unsupported":  # it may not even have loaded the library
                    blocks[number] = ()
                    self.idle.add(number)
            tick(f"unchanged: {len(blocks)} of {len(self.items)} cases")

        numbers = range(len(self.items))
        parts = (Job(0, library, tuple(numbers[start : start + 50])) for start in range(0, len(numbers), 50))
        Pool(run, 1, 600, self.memory).run(parts, done)  # one: all of them mark one file
        self.reach = reach_of(library, blocks)

    def usable(self) -> list[int]:
        """Cases that can notice something: the quick ones first, one of each check, then the second of each, ..."""
        checks: dict[str, list[int]] = {}
        for number in range(len(self.items)):
            if number not in self.idle and number not in self.unstable:
                checks.setdefault(self.check_of(number), []).append(number)
        position = {n: place for cases in checks.values() for place, n in enumerate(cases)}
        return sorted(position, key=lambda n: (position[n], self.seconds.get(n, 1.0)))


def some_of(items: Sequence[pytest.Item], per_check: int | None) -> list[pytest.Item]:
    """At most so many cases of each check: its first, its last, and others evenly between them."""
    checks: dict[str, list[pytest.Item]] = {}
    for item in items:
        checks.setdefault(item.nodeid.partition("[")[0], []).append(item)
    if per_check is None:
        return list(items)
    chosen = []
    for cases in checks.values():
        step = (len(cases) - 1) / max(per_check - 1, 1)
        numbers = {round(n * step) for n in range(per_check)} if len(cases) > per_check else range(len(cases))
        chosen += [cases[number] for number in sorted(numbers)]
    return chosen


def with_suites(
    library: Path, folders: Sequence[Path], expression: str, per_check: int | None, use: Callable[[Suites], None]
) -> None:
    """Calls `use` with the collected suites, from within pytest. Raises where they cannot be collected, or are none."""
    loop = _Loop(lambda items: use(Suites(some_of(items, per_check))))
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

    def __init__(self, use: Callable[[list[pytest.Item]], None]) -> None:
        self._use = use
        self.called = False
        self.error: BaseException | None = None

    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        items = [item for item in session.items if CASE in item.stash]
        if not items:
            return None
        self.called = True
        try:
            self._use(items)
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
    since: float = 0.0  # by the clock
    computed: float = 0.0  # before the job


def _computed(pid: int) -> float:
    """Seconds that a process and its descendants computed so far, also those that ended and were waited for."""
    ticks = 0
    family = [pid]
    for member in family:
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{member}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))  # its own and those of its children, in user and system mode
            family += children_of(member)
    return ticks / float(os.sysconf("SC_CLK_TCK"))


class Pool:
    """Forked workers; one that dies, or that works on a job for more than `limit` seconds, is replaced.

    by_processor: the seconds are those that it computes, with what it starts, and not those of the clock.
    """

    def __init__(
        self,
        answer: Callable[[Job], Any],
        jobs: int,
        limit: float,
        memory: int = MEMORY,
        by_processor: bool = False,
    ) -> None:
        self._answer = answer
        self._memory = memory
        self._jobs = jobs
        self._limit = limit
        self._by_processor = by_processor
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
                        worker.job, worker.since, worker.computed = job, time.monotonic(), _computed(worker.process.pid)
                busy = [worker for worker in workers if worker.job]
                if not busy:
                    return
                soonest = min(worker.since for worker in busy) + self._limit - time.monotonic()
                wait([worker.connection for worker in busy], TICK if self._by_processor else max(0.0, soonest))
                for worker in busy:
                    self._hear(workers, worker, done)
        finally:
            for worker in workers:
                self._end(worker)

    def _late(self, worker: _Worker) -> Lost | None:
        """Why a worker is given up that has no answer yet; None while it may go on."""
        passed = time.monotonic() - worker.since
        if not self._by_processor:
            return Lost(f"not done after {self._limit:g} s", by_clock=True) if passed >= self._limit else None
        computed = _computed(worker.process.pid) - worker.computed
        if computed >= self._limit:
            return Lost(f"not done after {self._limit:g} s of processor time")
        if passed >= STARVED * self._limit:
            return Lost(f"not done after {passed:.0f} s, in which it computed for {computed:.0f} s", by_clock=True)
        return None

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
        else:
            answer = self._late(worker)
        if answer is None:
            return
        worker.job = None
        if isinstance(answer, Lost):
            self._end(worker)
            workers[workers.index(worker)] = self._start()
        done(job, answer)
