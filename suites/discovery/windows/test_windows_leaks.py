# SPDX-License-Identifier: Apache-2.0
"""What a loader on Windows gives back: handles of the system and of adapters, and references to DXGI's objects."""

from __future__ import annotations

import pytest

from harness.check import LEGACY, Sandbox, Unsupported, WindowsLoader, requirement

ROUNDS = 5


def _registry(sandbox: Sandbox) -> None:
    sandbox.registry_vendor(sandbox.icd("registered"))
    sandbox.registry_vendor("text", data="text", type="REG_SZ")


def _nothing(sandbox: Sandbox) -> None:
    sandbox.icd("unregistered")


def _adapters(sandbox: Sandbox) -> None:
    sandbox.adapter(vendor=sandbox.icd("adapter0"))
    sandbox.adapter()
    sandbox.adapter(vendor=[sandbox.icd("adapter1"), sandbox.icd("other")], undescribed=True)


def _devices(sandbox: Sandbox) -> None:
    sandbox.older_system()
    sandbox.adapter(vendor=sandbox.icd("adapter"))
    sandbox.adapter(raw=b"bytes", type="REG_BINARY")
    sandbox.component(vendor=sandbox.icd("component"), parent=sandbox.adapter())


def _bad(sandbox: Sandbox) -> None:
    sandbox.registry_vendor(r"A:\missing.dll")
    sandbox.registry_vendor(sandbox.icd("bad", variant="not_an_icd"))
    sandbox.adapter(vendor=r"A:\missing.dll")


def _layers(sandbox: Sandbox) -> None:
    sandbox.registry_vendor(sandbox.icd("registered"))
    sandbox.registry_layer(r"A:\missing.dll", 1)
    sandbox.env["OPENCL_LAYERS"] = r"A:\missing.dll"
    sandbox.env[LEGACY] = "1"


def _list(sandbox: Sandbox) -> None:
    sandbox.env["OCL_ICD_FILENAMES"] = str(sandbox.icd("listed"))


MACHINES = {
    "nothing": _nothing,
    "the registry": _registry,
    "adapters": _adapters,
    "devices": _devices,
    "libraries that cannot be used": _bad,
    "layers": _layers,
    "a list": _list,
}


@requirement("DISC-GEN-016")
@pytest.mark.parametrize("what", ["handles", "adapters", "dxgi"])
@pytest.mark.parametrize("machine", MACHINES)
def test_repeated_discoveries_leave_nothing_open(
    loader: WindowsLoader, sandbox: Sandbox, machine: str, what: str
) -> None:
    """A loader that is opened, used and closed over and over holds no more than after its second time."""
    MACHINES[machine](sandbox)
    with loader.start(sandbox, late=True) as cl:
        held = []
        for _ in range(ROUNDS):
            cl.open()
            cl.platform_names()
            cl.close()
            held.append(getattr(cl.held(), what))
        if cl.maps(loader.path):
            raise Unsupported("loader", "this loader stays in the process")
    assert held[1:] == held[1:2] * (ROUNDS - 1), f"{held[-1] - held[1]} more of {what} after {ROUNDS - 2} more rounds"
