# SPDX-License-Identifier: Apache-2.0
"""Which loader is tested: the one that was asked for, else the system's."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from harness.build import command
from harness.errors import UsageError

SONAME = "libOpenCL.so.1"
VULKAN_SONAME = "libvulkan.so.1"
FOLDERS = ("/usr/local/lib", "/usr/lib", "/lib", "/usr/lib64", "/lib64")


def system_loader(soname: str = SONAME) -> Path | None:
    """The file that `dlopen(soname)` would find, or None."""
    for ldconfig in ("/sbin/ldconfig", "/usr/sbin/ldconfig"):
        if os.access(ldconfig, os.X_OK):
            listed = subprocess.run([ldconfig, "-p"], capture_output=True, text=True).stdout
            for line in listed.splitlines():
                name, _, path = line.strip().partition(" => ")
                if name.startswith(f"{soname} ") and "x32" not in name and ("64" in name or "(" not in name):
                    return Path(path)
    candidates = (Path(folder) / soname for folder in FOLDERS)
    return next((path for path in candidates if path.exists()), None)


def loader_path(path: str | None) -> Path:
    """The path to test. Raises UsageError where none was given and the system has none."""
    if path:
        return Path(path)
    library = system_loader()
    if library is None:
        raise UsageError(
            f"there is no {SONAME} on this machine: install a loader (Debian: ocl-icd-libopencl1), "
            f"or give the path of one ({command()} loader PATH, pytest --loader PATH)"
        )
    return library
