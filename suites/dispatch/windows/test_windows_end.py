# SPDX-License-Identifier: Apache-2.0
"""The end of a process on Windows, where other threads are gone already (DISP-DEI)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.check import Sandbox, Unsupported, WindowsLoader, requirement

Record = Callable[[str], None]


@requirement("DISP-DEI-005")
@pytest.mark.parametrize("count", [1, 2])
def test_nothing_is_removed_where_the_process_ends(loader: WindowsLoader, sandbox: Sandbox, count: int) -> None:
    """Layers are deinitialised where the loader is unloaded, and not where the process ends (DllMain's argument)."""
    loader.require("initialises layers with properties")
    sandbox.vendor("a", extensions="cl_khr_icd cl_khr_icd_unloadable", unloadable=True)
    names = [f"layer{number}" for number in range(count)]
    sandbox.env["OPENCL_LAYERS"] = ":".join(str(sandbox.layer(name)) for name in names)
    with loader.start(sandbox) as cl:
        assert cl.used_platforms() == ["a"]
        cl.close()
        if not sandbox.log.calls("clDeinitLayer"):
            raise Unsupported("loader", "this loader deinitialises no layer")
    sandbox.forget_log()
    with loader.start(sandbox) as cl:
        assert cl.used_platforms() == ["a"]
    assert not sandbox.log.calls("clDeinitLayer")
