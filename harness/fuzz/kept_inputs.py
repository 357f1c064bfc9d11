# SPDX-License-Identifier: Apache-2.0
"""What a target's process did, as the process itself keeps it where no deed of its subject reaches
(fuzz/engine/kept_inputs.c): the inputs that it ran, whose turn it was when it ended, and the engine's last words.
"""

from __future__ import annotations

import os
import struct
import time
from pathlib import Path

VARIABLE = "CLHARNESS_FUZZ_INPUTS"
_NUMBER = struct.Struct("=Q")
_SIZE = struct.Struct("=I")
_WHOLE, _ENDED, _WORDS = 4 << 20, 1 << 16, 1 << 13  # bytes of the file, and of its parts
_TURNS = _WHOLE - _NUMBER.size
_FINISHED = _TURNS - _NUMBER.size
_WORDS_AT = _FINISHED - _WORDS
_ENDED_AT = _WORDS_AT - _ENDED - _NUMBER.size
_INPUTS_AT = 0
_MOST = 2000  # inputs that a process may be asked to run before another one: they are arguments of a program


class KeptInputs:
    """The file of one process; it stays open, so that it is read also where the subject has removed it."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        self.path = path
        self._file = path.open("w+b", buffering=0)
        self._file.truncate(_WHOLE)

    def __enter__(self) -> KeptInputs:
        return self

    def __exit__(self, *about: object) -> None:
        self._file.close()

    def _read(self, size: int, at: int) -> bytes:
        return os.pread(self._file.fileno(), size, at).ljust(size, b"\0")

    def _number(self, at: int) -> int:
        return int(_NUMBER.unpack(self._read(_NUMBER.size, at))[0])

    def _list(self, at: int, room: int) -> list[bytes]:
        """A file that a subject wrote into may hold anything."""
        end = min(self._number(at), room)
        content = self._read(end, at + _NUMBER.size)
        inputs, begin = [], 0
        while begin + _SIZE.size <= end:
            (size,) = _SIZE.unpack_from(content, begin)
            begin += _SIZE.size + size
            if begin > end:
                break
            inputs.append(content[begin - size : begin])
        return inputs

    def inputs(self) -> list[bytes]:
        """What was run, oldest first; the last ones of very many."""
        return self._list(_INPUTS_AT, _ENDED_AT - 2 * _NUMBER.size)[-_MOST:]

    def ended(self) -> list[bytes]:
        """The inputs in which processes ended that had others after them."""
        return self._list(_ENDED_AT, _ENDED)

    @property
    def turns(self) -> int:
        """How often it was the subject's turn, and how often that was over; 0 where no engine counts."""
        return self._number(_TURNS)

    @property
    def is_subjects(self) -> bool:
        """Whether it is the subject's turn, or was when the process ended."""
        return self.turns % 2 == 1

    @property
    def words(self) -> str:
        """The engine's line on its end; "" where it said none."""
        return self._read(_WORDS, _WORDS_AT).partition(b"\0")[0].decode(errors="replace")

    @property
    def is_finished(self) -> bool:
        """Whether the process has done its work."""
        return self._number(_FINISHED) > 0

    def is_cut_short(self, status: int) -> bool:
        """Whether something ended a process that ended with this status, however good that is."""
        return status != 0 or (self.turns > 0 and not self.is_finished)


class Watch:
    """Notices that one turn of the subject, or the end of its process, takes too long, whatever became of signals and
    timers there."""

    def __init__(self, kept: KeptInputs, limit: float) -> None:
        """`limit` is in seconds."""
        self._kept, self._limit = kept, limit
        self._turn, self._since = 0, time.monotonic()
        self.is_stuck = self.is_slow = False  # it is stuck, or would be if there were more time

    def look(self) -> bool:
        """Gives whether it is stuck; to be asked now and then."""
        now, turn = time.monotonic(), self._kept.turns
        if turn != self._turn or not (turn % 2 or self._kept.is_finished):
            self._turn, self._since = turn, now
        self.is_stuck = now - self._since > self._limit
        self.is_slow = now - self._since > self._limit / 2
        return self.is_stuck
