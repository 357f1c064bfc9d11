"""The pytest plugin: options, fixtures, and which subject a run tests. What it loads besides collects and reports.

A check takes `loader` and `sandbox`, and `record` where several outcomes are acceptable:

    @requirement("DISC-LNX-013")
    def test_library_path_without_final_newline(loader, sandbox): ...
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness import expectations
from harness.api.model import api
from harness.build import build
from harness.check.icd.advertised import require as require_extension
from harness.check.layer import manners
from harness.errors import ClharnessError, UsageError
from harness.expectations.update import refuse_unasked
from harness.run.cases import CASE, COMMAND, Case
from harness.sandbox import Sandbox
from harness.selftest.mutants.icd import seeded_icd
from harness.selftest.mutants.layer import seeded_layer
from harness.subject import capabilities, search
from harness.subject.icd import ICD_TIME_LIMIT, Icd
from harness.subject.icd import ask as ask_icd
from harness.subject.layer import Layer, ask
from harness.subject.loader import DEFAULT_TIME_LIMIT, Loader

pytest_plugins = ["harness.run.collection", "harness.run.results", "harness.run.session"]

# How long a case that is expected to hang is waited for: it would cost the whole limit each time it behaves as ever.
EXPECTED_HANG_LIMIT = 0.5

LOADER = pytest.StashKey[Loader]()
LAYER = pytest.StashKey[Layer]()
ICD = pytest.StashKey[Icd]()
THROUGH = pytest.StashKey[dict[str, Loader]]()  # the loaders that a layer or an ICD is tested with
EXPECTATIONS = pytest.StashKey[expectations.Expectations]()
CHECKS_OF = {
    "layer": "layer",
    "icd": "icd",
}  # folder within a suite: the kind of subject that its checks are for; else loaders


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


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--loader") or not for_loaders(config) or config.pluginmanager.has_plugin(COMMAND):
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
        if config.getoption("--update-expectations"):
            refuse_unasked(config.stash[EXPECTATIONS], facts.as_dict(), Path(asked) if asked else None)
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


def pytest_report_header(config: pytest.Config) -> list[str]:
    found = config.stash.get(LOADER, None)
    return [f"loader: {found} {found.path}"] if found else []
