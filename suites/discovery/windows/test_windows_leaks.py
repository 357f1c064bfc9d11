# SPDX-License-Identifier: Apache-2.0
"""What a loader on Windows gives back: handles of the system and of adapters, and references to DXGI's objects."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from harness.check import LEGACY, PACKAGE_FAMILY, Sandbox, Unsupported, WindowsLoader, requirement

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
@pytest.mark.parametrize("what", ["handles", "adapters", "dxgi", "blocks"])
@pytest.mark.parametrize("machine", MACHINES)
def test_repeated_discoveries_leave_nothing_open(
    loader: WindowsLoader, sandbox: Sandbox, machine: str, what: str
) -> None:
    """A loader that is opened, used and closed over and over holds no more than after its second time."""
    MACHINES[machine](sandbox)
    if what == "blocks":
        sandbox.env.pop(LEGACY, None)  # who is to remove nothing keeps its memory
    with loader.start(sandbox, late=True, guarded_heap=what == "blocks") as cl:
        held: list[int] = []
        for _ in range(ROUNDS):
            cl.open()
            cl.platform_names()
            cl.close()
            held.append(getattr(cl.held(), what))
        if cl.maps(loader.path):
            raise Unsupported("loader", "this loader stays in the process")
    assert held[1:] == held[1:2] * (ROUNDS - 1), f"{held[-1] - held[1]} more of {what} after {ROUNDS - 2} more rounds"


@requirement("DISC-GEN-016")
@pytest.mark.parametrize("machine", MACHINES)
def test_libraries_of_the_system_are_let_go(loader: WindowsLoader, sandbox: Sandbox, machine: str) -> None:
    """A library of the system that is loaded for its functions is freed as often, however often the loader comes."""
    MACHINES[machine](sandbox)
    with loader.start(sandbox, late=True) as cl:
        held: list[int] = []
        for _ in range(ROUNDS):
            cl.open()
            cl.platform_names()
            cl.close()
            held.append(cl.held().of_system)
        if cl.maps(loader.path):
            raise Unsupported("loader", "this loader stays in the process")
    assert held[-1] <= held[1], f"{held[-1] - held[1]} more libraries of the system after {ROUNDS - 2} more rounds"


def growth(loader: WindowsLoader, sandbox: Sandbox, what: str) -> int:
    """How much more of something the process holds with each time that the loader is opened, used and closed."""
    with loader.start(sandbox, late=True, guarded_heap=what == "blocks") as cl:
        held: list[int] = []
        for _ in range(ROUNDS):
            cl.open()
            assert cl.platform_names() == ["vendor"]
            cl.close()
            held.append(getattr(cl.held(), what))
        if cl.maps(loader.path):
            raise Unsupported("loader", "this loader stays in the process")
    steps = {after - before for before, after in itertools.pairwise(held[1:])}
    assert len(steps) == 1, f"{what}: {held}"
    return steps.pop()


@requirement("DISC-GEN-016")
@pytest.mark.parametrize("what", ["listed again", "not a vendor", "failing", "no packages"])
def test_library_that_is_not_used_is_let_go(loader: WindowsLoader, sandbox: Sandbox, what: str) -> None:
    """A library that is a vendor already, is none, or lacks functions is freed as often as it was loaded."""
    mock = sandbox.icd("vendor", file="vendor.dll")
    sandbox.registry_vendor(mock)
    plain = growth(loader, sandbox, "libraries")

    if what == "listed again":
        sandbox.registry_vendor(f"Z:{mock}".replace("/", "\\").replace("vendor.dll", "VENDOR.DLL"))
        sandbox.adapter(vendor=mock)
    elif what == "no packages":
        sandbox.no_packages()
    elif what == "not a vendor":
        sandbox.registry_vendor(sandbox.icd("bad", variant="not_an_icd"))
    else:
        sandbox.registry_vendor(sandbox.icd("failing", faults=["count_call_fails"]))
    assert growth(loader, sandbox, "libraries") == plain


@requirement("DISC-GEN-016", "DISC-ENV-020")
@pytest.mark.parametrize("value", ["", "A:\\missing.dll", "x" * 2000], ids=["empty", "missing", "long"])
def test_variables_leave_no_memory_behind(loader: WindowsLoader, sandbox: Sandbox, value: str) -> None:
    """What is kept of a variable's value while vendors and layers are looked for is freed with the loader."""
    sandbox.registry_vendor(sandbox.icd("vendor"))
    plain = growth(loader, sandbox, "blocks")

    for name in ("OCL_ICD_FILENAMES", "OPENCL_LAYERS", "OCL_ICD_ENABLE_TRACE", LEGACY):
        sandbox.env[name] = "0" if name in ("OCL_ICD_ENABLE_TRACE", LEGACY) else value
    assert growth(loader, sandbox, "blocks") == plain


