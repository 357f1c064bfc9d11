# SPDX-License-Identifier: Apache-2.0
"""Variables on Windows are those of the process, of which each C library only has a copy (DISC-ENV).

The application here has another C library than the loader: what it sets does not arrive in the loader's copy.
"""

from __future__ import annotations

import pytest

from harness.check import LEGACY, Sandbox, WindowsLoader, requirement


@requirement("DISC-ENV-020")
@pytest.mark.parametrize("change", ["set", "removed", "replaced"])
def test_list_of_libraries_is_that_of_the_process(loader: WindowsLoader, sandbox: Sandbox, change: str) -> None:
    """OCL_ICD_FILENAMES counts as the process has it in the first call, however it was when the process began."""
    loader.require("OCL_ICD_FILENAMES")
    sandbox.registry_vendor(sandbox.icd("registered"))
    first, later = sandbox.icd("first"), sandbox.icd("later")
    if change != "set":
        sandbox.env["OCL_ICD_FILENAMES"] = str(first)
    with loader.start(sandbox) as cl:
        if change == "removed":
            cl.unsetenv("OCL_ICD_FILENAMES")
        else:
            cl.setenv("OCL_ICD_FILENAMES", str(later))
        assert sorted(cl.used_platforms()) == [*["later"] * (change != "removed"), "registered"]


@requirement("DISC-ENV-020")
@pytest.mark.parametrize("change", ["set", "removed", "replaced"])
def test_list_of_layers_is_that_of_the_process(loader: WindowsLoader, sandbox: Sandbox, change: str) -> None:
    """OPENCL_LAYERS counts as the process has it in the first call, however it was when the process began."""
    loader.require("OPENCL_LAYERS")
    if not loader.has("initialises layers with properties"):
        sandbox.env[LEGACY] = "1"
    sandbox.registry_vendor(sandbox.icd("registered"))
    first, later = sandbox.layer("first"), sandbox.layer("later")
    if change != "set":
        sandbox.env["OPENCL_LAYERS"] = str(first)
    with loader.start(sandbox) as cl:
        if change == "removed":
            cl.unsetenv("OPENCL_LAYERS")
        else:
            cl.setenv("OPENCL_LAYERS", str(later))
        assert cl.used_platforms() == ["registered"]
    layers = [e.who for e in sandbox.log.calls() if e.name.startswith("clInitLayer")]
    assert layers == ["later"] * (change != "removed")


@requirement("DISC-ENV-020")
@pytest.mark.parametrize("change", ["set", "removed"])
def test_older_scheme_of_layers_is_that_of_the_process(loader: WindowsLoader, sandbox: Sandbox, change: str) -> None:
    """What chooses the older scheme of layers counts as the process has it in the first call, too."""
    loader.require("OPENCL_LAYERS")
    loader.require("initialises layers with properties")
    sandbox.registry_vendor(sandbox.icd("registered"))
    sandbox.env["OPENCL_LAYERS"] = str(sandbox.layer("layer"))
    if change == "removed":
        sandbox.env[LEGACY] = "1"
    with loader.start(sandbox) as cl:
        if change == "removed":
            cl.unsetenv(LEGACY)
        else:
            cl.setenv(LEGACY, "1")
        assert cl.used_platforms() == ["registered"]
    scheme = "clInitLayerWithProperties" if change == "removed" else "clInitLayer"
    assert [e.name for e in sandbox.log.calls() if e.name.startswith("clInitLayer")] == [scheme]
