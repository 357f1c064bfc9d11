# SPDX-License-Identifier: Apache-2.0
"""How a call of a vendor's function reaches the probe: with all that leads to it, in one exchange."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.api.codes import CL
from harness.probe.calls import Buffer, CallFailed
from harness.probe.icd_session import IcdSession
from harness.probe.replies import CommandError
from harness.probe.values import Value
from harness.run.exchange import steps_of
from harness.sandbox import Sandbox, Unsupported
from harness.subject.icd import Icd


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    room = Sandbox()
    yield room
    room.close()


class Exchanges:
    """Counts what is sent to the probe of a session."""

    def __init__(self, session: IcdSession, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        self._send = session._send
        monkeypatch.setattr(session, "_send", self._counted)

    def _counted(self, lines: list[str], recorded: bool = True) -> None:
        self.count += 1
        self._send(lines, recorded)


def test_call_through_a_table_is_one_exchange(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """The object, its table, the entry, and the call; and with what it is for, where that is read."""
    with Icd(sandbox.icd("plain").path).open(sandbox) as session:
        objects = session.objects(session.some_platforms()[0])
        assert objects.queue
        exchanges = Exchanges(session, monkeypatch)
        assert session.call("clFlush", objects.queue) == CL.SUCCESS
        assert exchanges.count == 1
        assert objects.made_by("clCreateBuffer", objects.context, 0, 64, None)
        assert exchanges.count == 2
        assert objects.given_by("clEnqueueMarker", objects.queue)
        assert exchanges.count == 3


def test_calls_are_made_as_in_the_table(sandbox: Sandbox) -> None:
    """What was called is what the vendor's table has, in the order of the check, with its arguments."""
    with Icd(sandbox.icd("plain").path).open(sandbox) as session:
        objects = session.objects(session.some_platforms()[0])
        assert objects.queue
        before = len(sandbox.log.of("plain").functions())
        session.call("clFlush", objects.queue)
        session.call("clRetainContext", objects.context)
        session.call("clFinish", objects.queue)
        assert sandbox.log.of("plain").functions()[before:] == ["clFlush", "clRetainContext", "clFinish"]
        assert sandbox.log.calls("clFinish", by="plain").only.arguments[0] == objects.queue


def test_null_in_the_table_is_no_call(sandbox: Sandbox) -> None:
    """The function is said to be lacking; it was not called, and the session goes on."""
    icd = Icd(sandbox.icd("plain", functions={"lacks": ["clFlush"]}).path)
    with icd.open(sandbox) as session:
        objects = session.objects(session.some_platforms()[0])
        assert objects.queue
        with pytest.raises(Unsupported, match="the dispatch table has no clFlush"):
            session.call("clFlush", objects.queue)
        assert session.call("clFinish", objects.queue) == CL.SUCCESS
        assert not sandbox.log.calls("clFlush")


@pytest.mark.parametrize("number", [0x10, 0x7FFFFFFFF000])
def test_object_without_a_table_is_said_to_have_none(sandbox: Sandbox, number: int) -> None:
    with Icd(sandbox.icd("plain").path).open(sandbox) as session:
        session.objects(session.some_platforms()[0])
        nothing = session.words([number]).handle()
        with pytest.raises(CallFailed, match=r"the first word of .* is unreadable, expected the address"):
            session.call("clFlush", Value(number, nothing.token))
        assert session.platforms()


def test_call_that_was_made_is_not_made_again(sandbox: Sandbox) -> None:
    """Also where what it answered cannot be read."""
    with Icd(sandbox.icd("plain").path).open(sandbox) as session:
        objects = session.objects(session.some_platforms()[0])
        assert objects.queue
        memory = session.buffer(8, 0)
        larger = Buffer(session, memory.index, 1 << 20)
        with pytest.raises(CommandError):
            session.call_for(larger, "clEnqueueMarker", objects.queue, larger)
        assert len(sandbox.log.calls("clEnqueueMarker", by="plain")) == 1


def test_program_does_not_make_a_call_that_was_refused() -> None:
    """A reproducer would call NULL."""
    exchange = ["peek 1 r9 0", "peek 2 r1 8", "address 3 r2 clFlush r9", "address 4 r5 clFlush r9"]
    replies = ["ok 0x10", "error peek: unreadable: Bad address", "error address: no symbol clFlush", "ok 0x0"]
    calls = [step for step in steps_of(exchange, replies) if step.is_call]
    assert [step.words[0] for step in calls] == ["4"]


def test_strings_of_a_platform_come_through_its_table(sandbox: Sandbox) -> None:
    """Vendors need not export the functions of the API."""
    icd = Icd(sandbox.icd("plain").path)
    with icd.open(sandbox) as session:
        platform = session.platforms()[0]
        session.objects(platform)
        assert session.GetPlatformInfo(platform) == "plain"
        assert any(" clGetPlatformInfo " in line and line.startswith("address ") for line in session.exchange)
