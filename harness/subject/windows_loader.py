# SPDX-License-Identifier: Apache-2.0
"""A loader for Windows under test, OpenCL.dll: the probe makes the machine around it, and Wine runs it on Linux."""

from __future__ import annotations

import os
from typing import Any, ClassVar

from harness.build import build
from harness.probe.windows_session import WindowsSession
from harness.sandbox import Sandbox, Unsupported
from harness.sandbox.sandbox import PASSED_ON
from harness.sandbox.windows import INTEGRITY, library_path, variable_value
from harness.sandbox.wine import command, windows_path
from harness.sandbox.wine import environment as wine_environment
from harness.subject.library import read_library
from harness.subject.loader import Loader

# The options of Loader.start that are the same, or nothing, on Windows; and those that only Linux has.
ALWAYS = ("system", "ordinary_user")
ONLY_ON_LINUX = {
    "linked": "a program that is linked to the loader",
    "bind_global": "RTLD_GLOBAL",
    "bind_now": "RTLD_NOW",
    "system_binds": "a private root",
    "counted_heap": "an exact count of the heap",
    "failing_allocation": "a heap that fails",
    "torture": "a resource that cannot be had",
    "watch": "a watch over the variables that are asked for",
    "wrapper": "a wrapper",
}


class WindowsLoader(Loader):
    """What Loader says, for Windows. What only Linux has makes a case unsupported."""

    expectations_folder: ClassVar[str] = "windows"
    example = "OpenCL.dll"

    def require_asking(self, function: str) -> None:
        """Makes a case unsupported where the loader does not ask the system: what it would answer changes nothing."""
        if function not in self.imports:
            raise Unsupported("loader", f"this loader does not call {function}: it was decided when it was built")

    @property
    def imports(self) -> set[str]:
        """The functions that it takes from other libraries."""
        return read_library(self.path, "a loader", self.example).undefined

    def start(
        self,
        sandbox: Sandbox,
        *,
        late: bool = False,
        elevated: bool = False,
        unset: tuple[str, ...] = (),
        time_limit: float | None = None,
        integrity: str = "",
        wow64: bool = False,
        guarded_heap: bool = False,
        guarded_front: bool = False,
        **of_linux: Any,
    ) -> WindowsSession:
        """As Loader.start, whose other options are about what Windows has always, or not at all.

        integrity: of the process, of INTEGRITY (default: medium, or high where it is elevated). wow64: it seems to be a
        32-bit process.
        """
        for option, value in of_linux.items():
            if option not in ALWAYS and option not in ONLY_ON_LINUX:
                raise TypeError(f"start has no option {option!r}")
            if option in ONLY_ON_LINUX and value not in (None, False, ()):
                raise Unsupported("machine", f"{ONLY_ON_LINUX[option]}: only on Linux, so far")
        self.give_variables(sandbox)
        level = INTEGRITY[integrity or ("high" if elevated else "medium")]
        lines = [*sandbox.machine_lines(), f"integrity {level:#x}", *(["wow64"] if wow64 else [])]
        lines += ["heap front"] if guarded_front else ["heap end"] if guarded_heap else []
        machine = sandbox.new_place("machine").with_suffix(".txt")
        machine.write_text("\n".join(lines) + "\n")
        arguments: list[str] = [
            "--loader",
            windows_path(self.path),
            "--standard",
            windows_path(sandbox.root / "stdout"),
        ]
        arguments += ["--log", windows_path(sandbox.log_path), "--machine", windows_path(machine)]
        session = WindowsSession(
            command(build().probe, *arguments, *["--late"] * late),
            _environment(sandbox, unset),
            sandbox.root,
            time_limit or self.time_limit,
            cwd=sandbox.root,
        )
        session.expected_hangs = self.expected_hangs
        sandbox.runs.append(session)
        return session


def _environment(sandbox: Sandbox, unset: tuple[str, ...]) -> dict[str, str]:
    """An allow-list, what Wine needs, and what the case set."""
    variables = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    own: dict[str, Any] = {name: value for name, value in sandbox.env.items() if name not in unset}
    for name in own:
        own[name] = variable_value(name, own[name])
    if folders := own.pop("LD_LIBRARY_PATH", ""):  # where the dynamic linker looks; Wine puts it in front of PATH
        own["WINEPATH"] = ";".join(library_path(part) for part in folders.split(":"))
    return variables | own | wine_environment()


Loader.for_windows = WindowsLoader
