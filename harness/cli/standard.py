# SPDX-License-Identifier: Apache-2.0
"""What a command needs of the process that it is: standard input, output and errors that are open, and change no exit
code when nobody reads them; and children that are waited for.

What could not be printed to a full disk is still an error.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from typing import Any


class _Stream(io.TextIOWrapper):
    """A stream whose reader may go: what is written from then on goes nowhere."""

    tolerated: type[OSError]
    other: Any  # the stream in whose place this one is, which would close what they share

    def write(self, text: str) -> int:
        try:
            return super().write(text)
        except self.tolerated:
            self._go_nowhere()
        return len(text)

    def flush(self) -> None:
        try:
            super().flush()
        except self.tolerated:
            self._go_nowhere()

    def _go_nowhere(self) -> None:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, self.fileno())
        os.close(nothing)


def prepare() -> None:
    """Before anything is opened: a descriptor that is closed would be that of the first file."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # which is `number`, the lowest that is free
            setattr(sys, name, open(number, "w" if number else "r"))  # noqa: SIM115 - for as long as the process lives
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # where it is ignored, nobody learns how a child ended
    sys.stdout = _tolerant(sys.stdout, BrokenPipeError)
    sys.stderr = _tolerant(sys.stderr, OSError)


def _tolerant(stream: Any, tolerated: type[OSError]) -> _Stream:
    buffered = {"line_buffering": stream.line_buffering, "write_through": stream.write_through}
    result = _Stream(stream.buffer, stream.encoding, stream.errors, **buffered)
    result.tolerated, result.other = tolerated, stream
    return result
