# SPDX-License-Identifier: Apache-2.0
"""Programs of Windows on this machine: how they are started, and how they call files.

On Linux, Wine runs them, in a prefix of the build's own; nothing of the user's is read or changed. Its server runs as
long as a process of ours holds it, and no longer.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

from harness.build import build
from harness.errors import HarnessError

NATIVE = os.name == "nt"
_PROGRAMS = ("/usr/lib/wine/wine64", "wine64", "wine")
# Wine's own opencl.dll would take the place of a library of that name; its debugger only costs time.
_OVERRIDES = "mscoree,mshtml=;opencl=n;winedbg.exe=d"

# File names are UTF-8 on this machine: without it, Wine has no names beyond ASCII.
_LETTERS = {"LC_CTYPE": "C.UTF-8"}

# Wine sets these itself where a loader loads dxgi.dll, which is not a change of the loader's.
_OF_DIRECT3D = {"VKD3D_DEBUG": "none", "VKD3D_SHADER_DEBUG": "none"}


def windows_path(path: Path) -> str:
    """The path as programs of this run's subject write it: on Linux, Wine's drive Z: is the root."""
    return "Z:" + str(path).replace("/", "\\") if build().windows and not NATIVE else str(path)


def unix_path(text: str) -> Path:
    """The file that `windows_path` wrote so."""
    return Path(text.removeprefix("Z:").replace("\\", "/"))


@cache
def program() -> str:
    """The program that runs those of Windows."""
    for name in _PROGRAMS:
        if path := shutil.which(name):
            return path
    raise HarnessError("Wine is not installed (Debian: wine64): ./clharness loader OpenCL.dll sets it up")


def runs_under() -> str:
    """Where programs of Windows run on this machine, for a message."""
    return "on this system" if NATIVE else f"under Wine, with a prefix in {prefix()}"


def prefix() -> Path:
    """Wine's folder of this build, made by ./clharness (harness/setup/windows.sh)."""
    return build().wine_prefix


def environment() -> dict[str, str]:
    """The variables that Wine needs."""
    return {
        "WINEPREFIX": str(prefix()),
        "WINEDEBUG": "-all",
        "WINEDLLOVERRIDES": _OVERRIDES,
        **_OF_DIRECT3D,
        **_LETTERS,
        "PATH": "/usr/bin:/bin",
        "HOME": str(prefix()),
    }


@cache
def _fixed_addresses() -> list[str]:
    """What starts a program whose addresses are not random, where this machine allows that.

    Where Wine has no preloader (Debian), its heap begins anywhere in a gigabyte, in which it needs a page of its own
    (0x7ffe0000): one start in some thousands finds the heap there, and ends with exit code 1 and without a word.
    """
    prefix = [shutil.which("setarch") or "setarch", os.uname().machine, "-R"]
    with contextlib.suppress(OSError):
        if subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode == 0:
            return prefix
    return []


def command(*arguments: str | Path) -> list[str]:
    """What starts a program of Windows."""
    return [*([] if NATIVE else [*_fixed_addresses(), program()]), *map(str, arguments)]


_keeper: list[subprocess.Popen[bytes]] = []


def keep_server() -> int:
    """Starts Wine's server, once in this process and those forked from it: a program that waits for the end of them
    all keeps it. Gives the server's number. Raises HarnessError where there is no prefix."""
    if not _keeper and not NATIVE:
        _start_keeper()
    return _server()


@cache
def _server() -> int:
    """The number of the server, which works in a folder that is named after the prefix; 0 where there is none."""
    if NATIVE:
        return 0
    status = prefix().stat()
    name = f"server-{status.st_dev:x}-{status.st_ino:x}"
    for process in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if os.path.basename(os.readlink(f"/proc/{process}/cwd")) == name:
                return int(process)
    return 0


def _start_keeper() -> None:
    if not (prefix() / ".complete").exists():
        raise HarnessError(f"there is no Wine prefix in {prefix()}: ./clharness loader OpenCL.dll makes one")
    arguments = command(build().probe, "--loader", "-", "--standard", "NUL", "--late")
    keeper = subprocess.Popen(
        arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment()
    )
    assert keeper.stdin is not None and keeper.stdout is not None
    keeper.stdin.write(b"hello\n")
    keeper.stdin.flush()
    if not keeper.stdout.readline().startswith(b"ok "):
        raise HarnessError(f"Wine does not run the probe {build().probe}: is the prefix {prefix()} in order?")
    _keeper.append(keeper)
