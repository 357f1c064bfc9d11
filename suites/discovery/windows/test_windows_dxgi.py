# SPDX-License-Identifier: Apache-2.0
"""The order of DXGI, where it has less, more or other adapters than the kernel (DISC-WIN)."""

from __future__ import annotations

import pytest

from harness.check import Sandbox, WindowsLoader, requirement


def listed(loader: WindowsLoader, sandbox: Sandbox) -> list[str]:
    """The platforms in the loader's order."""
    with loader.start(sandbox) as cl:
        return list(cl.used_platforms())


@requirement("DISC-WIN-011")
@pytest.mark.parametrize("how", ["absent", "missing", "fail"])
def test_system_without_dxgi_has_its_vendors(loader: WindowsLoader, sandbox: Sandbox, how: str) -> None:
    """Where DXGI is absent, as on a server without a desktop, or fails, vendors are listed in any order."""
    sandbox.no_dxgi(how)
    for number in range(3):
        sandbox.adapter(vendor=sandbox.icd(f"adapter{number}"), devices=False)
    sandbox.registry_vendor(sandbox.icd("registered"))
    assert sorted(listed(loader, sandbox)) == ["adapter0", "adapter1", "adapter2", "registered"]


@requirement("DISC-WIN-011", "DISC-WIN-021")
@pytest.mark.parametrize("place", [0, 1, 2])
def test_adapter_that_dxgi_cannot_describe_leaves_the_order_of_others(
    loader: WindowsLoader, sandbox: Sandbox, place: int
) -> None:
    """An adapter that is removed while DXGI lists it costs no other its place, and stays a vendor itself."""
    for number in range(4):
        mock = sandbox.icd(f"adapter{number}")
        sandbox.adapter(vendor=mock, dxgi=3 - number, undescribed=number == place, devices=False)
    names = listed(loader, sandbox)
    assert [name for name in names if name != f"adapter{place}"] == [
        f"adapter{number}" for number in (3, 2, 1, 0) if number != place
    ]
    assert f"adapter{place}" in names


@requirement("DISC-WIN-011")
@pytest.mark.parametrize("place", [0, 1, 2])
def test_adapter_of_dxgi_alone_leaves_the_order_of_others(loader: WindowsLoader, sandbox: Sandbox, place: int) -> None:
    """An adapter that only DXGI has, such as the one that draws by software, has no vendor and no effect."""
    sandbox.adapter(kernel=False, devices=False, dxgi=place)
    for number in range(3):
        sandbox.adapter(vendor=sandbox.icd(f"adapter{number}"), dxgi=2 - number)
    assert listed(loader, sandbox) == ["adapter2", "adapter1", "adapter0"]


@requirement("DISC-WIN-011")
@pytest.mark.parametrize("count", [6, 10, 18])
def test_many_adapters_stand_in_the_order_of_dxgi(loader: WindowsLoader, sandbox: Sandbox, count: int) -> None:
    """Each of many adapters has its place. Two more than a power of two: the last one alone has no order to lose."""
    for number in range(count):
        sandbox.adapter(vendor=sandbox.icd(f"adapter{number:02}"), dxgi=count - number, devices=False)
    assert listed(loader, sandbox) == [f"adapter{number:02}" for number in reversed(range(count))]


@requirement("DISC-WIN-023")
@pytest.mark.parametrize("length", [61, 64, 100, 127, 128, 129, 200, 250])
def test_long_driver_name_is_read_from_the_kernel(loader: WindowsLoader, sandbox: Sandbox, length: int) -> None:
    """A path of any length that the system opens is read from the kernel, too, where nothing else has it."""
    folder = sandbox.root
    while len(f"Z:{folder}/x.dll") < length - 60:
        folder = folder / ("d" * 40)
    folder.mkdir(parents=True, exist_ok=True)
    room = max(length - len(f"Z:{folder}/.dll"), 1)
    sandbox.adapter(vendor=sandbox.icd("long", folder=folder, file="l" * room + ".dll"), devices=False)
    sandbox.adapter(vendor=sandbox.icd("short"), devices=False)
    assert listed(loader, sandbox) == ["long", "short"]


# --- what the kernel tells of adapters ---


@requirement("DISC-WIN-018")
@pytest.mark.parametrize("devices", [True, False], ids=["devices too", "kernel alone"])
@pytest.mark.parametrize("count", [1, 4])
def test_adapters_that_come_while_the_kernel_lists_them(
    loader: WindowsLoader, sandbox: Sandbox, count: int, devices: bool
) -> None:
    """Adapters that are there after the kernel said how many there are cost no vendor: it is asked again."""
    names = ["first", *(f"late{number}" for number in range(count)), "last"]
    for name in names:
        sandbox.adapter(vendor=sandbox.icd(name), late=name.startswith("late"), devices=devices)
    assert sorted(listed(loader, sandbox)) == sorted(names)


@requirement("DISC-WIN-017")
def test_driver_is_found_where_the_driver_store_lies_elsewhere(loader: WindowsLoader, sandbox: Sandbox) -> None:
    """In an isolated process the kernel translates the path of a driver, for who asks it to."""
    stored = r"C:\Windows\System32\DriverStore\FileRepository\clharness\clharness.dll"
    sandbox.adapter(vendor=stored, translated=sandbox.icd("elsewhere"), devices=False)
    sandbox.adapter(vendor=sandbox.icd("here"), devices=False)
    assert listed(loader, sandbox) == ["elsewhere", "here"]


@requirement("DISC-WIN-023")
@pytest.mark.parametrize("place", [-1, 0, 1])
def test_adapter_without_outputs_has_its_vendor(loader: WindowsLoader, sandbox: Sandbox, place: int) -> None:
    """An adapter that nothing can be connected to, as one that only computes, has its vendor like any other."""
    sandbox.adapter(vendor=sandbox.icd("headless"), headless=True, dxgi=place, devices=False)
    sandbox.adapter(vendor=sandbox.icd("usual"), dxgi=0, devices=False)
    assert sorted(listed(loader, sandbox)) == ["headless", "usual"]


@requirement("DISC-WIN-021")
@pytest.mark.parametrize("several", [False, True], ids=["text", "list"])
@pytest.mark.parametrize("place", [0, 1])
def test_value_that_the_kernel_fails_to_read_is_not_used(
    loader: WindowsLoader, sandbox: Sandbox, place: int, several: bool
) -> None:
    """Where the kernel tells the size of a value and then fails, what it leaves is no vendor; others are there."""
    for number in range(2):
        mock = sandbox.icd("unreadable" if number == place else "readable")
        sandbox.adapter(vendor=[mock] if several else mock, unreadable=number == place, devices=False)
    assert listed(loader, sandbox) == ["readable"]
