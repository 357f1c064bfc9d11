# SPDX-License-Identifier: Apache-2.0
"""Sub-devices of a vendor's ICD: partition lists, counts, references (PL-SUB)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.check import CL, Answer, CallFailed, Icd, IcdSession, Sandbox, Unsupported, Value, api, requirement, shown

EQUALLY, BY_COUNTS, BY_AFFINITY = (
    api().constant(f"CL_DEVICE_PARTITION_{name}") for name in ("EQUALLY", "BY_COUNTS", "BY_AFFINITY_DOMAIN")
)
UNITS = api().constant("CL_DEVICE_MAX_COMPUTE_UNITS")
MAX_SUB_DEVICES = api().constant("CL_DEVICE_PARTITION_MAX_SUB_DEVICES")
SCHEMES = api().constant("CL_DEVICE_PARTITION_PROPERTIES")
TYPE = api().constant("CL_DEVICE_PARTITION_TYPE")
REFERENCES = api().constant("CL_DEVICE_REFERENCE_COUNT")
PARENT = api().constant("CL_DEVICE_PARENT_DEVICE")


class Device:
    """A device of a platform, and what it says of its partitions."""

    def __init__(self, session: IcdSession, handle: Value) -> None:
        self.session = session
        self.handle = handle
        self.units = self.number(UNITS, 4)
        self.most = self.number(MAX_SUB_DEVICES, 4)
        self.schemes = self.words(SCHEMES)

    def number(self, query: int, size: int) -> int:
        value = self.session.buffer(8, 0)
        error = self.session.call("clGetDeviceInfo", self.handle, query, size, value, None)
        if error:
            raise CallFailed(f"clGetDeviceInfo({query:#x}) answered {error}, expected CL_SUCCESS")
        return value.u64()

    def words(self, query: int) -> list[int]:
        size = self.session.buffer(8, 0)
        if self.session.call("clGetDeviceInfo", self.handle, query, 0, None, size) or size.u64() > 4096:
            raise CallFailed(f"clGetDeviceInfo({query:#x}) answered an error, or a size of {size.u64()}")
        value = self.session.buffer(size.u64(), 0)
        self.session.call("clGetDeviceInfo", self.handle, query, size.u64(), value, None)
        return [int.from_bytes(value[i : i + 8], "little") for i in range(0, size.u64(), 8)]

    def count(self, words: list[int] | None) -> tuple[Answer, int]:
        """The error, and how many sub-devices there would be (0 where that is not written)."""
        count = self.session.buffer(4, 0)
        error = self.session.call("clCreateSubDevices", self.handle, words, 0, None, count)
        return Answer(error, shown(words)), count.u32()

    def split(self, words: list[int], room: int) -> tuple[Answer, list[Value]]:
        """The error, and what the array of that many elements holds; it ends where an unreadable page begins."""
        parts = self.session.buffer(8 * room, 0)
        error = self.session.call("clCreateSubDevices", self.handle, words, room, parts, None)
        return Answer(error, shown(words)), parts.handles()

    def parts(self, words: list[int]) -> list[Device]:
        """The sub-devices. Raises CallFailed where there is an error."""
        error, count = self.count(words)
        if error or not count or count > self.units:
            raise CallFailed(f"clCreateSubDevices answered {error} and the count {count} for {words} of {self.units}")
        error, parts = self.split(words, count)
        if error:
            raise CallFailed(f"clCreateSubDevices answered {error} to {words}, after it had answered the count {count}")
        return [Device(self.session, handle) for handle in parts]


def devices_with(session: IcdSession, *schemes: int, units: int = 2) -> list[Device]:
    """A device of each platform that knows these schemes and has so many units; unsupported where there is none.

    To be split equally it may be split into single units.
    """
    result = []
    for platform in session.some_platforms():
        if session.version(platform) >= (1, 2):
            session.platform = platform
            devices = [Device(session, handle) for handle in session.GetDeviceIDs(platform)[:1]]
            result += [
                d
                for d in devices
                if set(schemes) <= set(d.schemes)
                and d.units >= units
                and d.most >= (d.units if EQUALLY in schemes else 2)
            ]
    if not result:
        raise Unsupported("loader", "no device of this ICD has these partition schemes", "sub-devices")
    return result


def equally(units: int) -> list[int]:
    return [EQUALLY, units, 0]


def by_counts(*counts: int) -> list[int]:
    """Counts with their own end marker, and the list's."""
    return [BY_COUNTS, *counts, 0, 0]


@requirement("PL-SUB-001", "PL-GEN-015")
def test_partition_by_no_or_several_schemes_is_invalid_value(icd: Icd, sandbox: Sandbox) -> None:
    """A list names one scheme. None (NULL, an empty list), the same twice, or two of them is CL_INVALID_VALUE."""
    with icd.open(sandbox) as session:
        for device in devices_with(session, EQUALLY):
            assert device.count(equally(1))[0] == CL.SUCCESS
            for words in (
                [0],
                [EQUALLY, 1, EQUALLY, 1, 0],
                [EQUALLY, 1, BY_COUNTS, 1, 0, 0],
                [EQUALLY, 1, 0x7777, 1, 0],
            ):
                assert device.count(words)[0] == CL.INVALID_VALUE
            assert device.count(None)[0] == CL.INVALID_VALUE


