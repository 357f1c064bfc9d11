"""The pytest plugin: options, fixtures, the lint at collection, and one record for each case.

A check takes `loader` and `sandbox`, and `record` where several outcomes are acceptable:

    @requirement("DISC-LNX-013")
    def test_library_path_without_final_newline(loader, sandbox): ...
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import expectations
from harness.api.model import api
from harness.build import ROOT, build
from harness.check.icd.advertised import require as require_extension
from harness.check.layer import manners
from harness.errors import ClharnessError, UsageError
from harness.report import CaseResult, Header, Reporter, channel, judge
from harness.run.cases import Case, result_of
from harness.run.lint import lint, lint_whole
from harness.run.reproducers import Reproducers
from harness.sandbox import Sandbox
from harness.selftest.mutants.icd import seeded_icd
from harness.selftest.mutants.layer import seeded_layer
from harness.selftest.mutants.loader import mutants
from harness.subject import capabilities, search
from harness.subject.icd import ICD_TIME_LIMIT, Icd
from harness.subject.icd import ask as ask_icd
from harness.subject.layer import Layer, ask
from harness.subject.loader import DEFAULT_TIME_LIMIT, Loader

# How long a case that is expected to hang is waited for: it would cost the whole limit each time it behaves as ever.
EXPECTED_HANG_LIMIT = 0.5

LOADER = pytest.StashKey[Loader]()
LAYER = pytest.StashKey[Layer]()
ICD = pytest.StashKey[Icd]()
THROUGH = pytest.StashKey[dict[str, Loader]]()  # the loaders that a layer or an ICD is tested with
EXPECTATIONS = pytest.StashKey[expectations.Expectations]()
CASE = pytest.StashKey[Case]()
CHECKS_OF = {
    "layer": "layer",
    "icd": "icd",
}  # folder within a suite: the kind of subject that its checks are for; else loaders
REPORT = pytest.StashKey[object]()
DISORDER = pytest.StashKey[str]()  # what the lint of a worker found


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("clharness")
    group.addoption("--loader", metavar="PATH", help="OpenCL loader to test (default: the system's libOpenCL.so.1)")
    group.addoption("--layer", metavar="PATH", help="OpenCL layer to test, in the place of a loader")
    group.addoption("--through", metavar="PATH", action="append", help="a further loader to test the layer with")
    group.addoption("--changes", metavar="FUNCTION", action="append", help="what the layer changes on purpose, or all")
    group.addoption("--clharness-seeded-layer", action="store_true", help="test mock layers, with $CLHARNESS_FAULT")
    group.addoption("--icd", metavar="PATH", help="library of a vendor's ICD to test, in the place of a loader")
    group.addoption("--icd-env", metavar="NAME=VALUE", action="append", help="a variable that the ICD needs")
    group.addoption("--clharness-seeded-icd", action="store_true", help="test mock ICDs, with $CLHARNESS_FAULT")
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
    if config.getoption("--loader") or not for_loaders(config) or channel.under_command():
        try:
            _loader(config)  # a wrong path is said at once, not once for each case
        except ClharnessError as error:
            raise pytest.UsageError(str(error)) from None


def for_layers(config: pytest.Config) -> bool:
    """Whether this run tests a layer: then the loaders are what it is tested with."""
    return bool(config.getoption("--layer") or config.getoption("--clharness-seeded-layer"))


def for_icds(config: pytest.Config) -> bool:
    """Whether this run tests a vendor's ICD."""
    return bool(config.getoption("--icd") or config.getoption("--clharness-seeded-icd"))


def for_loaders(config: pytest.Config) -> bool:
    return not for_layers(config) and not for_icds(config)


def _asked(path: Path, config: pytest.Config) -> Loader:
    """A loader, asked for its capabilities."""
    loader = Loader(path, config.getoption("--time-limit") or DEFAULT_TIME_LIMIT)
    capabilities.detect(loader)
    return loader


def _layer(config: pytest.Config) -> Layer | None:
    """The layer of this process, asked for its name and its manners once."""
    if LAYER not in config.stash and config.getoption("--layer"):
        changes = [name for text in config.getoption("--changes") or () for name in text.split(",")]
        unknown = [name for name in changes if name not in api().functions and name not in ("all", "invalid")]
        if unknown:
            raise UsageError(f"--changes {unknown[0]}: is no function of OpenCL; give its name, `all` or `invalid`")
        layer = Layer(Path(config.getoption("--layer")), frozenset(changes))
        layer.time_limit = config.getoption("--time-limit") or DEFAULT_TIME_LIMIT
        config.stash[LAYER] = layer
        ask(layer)
        manners.find_out(layer, _loader(config))
    return config.stash.get(LAYER, None)


def _icd(config: pytest.Config) -> Icd | None:
    """The ICD of this process, asked for its name once."""
    if ICD not in config.stash and config.getoption("--icd"):
        variables = dict(text.split("=", 1) for text in config.getoption("--icd-env") or ())
        icd = Icd(Path(config.getoption("--icd")), variables)
        icd.time_limit = config.getoption("--time-limit") or ICD_TIME_LIMIT
        icd.share_compiled()
        ask_icd(icd)
        config.stash[ICD] = icd
    return config.stash.get(ICD, None)


def _expectations_folder(config: pytest.Config) -> Path:
    if for_layers(config):
        return expectations.LAYERS
    return expectations.ICDS if for_icds(config) else expectations.FOLDER


