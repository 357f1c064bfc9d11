# SPDX-License-Identifier: Apache-2.0
"""Layers in the registry (LAY-DSC)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from harness.check import (
    INTEGRITY,
    LAYERS_KEY,
    LEGACY,
    VENDORS_KEY,
    VENDORS_KEY_32,
    Sandbox,
    WindowsLoader,
    requirement,
)

Record = Callable[[str], None]
USER_KEY = LAYERS_KEY.replace("HKLM", "HKCU")
KEY_32 = VENDORS_KEY_32.replace("Vendors", "Layers")
NAMES = ("one", "two", "three")


def use_registry(loader: WindowsLoader, sandbox: Sandbox) -> None:
    """Layers as this loader initialises them. A loader without layers in the registry makes the case unsupported."""
    loader.require("layers of the registry")
    if not loader.has("initialises layers with properties"):
        sandbox.env[LEGACY] = "1"


def initialised(loader: WindowsLoader, sandbox: Sandbox, level: str = "", *, wow64: bool = False) -> list[str]:
    """The layers in the order in which they were initialised, in a process of this integrity."""
    with loader.start(sandbox, integrity=level, wow64=wow64) as cl:
        assert cl.used_platforms() == ["a"]
    return [e.who for e in sandbox.log.calls() if e.name.startswith("clInitLayer")]


@requirement("LAY-DSC-010")
@pytest.mark.parametrize(
    "priorities",
    [(1, 2, 3), (3, 2, 1), (2, 3, 1), (0, 1, 2), (0x7FFFFFFF, 0x80000000, 0xFFFFFFFF), (0x80000000, 1, 0), (256, 1, 2)],
    ids=str,
)
def test_layers_of_the_registry_come_by_priority(
    loader: WindowsLoader, sandbox: Sandbox, priorities: Sequence[int]
) -> None:
    """The numbers of the Layers key are priorities: layers are initialised in ascending order, and none is off."""
    use_registry(loader, sandbox)
    sandbox.vendor("a")
    for name, priority in zip(NAMES, priorities, strict=True):
        sandbox.registry_layer(sandbox.layer(name), priority)
    assert initialised(loader, sandbox) == [name for _, name in sorted(zip(priorities, NAMES, strict=True))]


@requirement("LAY-DSC-010")
@pytest.mark.parametrize("type_", ["REG_SZ", "REG_BINARY", "REG_QWORD", "REG_MULTI_SZ"])
def test_value_of_another_type_is_no_layer(loader: WindowsLoader, sandbox: Sandbox, type_: str) -> None:
    """A value of another type is not a layer, and those beside it are."""
    use_registry(loader, sandbox)
    sandbox.vendor("a")
    for name in ("one", "two"):
        sandbox.registry_layer(sandbox.layer(name), 1)
    sandbox.registry_layer(sandbox.layer("other"), "text" if type_.endswith("SZ") else bytes(8), type_)
    assert sorted(initialised(loader, sandbox)) == ["one", "two"]


@requirement("LAY-DSC-010")
def test_missing_layer_of_the_registry_costs_only_itself(loader: WindowsLoader, sandbox: Sandbox) -> None:
    """A layer whose library is missing is passed over, whatever its priority is."""
    use_registry(loader, sandbox)
    sandbox.vendor("a")
    for priority, name in enumerate(("one", "two"), start=1):
        sandbox.registry_layer(sandbox.layer(name), 2 * priority)
        sandbox.registry_layer(rf"C:\missing\{name}.dll", 2 * priority - 1)
    assert initialised(loader, sandbox) == ["one", "two"]


@requirement("LAY-DSC-010")
def test_layers_of_the_registry_come_after_those_of_the_list(loader: WindowsLoader, sandbox: Sandbox) -> None:
    """Layers of the machine are initialised before those of OPENCL_LAYERS, and so stand closer to the vendors."""
    use_registry(loader, sandbox)
    sandbox.vendor("a")
    sandbox.registry_layer(sandbox.layer("registered"), 7)
    sandbox.env["OPENCL_LAYERS"] = str(sandbox.layer("listed"))
    assert initialised(loader, sandbox) == ["registered", "listed"]


@requirement("LAY-DSC-005", "LAY-DSC-010")
@pytest.mark.parametrize(
    ("where", "spelling"), [("list", "same"), ("list", "capitals"), ("list", "slashes"), ("registry", "slashes")]
)
def test_library_named_twice_on_the_machine_is_one_layer(
    loader: WindowsLoader, sandbox: Sandbox, where: str, spelling: str
) -> None:
    """A library of the Layers key that is listed, too, or has a second value there, is one layer at its first place."""
    use_registry(loader, sandbox)
    sandbox.vendor("a")
    path = f"Z:{sandbox.layer('one', file='one.dll')}".replace("/", "\\")
    again = {"same": path, "capitals": path.replace("one.dll", "ONE.DLL"), "slashes": path.replace("\\", "/")}[spelling]
    sandbox.registry_layer(path, 1)
    sandbox.registry_layer(sandbox.layer("two"), 2)
    if where == "registry":  # names of values that differ in capitals alone are one name
        sandbox.registry_layer(again, 3)
    else:
        sandbox.env["OPENCL_LAYERS"] = again
    assert initialised(loader, sandbox) == ["one", "two"]


ODD: dict[str, tuple[str, bytes]] = {
    "four bytes": ("REG_BINARY", bytes(4)),
    "big-endian number": ("REG_DWORD_BIG_ENDIAN", bytes(4)),
    "four bytes of nothing": ("REG_NONE", bytes(4)),
    "text of four bytes": ("REG_SZ", bytes(4)),
    "nothing": ("REG_NONE", b""),
    "two bytes": ("REG_DWORD", bytes(2)),
}


@requirement("LAY-DSC-010")
@pytest.mark.parametrize("odd", ODD)
def test_short_value_of_another_type_is_no_layer(loader: WindowsLoader, sandbox: Sandbox, odd: str) -> None:
    """A value that has room for a number and is none is not a layer, and those beside it are."""
    use_registry(loader, sandbox)
    sandbox.vendor("a")
    for name in ("one", "two"):
        sandbox.registry_layer(sandbox.layer(name), 1)
    sandbox.registry_layer(sandbox.layer("other"), ODD[odd][1], ODD[odd][0])
    assert sorted(initialised(loader, sandbox)) == ["one", "two"]


@requirement("LAY-DSC-010")
@pytest.mark.parametrize("count", [4, 5, 9, 17])
@pytest.mark.parametrize("same", [False, True], ids=["own", "same"])
def test_many_layers_of_the_registry_are_initialised(
    loader: WindowsLoader, sandbox: Sandbox, count: int, same: bool
) -> None:
    """Each of many layers is there, once, also where several have the same priority."""
    use_registry(loader, sandbox)
    sandbox.vendor("a")
    names = [f"layer{number:02}" for number in range(count)]
    for number, name in enumerate(names):
        sandbox.registry_layer(sandbox.layer(name), 3 if same else count - number)
    order = initialised(loader, sandbox)
    assert (sorted(order) if same else list(reversed(order))) == names


@requirement("LAY-DSC-010")
@pytest.mark.parametrize("length", [65, 100, 200])
def test_layer_with_a_long_path_is_initialised(loader: WindowsLoader, sandbox: Sandbox, length: int) -> None:
    """A layer whose path is long is there, and so is one with a short path after it."""
    use_registry(loader, sandbox)
    sandbox.vendor("a")
    sandbox.registry_layer(sandbox.layer("one", file="l" * length + ".dll"), 1)
    sandbox.registry_layer(sandbox.layer("two"), 2)
    assert initialised(loader, sandbox) == ["one", "two"]


@requirement("LAY-DSC-010")
@pytest.mark.parametrize("length", [259, 260, 512, 1000])
@pytest.mark.parametrize("where", ["before", "after"])
def test_long_name_does_not_hide_other_layers(loader: WindowsLoader, sandbox: Sandbox, length: int, where: str) -> None:
    """A name that is longer than paths of old were does not hide the layers before and after it."""
    use_registry(loader, sandbox)
    sandbox.vendor("a")
    for priority, name in enumerate(("one", "two")):
        sandbox.registry_layer(sandbox.layer(name), priority)
    sandbox.registry_layer(("!" if where == "before" else "~") + "x" * (length - 1), 1)
    assert initialised(loader, sandbox) == ["one", "two"]


@requirement("LAY-DSC-010")
@pytest.mark.parametrize("way", ["the kernel", "a device", "a list"])
def test_layers_are_initialised_where_no_vendors_key_is(loader: WindowsLoader, sandbox: Sandbox, way: str) -> None:
    """Layers of the registry are there, too, where the machine has no Vendors key and vendors come another way."""
    use_registry(loader, sandbox)
    mock = sandbox.icd("a")
    if way == "a list":
        loader.require("OCL_ICD_FILENAMES")
        sandbox.env["OCL_ICD_FILENAMES"] = str(mock)
    else:
        sandbox.adapter(vendor=mock, kernel=way == "the kernel", devices=way == "a device")
    for priority, name in enumerate(("one", "two")):
        sandbox.registry_layer(sandbox.layer(name), priority)
    assert initialised(loader, sandbox) == ["one", "two"]


@requirement("LAY-DSC-010")
@pytest.mark.parametrize("key", ["LayersX", "Layers\\More", "Vendors\\Layers"])
def test_values_of_other_keys_are_no_layers(loader: WindowsLoader, sandbox: Sandbox, key: str) -> None:
    """Values of keys beside the Layers key, or below it, are not layers."""
    use_registry(loader, sandbox)
    sandbox.vendor("a")
    sandbox.registry_layer(sandbox.layer("one"), 1)
    other = f"Z:{sandbox.layer('other')}".replace("/", "\\")
    sandbox.registry_value(rf"HKLM\SOFTWARE\Khronos\OpenCL\{key}", other, 0)
    assert initialised(loader, sandbox) == ["one"]


@requirement("LAY-DSC-010")
@pytest.mark.parametrize("wow64", [False, True], ids=["64-bit", "32-bit"])
def test_each_process_sees_the_layers_of_its_own_view(loader: WindowsLoader, sandbox: Sandbox, wow64: bool) -> None:
    """A 32-bit process, which cannot load libraries of 64 bits, has the layers of the 32-bit view (WOW6432Node)."""
    use_registry(loader, sandbox)
    sandbox.registry_vendor(sandbox.icd("a"), key=VENDORS_KEY_32 if wow64 else VENDORS_KEY)
    sandbox.registry_layer(sandbox.layer("wide"), 1)
    sandbox.registry_layer(sandbox.layer("narrow"), 1, key=KEY_32)
    assert initialised(loader, sandbox, wow64=wow64) == ["narrow" if wow64 else "wide"]


# --- whose registry counts ---


@requirement("LAY-DSC-010")
@pytest.mark.parametrize("level", INTEGRITY)
def test_layers_of_the_machine_are_for_every_process(loader: WindowsLoader, sandbox: Sandbox, level: str) -> None:
    """Only who may do so anyway can write to the machine's Layers key: it counts in processes of every integrity."""
    use_registry(loader, sandbox)
    sandbox.registry_vendor(sandbox.icd("a"))
    sandbox.registry_layer(sandbox.layer("one"), 1)
    assert initialised(loader, sandbox, level) == ["one"]


