# SPDX-License-Identifier: Apache-2.0
"""Writes records as JSON Lines, one complete line at a time, and survives a disk that runs full."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.errors import UsageError
from harness.report.records import to_line
from harness.report.whole import replaceable


class JsonLines:
    """A file of records. After the first failed write nothing more is written, and `trouble` says why.

    A file that another process is writing is left as it is, and refused: UsageError. The lock is of this process alone
    and ends with it, whatever becomes of its children. No buffer stands between a record and the file: what was written
    before a crash or a full disk is there.
    """

    def __init__(self, path: Path, first: Sequence[Mapping[str, Any]] = ()) -> None:
        """`first` are records that are there at once: the file that holds them replaces an older one whole."""
        self.path = path
        self.trouble: str | None = None
        self._size = 0
        try:
            self._fd = _taken(path)
            place = replaceable(path) if first else None
            if not first and _is_file(self._fd):
                os.ftruncate(self._fd, 0)
            older, scratch = self._fd, place.with_name(f".{place.name}.{os.getpid()}") if place else None
            if scratch:
                self._fd = _taken(scratch)
            for record in first:
                self.write(record)
            if scratch and place:
                scratch.replace(place)
                os.close(older)
        except OSError as error:
            raise UsageError(f"{path}: cannot be written: {error.strerror}; name another file") from error

    def write(self, record: Mapping[str, Any]) -> None:
        """Writes a record to disk; after a failure, which `trouble` names, nothing more."""
        if self.trouble:
            return
        line = to_line(record).encode("ascii")
        try:
            done = 0
            while done < len(line):
                done += os.write(self._fd, line[done:])
            self._size += len(line)
        except OSError as error:
            self._fail(error)

    def close(self) -> None:
        """Closes the file; a failure of that, too, is in `trouble`."""
        try:
            os.close(self._fd)
        except OSError as error:  # some file systems report a full disk only here
            if not self.trouble:
                self._fail(error)

    def _fail(self, error: OSError) -> None:
        self.trouble = f"{self.path}: the records are incomplete: {error.strerror}"
        if _is_file(self._fd):
            # Half a line would make the file unreadable for most tools.
            with contextlib.suppress(OSError):
                os.ftruncate(self._fd, self._size)


def _taken(path: Path) -> int:
    """The file as it is, opened for writing, and locked for other processes. Raises UsageError, OSError."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666)
    if _is_file(descriptor):
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:  # some file systems have no locks
            if error.errno in (errno.EACCES, errno.EAGAIN):
                os.close(descriptor)
                raise UsageError(f"{path}: another run is writing it; wait for its end, or name another file") from None
    return descriptor


def _is_file(descriptor: int) -> bool:
    return stat.S_ISREG(os.fstat(descriptor).st_mode)