# --- what is given back is given back once, and also where the machine changes ---


@requirement("DISC-WIN-019")
@pytest.mark.parametrize("machine", MACHINES)
def test_nothing_is_closed_twice(loader: WindowsLoader, sandbox: Sandbox, machine: str) -> None:
    """Keys, tokens, adapters, objects and libraries are closed once, and not used any more: they may be another's."""
    MACHINES[machine](sandbox)
    with loader.start(sandbox, late=True) as cl:
        before = cl.held().refused
        for _ in range(2):
            cl.open()
            cl.platform_names()
            cl.close()
        assert cl.held().refused == before


def blocks_where_devices_come(loader: WindowsLoader, sandbox: Sandbox, *, of_kernel: bool, late: bool) -> list[int]:
    """The blocks of memory that are held after each of some discoveries, before each of which devices are added."""
    start = len(sandbox.lines)
    with loader.start(sandbox, late=True, guarded_heap=True) as cl:
        held: list[int] = []
        for _ in range(ROUNDS):
            before = len(sandbox.lines)
            traits = ["late"] * (late and not of_kernel)
            for _ in range(3):  # the kernel counts more than there are
                sandbox.adapter(late=late and of_kernel, kernel=of_kernel, devices=not of_kernel, traits=traits)
            for line in sandbox.lines[before:]:
                cl.change_machine(line)
            cl.open()
            assert cl.platform_names() == ["vendor"]
            cl.close()
            held.append(cl.held().blocks)
        if cl.maps(loader.path):
            raise Unsupported("loader", "this loader stays in the process")
    del sandbox.lines[start:]
    return held


@requirement("DISC-GEN-016", "DISC-WIN-018")
@pytest.mark.parametrize("source", ["kernel", "manager"])
def test_lists_that_grow_while_they_are_read_leave_no_memory_behind(
    loader: WindowsLoader, sandbox: Sandbox, source: str
) -> None:
    """What was kept for a list of devices that became longer in between is freed, each time that it is asked again."""
    of_kernel = source == "kernel"
    if not of_kernel:
        sandbox.older_system()
    sandbox.registry_vendor(sandbox.icd("vendor"))
    plain = blocks_where_devices_come(loader, sandbox, of_kernel=of_kernel, late=False)
    assert blocks_where_devices_come(loader, sandbox, of_kernel=of_kernel, late=True) == plain


@requirement("DISC-GEN-016")
def test_list_of_adapters_leaves_no_memory_behind(loader: WindowsLoader, sandbox: Sandbox) -> None:
    """What a loader keeps of the adapters and values that it reads is freed with it, however many there are."""
    loader.require("OCL_ICD_FILENAMES")
    mock = sandbox.icd("vendor")
    sandbox.env["OCL_ICD_FILENAMES"] = str(mock)
    listed = growth(loader, sandbox, "blocks")
    del sandbox.env["OCL_ICD_FILENAMES"]
    sandbox.registry_vendor(mock)
    registered = growth(loader, sandbox, "blocks")
    for number in range(9):
        sandbox.adapter(vendor=rf"A:\missing{number}.dll")
    assert (registered, growth(loader, sandbox, "blocks")) == (listed, listed)


