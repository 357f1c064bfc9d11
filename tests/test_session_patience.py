# SPDX-License-Identifier: Apache-2.0
"""A time limit measures the subject, and not how busy the machine is."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from harness.probe import Crashed, Hung, Session, patience
from harness.probe.icd_session import IDLE
from harness.probe.patience import Meter, Starved
from harness.sandbox import Sandbox
from harness.subject.icd import Icd
from harness.subject.loader import Loader
from tests.hostile import Tell, hostile, sandbox, tell

__all__ = ["hostile", "sandbox", "tell"]

CPU = min(os.sched_getaffinity(0))
HOGS = 4


def used(session: Session) -> float:
    """Seconds that the subject could use of what it was waited for last: the clock also has what others took."""
    assert session._meter
    return session._meter.used


@pytest.fixture
def crowd() -> Iterator[None]:
    """One processor has five times more to do than it can."""
    program = f"import os\nos.sched_setaffinity(0, [{CPU}])\nprint(flush=True)\nwhile True: pass"
    with contextlib.ExitStack() as stack:
        for _ in range(HOGS):
            hog = subprocess.Popen([sys.executable, "-c", program], start_new_session=True, stdout=subprocess.PIPE)
            stack.callback(hog.wait)
            stack.callback(hog.kill)
            assert hog.stdout and hog.stdout.readline() == b"\n"
            stack.callback(hog.stdout.close)
        yield


@pytest.mark.parametrize("work", ["burns", "burns_in_turn"])
def test_a_starved_subject_does_not_hang(hostile: Loader, sandbox: Sandbox, tell: Tell, crowd: None, work: str) -> None:
    """It needs less than the limit, and gets it in many times that."""
    tell(**{work: "300"})
    with hostile.start(sandbox, time_limit=0.6) as cl:
        os.sched_setaffinity(cl.pid, [CPU])
        start = time.monotonic()
        assert cl.platform_count() == 1
        assert time.monotonic() - start > 0.6, "the processor really was taken"
        os.sched_setaffinity(cl.pid, os.sched_getaffinity(0))


def test_a_subject_that_turns_in_circles_hangs_on_a_busy_machine_too(
    hostile: Loader, sandbox: Sandbox, tell: Tell, crowd: None
) -> None:
    tell(spins="")
    start = time.monotonic()
    with pytest.raises(Hung), hostile.start(sandbox, time_limit=0.2) as cl:
        os.sched_setaffinity(cl.pid, [CPU])
        cl.platform_count()
    assert time.monotonic() - start > 0.4


def test_a_subject_that_waits_for_nobody_hangs_on_a_busy_machine_as_soon(
    hostile: Loader, sandbox: Sandbox, tell: Tell, crowd: None
) -> None:
    tell(hangs="")
    start = time.monotonic()
    with pytest.raises(Hung) as caught, hostile.start(sandbox, time_limit=0.5) as cl:
        cl.platform_count()
    assert time.monotonic() - start >= 0.5
    assert 0.5 <= used(cl) < 1
    assert "pause" in caught.value.stacks


def test_the_limit_is_one_of_each_answer(hostile: Loader, sandbox: Sandbox, tell: Tell) -> None:
    tell(sleeps="400")
    with hostile.start(sandbox, time_limit=1.2) as cl:
        start = time.monotonic()
        for _ in range(4):
            assert cl.platform_count() == 1
        assert time.monotonic() - start > 1.2


def test_the_limit_is_one_of_each_answer_in_one_exchange_too(hostile: Loader, sandbox: Sandbox, tell: Tell) -> None:
    """What one call used is not laid at the door of the next, which may not compute for as long."""
    tell(sleeps="400")
    with hostile.start(sandbox, time_limit=1.2) as cl:
        count = cl.room(1, 0)
        start = time.monotonic()
        answers = cl.commands(*(cl._call_line("clGetPlatformIDs", (0, None, count)) for _ in range(4)))
        assert len(answers) == 4
        assert time.monotonic() - start > 1.2


def test_a_compiler_may_compute_for_longer_than_other_calls(
    hostile: Loader, sandbox: Sandbox, tell: Tell, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(burns="900")
    with pytest.raises(Hung, match="in which it computed"), hostile.start(sandbox, time_limit=0.3) as cl:
        cl.platform_count()
    monkeypatch.setattr("harness.probe.patience.COMPILING", {"clGetPlatformIDs"})
    with hostile.start(sandbox, time_limit=0.3) as cl:
        assert cl.platform_count() == 1


def test_threads_that_compile_may_compute_for_longer_too(
    hostile: Loader, sandbox: Sandbox, tell: Tell, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(burns="900")
    with hostile.start(sandbox, time_limit=0.3) as cl:
        cl.in_thread(0, "clGetPlatformIDs", 0, None, None)
        with pytest.raises(Hung, match="in which it computed"):
            cl.go()
    monkeypatch.setattr("harness.probe.patience.COMPILING", {"clGetPlatformIDs"})
    with hostile.start(sandbox, time_limit=0.3) as cl:
        cl.in_thread(0, "clGetPlatformIDs", 0, None, None)
        assert cl.go() == 1


def test_many_calls_of_threads_may_compute_for_longer_than_one(hostile: Loader, sandbox: Sandbox, tell: Tell) -> None:
    """A driver makes contexts one at a time, however many threads ask for them; one answer is of them all."""
    tell(burns="900")
    with hostile.start(sandbox, time_limit=0.3) as cl:
        for _ in range(2):
            cl.in_thread(0, "clGetPlatformIDs", 0, None, None)
        assert cl.go() == 1


def test_many_calls_of_threads_that_wait_hang_as_soon_as_one(hostile: Loader, sandbox: Sandbox, tell: Tell) -> None:
    tell(hangs="")
    with pytest.raises(Hung, match="in which it waited"), hostile.start(sandbox, time_limit=0.5) as cl:
        for _ in range(2):
            cl.in_thread(0, "clGetPlatformIDs", 0, None, None)
        cl.go()
    assert 0.5 <= used(cl) < 1


def test_a_compiler_that_computes_for_ever_hangs(
    hostile: Loader, sandbox: Sandbox, tell: Tell, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(spins="")
    monkeypatch.setattr("harness.probe.patience.COMPILING", {"clGetPlatformIDs"})
    start = time.monotonic()
    with pytest.raises(Hung, match="in which it computed"), hostile.start(sandbox, time_limit=0.1) as cl:
        cl.platform_count()
    assert time.monotonic() - start > 0.1 * patience.COMPILER_FACTOR


def test_a_compiler_that_waits_hangs_as_soon_as_other_calls(
    hostile: Loader, sandbox: Sandbox, tell: Tell, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(hangs="")
    monkeypatch.setattr("harness.probe.patience.COMPILING", {"clGetPlatformIDs"})
    with pytest.raises(Hung, match="in which it waited"), hostile.start(sandbox, time_limit=0.5) as cl:
        cl.platform_count()
    assert 0.5 <= used(cl) < 1


@pytest.mark.parametrize(
    ("pattern", "what", "is_part", "expected"),
    [
        ("clFlush: no answer", "clFlush", False, True),
        ("clFlush: no answer", "clFinish", False, False),
        ("clFlush: no answer", "", False, False),
        ("no answer", "", False, True),
        ("no answer", "clFlush", False, False),
        ("*no answer", "clFlush", False, True),
        ("*", "clFlush", False, True),
        ("cl_event: no answer", "cl_event", True, True),
        ("cl_event: no answer", "cl_command_queue", True, False),
        ("the end of the process: no answer", "the end of the process", True, True),
        ("the end of the process: no answer", "cl_event", True, False),
        ("an event: no answer", "clFlush", False, True),  # a part that the check itself names
        ("an event: no answer", "", False, False),  # as where a session begins
        ("an event: CL_SUCCESS instead of CL_INVALID_EVENT", "clFlush", False, False),
        ("clCreate*: no answer", "clFlush", False, False),
        ("clCreate*: no answer", "clCreateContext", False, True),
    ],
)
def test_what_is_expected_not_to_answer_has_a_limit_of_its_own(
    pattern: str, what: str, is_part: bool, expected: bool
) -> None:
    hangs = patience.ExpectedHangs([pattern], 0.5)
    assert hangs.limit_of(what, 5.0, is_part) == (0.5 if expected else 5.0)
    assert hangs.limit_of(what, 0.1, is_part) == 0.1


@pytest.mark.parametrize("function", ["clGetPlatformIDs", "clFlush"])
def test_expected_hang_of_another_function_makes_no_hang_of_a_slow_one(
    hostile: Loader, sandbox: Sandbox, tell: Tell, function: str
) -> None:
    tell(sleeps="700")
    cl = hostile.start(sandbox, time_limit=30)
    cl.expected_hangs = patience.ExpectedHangs([f"{function}: no answer"], 0.2)
    if function == "clGetPlatformIDs":
        with pytest.raises(Hung, match=r"no answer within 0\.2 s"), cl:
            cl.platform_count()
        return
    with cl:
        assert cl.platform_count() == 1


@pytest.mark.parametrize(("command", "expected"), [("vulkan 86 open 00", 30.0), ("end", 0.2)])
def test_expected_hang_of_the_process_makes_no_hang_of_vulkan(
    hostile: Loader, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, command: str, expected: float
) -> None:
    cl = hostile.start(sandbox, time_limit=30)
    cl.expected_hangs = patience.ExpectedHangs(["no answer"], 0.2)
    with cl, monkeypatch.context() as changed:
        changed.setattr(cl, "_last", command)
        assert cl.limit() == expected


def test_a_session_has_a_limit_too(
    hostile: Loader, sandbox: Sandbox, tell: Tell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.probe.connection.SESSION_FACTOR", 2)
    tell(sleeps="200")
    with pytest.raises(Hung), hostile.start(sandbox, time_limit=0.4) as cl:
        for _ in range(20):
            cl.platform_count()


def test_a_machine_that_gives_it_nothing_is_to_blame(
    hostile: Loader, sandbox: Sandbox, tell: Tell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A limit by the clock on the wall is the last resort, and no verdict."""
    monkeypatch.setattr("harness.probe.connection.wall_limit", lambda limit: 0.3)
    monkeypatch.setattr(Meter, "look", lambda self: 0.0)
    tell(hangs="")
    with pytest.raises(Starved, match=r"0\.3 s"), hostile.start(sandbox) as cl:
        cl.platform_count()


