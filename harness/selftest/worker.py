# SPDX-License-Identifier: Apache-2.0
"""Runs single cases in a process of its own, against whichever fault is asked for, without pytest's reports.

The suites are collected once; workers are forked from the process that did, so that a fault costs no start of Python.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self

import pytest

from harness.errors import HarnessError
from harness.probe import stacks
from harness.run.cases import CASE, verdict_of
from harness.run.pool import Lost, Note, Pool, in_turn
from harness.selftest import programs
from harness.selftest.place import Place, place_of

VARIABLE = "CLHARNESS_FAULT"
RED = ("fail", "crash", "hang", "leak", "error", "changed")
PROGRAMS = ("fail", "crash", "hang", "leak")  # verdicts of cases that have a C program


@dataclass(frozen=True)
class Task:
    """Cases (by their number in the collection) to run against a fault, or without one."""

    fault: str | None
    cases: tuple[int, ...]
    until: Literal["red", "own", "end"] = "red"  # the first red case, the first that its own assertion makes red, none


@dataclass(frozen=True)
class Result:
    """What one case did."""

    case: int
    verdict: str  # as in reports; "changed" where it passed with another outcome than without fault
    outcome: str | None
    message: str
    seconds: float
    place: Place | None = None  # the assertion of the suites that failed
    program: str = ""  # what its C program shows (harness/selftest/programs.py), where that was tried

    @property
    def red(self) -> bool:
        """Whether the verdict is one that a mutant is caught by."""
        return self.verdict in RED

    @property
    def own(self) -> bool:
        """Whether the check itself found it: an assertion of its own, or an outcome that it records.

        A crash, a hang or a call that a helper could not do turn red whatever the check goes on to assert.
        """
        return self.place is not None or self.verdict == "changed"


@dataclass
class Usual:
    """What the cases do without fault: their outcomes and times, by number."""

    outcomes: Mapping[int, str | None] = field(default_factory=dict)
    seconds: Mapping[int, float] = field(default_factory=dict)

    def time_limit(self, case: int) -> float:
        """Seconds until a case counts as hung: little, because a fault may hang many of them."""
        return max(1.0, 10 * self.seconds[case]) if case in self.seconds else 5.0


class Runner:
    """Runs cases in this process."""

    def __init__(self, items: Sequence[pytest.Item], usual: Usual, tries_programs: bool = False) -> None:
        self.items = items
        self.usual = usual
        self.tries_programs = tries_programs

    def run(self, number: int) -> Result:
        """Runs one case, by its number, with the mutant that the environment names."""
        item = self.items[number]
        case = item.stash[CASE]
        case.sandbox, case.outcome = None, None
        item.config.option.time_limit = self.usual.time_limit(number)
        started = time.perf_counter()
        messages: list[str] = []

        def look(error: BaseException) -> None:
            if self.tries_programs and verdict_of(error)[0] in PROGRAMS:
                messages.append(programs.tried(case, error))

        error = protocol(item, look)
        verdict = str(verdict_of(error)[0])
        if verdict == "pass" and number in self.usual.outcomes and case.outcome != self.usual.outcomes[number]:
            verdict = "changed"
        case.sandbox = None  # with the exchange of its sessions: a worker runs thousands
        message = f"{case.outcome}" if verdict == "changed" else f"{type(error).__name__}: {error}" if error else ""
        place = place_of(error, item.config.rootpath) if verdict in ("fail", "leak") else None
        return Result(number, verdict, case.outcome, message[:500], time.perf_counter() - started, place, *messages)

    def run_task(self, task: Task) -> list[Result]:
        """Runs a task's cases, with its mutant, up to where the task says."""
        results: list[Result] = []
        if task.fault is None:
            os.environ.pop(VARIABLE, None)
        else:
            os.environ[VARIABLE] = task.fault
        for number in task.cases:
            result = self.run(number)
            results.append(result)
            if (task.until == "red" and result.red) or (task.until == "own" and result.own):
                break
        return results


def protocol(item: Any, look: Callable[[BaseException], None] = lambda error: None) -> BaseException | None:
    """Sets a case up, calls it, and takes it down; gives the first error. A case may be run any number of times.

    `look` is called with an error while the sandbox of the case is still there.
    """
    error: BaseException | None = None
    steps: list[Callable[[], object]] = [
        lambda: item.ihook.pytest_runtest_setup(item=item),
        lambda: item.ihook.pytest_runtest_call(item=item),
    ]
    if hasattr(item, "_initrequest"):
        item._initrequest()  # fixtures of an earlier run are gone
    try:
        for step in steps:
            step()
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as caught:  # pytest's own outcomes are not Exceptions
        error = caught
        look(error)
    try:
        item.ihook.pytest_runtest_teardown(item=item, nextitem=None)
    except Exception as caught:
        error = error or caught
    if hasattr(item, "_initrequest"):
        item._request, item.funcargs = False, None
    return error


class Workers:
    """Forked workers that run tasks. Use it as a context manager."""

    def __init__(self, runner: Runner, jobs: int) -> None:
        self._runner = runner
        self._pool: Pool[Task, list[Result]] = Pool(self._work, jobs)

    def _work(self, task: Task, _note: Note) -> list[Result]:
        stacks.readable = lambda *_: ""  # nobody reads them here, and they take long
        stacks.ask = lambda *_: 0
        return self._runner.run_task(task)

    def __enter__(self) -> Self:
        self._pool.__enter__()
        return self

    def __exit__(self, *end: Any) -> None:
        self._pool.__exit__(*end)

    def run(self, tasks: Iterator[Task], done: Callable[[Task, list[Result]], None]) -> None:
        """Hands tasks out one by one, so that what is found may decide what comes next."""

        def take(task: Task, answer: list[Result] | Lost) -> None:
            if isinstance(answer, Lost):
                first = self._runner.items[task.cases[0]].nodeid
                how = f"a worker {answer.how}; it began with {first} against {task.fault}"
                raise HarnessError(f"{how}\n{answer.last_output}")
            done(task, answer)

        self._pool.run(in_turn(tasks), take)
