# SPDX-License-Identifier: Apache-2.0
"""The guard between the harness and a subject: what a subject cannot reach, and what its death is taken for."""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.errors import HarnessError, UsageError
from harness.probe import AbnormalExit, Crashed, Hung, SubjectFailure, process
from harness.report import Header
from harness.report.screen import head
from harness.sandbox import Sandbox, guard
from harness.sandbox import sandbox as module
from harness.sandbox.folder import OwnFolder
from harness.sandbox.machine import NOBODY, is_root, scratch_root
from harness.subject.loader import Loader
from tests.hostile import Tell, hostile, sandbox, tell

__all__ = ["hostile", "sandbox", "tell"]


@pytest.fixture(autouse=True)
def isolation(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The guard's way: the one that this machine allows, or the parameter."""
    way: str = getattr(request, "param", guard.isolation())
    monkeypatch.setenv(guard.VARIABLE, way)
    guard.isolation.cache_clear()
    try:
        guard.isolation()
    except UsageError as error:
        pytest.skip(str(error))
    yield way
    guard.isolation.cache_clear()


EVERY_WAY = pytest.mark.parametrize("isolation", guard.WAYS, indirect=True)


@pytest.fixture
def bystander() -> Iterator[subprocess.Popen[bytes]]:
    """A process of the same user that has nothing to do with any case, as the worker of a case."""
    process = subprocess.Popen(["sleep", "1000"])
    yield process
    process.kill()
    process.wait()


@EVERY_WAY
def test_a_subject_that_kills_its_parent_is_a_crash(hostile: Loader, sandbox: Sandbox, tell: Tell) -> None:
    tell(kills="parent", hangs="")
    with pytest.raises(SubjectFailure), hostile.start(sandbox) as cl:
        cl.platform_count()
    tell()
    with hostile.start(sandbox) as cl:
        assert cl.platform_count() == 1, "the control"


@EVERY_WAY
def test_a_process_that_is_not_the_subjects_cannot_be_killed(
    hostile: Loader, sandbox: Sandbox, tell: Tell, bystander: subprocess.Popen[bytes]
) -> None:
    tell(kills=str(bystander.pid))
    with pytest.raises(AbnormalExit, match="exit code 93"), hostile.start(sandbox) as cl:
        cl.platform_count()
    assert bystander.poll() is None


@EVERY_WAY
def test_a_process_that_is_not_the_subjects_cannot_be_traced(
    hostile: Loader, sandbox: Sandbox, tell: Tell, bystander: subprocess.Popen[bytes]
) -> None:
    tell(traces=str(bystander.pid))
    with pytest.raises(AbnormalExit, match="exit code 94"), hostile.start(sandbox) as cl:
        cl.platform_count()
    assert "TracerPid:\t0\n" in Path(f"/proc/{bystander.pid}/status").read_text()


@EVERY_WAY
def test_a_subject_that_kills_all_kills_itself_alone(
    hostile: Loader, sandbox: Sandbox, tell: Tell, bystander: subprocess.Popen[bytes]
) -> None:
    tell(shell="sleep 1000 &", kills="all", exits="7")
    with pytest.raises(SubjectFailure, match="exit code 7"), hostile.start(sandbox) as cl:
        cl.platform_count()
    assert bystander.poll() is None


@pytest.mark.parametrize("isolation", ["namespaces"], indirect=True)
def test_a_subject_sees_no_process_but_its_own(hostile: Loader, sandbox: Sandbox, tell: Tell) -> None:
    tell(shell="ls -d /proc/[0-9]* > seen")
    with hostile.start(sandbox) as cl:
        cl.platform_count()
    seen = (sandbox.root / "seen").read_text().split()
    assert 3 <= len(seen) <= 5, "the first process, the probe, the shell and its `ls`"
    assert f"/proc/{os.getpid()}" not in seen


@pytest.mark.parametrize("isolation", ["namespaces"], indirect=True)
def test_processes_in_cases_of_their_own_have_different_numbers(hostile: Loader, sandbox: Sandbox) -> None:
    """Programs name files by it."""
    with hostile.start(sandbox) as one, hostile.start(sandbox) as other:
        assert one.command("hello") != other.command("hello")


def modes(tables: str) -> list[str]:
    """The modes of what outlives processes, of the system's tables."""
    return [line.split()[2] for line in tables.splitlines()]


@pytest.mark.parametrize("isolation", ["namespaces"], indirect=True)
def test_what_outlives_processes_is_the_cases_own(hostile: Loader, sandbox: Sandbox, tell: Tell) -> None:
    """Shared memory, semaphores and message queues stay until somebody removes them; the host's name is everybody's."""
    name, mode = os.uname().nodename, "613"  # which nobody else gives to what is made meanwhile
    made = "; ".join(f"ipcmk {what} -p {mode} >> made" for what in ("-M 4096", "-S 1", "-Q"))
    tell(shell=f"{made}; cat /proc/sysvipc/* > shown; echo other > /proc/sys/kernel/hostname")
    try:
        with hostile.start(sandbox) as cl:
            cl.platform_count()
        assert (sandbox.root / "made").read_text().count(": ") == 3, "the control"
        assert modes((sandbox.root / "shown").read_text()).count(mode) == 3, "the control"
        assert mode not in modes("".join(table.read_text() for table in Path("/proc/sysvipc").iterdir()))
        assert os.uname().nodename == name
    finally:
        if os.uname().nodename != name:
            socket.sethostname(name)


@EVERY_WAY
@pytest.mark.parametrize("way", ["watches", "watches_as_32_bits"])
def test_a_subject_cannot_decide_who_opens_files(hostile: Loader, sandbox: Sandbox, tell: Tell, way: str) -> None:
    """It could stop the harness, which waits where it opens a file, and everybody else."""
    tell(**{way: ""})
    # A kernel without 32-bit programs ends one that calls it like them.
    with pytest.raises(AbnormalExit, match=r"exit code 97|SIGSEGV"), hostile.start(sandbox) as cl:
        cl.platform_count()


@EVERY_WAY
@pytest.mark.parametrize("ends", ["in order", "by itself"])
def test_a_child_that_is_given_to_the_guard_holds_nothing_up(
    hostile: Loader, sandbox: Sandbox, tell: Tell, monkeypatch: pytest.MonkeyPatch, ends: str
) -> None:
    monkeypatch.setattr(process, "_END_LIMIT", 30.0)
    start = time.monotonic()
    if ends == "in order":
        tell(forks_a_sibling="")
        with hostile.start(sandbox) as cl:
            assert cl.platform_count() == 1
    else:
        tell(forks_a_sibling="", exits="7")
        with pytest.raises(AbnormalExit, match="exit code 7"), hostile.start(sandbox) as cl:
            cl.platform_count()
    assert time.monotonic() - start < 20


@EVERY_WAY
def test_shell_forks_while_its_children_end(hostile: Loader, sandbox: Sandbox, tell: Tell) -> None:
    """On a busy machine, too: no signal of a child may come into the next fork."""
    tell(shell="i=0; while [ $i -lt 200 ]; do printf x | cat >/dev/null; i=$((i+1)); done; echo $i >forked")
    with contextlib.ExitStack() as stack:
        for _ in range(2 * (os.cpu_count() or 1)):
            busy = stack.enter_context(subprocess.Popen(["sh", "-c", "while :; do :; done"]))
            stack.callback(busy.kill)
        with hostile.start(sandbox) as cl:
            assert cl.platform_count() == 1
    assert (sandbox.root / "forked").read_text() == "200\n"


@EVERY_WAY
def test_signals_are_as_after_a_login(hostile: Loader, sandbox: Sandbox) -> None:
    """A harness in the background ignores SIGINT and SIGQUIT, one under nohup SIGHUP: its subjects do not."""
    numbers = (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGPIPE)
    before = [signal.signal(number, signal.SIG_IGN) for number in numbers]
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    try:
        with hostile.start(sandbox) as cl:
            lines = Path(f"/proc/{cl.pid}/status").read_text().splitlines()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
    states = dict(line.split(":\t") for line in lines if line.startswith("Sig"))
    assert int(states["SigIgn"], 16) == int(states["SigBlk"], 16) == 0


@EVERY_WAY
def test_a_program_that_cannot_be_started_is_the_harnesss_own_trouble(hostile: Loader, sandbox: Sandbox) -> None:
    with pytest.raises(FileNotFoundError, match="nonsense"), hostile.start(sandbox, wrapper=("/nonsense",)):
        pass


def test_a_guard_that_ends_at_once_is_the_harnesss_own_trouble(
    hostile: Loader, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "command", lambda *_, **__: ["/bin/true"])
    with pytest.raises(HarnessError, match="guard"), hostile.start(sandbox):
        pass


def test_an_unknown_way_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(guard.VARIABLE, "armour")
    guard.isolation.cache_clear()
    with pytest.raises(UsageError, match="CLHARNESS_ISOLATION=armour: must be one of namespaces"):
        guard.isolation()


IN_VAIN = """
kill -s 0 $PPID && exit 1
kill -s 0 -- -$(ps -o pgid= -p $PPID | tr -d ' ') && exit 2
kill -s 0 {worker} && exit 3
kill -s 0 -- -1 && exit 4
sleep 1000 & kill $! || exit 5
wait # for the signal of its end, which would break off what comes next
kill -s 0 $$ && kill -s 0 0 || exit 6
exit 7
"""


@pytest.mark.parametrize("isolation", guard.WAYS[1:], indirect=True)
def test_what_is_above_is_out_of_reach_where_the_guard_cannot_be_asked(isolation: str) -> None:
    """Another guard stands around this one and answers in its place, as a container's manager may."""
    ours, inner = os.pipe()
    theirs, outer = os.pipe()
    shell = ["/bin/sh", "-c", IN_VAIN.format(worker=os.getpid())]
    with contextlib.ExitStack() as stack:
        for end in (ours, inner, theirs, outer):
            stack.callback(os.close, end)
        line = guard.command(inner, shell, {"PATH": "/usr/bin:/bin"}, 1 << 20)
        subprocess.run(guard.command(outer, list(line), {}, 1 << 20), pass_fds=[inner, outer], stderr=subprocess.PIPE)
        assert os.read(theirs, 100).endswith(b"exit 0\n"), "of the inner guard"
        assert os.read(ours, 100).endswith(b"exit 7\n")


# --- a subject that is traced by its guard, as libraries do that keep debuggers away ---


@EVERY_WAY
def test_a_traced_subject_works_and_gets_its_signals(hostile: Loader, sandbox: Sandbox, tell: Tell) -> None:
    tell(is_traced="", gets=str(int(signal.SIGALRM)))
    with hostile.start(sandbox) as cl:
        assert cl.platform_names() == ["hostile"]


@EVERY_WAY
@pytest.mark.parametrize("number", [signal.SIGABRT, signal.SIGSEGV, signal.SIGTRAP, signal.SIGKILL])
def test_a_traced_subject_that_crashes_is_a_crash(
    hostile: Loader, sandbox: Sandbox, tell: Tell, number: signal.Signals
) -> None:
    tell(is_traced="", gets=str(int(number)))
    with pytest.raises(Crashed, match=number.name), hostile.start(sandbox) as cl:
        cl.platform_count()


@EVERY_WAY
def test_a_traced_subject_that_stops_hangs(hostile: Loader, sandbox: Sandbox, tell: Tell) -> None:
    tell(is_traced="", gets=str(int(signal.SIGSTOP)))
    with pytest.raises(Hung), hostile.start(sandbox, time_limit=1) as cl:
        cl.platform_count()


@EVERY_WAY
def test_a_traced_subject_that_becomes_another_program_ends_as_that(
    hostile: Loader, sandbox: Sandbox, tell: Tell
) -> None:
    tell(is_traced="", executes="exit 7")
    with pytest.raises(AbnormalExit, match="exit code 7 "), hostile.start(sandbox) as cl:
        cl.platform_count()


# --- /dev/shm ---


@pytest.mark.skipif(scratch_root() != Path("/dev/shm"), reason="sandboxes are elsewhere on this machine")
@pytest.mark.parametrize("isolation", ["namespaces"], indirect=True)
def test_dev_shm_is_the_subjects_own_but_for_what_others_have_there(
    hostile: Loader, sandbox: Sandbox, tell: Tell
) -> None:
    """What it leaves there ends with it, the sandboxes of other cases are out of its reach, and all else is there."""
    other = Sandbox(hostile.path)
    left = Path(f"/dev/shm/left-{sandbox.root.name}")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder, tempfile.NamedTemporaryFile(dir="/dev/shm") as file:
        deeds = [f"touch {left}", f"echo said > {folder}/new", f"echo said > {file.name}", f"rm -rf {other.root}"]
        tell(shell="; ".join([*deeds, f"test -e {left} && touch seen", "cd ..; touch left-above"]))
        with hostile.start(sandbox) as cl:
            assert cl.platform_names() == ["hostile"]
        assert (sandbox.root / "seen").exists(), "the control: it was there for the subject"
        assert not left.exists() and not Path("/dev/shm/left-above").exists()
        assert (Path(folder) / "new").read_text() == Path(file.name).read_text() == "said\n"
    assert other.log_path.exists()
    other.close()
    assert not other.problems


@EVERY_WAY
def test_sandboxes_of_others_are_out_of_sight_in_any_folder(
    hostile: Loader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All else is there: files, links, folders; what is new there ends with the subject."""
    monkeypatch.setattr(module, "_swept_root", lambda: tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("output")
    (tmp_path / "link").symlink_to("file")
    with contextlib.closing(Sandbox(hostile.path)) as sandbox, contextlib.closing(Sandbox(hostile.path)) as other:
        if guard.words(sandbox.root) != guard.isolation():
            pytest.skip("an ordinary user has no mounts of its own in this way")
        sandbox.env["HOSTILE"] = "shell=ls .. > seen; cat ../link >> seen; touch ../folder/new ../left"
        with hostile.start(sandbox) as cl:
            assert cl.platform_count() == 1
        seen = (sandbox.root / "seen").read_text().split()
        assert seen == [sandbox.root.name, "file", "folder", "link", "output"]
        assert (tmp_path / "folder" / "new").exists() and not (tmp_path / "left").exists()
        assert other.log_path.exists()


@pytest.mark.skipif(not is_root(), reason="only root can become an ordinary user")
@pytest.mark.parametrize("isolation", guard.WAYS[1:], indirect=True)
def test_where_sandboxes_are_in_reach_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """An ordinary user outside of namespaces has no mounts of its own."""
    own = OwnFolder(scratch_root(), guard.PREFIX)
    try:
        assert guard.words(own.path) == guard.isolation()
        as_nobody = functools.partial(subprocess.run, user=NOBODY, group=NOBODY, extra_groups=[])
        monkeypatch.setattr(subprocess, "run", as_nobody)
        output = guard.words(own.path)
    finally:
        own.remove()
    assert output == f"{guard.isolation()}, sandboxes of other cases in reach"
    header = Header(machine={"isolation": output})
    assert any("in reach" in line for line in head(header, 80))
    assert not any("isolation" in line for line in head(Header(machine={"isolation": "plain"}), 80))


@pytest.mark.parametrize("isolation", ["namespaces"], indirect=True)
def test_a_tested_library_in_the_sandbox_of_another_case_is_seen(hostile: Loader, sandbox: Sandbox, tell: Tell) -> None:
    """As where the harness tests what another of its runs has made, while that run lasts."""
    tell()
    with contextlib.closing(Sandbox(hostile.path)) as other:
        loader = Loader(Path(shutil.copy(hostile.path, other.root)))
        with loader.start(sandbox) as cl:
            assert cl.platform_names() == ["hostile"]
