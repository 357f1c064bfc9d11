# SPDX-License-Identifier: Apache-2.0
"""Turns the stacks that the probe writes into names of functions."""

from __future__ import annotations

import bisect
import ctypes
import os
import re
import signal
import zlib
from pathlib import Path

from harness.probe.symbols import functions_of
from harness.untrusted import open_regular

SIGNAL = signal.SIGRTMIN + 6
TGKILL = {"x86_64": 234, "aarch64": 131}.get(os.uname().machine, 0)
MAX_SHOWN = 24  # functions of a stack: the dynamic linker alone is ten of them when a library is loaded
MAX_THREADS = 256
MAX_LIBRARY = 1 << 28  # bytes that are read; what lies behind them has no names
# A subject may write such lines too: no more is taken from them than what the probe can have meant.
LINE = re.compile(r"^clharness stack (\d{1,10}) (\d{1,3}):((?: 0x[0-9a-f]{1,16}){0,64})$", re.M)
_MAP = re.compile(r"([0-9a-f]{1,16})-([0-9a-f]{1,16}) \S{4} ([0-9a-f]{1,16}) \S+ \d+ +(/.*)")
START = re.compile(r"^clharness start\r?\n?", re.M)  # of Windows' probe, before it loads the subject
MAPS = re.compile(r"clharness maps\n(.*?)clharness end", re.S)


def ask(pid: int) -> int:
    """Asks each thread of a process to write its stack; gives the number of threads asked."""
    libc = ctypes.CDLL(None, use_errno=True)
    count = 0
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return 0
    for thread in threads:
        count += TGKILL != 0 and libc.syscall(TGKILL, pid, int(thread), SIGNAL) == 0
    return count


def maps_of(pid: int) -> str:
    """The memory map of a process, or nothing when it is gone."""
    try:
        return Path(f"/proc/{pid}/maps").read_text()
    except OSError:
        return ""


_known: dict[tuple[int, int], tuple[list[int], list[tuple[int, str]]]] = {}


def _symbols_of(path: str) -> tuple[list[int], list[tuple[int, str]]]:
    """The functions of a file, read once for all copies of it: each case has copies of the mocks under own names."""
    try:
        with os.fdopen(open_regular(path), "rb") as file:
            key = (os.fstat(file.fileno()).st_size, zlib.crc32(file.read(4096)))  # the build-id is there
            if key not in _known:
                file.seek(0)
                _known[key] = functions_of(file.read(MAX_LIBRARY))
    except OSError:
        return [], []
    return _known[key]


def function_at(library: str, address: int) -> str:
    """The place of an address of a library, counted from its base: function+offset where it has names."""
    addresses, names = _symbols_of(library)
    at = bisect.bisect_right(addresses, address) - 1
    if at >= 0 and address <= names[at][0]:
        return f"{names[at][1]}+{address - addresses[at]:#x}"
    return f"{address:#x}"


def _name(address: int, maps: list[tuple[int, int, int, str]]) -> str:
    for start, end, offset, path in maps:
        if start <= address < end:
            inside = address - start + offset
            addresses, names = _symbols_of(path)
            at = bisect.bisect_right(addresses, inside) - 1
            name = f"{inside:#x}"
            if at >= 0 and inside < names[at][0]:
                name = f"{names[at][1]}+{inside - addresses[at]:#x}"
            return f"{name} ({os.path.basename(path)})"
    return f"{address:#x}"


def readable(stderr: str, maps: str = "") -> str:
    """The stacks in what the probe wrote to standard error, one paragraph a thread; innermost function first."""
    written = MAPS.search(stderr)
    parsed = []
    for line in (maps or (written[1] if written else "")).splitlines():
        if fields := _MAP.fullmatch(line):
            start, end, offset = (int(fields[n], 16) for n in (1, 2, 3))
            parsed.append((start, end, offset, fields[4]))
    paragraphs = []
    for thread, _, frames in LINE.findall(stderr)[:MAX_THREADS]:
        names = [_name(int(frame, 16), parsed) for frame in frames.split()]
        inner = [n for n in names if not n.startswith(("write_stack", "crashed+"))][:MAX_SHOWN]
        paragraphs.append(f"thread {thread}: " + "\n    ".join(inner))
    return "\n".join(paragraphs)


def without_stacks(stderr: str) -> str:
    """What the subject itself wrote to standard error."""
    return START.sub("", LINE.sub("", MAPS.sub("", stderr)), count=1).strip()
