# SPDX-License-Identifier: Apache-2.0
"""Sessions whose process comes from one that has loaded a large library: they are what a process is that loads it."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from harness.build import build
from harness.errors import UsageError
from harness.probe import Crashed
from harness.probe.nest import Nest, can_be, mapped
from harness.probe.process import Process, children_of
from harness.probe.values import Value
from harness.sandbox import Sandbox, guard
from harness.subject import icd as module
from harness.subject.icd import Icd

SOURCE = Path(__file__).with_name("nest_library.c")

pytestmark = pytest.mark.skipif(not can_be(guard.isolation()), reason="there are no nests on this machine")


def compiled(folder: Path, *options: str) -> Path:
    library = folder / "libnest.so"
    command = [build().compiler, "-shared", "-fPIC", "-Wall", "-Wextra", *options, str(SOURCE), "-o", str(library)]
    subprocess.run(command, check=True)
    return library


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("nest"))


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    box = Sandbox()
    yield box
    box.close()


@pytest.fixture
def nest(library: Path, sandbox: Sandbox) -> Iterator[Nest]:
    with closing(nest_of(Icd(library), sandbox)) as nest:
        assert nest.answer == "ready"
        yield nest


def nest_of(icd: Icd, sandbox: Sandbox) -> Nest:
    session = icd.open(sandbox)
    return Nest(icd.path, session.environment, session.file_limit, sandbox.root)


def opened(library: Path, sandbox: Sandbox, nest: Nest | None) -> Any:
    """A session that is not started yet."""
    session = Icd(library).open(sandbox)
    session.nest = nest
    return session


def process_of(session: Any) -> Process:
    process = session._process
    assert isinstance(process, Process)
    return process


def state(pid: int) -> dict[str, Any]:
    """What a process is to the system, but for its numbers and its memory."""
    folder = Path(f"/proc/{pid}")
    names: tuple[str, ...] = ("Name", "Umask", "TracerPid", "Uid", "Gid", "Groups", "Threads", "NoNewPrivs", "Seccomp")
    names += ("SigPnd", "ShdPnd", "SigBlk", "SigIgn", "SigCgt", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
    lines = dict(line.split(":\t", 1) for line in (folder / "status").read_text().splitlines() if ":\t" in line)
    found: dict[str, Any] = {name: lines[name] for name in names}
    found["limits"] = (folder / "limits").read_text()
    found["oom"] = (folder / "oom_score_adj").read_text()
    found["folder"] = os.readlink(folder / "cwd")
    files = [os.readlink(folder / "fd" / name) for name in sorted(os.listdir(folder / "fd"), key=int)]
    found["files"] = [file.partition(":")[0] for file in files]
    found["leads"] = os.getsid(pid) == pid
    return found


def test_process_is_like_one_that_was_started(library: Path, sandbox: Sandbox, nest: Nest) -> None:
    states = []
    for origin in (nest, None):
        with opened(library, sandbox, origin) as session:
            assert type(process_of(session)) is not Process if origin else type(process_of(session)) is Process
            states.append(state(session.pid))
            assert session.query("any") == 1
        assert (session.exit_code, session.signal) == (0, None)
    assert states[0] == states[1]


def namespaces(pid: int) -> set[str]:
    return {os.readlink(f"/proc/{pid}/ns/{name}") for name in ("pid", "mnt", "ipc", "uts")}


def test_sessions_have_no_memory_and_no_namespace_in_common(library: Path, sandbox: Sandbox, nest: Nest) -> None:
    with opened(library, sandbox, nest) as one, opened(library, sandbox, nest) as other:
        assert [one.query("any"), one.query("any"), other.query("any")] == [1, 2, 1]
        spaces = [namespaces(pid) for pid in (nest.pid, one.pid, other.pid, os.getpid())]
    assert len(set.union(*spaces)) == sum(map(len, spaces))


def test_two_sessions_at_once_know_themselves_by_different_numbers(library: Path, sandbox: Sandbox, nest: Nest) -> None:
    with opened(library, sandbox, nest) as one, opened(library, sandbox, nest) as other:
        numbers = [
            int(Path(f"/proc/{s.pid}/status").read_text().split("NSpid:")[1].split("\n")[0].split()[-1])
            for s in (one, other)
        ]
        assert len(set(numbers)) == 2
        assert numbers == [process_of(s).guard for s in (one, other)]


def test_crash_is_seen(library: Path, sandbox: Sandbox, nest: Nest) -> None:
    with pytest.raises(Crashed, match="SIGSEGV"), opened(library, sandbox, nest) as session:
        session.call_at(Value(8, "8"), "clFlush", None)


def left_behind(sandbox: Sandbox) -> list[str]:
    """Those of this case that are alive: the same test with another parameter may run beside it."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            name, status = (folder / "comm").read_text().strip(), (folder / "stat").read_text()
            place = os.readlink(folder / "cwd")
        except OSError:
            continue
        is_alive = status.rpartition(")")[2].split()[0] not in "ZX"
        if name == "clh-left-behind" and place == str(sandbox.root) and is_alive:
            found.append(folder.name)
    return found


