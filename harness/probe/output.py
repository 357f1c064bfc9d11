# SPDX-License-Identifier: Apache-2.0
"""What a process prints, read through a descriptor of the harness's own, and never more of it than is shown."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from harness.probe.verdicts import SubjectFailure
from harness.untrusted import open_regular

MAX_SHOWN = 1 << 20  # bytes
_NEW = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Output:
    """A file that a process writes to; `start` is where its own part begins, after those of sessions before it."""

    def __init__(self, path: Path) -> None:
        try:
            try:
                self.descriptor = os.open(path, _NEW, 0o666)
            except FileExistsError:
                self.descriptor = open_regular(path, os.O_RDWR | os.O_APPEND)
                os.set_blocking(self.descriptor, True)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EINVAL, errno.EACCES):
                raise
            raise SubjectFailure(f"a session before this one removed or replaced {path}: {error.strerror}") from None
        self.start = os.fstat(self.descriptor).st_size
        self._last: tuple[bytes, bytes] = b"", b""

    def whole(self) -> str:
        """The file from its beginning."""
        return (self._at(0) if self.descriptor >= 0 else self._last[0]).decode(errors="replace")

    def text(self) -> str:
        """The part of this process."""
        return (self._at(self.start) if self.descriptor >= 0 else self._last[1]).decode(errors="replace")

    def _at(self, start: int) -> bytes:
        length = min(os.fstat(self.descriptor).st_size - start, MAX_SHOWN)
        return os.pread(self.descriptor, length, start) if length > 0 else b""

    def close(self) -> None:
        """Keeps what is there now."""
        if self.descriptor >= 0:
            self._last = self._at(0), self._at(self.start)
            os.close(self.descriptor)
            self.descriptor = -1
