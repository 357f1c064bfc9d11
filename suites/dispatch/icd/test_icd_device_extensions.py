# SPDX-License-Identifier: Apache-2.0
"""What extensions let an application ask of a vendor's devices: identity, place, dot products (API-CON)."""

from __future__ import annotations

import re

import pytest

from harness.check import CL, Icd, IcdSession, Platform, Sandbox, Value, api, extension, platforms_with, requirement

INFO = "clGetDeviceInfo"
UUIDS = ("CL_DEVICE_UUID_KHR", "CL_DRIVER_UUID_KHR")
# Each query of an extension, with the bytes of its answer.
SIZES = {
    "cl_khr_device_uuid": {
        "CL_DEVICE_UUID_KHR": 16,
        "CL_DRIVER_UUID_KHR": 16,
        "CL_DEVICE_LUID_VALID_KHR": 4,
        "CL_DEVICE_LUID_KHR": 8,
        "CL_DEVICE_NODE_MASK_KHR": 4,
    },
    "cl_khr_pci_bus_info": {"CL_DEVICE_PCI_BUS_INFO_KHR": 16},
    "cl_khr_integer_dot_product": {
        "CL_DEVICE_INTEGER_DOT_PRODUCT_CAPABILITIES_KHR": 8,
        "CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_8BIT_KHR": 24,
        "CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_4x8BIT_PACKED_KHR": 24,
    },
}
DOT = "CL_DEVICE_INTEGER_DOT_PRODUCT"


def answer(platform: Platform, device: Value, query: str) -> bytes:
    """The answer to a query of a device, which has to have one."""
    error, content = platform.answer(INFO, device, api().constant(query))
    assert error == CL.SUCCESS, f"{query} answered {error} for a device with {platform.extension}, expected CL_SUCCESS"
    return content


def number(platform: Platform, device: Value, query: str) -> int:
    return int.from_bytes(answer(platform, device, query), "little")


@requirement("API-CON-039")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=extension(name), id=name.removeprefix("cl_khr_")) for name in SIZES]
)
def test_query_of_an_extension_has_its_size(icd: Icd, sandbox: Sandbox, name: str) -> None:
    """A device with the extension answers each of its queries, in as many bytes as the type has; less is refused."""
    with icd.open(sandbox) as session:
        for platform in platforms_with(session, name):
            for device in platform.able:
                for query, size in SIZES[name].items():
                    if "ACCELERATION_PROPERTIES" in query and platform.revision() < (2, 0, 0):
                        continue  # came with version 2 of the extension
                    assert (query, len(answer(platform, device, query))) == (query, size)
                    room, less = session.buffer(size), size - 1
                    error = session.call(INFO, device, api().constant(query), less, room, None)
                    assert (query, error) == (query, CL.INVALID_VALUE), f"with room for {less} bytes"


def identities(session: IcdSession, query: str) -> list[bytes]:
    """The UUIDs of all devices, or of their drivers."""
    platforms = platforms_with(session, "cl_khr_device_uuid")
    return [answer(platform, device, query) for platform in platforms for device in platform.able]


def in_two_processes(icd: Icd, sandbox: Sandbox, query: str) -> list[list[bytes]]:
    """The UUIDs that two processes read, one after the other; devices may be listed in another order."""
    result = []
    for _ in range(2):
        with icd.open(sandbox) as session:
            result.append(sorted(identities(session, query)))
    return result


@requirement("API-CON-040")
@extension("cl_khr_device_uuid")
def test_device_has_the_same_uuid_in_each_process(icd: Icd, sandbox: Sandbox) -> None:
    """Two processes after each other read the same UUIDs of devices."""
    first, second = in_two_processes(icd, sandbox, "CL_DEVICE_UUID_KHR")
    assert first == second, "the UUIDs of the second process are others"


@requirement("API-CON-053")
@extension("cl_khr_device_uuid")
def test_driver_has_the_same_uuid_in_each_process(icd: Icd, sandbox: Sandbox) -> None:
    """Two processes after each other read the same UUIDs of drivers."""
    first, second = in_two_processes(icd, sandbox, "CL_DRIVER_UUID_KHR")
    assert first == second, "the UUIDs of the second process are others"


@requirement("API-CON-041")
@extension("cl_khr_device_uuid")
def test_devices_of_a_platform_have_uuids_of_their_own(icd: Icd, sandbox: Sandbox) -> None:
    """No two root devices of a platform have the same UUID."""
    with icd.open(sandbox) as session:
        for platform in platforms_with(session, "cl_khr_device_uuid"):
            found = [answer(platform, device, "CL_DEVICE_UUID_KHR").hex() for device in platform.able]
            assert len(set(found)) == len(found), f"the UUIDs of the devices are {', '.join(found)}"


@requirement("API-CON-042")
@extension("cl_khr_device_uuid")
def test_node_mask_of_a_device_with_an_luid_has_one_bit(icd: Icd, sandbox: Sandbox) -> None:
    """Whether the LUID is valid is CL_TRUE or CL_FALSE; where it is, the node mask has exactly one bit."""
    with icd.open(sandbox) as session:
        for platform in platforms_with(session, "cl_khr_device_uuid"):
            for device in platform.able:
                valid = number(platform, device, "CL_DEVICE_LUID_VALID_KHR")
                assert valid in (CL.TRUE, CL.FALSE), f"CL_DEVICE_LUID_VALID_KHR is {valid}"
                mask = number(platform, device, "CL_DEVICE_NODE_MASK_KHR")
                assert not valid or mask.bit_count() == 1, f"CL_DEVICE_NODE_MASK_KHR is {mask:#x}"


@requirement("API-CON-043")
@extension("cl_khr_integer_dot_product")
def test_dot_products_of_packed_integers_are_there(icd: Icd, sandbox: Sandbox) -> None:
    """Packed input is always there, and since version 2 vectors; what is accelerated is CL_TRUE or CL_FALSE then."""
    with icd.open(sandbox) as session:
        for platform in platforms_with(session, "cl_khr_integer_dot_product"):
            least = CL.DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT_PACKED_KHR
            properties: tuple[str, ...] = ()
            if platform.revision() >= (2, 0, 0):
                least |= CL.DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT_KHR
                properties = ("8BIT", "4x8BIT_PACKED")
            for device in platform.able:
                bits = number(platform, device, f"{DOT}_CAPABILITIES_KHR")
                assert bits & least == least, f"{DOT}_CAPABILITIES_KHR is {bits:#x}, expected {int(least):#x} at least"
                for kind in properties:
                    content = answer(platform, device, f"{DOT}_ACCELERATION_PROPERTIES_{kind}_KHR")
                    words = [int.from_bytes(content[at : at + 4], "little") for at in range(0, len(content), 4)]
                    assert set(words) <= {CL.TRUE, CL.FALSE}, f"{kind}: the members are {words}"


@requirement("API-CON-048")
@extension("cl_khr_spir")
def test_versions_of_spir_are_a_list_of_numbers(icd: Icd, sandbox: Sandbox) -> None:
    """A device with cl_khr_spir lists the versions that it supports, separated by blanks."""
    with icd.open(sandbox) as session:
        for platform in platforms_with(session, "cl_khr_spir"):
            for device in platform.able:
                text = answer(platform, device, "CL_DEVICE_SPIR_VERSIONS")
                listed = text.rstrip(b"\0").decode(errors="replace")
                assert re.fullmatch(r"(\d+\.\d+( \d+\.\d+)* ?)?", listed), (  # no text says that there is one
                    f"CL_DEVICE_SPIR_VERSIONS is {listed!r}, expected versions separated by blanks"
                )
