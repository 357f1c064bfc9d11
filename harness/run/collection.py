# SPDX-License-Identifier: Apache-2.0
"""Collecting: which items are cases of the suites, and the lint of what was collected."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from harness.build import ROOT, build
from harness.errors import ClharnessError, NotBuilt, UsageError
from harness.run import tested
from harness.run.cases import CASE, COMMAND, Case
from harness.run.index import INDEX, Index, index_of

COLLECTED = pytest.StashKey[list[tuple[tuple[str, ...], str]]]()  # requirements and name of each case that there is
LINT_MESSAGE = pytest.StashKey[str]()  # what the lint of a worker says


def is_worker(config: pytest.Config) -> bool:
    """Whether this process is a worker of pytest-xdist."""
    return hasattr(config, "workerinput")


def under_command(config: pytest.Config) -> bool:
    """Whether the clharness command runs this session, and reports what comes of it."""
    return bool(config.pluginmanager.has_plugin(COMMAND))


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """The suites can only be read with a build, and of files without a selected case nothing is read."""
    suites = session.config.rootpath / "suites"
    paths = [Path(session.config.invocation_params.dir, name.partition("::")[0]) for name in session.config.args]
    if any(path.is_relative_to(suites) or suites.is_relative_to(path) for path in paths):
        try:
            build()
        except UsageError as error:
            raise pytest.UsageError(str(error)) from None
    try:
        if (index := index_of(session.config)) is not None:
            session.config.stash[INDEX] = index
    except ClharnessError as error:
        raise pytest.UsageError(str(error)) from None


def pytest_exception_interact(call: pytest.CallInfo[Any]) -> None:
    """A test of the project itself that needs a build as soon as it is read."""
    if call.when == "collect" and call.excinfo and call.excinfo.errisinstance(NotBuilt):
        pytest.exit(str(call.excinfo.value), pytest.ExitCode.USAGE_ERROR)


def pytest_itemcollected(item: pytest.Item) -> None:
    parts = item.path.relative_to(item.config.rootpath).parts if item.path.is_relative_to(item.config.rootpath) else ()
    if len(parts) > 2 and parts[0] == "suites":
        item.add_marker(getattr(pytest.mark, parts[1]))
        ids = tuple(str(i) for mark in item.iter_markers("requirement") for i in mark.args)
        sentence = getattr(getattr(item, "function", None), "__doc__", None) or ""
        function = getattr(item, "function", None)
        nothing = any("empty parameter set" in str(m.kwargs.get("reason")) for m in item.iter_markers("skip"))
        item.stash[CASE] = Case(item.nodeid, ids, parts[1], " ".join(sentence.split()), function, nothing)


def is_whole(config: pytest.Config) -> bool:
    """Whether this is a run of this project's own suites that names neither files nor cases."""
    single = any("::" in argument or argument.endswith(".py") for argument in config.args)
    return config.rootpath == ROOT and not single and not config.option.ignore and not config.option.clharness_part


def _of_all_suites(config: pytest.Config) -> bool:
    return is_whole(config) and tested.is_loader(config) and not under_command(config)  # users need not care


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Files without a selected case are not read."""
    index = config.stash.get(INDEX, None)
    return True if index and collection_path.suffix == ".py" and index.leaves_out(collection_path) else None


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector: Any, name: str, obj: object) -> list[pytest.Item] | None:
    """Functions without one have no cases."""
    index = collector.config.stash.get(INDEX, None)
    in_module = isinstance(collector, pytest.Module) and callable(obj)
    return [] if index and in_module and index.leaves_out_function(collector.path, name) else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    index = config.stash.get(INDEX, None)
    cases = [item.stash[CASE] for item in items if CASE in item.stash]
    others = list(index.not_collected()) if index else []
    config.stash[COLLECTED] = [(case.requirements, case.name) for case in (*cases, *others)]
    problems = _problems(config, items, [*cases, *others], index)
    if not problems:
        if index:
            index.update(items, bool(cases) and _of_all_suites(config))
        return
    message = "the suites are not in order:\n" + "\n".join(problems)
    if not is_worker(config):
        raise pytest.UsageError(message)
    config.workeroutput["clharness"] = message  # type: ignore[attr-defined] # of pytest-xdist; says it in one place
    items.clear()


def _problems(
    config: pytest.Config, items: Sequence[pytest.Item], all_cases: Sequence[Case], index: Index | None
) -> list[str]:
    """What the lint says of the items, and of `all_cases`. What it passed and has not changed is not read again."""
    suspects = [item for item in items if CASE in item.stash and not (index and index.passed_lint(item.path))]
    problems: list[str] = []
    if suspects:
        from harness.run.lint import lint  # only here and below: it reads much, which most runs do not need

        problems += lint([item.stash[CASE] for item in suspects])
    if all_cases and _of_all_suites(config) and not (index and index.is_unchanged):
        from harness import expectations
        from harness.run.lint import lint_whole
        from harness.selftest.mutants.loader import mutants

        problems += lint_whole(all_cases, ROOT, expectations.known(), mutants().by_name)
    return problems


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """A worker of pytest-xdist ended: what it could not say itself."""
    if message := getattr(node, "workeroutput", {}).get("clharness"):
        node.config.stash[LINT_MESSAGE] = message


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if LINT_MESSAGE in session.config.stash:
        session.exitstatus = pytest.ExitCode.USAGE_ERROR


def pytest_unconfigure(config: pytest.Config) -> None:
    if message := config.stash.get(LINT_MESSAGE, None):
        print(f"ERROR: {message}", file=sys.stderr)


def pytest_collection_finish(session: pytest.Session) -> None:
    suites = [item for item in session.items if CASE in item.stash]
    for number, item in enumerate(suites):
        item.stash[CASE].number = number
    if suites and not session.config.option.collectonly:
        try:
            tested.ask(session.config)
            tested.subject(session.config).choose({item.nodeid for item in suites})
        except UsageError as error:
            raise pytest.UsageError(str(error)) from None
