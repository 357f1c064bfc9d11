# SPDX-License-Identifier: Apache-2.0
"""What a driver compiled in one case is there in the next: each would compile the same kernels again.

A driver keeps it below XDG_CACHE_HOME. Each worker of a run has a folder there of its own: what several processes do
with one at once is none of the checks'. PoCL before 6.0, for one, removes the file that another process has just
written, and where that one was faster it refuses to build the program, without a word (its issue 1480).
"""

from __future__ import annotations

import os
import tempfile
import weakref
from pathlib import Path

from harness.sandbox.folder import OwnFolder, sweep

PREFIX = "clharness-cache-"


class Compiled:
    """The folders of a run. The process that made it removes them when it ends, or the next run does."""

    def __init__(self) -> None:
        place = Path(tempfile.gettempdir())
        sweep(place, PREFIX)
        self._all = OwnFolder(place, PREFIX)
        weakref.finalize(self, _remove, self._all, os.getpid())

    @property
    def folder(self) -> str:
        """That of this process, which is there."""
        path = self._all.path / str(os.getpid())
        path.mkdir(exist_ok=True)
        return str(path)


def _remove(folder: OwnFolder, owner: int) -> None:
    if os.getpid() == owner:
        folder.remove()


__all__ = ["Compiled"]
