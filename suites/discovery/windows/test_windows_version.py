# SPDX-License-Identifier: Apache-2.0
"""The version that the file OpenCL.dll carries (DISC-WIN)."""

from __future__ import annotations

import re

from harness.check import Sandbox, WindowsLoader, file_version, requirement

# A function that each of these versions of OpenCL brought; those of 3.1 are also functions of extensions.
NEWEST = {"1": "clCreateContext", "2": "clSetKernelArgSVMPointer", "3": "clSetContextDestructorCallback"}


@requirement("DISC-WIN-015")
def test_file_version_is_that_of_opencl(loader: WindowsLoader, sandbox: Sandbox) -> None:
    """The FileVersion is x.y.z.0, and x.y is the version of OpenCL that the loader has functions of."""
    sandbox.vendor("a")
    with loader.start(sandbox) as cl:
        has = {version for version, function in NEWEST.items() if cl.symbol(function)}
    version = file_version(loader.path)
    assert re.fullmatch(r"[1-9]\.\d\.\d+\.0", version), f"FileVersion {version or 'absent'}, expected x.y.z.0"
    newest = max(has)
    assert version.startswith(f"{newest}.")