@requirement("LAY-DSC-010", "LAY-DSC-011")
@pytest.mark.parametrize("machine", ["has layers", "has no key", "may not be read"])
@pytest.mark.parametrize("level", INTEGRITY)
def test_layers_of_the_user_are_not_for_elevated_processes(
    loader: WindowsLoader, sandbox: Sandbox, level: str, machine: str, record: Record
) -> None:
    """Layers in the user's own registry, which no text has, are never loaded into an elevated process."""
    use_registry(loader, sandbox)
    sandbox.registry_vendor(sandbox.icd("a"))
    of_machine = ["one"] * (machine == "has layers")
    for name in of_machine:
        sandbox.registry_layer(sandbox.layer(name), 1)
    if machine == "may not be read":
        sandbox.registry_deny(LAYERS_KEY)
    sandbox.registry_value(USER_KEY, f"Z:{sandbox.layer('user')}".replace("/", "\\"), 2)
    layers = initialised(loader, sandbox, level)
    assert [name for name in layers if name != "user"] == of_machine
    assert level not in ("high", "system") or "user" not in layers
    record("read" if "user" in layers else "not read")


@requirement("LAY-DSC-010")
def test_layers_key_that_cannot_be_opened_costs_its_layers_alone(loader: WindowsLoader, sandbox: Sandbox) -> None:
    """A Layers key that the user may not open costs its layers; those of the list are there."""
    use_registry(loader, sandbox)
    sandbox.registry_vendor(sandbox.icd("a"))
    sandbox.registry_layer(sandbox.layer("hidden"), 1)
    sandbox.registry_deny(LAYERS_KEY)
    sandbox.env["OPENCL_LAYERS"] = str(sandbox.layer("listed"))
    assert initialised(loader, sandbox) == ["listed"]
