# SPDX-License-Identifier: Apache-2.0
"""Whatever a subject writes without end or puts in the place of files, its case ends, and costs no more than shown."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.build import build
from harness.probe import Crashed, SubjectFailure, connection, limits
from harness.probe.connection import Connection
from harness.probe.output import MAX_SHOWN
from harness.probe.process import Process
from harness.probe.replies import CommandError
from harness.probe.values import Value
from harness.sandbox import Sandbox, guard
from harness.sandbox import sandbox as module
from harness.sandbox.machine import is_root
from harness.subject.loader import Loader
from tests.hostile import Tell, hostile, tell

__all__ = ["hostile", "tell"]


@pytest.fixture
def sandbox(hostile: Loader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sandbox]:
    """On a file system of its own, where one can be mounted: what others give back meanwhile hides what a subject
    takes of one that they share.
    """
    place = tmp_path / "own"
    place.mkdir()
    mounts = is_root() and subprocess.run(["mount", "-t", "tmpfs", "none", place], capture_output=True).returncode == 0
    if mounts:
        monkeypatch.setattr(module, "_swept_root", lambda: place)
    try:
        with contextlib.closing(Sandbox(hostile.path)) as box:
            yield box
    finally:
        if mounts:
            subprocess.run(["umount", "-l", place], check=True)


def test_output_without_end_is_a_crash_of_its_own(
    hostile: Loader, sandbox: Sandbox, tell: Tell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(Connection, "file_limit", 4 << 20)
    tell(writes_without_end="x" * 4096)
    with pytest.raises(Crashed, match="SIGXFSZ"), hostile.start(sandbox, time_limit=60) as cl:
        cl.platform_count()
    assert (sandbox.root / "stderr").stat().st_size == 4 << 20
    assert len(cl.stderr) == MAX_SHOWN
    assert (sandbox.keep(tmp_path / "kept") / "stderr").stat().st_size == MAX_SHOWN


def test_limits_are_those_of_the_subject_alone(hostile: Loader, sandbox: Sandbox) -> None:
    ours = resource.getrlimit(resource.RLIMIT_FSIZE)
    with hostile.start(sandbox) as cl:
        limits = Path(f"/proc/{cl.pid}/limits").read_text()
        first_to_go = Path(f"/proc/{cl.pid}/oom_score_adj").read_text()
    sizes = next(line for line in limits.splitlines() if line.startswith("Max file size")).split()[3:5]
    assert sizes == [str(Connection.file_limit)] * 2
    assert first_to_go == "1000\n"
    assert resource.getrlimit(resource.RLIMIT_FSIZE) == ours


REPLACED = {
    "a FIFO": "rm {0}; mkfifo {0}",
    "a link": "rm {0}; ln -s /etc/passwd {0}",
    "a folder": "rm {0}; mkdir {0}",
    "a device": "rm {0}; ln -s /dev/zero {0}",
}


@pytest.mark.parametrize("name", ["stderr", "stdout"])
@pytest.mark.parametrize("what", REPLACED)
def test_what_took_the_place_of_the_output_is_not_opened(
    hostile: Loader, sandbox: Sandbox, tell: Tell, what: str, name: str
) -> None:
    tell(writes="before", shell=REPLACED[what].format(name))
    with hostile.start(sandbox) as cl:
        cl.platform_count()
    assert cl.stderr == "before"
    assert cl.stdout == ""
    tell()
    with pytest.raises(SubjectFailure, match=f"replaced .*{name}"), hostile.start(sandbox):
        pass


def test_a_sparse_output_is_neither_read_nor_copied_whole(
    hostile: Loader, sandbox: Sandbox, tell: Tell, tmp_path: Path
) -> None:
    tell(shell="truncate -s 200M stderr", writes="after")
    with hostile.start(sandbox) as cl:
        cl.platform_count()
    assert len(cl.stderr) <= MAX_SHOWN
    assert (sandbox.keep(tmp_path / "kept") / "stderr").stat().st_blocks <= 16


def test_sessions_of_one_sandbox_have_each_their_own_part(hostile: Loader, sandbox: Sandbox, tell: Tell) -> None:
    for text in ("one", "two"):
        tell(writes=text)
        with hostile.start(sandbox) as cl:
            cl.platform_count()
            assert cl.stderr == text
        assert cl.stderr == text


def test_processes_without_end_are_a_crash_of_its_own(
    hostile: Loader, sandbox: Sandbox, tell: Tell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MAX_TASKS", 50)
    tell(forks="40")
    with hostile.start(sandbox, time_limit=30) as cl:
        assert cl.platform_count() == 1, "the control"
    tell(forks="60", hangs="")
    with pytest.raises(SubjectFailure, match="more than 50 processes") as caught, hostile.start(sandbox) as cl:
        cl.platform_count()
    assert caught.value.verdict == "crash"


@pytest.mark.parametrize("failures", [3, 10**9], ids=["for a while", "for ever"])
def test_case_waits_for_the_processes_that_another_one_has_taken(
    hostile: Loader, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, failures: int
) -> None:
    left = iter(range(failures))

    def start(*arguments: Any, **options: Any) -> Process:
        if next(left, None) is not None:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        return Process(*arguments, **options)

    monkeypatch.setattr(connection, "Process", start)
    if failures > 3:
        monkeypatch.setattr(connection, "_FULL_LIMIT", 0.2)
        with pytest.raises(BlockingIOError), hostile.start(sandbox):
            pass
    else:
        with hostile.start(sandbox) as cl:
            assert cl.platform_count() == 1


@pytest.mark.skipif(guard.isolation() != "namespaces", reason="this machine has no namespaces for the subject")
def test_the_kernel_bounds_processes_also_of_root(hostile: Loader, sandbox: Sandbox, tell: Tell) -> None:
    """Whatever the harness notices of it, and without a change to the machine's own bound."""
    if is_root() and tuple(map(int, re.findall(r"\d+", os.uname().release)[:2])) < (6, 14):
        pytest.skip("a namespace has a bound of its own since Linux 6.14")
    machine = Path("/proc/sys/kernel/pid_max")
    before = machine.read_text()
    tell(shell="cat /proc/sys/kernel/pid_max > largest; ulimit -u > processes")
    with hostile.start(sandbox) as cl:
        assert cl.platform_count() == 1
    bound = "largest" if is_root() else "processes"
    assert (sandbox.root / bound).read_text() == "2400\n"
    assert machine.read_text() == before


