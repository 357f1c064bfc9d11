# SPDX-License-Identifier: Apache-2.0
"""The pytest plugin: options, fixtures, and which subject a run tests. What it loads besides collects and reports.

A check takes `loader` and `sandbox`, and `record` where several outcomes are acceptable:

    @requirement("DISC-LNX-013")
    def test_library_path_without_final_newline(loader, sandbox): ...
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from harness.errors import ClharnessError
from harness.probe.patience import ExpectedHangs
from harness.run import tested, torture
from harness.run.cases import CASE, COMMAND, Case
from harness.sandbox import Sandbox, Unsupported
from harness.subject import KINDS, Loader, Subject, search

pytest_plugins = ["harness.run.collection", "harness.run.results", "harness.run.session"]

# The part of the time limit for which an answer is waited for that is expected not to come.
EXPECTED_HANG_PART = 0.1
_MASK = 0o022


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("clharness")
    tested.add_options(group)
    torture.add_options(group)
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
    group.addoption("--clharness-verbose", action="store_true", help="report all cases, reasons and outcomes")
    group.addoption("--clharness-html", type=Path, metavar="DIR", help="write a page with every case into a folder")
    group.addoption("--clharness-sarif", type=Path, metavar="FILE", help="write red cases as SARIF 2.1.0")
    group.addoption("--clharness-junit", type=Path, metavar="FILE", help="write JUnit XML with requirements")


def pytest_configure(config: pytest.Config) -> None:
    if sys.flags.optimize:  # pytest keeps the assertions of checks, and none of what they call
        raise pytest.UsageError("Python runs without assertions: unset PYTHONOPTIMIZE, and leave out -O")
    with contextlib.suppress(ValueError):  # not the main thread
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # where it is ignored, nobody learns how a child ended
    if tested.is_named(config) or config.pluginmanager.has_plugin(COMMAND):
        try:
            tested.ask(config)  # a wrong path is said at once, not once for each case
        except ClharnessError as error:
            raise pytest.UsageError(str(error)) from None


# --- fixtures ---


@pytest.fixture
def loader(request: pytest.FixtureRequest) -> Loader:
    """The loader under test."""
    loader = tested.asked_loader(request.config)
    _limit(request, loader)
    return loader


def _limit(request: pytest.FixtureRequest, subject: Subject) -> None:
    """Sets how long answers of the subject are waited for in this case."""
    case: Case = request.node.stash[CASE]
    expected = tested.expectations(request.config).expected(case.requirements, case.name)
    subject.time_limit = tested.time_limit(request.config, subject)
    patterns: Sequence[str] = ()
    if expected.deviation and "hang" in expected.verdicts:
        patterns = expected.deviation.deviates or ("*",)
    subject.expected_hangs = ExpectedHangs(patterns, EXPECTED_HANG_PART * subject.default_time_limit)


@pytest.fixture
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """A machine of its own for this case, whose files are open to the ordinary users of the case: the caller's mask of
    files is for what the caller gets."""
    mask = os.umask(_MASK)
    try:
        sandbox = tested.new_sandbox(request.config)
        request.node.stash[CASE].sandbox = sandbox
        yield sandbox
        sandbox.close()
    finally:
        os.umask(mask)


def _fixture_for(kind: type[Subject]) -> Callable[..., Subject]:
    """The fixture by the name of a kind of subject, other than a loader."""

    @pytest.fixture(name=kind.identity.kind)
    def subject(request: pytest.FixtureRequest, sandbox: Sandbox) -> Subject:
        subject = tested.case_subject(request.config, sandbox)
        _limit(request, subject)
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
    if not loader.works:
        raise Unsupported("machine", f"{loader.path} does not list a correct vendor either")
    return loader


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "through" in metafunc.fixturenames:
        metafunc.parametrize("through", list(tested.through(metafunc.config)), indirect=True)
    if scenario := metafunc.definition.get_closest_marker(torture.SCENARIO):
        torture.parametrize(metafunc, scenario.args[0])


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
    if not torture.is_wanted(config, collection_path):
        return True
    if tested.for_windows() and collection_path.name.startswith("test_linux_"):
        return True  # about files, folders and libraries as only Linux has them
    return None if tested.has_checks_for(config, collection_path.parent) else True


def pytest_report_header(config: pytest.Config) -> list[str]:
    if subject := config.stash.get(tested.SUBJECT, None):
        return [f"{subject.word}: {subject.facts.name} {subject.facts.version} {subject.path}"]
    if search.system_loader() is None:
        none = f"there is no {search.SONAME} on this machine"
        return [f"loader: {none}: the suites test clharness's own reference loader"]
    return []
