# SPDX-License-Identifier: Apache-2.0
"""What a session can make of its process: linked or not, threads, callbacks, a child, another user, its own /etc."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.errors import UsageError
from harness.probe import Session, Value
from harness.probe.values import Callback
from harness.sandbox import Sandbox, Unsupported
from harness.sandbox.sandbox import PASSED_ON
from harness.subject.loader import SYSTEM_VENDORS, Loader
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
    try:
        box.vendor("a")
        yield box
    finally:
        box.close()


def started(loader: Loader, sandbox: Sandbox, **options: Any) -> Session:
    """A session, where this machine can start one with these options."""
    try:
        return loader.start(sandbox, **options)
    except Unsupported as reason:
        pytest.skip(str(reason))


def user_of(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("Uid:")).split()[1])


@pytest.mark.parametrize("linked", [False, True], ids=["dlopen", "linked"])
def test_the_loader_under_test_is_the_one_that_is_called(loader: Loader, sandbox: Sandbox, linked: bool) -> None:
    with loader.start(sandbox, linked=linked) as cl:
        assert f"linked={int(linked)}" in cl.command("hello")
        assert cl.platform_names() == ["a"]
        address = Value(int(cl.command("symbol clGetPlatformIDs"), 16), "@clGetPlatformIDs")
        module = bytes.fromhex(cl.command(f"module {address.token}")).decode()
        assert os.path.realpath(module) == str(loader.path)


def test_a_loader_can_be_opened_late_and_closed(loader: Loader, sandbox: Sandbox) -> None:
    with loader.start(sandbox, late=True) as cl:
        assert not cl.maps(loader.path)
        cl.open()
        assert cl.maps(loader.path)
        cl.close()
        assert not cl.maps(loader.path)
        assert not sandbox.log.components()


def test_callbacks_arrive_in_the_log_with_their_arguments(loader: Loader, sandbox: Sandbox) -> None:
    """The probe's callback, called as a vendor would: a function of two pointers."""
    callback = Callback("clBuildProgram.pfn_notify")
    with loader.start(sandbox) as cl:
        cl.call_at(Value(0, callback.token), "clEnqueueMarker", 0x1234, cl.buffer(8).at(0))
    (event,) = sandbox.log.happened("callback clBuildProgram.pfn_notify", by="application")
    assert event.arguments[0] == 0x1234 and event.arguments[1] != 0


def test_threads_run_at_once_and_each_in_its_own(loader: Loader, sandbox: Sandbox) -> None:
    with loader.start(sandbox) as cl:
        counts = [cl.buffer(4, 0) for _ in range(8)]
        for thread, count in enumerate(counts):
            cl.in_thread(thread, "clGetPlatformIDs", 0, None, count)
        assert cl.go() == 8
        assert [count.u32() for count in counts] == [1] * 8
        assert cl.go() == 0, "each call is made once"
    assert sandbox.log.of("application").threads() == 8


def test_a_failure_in_a_thread_is_told(loader: Loader, sandbox: Sandbox) -> None:
    with loader.start(sandbox) as cl:
        cl.command("thread 0 call 1 clNoSuchFunction")
        cl.command("thread 1 hello")
        with pytest.raises(Exception, match="clNoSuchFunction"):
            cl.go()


def test_a_child_goes_on_with_the_conversation(loader: Loader, sandbox: Sandbox) -> None:
    with loader.start(sandbox) as cl:
        assert cl.platform_names() == ["a"]
        parent = cl.pid
        cl.fork()
        assert cl.pid != parent
        assert cl.platform_names() == ["a"]
    assert cl.exit_code == 0


def test_the_environment_is_an_allow_list(loader: Loader, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OCL_ICD_FILENAMES", "/stray.so")
    monkeypatch.setenv("STRAY", "x")
    sandbox.env["MINE"] = "yes"
    with loader.start(sandbox) as cl:
        present = {name.decode() for name in cl.process_environment()} - set(PASSED_ON)
        assert present == {"PATH", "HOME", "LC_ALL", "OCL_ICD_VENDORS", "MINE"}
    with loader.start(sandbox, unset=("OCL_ICD_VENDORS",)) as cl:
        assert b"OCL_ICD_VENDORS" not in cl.process_environment()


def test_an_elevated_process_is_really_elevated(loader: Loader, sandbox: Sandbox) -> None:
    with loader.start(sandbox) as cl:
        assert not cl.secure
    with started(loader, sandbox, elevated=True) as cl:
        assert cl.secure
        assert "secure=1" in cl.command("hello")
        cl.clGetPlatformIDs(0, None, cl.buffer(4))
        entries = Path(f"/proc/{cl.pid}/auxv").read_bytes() if os.geteuid() == 0 else b""
    words = [int.from_bytes(entries[i : i + 8], "little") for i in range(0, len(entries), 8)]
    assert not words or words[1::2][words[::2].index(23)] == 1, "AT_SECURE as the kernel gave it"


def test_an_ordinary_user_is_not_root(loader: Loader, sandbox: Sandbox) -> None:
    try:
        session = loader.start(sandbox, ordinary_user=True)
    except Unsupported as error:  # a checkout below a folder that is closed to others
        pytest.skip(str(error))
    with session as cl:
        assert user_of(cl.pid) != 0
        assert cl.platform_names() == ["a"]
    assert sandbox.log.calls("clGetPlatformIDs", by="application"), "it can write the log"


def test_a_private_root_shows_the_vendors_at_the_systems_place(loader: Loader, sandbox: Sandbox) -> None:
    def host() -> list[str]:
        return sorted(os.listdir(SYSTEM_VENDORS)) if os.path.isdir(SYSTEM_VENDORS) else ["no folder"]

    before = host()
    with started(loader, sandbox, system=True) as cl:
        assert b"OCL_ICD_VENDORS" not in cl.process_environment()
        assert cl.platform_names() == ["a"]
        assert os.listdir(f"/proc/{cl.pid}/root{SYSTEM_VENDORS}") == ["a.icd"]
        assert host() == before
    assert host() == before
    assert "a.icd" not in before


def test_a_private_root_needs_no_elevated_process(loader: Loader, sandbox: Sandbox) -> None:
    with pytest.raises(Unsupported, match="private root"):
        loader.start(sandbox, system=True, elevated=True)