def test_memory_without_end_is_a_crash_of_its_own(
    hostile: Loader, sandbox: Sandbox, tell: Tell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "_machine", lambda: (200 << 20, 100 << 20))
    tell(allocates="50", sleeps="300")
    with hostile.start(sandbox, time_limit=30) as cl:
        assert cl.platform_count() == 1, "the control"
    tell(allocates="150", hangs="")
    with pytest.raises(SubjectFailure, match="more than 100 MiB of memory"), hostile.start(sandbox) as cl:
        cl.platform_count()


@pytest.mark.parametrize(
    ("what", "few", "many", "limit"),
    [
        ("allocates_shared", "10", "150", "more than 100 MiB of memory"),
        ("allocates_file", "10", "150", "more than 100 MiB of memory"),
        ("opens", "10", "200", "more than 300 open files"),
    ],
    ids=["shared", "file", "pipes"],
)
def test_memory_that_no_process_has_is_bounded_as_well(
    hostile: Loader,
    sandbox: Sandbox,
    tell: Tell,
    monkeypatch: pytest.MonkeyPatch,
    what: str,
    few: str,
    many: str,
    limit: str,
) -> None:
    """Pages shared without a file, files without a name, and what the kernel keeps for descriptors."""
    monkeypatch.setattr(limits, "_machine", lambda: (200 << 20, 100 << 20))
    monkeypatch.setattr(limits, "SUSPICIOUS", -(1 << 40))
    monkeypatch.setattr(limits, "MAX_OPEN", 300)
    tell(**{what: few}, sleeps="300")
    with hostile.start(sandbox, time_limit=30) as cl:
        assert cl.platform_count() == 1, "the control"
    tell(**{what: many}, hangs="")
    with pytest.raises(SubjectFailure, match=limit), hostile.start(sandbox) as cl:
        cl.platform_count()


