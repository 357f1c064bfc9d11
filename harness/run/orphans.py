# SPDX-License-Identifier: Apache-2.0
"""Processes that lost their parent: this process takes them in (PR_SET_CHILD_SUBREAPER) and ends them."""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import time
from collections.abc import Collection

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_AT_ONCE = 200  # processes to end: each takes a descriptor
_END_LIMIT = 5.0  # seconds for processes to end that were killed: one that waits for a device may take for ever


def take_in() -> None:
    """From now on, what loses its parent below this process becomes its child."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_with(parent: int) -> None:
    """This process is killed as soon as its parent ends, whose number is given."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def children() -> dict[int, str]:
    """The children of this process and their names, those among them that ended and were not waited for."""
    result = {}
    for name in os.listdir("/proc"):
        with contextlib.suppress(OSError, ValueError):
            if name.isdigit():
                with open(f"/proc/{name}/stat", "rb") as file:
                    head, _, rest = file.read().rpartition(b")")
                if int(rest.split()[1]) == os.getpid():
                    result[int(name)] = head.partition(b"(")[2].decode(errors="backslashreplace")
    return result


def state(pid: int) -> str:
    """The state of a process as the kernel has it, such as R, S, T (stopped) or Z; "" where it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0].decode()
    except (OSError, IndexError):
        return ""


def end_orphans(known: Collection[int]) -> list[str]:
    """Ends the children that are not `known`, and what those leave behind; gives the names of the first of them."""
    until = time.monotonic() + _END_LIMIT
    first: list[str] | None = None
    while time.monotonic() < until:
        orphans = {pid: name for pid, name in children().items() if pid not in known}
        first = sorted(orphans.values()) if first is None else first
        if not orphans:
            break
        end(sorted(orphans)[:_AT_ONCE], until)
    return first or []


def end(pids: Collection[int], until: float) -> None:
    """Kills children and waits for their end until a time of the monotonic clock.

    They are waited for as they end: the first process of a namespace ends after all others were waited for.
    """
    opened = {os.pidfd_open(pid): pid for pid in pids}
    left = set(opened)
    for descriptor in opened:
        with contextlib.suppress(OSError):
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
    while left and (ready := select.select(left, [], [], max(until - time.monotonic(), 0))[0]):
        left.difference_update(ready)
        for descriptor in ready:
            with contextlib.suppress(ChildProcessError):  # somebody else waited for it
                os.waitpid(opened[descriptor], 0)
    for descriptor in opened:
        os.close(descriptor)
