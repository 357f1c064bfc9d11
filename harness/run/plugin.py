"""The pytest plugin: options, fixtures, the lint at collection, and one record for each case.

A check takes `loader` and `sandbox`, and `record` where several outcomes are acceptable:

    @requirement("DISC-LNX-013")
    def test_library_path_without_final_newline(loader, sandbox): ...
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import expectations
from harness.build import ROOT
from harness.errors import ClharnessError, UsageError
from harness.report import CaseResult, Reporter, channel, judge
from harness.run import tested
from harness.run.cases import Case, result_of
from harness.run.lint import lint, lint_whole
from harness.run.reproducers import Reproducers
from harness.sandbox import Sandbox
from harness.selftest.mutants.loader import mutants
from harness.subject import KINDS, Loader, Subject

# How long a case that is expected to hang is waited for: it would cost the whole limit each time it behaves as ever.
EXPECTED_HANG_LIMIT = 0.5

CASE = pytest.StashKey[Case]()
REPORT = pytest.StashKey[object]()
DISORDER = pytest.StashKey[str]()  # what the lint of a worker found


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("clharness")
    tested.add_options(group)
    group.addoption(
        "--expect", metavar="FILE", help="expectation file (default: found by the loader's name and version)"
    )
    group.addoption("--clharness-strict", action="store_true", help="should and de-facto requirements count, too")
    group.addoption("--time-limit", type=float, metavar="S", help="seconds until a case counts as hung (default 5)")
    group.addoption("--update-expectations", action="store_true", help="rewrite the expectation file to what happened")
    group.addoption("--keep", action="store_true", help="keep the sandbox of every case, not only of those that count")
    group.addoption("--clharness-json", type=Path, metavar="FILE", help="write records as JSON Lines")
    group.addoption("--clharness-reproducers", type=Path, metavar="DIR", help="copy programs of failed cases there")
    group.addoption("--clharness-part", action="store_true", help="say nothing of what nothing in the suites uses")
    group.addoption("--clharness-junit", type=Path, metavar="FILE", help="write JUnit XML with requirements")


def _is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")


def pytest_configure(config: pytest.Config) -> None:
    if tested.is_named(config) or channel.under_command():
        try:
            tested.ask(config)  # a wrong path is said at once, not once for each case
        except ClharnessError as error:
            raise pytest.UsageError(str(error)) from None


# --- fixtures ---


@pytest.fixture
def loader(request: pytest.FixtureRequest) -> Loader:
    """The loader under test."""
    loader = tested.asked_loader(request.config)
    case: Case = request.node.stash[CASE]
    expected = tested.expectations(request.config).expected(case.requirements, case.name)
    limit = tested.time_limit(request.config, loader)
    loader.time_limit = min(limit, EXPECTED_HANG_LIMIT) if "hang" in expected.verdicts else limit
    return loader


@pytest.fixture
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """A machine of its own for this case."""
    sandbox = Sandbox(tested.loader_of(request.config).path)
    request.node.stash[CASE].sandbox = sandbox
    yield sandbox
    sandbox.close()


def _fixture_for(kind: type[Subject]) -> Callable[..., Subject]:
    """The fixture by the name of a kind of subject, other than a loader."""

    @pytest.fixture(name=kind.identity.kind)
    def subject(request: pytest.FixtureRequest, sandbox: Sandbox) -> Subject:
        subject = tested.case_subject(request.config, sandbox)
        if not tested.seeded(request.config):  # such a one is another one in each case, and takes no time to open
            for mark in request.node.iter_markers("extension"):
                subject.require(*mark.args)
        return subject

    return subject


# pytest finds fixtures among the names of this module.
globals().update({f"fixture_{name}": _fixture_for(kind) for name, kind in KINDS.items() if kind is not Loader})


@pytest.fixture
def through(request: pytest.FixtureRequest) -> Loader:
    """A loader that the subject is used with; a case for each of them."""
    loader = tested.through(request.config)[request.param]
    loader.ask()
    loader.time_limit = tested.time_limit(request.config, loader)
    return loader


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "through" in metafunc.fixturenames:
        metafunc.parametrize("through", list(tested.through(metafunc.config)), indirect=True)


@pytest.fixture
def record(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Records which of several acceptable outcomes the loader shows: record("ignored")."""
    case: Case = request.node.stash[CASE]

    def set_outcome(outcome: str) -> None:
        case.outcome = outcome

    return set_outcome


