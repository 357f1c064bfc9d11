# SPDX-License-Identifier: Apache-2.0
"""What discovery leaves as it is on the machine (DISC-WIN)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.check import VENDORS_KEY, Sandbox, WindowsLoader, requirement


def _nothing(sandbox: Sandbox) -> None:
    sandbox.icd("unregistered")


def _registry(sandbox: Sandbox) -> None:
    sandbox.registry_vendor(sandbox.icd("registered"))
    sandbox.registry_vendor(r"A:\missing.dll")


def _devices(sandbox: Sandbox) -> None:
    sandbox.adapter(vendor=sandbox.icd("driver"))
    sandbox.component(parent=sandbox.adapter(bare=True), bare=True)


MACHINES: dict[str, Callable[[Sandbox], None]] = {"nothing": _nothing, "values": _registry, "devices": _devices}


@requirement("DISC-WIN-016")
@pytest.mark.parametrize("level", ["medium", "high"])
@pytest.mark.parametrize("machine", MACHINES)
def test_discovery_makes_nothing_in_the_registry(
    loader: WindowsLoader, sandbox: Sandbox, machine: str, level: str
) -> None:
    """Keys of vendors, layers and devices that are not there are not made, also by a process that may do so."""
    MACHINES[machine](sandbox)
    with loader.start(sandbox, late=True, integrity=level) as cl:
        before = cl.registry()
        cl.open()
        cl.platform_names()
        assert cl.registry() == before
        cl.change_machine(sandbox.registry_value(VENDORS_KEY, "control", 1))
        assert cl.registry() != before, "a value that is set does not show: this proves nothing"
