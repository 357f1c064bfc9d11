# SPDX-License-Identifier: Apache-2.0
"""Instructions of single calls, counted exactly: in the loader, and in system libraries on the loader's behalf."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.build import build
from harness.errors import HarnessError
from harness.probe.calls import result_value
from harness.probe.session import CommandError, Session
from harness.sandbox import Sandbox, Unsupported


@dataclass(frozen=True)
class Counted:
    """A call's result, and its instructions: the loader's own, and those of what it called but vendors and layers."""

    result: int
    loader: int
    system: int

    @property
    def cost(self) -> int:
        """Instructions of one call, in the loader and in the libraries of the system that it calls."""
        return self.loader + self.system


def counted(cl: Session, loader: Path, sandbox: Sandbox, function: str, *arguments: Any) -> Counted:
    """Makes a call one instruction at a time, all but what libraries in the sandbox's `libraries` do.

    Layers belong elsewhere in the sandbox: what they call is to be counted. What the dynamic linker does in the first
    call of a function is counted with it: make the call once before.
    """
    if build().sanitize or cl.environment.get("LD_PRELOAD"):
        raise Unsupported("machine", "instructions of a sanitizer's or a guarded heap's program are not the loader's")
    tokens = [cl.token(argument) for argument in arguments]
    cl.buffer(0)  # takes a number for the result
    variable = cl._values
    freely = os.fsencode(sandbox.libraries).hex()
    result = int(cl.command(" ".join(["count", freely, "call", str(variable), function, *tokens])), 16)
    try:
        text = bytes.fromhex(cl.command("counted")).decode()
    except CommandError as error:
        raise Unsupported("machine", str(error)) from None
    own, system = _shares(text, loader, sandbox.root)
    if own == 0:
        raise HarnessError(f"{function}: no instruction was counted in {loader}")
    return Counted(result_value(function, result, variable), own, system)


def _shares(text: str, loader: Path, mocks: Path) -> tuple[int, int]:
    """Instructions of the loader, and of system libraries that were entered from it.

    A stretch in a system library belongs to whoever called it: the last one before it that is none.
    """
    own = system = 0
    inside = False
    for line in text.splitlines():
        number, _, path = line.partition(" ")
        if path == str(loader):
            inside = True
            own += int(number)
        elif not path or Path(path).is_relative_to(mocks):
            inside = False
        elif inside:
            system += int(number)
    return own, system