@requirement("PL-SUB-001", "PL-GEN-015")
def test_unknown_partition_scheme_is_invalid_value(icd: Icd, sandbox: Sandbox) -> None:
    """A scheme that nobody knows, or that the device does not have, is CL_INVALID_VALUE."""
    with icd.open(sandbox) as session:
        for device in devices_with(session, EQUALLY):
            lists = [[0x7777, 1, 0], [1, 1, 0], [EQUALLY | 1 << 40, 1, 0]]
            lists += [[BY_AFFINITY, 1 << 5, 0]] if BY_AFFINITY not in device.schemes else []
            lists += [by_counts(1)] if BY_COUNTS not in device.schemes else []
            for words in lists:
                assert device.count(words)[0] == CL.INVALID_VALUE


@requirement("PL-SUB-001", "PL-SUB-002", "PL-GEN-014")
def test_second_scheme_after_the_counts_is_invalid_value(icd: Icd, sandbox: Sandbox) -> None:
    """The end marker of the counts does not end the list: a second scheme after it is CL_INVALID_VALUE."""
    with icd.open(sandbox) as session:
        for device in devices_with(session, BY_COUNTS):
            assert device.count(by_counts(1)) == (CL.SUCCESS, 1)
            for more in ([BY_COUNTS, 1, 0], [EQUALLY, 1], [0x7777, 1]):
                words = [BY_COUNTS, 1, 0, *more, 0]
                assert device.count(words)[0] == CL.INVALID_VALUE


@requirement("PL-SUB-002", "PL-GEN-006", "PL-GEN-014")
def test_partition_by_counts_makes_sub_devices_of_these_sizes(icd: Icd, sandbox: Sandbox) -> None:
    """Counts are followed by 0, and that by the list's own 0; each makes a sub-device of so many units.

    The list ends where an unreadable page begins.
    """
    with icd.open(sandbox) as session:
        for device in devices_with(session, BY_COUNTS):
            most = min(device.units, device.most)
            chosen = [[1], [2], [1, 1], [1] * most, [device.units], [device.units - 1, 1], [1, device.units - 1]]
            chosen += [[2, 1, 1], [1, 2, 1], [3, 1]] if device.units >= 4 and device.most >= 3 else []
            for counts in chosen:
                assert device.count(by_counts(*counts)) == (CL.SUCCESS, len(counts))
                parts = device.parts(by_counts(*counts))
                assert sorted(part.units for part in parts) == sorted(counts)


