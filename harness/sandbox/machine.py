# SPDX-License-Identifier: Apache-2.0
"""What this machine can do for a case: scratch space, private mounts, elevated processes, other users."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from harness.build import build
from harness.errors import UsageError

NOBODY = 65534
NOT_STARTED = 127  # the exit code of a program whose libraries are not found
SEPARATORS = set(" \t\n:")  # of what LD_PRELOAD and lists of folders hold


class Unsupported(Exception):
    """A case cannot be run. `kind` is "machine" or "loader"; the message says what is missing and why."""

    def __init__(self, kind: str, reason: str, capability: str | None = None) -> None:
        super().__init__(reason)
        self.capability = capability
        self.kind = kind
        self.reason = reason


def _usable(folder: Path) -> bool:
    """A folder for libraries and set-uid copies: large enough, and neither noexec nor nosuid.

    Its path can be part of LD_PRELOAD and of lists of folders.
    """
    if SEPARATORS & set(os.fspath(folder)):
        return False
    try:
        state = os.statvfs(folder)
    except OSError:
        return False
    room = state.f_bavail * state.f_frsize
    return (
        not state.f_flag & (os.ST_NOEXEC | os.ST_NOSUID) and room > 128 << 20 and os.access(folder, os.W_OK | os.X_OK)
    )


@cache
def scratch_root() -> Path:
    """Where sandboxes are made: memory where possible, because the call log is twice as fast there."""
    place = os.environ.get("CLHARNESS_SCRATCH")
    if place and SEPARATORS & set(place):
        raise UsageError(f"CLHARNESS_SCRATCH={place}: has a blank or a colon, which LD_PRELOAD cannot hold in a path")
    for folder in [Path(place)] if place else [Path("/dev/shm"), Path(tempfile.gettempdir()), Path("/var/tmp")]:
        if _usable(folder):
            return folder
    return Path(tempfile.gettempdir())


def is_root() -> bool:
    """Whether this process may do all: some modes and owners cannot be tried then."""
    return os.geteuid() == 0


def bubblewrap(binds: dict[str, Path], keep: list[Path], read: Iterable[Path] = ()) -> list[str]:
    """A command prefix that runs a program in a minimal root where each path of `binds` shows a folder of ours.

    The folders in `keep` stay visible under their own names; so do those in `read`, which cannot be written there, but
    for those that would bring back what `binds` covers. Nothing of the host is changed.
    """
    program = shutil.which("bwrap")
    assert program is not None
    command = [
        program,
        *(["--cap-drop", "CAP_SYS_ADMIN"] if is_root() else []),  # what it covers stays covered
        "--die-with-parent",
        "--ro-bind",
        "/usr",
        "/usr",
        "--ro-bind",
        "/proc",
        "/proc",
        "--dev-bind",  # drivers need their devices, and what the system says of them
        "/dev",
        "/dev",
        "--ro-bind-try",
        "/sys",
        "/sys",
    ]
    places = [Path("/") / name for name in ("lib", "lib64", "lib32", "bin", "sbin")]
    for path in places:
        if path.is_symlink():
            command += ["--symlink", os.readlink(path), str(path)]
        elif path.is_dir():
            command += ["--ro-bind", str(path), str(path)]
    if Path("/etc/ld.so.cache").exists():
        command += ["--ro-bind", "/etc/ld.so.cache", "/etc/ld.so.cache"]
    shown = [Path("/usr"), Path("/proc"), Path("/dev"), Path("/sys"), *places, *keep]
    for folder in dict.fromkeys(read):
        covers = folder == Path("/") or any(Path(place).is_relative_to(folder) for place in binds)
        if not covers and not any(folder.is_relative_to(one) for one in shown):
            command += ["--ro-bind", str(folder), str(folder)]
    for folder in dict.fromkeys(keep):
        if not folder.is_relative_to("/usr"):
            command += ["--bind", str(folder), str(folder)]
    for place, folder in binds.items():
        if folder.exists():  # else there is no such place for the program
            command += ["--bind", str(folder), place]
    return [*command, "--"]


@cache
def require_private_mounts() -> None:
    """Raises Unsupported where a case cannot have its own /etc/OpenCL."""
    if shutil.which("bwrap") is None:
        raise Unsupported("machine", "bubblewrap (bwrap) is not installed: no private /etc/OpenCL")
    with tempfile.TemporaryDirectory() as folder:
        command = [*bubblewrap({"/etc/OpenCL/vendors": Path(folder)}, []), "/usr/bin/true"]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise Unsupported("machine", f"bubblewrap cannot make a private root here: {done.stderr.strip()}")


def _refused(program: Path, **user: Any) -> str:
    """Why a program cannot be started without variables, by this user or another one; "" where it can."""
    try:
        done = subprocess.run([program], env={}, stdin=subprocess.DEVNULL, capture_output=True, text=True, **user)
    except OSError as error:
        return error.strerror or str(error)
    return done.stderr.strip().rpartition("libraries: ")[2] if done.returncode == NOT_STARTED else ""


@cache
def require_starting_without_variables(program: Path) -> None:
    """Raises Unsupported where a program finds its own libraries by LD_LIBRARY_PATH alone: elevated, it has none."""
    if reason := _refused(program):
        raise Unsupported("machine", f"an elevated process cannot be started here: {reason}")


@cache
def refused_to_others(program: Path) -> str:
    """Why NOBODY cannot start a program that is open to all, which its own libraries may not be; "" where he can."""
    return _refused(program, user=NOBODY, group=NOBODY, extra_groups=[])


def require_ordinary_user(program: Path, library: Path) -> None:
    """Raises Unsupported where NOBODY cannot start a program, or read the library that it is to open."""
    for file in (program, library):
        if closed := closed_to_others(file):
            raise Unsupported("machine", f"an ordinary user cannot reach {file}: {closed} is closed to others")
    if refused := refused_to_others(program):
        raise Unsupported("machine", f"an ordinary user cannot start {program}: {refused}")


def set_uid_copy(program: Path, library: Path, folder: Path) -> Path | None:
    """A copy of a program that runs as NOBODY, which only this user can reach; None where that cannot be had, or where
    it could not be started or read the library that it is to open.

    The folder, which has to be new, is closed to everybody else: what the program is told to load would be theirs.
    """
    if not is_root() or closed_to_others(library) or (not closed_to_others(program) and refused_to_others(program)):
        return None
    status = Path("/proc/self/status").read_text()
    folder.mkdir(mode=0o700)
    if os.statvfs(folder).f_flag & os.ST_NOSUID or "NoNewPrivs:\t1" in status:
        return None
    copy = folder / program.name
    shutil.copyfile(program, copy)
    try:
        os.chown(copy, NOBODY, NOBODY)
        copy.chmod(0o4500)
    except OSError:  # root in a user namespace that has no such user
        copy.unlink()
        return None
    return copy


def closed_to_others(file: Path) -> Path | None:
    """The folder or file that keeps NOBODY from reading a file, such as root's own home; None where nothing does."""
    real = file.resolve()
    closed = [folder for folder in real.parents if not folder.stat().st_mode & 0o001]
    return next(iter(closed), None if real.stat().st_mode & 0o004 else real)


@cache
def at_secure_by_tracer() -> bool:
    """Whether a tracer may set AT_SECURE in a program's auxiliary vector."""
    done = subprocess.run([build().at_secure, "/usr/bin/true"], capture_output=True)
    return done.returncode == 0
