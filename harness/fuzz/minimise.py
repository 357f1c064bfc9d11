# SPDX-License-Identifier: Apache-2.0
"""The smallest input that still shows the same finding: pieces are taken out, then bytes become 0.

Where an input has ended every answer is 0, the ordinary case, so that a shorter input is a plainer one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

Item = TypeVar("Item")


@dataclass
class _Search:
    """Tries candidates until there is no more time for it; remembers the best."""

    shows: Callable[[bytes], bool]
    best: bytes
    until: float
    stopped: Callable[[], bool]

    def over(self) -> bool:
        return time.monotonic() > self.until or self.stopped()

    def better(self, candidate: bytes) -> bool:
        if candidate == self.best or self.over():
            return False
        if not self.shows(candidate):
            return False
        self.best = candidate
        return True


def minimised(
    data: bytes, shows: Callable[[bytes], bool], seconds: float, stopped: Callable[[], bool] = lambda: False
) -> bytes:
    """`shows` says whether an input has the finding; it has to be true of `data`. `stopped` ends the search early."""
    search = _Search(shows, data, time.monotonic() + seconds, stopped)
    _shorten_end(search)
    while True:
        before = search.best
        _take_out(search)
        _make_plain(search)
        if search.best == before or search.over():
            return search.best


def _shorten_end(search: _Search) -> None:
    """By halves: most of a long input is never read."""
    keep, known_good = 0, len(search.best)
    whole = search.best
    while keep < known_good:
        middle = (keep + known_good) // 2
        if search.better(whole[:middle]):
            known_good = middle
        else:
            keep = middle + 1


def _take_out(search: _Search) -> None:
    size = max(1, len(search.best) // 2)
    while size:
        at = 0
        while at < len(search.best):
            if not search.better(search.best[:at] + search.best[at + size :]):
                at += size
        size //= 2


def _make_plain(search: _Search) -> None:
    size = max(1, len(search.best) // 2)
    while size:
        for at in range(0, len(search.best), size):
            piece = search.best[at : at + size]
            if any(piece):
                search.better(search.best[:at] + bytes(len(piece)) + search.best[at + size :])
        size //= 2


def needed(
    items: Sequence[Item], shows: Callable[[Sequence[Item]], bool], seconds: float, stopped: Callable[[], bool]
) -> Sequence[Item] | None:
    """The fewest of some items that still show something, the last ones first; None where not even all of them do."""
    until = time.monotonic() + seconds
    count = next((count for count in _growing(len(items)) if shows(items[len(items) - count :])), None)
    if count is None:
        return None
    best = list(items[len(items) - count :])
    size = len(best)
    while size:
        at = 0
        while at < len(best) and time.monotonic() < until and not stopped():
            if shows(fewer := best[:at] + best[at + size :]):
                best = fewer
            else:
                at += size
        size //= 2
    return best


def _growing(most: int) -> Iterator[int]:
    count = 1
    while count < most:
        yield count
        count *= 4
    if most:
        yield most
