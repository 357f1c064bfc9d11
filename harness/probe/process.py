# SPDX-License-Identifier: Apache-2.0
"""The process of one session, the guard in front of it, and the end of all that it started.

No number that a subject says decides who gets a signal. Signals go, by descriptor, to children of this process; what
loses its parent below them becomes such a child, because this process takes in orphans (PR_SET_CHILD_SUBREAPER).
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harness.errors import HarnessError
from harness.sandbox import guard

_PR_SET_CHILD_SUBREAPER = 36
_END_LIMIT = 10.0  # seconds for processes to end that were killed: one that waits for a device may never end
_AT_ONCE = 200  # processes to end: each takes a descriptor
MAX_FAMILY = 10_000  # processes of a session that are looked at


class _Family:
    """The sessions of this process, and its children that have nothing to do with them."""

    def __init__(self) -> None:
        self.lock = threading.RLock()  # while it is held, no session begins or ends
        self.parent = 0  # this process: one that was forked from it has a family of its own
        self.sessions: set[int] = set()
        self.others: set[int] = set()

    def prepare(self) -> None:
        """Before a session starts: from now on all new children are sessions or come from one."""
        if self.parent != os.getpid():
            self.parent = os.getpid()
            self.sessions = set()
            ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
            guard.hide()
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


def _state_and_parent(pid: int) -> tuple[str, int]:
    """The state of a process as the kernel has it, and its parent; "" and 0 where it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            state, parent, *_ = file.read().rpartition(b")")[2].split()
            return state.decode(), int(parent)
    except OSError:
        return "", 0


def parent_of(pid: int) -> int:
    """The parent of a process; 0 where there is none."""
    return _state_and_parent(pid)[1]


def numbers_of(pid: int) -> list[int]:
    """The numbers that a process has, from the namespace of this one to its own; none where it is gone."""
    try:
        with open(f"/proc/{pid}/status", "rb") as file:
            return [int(number) for number in file.read().partition(b"\nNSpid:")[2].partition(b"\n")[0].split()]
    except OSError:
        return []


def _own_number(pid: int) -> int:
    """The number that a process itself knows, in its namespace; 0 where it is gone."""
    return (numbers_of(pid) or [0])[-1]


def has_ended(descriptor: int, seconds: float) -> bool:
    """Whether a process ends within this time."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(1000 * max(seconds, 0)))


def _end_children(pids: Iterable[int], until: float) -> bool:
    """Kills children and waits for them; gives whether any of them could be.

    They are waited for as they end: the first process of a namespace ends after all others were waited for.
    """
    poll = select.poll()
    opened = {os.pidfd_open(pid): pid for pid in pids}
    left = set(opened)
    for descriptor in opened:
        poll.register(descriptor, select.POLLIN)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
    while left and (ready := poll.poll(1000 * max(until - time.monotonic(), 0))):
        for descriptor, _ in ready:
            os.waitpid(opened[descriptor], 0)
            poll.unregister(descriptor)
            left.remove(descriptor)
    for descriptor in opened:
        os.close(descriptor)
    return len(left) < len(opened)


@contextlib.contextmanager
def no_session() -> Iterator[None]:
    """While a program of the harness's own runs beside threads with sessions, which would take it for an orphan."""
    with _family.lock:
        yield


