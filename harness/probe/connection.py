# SPDX-License-Identifier: Apache-2.0
"""The conversation with one probe process: starts it, sends commands, and notices how it ends."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import struct
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from harness.probe import stacks
from harness.probe.limits import Limits
from harness.probe.nest import Nest
from harness.probe.output import Output
from harness.probe.patience import (
    FIRST_LOOK,
    SESSION_FACTOR,
    TICK,
    ExpectedHangs,
    Meter,
    Starved,
    compiles,
    function_of,
    wall_limit,
)
from harness.probe.process import Process
from harness.probe.replies import MAX_REPLY, SHAPES, CommandError, refusal
from harness.probe.verdicts import AbnormalExit, Crashed, Excessive, Hung, ProtocolViolation

_UNFINISHED = 4096  # bytes without an end that are not an answer which got stuck
_FULL_LIMIT = 60.0  # seconds in which the subject of another case that has taken all processes must have been ended
KEPT_REPLY = 1 << 14  # characters of a reply that stay on record
_END = "the end of the process"
_END_CODE = 83  # what the probe is told to end with: what ends it on the way hardly has the same
_PREPARES = ("buffer ", "put ", "word ")
_SIGNALS = {number.value: number.name for number in signal.Signals}


def _is_silent(command: str) -> bool:
    """Whether a command has no reply of its own where another one follows: nothing of the subject runs in it.

    A name (@) is looked up by the dynamic linker, which may run a library's code.
    """
    return command.startswith(_PREPARES) and "@" not in command


class Connection:
    """A running probe. Use it as a context manager: leaving it ends the process and raises if that goes wrong.

    After the end, `exit_code`, `signal` and `stderr` say how it ended.
    """

    file_limit = 256 << 20  # bytes of a file that the process may write
    disk_factor = 4  # how many times that all files in the sandbox may have
    expected_hangs = ExpectedHangs()
    attempt = ""  # the part of the case that is tried (Attempts), which is what does not answer

    def __init__(
        self, command: list[str], environment: dict[str, str], folder: Path, time_limit: float, **popen: Any
    ) -> None:
        self.argv = command
        self.environment = environment
        self.time_limit = time_limit
        self._folder = folder
        self.exchange: list[str] = []
        self.replies: list[str] = []  # to the commands of the exchange, as far as they came; long ones are cut
        self.exit_code: int | None = None
        self.signal: int | None = None
        self.calls_made = 0  # calls that came back, each of which is in the call log
        self.pid = 0  # of the probe, which is not always the process that was started; see `found_pid`
        self._own_number = 0  # what the probe's process calls itself, in a namespace of its own or on Windows
        self._last = ""
        self._kept = 0  # calls that were kept for threads, all of which `go` makes before it answers
        self._threads_compile = False  # and some of them may have to compile
        self._slow = 0.0  # seconds that answers took that took long
        self._meter: Meter | None = None  # of an answer that takes long
        self._server = 0  # number of a process that the subject's has to wait for
        self._asked = self._next_look = time.monotonic()
        self._received = bytearray()
        self._prepared: list[str] = []
        self._arguments = popen
        self.ordinary_user = "user" in popen
        self.nest: Nest | None = None  # where the process may come from in place of being started
        self.own_copy = False  # whether the program, the first word of `argv`, is for this session alone

    # --- life ---

    def __enter__(self) -> Self:
        ours, theirs = socket.socketpair()
        with contextlib.closing(theirs), self._program():
            self._stderr, self._stdout = Output(self._folder / "stderr"), Output(self._folder / "stdout")
            self._process = self._start(theirs)
        self._limits = Limits(self._process, self._folder, self.disk_factor * self.file_limit)
        # A wait for bytes takes one call of the system; what may not wait says so.
        wait = struct.pack("ll", int(FIRST_LOOK), round(1e6 * (FIRST_LOOK % 1)))
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, wait)
        self._socket = ours
        self._poll = select.poll()
        self._poll.register(self._process.descriptor, select.POLLIN)
        self._awaited = 0  # event of the socket that it knows
        self._early = select.poll()
        self._early.register(ours, select.POLLIN)
        self._started = time.monotonic()
        self.deadline = self._started + self.time_limit  # for checks that look for what comes without an answer
        try:
            greeting = dict(part.split("=") for part in self.command("hello").split())
            self.found_pid(int(greeting["pid"]))
            self.secure = greeting["secure"] == "1"
        except BaseException:
            self._kill()
            raise
        return self

    def pause(self, milliseconds: int) -> None:
        """Waits so long for what comes without an answer, or until the process ends."""
        select.select([self._process.descriptor], [], [], milliseconds / 1000)

    def _start(self, theirs: socket.socket) -> Process:
        """Starts the probe with its end of the conversation."""
        if self.nest and (process := self._forked(self.nest, theirs)):
            return process
        command = [str(theirs.fileno()) if part == "{socket}" else part for part in self.argv]
        until = time.monotonic() + _FULL_LIMIT
        while True:
            try:
                return Process(
                    command,
                    self.environment,
                    self.file_limit,
                    stdout=self._stdout.descriptor,
                    stderr=self._stderr.descriptor,
                    pass_fds=[theirs.fileno()],
                    **self._arguments,
                )
            except BlockingIOError:
                if time.monotonic() > until:
                    raise
                select.select([], [], [], FIRST_LOOK)

    def _forked(self, nest: Nest, theirs: socket.socket) -> Process | None:
        files = self._stdout.descriptor, self._stderr.descriptor, theirs.fileno()
        return nest.start(self.argv, self.environment, self.file_limit, self._folder, *files)

    @contextlib.contextmanager
    def _program(self) -> Iterator[None]:
        """Removes the program, where it is for this session alone, as soon as it was started."""
        if not self.own_copy:
            yield
            return
        program = Path(self.argv[0])
        folder = os.open(program.parent, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            yield
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(program.name, dir_fd=folder)
            os.close(folder)

    def found_pid(self, pid: int) -> None:
        """Takes over what the process of the probe, which is one of this case, calls itself."""
        own = self._process.pid_of(pid)
        if not own and not self._process.is_alive():  # it ended after it had answered
            self._wait()
            self._died()
        if not own:
            raise ProtocolViolation(f"{self._last!r} was answered with process {pid}, which is not one of this case")
        self.pid, self._own_number = own, pid

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            killed = self._socket.fileno() < 0  # it hung, and the case went on from that
            if kind is None and self.exit_code is None and not killed:
                self.quit()
        finally:
            self._kill()

    def quit(self) -> int:
        """Ends the process the normal way (exit handlers and destructors run); gives the exit code, 0."""
        expected = 1 + sum(not _is_silent(command) for command in self._prepared)
        self._last = _END
        self.exchange += [*self._prepared, "quit"]
        self._send([*self._prepared, f"quit {_END_CODE}"], recorded=False)
        self._wait()
        if self.exit_code != _END_CODE:
            self._died()
        self.exit_code = 0
        with contextlib.suppress(BlockingIOError, ConnectionResetError):
            self._received += self._socket.recv(1 << 16, socket.MSG_DONTWAIT)
        if self._received.count(b"\n") != expected:
            raise ProtocolViolation(f"the last replies are not those of the probe: {bytes(self._received[:200])!r}")
        last = self._received.decode(errors="replace").splitlines()[-1]
        if last.startswith("error "):  # what it had no reply of its own for
            raise refusal("quit", last, [command for command in self._prepared if _is_silent(command)])
        return 0

    def _wait(self) -> None:
        """Waits for the end of the process within the time limit."""
        self._ready(0)
        status = self._process.status()
        if status is None:
            raise Crashed(f"the process that guards the subject was ended in: {self._last}", self._shown())
        handed_on = status - 128 in _SIGNALS and self.pid != self._process.pid  # as bubblewrap and the tracer do
        self.signal = -status if status < 0 else status - 128 if handed_on else None
        self.exit_code = status if self.signal is None else None

    def _kill(self) -> None:
        """Leaves nothing running, whatever state the process is in."""
        self._process.end()
        self._limits.close()
        self._socket.close()
        self._stderr.close()
        self._stdout.close()

    # --- how it went wrong ---

    @property
    def stderr(self) -> str:
        """What the process wrote to standard error so far, without the probe's own stacks."""
        return stacks.without_stacks(self._stderr.text())

    @property
    def stdout(self) -> str:
        """What the process wrote to standard output so far."""
        return self._stdout.whole()

    def _hung(self) -> None:
        if len(self._received) > _UNFINISHED:
            self._never_ends()
        maps, threads = self._ask_for_stacks()
        until = time.monotonic() + 0.5
        while len(stacks.LINE.findall(self._stderr.text())) < threads and time.monotonic() < until:
            select.select([], [], [], 0.01)  # the threads are writing
        shown = stacks.readable(self._stderr.text(), maps)
        self._kill()
        doing = f", {self._meter.doing()}," if self._meter else ""
        raise Hung(f"no answer within {self.limit():g} s{doing} to: {self._last}", shown)

    def _never_ends(self) -> None:
        """Too much, or too much for an answer of which the end did not come in time."""
        raise ProtocolViolation(f"bytes without end came in answer to: {self._last[:200]}")

    def _ask_for_stacks(self) -> tuple[str, int]:
        """The memory map of the process, and how many threads are to write their stacks."""
        if not self._process.owns(self.pid):
            return "", 0
        return stacks.maps_of(self.pid), stacks.ask(self.pid)

    def _died(self) -> None:
        shown = self._shown()
        if self.signal:
            raise Crashed(f"{_SIGNALS.get(self.signal, f'signal {self.signal}')} in: {self._last}", shown)
        own = "" if self.exit_code or self._last != _END else ", which is not its own,"
        raise AbnormalExit(f"the process ended with exit code {self.exit_code}{own} in: {self._last}", shown)

    def _shown(self) -> str:
        """Stacks, and the end of what the subject wrote to standard error."""
        raw = self._stderr.text()
        return "\n".join(part for part in (stacks.readable(raw), stacks.without_stacks(raw)[-2000:]) if part)

    # --- conversation ---

    def _ready(self, event: int) -> bool:
        """Waits until the socket is ready for POLLIN or POLLOUT; gives False where the process ended before.

        0 is not an event: then it waits for the end of the process.
        """
        if event and event != self._awaited:
            self._poll.register(self._socket, event)
        elif not event and self._awaited:
            self._poll.unregister(self._socket)
        self._awaited = event
        if time.monotonic() > self._next_look:  # something is there each time, of an answer that never ends
            self._next_look = time.monotonic() + self._look()
        wait = FIRST_LOOK
        while not (ready := self._poll.poll(1000 * wait)):
            wait = self._look()
        if self._meter is not None:
            self._slow += self._meter.look()
        return self._socket.fileno() in dict(ready)

    def _look(self) -> float:
        """Judges an answer that takes long; gives the seconds until that is to be done again."""
        if self._meter is None:
            self._meter = Meter(self._process.guard, self._asked, self._server)
        self._slow += self._meter.look()
        if excess := self._limits.exceeded():
            self._kill()
            raise Excessive(f"the subject took {excess} in: {self._last}")
        remaining = min(
            self._meter.remaining(self.limit(), self._may_compute()), SESSION_FACTOR * self.time_limit - self._slow
        )
        if remaining <= 0:
            self._hung()
        if time.monotonic() - self._started > wall_limit(self.time_limit):
            self._kill()
            raise Starved(
                f"no answer within {wall_limit(self.time_limit):g} s, of which the subject could use "
                f"{self._meter.used:.1f} s, to: {self._last}"
            )
        return min(TICK, remaining)

    def limit(self) -> float:
        """The time limit of the answer that is waited for, in seconds."""
        if self._last.startswith("vulkan "):
            return self.time_limit  # another driver's answer, of which no expectation speaks
        part = _END if self.attempt and self._last == _END else self.attempt
        return self.expected_hangs.limit_of(part or function_of(self._last), self.time_limit, is_part=bool(part))

    def _may_compute(self) -> bool:
        """Whether what was asked may have to compile, or makes many calls, each of which may have much to do."""
        return self._kept > 1 or self._threads_compile if self._last == "go" else compiles(self._last)

    def _wait_anew(self) -> None:
        """The time limit is one of each answer, also where many questions were asked at once."""
        self._asked = time.monotonic()
        self._next_look = self._asked + TICK
        self._meter = None

    def _send(self, lines: list[str], recorded: bool = True) -> None:
        """Sends commands; those that only prepare are done without a reply."""
        self.exchange += lines if recorded else []
        self._wait_anew()
        marked = [f"+{line}" if _is_silent(line) else line for line in lines[:-1]]
        remaining = memoryview("\n".join([*marked, lines[-1], ""]).encode())
        try:
            while remaining:
                try:
                    remaining = remaining[self._socket.send(remaining, socket.MSG_DONTWAIT) :]
                except BlockingIOError:
                    if not self._ready(select.POLLOUT):
                        raise BrokenPipeError from None
        except (BrokenPipeError, ConnectionResetError):
            self._wait()
            self._died()

    def _receive(self) -> str:
        """The next reply."""
        looked_at = 0
        while (end := self._received.find(b"\n", looked_at)) < 0:
            looked_at = len(self._received)
            part = self._next_bytes(first=looked_at == 0)
            if not part:
                self._wait()
                self._died()
            if len(self._received) > MAX_REPLY:
                self._never_ends()
            self._received += part
        line = self._received[:end].decode(errors="backslashreplace")
        del self._received[: end + 1]
        return line

    def _next_bytes(self, first: bool) -> bytes:
        """Bytes of an answer; none where the process ended. Only an answer that is not quick is looked after."""
        try:
            if first:
                with contextlib.suppress(BlockingIOError):
                    return self._socket.recv(1 << 16)
            return self._socket.recv(1 << 16, socket.MSG_DONTWAIT) if self._ready(select.POLLIN) else b""
        except ConnectionResetError:
            return b""

    def _require_silence(self) -> None:
        """Nothing comes from the probe but answers: there is one for each command, and none before it."""
        if self._early.poll(0):  # in place of an exception for each command
            with contextlib.suppress(BlockingIOError, ConnectionResetError):
                self._received += self._socket.recv(200, socket.MSG_DONTWAIT)
        if self._received:
            raise ProtocolViolation(f"nobody asked for what came after {self._last!r}: {bytes(self._received[:200])!r}")

    def later(self, text: str) -> None:
        """Sends a command together with the next one; for preparations, whose reply is of no interest."""
        self._prepared.append(text)

    def command(self, text: str) -> str:
        """Sends one command (see harness/probe/commands.c) and gives what follows "ok". Raises CommandError."""
        return self.commands(text)[0]

    def commands(self, *texts: str) -> list[str]:
        """Sends commands in one exchange and gives what follows "ok" to each. Raises CommandError for the first that
        was refused, when all were answered."""
        if self.exchange:  # else what came early is the answer to the first question, as it is when it comes later
            self._require_silence()
        commands = [*self._prepared, *texts]
        self._prepared = []
        silent: list[str] = []  # and not known to be done
        refused: CommandError | None = None
        answers = []
        # Nothing of the subject runs in what is silent: that is not where a process ended which gives no answer.
        self._last = next((c for c in commands[:-1] if not _is_silent(c)), commands[-1])
        self._send(commands)
        for number, command in enumerate(commands, start=1):
            if number < len(commands) and _is_silent(command):
                self.replies.append("ok")
                answers.append("")
                silent.append(command)
                continue
            self._last = command
            reply = self._receive()
            self._wait_anew()
            self.replies.append(reply[:KEPT_REPLY])
            if reply.startswith("error "):
                refused = refused or refusal(self._last, reply, silent)
            else:
                answers.append(_content(self._last, reply))
                self.calls_made += self._last.startswith(("call ", "address ", "vkcall "))
                if self._last.startswith("thread "):
                    self._kept, self._threads_compile = self._kept + 1, self._threads_compile or compiles(self._last)
                elif self._last == "go":
                    self._kept, self._threads_compile = 0, False
            silent = []
        if refused:
            self._resynchronise()
            raise refused
        return answers[-len(texts) :]

    def _resynchronise(self) -> None:
        """Makes sure that a refusal was the probe's own: one that a subject wrote leaves a reply too many."""
        last, self._last = self._last, "hello"
        self._send(["hello"], recorded=False)
        greeting = _content("hello", self._receive())
        self._require_silence()
        if self.pid and not greeting.startswith(f"pid={self._own_number} "):
            raise ProtocolViolation(f"{last[:200]!r} is followed by a greeting of another process: {greeting}")
        self._last = last


def _content(command: str, reply: str) -> str:
    """What follows "ok" in the reply to a command. Raises ProtocolViolation for what the probe never says."""
    if reply[:3] not in ("ok", "ok "):
        raise ProtocolViolation(f"{command[:200]!r} was answered with {reply[:200]!r}, which the probe never says")
    text = reply[3:]
    shape = SHAPES.get(command.partition(" ")[0])
    if shape and not shape.fullmatch(text):
        raise ProtocolViolation(f"{command[:200]!r} was answered with {reply[:200]!r}, which the probe never says")
    if command.startswith("get ") and len(text) != 2 * int(command.rpartition(" ")[2]):
        raise ProtocolViolation(f"{command!r} was answered with {len(text) // 2} bytes")
    return text
