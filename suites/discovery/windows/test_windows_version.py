# SPDX-License-Identifier: Apache-2.0
"""The version that the file OpenCL.dll carries (DISC-WIN)."""

from __future__ import annotations

import re

from harness.check import Sandbox, WindowsLoader, file_version, requirement


@requirement("DISC-WIN-015")
def test_file_version_is_that_of_opencl(loader: WindowsLoader, sandbox: Sandbox) -> None:
    """The FileVersion is x.y.z.0, and x.y is the version of OpenCL that the loader has functions of."""
    sandbox.vendor("a")
    with loader.start(sandbox) as cl:
        has = {name for name in ("clCreateContext", "clSetKernelArgSVMPointer", "clSetContextDestructorCallback")
               if cl.symbol(name)}  # fmt: skip
    version = file_version(loader.path)
    assert re.fullmatch(r"[1-9]\.\d\.\d+\.0", version), f"FileVersion {version or 'absent'}, expected x.y.z.0"
    newest = "3.0" if "clSetContextDestructorCallback" in has else "2" if "clSetKernelArgSVMPointer" in has else "1"
    assert version.startswith(f"{newest}.")