@pytest.mark.parametrize("kills", [False, True], ids=["ends", "is killed"])
def test_what_a_session_starts_ends_with_it(library: Path, sandbox: Sandbox, nest: Nest, kills: bool) -> None:
    with opened(library, sandbox, nest) as session:
        session.query("leave")
        assert left_behind(sandbox), "the control: there is such a process"
        if kills:
            session._kill()
    assert not left_behind(sandbox)
    assert not children_of(nest.pid)


def test_program_begins_again_as_a_probe(library: Path, sandbox: Sandbox, nest: Nest) -> None:
    with opened(library, sandbox, nest) as session:
        session.query("any")
        session.execute_again()
        assert session.query("any") == 1
        assert os.readlink(f"/proc/{session.pid}/exe") == str(build().probe.resolve())


@pytest.mark.parametrize(
    ("option", "answer"),
    [
        ("THREADS", "threads"),
        ("DESCRIPTORS", "descriptors"),
        ("MEMORY", "shared memory"),
        ("HANDLERS", "handlers of signals"),
        ("CHILDREN", "processes"),
        ("FOLDER", "another folder or mask of files"),
        ("TIMERS", "timers"),
        ("BLOCKED", "blocked signals"),
        ("VARIABLES", "variables"),
        ("FORKS", "handlers of forks"),
        ("FILES", "files"),
    ],
)
def test_nothing_comes_from_where_loading_did_more(tmp_path: Path, sandbox: Sandbox, option: str, answer: str) -> None:
    with closing(nest_of(Icd(compiled(tmp_path, f"-D{option}")), sandbox)) as nest:
        assert (nest.ready, nest.answer) == (False, f"not: {answer}")