class Process:
    """A program that is not trusted, under a guard (harness/sandbox/guard.c), which is a child of this process.

    `pid` is the program's; `descriptor` becomes readable when it ends. `guard` is the process above it: how the program
    ended is known once that one had time to say it.
    """

    _over = False  # the guard was asked how the program ended
    _said = b""  # by the guard, and not read as a line yet

    def __init__(self, command: list[str], environment: Mapping[str, str], file_limit: int, **popen: Any) -> None:
        """`file_limit` is in bytes; the other arguments are those of Popen. Raises OSError."""
        user, way, hidden = popen.pop("user", -1), popen.pop("way", None), popen.pop("hidden", ())
        own = guard.own_environment(hidden, popen.pop("kept", ()))
        if popen.pop("unlisted", False):  # a user's own variables, which others on the machine may not read
            own, environment = {**environment, **own}, {}
        self.descriptor, theirs = os.pipe2(os.O_CLOEXEC)
        try:
            line = guard.command(theirs, command, environment, file_limit, user, way)
            popen = {"stdin": subprocess.DEVNULL} | popen
            popen["pass_fds"] = [*popen.get("pass_fds", ()), theirs]
            with _family.lock:
                _family.prepare()
                self._popen = subprocess.Popen(line, start_new_session=True, env=own, **popen)
                self.guard = self._popen.pid
                _family.sessions.add(self.guard)
        except BaseException:
            os.close(self.descriptor)
            raise
        finally:
            os.close(theirs)
        self.pid = self._start(command[0])

    def _start(self, program: str) -> int:
        """Waits until the program runs; gives its number, as the guard has it."""
        line = self._line()
        if line[:1] in (["pid"], ["exposed"]):
            return int(line[1])
        error = int(line[1]) if line[:1] == ["error"] else 0
        self.end()
        if error:
            raise OSError(error, os.strerror(error), program)
        raise HarnessError(f"the guard of {program} was ended before it could start it")

    def _line(self) -> list[str]:
        """The words of the next line of the guard; none where it ended without one."""
        while b"\n" not in self._said and (part := os.read(self.descriptor, 100)):
            self._said += part
        line, _, self._said = self._said.partition(b"\n")
        return line.decode().split()

    def status(self) -> int | None:
        """How the program ended, which it has: its exit code, or the number of a signal below 0.

        None where nobody knows, because the guard itself was ended.
        """
        self._over = True
        match self._line():
            case ["exit", code]:
                return int(code)
            case ["signal", number]:
                return -int(number)
        return None

    def outlive_sessions(self) -> None:
        """From now on it is none of the sessions, after the last of which all is ended that they left behind."""
        _family.sessions.discard(self.guard)
        _family.others.add(self.guard)

    def forget(self) -> None:
        """Gives back what this process has of it, which is not its parent."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1

    def pids(self) -> Iterator[int]:
        """The guard, the program, and what they started and is still below them."""
        family = [self.guard]
        for pid in family:
            yield pid
            family += children_of(pid)

    def pid_of(self, number: int) -> int:
        """The number that the process has here which calls itself `number`; 0 where none of this family does.

        The first process of a namespace is the guard's own.
        """
        if number > 1 and _own_number(self.pid) == number and self.is_alive():  # it mostly is the program
            return self.pid
        for pid in itertools.islice(self.pids(), MAX_FAMILY) if number > 1 else ():
            if pid != self.guard and _own_number(pid) == number:
                return pid
        return 0

    def is_alive(self) -> bool:
        """Whether the program has not ended; where it has, the guard is about to say how."""
        state, parent = _state_and_parent(self.pid)
        return parent == self.guard and state not in "ZX"

    def owns(self, pid: int) -> bool:
        """Whether this is the program or one of its descendants."""
        return pid in itertools.islice(self.pids(), 1, MAX_FAMILY)

    def end(self) -> None:
        """Ends the process, and what it started as far as that is not part of another session that goes on."""
        if self.descriptor < 0:
            return
        os.close(self.descriptor)
        self.descriptor = -1
        pidfd = os.pidfd_open(self.guard)
        if self._end_guard(pidfd):
            self._popen.wait()
        os.close(pidfd)
        with _family.lock:
            _family.sessions.discard(self.guard)
            _family.end_orphans()

    def _end_guard(self, pidfd: int) -> bool:
        """Ends the guard, which ends what the program left behind; gives whether it could be."""
        if not has_ended(pidfd, _END_LIMIT if self._over else 0):
            with contextlib.suppress(ProcessLookupError):  # it ended just now, and was not this process's to wait for
                signal.pidfd_send_signal(pidfd, signal.SIGKILL)
        return has_ended(pidfd, _END_LIMIT)
