# SPDX-License-Identifier: Apache-2.0
"""Writes a file in one step, so that nobody reads half of it."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path


def write_whole(path: Path, content: bytes) -> None:
    """Replaces the file, or makes it; what is a device or a FIFO stays that, and gets the content. OSError."""
    place = replaceable(path)
    if place is None:
        path.write_bytes(content)
        return
    scratch = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        scratch.write_bytes(content)
        scratch.replace(place)
    finally:
        scratch.unlink(missing_ok=True)


def replaceable(path: Path) -> Path | None:
    """Where another file can take its place: a link stays, what it leads to is replaced. None for devices and so on:
    root could replace these, too. OSError.
    """
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISREG(path.stat().st_mode):
            return None
    return path.resolve()
