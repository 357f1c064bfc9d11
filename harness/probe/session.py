"""One probe process: starts it, sends commands, and notices how it ends.

with loader.start(sandbox) as cl:
    platforms = cl.GetPlatformIDs()                 # convenient forms, named without `cl`
    rc = cl.clGetPlatformIDs(0, None, count)        # any function of the API, as in C
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from harness.api.codes import Code
from harness.api.model import api
from harness.errors import HarnessError
from harness.probe import stacks
from harness.probe.convenience import Convenience
from harness.probe.values import Buffer, Callback, CallbackArgument, Later, Value, is_sequence, pack
from harness.probe.verdicts import AbnormalExit, Crashed, Hung

CANARY = 0xA5


class CommandError(HarnessError):
    """The probe refused a command: a mistake in the check, or a function that the loader does not have."""


class Session(Convenience):
    """A running probe. Use it as a context manager: leaving it ends the process and raises if that goes wrong.

    After the end, `exit_code`, `signal` and `stderr` tell how it ended.
    """

    def __init__(
        self, command: list[str], environment: dict[str, str], folder: Path, time_limit: float, **popen: Any
    ) -> None:
        self.argv = command
        self.environment = environment
        self.time_limit = time_limit
        self.stderr_path = folder / "stderr"
        self.stdout_path = folder / "stdout"
        self.exchange: list[str] = []
        self.exit_code: int | None = None
        self.signal: int | None = None
        self.pid = 0
        self._last = ""
        self._values = 0
        self._received = b""
        self._prepared: list[str] = []
        self._arguments = popen
        self.ordinary_user = "user" in popen

    # --- life ---

    def __enter__(self) -> Self:
        ours, theirs = socket.socketpair()
        command = [str(theirs.fileno()) if part == "{socket}" else part for part in self.argv]
        with self.stderr_path.open("ab") as stderr, self.stdout_path.open("ab") as stdout:
            self.stderr_start = stderr.tell()
            self.process = subprocess.Popen(
                command,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                **self._arguments,
            )
        theirs.close()
        self._socket = ours
        self.deadline = time.monotonic() + self.time_limit
        try:
            hello = dict(part.split("=") for part in self.command("hello").split())
        except BaseException:
            self._kill()
            raise
        self.pid = int(hello["pid"])
        self.secure = hello["secure"] == "1"
        return self

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
        self._send([*self._prepared, "quit"])
        self._last = "the end of the process"
        self._wait()
        if self.exit_code or self.signal:
            self._died()
        return 0

    def _wait(self) -> None:
        """Waits for the end of the process within the time limit."""
        ended = os.pidfd_open(self.process.pid)  # Popen.wait with a time limit polls, which costs a case milliseconds
        try:
            if not select.select([ended], [], [], self._remaining())[0]:
                self._hung()
        finally:
            os.close(ended)
        status = self.process.wait()
        # bubblewrap and the tracer hand a signal on as 128 + its number
        self.signal = -status if status < 0 else status - 128 if status > 128 else None
        self.exit_code = status if self.signal is None else None

    def _kill(self) -> None:
        """Leaves nothing behind, whatever state the process is in."""
        if self.process.poll() is None:
            for target in {self.pid or self.process.pid, self.process.pid}:
                with contextlib.suppress(OSError):
                    os.kill(target, signal.SIGKILL)
        with contextlib.suppress(OSError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self._socket.close()

    # --- how it went wrong ---

    @property
    def stderr(self) -> str:
        """What the process wrote to standard error so far, without the probe's own stacks."""
        return stacks.without_stacks(self._raw_stderr())

    @property
    def stdout(self) -> str:
        """What the process wrote to standard output so far."""
        return self.stdout_path.read_text(errors="replace")

    def _raw_stderr(self) -> str:
        with self.stderr_path.open("rb") as file:
            file.seek(self.stderr_start)
            return file.read(1 << 20).decode(errors="replace")

    def _hung(self) -> None:
        maps = stacks.maps_of(self.pid)
        asked = stacks.ask(self.pid) if self.pid else 0
        until = time.monotonic() + 0.5
        while len(stacks.LINE.findall(self._raw_stderr())) < asked and time.monotonic() < until:
            select.select([], [], [], 0.01)  # the threads are writing
        shown = stacks.readable(self._raw_stderr(), maps)
        self._kill()
        raise Hung(f"no answer within {self.time_limit:g} s to: {self._last}", shown)

    def _died(self) -> None:
        raw = self._raw_stderr()
        shown = "\n".join(part for part in (stacks.readable(raw), stacks.without_stacks(raw)[-2000:]) if part)
        if self.signal:
            raise Crashed(f"{signal.Signals(self.signal).name} in: {self._last}", shown)
        raise AbnormalExit(f"the process ended with exit code {self.exit_code} in: {self._last}", shown)

    # --- conversation ---

    def _remaining(self) -> float:
        return max(self.deadline - time.monotonic(), 0.001)

    def _send(self, lines: list[str]) -> None:
        self.exchange += lines
        self._socket.settimeout(self._remaining())
        try:
            self._socket.sendall(("\n".join(lines) + "\n").encode())
        except TimeoutError:
            self._hung()
        except (BrokenPipeError, ConnectionResetError):
            self._wait()
            self._died()

    def _receive(self) -> str:
        """The next reply, after "ok"."""
        while b"\n" not in self._received:
            self._socket.settimeout(self._remaining())
            try:
                part = self._socket.recv(1 << 16)
            except TimeoutError:
                self._hung()
            except ConnectionResetError:
                part = b""
            if not part:
                self._wait()
                self._died()
            self._received += part
        line, _, self._received = self._received.partition(b"\n")
        reply = line.decode()
        if not reply.startswith("ok"):
            raise CommandError(f"probe: {self._last[:200]}: {reply.removeprefix('error ')}")
        return reply[3:]

    def later(self, text: str) -> None:
        """Sends a command together with the next one; for preparations, whose reply is of no interest."""
        self._prepared.append(text)

    def command(self, text: str) -> str:
        """Sends one command (see harness/probe/commands.c) and gives what follows "ok". Raises CommandError."""
        prepared, self._prepared = self._prepared, []
        self._send([*prepared, text])
        for self._last in prepared:
            self._receive()
        self._last = text
        return self._receive()

    # --- calls ---

    def buffer(self, size: int, fill: int = CANARY) -> Buffer:
        """New memory in the probe, every byte `fill`."""
        self._values += 1
        self.later(f"buffer {self._values} {size} {fill}")
        return Buffer(self, self._values, size)

    def data(self, content: bytes) -> Buffer:
        """New memory with this content."""
        made = self.buffer(len(content), 0)
        if content:
            self.later(f"put {made.index} 0 {content.hex()}")
        return made

    def words(self, values: list[Any]) -> Buffer:
        """New memory that holds 64-bit words: numbers, handles, buffers' addresses."""
        made = self.data(pack([v if isinstance(v, int) else 0 for v in values]))
        for index, value in enumerate(values):
            if isinstance(value, (Value, Buffer)):
                self.later(f"word {made.index} {8 * index} {value.token}")
        return made

    def token(self, value: Any) -> str:
        """The token for an argument: None, numbers, Value, Buffer, Callback, str, bytes, or a list of words.

        CallbackArgument(n) is for calls that `when` keeps.
        """
        if value is None:
            return "0"
        if isinstance(value, (Value, Buffer, Callback, CallbackArgument)):
            return value.token
        if isinstance(value, int):
            return str(int(value))
        if isinstance(value, (str, bytes)):
            return self.data((value.encode() if isinstance(value, str) else value) + b"\0").token
        if is_sequence(value):
            return self.words(list(value)).token
        raise TypeError(f"no OpenCL argument: {value!r}")

    def _result(self, function: str, command: str, variable: int) -> int:
        return self.as_result(function, int(self.command(command), 16), variable)

    def as_result(self, function: str, value: int, variable: int) -> int:
        """A result's 64 bits as the function's type has them."""
        kind = api().functions[function].result_kind
        if kind == "signed":
            return Code.of_word(value)
        return Value(value, f"r{variable}") if kind in ("handle", "pointer") else value

    def _call_line(self, function: str, arguments: tuple[Any, ...]) -> str:
        tokens = " ".join(self.token(a) for a in arguments)
        self._values += 1
        return f"call {self._values} {function} {tokens}".rstrip()

    def call(self, function: str, *arguments: Any) -> int:
        """Calls a function of the loader. Gives its result: cl_int as Code, handles and pointers as Value."""
        line = self._call_line(function, arguments)
        return self._result(function, line, self._values)

    def call_at(self, address: Value, like: str, *arguments: Any) -> int:
        """Calls the function at an address, with the signature of a function of the API."""
        tokens = " ".join(self.token(a) for a in arguments)
        self._values += 1
        return self._result(like, f"address {self._values} {address.token} {like} {tokens}".rstrip(), self._values)

    def peek(self, address: Value, offset: int) -> Value:
        """The 64-bit word at an address. Raises CommandError where nothing is."""
        self._values += 1
        number = int(self.command(f"peek {self._values} {address.token} {offset}"), 16)
        return Value(number, f"r{self._values}")

    def descriptor(self, what: str) -> Value:
        """A file descriptor in the probe: "memory SIZE", "copy TOKEN NUMBER" (-1 for any), "close TOKEN"."""
        self._values += 1
        number = int(self.command(f"descriptor {self._values} {what}"), 16)
        return Value(number, f"r{self._values}")

    def vulkan(self, what: str) -> Value:
        """Memory of Vulkan's (harness/probe/vulkan.c). Raises CommandError with the reason where it has none."""
        self._values += 1
        number = int(self.command(f"vulkan {self._values} {what}"), 16)
        return Value(number, f"r{self._values}")

    def module(self, address: Value) -> str:
        """Path of the library that an address lies in; "" for none."""
        try:
            return bytes.fromhex(self.command(f"module {address.token}")).decode()
        except CommandError:
            return ""

    def library_symbol(self, library: Path, name: str) -> Value:
        """The address of a symbol of a library, which stays loaded."""
        self._values += 1
        command = f"load {os.fsencode(library).hex()} {name.encode().hex()} {self._values}"
        return Value(int(self.command(command), 16), f"r{self._values}")

    def call_later(self, function: str, *arguments: Any, address: Value | None = None) -> Later:
        """Sends a call together with the next command; at an address, where one is given."""
        line = self._call_line(function, arguments)
        if address is not None:
            line = line.replace(
                f"call {self._values} {function}", f"address {self._values} {address.token} {function}", 1
            )
        self.later(line)
        return Later(self, function, self._values)

    def _keep(self, what: str, function: str, arguments: tuple[Any, ...], address: Value | None = None) -> Later:
        line = self._call_line(function, arguments)
        if address is not None:
            line = f"address {self._values} {address.token} {line.split(' ', 2)[2]}"
        kept = Later(self, function, self._values)
        self.later(f"{what} {line}")
        return kept

    def in_thread(self, thread: int, function: str, *arguments: Any, address: Value | None = None) -> Later:
        """Keeps a call for a thread, of the exported function or at an address; `go` runs all threads at once."""
        return self._keep(f"thread {thread}", function, arguments, address)

    def when(self, callback: str, function: str, *arguments: Any, address: Value | None = None) -> Later:
        """Keeps a call to be made each time that a callback is called, such as "clBuildProgram.pfn_notify"; of the
        exported function or at an address."""
        return self._keep(f"when {callback}", function, arguments, address)

    def callbacks(self) -> int:
        """How many calls that `when` kept have been made."""
        return int(self.command("callbacks"))

    def go(self) -> int:
        """Runs the threads and waits for them; gives their number."""
        return int(self.command("go"))

    def __getattr__(self, name: str) -> Callable[..., int]:
        if name.startswith("cl") and name in api().functions:
            return lambda *arguments: self.call(name, *arguments)
        raise AttributeError(name)
