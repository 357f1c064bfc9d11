# SPDX-License-Identifier: Apache-2.0
"""A subject cannot have any process but its own ended, and all that it started ends with its session."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import socket
import subprocess
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.probe import AbnormalExit, Crashed
from harness.probe.connection import Connection
from harness.probe.process import Process
from harness.probe.verdicts import ProtocolViolation, SubjectFailure
from harness.sandbox import Sandbox
from harness.subject.loader import Loader
from tests.hostile import Tell, hostile, sandbox, tell

__all__ = ["hostile", "sandbox", "tell"]

# A daemon as a shell makes one: two forks, a session of its own.
DAEMON = "setsid sh -c 'sleep 1000 &'"


def daemons(sandbox: Sandbox) -> list[int]:
    """The sleeping daemons of this case that are alive. The numbers that they know themselves mean nothing here."""
    pids = []
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if os.readlink(place / "cwd") == str(sandbox.root) and (place / "comm").read_text() == "sleep\n":
                pids.append(int(place.name))
    return pids


def started(sandbox: Sandbox, count: int) -> bool:
    """Whether so many daemons are there, soon."""
    until = time.monotonic() + 20
    while len(daemons(sandbox)) != count and time.monotonic() < until:
        time.sleep(0.001)
    return len(daemons(sandbox)) == count


@pytest.fixture
def bystander() -> Iterator[subprocess.Popen[bytes]]:
    """A process of the same user that has nothing to do with any case."""
    process = subprocess.Popen(["sleep", "1000"])
    yield process
    process.kill()
    process.wait()


@pytest.mark.parametrize("named", ["-1", "0", "1", "own", "bystander", "99999999999999999999", "x"])
def test_the_process_that_a_subject_names_is_not_signalled(
    hostile: Loader, sandbox: Sandbox, tell: Tell, bystander: subprocess.Popen[bytes], named: str
) -> None:
    ours: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: ours.append(number))
    try:
        number = {"own": os.getpid(), "bystander": bystander.pid}.get(named, named)
        tell(greeting=f"ok pid={number} secure=0 linked=0")
        with pytest.raises(ProtocolViolation, match=str(number)) as caught, hostile.start(sandbox):
            pass
    finally:
        signal.signal(signal.SIGTERM, before)
    assert caught.value.verdict == "crash"
    assert bystander.poll() is None and not ours
    tell()
    with hostile.start(sandbox) as cl:
        assert cl.platform_names() == ["hostile"], "the control: without the greeting it is an ordinary loader"


@pytest.mark.parametrize("system", [False, True], ids=["plain", "private root"])
def test_a_daemon_ends_with_its_session(hostile: Loader, sandbox: Sandbox, tell: Tell, system: bool) -> None:
    tell(shell=DAEMON)
    with hostile.start(sandbox, system=system) as cl:
        cl.platform_count()
        assert started(sandbox, 1)
    assert not daemons(sandbox)


def test_a_daemon_ends_with_a_session_that_crashed(hostile: Loader, sandbox: Sandbox, tell: Tell) -> None:
    tell(shell=DAEMON, aborts="")
    with pytest.raises(SubjectFailure), hostile.start(sandbox) as cl:
        cl.platform_count()
    assert not daemons(sandbox)


def test_hundreds_of_sessions_of_their_own_end(hostile: Loader, sandbox: Sandbox, tell: Tell) -> None:
    tell(shell="for n in $(seq 300); do setsid sleep 1000 & done")
    with hostile.start(sandbox, time_limit=30) as cl:
        cl.platform_count()
        assert started(sandbox, 300)
    assert not daemons(sandbox)


def test_processes_that_start_others_forever_end(hostile: Loader, sandbox: Sandbox, tell: Tell) -> None:
    """Each of a chain of processes starts the next one and is gone."""
    (sandbox.root / "chain").write_text("echo $$ > last\nsetsid sh chain &\n")
    tell(shell="setsid sh chain")
    with hostile.start(sandbox) as cl:
        cl.platform_count()
    last = (sandbox.root / "last").read_text()
    until = time.monotonic() + 0.2
    while time.monotonic() < until:
        assert (sandbox.root / "last").read_text() == last, "nobody writes it any more"


def test_what_the_worker_itself_started_goes_on(
    hostile: Loader, sandbox: Sandbox, tell: Tell, bystander: subprocess.Popen[bytes]
) -> None:
    tell(shell=DAEMON)
    with hostile.start(sandbox) as cl:
        cl.platform_count()
    assert not daemons(sandbox)
    assert bystander.poll() is None


def test_a_session_that_goes_on_keeps_its_processes(hostile: Loader, sandbox: Sandbox, tell: Tell) -> None:
    tell(shell=DAEMON)
    with hostile.start(sandbox) as first:
        first.platform_count()
        with hostile.start(sandbox):
            pass
        assert started(sandbox, 1) and first.platform_count() == 1
    assert not daemons(sandbox)


def test_a_crash_is_a_crash_while_a_daemon_keeps_the_socket_open(hostile: Loader, sandbox: Sandbox, tell: Tell) -> None:
    tell(shell=DAEMON, aborts="")
    start = time.monotonic()
    with pytest.raises(Crashed, match="SIGABRT"), hostile.start(sandbox, time_limit=20) as cl:
        cl.platform_count()
    assert time.monotonic() - start < 10


@pytest.mark.parametrize("code", [0, 3, 134, 255])
def test_any_exit_code_is_an_abnormal_exit(hostile: Loader, sandbox: Sandbox, tell: Tell, code: int) -> None:
    tell(exits=str(code))
    with pytest.raises(AbnormalExit, match=f"exit code {code} "), hostile.start(sandbox) as cl:
        cl.platform_count()


@pytest.mark.parametrize("code", [0, 1])
@pytest.mark.parametrize("when", ["at_exit", "at_unloading"])
def test_end_that_a_subject_cuts_short_is_an_abnormal_exit(
    hostile: Loader, sandbox: Sandbox, tell: Tell, when: str, code: int
) -> None:
    """The program's own exit code is lost then, and what other libraries do at the end."""
    tell(**{f"exits_{when}": str(code)})
    with (
        pytest.raises(AbnormalExit, match=f"exit code {code}.* in: the end of the process"),
        hostile.start(sandbox) as cl,
    ):
        cl.platform_count()


