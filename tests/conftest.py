# SPDX-License-Identifier: Apache-2.0
"""Fixtures that several files share."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from tests.small_runs import library, small

__all__ = ["library", "small"]


@pytest.fixture(autouse=True, scope="session")
def hangups_count() -> Iterator[None]:
    """SIGHUP ends programs that these tests start, as in a terminal, also where nohup started the tests."""
    before = signal.getsignal(signal.SIGHUP)
    if before == signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)
