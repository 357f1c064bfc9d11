# SPDX-License-Identifier: Apache-2.0
"""The process of one session, and the end of all that it started.

No number that a subject says decides who gets a signal. Signals go, by descriptor, to children of this process; what
loses its parent below them becomes such a child, because this process takes in orphans (PR_SET_CHILD_SUBREAPER).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import select
import signal
import subprocess
import time
from collections.abc import Iterable
from typing import Any

_PR_SET_CHILD_SUBREAPER = 36
_END_LIMIT = 10.0  # seconds for processes to end that were killed: one that waits for a device may never end
_AT_ONCE = 200  # processes to end: each takes a descriptor
_MAX_DEPTH = 64  # of a family of processes


class _Family:
    """The sessions of this process, and its children that have nothing to do with them."""

    def __init__(self) -> None:
        self.parent = 0  # this process: one that was forked from it has a family of its own
        self.sessions: set[int] = set()
        self.others: set[int] = set()

    def prepare(self) -> None:
        """Before a session starts: from now on all new children are sessions or come from one."""
        if self.parent != os.getpid():
            self.parent = os.getpid()
            self.sessions = set()
            ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        if not self.sessions:
            self.others = children_of(self.parent) if _has_children() else set()

    def end_orphans(self) -> None:
        """Ends what sessions left behind, once none of them is open, and what that leaves behind in turn."""
        until = time.monotonic() + _END_LIMIT
        while not self.sessions and _has_children() and time.monotonic() < until:
            orphans = sorted(children_of(self.parent) - self.others)[:_AT_ONCE]
            if not orphans or not _end_children(orphans, until):
                return


_family = _Family()


def _has_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def children_of(pid: int) -> set[int]:
    """The children of a process, those that ended and were not waited for among them; none where it is gone."""
    children: set[int] = set()
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children") as file:
                children.update(map(int, file.read().split()))
    except OSError:  # the process is gone or another user's, or this kernel has no such file
        return {int(name) for name in os.listdir("/proc") if name.isdigit() and parent_of(int(name)) == pid}
    return children


def parent_of(pid: int) -> int:
    """The parent of a process; 0 where there is none."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[1])
    except OSError:
        return 0


def _has_ended(descriptor: int, seconds: float) -> bool:
    """Whether a process ends within this time."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(1000 * max(seconds, 0)))


def _end_children(pids: Iterable[int], until: float) -> bool:
    """Kills children and waits for them; gives whether any of them could be."""
    ended = False
    opened = {pid: os.pidfd_open(pid) for pid in pids}
    for descriptor in opened.values():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
    for pid, descriptor in opened.items():
        if _has_ended(descriptor, until - time.monotonic()):
            os.waitpid(pid, 0)
            ended = True
        os.close(descriptor)
    return ended


def _limit(pid: int, file_size: int) -> None:
    """Bounds what a process and its descendants can do to the machine; a driver may need any amount of the rest."""
    with contextlib.suppress(OSError):  # it has ended, or is another user's
        # Nothing, and nothing for a program that collects them. The hard limit stays: a sanitizer's runtime that reads
        # both limits and writes them back at this very moment would fail.
        hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
        resource.prlimit(pid, resource.RLIMIT_CORE, (min(1, hard) if hard != resource.RLIM_INFINITY else 1, hard))
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (file_size, file_size))
        with open(f"/proc/{pid}/oom_score_adj", "wb", buffering=0) as file:
            file.write(b"1000")  # the first to go where memory ends: before the harness


class Process:
    """A running child of this process, and a descriptor that becomes readable when it ends."""

    def __init__(self, command: list[str], file_limit: int, **popen: Any) -> None:
        """`file_limit` is in bytes; the other arguments are those of Popen."""
        _family.prepare()
        popen = {"stdin": subprocess.DEVNULL} | popen
        self._popen = subprocess.Popen(command, start_new_session=True, **popen)
        self.pid = self._popen.pid
        _family.sessions.add(self.pid)
        self.descriptor = os.pidfd_open(self.pid)
        _limit(self.pid, file_limit)

    def status(self) -> int:
        """How the process ended, which it has: its exit code, or the number of a signal below 0."""
        return self._popen.wait()

    def owns(self, pid: int) -> bool:
        """Whether this is the process or one of its descendants."""
        for _ in range(_MAX_DEPTH):
            if pid == self.pid:
                return self._popen.returncode is None
            if pid <= 1:
                return False
            pid = parent_of(pid)
        return False

    def end(self) -> None:
        """Ends the process, and what it started as far as that is not part of another session that goes on."""
        if self.descriptor < 0:
            return
        if self._popen.poll() is None:
            signal.pidfd_send_signal(self.descriptor, signal.SIGKILL)
            if _has_ended(self.descriptor, _END_LIMIT):
                self._popen.wait()
        os.close(self.descriptor)
        self.descriptor = -1
        _family.sessions.discard(self.pid)
        _family.end_orphans()