def test_what_a_server_queues_is_not_the_processs_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process of Windows waits for Wine's server, which itself waits for a processor."""
    clock = iter((100.0, 101.0))
    queued = iter((5.0, 5.75, 6.75))
    monkeypatch.setattr(patience, "threads_of", lambda pid: {2: (1.0, next(queued))} if pid == 2 else {1: (0.0, 0.0)})
    monkeypatch.setattr(patience, "_queued_here", lambda: 0.0)
    monkeypatch.setattr("harness.probe.patience.time.monotonic", lambda: next(clock))
    meter = Meter(1, 99.0, server=2)
    assert meter.look() == 0.25
    assert meter.look() == 0.0


def test_time_in_which_nobody_could_look_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process queued and ended while the thread that looks at it queued as well: no thread is left to ask."""
    clock = iter((101.0, 106.0))
    queued = iter((3.0, 3.25, 8.0))
    monkeypatch.setattr(patience, "threads_of", lambda pid: {1: (0.0, 0.0)})
    monkeypatch.setattr(patience, "_queued_here", lambda: next(queued))
    monkeypatch.setattr("harness.probe.patience.time.monotonic", lambda: next(clock))
    meter = Meter(1, 100.0)
    assert meter.look() == 0.75
    assert meter.look() == 0.25


def test_what_the_guard_queues_is_not_the_subjects_own(
    hostile: Loader, sandbox: Sandbox, tell: Tell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The end of the program is known once its guard, for which no processor may be free, has said it."""
    families: list[dict[int, tuple[float, float]]] = []
    threads_of = patience.threads_of

    def threads(pid: int) -> dict[int, tuple[float, float]]:
        families.append(threads_of(pid))
        return families[-1]

    monkeypatch.setattr(patience, "threads_of", threads)
    tell(sleeps="400")
    with hostile.start(sandbox) as cl:
        assert cl.platform_count() == 1
        assert families
        assert all({cl._process.guard, cl.pid} <= family.keys() for family in families)


