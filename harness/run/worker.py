# SPDX-License-Identifier: Apache-2.0
"""What a worker does with a case: runs it by pytest's protocol, and gives the record that `results` made of it."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

import pytest

from harness.run.cases import CASE
from harness.run.pool import Note


class _Silent:
    """Stands for pytest's terminal reporter, of which pytest 8 takes the writer where it explains a comparison."""

    def __init__(self, config: pytest.Config) -> None:
        self._tw = config.get_terminal_writer()


def _silence(config: pytest.Config) -> None:
    silent = _Silent(config)
    config.pluginmanager.unregister(name="terminalreporter")
    config.pluginmanager.register(silent, "terminalreporter")


class CaseWorker:
    """Runs collected cases, which it is given by their number. Forked workers share it."""

    def __init__(self, items: Sequence[pytest.Item]) -> None:
        self._items = items
        self._note: Note | None = None

    def __call__(self, number: int, note: Note) -> dict[str, Any]:
        """Runs a case; gives its record as JSON. The note is the root of its sandbox, once it has one."""
        item = self._items[number]
        manager = item.config.pluginmanager
        if self._note is None:  # the first case of this process
            manager.register(self)
            _silence(item.config)
        self._note = note
        try:
            item.ihook.pytest_runtest_protocol(item=item, nextitem=None)
        except KeyboardInterrupt:  # the run is being ended: what the case has is put away
            item.session._setupstate.teardown_exact(None)
            raise
        case = item.stash[CASE]
        result = case.result
        case.sandbox = case.result = None  # with the exchange of its sessions: a worker runs thousands
        assert result is not None, f"{item.nodeid} ended without a result"
        return result.to_json()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Generator[None, Any, None]:
        outcome = yield
        if fixturedef.argname == "sandbox" and outcome.excinfo is None and self._note:
            self._note(str(outcome.get_result().root))
