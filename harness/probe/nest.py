# SPDX-License-Identifier: Apache-2.0
"""A probe that has loaded a large library once, from which the process of each session is forked (nest.c).

Each session has a process and a guard of its own, with namespaces of their own, as one has that is started: the memory
of the loaded library is a copy. What the library has done while it was loaded happened once, in the nest.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import struct
from collections.abc import Iterable, Mapping
from pathlib import Path

from harness.build import build
from harness.errors import HarnessError
from harness.probe.process import Process, children_of, has_ended, numbers_of, parent_of
from harness.sandbox import guard

LARGE = 48 << 20  # bytes of files that a process has mapped, from which on loading them takes longer than most cases
NO_HOME = "/nonexistent"
_LOAD_LIMIT = 60.0  # seconds for the library to be loaded, on a busy machine
_START_LIMIT = 20.0  # seconds for a process to be forked, there
_MAX_ANSWER = 1 << 13
_SOCKET = "3"  # the descriptor of the conversation (nest.c)
_CREDENTIALS = struct.Struct("3i")


def mapped(pid: int) -> int:
    """Bytes of files in the memory of a process; 0 where it is gone."""
    total = 0
    with contextlib.suppress(OSError), open(f"/proc/{pid}/maps", errors="replace") as maps:
        for line in maps:
            first, _, path = line.partition("/")
            start, _, end = first.split(" ", 1)[0].partition("-")
            total += int(end, 16) - int(start, 16) if path else 0
    return total


class _Refused(HarnessError):
    """No process came of a request; one that is started will say why."""


class _Forked(Process):
    """A program that came from a nest. Its guard is no child of this process, and is known by its descriptor."""

    def __init__(self, nest: Nest, folder: Path, line: list[str], descriptors: Iterable[int]) -> None:
        self._guard_descriptor = -1
        self._children: list[int] = []  # descriptors of the guard's: the first of the namespace, and the program
        ours, theirs = socket.socketpair()
        self.descriptor = ours.detach()
        try:
            with contextlib.closing(theirs):
                status = socket.socket(fileno=os.dup(self.descriptor))
                with contextlib.closing(status):
                    status.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
                    nest.request(folder, line, [theirs.fileno(), *descriptors])
                    theirs.close()
                    self.guard = self._meet(status, nest.pid)
            self.pid = self._own(self._start(line[-1]))
        except BaseException:
            self.end()
            raise

    def _meet(self, status: socket.socket, nest: int) -> int:
        """Learns the number of the guard from the kernel, and gives it the one that the program is to have."""
        if not select.select([status], [], [], _START_LIMIT)[0]:
            raise _Refused("the nest does not answer")
        try:
            byte, about, _, _ = status.recvmsg(1, socket.CMSG_SPACE(_CREDENTIALS.size))
        except ConnectionResetError:
            byte, about = b"", []
        numbers = [int(_CREDENTIALS.unpack(data)[0]) for _, kind, data in about if kind == socket.SCM_CREDENTIALS]
        if not byte or not numbers:
            raise _Refused("the nest has ended")
        try:
            self._guard_descriptor = os.pidfd_open(numbers[0])
        except OSError:
            raise _Refused("the guard has ended") from None
        if parent_of(numbers[0]) != nest:
            raise _Refused("the guard is not one of the nest")
        status.sendall(b"%d" % numbers[0])
        return numbers[0]

    def _own(self, number: int) -> int:
        """The number here of the program, which has another one where its guard is."""
        own = 0
        for pid in children_of(self.guard):
            with contextlib.suppress(OSError):
                self._children.append(os.pidfd_open(pid))
                own = pid if numbers_of(pid)[-2:-1] == [number] else own
        if not own:
            raise _Refused("the program has ended")
        return own

    def end(self) -> None:
        """Ends the guard, and with it the namespace of the program, whose first process is the last one there."""
        if self.descriptor < 0:
            return
        os.close(self.descriptor)
        self.descriptor = -1
        if self._guard_descriptor >= 0:
            self._end_guard(self._guard_descriptor)
            os.close(self._guard_descriptor)
        for descriptor in self._children:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(descriptor, signal.SIGKILL)
            has_ended(descriptor, _START_LIMIT)
            os.close(descriptor)


class Nest:
    """Belongs to the process that made it, and ends with that."""

    def __init__(self, library: Path, environment: Mapping[str, str], file_limit: int, sandbox: Path) -> None:
        """Loads the library. `ready` says whether processes can come from here.

        `environment` is that of all sessions, but for HOME, which is no folder here: theirs come and go. The library is
        loaded in the folder `sandbox`, which may go afterwards. Raises OSError and HarnessError.
        """
        self.owner = os.getpid()
        self._environment = _comparable(environment)
        self.ready = False
        program = build().nest
        assert program is not None
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        try:
            command = [str(program), "--loader", str(library), "--socket", str(theirs.fileno())]
            command += ["--folder", str(sandbox)]
            self._process = Process(
                command,
                {**environment, "HOME": NO_HOME},
                file_limit,
                stdout=nothing,
                stderr=nothing,
                cwd="/",
                pass_fds=[theirs.fileno()],
            )
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
            os.close(nothing)
        self._socket = ours
        self.pid = self._process.pid
        self.answer = self._said()
        self.ready = self.answer == "ready"
        if self.ready:
            self._process.outlive_sessions()
        else:
            self.close()

    def _said(self) -> str:
        if not select.select([self._socket], [], [], _LOAD_LIMIT)[0]:
            return "not: it took too long"
        with contextlib.suppress(ConnectionResetError):
            return self._socket.recv(_MAX_ANSWER).decode(errors="replace") or "not: it ended"
        return "not: it ended"

    def close(self) -> None:
        """Ends it; sessions that came from it end as well."""
        self.ready = False
        self._socket.close()
        self._process.end()

    def forget(self) -> None:
        """Gives back what a process that was forked from the owner has of it; the nest goes on."""
        self.ready = False
        self._socket.close()
        self._process.forget()

    def request(self, folder: Path, line: list[str], descriptors: list[int]) -> None:
        """Asks for a process. Raises _Refused."""
        content = b"".join(os.fsencode(word) + b"\0" for word in [str(folder), *line])
        try:
            socket.send_fds(self._socket, [content], descriptors)
        except OSError as error:
            raise _Refused(f"the nest takes no request: {error.strerror}") from None

    def serves(self, environment: Mapping[str, str]) -> bool:
        """Whether a session with these variables may come from here."""
        return self.ready and self.owner == os.getpid() and self._environment == _comparable(environment)

    def start(
        self,
        command: list[str],
        environment: Mapping[str, str],
        file_limit: int,
        folder: Path,
        stdout: int,
        stderr: int,
        conversation: int,
    ) -> Process | None:
        """The process of a session, whose command has "{socket}" for the conversation; None where none can be had,
        now and from now on."""
        if not self.ready:
            return None
        words = [_SOCKET if word == "{socket}" else word for word in command]
        line = [str(word) for word in guard.command(0, words, environment, file_limit)]
        try:
            return _Forked(self, folder, line, [stdout, stderr, conversation])
        except (HarnessError, OSError):
            self.ready = False  # sessions that came from here go on
            return None


def _comparable(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name != "HOME"}


def can_be(way: str) -> bool:
    """Whether sessions can come from nests, for guards of this way."""
    return way == "namespaces" and build().nest is not None and not build().emulator
