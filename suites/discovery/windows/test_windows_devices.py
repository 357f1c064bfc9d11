# SPDX-License-Identifier: Apache-2.0
"""Vendors that drivers name in the software keys of their devices: display adapters and software components (DISC-WIN).

Windows lists adapters in several ways (D3DKMT, the configuration manager), and a loader may use any of them: where a
case does not say otherwise an adapter is there in all of them, as on a real machine. What only the configuration
manager has is asked for on an older system, which has nothing else: where the kernel lists adapters, it is silent on
these.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.check import NEED_RESTART, Sandbox, WindowsLoader, requirement

Record = Callable[[str], None]


def listed(loader: WindowsLoader, sandbox: Sandbox, *, wow64: bool = False) -> list[str]:
    """The platforms in the loader's order."""
    with loader.start(sandbox, wow64=wow64) as cl:
        return list(cl.used_platforms())


@requirement("DISC-WIN-005")
@pytest.mark.parametrize("count", [1, 2, 3, 16])
def test_display_adapters_name_vendors(loader: WindowsLoader, sandbox: Sandbox, count: int) -> None:
    """The string OpenCLDriverName of each display adapter's software key names a vendor."""
    names = [f"adapter{number:02}" for number in range(count)]
    for name in names:
        sandbox.adapter(vendor=sandbox.icd(name))
    sandbox.adapter()  # a driver without OpenCL
    assert sorted(listed(loader, sandbox)) == names


@requirement("DISC-WIN-011")
@pytest.mark.parametrize("name", ["!registered", "~registered"])
def test_display_adapters_come_before_the_vendors_key(loader: WindowsLoader, sandbox: Sandbox, name: str) -> None:
    """Vendors that drivers name stand before those of the Vendors key, whatever they are called."""
    sandbox.registry_vendor(sandbox.icd("registered", file=f"{name}.dll"))
    sandbox.adapter(vendor=sandbox.icd("driver"))
    assert listed(loader, sandbox) == ["driver", "registered"]


VALUES: dict[str, tuple[str, bytes]] = {
    "a number": ("REG_DWORD", bytes(4)),
    "an empty text": ("REG_SZ", b"\0\0"),
    "no text": ("REG_SZ", b""),
    "bytes": ("REG_BINARY", b"\0" * 64),
    "an empty list": ("REG_MULTI_SZ", b"\0\0\0\0"),
    "a list without end": ("REG_MULTI_SZ", "x".encode("utf-16-le")),
}


@requirement("DISC-WIN-005")
@pytest.mark.parametrize("odd", VALUES)
def test_odd_driver_name_costs_only_itself(loader: WindowsLoader, sandbox: Sandbox, odd: str) -> None:
    """A driver whose value cannot be a path has no vendor; the drivers before and after it have theirs."""
    kind, data = VALUES[odd]
    sandbox.adapter(vendor=sandbox.icd("first"))
    sandbox.adapter(raw=data, type=kind)
    sandbox.adapter(vendor=sandbox.icd("last"))
    assert sorted(listed(loader, sandbox)) == ["first", "last"]


@requirement("DISC-WIN-005")
def test_driver_name_without_its_terminator_is_read(loader: WindowsLoader, sandbox: Sandbox, record: Record) -> None:
    """A text of the registry may lack its terminator: what follows it in memory is not part of the path."""
    text = f"Z:{sandbox.icd('bare')}".replace("/", "\\").encode("utf-16-le")
    sandbox.adapter(vendor=sandbox.icd("whole"))
    sandbox.adapter(raw=text, type="REG_SZ")
    names = sorted(listed(loader, sandbox))
    assert names in (["bare", "whole"], ["whole"])
    record("read" if "bare" in names else "passed over")


