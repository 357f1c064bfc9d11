# SPDX-License-Identifier: Apache-2.0
"""The end of a process on Windows, where other threads are gone already (DISP-DEI)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.check import LEGACY, MockIcd, Sandbox, WindowsLoader, requirement

Record = Callable[[str], None]


BOTH = "cl_khr_icd cl_khr_icd_unloadable"
WAYS: dict[str, Callable[[Sandbox, MockIcd], object]] = {
    "the Vendors key": lambda sandbox, mock: sandbox.registry_vendor(mock),
    "the kernel": lambda sandbox, mock: sandbox.adapter(vendor=mock, devices=False),
    "a device": lambda sandbox, mock: sandbox.adapter(vendor=mock, kernel=False),
}


@requirement("DISP-DEI-005")
@pytest.mark.parametrize("unloadable", [True, False], ids=["unloadable", "stays"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("count", [0, 1, 2])
def test_no_library_is_freed_where_the_process_ends(
    loader: WindowsLoader, sandbox: Sandbox, count: int, way: str, unloadable: bool, record: Record
) -> None:
    """Where the process ends (DllMain's argument), libraries of vendors and layers are left to the system.

    That layers are told of it is recorded: other threads are gone by then, wherever they were.
    """
    if count:
        loader.require("OPENCL_LAYERS")
    if not loader.has("initialises layers with properties"):
        sandbox.env[LEGACY] = "1"
    WAYS[way](sandbox, sandbox.icd("a", extensions=BOTH, unloadable=unloadable))
    names = [f"layer{number}" for number in range(count)]
    sandbox.env["OPENCL_LAYERS"] = ":".join(str(sandbox.layer(name)) for name in names)
    with loader.start(sandbox) as cl:
        assert cl.used_platforms() == ["a"]
        assert not sandbox.log.happened("freed at the end")
        assert cl.quit() == 0
    assert not [event.data["detail"] for event in sandbox.log.happened("freed at the end")]
    record("layers are told" if sandbox.log.calls("clDeinitLayer") else "no layer is told")