@pytest.fixture
def elsewhere() -> Iterator[Path]:
    """A folder that is in no place which is a session's own."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        yield Path(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root's nest has places of its own")
def test_what_is_left_in_shared_places_while_it_loads_is_gone(elsewhere: Path, sandbox: Sandbox) -> None:
    left = Path("/dev/shm/made-by-a-library")
    try:
        with closing(nest_of(Icd(compiled(elsewhere, "-DSHARED_FILES")), sandbox)) as nest:
            assert (nest.ready, nest.answer) == (False, "not: files")
        assert not left.exists()
    finally:
        left.unlink(missing_ok=True)


def test_nothing_of_loading_is_left_in_a_case(
    tmp_path: Path, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LARGE", 0)
    icd = Icd(compiled(tmp_path, "-DFILES"))
    icd.ask()
    assert icd.open(sandbox).nest is None
    assert not (sandbox.root / "made-by-a-library").exists()


def test_library_cannot_mount_while_it_loads(elsewhere: Path, sandbox: Sandbox) -> None:
    with closing(nest_of(Icd(compiled(elsewhere, "-DMOUNTS")), sandbox)) as nest:
        assert nest.answer == "ready"


def test_sessions_begin_in_their_own_places(elsewhere: Path, sandbox: Sandbox) -> None:
    library = compiled(elsewhere)
    with closing(nest_of(Icd(library), sandbox)) as nest:
        assert nest.answer == "ready"
        with closing(Sandbox()) as later, opened(library, later, nest) as session:
            assert type(process_of(session)) is not Process
            assert session.query("any") == 1


def test_library_that_cannot_be_loaded_has_no_nest(tmp_path: Path) -> None:
    with closing(Nest(tmp_path / "absent.so", {}, 1 << 20, tmp_path)) as nest:
        assert not nest.ready
        assert "absent.so" in nest.answer


def test_where_the_nest_is_gone_the_process_is_started(library: Path, sandbox: Sandbox, nest: Nest) -> None:
    os.kill(nest.pid, signal.SIGKILL)
    with opened(library, sandbox, nest) as session:
        assert type(process_of(session)) is Process
        assert session.query("any") == 1
    assert not nest.ready


def test_start_that_fails_leaves_the_other_sessions_alone(
    library: Path, sandbox: Sandbox, nest: Nest, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(library, sandbox, nest) as one:
        monkeypatch.setattr("harness.probe.nest.parent_of", lambda pid: 0)
        with opened(library, sandbox, nest) as other:
            assert type(process_of(other)) is Process
            assert other.query("any") == 1
        assert one.query("any") == 1
    assert not nest.ready


def test_guards_are_not_the_first_to_go_where_memory_ends(library: Path, sandbox: Sandbox, nest: Nest) -> None:
    with opened(library, sandbox, nest) as session:
        scores = [Path(f"/proc/{pid}/oom_score_adj").read_text() for pid in (process_of(session).guard, nest.pid)]
        assert scores == [Path("/proc/self/oom_score_adj").read_text()] * 2


def test_library_in_the_sandbox_of_another_case_has_no_nest(
    library: Path, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LARGE", 0)
    copy = sandbox.folder("copy") / library.name
    copy.write_bytes(library.read_bytes())
    icd = Icd(copy)
    icd.ask()
    assert icd.open(sandbox).nest is None


def test_variables_of_another_session_are_not_served(library: Path, sandbox: Sandbox, nest: Nest) -> None:
    variables = Icd(library).open(sandbox).environment
    assert nest.serves(variables)
    assert nest.serves(variables | {"HOME": "/elsewhere"})
    assert not nest.serves(variables | {"POCL_DEBUG": "1"})


@pytest.fixture
def asked(library: Path) -> Callable[[], Icd]:
    def make() -> Icd:
        icd = Icd(library)
        try:
            icd.ask()
        except UsageError as error:  # pragma: no cover - it is no driver, but it can be loaded
            pytest.fail(str(error))
        return icd

    return make


def test_large_libraries_alone_have_nests(
    sandbox: Sandbox, asked: Callable[[], Icd], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert asked().open(sandbox).nest is None
    monkeypatch.setattr(module, "LARGE", 0)
    icd = asked()
    origin = icd.open(sandbox).nest
    assert origin
    assert origin is icd.open(sandbox).nest, "one for all sessions of a process"
    assert icd.open(sandbox, late=True).nest is None
    assert icd.open(sandbox, now=True).nest is None
    assert icd.open(sandbox, counted_heap=True).nest is None
    assert icd.open(sandbox, preload=["libm.so.6"]).nest is None
    sandbox.env["OTHER"] = "1"
    assert icd.open(sandbox).nest is None
    origin.close()


def test_memory_of_files_is_counted() -> None:
    assert mapped(os.getpid()) > 1 << 20
    assert mapped(0) == 0