@pytest.mark.parametrize("at_once", [True, False], ids=["before it is asked", "when it is asked"])
def test_an_end_is_told_of_what_was_asked_however_early_it_came(
    hostile: Loader, sandbox: Sandbox, tell: Tell, monkeypatch: pytest.MonkeyPatch, at_once: bool
) -> None:
    """What a case deviates in must not depend on which of the two processes was faster."""
    start = Connection._start

    def start_and_wait(connection: Connection, theirs: socket.socket) -> Process:
        process = start(connection, theirs)
        theirs.close()
        assert not at_once or select.select([process.descriptor], [], [], 60)[0]
        return process

    monkeypatch.setattr(Connection, "_start", start_and_wait)
    tell(greeting_exits="3")
    with pytest.raises(AbnormalExit, match="exit code 3 in: hello"), hostile.start(sandbox):
        pass


@pytest.mark.parametrize("at_once", [True, False], ids=["before it is asked", "when it is asked"])
def test_a_forged_greeting_is_one_however_early_it_came(
    hostile: Loader, sandbox: Sandbox, tell: Tell, monkeypatch: pytest.MonkeyPatch, at_once: bool
) -> None:
    start = Connection._start

    def start_and_wait(connection: Connection, theirs: socket.socket) -> Process:
        process = start(connection, theirs)
        until = time.monotonic() + 60
        while at_once and not any(fcntl.ioctl(theirs, termios.TIOCOUTQ, bytes(4))):  # nothing came that is not read
            assert time.monotonic() < until
            select.select([], [], [], 0.01)
        return process

    monkeypatch.setattr(Connection, "_start", start_and_wait)
    tell(greeting="rubbish")
    with pytest.raises(ProtocolViolation, match="'hello' was answered with 'rubbish'"), hostile.start(sandbox):
        pass


def test_a_process_that_ends_right_after_its_greeting_is_no_stranger(hostile: Loader, sandbox: Sandbox) -> None:
    with pytest.raises(Crashed, match="SIGABRT"), hostile.start(sandbox) as cl:
        own = int(cl.command("hello").split()[0].removeprefix("pid="))
        cl.found_pid(own)
        with pytest.raises(ProtocolViolation, match="not one of this case"):
            cl.found_pid(1 << 22)
        os.kill(cl.pid, signal.SIGABRT)
        select.select([cl._process.descriptor], [], [])
        cl.found_pid(own)


def test_a_process_that_is_gone_before_its_guard_says_how_is_no_stranger(
    hostile: Loader, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Crashed, match="SIGABRT"), hostile.start(sandbox) as cl:
        guard = cl._process.guard
        os.kill(guard, signal.SIGSTOP)
        os.kill(cl.pid, signal.SIGABRT)
        until = time.monotonic() + 20
        while cl._process.is_alive() and time.monotonic() < until:
            select.select([], [], [], 0.001)

        def nobody(number: int) -> int:
            os.kill(guard, signal.SIGCONT)
            return 0

        monkeypatch.setattr(cl._process, "pid_of", nobody)
        cl.found_pid(cl._own_number)


def test_a_subject_that_interrupts_whatever_waits_is_waited_for(hostile: Loader, sandbox: Sandbox, tell: Tell) -> None:
    tell(greeting_interrupts="")
    with hostile.start(sandbox) as cl:
        for _ in range(50):
            assert cl.platform_names() == ["hostile"]


def test_a_subject_that_renames_its_process_can_be_opened_again(hostile: Loader, sandbox: Sandbox, tell: Tell) -> None:
    tell(greeting_renames_itself="x")
    with hostile.start(sandbox, late=True) as cl:
        for _ in range(2):
            cl.open()
            assert cl.platform_names() == ["hostile"]
            cl.close()
