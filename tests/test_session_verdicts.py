# SPDX-License-Identifier: Apache-2.0
"""How a session of the probe ends, and what is reported of it: crash, hang, abnormal exit, and nothing left behind."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.probe import AbnormalExit, Crashed, Hung
from harness.probe.session import CommandError
from harness.sandbox import Sandbox
from harness.subject.loader import Loader
from harness.subject.search import loader_path


@pytest.fixture(scope="module")
def loader() -> Loader:
    try:
        return Loader(loader_path(None))
    except UsageError as error:
        pytest.skip(str(error))


@pytest.fixture
def sandbox(loader: Loader) -> Iterator[Sandbox]:
    box = Sandbox(loader.path)
    yield box
    box.close()


def alive(pid: int) -> bool:
    """Whether a process runs: one that only waits to be collected by its parent does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def ended(pid: int) -> bool:
    """Whether a process that was killed is gone; a child of the probe is collected by others, in their time."""
    until = time.monotonic() + 5
    while alive(pid) and time.monotonic() < until:
        time.sleep(0.001)
    return not alive(pid)


def test_a_process_that_ends_well(loader: Loader, sandbox: Sandbox) -> None:
    sandbox.vendor("a")
    with loader.start(sandbox) as cl:
        assert cl.platform_names() == ["a"]
        pid = cl.pid
    assert cl.exit_code == 0 and cl.signal is None
    assert ended(pid)
    assert sandbox.log.happened("unloaded", by="a"), "destructors run at a normal end"


def test_a_crash_names_the_call_the_signal_and_the_stack(loader: Loader, sandbox: Sandbox) -> None:
    sandbox.vendor("a", faults=["constructor_aborts"])
    with pytest.raises(Crashed) as caught, loader.start(sandbox) as cl:
        cl.platform_names()
    assert "SIGABRT" in str(caught.value)
    assert "in: call" in str(caught.value)
    functions = caught.value.stacks.splitlines()
    assert any("abort" in line and "libc" in line for line in functions)
    assert any(line.strip().startswith("loaded") and "(liba.so)" in line for line in functions), "the vendor's own"
    assert any("(libOpenCL.so" in line for line in functions), "and the loader's, which led to it"
    assert caught.value.verdict == "crash"
    assert sandbox.log.happened("loaded", by="a"), "the log survives"


def test_a_crash_at_the_end_of_the_process_is_a_crash(loader: Loader, sandbox: Sandbox) -> None:
    sandbox.vendor("a", faults=["destructor_aborts"])
    with pytest.raises(Crashed, match="SIGABRT in: the end of the process"), loader.start(sandbox) as cl:
        assert cl.platform_names() == ["a"]


def test_a_signal_from_outside_is_a_crash(loader: Loader, sandbox: Sandbox) -> None:
    sandbox.vendor("a")
    with pytest.raises(Crashed, match="SIGSEGV"), loader.start(sandbox) as cl:
        os.kill(cl.pid, signal.SIGSEGV)
        cl.platform_names()


def test_a_hang_costs_the_time_limit_and_gives_the_stacks(loader: Loader, sandbox: Sandbox) -> None:
    sandbox.vendor("a", faults=["constructor_sleeps=60000"])
    start = time.monotonic()
    with pytest.raises(Hung) as caught, loader.start(sandbox, time_limit=0.4) as cl:
        pid = cl.pid
        cl.platform_names()
    assert time.monotonic() - start >= 0.4
    assert cl._meter and 0.4 <= cl._meter.used < 0.8, "what a busy machine took is not the subject's"
    assert "0.4 s" in str(caught.value) and "clGetPlatformIDs" in str(caught.value)
    assert "sleep" in caught.value.stacks and "(liba.so)" in caught.value.stacks
    assert caught.value.verdict == "hang"
    assert ended(pid)


def test_a_slow_answer_within_the_limit_is_no_hang(loader: Loader, sandbox: Sandbox) -> None:
    sandbox.vendor("a", faults=["enumeration_sleeps=100"])
    with loader.start(sandbox, time_limit=10) as cl:
        assert cl.platform_names() == ["a"]


def test_all_threads_of_a_hang_are_shown(loader: Loader, sandbox: Sandbox) -> None:
    sandbox.vendor("a", faults=["constructor_starts_thread", "enumeration_sleeps=60000"])
    with pytest.raises(Hung) as caught, loader.start(sandbox, time_limit=0.4) as cl:
        cl.platform_names()
    assert caught.value.stacks.count("thread ") == 2
    assert "thread_waits" in caught.value.stacks


def test_an_exit_that_nobody_asked_for(loader: Loader, sandbox: Sandbox) -> None:
    sandbox.vendor("a", faults=["constructor_exits=7"])
    with pytest.raises(AbnormalExit, match="exit code 7 in: call"), loader.start(sandbox) as cl:
        cl.platform_names()
    assert cl.exit_code == 7


def test_a_quiet_exit_is_abnormal_too(loader: Loader, sandbox: Sandbox) -> None:
    sandbox.vendor("a", faults=["constructor_exits=0"])
    with pytest.raises(AbnormalExit, match="exit code 0"), loader.start(sandbox) as cl:
        cl.platform_names()


def test_nothing_survives_a_check_that_fails(loader: Loader, sandbox: Sandbox) -> None:
    """Neither the process nor its child."""
    sandbox.vendor("a")
    with pytest.raises(ZeroDivisionError), loader.start(sandbox) as cl:
        parent = cl.pid
        cl.fork()
        child = cl.pid
        assert child != parent
        assert alive(parent) and alive(child)
        raise ZeroDivisionError
    assert ended(parent) and ended(child)


def test_a_call_past_the_guard_page_is_a_crash(loader: Loader, sandbox: Sandbox) -> None:
    sandbox.vendor("a")
    with loader.start(sandbox) as cl:
        buffer = cl.buffer(16)
        assert cl.clGetPlatformIDs(0, None, buffer.at(12)) == 0
        assert buffer.u32(3) == 1 and buffer[:12] == b"\xa5" * 12
    with pytest.raises(Crashed, match="SIGSEGV"), loader.start(sandbox) as cl:
        cl.clGetPlatformIDs(0, None, cl.buffer(16).at(16))


@pytest.mark.parametrize("size", [1, 7, 4096, 5000])
def test_the_guard_page_begins_right_after_a_buffer_of_any_size(loader: Loader, sandbox: Sandbox, size: int) -> None:
    sandbox.vendor("a")
    with loader.start(sandbox) as cl:
        buffer = cl.buffer(size)
        assert cl.command(f"read {buffer.token} {min(size, 4096)}") == "a5" * min(size, 4096)
        with pytest.raises(CommandError, match="unreadable"):
            cl.command(f"read {buffer.at(size).token} 1")


def test_an_unknown_command_is_the_harnesss_fault(loader: Loader, sandbox: Sandbox) -> None:
    sandbox.vendor("a")
    with loader.start(sandbox) as cl:
        for text in ("nonsense", "call 1 clNoSuchFunction", "call 1 clFinish", "call 1 clFinish b99", "get 1 0 8"):
            with pytest.raises(CommandError):
                cl.command(text)
        assert cl.platform_names() == ["a"]


def test_a_loader_that_cannot_be_opened_is_reported_at_once(loader: Loader, sandbox: Sandbox) -> None:
    session = loader.start(sandbox)
    session.argv[session.argv.index("--loader") + 1] = "/nonexistent/libOpenCL.so"
    with pytest.raises(AbnormalExit, match="exit code 3") as caught, session:
        pass
    assert "/nonexistent/libOpenCL.so" in caught.value.stacks
