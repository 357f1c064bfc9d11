# SPDX-License-Identifier: Apache-2.0
"""The file under test, which must stay what it is while a run goes on: who builds it again has mixed two libraries."""

from __future__ import annotations

import hashlib
from pathlib import Path


class Watched:
    """A file as it is when this is made."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._state, self._content = _state(path), _content(path)

    def trouble(self) -> str:
        """What happened to it since, in a sentence; "" where it has the same content."""
        state = _state(self._path)
        if state == self._state or (state and _content(self._path) == self._content):
            return ""
        what = "another file than" if state else "not there any more, as it was"
        return f"{self._path} is {what} when the run began: what was tested is not one library; run it again"


def _state(path: Path) -> tuple[int, ...]:
    try:
        status = path.stat()
    except OSError:
        return ()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _content(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
