# SPDX-License-Identifier: Apache-2.0
"""What a subject says in the place of the probe, and answers that nobody can mean, are verdicts of its case."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.check.addressed import problems_of_lists
from harness.probe import Crashed, connection, stacks
from harness.probe.replies import CommandError, refusal
from harness.probe.values import Value
from harness.probe.verdicts import ProtocolViolation
from harness.run.cases import verdict_of
from harness.sandbox import Sandbox
from harness.sandbox.sandbox import LogNotWhole
from harness.subject import capabilities
from harness.subject.environment import environment
from harness.subject.loader import Loader
from tests.hostile import Tell, compile_loader, hostile, sandbox, tell

__all__ = ["hostile", "sandbox", "tell"]


# --- replies ---


@pytest.mark.parametrize(
    "message",
    ["rubbish", "ok", "ok 0x0", "ok zero", "error no symbol clGetPlatformIDs", "\x01\x80\udcff", ""],
)
def test_a_reply_that_the_subject_wrote(hostile: Loader, sandbox: Sandbox, tell: Tell, message: str) -> None:
    tell(says=message)
    with pytest.raises(ProtocolViolation) as caught, hostile.start(sandbox) as cl:
        cl.platform_names()
    assert verdict_of(caught.value)[0] == "crash"


def test_a_reply_that_the_subject_wrote_last(hostile: Loader, sandbox: Sandbox, tell: Tell) -> None:
    """It is noticed though no command follows."""
    tell(says="ok 0x0")
    with pytest.raises(ProtocolViolation), hostile.start(sandbox) as cl:
        cl.clGetPlatformIDs(0, None, None)


@pytest.mark.parametrize("reply", ["error et: unknown command", "error get", "error", "error : get: no object"])
def test_a_refusal_of_another_command_is_a_crash(reply: str) -> None:
    """The subject took bytes of the command away, or wrote in the probe's place."""
    assert isinstance(refusal("get 1 0 8", "error get: no object"), CommandError), "the control"
    with pytest.raises(ProtocolViolation) as caught:
        refusal("get 1 0 8", reply)
    assert verdict_of(caught.value)[0] == "crash"


def test_a_refusal_of_what_has_no_reply_of_its_own_is_said_with_the_next(hostile: Loader, sandbox: Sandbox) -> None:
    """The next command is not executed then; what follows is."""
    with hostile.start(sandbox) as cl:
        buffer = cl.data(b"12345678")
        cl.later(f"put {buffer.index} 7 0102")
        with pytest.raises(CommandError, match=r"put \d 7 0102: put: 2 bytes at 7 do not fit"):
            cl.command(f"get {buffer.index} 0 8")
        assert cl.command(f"get {buffer.index} 0 8") == b"12345678".hex()
        refused = "error put: 2 bytes at 7 do not fit into buffer 1, or it is protected"
        assert cl.replies[1:] == ["ok", "ok", "ok", refused, f"ok {b'12345678'.hex()}"]
    with pytest.raises(ProtocolViolation):
        refusal("get 1 0 8", "error put: no", ["buffer 1 8 0"])


def test_a_refusal_of_what_has_no_reply_of_its_own_is_said_at_the_end(hostile: Loader, sandbox: Sandbox) -> None:
    """Where no other command follows it is `quit` that hears of it."""
    with (
        pytest.raises(CommandError, match=r"put \d 7 0102: put: 2 bytes at 7 do not fit"),
        hostile.start(sandbox) as cl,
    ):
        buffer = cl.data(b"12345678")
        cl.later(f"put {buffer.index} 7 0102")


def test_a_command_without_a_reply_of_its_own_has_an_empty_answer(hostile: Loader, sandbox: Sandbox) -> None:
    """So that answers stand beside their commands."""
    with hostile.start(sandbox) as cl:
        buffer = cl.data(b"12345678")
        answers = cl.commands(f"get {buffer.index} 0 8", f"put {buffer.index} 0 39", f"get {buffer.index} 0 1")
    assert answers == [b"12345678".hex(), "", b"9".hex()]