def _loader(config: pytest.Config) -> Loader:
    """The loader of this process: the one under test, or the first one that a layer or an ICD is tested with."""
    if LOADER not in config.stash:
        asked = config.getoption("--loader")
        path = build().reference_loader if not for_loaders(config) and not asked else search.loader_path(asked)
        loader = _asked(path, config)
        config.stash[LOADER] = loader
        tested = _layer(config) or _icd(config) or loader
        facts = tested.facts
        asked = config.getoption("--expect")
        version = facts.version or None
        if asked and Path(asked).exists():
            config.stash[EXPECTATIONS] = expectations.load(Path(asked), version)
        elif asked:
            config.stash[EXPECTATIONS] = expectations.Expectations()
        else:
            config.stash[EXPECTATIONS] = expectations.find(facts.name, version, _expectations_folder(config))
    return config.stash[LOADER]


def _subject(config: pytest.Config) -> str:
    """The option that names what this run tests."""
    layer, icd = _layer(config), _icd(config)
    tested, option = (layer.path, "--layer") if layer else (_loader(config).path, "--loader")
    if icd:
        tested, option = icd.path, "--icd"
    return f"{option} {shlex.quote(str(tested))}"


def _through(config: pytest.Config) -> dict[str, Loader]:
    """The loaders that a layer or an ICD is tested with, by the names that cases have."""
    if THROUGH not in config.stash:
        found = {"reference" if not config.getoption("--loader") else "loader": _loader(config)}
        for path in config.getoption("--through") or ():
            loader = _asked(Path(path), config)
            name = loader.facts.name.split()[0] if loader.facts.name != "unknown" else Path(path).name
            found[name if name not in found else f"{name}-{len(found)}"] = loader
        config.stash[THROUGH] = found
    return config.stash[THROUGH]


# --- fixtures ---


@pytest.fixture
def loader(request: pytest.FixtureRequest) -> Loader:
    """The loader under test."""
    found = _loader(request.config)
    case: Case = request.node.stash[CASE]
    expected = request.config.stash[EXPECTATIONS].expected(case.requirements, case.name)
    limit = request.config.getoption("--time-limit") or DEFAULT_TIME_LIMIT
    found.time_limit = min(limit, EXPECTED_HANG_LIMIT) if "hang" in expected.verdicts else limit
    return found


@pytest.fixture
def sandbox(request: pytest.FixtureRequest, loader: Loader) -> Iterator[Sandbox]:
    """A machine of its own for this case."""
    made = Sandbox(loader.path)
    request.node.stash[CASE].sandbox = made
    yield made
    made.close()


@pytest.fixture
def layer(request: pytest.FixtureRequest, sandbox: Sandbox) -> Layer:
    """The layer under test."""
    found = _layer(request.config) or seeded_layer(sandbox)
    found.time_limit = request.config.getoption("--time-limit") or DEFAULT_TIME_LIMIT
    return found


@pytest.fixture
def icd(request: pytest.FixtureRequest, sandbox: Sandbox) -> Icd:
    """The vendor's ICD under test."""
    asked = _icd(request.config)
    found = asked or seeded_icd(sandbox)
    found.time_limit = request.config.getoption("--time-limit") or ICD_TIME_LIMIT
    if asked:  # a seeded one is another one in each case, and takes no time to open
        for mark in request.node.iter_markers("extension"):
            require_extension(asked, *mark.args)
    return found


@pytest.fixture
def through(request: pytest.FixtureRequest) -> Loader:
    """A loader that the layer or ICD under test is used with; a case for each of them."""
    found = _through(request.config)[request.param]
    found.time_limit = request.config.getoption("--time-limit") or DEFAULT_TIME_LIMIT
    return found


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "through" in metafunc.fixturenames:
        metafunc.parametrize("through", list(_through(metafunc.config)), indirect=True)


@pytest.fixture
def record(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Records which of several acceptable outcomes the loader shows: record("ignored")."""
    case: Case = request.node.stash[CASE]

    def set_outcome(outcome: str) -> None:
        case.outcome = outcome

    return set_outcome


# --- collection ---


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Checks of a layer, of an ICD and of a loader are never in one run."""
    if not collection_path.is_relative_to(config.rootpath / "suites") or not collection_path.name.endswith(".py"):
        return None
    kind = CHECKS_OF.get(collection_path.parent.name, "loader")
    return None if {"loader": for_loaders, "layer": for_layers, "icd": for_icds}[kind](config) else True


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
    return _whole_folders(config) and for_loaders(config) and not channel.under_command()  # users need not care


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
            _loader(session.config)
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
    _loader(item.config)
    keep = bool(item.config.getoption("--keep"))
    result = result_of(
        case,
        call,
        item.config.stash[EXPECTATIONS],
        bool(item.config.getoption("--clharness-strict")),
        _subject(item.config),
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
            found = _loader(config)
            expected = config.stash[EXPECTATIONS]
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
            path = str(expected.path) if expected.path else None
            layer, icd = _layer(config), _icd(config)
            known = layer.facts.as_dict() if layer else None
            vendor = icd.facts.as_dict() if icd else None
            if vendor and (folder := config.getoption("--clharness-reproducers")):
                self.reproducers = Reproducers(folder, vendor)
            self.reporter.start(Header(found.facts.as_dict(), path, channel.command_line(), layer=known, icd=vendor))
        return self.reporter

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for name, value in report.user_properties:
            if name == "clharness" and isinstance(value, dict):
                result = CaseResult.from_json(value)
                reporter = self.start()
                strict = bool(self.config.getoption("--clharness-strict"))
                result = judge(result, self.config.stash[EXPECTATIONS], strict)
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
    found = config.stash.get(LOADER, None)
    return [f"loader: {found} {found.path}"] if found else []
