# SPDX-License-Identifier: Apache-2.0
"""The process between the harness and a subject (guard.c): how it is called, and what this machine lets it do."""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from harness.build import build
from harness.errors import UsageError

WAYS = ("namespaces", "scope", "plain")  # from the most protection to none but the guard itself
VARIABLE = "CLHARNESS_ISOLATION"  # names one of them
PREFIX = "clharness-case-"  # how the names of sandboxes begin


def command(
    status: int,
    program: Sequence[str | os.PathLike[str]],
    environment: Mapping[str, str],
    file_limit: int,
    user: int = -1,
    way: str | None = None,
) -> list[str | os.PathLike[str]]:
    """Starts a program under the guard, which writes what happens to the descriptor `status`; see guard.c."""
    variables = [f"{name}={value}" for name, value in environment.items()]
    return [build().guard, str(status), way or isolation(), str(user), str(file_limit), *variables, "--", *program]


_MOST_SHARED = 16
_PR_SET_DUMPABLE = 4
_shared: list[str] = []  # names of sandboxes


def sandboxes_above(path: Path) -> list[str]:
    """The names of the sandboxes that a file lies in."""
    return [part for part in path.parts if part.startswith(PREFIX)]


def share(library: Path) -> None:
    """From now on each case sees this library, also where it lies in the sandbox of another one.

    Only the last few are seen: a session shares its own anew when it starts.
    """
    names = sandboxes_above(library)
    _shared[:] = [*(name for name in _shared if name not in names), *names][-_MOST_SHARED:]


def own_environment(
    hidden: Iterable[str | os.PathLike[str]] = (), kept: Iterable[str | os.PathLike[str]] = ()
) -> Mapping[str, str]:
    """The variables of the guard itself; `hidden` are folders of the machine that are to be empty for the program, and
    of the first of `kept` it can change the other ones alone."""
    shared = {"CLHARNESS_SHARED": "".join(f"{name}/" for name in _shared)} if _shared else {}
    covered = os.pathsep.join(os.fspath(folder) for folder in hidden)
    closed = os.pathsep.join(os.fspath(folder) for folder in kept)
    return shared | {name: text for name, text in (("CLHARNESS_HIDDEN", covered), ("CLHARNESS_KEPT", closed)) if text}


def _says(way: str, folder: Path | None = None) -> bytes:
    """What the guard says first of a program that it starts in a folder."""
    ours, theirs = os.pipe()
    try:
        line = command(theirs, [build().guard], {}, 1 << 20, way=way)
        subprocess.run(line, pass_fds=[theirs], env={}, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
        os.close(theirs)
        theirs = -1
        return os.read(ours, 100).partition(b" ")[0]
    finally:
        os.close(ours)
        if theirs >= 0:
            os.close(theirs)


def _works(way: str) -> bool:
    return _says(way) in (b"pid", b"exposed")


def words(folder: Path) -> str:
    """The way that is taken, as records have it; `folder` is a sandbox that nobody uses."""
    way = isolation()
    return f"{way}, sandboxes of other cases in reach" if _says(way, folder) == b"exposed" else way


@cache
def isolation(same_numbers: bool = False) -> str:
    """The best way that this machine allows, or the one that the user asks for. Raises UsageError.

    same_numbers: a process outside has to know those of the program by the numbers that they themselves know.
    """
    name = os.environ.get(VARIABLE)
    if name and name not in WAYS:
        raise UsageError(f"{VARIABLE}={name}: must be one of {', '.join(WAYS)}")
    if name == "namespaces" and same_numbers:
        raise UsageError(f"{VARIABLE}={name}: not for programs of Windows, which Wine's server has to reach")
    for way in [name] if name else WAYS[same_numbers:2]:
        if way == "plain" or (way == "namespaces" and _works(way)) or (way == "scope" and has_scopes()):
            return way
    if name:
        raise UsageError(f"{VARIABLE}={name}: this machine does not allow that")
    return "plain"


def hide() -> None:
    """Closes the memory and the descriptors of this process, and of those forked from it, to others of the same user,
    where subjects can see it."""
    if isolation() != "namespaces":
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def has_scopes() -> bool:
    """Whether the kernel can keep signals in (Landlock, Linux 6.12 and newer)."""
    create_ruleset, version_only = 444, 1
    return int(ctypes.CDLL(None).syscall(create_ruleset, None, 0, version_only)) >= 6
