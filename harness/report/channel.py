"""How a pytest run learns that the clharness command started it, and how it answers.

The command keeps pytest's own output to itself; the report goes to the command's real output through a
descriptor of its own, and the exit code back through another. Under plain `pytest` neither is there.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import TextIO

_REPORT_FD = "CLHARNESS_REPORT_FD"
_STATUS_FD = "CLHARNESS_STATUS_FD"
_COMMAND = "CLHARNESS_COMMAND"


def environment(report_fd: int, status_fd: int, command: Sequence[str]) -> dict[str, str]:
    """What the command adds to the environment of the pytest run."""
    return {_REPORT_FD: str(report_fd), _STATUS_FD: str(status_fd), _COMMAND: shlex.join(command)}


def under_command(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether the clharness command started this run and wants to print the report itself."""
    return _REPORT_FD in environ


def command_line(environ: Mapping[str, str] = os.environ) -> list[str]:
    """The command that the user typed: clharness with its arguments, or the arguments of this process."""
    return shlex.split(environ[_COMMAND]) if _COMMAND in environ else list(sys.argv)


def open_terminal() -> TextIO:
    """Where the report goes: the command's output, or this process's standard output."""
    number = os.environ.get(_REPORT_FD)
    if number is None:
        return sys.stdout
    # Line-buffered, and no byte of a loader's message may stop the report.
    stream = os.fdopen(int(number), "w", buffering=1, encoding="utf-8", errors="backslashreplace")
    os.set_inheritable(stream.fileno(), False)
    return stream


def tell_exit(code: int, trouble: str | None = None) -> None:
    """Tells the command the exit code of the run, which pytest's own exit codes cannot express.

    `trouble` is a sentence for the user where the report itself could not be printed.
    """
    number = os.environ.get(_STATUS_FD)
    if number is not None:
        with contextlib.suppress(OSError):
            os.write(int(number), f"{int(code)}\n{trouble or ''}".encode(errors="backslashreplace"))


def read_exit(answer: bytes) -> tuple[int | None, str]:
    """What `tell_exit` told: the code, None if it told nothing, and the sentence."""
    code, _, trouble = answer.decode(errors="backslashreplace").partition("\n")
    return (int(code) if code.isdecimal() else None), trouble.strip()
