# SPDX-License-Identifier: Apache-2.0
"""Which package has a library: asked of apt and dpkg where these are, without any change to them."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache

_LIMIT = 10.0  # seconds for one question


def _output(*command: str) -> str:
    if shutil.which(command[0]) is None:
        return ""
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=_LIMIT, errors="replace").stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


def _by_convention(library: str) -> str:
    """Debian's name for the package of a library: libfoo.so.2 is in libfoo2, libfoo-1.so.2 in libfoo-1-2."""
    match = re.fullmatch(r"(.+?)\.so(?:\.(\d+)[\d.]*)?", library)
    if not match:
        return ""
    base, version = match[1].lower().replace("_", "-"), match[2] or ""
    if base.startswith("libllvm-"):  # the one soname of LLVM that has its version twice
        return "libllvm" + base.removeprefix("libllvm-")
    return base + ("-" if version and base[-1].isdigit() else "") + version


@cache
def package_of(library: str) -> str:
    """The package that has a library of this name; "" where nothing here can tell."""
    packages = re.findall(
        r"^(\S+): ", _output("apt-file", "search", "--regexp", f"/{re.escape(library)}$"), re.MULTILINE
    )
    if packages:
        return str(packages[0])
    name = _by_convention(library)
    if name and re.search(rf"^Package: {re.escape(name)}$", _output("apt-cache", "show", name), re.MULTILINE):
        return name
    return ""


def how_to_get(library: str) -> str:
    """The sentence that says how to get a library."""
    if package := package_of(library):
        return f"Install it: sudo apt install {package}."
    if shutil.which("apt-get"):
        return f"Install the package that has {library} (apt-file search {library} names it)."
    if shutil.which("dnf"):
        return f"Install the package that has it: sudo dnf install '*/{library}'."
    return f"Install the package that has {library}."