def test_the_end_of_a_process_is_that_of_the_call_and_not_of_what_prepares_it(
    hostile: Loader, sandbox: Sandbox
) -> None:
    with pytest.raises(Crashed, match="in: address 2 1 clFinish"), hostile.start(sandbox) as cl:
        cl.calls_together([(cl.buffer(8), Value(1, "1"), "clFinish", [None])])


@pytest.mark.parametrize("why", ["Too many open files", "Cannot allocate memory"])
def test_a_library_that_cannot_be_opened_again_for_want_of_resources_is_a_failure(why: str) -> None:
    """The subject used them up, or lowered its own limits."""
    refused = f"error open: /lib.so: cannot open shared object file: {why}"
    assert verdict_of(refusal("open", refused))[0] == "fail"
    control = "error open: /lib.so: cannot open shared object file: No such file or directory"
    assert verdict_of(refusal("open", control))[0] == "error"


@pytest.mark.parametrize("message", ["x" * 4096, "ok\n" * 1000], ids=["one line", "lines"])
def test_replies_without_end(hostile: Loader, sandbox: Sandbox, tell: Tell, message: str) -> None:
    tell(says_without_end=message.replace("\n", "\r"))
    with pytest.raises(ProtocolViolation), hostile.start(sandbox, time_limit=60) as cl:
        cl.platform_count()
    assert not cl._meter or cl._meter.used < 30, "it is too much long before its time is over"


# --- answers ---


@pytest.mark.parametrize(
    "what", [{"platforms": "0xffffffff"}, {"platforms": "0x10001"}, {"name_size": "0x10000000000"}, {"name_size": "-1"}]
)
def test_an_answer_that_cannot_be_meant_is_a_failure(
    hostile: Loader, sandbox: Sandbox, tell: Tell, what: dict[str, str]
) -> None:
    tell(**what)
    with pytest.raises(AssertionError, match="expected") as caught, hostile.start(sandbox) as cl:
        cl.platform_names()
    assert verdict_of(caught.value)[0] == "fail"


def test_a_loader_without_a_function_fails(sandbox: Sandbox, tmp_path: Path) -> None:
    loader = compile_loader(tmp_path, "-DWITHOUT_PLATFORM_INFO")
    with pytest.raises(AssertionError, match="no symbol clGetPlatformInfo") as caught, loader.start(sandbox) as cl:
        cl.platform_names()
    assert verdict_of(caught.value)[0] == "fail"


def test_a_loader_without_platforms_fails_where_lists_are_sent(hostile: Loader, sandbox: Sandbox, tell: Tell) -> None:
    tell(platforms="0")
    problems = problems_of_lists(hostile, sandbox, "clCreateContext", {"empty": [0]})
    assert problems == ["the loader lists no platform, expected those of two vendors"]


# --- stacks ---


@pytest.mark.parametrize(
    "line",
    [
        "clharness stack 1 6: rubbish",
        "clharness stack 99999999999999999999999 6: 0x1",
        "clharness stack 1 6:" + " 0x7" * 3000,
        "clharness maps\nx-y r-xp zzz 00:00 0 /etc/passwd\nclharness end",
        "clharness maps\n0-ffffffffffff r-xp 0 00:00 0 FIFO\nclharness end\nclharness stack 1 6: 0x7",
        "clharness maps\n0-ffffffffffff r-xp 0 00:00 0 /dev/tty\nclharness end\nclharness stack 1 6: 0x7",
    ],
)
def test_a_stack_that_the_subject_wrote(hostile: Loader, sandbox: Sandbox, tell: Tell, line: str) -> None:
    line = line.replace("FIFO", str(sandbox.root / "fifo"))
    tell(shell=f"mkfifo fifo; printf '{line}\\n' >&2".replace("\n", "\\n"), aborts="")
    with pytest.raises(Crashed, match="SIGABRT"), hostile.start(sandbox) as cl:
        cl.platform_count()


def test_names_come_from_regular_files_only(tmp_path: Path) -> None:
    stderr = "clharness stack 1 6: 0x7\n"
    maps = f"0-ffffffffffff r-xp 00000000 00:00 0 {tmp_path / 'link'}"
    (tmp_path / "link").symlink_to("/dev/zero")
    assert stacks.readable(stderr, maps) == "thread 1: 0x7 (link)"


