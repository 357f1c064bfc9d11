# SPDX-License-Identifier: Apache-2.0
"""What a subject may take of the machine, besides what the kernel limits for each process (harness/sandbox/guard.c).

Looked at while an answer takes long, for what takes much of a machine takes time. Virtual memory is not limited:
sanitizers and drivers reserve any amount of it.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from harness.probe.process import MAX_FAMILY, Process

MAX_TASKS = 2000  # processes and threads
MAX_ENTRIES = 100_000  # files and folders in the sandbox
MAX_DEPTH = 200  # folders within each other, where there are many
MAX_OPEN = 20_000  # descriptors, each of which may hold memory of the kernel (pipes, sockets)
SUSPICIOUS = 128 << 20  # bytes that left a file system before anybody asks who has them
SUSPICIOUS_ENTRIES = 10_000
_PAGE = os.sysconf("SC_PAGE_SIZE")


def _machine() -> tuple[int, int]:
    """Bytes of memory that the machine has, and that are available."""
    values = {}
    with open("/proc/meminfo") as file:
        for line in itertools.islice(file, 5):
            name, value, *_ = line.split()
            values[name] = int(value) << 10
    return values["MemTotal:"], values.get("MemAvailable:", values["MemTotal:"])


def _most_memory() -> int:
    """Bytes of memory that a subject may have: less where little is left."""
    total, available = _machine()
    return total // 2 if available > total // 16 else total // 16


def _resident(pid: int) -> int:
    """Bytes of a process that are in memory and in no file."""
    with open(f"/proc/{pid}/statm") as file:
        _, resident, shared, *_ = map(int, file.read().split())
    return _PAGE * (resident - shared)


def _rollup(pid: int) -> dict[str, int]:
    """Bytes of a process by kind, where pages that processes share count for each of them in part only."""
    with open(f"/proc/{pid}/smaps_rollup") as file:
        return {name: int(value) << 10 for name, value, *_ in map(str.split, itertools.islice(file, 1, None))}


def _proportional(pid: int) -> int:
    """The same as `_resident`, in these parts."""
    values = _rollup(pid)
    return values.get("Pss_Anon:", values["Pss:"])


def _open_files(pid: int) -> Iterator[os.stat_result]:
    """The files that a process has open."""
    for name in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):
            yield os.stat(f"/proc/{pid}/fd/{name}")


class Limits:
    """The limits of one session; `folder` is its sandbox, in which it may have `disk` bytes where there is room."""

    def __init__(self, process: Process, folder: Path, disk: int) -> None:
        self._process = process
        self._folder = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        state = os.fstatvfs(self._folder)
        self._free, self._free_entries = state.f_bfree * state.f_frsize, state.f_ffree
        self._disk = min(disk, self._free // 2)
        self._since = time.time_ns()
        self._available = _machine()[1]

    def close(self) -> None:
        """Gives back the folder that the limits are in."""
        if self._folder >= 0:
            os.close(self._folder)
            self._folder = -1

    def exceeded(self) -> str:
        """Which limit the subject went past, in words; "" for none."""
        return self._processes() or self._files() or self._nameless()

    def _processes(self) -> str:
        pids = []
        tasks = resident = 0
        for pid in itertools.islice(self._process.pids(), 1, MAX_FAMILY):
            pids.append(pid)
            with contextlib.suppress(OSError, ValueError):  # it is gone
                tasks += len(os.listdir(f"/proc/{pid}/task"))
                if tasks > MAX_TASKS:  # time matters: more of them come meanwhile
                    return f"more than {MAX_TASKS} processes and threads"
                resident += _resident(pid)
        most = _most_memory()
        if resident <= most:
            return ""
        resident = 0
        for pid in pids:
            with contextlib.suppress(OSError, ValueError):
                resident += _proportional(pid)
        return f"more than {most >> 20} MiB of memory" if resident > most else ""

    def _taken(self) -> int:
        """Bytes that left the sandbox's file system since the start, whoever has them."""
        state = os.fstatvfs(self._folder)
        return self._free - state.f_bfree * state.f_frsize

    def _files(self) -> str:
        entries_taken = self._free_entries - os.fstatvfs(self._folder).f_ffree
        if self._taken() < min(SUSPICIOUS, self._disk) and entries_taken < SUSPICIOUS_ENTRIES:
            return ""
        entries = size = 0
        for path, folders, files, at in os.fwalk(".", dir_fd=self._folder):
            if path.count("/") > MAX_DEPTH:  # each level takes a descriptor, and a frame of Python's stack
                return f"more than {MAX_DEPTH} folders within each other in its sandbox"
            entries += len(folders) + len(files)
            for name in files:
                with contextlib.suppress(OSError):
                    file = os.stat(name, dir_fd=at, follow_symlinks=False)
                    size += 512 * file.st_blocks * (file.st_ctime_ns >= self._since)  # else it is not the subject's
            if entries > MAX_ENTRIES:
                return f"more than {MAX_ENTRIES} files in its sandbox"
            if size > self._disk:
                return f"more than {self._disk >> 20} MiB in its sandbox"
        return ""

    def _nameless(self) -> str:
        """The same of memory that is in no process, and of files that are in no folder."""
        if self._available - _machine()[1] < SUSPICIOUS and self._taken() < min(SUSPICIOUS, self._disk):
            return ""
        files: dict[tuple[int, int], int] = {}
        shared = opened = 0
        for pid in itertools.islice(self._process.pids(), 1, MAX_FAMILY):
            with contextlib.suppress(OSError, ValueError):
                shared += _rollup(pid).get("Pss_Shmem:", 0)
                for file in _open_files(pid):
                    opened += 1
                    if stat.S_ISREG(file.st_mode) and not file.st_nlink:
                        files[file.st_dev, file.st_ino] = 512 * file.st_blocks
                    if opened > MAX_OPEN:
                        return f"more than {MAX_OPEN} open files"
        own = os.fstat(self._folder).st_dev
        if sum(size for (device, _), size in files.items() if device == own) > self._disk:
            return f"more than {self._disk >> 20} MiB in its sandbox"
        most = _most_memory()
        return f"more than {most >> 20} MiB of memory" if sum(files.values()) > most or shared > most else ""
