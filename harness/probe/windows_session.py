# SPDX-License-Identifier: Apache-2.0
"""A session of the probe for Windows: the conversation goes by its standard input and output."""

from __future__ import annotations

import re
import socket
from pathlib import Path
from typing import NamedTuple

from harness.errors import HarnessError
from harness.probe import stacks
from harness.probe.process import Process
from harness.probe.session import Session
from harness.sandbox import Unsupported
from harness.sandbox.guard import isolation
from harness.sandbox.windows import variable_value
from harness.sandbox.wine import keep_server, unix_path, windows_path

# What the exit status of Windows is on Linux, of which it keeps one byte, where a crash wrote stacks.
_CRASHED = (0x03, 0x05, 0x04, 0x1D, 0x94, 0x95, 0x96, 0xFD, 0x74, 0x09)


_UNIMPLEMENTED = re.compile(r"^wine: Call from \S+ to unimplemented function (\S+), aborting", re.M)


class NotStarted(HarnessError):
    """The probe did not run: what went wrong is Wine's, for the subject comes later."""


class Held(NamedTuple):
    """What a process holds: the system counts handles, the machine of the case counts the rest."""

    handles: int
    adapters: int  # handles of D3DKMT
    dxgi: int  # references to objects
    libraries: int  # how often libraries were loaded and not freed
    of_system: int  # the system's libraries among them
    blocks: int  # of memory, where the heap is a guarded one
    refused: int  # not held: how often something was closed that was not open any more


class WindowsSession(Session):
    """A running probe of Windows. What only Linux has is unsupported."""

    def _start(self, theirs: socket.socket) -> Process:
        self._server = keep_server()
        return Process(
            self.argv,
            self.environment,
            self.file_limit,
            way=isolation(same_numbers=True),  # Wine's server is outside
            stdin=theirs,
            stdout=theirs,
            stderr=self._stderr.descriptor,
            **self._arguments,
        )

    def found_pid(self, pid: int) -> None:
        """The probe knows its number on Windows, the harness that of the process on Linux."""
        self.pid, self._own_number = self._process.pid, pid

    def _wait(self) -> None:
        super()._wait()
        written = stacks.LINE.findall(self._stderr.text())
        if self.exit_code in _CRASHED and written and int(written[-1][1]):
            self.exit_code, self.signal = None, int(written[-1][1])

    def _ask_for_stacks(self) -> tuple[str, int]:
        return "", 0

    def _died(self) -> None:
        """A function that Wine lacks is not the subject's fault, nor is what happens before the probe runs."""
        if not self._has_begun():
            how = f"signal {self.signal}" if self.signal else f"exit code {self.exit_code}"
            messages = f": {self.stderr[-1000:]}" if self.stderr else ", and said nothing"
            raise NotStarted(f"Wine ended with {how} before it ran the probe{messages}")
        if missing := _UNIMPLEMENTED.search(self._stderr.text()):
            raise Unsupported("machine", f"the loader calls {missing[1]}, which Wine does not have")
        super()._died()

    def _hung(self) -> None:
        if not self._has_begun():
            raise NotStarted(f"Wine did not run the probe within {self.time_limit:g} s")
        super()._hung()

    def _has_begun(self) -> bool:
        return stacks.START.search(self._stderr.text()) is not None

    @property
    def _log_path(self) -> Path:
        return unix_path(self.argv[self.argv.index("--log") + 1])

    # --- what is different here ---

    def maps(self, path: object) -> bool:
        """Whether a library is loaded."""
        return bool(int(self.command(f"loaded {windows_path(Path(_unix(path))).encode().hex()}"), 16))

    def _library_path(self, answer: str) -> str:
        return _unix(super()._library_path(answer))

    def held(self) -> Held:
        """What the process has not given back so far."""
        return Held(*map(int, bytes.fromhex(self.command("handles")).split()))

    def code_page(self) -> int:
        """The number of the machine's code page, which narrow texts are written in."""
        return int(self.command("codepage"))

    def registry(self) -> str:
        """The keys of the case's registry and the names of their values, a line each."""
        return bytes.fromhex(self.command("registry")).decode(errors="replace")

    def change_machine(self, line: str) -> None:
        """Changes the registry or the devices while the subject runs: a line of harness/probe/windows/machine.h."""
        self.command(f"machine {line}")

    def require_removal_at_exit(self) -> None:
        """Makes the case `unsupported`."""
        raise Unsupported("machine", "on Windows nothing is removed where a process ends (DISP-DEI-005)")

    def fork(self) -> None:
        """Makes the case `unsupported`."""
        raise Unsupported("machine", "Windows has no fork")

    def open_files(self) -> list[str]:
        """The files of the case that the process has open, but for those of the harness; Wine's own are not told."""
        names = [self._folder, *(self._folder / name for name in ("stdout", "stderr", "calllog"))]
        of_case = [path for path in super().open_files() if Path(path).is_relative_to(self._folder)]
        return [path for path in of_case if Path(path) not in names]

    def setenv(self, name: str, value: str) -> None:
        """As elsewhere; paths are turned into those of Windows."""
        super().setenv(name, variable_value(name, value))

    def descriptor(self, what: str) -> object:  # type: ignore[override]
        """Makes the case `unsupported`."""
        raise Unsupported("machine", "Windows has no descriptors")


def _unix(path: object) -> str:
    text = str(path)
    return str(unix_path(text)) if text.startswith("Z:") else text
