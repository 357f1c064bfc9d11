# SPDX-License-Identifier: Apache-2.0
"""The records of a session of plain pytest, whose own loop runs the cases, here or in workers of pytest-xdist."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

import pytest

from harness.report import CaseResult, Header, judge
from harness.report.records import selection_of
from harness.report.reporter import Reporter
from harness.report.terminal import color_option
from harness.run import tested
from harness.run.cases import CASE
from harness.run.collection import COLLECTED, is_whole, is_worker, under_command
from harness.run.plan import ONCE, Plan
from harness.run.reproducers import Reproducers
from harness.run.results import PROPERTY
from harness.run.watched import Watched


class RunReport:
    """Takes the records of a run as they come; for a session of pytest and for the command alike."""

    def __init__(
        self, config: pytest.Config, terminal: TextIO | None, arguments: Sequence[str], plan: Plan = ONCE
    ) -> None:
        self._config = config
        self._plan = plan
        self._terminal = terminal
        self._arguments = arguments
        self._reporter: Reporter | None = None
        self._reproducers: Reproducers | None = None
        self._watched: Watched | None = None

    def start(
        self,
        selected: Sequence[str] | None,
        planned: int | None = None,
        json: Path | None = None,
        kept: Sequence[CaseResult] = (),
    ) -> None:
        """`selected` are the IDs of cases, and so many of them are `planned`: else all.

        `json` is where records go, unless an option names another file; `kept` are those of an earlier run. Where
        nothing was selected, because that was interrupted, the subject is not asked what it is.
        """
        config = self._config
        known = selected is not None or tested.is_known(config)
        file = config.getoption("--expect")
        self._reporter = Reporter(
            self._terminal,
            config.getoption("--clharness-json") or json,
            config.getoption("--clharness-junit"),
            expectations=tested.expectations(config) if known else None,
            strict=bool(config.getoption("--clharness-strict")),
            update=bool(config.getoption("--update-expectations")),
            update_path=Path(file) if file else None,
            sarif=config.getoption("--clharness-sarif"),
            html=config.getoption("--clharness-html"),
            verbose=bool(config.getoption("--clharness-verbose")),
            color=color_option(config.option.color),
        )
        header = tested.header(config, self._arguments) if known else Header(arguments=self._arguments)
        if known:
            self._watched = Watched(Path(tested.subject(config).facts.real_path))
        if selected is not None:
            planned = len(selected) if planned is None else planned
            header = dataclasses.replace(header, planned=planned, selection=selection_of(selected))
        header = self._plan.in_header(header)
        if known and (folder := config.getoption("--clharness-reproducers")):
            self._reproducers = Reproducers(folder, header.subject.facts)
        self._reporter.start(header, kept)
        for result in kept:
            self._collect(result)

    @property
    def started(self) -> bool:
        """Whether the header was written."""
        return self._reporter is not None

    def note(self, text: str) -> None:
        """A sentence for who reads the terminal."""
        assert self._reporter is not None
        self._reporter.note(text)

    def run(self, result: CaseResult, times: int) -> None:
        """One of several runs of a case."""
        assert self._reporter is not None
        self._reporter.run(result, times)

    def case(self, result: CaseResult) -> None:
        """Judges a case where several runs made it, and hands it to the reporter."""
        assert self._reporter is not None
        if result.runs:
            strict = bool(self._config.getoption("--clharness-strict"))
            result = judge(result, tested.expectations(self._config), strict)
        self._reporter.case(result)
        self._collect(result)

    def _collect(self, result: CaseResult) -> None:
        if self._reproducers:
            self._reproducers.add(result)

    def finish(self, interrupted: bool, stopped: bool = False) -> tuple[int, str | None]:
        """Gives the exit code (see `harness.errors.Exit`), and why the report could not be printed, if so.

        `stopped` says that the plan left cases out because of those that were not as expected.
        """
        assert self._reporter is not None
        if self._reproducers:
            self._reproducers.finish()
        option = self._config.option
        narrowed = bool(option.keyword or option.markexpr or getattr(option, "lf", False) or self._plan.is_part)
        whole = is_whole(self._config)  # another project's few checks leave most entries unused
        collected = self._config.stash.get(COLLECTED, None) if whole else None
        trouble = self._watched.trouble() if self._watched else ""
        code = self._reporter.finish(interrupted, whole and not narrowed, collected, stopped=stopped, trouble=trouble)
        return code, self._reporter.unprinted


class Session:
    """Hears of the cases of a session of pytest in the process that its results come to."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._report = RunReport(config, None, sys.argv)
        self._interrupted = False
        self._planned: list[str] = []  # IDs

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._planned = [item.nodeid for item in session.items if CASE in item.stash]

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        self._planned = [case for case in ids if case.startswith("suites/")]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for name, value in report.user_properties:
            if name == PROPERTY and isinstance(value, dict):
                self._case(CaseResult.from_json(value))
        if report.when == "???" and report.nodeid in self._planned:  # that is how pytest-xdist calls a lost worker
            self._case(self._lost(report))

    def _case(self, result: CaseResult) -> None:
        if not self._report.started:
            self._report.start(self._planned)
        self._report.case(result)

    def _lost(self, report: Any) -> CaseResult:
        number = self._planned.index(report.nodeid)
        result = CaseResult(report.nodeid, (), "error", message=str(report.longrepr), number=number)
        return judge(result, tested.expectations(self._config), False)

    def pytest_keyboard_interrupt(self) -> None:
        self._interrupted = True

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        if not self._report.started:
            return
        cut_short = self._interrupted or bool(session.shouldfail or session.shouldstop)
        code, _ = self._report.finish(cut_short or exitstatus == pytest.ExitCode.INTERRUPTED)
        if session.exitstatus == pytest.ExitCode.OK and code:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_sessionstart(session: pytest.Session) -> None:
    if not is_worker(session.config) and not under_command(session.config):
        session.config.pluginmanager.register(Session(session.config), "clharness-session")
