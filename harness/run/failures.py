# SPDX-License-Identifier: Apache-2.0
"""Where a run keeps the sandboxes of its red cases: build/failures/SUBJECT/NUMBER/CASE.

Each run has a folder of its own, so that what it printed replays its own cases, whatever else runs or ran. The next run
of the same subject removes the folders of those that have ended.
"""

from __future__ import annotations

import itertools
import os
import re
import zlib
from pathlib import Path

import pytest

from harness.build import build
from harness.errors import UsageError
from harness.run import tested
from harness.sandbox import folder

RUN = pytest.StashKey["Place"]()
MAX_NAME = 150


class Place:
    """The folder of a run. While this process or one forked from it lives, it is locked, which nobody sweeps.

    Raises UsageError where it cannot be made.
    """

    def __init__(self, subject: Path, sweeps: bool = True) -> None:
        name = f"{_plain(subject.name)[:80]}-{_sum(str(subject))}"
        self._subject = build().folder / "failures" / name
        try:
            self._make(sweeps)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise UsageError(f"{self._subject}: cannot be written: {reason}; remove it, or make it yours") from error

    def _make(self, sweeps: bool) -> None:
        self._subject.mkdir(parents=True, exist_ok=True)
        if sweeps:
            folder.sweep(self._subject, "")
        for number in itertools.count(1):
            self.path = self._subject / str(number)
            try:
                self.path.mkdir()
            except FileExistsError:
                continue
            if (lock := folder.lock(self.path)) is not None:
                self._lock = lock
                return

    def close(self) -> None:
        """From now on the next run may remove it."""
        os.close(self._lock)

    def of(self, case: str) -> Path:
        """The folder of a case, by its ID."""
        name = re.sub(r"/|::|\[|\]", "_", case.removeprefix("suites/"))
        plain = _plain(name)
        different = plain != name or len(plain) > MAX_NAME  # and may be the same as that of another case
        return self.path / (f"{plain[:MAX_NAME]}-{_sum(case)}" if different else plain)


def _plain(name: str) -> str:
    """A name for a file that needs no quoting in a shell, and is none that a shell or a program takes for an option."""
    return re.sub(r"[^A-Za-z0-9_.,=@+-]+", "_", name).lstrip("-.") or "_"


def _sum(text: str) -> str:
    return f"{zlib.crc32(os.fsencode(text)):08x}"


def place(config: pytest.Config, sweeps: bool = True) -> Place:
    """That of the run, made when it is asked for first. A process that forks workers asks before.

    A run that goes on from an earlier one, whose cases its report names, sweeps nothing.
    """
    if RUN not in config.stash:
        config.stash[RUN] = Place(tested.subject(config).path, sweeps)
    return config.stash[RUN]
