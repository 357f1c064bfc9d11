# SPDX-License-Identifier: Apache-2.0
"""The order of platforms by their devices, and the variable that chooses it (DISC-ENV)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from harness.check import Loader, Sandbox, Session, requirement

Devices = tuple[int, int, int]  # GPUs, CPUs, accelerators

# Devices of the vendors in the order of the directory; the expected order as groups, in which any order will do.
ORDERS: dict[str, tuple[Sequence[Devices], Sequence[Sequence[int]]]] = {
    "GPUs rising": ([(1, 0, 0), (2, 0, 0), (3, 0, 0)], [[2], [1], [0]]),
    "GPUs falling": ([(3, 0, 0), (2, 0, 0), (1, 0, 0)], [[0], [1], [2]]),
    "CPUs rising": ([(0, 1, 0), (0, 2, 0), (0, 3, 0)], [[2], [1], [0]]),
    "CPUs falling": ([(0, 3, 0), (0, 2, 0), (0, 1, 0)], [[0], [1], [2]]),
    "accelerators rising": ([(0, 0, 1), (0, 0, 2), (0, 0, 3)], [[2], [1], [0]]),
    "accelerators falling": ([(0, 0, 3), (0, 0, 2), (0, 0, 1)], [[0], [1], [2]]),
    "a GPU before CPUs": ([(0, 9, 0), (1, 0, 0)], [[1], [0]]),
    "a GPU before CPUs, in order": ([(1, 0, 0), (0, 9, 0)], [[0], [1]]),
    "a GPU before accelerators": ([(0, 0, 9), (1, 0, 0)], [[1], [0]]),
    "a CPU before accelerators": ([(0, 0, 9), (0, 1, 0)], [[1], [0]]),
    "a CPU before accelerators, in order": ([(0, 1, 0), (0, 0, 9)], [[0], [1]]),
    "GPUs before more devices": ([(1, 5, 5), (2, 0, 0)], [[1], [0]]),
    "GPUs before more devices, in order": ([(2, 0, 0), (1, 5, 5)], [[0], [1]]),
    "equal GPUs, CPUs decide": ([(1, 0, 5), (1, 2, 0), (1, 1, 0)], [[1], [2], [0]]),
    "equal GPUs and CPUs, all decide": ([(1, 1, 0), (1, 1, 2), (1, 1, 1)], [[1], [2], [0]]),
    "no device comes last": ([(0, 0, 0), (0, 0, 1), (0, 0, 0), (1, 0, 0)], [[3], [1], [0, 2]]),
    "no device at all": ([(0, 0, 0), (0, 0, 0)], [[0, 1]]),
    "all alike": ([(1, 0, 0)] * 3, [[0, 1, 2]]),
    "ties": ([(1, 0, 0), (2, 0, 0), (1, 0, 0), (2, 0, 0)], [[1, 3], [0, 2]]),
    "one alone": ([(1, 2, 3)], [[0]]),
    "many devices": ([(0, 8, 8), (15, 1, 0), (16, 0, 0)], [[2], [1], [0]]),
    "more GPUs than a signed byte holds": ([(1, 0, 0), (127, 0, 0), (128, 0, 0)], [[2], [1], [0]]),
    "more GPUs than a byte holds": ([(1, 0, 0), (255, 0, 0), (256, 0, 0), (257, 0, 0)], [[3], [2], [1], [0]]),
    "more CPUs than a byte holds": ([(0, 1, 0), (0, 128, 0), (0, 256, 0)], [[2], [1], [0]]),
    "more accelerators than a byte holds": ([(0, 0, 1), (0, 0, 128), (0, 0, 256)], [[2], [1], [0]]),
}
NAMES = "abcdefghijklmnopqrstuvwxyz"


def vendors(sandbox: Sandbox, devices: Sequence[Devices]) -> list[str]:
    """Vendors with these devices, in this order in the directory."""
    names = [f"{NAMES[i // 26]}{NAMES[i % 26]}" for i in range(len(devices))]
    mocks = [
        sandbox.icd(name, suffix=name.upper(), gpus=gpus, cpus=cpus, accelerators=accelerators)
        for name, (gpus, cpus, accelerators) in zip(names, devices, strict=True)
    ]
    sandbox.vendors_in_order([f"{mock}\n" for mock in mocks])
    return names


def assert_usable(cl: Session, names: Sequence[str]) -> None:
    """Each platform still is that of its own vendor, and each vendor's function still is its own."""
    assert cl.used_platforms() == list(names), "the second answer differs"
    cl.check_functions(*names, like="clThing{NAME}")


@requirement("DISC-ENV-019", "DISC-ENV-021")
@pytest.mark.parametrize("order", ORDERS)
def test_platforms_are_sorted_by_devices(loader: Loader, sandbox: Sandbox, order: str) -> None:
    """Platforms with more GPUs come first, then those with more CPUs, then those with more devices."""
    loader.require("sorts platforms by devices")
    devices, expected = ORDERS[order]
    names = vendors(sandbox, devices)
    with loader.start(sandbox) as cl:
        sorted_names = list(cl.platform_names())
        groups, start = [], 0
        for group in expected:
            groups.append(sorted(names.index(name) for name in sorted_names[start : start + len(group)]))
            start += len(group)
        assert groups == [sorted(group) for group in expected]
        assert_usable(cl, sorted_names)