def test_file_without_a_name_is_in_the_sandbox_all_the_same(
    hostile: Loader, sandbox: Sandbox, tell: Tell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Connection, "file_limit", 4 << 20)
    monkeypatch.setattr(Connection, "disk_factor", 1)
    monkeypatch.setattr(limits, "SUSPICIOUS", -(1 << 40))  # whatever others do with the same file system
    tell(shell="(head -c 3M /dev/zero; rm removed; head -c 1M /dev/zero; sleep 0.3) > removed")
    with hostile.start(sandbox, time_limit=30) as cl:
        assert cl.platform_count() == 1, "the control"
    several = "; ".join(f"exec {n}> r{n}; rm r{n}; head -c 2M /dev/zero >&{n}" for n in (3, 4, 5, 6))
    tell(shell=several + "; sleep 1000")
    with pytest.raises(SubjectFailure, match="more than 4 MiB in its sandbox"), hostile.start(sandbox) as cl:
        cl.platform_count()


def test_memory_that_children_share_counts_once(
    hostile: Loader, sandbox: Sandbox, tell: Tell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "_machine", lambda: (200 << 20, 100 << 20))
    tell(allocates="50", forks="5", sleeps="300")
    with hostile.start(sandbox, time_limit=30) as cl:
        assert cl.platform_count() == 1


def test_memory_is_scarcer_where_the_machine_has_little_left(
    hostile: Loader, sandbox: Sandbox, tell: Tell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "_machine", lambda: (320 << 20, 10 << 20))
    tell(allocates="50", hangs="")
    with pytest.raises(SubjectFailure, match="more than 20 MiB of memory"), hostile.start(sandbox) as cl:
        cl.platform_count()


def test_files_of_the_case_itself_are_not_the_subjects(
    hostile: Loader, sandbox: Sandbox, tell: Tell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thousand mocks are not a subject that writes without end, however large they are."""
    monkeypatch.setattr(Connection, "file_limit", 4 << 20)
    monkeypatch.setattr(limits, "SUSPICIOUS", -(1 << 40))
    sandbox.file("large", b"x" * (20 << 20))
    tell(shell="head -c 1M /dev/zero > one", sleeps="300")
    with hostile.start(sandbox, time_limit=30) as cl:
        assert cl.platform_count() == 1
    tell(shell="cat large > another; head -c 1M /dev/zero > one", hangs="")
    monkeypatch.setattr(Connection, "file_limit", 20 << 20)
    monkeypatch.setattr(Connection, "disk_factor", 1)
    with pytest.raises(SubjectFailure, match="in its sandbox"), hostile.start(sandbox) as cl:
        cl.platform_count()


@pytest.mark.parametrize(
    ("commands", "limit"),
    [
        # Far more than others can give back meanwhile, where the same file system serves them.
        ("for n in $(seq 40); do head -c 4M /dev/zero > many-$n; done", "more than 16 MiB in its sandbox"),
        ("mkdir f; cd f; seq 300 | xargs touch", "more than 200 files in its sandbox"),
    ],
    ids=["bytes", "files"],
)
def test_files_without_end_are_a_crash_of_its_own(
    hostile: Loader, sandbox: Sandbox, tell: Tell, monkeypatch: pytest.MonkeyPatch, commands: str, limit: str
) -> None:
    monkeypatch.setattr(Connection, "file_limit", 4 << 20)
    monkeypatch.setattr(limits, "MAX_ENTRIES", 200)
    monkeypatch.setattr(limits, "SUSPICIOUS_ENTRIES", 100)
    tell(shell="head -c 1M /dev/zero > one", sleeps="300")
    with hostile.start(sandbox, time_limit=30) as cl:
        assert cl.platform_count() == 1, "the control"
    tell(shell=commands, hangs="")
    with pytest.raises(SubjectFailure, match=limit), hostile.start(sandbox) as cl:
        cl.platform_count()


@pytest.mark.parametrize("advice", ["asked", "ignored"])
def test_memory_past_a_small_buffer_cannot_be_read(
    hostile: Loader, sandbox: Sandbox, tmp_path: Path, advice: str
) -> None:
    """Also where the machine says that it took advice that it does not know, as qemu-user does."""
    if advice == "ignored":
        source, library = tmp_path / "madvise.c", tmp_path / "madvise.so"
        source.write_text("int madvise(void *at, unsigned long size, int advice) { return !at && !size && !advice; }")
        subprocess.run([build().compiler, "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
        sandbox.env["LD_PRELOAD"] = str(library)
    with hostile.start(sandbox) as cl:
        for buffer in [cl.data(b"12345678") for _ in range(3)]:
            place = Value(0, f"b{buffer.index}")
            assert cl.bytes_at(place, 8) == b"12345678"
            with pytest.raises(CommandError):
                cl.peek(place, 8)
