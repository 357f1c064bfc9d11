# SPDX-License-Identifier: Apache-2.0
"""How far a run is: cases done of those planned, the time that is left, and what is unexpected so far."""

from __future__ import annotations

import time
from collections.abc import Callable

_SURE = 3.0, 16  # seconds and cases before a time left is told: the first cases say little


class Progress:
    """Counts the cases of a run. `kept` of the planned ones have been done by an earlier run."""

    def __init__(self, planned: int | None, kept: int = 0, clock: Callable[[], float] = time.monotonic) -> None:
        self.planned = planned
        self.done = kept
        self.unexpected = 0
        self._kept = kept
        self._clock = clock
        self._started = clock()

    def add(self, counts: bool) -> None:
        """One more case has ended."""
        self.done += 1
        self.unexpected += counts

    def text(self, case: str) -> str:
        """The line of progress; what matters most comes first, because a narrow terminal cuts it.

        Of the case it has the name without the file, which would fill the line before what tells cases apart.
        """
        of = f" of {self.planned}" if self.planned else ""
        left = f", {self._left()} left" if self._left() else ""
        return f"[{self.done}{of}] {self.unexpected} unexpected{left}  {case.rpartition('.py::')[2]}"

    def _left(self) -> str:
        elapsed = self._clock() - self._started
        ran = self.done - self._kept
        if not self.planned or elapsed < _SURE[0] or ran < _SURE[1] or self.done >= self.planned:
            return ""
        return duration(elapsed / ran * (self.planned - self.done))


def duration(seconds: float) -> str:
    """A time in the shortest words: 45 s, 3 min 5 s, 2 h 10 min."""
    whole = round(seconds)
    if whole < 60:
        return f"{max(whole, 1)} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"