@requirement("DISC-ENV-019")
@pytest.mark.parametrize("count", [2, 9, 40])
def test_order_of_platforms_with_equal_devices_is_on_record(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None], count: int
) -> None:
    """Platforms that nothing tells apart come in an order that is theirs to choose; all of them come, and work."""
    loader.require("sorts platforms by devices")
    names = vendors(sandbox, [(1, 1, 0)] * count)
    with loader.start(sandbox) as cl:
        listed = list(cl.platform_names())
        assert sorted(listed) == sorted(names)
        assert_usable(cl, listed)
    record("as they were found" if listed == names else "another order")


@requirement("DISC-ENV-019", "DISC-ENV-021")
@pytest.mark.parametrize("count", [7, 8, 9, 33])
def test_any_number_of_platforms_is_sorted_by_devices(loader: Loader, sandbox: Sandbox, count: int) -> None:
    """The order by devices holds for any number of platforms."""
    loader.require("sorts platforms by devices")
    scrambled = [(11 * number) % 36 for number in range(count)]
    devices = [(number // 6, number % 6, 0) for number in scrambled]
    names = vendors(sandbox, devices)
    expected = [names[devices.index(devices_of_one)] for devices_of_one in sorted(devices, reverse=True)]
    with loader.start(sandbox) as cl:
        assert cl.platform_names() == expected
        assert_usable(cl, expected)


@requirement("DISC-ENV-019", "DISC-ENV-021")
def test_platforms_of_one_vendor_are_sorted_among_others(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None]
) -> None:
    """Platforms of one vendor are sorted one by one, among those of other vendors."""
    loader.require("sorts platforms by devices")
    two = sandbox.icd("two", platforms=2, per_platform=[{"gpus": 1, "suffix": "TWO"}, {"gpus": 5, "suffix": "TWO"}])
    one = sandbox.icd("one", gpus=3, suffix="ONE")
    sandbox.vendors_in_order([f"{two}\n", f"{one}\n"])
    with loader.start(sandbox) as cl:
        assert cl.platform_count() == 3
        counted = {call.arguments[2:4] for call in sandbox.log.calls("clGetDeviceIDs")}
        assert cl.used_platforms() == ["two.1", "one", "two.0"]
        assert [cl.vendor_function(name) for name in ("clThingTWO", "clThingONE")] == ["two", "one"]
    record("devices are counted" if counted == {(0, 0)} else "devices are listed")


@requirement("DISC-ENV-019")
@pytest.mark.parametrize("position", [0, 1, 2])
def test_platform_whose_devices_cannot_be_counted_has_none(loader: Loader, sandbox: Sandbox, position: int) -> None:
    """A platform that answers an error when it is asked for its devices counts as one without devices."""
    loader.require("sorts platforms by devices")
    mocks = [sandbox.icd("two", gpus=2), sandbox.icd("one", gpus=1)]
    mocks.insert(position, sandbox.icd("broken", gpus=9, faults=["device_list_fails"]))
    sandbox.vendors_in_order([f"{mock}\n" for mock in mocks])
    with loader.start(sandbox) as cl:
        assert cl.platform_names() == ["two", "one", "broken"]


# --- the variable ---


@requirement("DISC-ENV-019", "DISC-ENV-021")
@pytest.mark.parametrize("count", [1, 2, 3, 9])
@pytest.mark.parametrize("linked", [False, True], ids=["opened", "linked"])
def test_sort_none_keeps_the_order_and_counts_no_devices(
    loader: Loader, sandbox: Sandbox, linked: bool, count: int
) -> None:
    """With OCL_ICD_PLATFORM_SORT=none, platforms come as they were found, and no devices are counted."""
    loader.require("sorts platforms by devices")
    names = vendors(sandbox, [((5 * number) % 9, 0, 0) for number in range(count)])
    sandbox.env["OCL_ICD_PLATFORM_SORT"] = "none"
    with loader.start(sandbox, linked=linked) as cl:
        assert cl.platform_names() == names
        assert not sandbox.log.calls("clGetDeviceIDs")
        assert_usable(cl, names)


@requirement("DISC-ENV-019", "DISC-ENV-021")
@pytest.mark.parametrize(
    "value", ["devices", "", "unknown", "None", "NONE", "none ", " none", "non", "nonesuch", "n", "0", "x" * 5000]
)
def test_other_values_of_sort_are_as_if_it_were_not_set(loader: Loader, sandbox: Sandbox, value: str) -> None:
    """With any other value of OCL_ICD_PLATFORM_SORT, platforms are sorted by devices as if it were not set."""
    loader.require("sorts platforms by devices")
    names = vendors(sandbox, [(1, 0, 0), (3, 0, 0), (2, 0, 0)])
    sandbox.env["OCL_ICD_PLATFORM_SORT"] = value
    with loader.start(sandbox) as cl:
        assert cl.platform_names() == [names[1], names[2], names[0]]
        assert cl.getenv("OCL_ICD_PLATFORM_SORT") == value.encode()