# --- the call log ---

HARM = {
    "removed": "rm calllog",
    "renamed": "mv calllog other",
    "replaced": "cp calllog other; mv other calllog",
    "replaced by a FIFO": "rm calllog; mkfifo calllog",
    "replaced by a link": "mv calllog other; ln -s other calllog",
    "shortened": "truncate -s 5000 calllog",
    "lengthened": "truncate -s 100M calllog",
    "wiped": "head -c 1M /dev/zero | dd of=calllog conv=notrunc bs=1M 2>&-",
    "wiped after its start": "head -c 1M /dev/zero | dd of=calllog conv=notrunc bs=4096 seek=1 2>&-",
    "rewound": "head -c 16 /dev/zero | dd of=calllog conv=notrunc bs=1 seek=32 2>&-",
    "torn": "printf rubbish | dd of=calllog conv=notrunc bs=1 seek=4100 2>&-",
    "filled": "printf '\\377\\377\\377\\377\\377\\377' | dd of=calllog conv=notrunc bs=1 seek=32 2>&-",
}


@pytest.mark.parametrize("harm", HARM)
def test_a_log_that_is_not_whole_shows_no_absence(hostile: Loader, sandbox: Sandbox, tell: Tell, harm: str) -> None:
    with hostile.start(sandbox) as cl:
        cl.platform_count()
    assert sandbox.log.calls("clGetPlatformIDs", by="application"), "the control: nobody harmed it"
    tell(shell=HARM[harm])
    with hostile.start(sandbox) as cl:
        cl.platform_count()
    with pytest.raises(LogNotWhole, match="not whole") as caught:
        assert not sandbox.log.of("vendor")
    assert verdict_of(caught.value)[0] == "fail"
    assert len(sandbox.log_so_far) >= 0, "a report can be made of it"


def test_a_line_that_a_dying_process_left_is_no_harm(hostile: Loader, sandbox: Sandbox, tell: Tell) -> None:
    tell(shell=HARM["torn"], aborts="")
    with pytest.raises(Crashed), hostile.start(sandbox) as cl:
        cl.platform_count()
    assert sandbox.log.torn


def test_an_emptied_log_is_whole(hostile: Loader, sandbox: Sandbox) -> None:
    with hostile.start(sandbox) as cl:
        cl.platform_count()
    sandbox.forget_log()
    assert len(sandbox.log) == 0
    with hostile.start(sandbox) as cl:
        cl.platform_count()
    assert len(sandbox.log.calls("clGetPlatformIDs", by="application")) == 1


def test_a_session_that_goes_on_writes_to_the_log_that_was_forgotten(hostile: Loader, sandbox: Sandbox) -> None:
    with hostile.start(sandbox) as cl:
        cl.platform_count()
        sandbox.forget_log()
        cl.platform_count()
        assert len(sandbox.log) == 0


def test_a_loader_is_asked_for_its_capabilities_though_it_harms_the_log(
    hostile: Loader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That is not an error of the harness: the checks say what is wrong."""

    def with_harm(*arguments: Any, **settings: Any) -> dict[str, str]:
        return environment(*arguments, **settings) | {"HOSTILE": f"shell={HARM['removed']}"}

    monkeypatch.setattr("harness.subject.loader.environment", with_harm)
    capabilities.detect(hostile)
    assert "OPENCL_LAYERS" not in hostile.facts.capabilities


@pytest.mark.parametrize("too_much", ["at once", "in time"])
def test_bytes_without_end_are_the_same_crash_however_fast_they_come(
    hostile: Loader, sandbox: Sandbox, tell: Tell, monkeypatch: pytest.MonkeyPatch, too_much: str
) -> None:
    """Also those of which the time limit lets too few in."""
    monkeypatch.setattr(connection, "MAX_REPLY", 1 << 20 if too_much == "at once" else 1 << 40)
    tell(says_without_end="x" * 50)
    limit = 60.0 if too_much == "at once" else 0.3
    with (
        pytest.raises(ProtocolViolation, match=r"bytes without end came in answer to: call .* clGetPlatformIDs"),
        hostile.start(sandbox, time_limit=limit) as cl,
    ):
        cl.platform_count()