def _odd_entries(sandbox: Sandbox) -> None:
    sandbox.registry_vendor("text", data=b"\0\0", type="REG_SZ")
    sandbox.registry_vendor("bytes", data=bytes(4), type="REG_BINARY")
    sandbox.registry_vendor(r"A:\disabled.dll", data=1)


def _layers_of_the_registry(sandbox: Sandbox) -> None:
    for number in range(5):
        sandbox.registry_layer(rf"A:\missing{number}.dll", 5 - number)
    sandbox.registry_layer("text", "text", "REG_SZ")


ODD_VALUES = [("REG_BINARY", b"bytes"), ("REG_DWORD", bytes(4)), ("REG_SZ", b"\0\0"), ("REG_MULTI_SZ", b"\0\0\0\0")]


def _odd_drivers(sandbox: Sandbox) -> None:
    for kind, data in ODD_VALUES:
        sandbox.adapter(raw=data, type=kind)
    sandbox.adapter(vendor=[r"A:\first.dll", r"A:\second.dll"])
    sandbox.adapter(wow=r"A:\wow.dll")
    sandbox.adapter()
    sandbox.adapter(bare=True)


def _devices_with_odd_drivers(sandbox: Sandbox) -> None:
    sandbox.older_system()
    _odd_drivers(sandbox)


def _components(sandbox: Sandbox) -> None:
    sandbox.older_system()
    sandbox.class_numbers()
    for traits in ([], ["waits"], ["silent"], ["gone"]):
        parent = sandbox.adapter()
        sandbox.device_of_another_class(r"A:\other.dll", parent=parent)
        sandbox.component(vendor=r"A:\component.dll", parent=parent, traits=traits)
        sandbox.component(parent=sandbox.adapter(bare=True), bare=True)


def _states_of_devices(sandbox: Sandbox) -> None:
    sandbox.older_system()
    for trait in ("waits", "gone", "silent", "absent", "late", "solved"):
        sandbox.adapter(vendor=r"A:\missing.dll", problem=14 * (trait == "solved"), traits=[trait])


def _states_of_adapters(sandbox: Sandbox) -> None:
    for place in range(3):
        sandbox.adapter(vendor=rf"A:\missing{place}.dll", late=place == 0, undescribed=place == 1, dxgi=place - 1)


def _package(*traits: str) -> Callable[[Sandbox], None]:
    def install(sandbox: Sandbox) -> None:
        sandbox.package(sandbox.folder("package"), PACKAGE_FAMILY, traits=traits)

    return install


# What may stand beside a vendor on a machine, none of which is one.
BESIDE: dict[str, Callable[[Sandbox], None]] = {
    "odd entries": _odd_entries,
    "layers of the registry": _layers_of_the_registry,
    "odd drivers": _odd_drivers,
    "devices with odd drivers": _devices_with_odd_drivers,
    "components": _components,
    "states of devices": _states_of_devices,
    "states of adapters": _states_of_adapters,
    "a package": _package(),
    "a package without a path": _package("gone"),
    "a package that comes": _package("late"),
    "no packages": lambda sandbox: sandbox.no_packages(),
    "an older system": lambda sandbox: sandbox.older_system(),
    "a system without DXGI": lambda sandbox: sandbox.no_dxgi("absent"),
    "a DXGI that fails": lambda sandbox: sandbox.no_dxgi("fail"),
    "a process that cannot ask": lambda sandbox: sandbox.no_token(),
}


@requirement("DISC-GEN-016")
@pytest.mark.parametrize("what", ["blocks", "handles"])
@pytest.mark.parametrize("beside", BESIDE)
def test_what_stands_beside_a_vendor_leaves_nothing_behind(
    loader: WindowsLoader, sandbox: Sandbox, beside: str, what: str
) -> None:
    """Whatever else a machine has, the memory and the handles that a loader took for it are given back."""
    sandbox.registry_vendor(sandbox.icd("vendor"))
    plain = growth(loader, sandbox, what)
    BESIDE[beside](sandbox)
    assert growth(loader, sandbox, what) == plain
