# SPDX-License-Identifier: Apache-2.0
"""Waiting for a build folder that other processes use: which they are, and for how long.

As a program, for the launcher (harness/setup/build.sh): names who holds a lock, and says how long it is waited for.

usage: build_lock.py LOCK SECONDS
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import sys
import threading
from pathlib import Path

DEFAULT_LIMIT = 1800  # seconds; CLHARNESS_BUILD_WAIT is another limit
_MOST_NAMED = 5


def holders(lock: Path) -> list[tuple[int, str]]:
    """The processes that hold a lock on a file, with their command lines; children of one of them are left out."""
    try:
        wanted = lock.stat()
    except OSError:
        return []
    parents = {}
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended, or is another user's
            if any(_locks(descriptor, wanted) for descriptor in (process / "fd").iterdir()):
                parents[int(process.name)] = int((process / "stat").read_text().rpartition(")")[2].split()[1])
    return [(pid, _command_line(pid)) for pid, parent in sorted(parents.items()) if parent not in parents]


def _locks(descriptor: Path, wanted: os.stat_result) -> bool:
    """Whether a descriptor of a process holds a lock on a file: one that waits for it has it open, too."""
    with contextlib.suppress(OSError):
        status = descriptor.stat()
        if (status.st_dev, status.st_ino) == (wanted.st_dev, wanted.st_ino):
            return "\nlock:" in (descriptor.parent.parent / "fdinfo" / descriptor.name).read_text()
    return False


def _command_line(pid: int) -> str:
    with contextlib.suppress(OSError):
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
        if line := " ".join(words).strip():
            return line if len(line) <= 200 else f"{line[:200]}…"
    return "(no command line)"


def said(lock: Path, seconds: int) -> str:
    """What to say while a lock is waited for."""
    found = holders(lock)
    lines = [f"in use by process {pid}: {line}" for pid, line in found[:_MOST_NAMED]]
    if len(found) > _MOST_NAMED:
        lines.append(f"and by {len(found) - _MOST_NAMED} more")
    if not found:
        lines.append("in use by processes that cannot be seen from here: another user's, or a container's")
    lines.append(f"waiting for {seconds} s at most (CLHARNESS_BUILD_WAIT)")
    return "".join(f"clharness: {line}\n" for line in lines)


def refusal(folder: Path, seconds: int) -> str:
    """What to say where the limit has passed."""
    return (
        f"{folder} was in use for {seconds} s (CLHARNESS_BUILD_WAIT): "
        "end the processes above, or name another folder with CLHARNESS_BUILD"
    )


def limit() -> int:
    """Seconds to wait for a folder: $CLHARNESS_BUILD_WAIT, which the launcher has checked."""
    text = os.environ.get("CLHARNESS_BUILD_WAIT", "")
    return int(text) if text.isdigit() else DEFAULT_LIMIT


def share(lock: int, seconds: int) -> bool:
    """Takes a shared lock; False where that takes longer than so many seconds."""
    taker = threading.Thread(target=fcntl.flock, args=(lock, fcntl.LOCK_SH), daemon=True)
    taker.start()
    taker.join(seconds)
    return not taker.is_alive()


if __name__ == "__main__":
    sys.stderr.write(said(Path(sys.argv[1]), int(sys.argv[2])))