@requirement("DISC-WIN-005", "DISC-WIN-013")
@pytest.mark.parametrize("length", [100, 200, 250])
def test_long_driver_name_is_read(loader: WindowsLoader, sandbox: Sandbox, length: int) -> None:
    """A driver's path may be as long as the system opens one."""
    folder = sandbox.root
    while len(str(folder)) < length - 60:
        folder = folder / ("d" * min(40, length - 50 - len(str(folder))))
    folder.mkdir(parents=True, exist_ok=True)
    room = length - len(f"Z:{folder}/.dll")
    sandbox.adapter(vendor=sandbox.icd("long", folder=folder, file="l" * room + ".dll"))
    sandbox.adapter(vendor=sandbox.icd("short"))
    assert sorted(listed(loader, sandbox)) == ["long", "short"]


@requirement("DISC-WIN-005", "DISC-WIN-013")
def test_missing_library_of_a_driver_costs_only_itself(loader: WindowsLoader, sandbox: Sandbox) -> None:
    """A driver whose library is missing, as after an update, costs nobody else."""
    sandbox.adapter(vendor=r"C:\Windows\System32\DriverStore\missing\vendor.dll")
    sandbox.adapter(vendor=sandbox.icd("driver"))
    sandbox.registry_vendor(sandbox.icd("registered"))
    assert sorted(listed(loader, sandbox)) == ["driver", "registered"]


# --- software components ---


@requirement("DISC-WIN-006")
@pytest.mark.parametrize("count", [1, 2, 3])
def test_software_components_name_vendors(loader: WindowsLoader, sandbox: Sandbox, count: int) -> None:
    """Software components, which drivers of today bring their OpenCL in, are read as display adapters are."""
    sandbox.older_system()
    adapter = sandbox.adapter()
    names = [f"component{number}" for number in range(count)]
    for name in names:
        sandbox.component(vendor=sandbox.icd(name), parent=adapter)
    assert sorted(listed(loader, sandbox)) == names


@requirement("DISC-WIN-006")
def test_components_stand_beside_adapters_and_the_vendors_key(loader: WindowsLoader, sandbox: Sandbox) -> None:
    """Vendors of an adapter, of its component, and of the Vendors key are all there."""
    sandbox.older_system()
    adapter = sandbox.adapter(vendor=sandbox.icd("adapter"))
    sandbox.component(vendor=sandbox.icd("component"), parent=adapter)
    sandbox.registry_vendor(sandbox.icd("registered"))
    assert sorted(listed(loader, sandbox)) == ["adapter", "component", "registered"]


@requirement("DISC-WIN-006")
def test_component_where_the_kernel_lists_adapters(loader: WindowsLoader, sandbox: Sandbox, record: Record) -> None:
    """Where the kernel lists the adapter, too, a loader may leave its components to it; other vendors are there."""
    sandbox.component(vendor=sandbox.icd("component"), parent=sandbox.adapter())
    sandbox.registry_vendor(sandbox.icd("registered"))
    names = listed(loader, sandbox)
    assert "registered" in names
    record("asked" if "component" in names else "left to the kernel")


@requirement("DISC-WIN-022")
def test_devices_of_other_classes_are_not_asked(loader: WindowsLoader, sandbox: Sandbox) -> None:
    """A device of another class is not asked, though its key has such a value; a component beside it is."""
    sandbox.older_system()
    adapter = sandbox.adapter()
    sandbox.component(vendor=sandbox.icd("other"), parent=adapter, kind="other")
    sandbox.component(vendor=sandbox.icd("component"), parent=adapter)
    assert listed(loader, sandbox) == ["component"]


# --- names for 32-bit processes ---


@requirement("DISC-WIN-007")
@pytest.mark.parametrize("wow64", [False, True], ids=["64-bit", "32-bit"])
@pytest.mark.parametrize("device", ["adapter", "component"])
def test_each_process_reads_the_name_that_is_for_it(
    loader: WindowsLoader, sandbox: Sandbox, device: str, wow64: bool
) -> None:
    """A 32-bit process on 64-bit Windows reads OpenCLDriverNameWoW, and a 64-bit one OpenCLDriverName."""
    if wow64:
        loader.require_asking("IsWow64Process")
    sandbox.older_system()
    add = sandbox.adapter if device == "adapter" else sandbox.component
    add(vendor=sandbox.icd("plain"), wow=sandbox.icd("wow"))
    assert listed(loader, sandbox, wow64=wow64) == ["wow" if wow64 else "plain"]


