# SPDX-License-Identifier: Apache-2.0
"""Fixtures that several files share."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator

import pytest

from harness.build import NoVulkan
from tests.small_runs import library, small

__all__ = ["library", "small"]


@pytest.fixture(autouse=True, scope="session")
def signals_count() -> Iterator[None]:
    """Signals reach programs that these tests start, as in a terminal, also where nohup or a script's `&` started the
    tests, which leaves SIGHUP, or SIGINT and SIGQUIT, ignored.
    """
    ignored = [n for n in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT) if signal.getsignal(n) == signal.SIG_IGN]
    for number in ignored:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    yield
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)


@pytest.fixture(autouse=True, scope="session")
def generator() -> None:
    """Projects that tests make are built by Ninja where that is the only build tool: CMake's own choice is make."""
    if not shutil.which("make") and shutil.which("ninja"):
        os.environ.setdefault("CMAKE_GENERATOR", "Ninja")


def pytest_runtest_makereport(call: pytest.CallInfo[None]) -> None:
    """What needs Vulkan is skipped where the build has none of it; CI's has."""
    if call.excinfo and call.excinfo.errisinstance(NoVulkan):
        with pytest.raises(pytest.skip.Exception) as skipped:
            pytest.skip(str(call.excinfo.value))
        call.excinfo = skipped
