# SPDX-License-Identifier: Apache-2.0
"""Writers of a call log that are killed anywhere leave what they wrote, in order, and one torn line each at most."""

from __future__ import annotations

import os
import struct
import subprocess
import time
from pathlib import Path

from harness.build import build
from harness.calllog import reader

ROUNDS = 8
WRITERS = 3
LINES = 10_000_000  # nobody gets that far


def used(descriptor: int) -> int:
    """Bytes of the lines that were written or begun."""
    return int(struct.unpack("<Q", os.pread(descriptor, 8, 32))[0])


def killed(path: Path, after: int) -> reader.CallLog:
    """What is read when several processes write into one log and are killed when so many bytes are in it."""
    reader.create(path, 1 << 28)
    descriptor = os.open(path, os.O_RDONLY)
    writers = [subprocess.Popen([build().calllog_bench, path, str(LINES)]) for _ in range(WRITERS)]
    try:
        deadline = time.monotonic() + 60
        while used(descriptor) < after:
            assert time.monotonic() < deadline, "nothing is written"
    finally:
        for writer in writers:
            writer.kill()
        codes = [writer.wait() for writer in writers]
        os.close(descriptor)
    assert codes == [-9] * WRITERS
    return reader.read(path)


def test_writers_that_are_killed_lose_no_line(tmp_path: Path) -> None:
    events = 0
    for number in range(ROUNDS):
        log = killed(tmp_path / "calllog", 100_000 * (number + 1))
        assert (log.dropped, log.torn <= WRITERS) == (0, True)
        assert all((e.kind, e.who, e.name, len(e.arguments)) == ("call", "vendor", "clGetPlatformInfo", 5) for e in log)
        written: dict[int, list[int]] = {}
        for event in log:
            written.setdefault(event.thread, []).append(event.arguments[0])
        for numbers in written.values():  # the benchmark counts its lines
            assert numbers == list(range(len(numbers)))
        events += len(log)
    assert events > ROUNDS * 1000