# --- collection ---


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Checks of different kinds of subjects are never in one run."""
    if not collection_path.is_relative_to(config.rootpath / "suites") or not collection_path.name.endswith(".py"):
        return None
    return None if tested.has_checks_for(config, collection_path.parent) else True


def pytest_itemcollected(item: pytest.Item) -> None:
    parts = item.path.relative_to(item.config.rootpath).parts if item.path.is_relative_to(item.config.rootpath) else ()
    if len(parts) > 2 and parts[0] == "suites":
        item.add_marker(getattr(pytest.mark, parts[1]))
        ids = tuple(str(i) for mark in item.iter_markers("requirement") for i in mark.args)
        sentence = getattr(getattr(item, "function", None), "__doc__", None) or ""
        function = getattr(item, "function", None)
        nothing = any("empty parameter set" in str(m.kwargs.get("reason")) for m in item.iter_markers("skip"))
        item.stash[CASE] = Case(item.nodeid, ids, parts[1], " ".join(sentence.split()), function, nothing)


def _whole_folders(config: pytest.Config) -> bool:
    """Whether this is a run of this project's own suites that names neither files nor cases."""
    single = any("::" in argument or argument.endswith(".py") for argument in config.args)
    return config.rootpath == ROOT and not single and not config.option.ignore and not config.option.clharness_part


def _of_all_suites(config: pytest.Config) -> bool:
    return _whole_folders(config) and tested.is_loader(config) and not channel.under_command()  # users need not care


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    cases = [item.stash[CASE] for item in items if CASE in item.stash]
    problems = lint(cases)
    if cases and _of_all_suites(config):
        problems += lint_whole(cases, ROOT, expectations.known(), mutants().by_name)
    if not problems:
        return
    said = "the suites are not in order:\n" + "\n".join(problems)
    if not _is_worker(config):
        raise pytest.UsageError(said)
    config.workeroutput["clharness"] = said  # type: ignore[attr-defined] # of pytest-xdist; says it in one place
    items.clear()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """A worker of pytest-xdist ended: what it could not say itself."""
    if said := getattr(node, "workeroutput", {}).get("clharness"):
        node.config.stash[DISORDER] = said


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if DISORDER in session.config.stash:
        session.exitstatus = pytest.ExitCode.USAGE_ERROR


def pytest_unconfigure(config: pytest.Config) -> None:
    if said := config.stash.get(DISORDER, None):
        print(f"ERROR: {said}", file=sys.stderr)


def pytest_collection_finish(session: pytest.Session) -> None:
    suites = [item for item in session.items if CASE in item.stash]
    if suites and not session.config.option.collectonly:
        try:
            tested.ask(session.config)
        except UsageError as error:
            raise pytest.UsageError(str(error)) from None


# --- results ---


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
    outcome = yield
    report: pytest.TestReport = outcome.get_result()
    case = item.stash.get(CASE, None)
    if case is None or (call.when != "call" and call.excinfo is None):
        return
    keep = bool(item.config.getoption("--keep"))
    result = result_of(
        case,
        call,
        tested.expectations(item.config),
        bool(item.config.getoption("--clharness-strict")),
        tested.option(item.config),
        keep,
        bool(item.config.getoption("--clharness-reproducers")),
    )
    case.reported = True
    report.user_properties.append(("clharness", result.to_json()))
    _shown(report, result)


def _shown(report: pytest.TestReport, result: CaseResult) -> None:
    """Makes pytest's own view of the case agree with the verdict's status."""
    vars(report).pop("wasxfail", None)
    if result.counts:
        report.outcome = "failed"
        if not report.longrepr or isinstance(report.longrepr, tuple):
            report.longrepr = f"{result.status}: {result.verdict} {result.outcome or ''} {result.message}"
    elif result.verdict == "pass":
        report.outcome, report.longrepr = "passed", None
    elif result.verdict == "unsupported":
        report.outcome = "skipped"
        report.longrepr = (str(report.location[0]), report.location[1] or 0, f"Skipped: {result.reason}")
    else:
        report.outcome = "skipped"
        vars(report)["wasxfail"] = f"{result.status} {result.verdict}: {result.reason or result.strength}"


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
            expected = tested.expectations(config)
            asked = config.getoption("--expect")
            self.reporter = Reporter(
                channel.open_terminal() if channel.under_command() else None,
                config.getoption("--clharness-json"),
                config.getoption("--clharness-junit"),
                expectations=expected,
                strict=bool(config.getoption("--clharness-strict")),
                update=bool(config.getoption("--update-expectations")),
                update_path=Path(asked) if asked else None,
                color={"yes": "always", "no": "never"}.get(config.option.color, "auto"),  # type: ignore[arg-type]
            )
            if folder := config.getoption("--clharness-reproducers"):
                self.reproducers = Reproducers(folder, tested.subject(config).facts.as_dict())
            self.reporter.start(tested.header(config, channel.command_line()))
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
        whole = not narrowed and _whole_folders(config)  # another project's few checks leave most entries unused
        code = self.reporter.finish(self.interrupted or exitstatus == pytest.ExitCode.INTERRUPTED, whole)
        if session.exitstatus == pytest.ExitCode.OK and code:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_sessionstart(session: pytest.Session) -> None:
    if not _is_worker(session.config) and REPORT not in session.config.stash:
        report = RunReport(session.config)
        session.config.stash[REPORT] = report
        session.config.pluginmanager.register(report, "clharness-report")


def pytest_report_header(config: pytest.Config) -> list[str]:
    subject = config.stash.get(tested.SUBJECT, None)
    return [f"{subject.word}: {subject.facts.name} {subject.facts.version} {subject.path}"] if subject else []