@requirement("DISC-WIN-007")
def test_name_for_32_bit_processes_alone_is_passed_over(loader: WindowsLoader, sandbox: Sandbox) -> None:
    """A driver that has a library for 32-bit processes only has none for a 64-bit one."""
    sandbox.adapter(wow=sandbox.icd("wow"))
    sandbox.adapter(vendor=sandbox.icd("plain"), wow=sandbox.icd("other"))
    assert listed(loader, sandbox) == ["plain"]


# --- lists of strings, and devices that wait ---


@requirement("DISC-WIN-009")
@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("device", ["adapter", "component"])
def test_first_text_of_a_list_names_the_vendor(
    loader: WindowsLoader, sandbox: Sandbox, device: str, count: int
) -> None:
    """A value that is a list of texts (REG_MULTI_SZ) names the vendor in its first text."""
    if device == "component":
        sandbox.older_system()
    add = sandbox.adapter if device == "adapter" else sandbox.component
    add(vendor=[sandbox.icd(f"text{number}") for number in range(count)])
    sandbox.registry_vendor(sandbox.icd("registered"))
    assert sorted(listed(loader, sandbox)) == ["registered", "text0"]


@requirement("DISC-WIN-009")
@pytest.mark.parametrize("older", [False, True], ids=["kernel", "manager"])
@pytest.mark.parametrize("count", [2, 3, 5])
def test_each_driver_with_a_list_of_texts_has_its_vendor(
    loader: WindowsLoader, sandbox: Sandbox, count: int, older: bool
) -> None:
    """Several drivers may have lists of texts, beside ones with a text and ones without: each has its vendor."""
    if older:
        sandbox.older_system()
    names = [f"vendor{number}" for number in range(count)]
    for number, name in enumerate(names):
        mock = sandbox.icd(name)
        sandbox.adapter(vendor=[mock, rf"A:\second{number}.dll"] if number % 3 != 2 else mock, devices=older)
        sandbox.adapter()
    assert sorted(listed(loader, sandbox)) == names


@requirement("DISC-WIN-010")
@pytest.mark.parametrize("device", ["adapter", "component"])
def test_device_that_waits_for_a_restart_is_passed_over(loader: WindowsLoader, sandbox: Sandbox, device: str) -> None:
    """A device whose driver waits for a restart is passed over; one that works is not."""
    sandbox.older_system()
    if device == "adapter":
        sandbox.adapter(vendor=sandbox.icd("waiting"), problem=NEED_RESTART)
    else:
        sandbox.component(vendor=sandbox.icd("waiting"), problem=NEED_RESTART)
    sandbox.adapter(vendor=sandbox.icd("working"))
    assert listed(loader, sandbox) == ["working"]


# --- order, and the same library by several ways ---


@requirement("DISC-WIN-011")
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0), (2, 0, 1)], ids=str)
def test_vendors_of_adapters_stand_in_the_order_of_dxgi(
    loader: WindowsLoader, sandbox: Sandbox, order: tuple[int, ...]
) -> None:
    """Vendors of display adapters stand in the order in which DXGI prefers their adapters."""
    for number, place in enumerate(order):
        sandbox.adapter(vendor=sandbox.icd(f"adapter{number}"), dxgi=place)
    sandbox.registry_vendor(sandbox.icd("registered"))
    expected = [f"adapter{order.index(place)}" for place in range(len(order))]
    names = listed(loader, sandbox)
    assert [name for name in names if name != "registered"] == expected
    assert "registered" in names


@requirement("DISC-WIN-011")
@pytest.mark.parametrize("byte", range(8))
def test_each_byte_of_its_number_names_an_adapter(loader: WindowsLoader, sandbox: Sandbox, byte: int) -> None:
    """Adapters stand in the order of DXGI, too, where their LUIDs differ in one byte of either half only."""
    for number, (digit, place) in enumerate(zip((0x93, 0x13, 0x92), (2, 0, 1), strict=True)):
        luid = (0x15_0000_2001 & ~(0xFF << 8 * byte)) | digit << 8 * byte
        sandbox.adapter(vendor=sandbox.icd(f"adapter{number}"), luid=luid, dxgi=place)
    assert listed(loader, sandbox) == ["adapter1", "adapter2", "adapter0"]


