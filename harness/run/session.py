"""The records of a session of pytest: drives the Reporter in the process that the results come to."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.report import CaseResult, Reporter, channel, judge
from harness.run import tested
from harness.run.collection import is_whole, is_worker
from harness.run.reproducers import Reproducers

REPORT = pytest.StashKey[object]()


class RunReport:
    """Drives the Reporter in the controlling process."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.reporter: Reporter | None = None
        self.interrupted = False
        self.reproducers: Reproducers | None = None

    def start(self) -> Reporter:
        if self.reporter is None:
            config = self.config
            asked = config.getoption("--expect")
            self.reporter = Reporter(
                channel.open_terminal() if channel.under_command() else None,
                config.getoption("--clharness-json"),
                config.getoption("--clharness-junit"),
                expectations=tested.expectations(config),
                strict=bool(config.getoption("--clharness-strict")),
                update=bool(config.getoption("--update-expectations")),
                update_path=Path(asked) if asked else None,
                color={"yes": "always", "no": "never"}.get(config.option.color, "auto"),  # type: ignore[arg-type]
            )
            header = tested.header(config, channel.command_line())
            if header.icd and (folder := config.getoption("--clharness-reproducers")):
                self.reproducers = Reproducers(folder, header.icd)
            self.reporter.start(header)
        return self.reporter

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for name, value in report.user_properties:
            if name == "clharness" and isinstance(value, dict):
                result = CaseResult.from_json(value)
                reporter = self.start()
                strict = bool(self.config.getoption("--clharness-strict"))
                result = judge(result, tested.expectations(self.config), strict)
                reporter.case(result)
                if self.reproducers:
                    self.reproducers.add(result)

    def pytest_keyboard_interrupt(self) -> None:
        self.interrupted = True

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        if self.reporter is None:
            return
        if self.reproducers:
            self.reproducers.finish()
        config = self.config
        narrowed = bool(config.option.keyword or config.option.markexpr or getattr(config.option, "lf", False))
        whole = not narrowed and is_whole(config)  # another project's few checks leave most entries unused
        code = self.reporter.finish(self.interrupted or exitstatus == pytest.ExitCode.INTERRUPTED, whole)
        if session.exitstatus == pytest.ExitCode.OK and code:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_sessionstart(session: pytest.Session) -> None:
    if not is_worker(session.config) and REPORT not in session.config.stash:
        report = RunReport(session.config)
        session.config.stash[REPORT] = report
        session.config.pluginmanager.register(report, "clharness-report")
