# SPDX-License-Identifier: Apache-2.0
"""How much of the time that went by a process could use: what it queued for a processor is not its own.

The kernel counts for each thread how long it ran and how long it queued (/proc/PID/task/TID/schedstat). A process that
waits for itself or for nobody queues for nothing, and one that turns in circles runs, so that both use up their time
however busy the machine is. While the thread that looks queues itself, nothing is known of the others.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass

from harness.deviation import fits_pattern
from harness.errors import HarnessError
from harness.probe.process import children_of

FIRST_LOOK = 0.05  # seconds until an answer counts as slow; before that nothing is looked at
TICK = 0.25  # seconds between two looks
SESSION_FACTOR = 20  # time limits that all answers of a session may take together
COMPILER_FACTOR = 6  # time limits that a call which compiles, or many calls at once, may compute for
# A slow compiler computes; one that hangs mostly waits.
COMPILING = {
    "clBuildProgram", "clCompileProgram", "clLinkProgram", "clCreateKernel", "clCreateKernelsInProgram",
    "clEnqueueNDRangeKernel", "clEnqueueTask",
}  # fmt: skip
_FUNCTION = re.compile(r"(?:call \d+|address \d+ \S+) (cl\w+)")
_IS_FUNCTION = re.compile(r"cl[A-Z*?][\w*?]*")
_WALL_FACTOR = 60
_LEAST_WALL_LIMIT = 120.0


class Starved(HarnessError):
    """The machine had so much else to do that nothing can be said of the subject."""


@dataclass(frozen=True)
class ExpectedHangs:
    """What gives no answer in a case as usual: waiting for it would cost the whole time limit each time.

    `patterns` are those of what deviates in the case ("clFinish: no answer"), `limit` the seconds that are enough.
    """

    patterns: Sequence[str] = ()
    limit: float = 0.0

    def limit_of(self, what: str, usual: float, is_part: bool) -> float:
        """The limit of an answer: the usual one where it is of something else.

        `what` is the function, or the part of the case, `is_part`; parts that a check itself names are not known here.
        """
        silent = f"{what}: no answer" if what else "no answer"
        for pattern in self.patterns:
            named = pattern.partition(":")[0]
            of_check = not is_part and what and _IS_FUNCTION.fullmatch(named) is None
            if (of_check and fits_pattern(f"{named}: no answer", pattern)) or fits_pattern(silent, pattern):
                return min(usual, self.limit)
        return usual


def wall_limit(limit: float) -> float:
    """Seconds after which a session is given up whatever its process did with them."""
    return max(_LEAST_WALL_LIMIT, _WALL_FACTOR * limit)


def function_of(command: str) -> str:
    """The function that a command of the probe calls; "" for none."""
    match = _FUNCTION.search(command)
    return match[1] if match else ""


def compiles(command: str) -> bool:
    """Whether a command of the probe is a call that may have to compile."""
    return function_of(command) in COMPILING


def threads_of(pid: int) -> dict[int, tuple[float, float]]:
    """Seconds that each thread of a process and of its descendants ran and queued so far."""
    threads: dict[int, tuple[float, float]] = {}
    family = [pid]
    for member in family:
        try:
            for thread in os.listdir(f"/proc/{member}/task"):
                with open(f"/proc/{member}/task/{thread}/schedstat") as file:
                    ran, queued, _ = file.read().split()
                threads[int(thread)] = int(ran) / 1e9, int(queued) / 1e9
        except (OSError, ValueError):
            continue  # it ended, or this kernel does not count
        family += children_of(member)
    return threads


def _queued_here() -> float:
    """Seconds that this thread, which looks at others, queued for a processor so far; 0 where nobody counts."""
    try:
        with open("/proc/thread-self/schedstat") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


def _is_crowded() -> bool:
    """Whether more threads want to run than there are processors."""
    with open("/proc/loadavg") as file:
        return int(file.read().split()[3].partition("/")[0]) > len(os.sched_getaffinity(0))


class Meter:
    """Measures the time of one process; `used` is what it could use since `since`, of the monotonic clock, `computed`
    how much of that it computed in.

    server: another process, 0 for none, for which it has to wait: what that queued is not its own either.
    """

    def __init__(self, pid: int, since: float, server: int = 0) -> None:
        self.used = self.computed = 0.0
        self._pid = pid
        self._server = server
        self._server_queued = self._queued_by_server()
        self._watcher_queued = _queued_here()
        self._at = since
        self._threads: dict[int, tuple[float, float]] = {}

    def look(self) -> float:
        """Adds what went by since the last look; gives how much of it the process could use."""
        before, self._threads = self._threads, threads_of(self._pid)
        now = time.monotonic()
        watcher_before, self._watcher_queued = self._watcher_queued, _queued_here()
        # Where nobody could look, what was seen of others may be of long ago: threads that queued then have ended.
        passed, self._at = max(0.0, now - self._at - (self._watcher_queued - watcher_before)), now
        ran = longest = 0.0
        server_before, self._server_queued = self._server_queued, self._queued_by_server()
        queued = self._server_queued - server_before
        for thread, (runs, queues) in self._threads.items():
            runs_before, queues_before = before.get(thread, (0.0, 0.0))
            ran += runs - runs_before
            queued += queues - queues_before
            longest = max(longest, runs - runs_before)
        could = max(ran / (os.cpu_count() or 1), longest)
        if before.keys() <= self._threads.keys() or not _is_crowded():
            could = max(could, passed - queued)  # else threads ended, and nobody knows how long they queued
        self.used += (own := max(0.0, min(could, passed)))
        self.computed += max(0.0, min(ran, own))
        return own

    def remaining(self, limit: float, may_compute: bool) -> float:
        """Seconds that are left of a time limit, COMPILER_FACTOR of them for what may compute, while it computes."""
        return (min(limit + self.computed, COMPILER_FACTOR * limit) if may_compute else limit) - self.used

    def doing(self) -> str:
        """What the process did most of the time, as part of a sentence."""
        return "in which it computed" if self.computed > self.used / 2 else "in which it waited"

    def _queued_by_server(self) -> float:
        return sum(queued for _, queued in threads_of(self._server).values()) if self._server else 0.0