def test_nothing_is_looked_at_for_a_quick_answer(
    hostile: Loader, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[int] = []

    def threads(pid: int) -> dict[int, tuple[float, float]]:
        looks.append(pid)
        return {}

    monkeypatch.setattr(patience, "threads_of", threads)
    monkeypatch.setattr("harness.probe.connection.FIRST_LOOK", 10.0)
    with hostile.start(sandbox) as cl:
        assert cl.platform_count() == 1
    assert not looks


@pytest.mark.parametrize("counted", [True, False], ids=["counted", "logged"])
def test_callback_that_never_comes_is_not_waited_for_to_the_end(sandbox: Sandbox, counted: bool) -> None:
    """Nothing is under way in the process: that takes a part of the time, few looks, and little of a processor."""
    icd = Icd(sandbox.icd("plain").path)
    with icd.open(sandbox) as session:
        session.count_callback("clBuildProgram.pfn_notify", session.objects(session.platforms()[0]).device)
        before, start, used = len(session.exchange), time.monotonic(), time.process_time()
        if counted:
            session.await_callbacks(1)
        else:
            session.wait_until(lambda: bool(sandbox.log.happened("callback clBuildProgram.pfn_notify")))
        assert time.monotonic() - start < session.time_limit / 2
        assert len(session.exchange) - before < 400
        assert time.process_time() - used < 1


def test_callback_of_a_process_that_has_ended_is_not_waited_for(sandbox: Sandbox) -> None:
    """What it did is said, at once and by whoever waits."""
    icd = Icd(sandbox.icd("plain").path)
    with pytest.raises(Crashed, match="SIGKILL"), icd.open(sandbox) as session:
        os.kill(session.pid, signal.SIGKILL)
        start = time.monotonic()
        try:
            session.wait_until(lambda: False)
        finally:
            assert time.monotonic() - start < IDLE / 2
