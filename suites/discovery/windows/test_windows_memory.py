# SPDX-License-Identifier: Apache-2.0
"""Names, paths and lists of a machine are read and kept within their memory, at both ends of it (DISC-GEN)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.check import Sandbox, WindowsLoader, requirement

# Where the heap has unreadable pages: past the end of every block, or before its start.
SIDES: dict[str, dict[str, Any]] = {"past the end": {"guarded_heap": True}, "before the start": {"guarded_front": True}}

# Values of drivers, with and without what ends a text.
VALUES: dict[str, tuple[str, bytes]] = {
    "no text": ("REG_SZ", b""),
    "an empty text": ("REG_SZ", b"\0\0"),
    "a letter": ("REG_SZ", "x\0".encode("utf-16-le")),
    "a letter without end": ("REG_SZ", "x".encode("utf-16-le")),
    "an empty list": ("REG_MULTI_SZ", b"\0\0\0\0"),
    "a list without end": ("REG_MULTI_SZ", "x".encode("utf-16-le")),
}


@requirement("DISC-GEN-018")
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("source", ["kernel", "manager"])
@pytest.mark.parametrize("value", VALUES)
def test_value_of_a_driver_is_read_within_its_memory(
    loader: WindowsLoader, sandbox: Sandbox, value: str, source: str, side: str
) -> None:
    """A driver's value of a few bytes is read within them, whoever tells it; the driver beside it has its vendor."""
    if source == "manager":
        sandbox.older_system()
    kind, data = VALUES[value]
    sandbox.adapter(raw=data, type=kind, devices=source == "manager")
    sandbox.adapter(vendor=sandbox.icd("good"), devices=source == "manager")
    with loader.start(sandbox, **SIDES[side]) as cl:
        assert cl.platform_names() == ["good"]


def _adapter(sandbox: Sandbox, vendor: object) -> object:
    return sandbox.adapter(vendor=vendor, devices=False)  # type: ignore[arg-type]


def _component(sandbox: Sandbox, vendor: object) -> object:
    sandbox.class_numbers()
    return sandbox.component(vendor=vendor)  # type: ignore[arg-type]


SOURCES: dict[str, Callable[[Sandbox, object], object]] = {
    "the Vendors key": lambda sandbox, vendor: sandbox.registry_vendor(vendor),  # type: ignore[arg-type]
    "the kernel": _adapter,
    "devices": lambda sandbox, vendor: sandbox.adapter(vendor=vendor, kernel=False),  # type: ignore[arg-type]
    "components": _component,
}


@requirement("DISC-GEN-018")
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("count", [1, 2, 9])
@pytest.mark.parametrize("source", SOURCES)
def test_lists_of_a_machine_are_kept_within_their_memory(
    loader: WindowsLoader, sandbox: Sandbox, source: str, count: int, side: str
) -> None:
    """What each source lists is kept within its memory, however many there are; all are offered."""
    names = [f"v{number}" for number in range(count)]
    for name in names:
        SOURCES[source](sandbox, sandbox.icd(name))
    with loader.start(sandbox) as cl:
        usual = sorted(cl.platform_names())
    assert source == "components" or usual == names
    with loader.start(sandbox, **SIDES[side]) as cl:
        assert sorted(cl.platform_names()) == usual


@requirement("DISC-GEN-018")
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("most", [16, 0xFFFFFFFF], ids=hex)
@pytest.mark.parametrize("count", [0, 1, 2, 3, 9])
def test_layers_of_a_machine_are_kept_within_their_memory(
    loader: WindowsLoader, sandbox: Sandbox, count: int, most: int, side: str
) -> None:
    """Layers of the registry are sorted and kept within their memory, whatever numbers stand past its end."""
    loader.require("OPENCL_LAYERS")
    sandbox.registry_vendor(sandbox.icd("a"))
    for number in range(count):
        sandbox.registry_layer(rf"A:\missing{number}.dll", most - number)
    with loader.start(sandbox, **SIDES[side]) as cl:
        assert cl.platform_names() == ["a"]
