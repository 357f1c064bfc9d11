# SPDX-License-Identifier: Apache-2.0
"""The loop of a run of the clharness command, instead of pytest's own: hands cases to workers, takes records.

Each case that was collected gets one record, which is written when it comes: from the worker that ran the case, or made
here where that worker was lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TextIO

import pytest

from harness.errors import ClharnessError
from harness.report import CaseResult
from harness.run import failures, resume, tested
from harness.run import lost as losses
from harness.run.cases import CASE, COMMAND, Case
from harness.run.interrupts import Interrupts
from harness.run.plan import Plan, Rounds
from harness.run.pool import Lost, Pool
from harness.run.session import RunReport
from harness.run.worker import CaseWorker

# The time that a case may take whatever it does. Far above what the probe gives one answer of a subject, and a session:
# only what stops the worker itself, or a machine that has no time for anything, comes near to it.
LEAST_LIMIT = 600.0
LIMIT_FACTOR = 80


class Loop:
    """A plugin of pytest. `code` is the run's exit code, once it has come to its report."""

    __name__ = COMMAND  # pytest registers it by this name

    def __init__(
        self,
        terminal: TextIO,
        arguments: Sequence[str],
        jobs: int,
        interrupts: Interrupts,
        plan: Plan,
    ) -> None:
        self._terminal = terminal
        self._arguments = arguments
        self._jobs = jobs
        self._interrupts = interrupts
        self._plan = plan
        self._rounds = Rounds(plan, ())
        # What is wrong with the file of an earlier run is said before anything else is done.
        self._resumed = resume.earlier(plan.resumed) if plan.resumed else None
        self._rerun = resume.red(plan.rerun) if plan.rerun else None
        self._report: RunReport | None = None
        self._config: pytest.Config | None = None
        self._ended_for_memory = 0
        self.code: int | None = None
        self.unprinted: str | None = None
        self.error: ClharnessError | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        self._config = config

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        self._interrupts.raises = False
        if session.testsfailed:
            return None  # to collect: pytest says why
        items = [item for item in session.items if CASE in item.stash]
        if items:
            try:
                self._run(session.config, items)
            except ClharnessError as error:
                self.error = error
        return True

    def _run(self, config: pytest.Config, items: Sequence[pytest.Item]) -> None:
        self._report = RunReport(config, self._terminal, self._arguments, self._plan)
        cases = [item.nodeid for item in items]
        header = tested.header(config, self._arguments)
        kept: list[CaseResult] = []
        numbers = self._plan.part(cases)
        earlier: dict[int, CaseResult] = {}
        if self._rerun:
            again = resume.failed(self._rerun)
            numbers = [number for number in numbers if cases[number] in again]
            if resume.is_of_same_subject(self._rerun, header):
                earlier = {number: again[cases[number]] for number in numbers}
        if self._resumed:
            header = self._plan.in_header(header)
            kept = resume.kept(self._resumed, header, {cases[number] for number in numbers})
        failures.place(config, sweeps=not kept)  # of all workers
        self._report.start(cases, len(numbers), self._plan.resumed, kept)
        if self._rerun and not earlier:
            self._report.note(f"{self._rerun.path} is of another build: what its cases did there is not compared")
        done = {result.case for result in kept}
        todo = [number for number in numbers if cases[number] not in done]
        self._rounds = Rounds(self._plan, todo, lambda number: cases[number].partition("::")[0], earlier)
        if todo:
            self._ended_for_memory = losses.killed_for_memory()
            limit = max(LEAST_LIMIT, LIMIT_FACTOR * tested.time_limit(config))
            jobs = min(self._jobs, len(todo))

            def take(number: int, answer: dict[str, Any] | Lost) -> None:
                self._take(number, self._record(config, items[number].stash[CASE], answer))

            with Pool(CaseWorker(items), jobs, limit, self._interrupts) as pool:
                pool.run(self._rounds.next_for, take)

    @property
    def _cut_short(self) -> bool:
        """Whether the plan left cases out because of those that were not as expected."""
        return self._rounds.stopped and not self._rounds.is_whole

    def _take(self, number: int, result: CaseResult) -> None:
        """Hands on what a run of a case came to, and its record where that was the last one."""
        assert self._report is not None
        times = self._rounds.take(number, result)
        if self._plan.several:
            self._report.run(result, times)
        if self._rounds.is_over(number):
            self._report.case(self._rounds.result(number))

    def _record(self, config: pytest.Config, case: Case, answer: dict[str, Any] | Lost) -> CaseResult:
        if not isinstance(answer, Lost):
            return CaseResult.from_json(answer)
        before, self._ended_for_memory = self._ended_for_memory, losses.killed_for_memory()
        result = losses.result_of(
            case,
            answer,
            self._ended_for_memory > before,
            tested.expectations(config),
            bool(config.getoption("--clharness-strict")),
            tested.option(config),
        )
        losses.remove_sandbox(answer.note)
        return result

    def finish(self) -> None:
        """Reports what ran. After an interrupt there is a report even where no case had been collected."""
        self._interrupts.raises = False
        if self.error:
            return
        if self._interrupts.happened and self._config and not (self._report and self._report.started):
            self._report = RunReport(self._config, self._terminal, self._arguments, self._plan)
            self._report.start(None)
        if self._report and self._report.started:
            for number in self._rounds.ended():
                self._report.case(self._rounds.result(number))
            self.code, self.unprinted = self._report.finish(self._interrupts.happened, self._cut_short)
