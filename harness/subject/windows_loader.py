# SPDX-License-Identifier: Apache-2.0
"""A loader for Windows under test, OpenCL.dll: the probe makes the machine around it, and Wine runs it on Linux."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, ClassVar

from harness.build import build
from harness.probe.session import Session
from harness.probe.torture import Torture
from harness.probe.windows_session import WindowsSession
from harness.sandbox import Sandbox, Unsupported
from harness.sandbox.sandbox import PASSED_ON
from harness.sandbox.windows import INTEGRITY, library_path, variable_value
from harness.sandbox.wine import command, windows_path
from harness.sandbox.wine import environment as wine_environment
from harness.subject.library import read_library
from harness.subject.loader import Loader


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
        linked: bool = False,
        late: bool = False,
        bind_global: bool = False,
        bind_now: bool = False,
        system: bool = False,
        system_binds: dict[str, Path] | None = None,
        ordinary_user: bool = False,
        elevated: bool = False,
        counted_heap: bool = False,
        guarded_heap: bool = False,
        guarded_front: bool = False,
        failing_allocation: int = 0,
        torture: Torture | None = None,
        unset: tuple[str, ...] = (),
        time_limit: float | None = None,
        wrapper: tuple[str, ...] = (),
        integrity: str = "",
        wow64: bool = False,
    ) -> Session:
        """As Loader.start, but that no heap is guarded.

        integrity: of the process, of INTEGRITY (default: medium, or high where it is elevated). wow64: it seems to be a
        32-bit process.
        """
        linux = {
            "a program that is linked to the loader": linked,
            "RTLD_GLOBAL": bind_global,
            "RTLD_NOW": bind_now,
            "a private root": system_binds is not None,
            "an exact count of the heap": counted_heap,
            "a heap that fails": failing_allocation > 0,
            "a resource that cannot be had": torture is not None,
            "a wrapper": bool(wrapper),
        }
        for what, wanted in linux.items():
            if wanted:
                raise Unsupported("machine", f"{what}: only on Linux, so far")
        level = INTEGRITY[integrity or ("high" if elevated else "medium")]
        lines = [*sandbox.machine_lines(), f"integrity {level:#x}", *(["wow64"] if wow64 else [])]
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