@requirement("PL-SUB-008")
def test_partition_equally_makes_as_many_as_fit(icd: Icd, sandbox: Sandbox) -> None:
    """CL_DEVICE_PARTITION_EQUALLY makes as many sub-devices of so many units as there can be; the rest is not used."""
    with icd.open(sandbox) as session:
        for device in devices_with(session, EQUALLY):
            for units in {1, 2, device.units // 2, device.units}:
                if device.units // units > device.most:
                    continue
                assert device.count(equally(units)) == (CL.SUCCESS, device.units // units)
                parts = device.parts(equally(units))
                assert [part.units for part in parts] == [units] * (device.units // units)


@requirement("PL-SUB-003")
def test_partition_into_too_many_is_invalid_partition_count(icd: Icd, sandbox: Sandbox) -> None:
    """More units, or more sub-devices, than there are is CL_INVALID_DEVICE_PARTITION_COUNT."""
    with icd.open(sandbox) as session:
        for device in devices_with(session, BY_COUNTS):
            assert device.count(by_counts(device.units))[0] == CL.SUCCESS
            lists = [[device.units + 1], [device.units, 1], [1] * (device.most + 1), [1 << 31, 1 << 31]]
            for counts in lists:
                assert device.count(by_counts(*counts))[0] == CL.INVALID_DEVICE_PARTITION_COUNT
                error, _ = device.split(by_counts(*counts), len(counts))
                assert error == CL.INVALID_DEVICE_PARTITION_COUNT


@requirement("PL-SUB-004")
@pytest.mark.parametrize("units", [1, 2])
def test_partition_of_a_single_unit_is_partition_failed(
    icd: Icd, sandbox: Sandbox, record: Callable[[str], None], units: int
) -> None:
    """A device of one unit cannot be partitioned: CL_DEVICE_PARTITION_FAILED.

    CL_INVALID_VALUE may be answered where the device says that it has no such scheme. One that says it has
    CL_DEVICE_PARTITION_EQUALLY may give one device of one unit.
    """
    with icd.open(sandbox) as session:
        outcomes = set()
        for device in devices_with(session, EQUALLY):
            one = device.parts(equally(1))[0]
            error, count = one.count(equally(units))
            listed = EQUALLY in one.schemes
            assert (
                (error, count) == (CL.SUCCESS, 1)
                if error == CL.SUCCESS
                else error in (CL.DEVICE_PARTITION_FAILED, CL.INVALID_VALUE)
            )
            assert error != CL.SUCCESS or (units == 1 and listed)
            assert error != CL.INVALID_VALUE or not listed
            outcomes.add({CL.SUCCESS: "one device", CL.DEVICE_PARTITION_FAILED: "failed"}.get(error, "invalid value"))
        record(" and ".join(sorted(outcomes)))


@requirement("PL-SUB-004")
def test_partition_larger_than_the_device_is_refused(icd: Icd, sandbox: Sandbox) -> None:
    """Parts that are larger than the device cannot be made: CL_DEVICE_PARTITION_FAILED, or a bad value."""
    with icd.open(sandbox) as session:
        for device in devices_with(session, EQUALLY):
            for units in (device.units + 1, 1 << 31):
                assert device.count(equally(units))[0] in (CL.DEVICE_PARTITION_FAILED, CL.INVALID_VALUE)


@requirement("PL-SUB-005")
def test_room_for_fewer_sub_devices_is_invalid_value(icd: Icd, sandbox: Sandbox) -> None:
    """An array that is too small is CL_INVALID_VALUE; one that is larger is filled as far as there are devices."""
    with icd.open(sandbox) as session:
        for device in devices_with(session, EQUALLY):
            error, count = device.count(equally(1))
            assert (error, count) == (CL.SUCCESS, device.units)
            for room in {1, count - 1}:
                assert device.split(equally(1), room)[0] == CL.INVALID_VALUE
            error, handle = device.split(equally(1), count + 2)
            assert error == CL.SUCCESS
            assert all(handle[:count])
            assert len(set(handle[:count])) == count


@requirement("PL-SUB-005")
def test_number_of_sub_devices_is_answered_without_an_array(icd: Icd, sandbox: Sandbox) -> None:
    """Without an array the number alone is answered."""
    with icd.open(sandbox) as session:
        for device in devices_with(session, EQUALLY):
            count = session.buffer(4, 0)
            for room in (0, device.units):
                assert session.call("clCreateSubDevices", device.handle, equally(1), room, None, count) == CL.SUCCESS
                assert count.u32() == device.units


@requirement("PL-SUB-005")
def test_number_of_sub_devices_is_answered_beside_an_array(icd: Icd, sandbox: Sandbox) -> None:
    """With an array the number may be asked for, too; nobody need ask."""
    with icd.open(sandbox) as session:
        for device in devices_with(session, EQUALLY):
            count, function = session.buffer(4, 0), "clCreateSubDevices"
            parts = session.buffer(8 * device.units, 0)
            assert session.call(function, device.handle, equally(2), device.units, parts, count) == CL.SUCCESS
            assert count.u32() == device.units // 2
            assert session.call(function, device.handle, equally(1), device.units, parts, None) == CL.SUCCESS


def references(device: Device) -> int:
    return device.number(REFERENCES, 4)


@requirement("PL-SUB-006")
def test_sub_device_counts_its_references(icd: Icd, sandbox: Sandbox) -> None:
    """A sub-device counts references, and goes on to work until the last one is released."""
    with icd.open(sandbox) as session:
        for device in devices_with(session, EQUALLY):
            part = device.parts(equally(1))[0]
            before = references(part)
            assert session.call("clRetainDevice", part.handle) == CL.SUCCESS
            assert references(part) == before + 1
            assert session.call("clReleaseDevice", part.handle) == CL.SUCCESS
            assert references(part) == before
            assert part.number(PARENT, 8) == device.handle
            assert session.call("clReleaseDevice", part.handle) == CL.SUCCESS


@requirement("PL-SUB-006")
def test_root_device_keeps_the_reference_count_1(icd: Icd, sandbox: Sandbox) -> None:
    """A root device does not: its count is 1 whatever is retained and released, and it goes on to work."""
    with icd.open(sandbox) as session:
        for platform in session.some_platforms():
            if session.version(platform) < (1, 2):
                raise Unsupported("loader", "clRetainDevice came with OpenCL 1.2", "OpenCL 1.2")
            root = Device(session, session.objects(platform).device)
            for function in ("clRetainDevice", "clRetainDevice", *["clReleaseDevice"] * 4, "clRetainDevice"):
                assert session.call(function, root.handle) == CL.SUCCESS
                assert references(root) == 1
            assert root.number(UNITS, 4) == root.units


@requirement("PL-SUB-009")
def test_partition_type_is_the_list_of_its_creation(icd: Icd, sandbox: Sandbox) -> None:
    """CL_DEVICE_PARTITION_TYPE of a sub-device is the list that it was made with; of a root device nothing, or {0}."""
    with icd.open(sandbox) as session:
        for device in devices_with(session, EQUALLY):
            assert device.words(TYPE) in ([], [0])
            lists = [equally(1), equally(2)]
            lists += [by_counts(1), by_counts(1, 1), by_counts(2)] if BY_COUNTS in device.schemes else []
            for words in lists:
                assert [part.words(TYPE) for part in device.parts(words)[:1]] == [words]