@requirement("DISC-WIN-011", "DISC-WIN-009")
def test_driver_with_a_list_of_texts_has_its_place_in_the_order(loader: WindowsLoader, sandbox: Sandbox) -> None:
    """A driver whose value is a list of texts has the place that DXGI gives its adapter, too."""
    sandbox.adapter(vendor=sandbox.icd("text"), dxgi=1)
    sandbox.adapter(vendor=[sandbox.icd("list"), sandbox.icd("second")], dxgi=0)
    assert listed(loader, sandbox) == ["list", "text"]


@requirement("DISC-WIN-011")
@pytest.mark.parametrize(
    ("odd", "place"), [("no value", 0), ("no value", 1), ("no value", 2), *((odd, 0) for odd in VALUES)]
)
def test_driver_without_a_vendor_leaves_the_order_of_others(
    loader: WindowsLoader, sandbox: Sandbox, odd: str, place: int
) -> None:
    """The vendors of other adapters stand in the order of DXGI wherever a driver stands that has none."""
    kind, data = VALUES.get(odd, ("", None))
    for number in range(3):
        if number == place:
            sandbox.adapter(raw=data, type=kind, dxgi=0)
        else:
            sandbox.adapter(vendor=sandbox.icd(f"adapter{number}"), dxgi=3 - number)
    expected = [f"adapter{number}" for number in (2, 1, 0) if number != place]
    assert listed(loader, sandbox) == expected


@requirement("DISC-WIN-011")
@pytest.mark.parametrize("devices", [True, False], ids=["devices too", "kernel alone"])
def test_adapters_that_dxgi_does_not_list_are_there(loader: WindowsLoader, sandbox: Sandbox, devices: bool) -> None:
    """An adapter that DXGI does not list, such as one without a display, follows those that it does."""
    sandbox.adapter(vendor=sandbox.icd("unlisted"), dxgi=-1, devices=devices)
    sandbox.adapter(vendor=sandbox.icd("listed"), dxgi=0, devices=devices)
    assert listed(loader, sandbox) == ["listed", "unlisted"]


SOURCES: dict[str, Callable[[Sandbox, object], object]] = {
    "the Vendors key": lambda sandbox, mock: sandbox.registry_vendor(mock),  # type: ignore[arg-type]
    "another adapter": lambda sandbox, mock: sandbox.adapter(vendor=mock),  # type: ignore[arg-type]
    "a component": lambda sandbox, mock: sandbox.component(vendor=mock),  # type: ignore[arg-type]
}


@requirement("DISC-WIN-012")
@pytest.mark.parametrize("source", SOURCES)
def test_library_that_several_sources_name_is_listed_once(loader: WindowsLoader, sandbox: Sandbox, source: str) -> None:
    """A library that a display adapter names and another source, too, is one vendor."""
    mock = sandbox.icd("twice")
    sandbox.adapter(vendor=mock)
    SOURCES[source](sandbox, mock)
    sandbox.registry_vendor(sandbox.icd("once"))
    assert sorted(listed(loader, sandbox)) == ["once", "twice"]
    assert len(sandbox.log.happened("loaded", by="twice")) == 1


@requirement("DISC-WIN-012")
@pytest.mark.parametrize("spelling", ["capitals", "slashes"])
def test_library_in_two_spellings_is_listed_once(loader: WindowsLoader, sandbox: Sandbox, spelling: str) -> None:
    """The same file, written in capitals or with other slashes, is the same vendor."""
    mock = sandbox.icd("twice", file="twice.dll")
    path = f"Z:{mock}".replace("/", "\\")
    sandbox.registry_vendor(mock)
    sandbox.registry_vendor(
        path.replace("twice.dll", "TWICE.DLL") if spelling == "capitals" else path.replace("\\", "/")
    )
    sandbox.registry_vendor(sandbox.icd("once"))
    assert sorted(listed(loader, sandbox)) == ["once", "twice"]
