# SPDX-License-Identifier: Apache-2.0
"""What a probe can be asked besides calls of an API: symbols of the library under test, and its process."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from harness.probe.calls import Calls
from harness.probe.values import Value


class Export(NamedTuple):
    """A symbol that the loader exports."""

    name: str
    version: str  # "" for none
    address: int


_THREADS = "threads"  # of a state: a library may start some once it is used


def state_changes(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str]:
    """What is different between two states of a process (ProcessCalls.state), in words, but for its threads."""
    return {
        name: f"was {before.get(name, 'unset')}, is {after.get(name, 'unset')}"
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name) and name != _THREADS
    }


class ProcessCalls(Calls):
    """Commands about the process and the library that it has opened."""

    # --- symbols ---

    def exports(self) -> list[Export]:
        """Every symbol that the loader exports, as the dynamic linker sees it."""
        lines = [line.split() for line in bytes.fromhex(self.command("exports")).decode().splitlines()]
        return [Export(n, "" if v == "-" else v, int(a, 16)) for n, v, a in lines if n != "="]

    def symbol_versions(self) -> dict[str, str]:
        """Every version that the loader defines, and the one that it inherits from; "" for none."""
        lines = [line.split() for line in bytes.fromhex(self.command("exports")).decode().splitlines()]
        return {v: "" if parent == "-" else parent for n, v, parent in lines if n == "="}

    def symbol(self, name: str, version: str = "") -> int:
        """Address of a symbol of the loader (in that version); 0 for none."""
        return int(self.command(f"symbol {name} {version}".rstrip()), 16)

    # --- the process ---

    def open(self) -> None:
        """Opens the loader, in a session started with late=True or after `close`."""
        self.command("open")

    def close(self) -> None:
        """Closes the loader (dlclose)."""
        self.command("close")

    def getenv(self, name: str) -> bytes | None:
        """A variable as getenv sees it in the process, or None."""
        reply = self.command(f"getenv {name.encode().hex()}")
        return None if reply == "unset" else bytes.fromhex(reply)

    def setenv(self, name: str, value: str) -> None:
        """Sets a variable in the probe's process, as setenv does."""
        self.command(f"setenv {name.encode().hex()} {os.fsencode(value).hex()}")

    def unsetenv(self, name: str) -> None:
        """Removes a variable in the probe's process."""
        self.command(f"unsetenv {name.encode().hex()}")

    def process_environment(self) -> dict[bytes, bytes]:
        """The whole environment of the process, as it stands now."""
        entries = bytes.fromhex(self.command("environment")).split(b"\0")
        return dict(entry.split(b"=", 1) for entry in entries if b"=" in entry)

    def load(self, library: object) -> None:
        """Loads a library into the process, as an application's own; it stays until the end."""
        self.command(f"load {os.fsencode(str(library)).hex()}")

    def chdir(self, folder: object) -> None:
        """Changes the current directory of the probe's process."""
        self.command(f"chdir {os.fsencode(str(folder)).hex()}")

    def fork(self) -> None:
        """Forks; the child goes on with this conversation."""
        reply = self.command("fork")
        child = reply.removeprefix("pid=")
        self.found_pid(int(child) if child.isdecimal() else 0)

    def fork_and_end(self) -> None:
        """Forks a child that ends at once, and goes on. Raises CommandError where a signal ended the child."""
        self.command("forkend")

    def execute_again(self) -> None:
        """Executes the probe anew in this process, as a new program: nothing that was made or opened is left."""
        self.command("exec")

    def call_interrupted(self, microseconds: int, function: str, *arguments: Any) -> int:
        """A call during which a signal arrives that often; its handler does nothing, and nothing is restarted."""
        line = self._call_line(function, arguments)
        return self._result(function, f"interrupted {microseconds} {line}", self._values)

    def late_handler(self) -> None:
        """Registers an exit handler, in which calls that were kept for "exit" are made (`call_when_it_ends`)."""
        self.command("late handler")

    def late_library(self, library: object) -> None:
        """Loads a library of the application's own, in whose destructor calls for "destructor" and "thread" are made.

        After the loader, so that it ends after it.
        """
        self.command(f"late library {os.fsencode(str(library)).hex()}")

    def call_when_it_ends(self, point: str, function: str, *arguments: Any, address: Value | None = None) -> None:
        """Keeps a call for a point: "exit", "destructor", a "thread" started there, or "now" for `late_calls`.

        They are made in a child of this process as it is then, and go on in another one where a call kills it.
        """
        self._keep(f"late {point}", function, arguments, address)

    def late_calls(self) -> None:
        """Makes the calls that were kept for "now"."""
        self.command("late run")

    def heap(self) -> int:
        """Bytes of the C heap in use. Start the session with `counted_heap=True` for exact numbers."""
        return int(self.command("heap"))

    def state(self) -> dict[str, str]:
        """What a library should leave as it is: locale, working directory, signals and so on, by name."""
        lines = bytes.fromhex(self.command("state")).decode(errors="replace").splitlines()
        variables = {f"variable {os.fsdecode(n)}": os.fsdecode(v) for n, v in self.process_environment().items()}
        return {name: value for name, _, value in (line.partition("=") for line in lines)} | variables

    def require_removal_at_exit(self) -> None:
        """Makes the case `unsupported` where the end of a process removes no layer and no vendor: on Windows."""

    def open_files(self) -> list[str]:
        """What the process's file descriptors point to, without the standard three and the probe's socket."""
        folder = f"/proc/{self.pid}/fd"
        files = []
        for number in os.listdir(folder):
            try:
                target = os.readlink(f"{folder}/{number}")
            except OSError:
                continue
            if int(number) > 2 and not target.startswith("socket:"):
                files.append(target)
        return sorted(files)

    def inherited_files(self) -> list[str]:
        """The open files that a program which the process starts would have as well."""
        folder = f"/proc/{self.pid}"
        files = []
        for number in os.listdir(f"{folder}/fd"):
            try:
                with open(f"{folder}/fdinfo/{number}") as about:
                    flags = next(int(line.split()[1], 8) for line in about if line.startswith("flags:"))
                if int(number) > 2 and not flags & os.O_CLOEXEC:
                    files.append(os.readlink(f"{folder}/fd/{number}"))
            except OSError:
                continue
        return sorted(files)

    def threads(self) -> int:
        """How many threads the process has."""
        return len(os.listdir(f"/proc/{self.pid}/task"))

    def resident(self) -> int:
        """Bytes of the process that are in memory and in no file."""
        with open(f"/proc/{self.pid}/statm") as file:
            _, resident, shared, *_ = map(int, file.read().split())
        return os.sysconf("SC_PAGE_SIZE") * (resident - shared)

    def maps(self, path: object) -> bool:
        """Whether a file is mapped into the process: a library that is loaded.

        In a chroot the folder of that stands before the path, as soon as the process has mounts of its own.
        """
        names = (str(path), os.path.realpath(str(path)))  # the kernel's is the latter
        with open(f"/proc/{self.pid}/maps") as file:
            return any(line.rstrip("\n").endswith(names) for line in file)
