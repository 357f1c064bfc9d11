# SPDX-License-Identifier: Apache-2.0
"""SIGINT, SIGTERM and SIGHUP during a run: the first one ends it in order, and all further ones are of no effect.

A shell starts commands in the background with SIGINT ignored, and whoever sends one all the same means it. SIGHUP stays
ignored where it was: that is what nohup is for.
"""

from __future__ import annotations

import os
import signal
from types import FrameType, TracebackType
from typing import Any, Self

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupts:
    """A context manager. `happened` says whether a signal came; `descriptor` is readable from then on.

    While `raises` is set (cases are being collected: nothing can be half done), the first signal is a
    KeyboardInterrupt, too; again each second, because one that is raised in a destructor is lost.
    """

    def __init__(self) -> None:
        self.happened = False
        self.raises = False
        self.descriptor, self._write = -1, -1
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        self.descriptor, self._write = os.pipe()
        for number in SIGNALS:
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._note)
        self._before[signal.SIGALRM] = signal.signal(signal.SIGALRM, self._raise_again)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in self._before.items():
            signal.signal(number, handler)
        os.close(self.descriptor)
        os.close(self._write)

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        if self.happened:
            return
        self.happened = True
        os.write(self._write, b"!")
        if self.raises:
            signal.setitimer(signal.ITIMER_REAL, 1, 1)
            raise KeyboardInterrupt

    def _raise_again(self, _number: int, _frame: FrameType | None) -> None:
        if self.raises:
            raise KeyboardInterrupt
