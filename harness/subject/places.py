# SPDX-License-Identifier: Apache-2.0
"""The folders that loaders have compiled in, and those in which the dynamic linker looks."""

from __future__ import annotations

import os

SYSTEM_VENDORS = "/etc/OpenCL/vendors"
SYSTEM_LAYERS = "/etc/OpenCL/layers"
ANDROID_VENDORS = "/system/vendor/Khronos/OpenCL/vendors"


def linker_folders() -> list[str]:
    """Where the dynamic linker looks for a library that is named without a folder."""
    triplet = f"{os.uname().machine}-linux-gnu"
    usual = [f"/usr/lib/{triplet}", f"/lib/{triplet}", "/usr/local/lib", "/usr/lib64", "/lib64", "/usr/lib", "/lib"]
    return [*filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(":")), *usual]
