# SPDX-License-Identifier: Apache-2.0
"""What a vendor's ICD says that it can share: types of memory, of semaphores, of handles (XM-QRY, XM-SEM, XM-XSM)."""

from __future__ import annotations

import pytest

from harness.check import (
    CL,
    EXTENSION_FUNCTIONS,
    Icd,
    Sandbox,
    Unsupported,
    extension,
    function_of,
    memory_handle_types,
    platforms_with,
    requirement,
    semaphore_handle_types,
)

# Which query of a platform has to be a part of which query of each device, by extension.
PARTS = {
    "memory": (
        "cl_khr_external_memory",
        CL.PLATFORM_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR,
        CL.DEVICE_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR,
        "XM-QRY-001",
    ),
    "semaphore": ("cl_khr_semaphore", CL.PLATFORM_SEMAPHORE_TYPES_KHR, CL.DEVICE_SEMAPHORE_TYPES_KHR, "XM-SEM-007"),
    "import": (
        "cl_khr_external_semaphore",
        CL.PLATFORM_SEMAPHORE_IMPORT_HANDLE_TYPES_KHR,
        CL.DEVICE_SEMAPHORE_IMPORT_HANDLE_TYPES_KHR,
        "XM-XSM-013",
    ),
    "export": (
        "cl_khr_external_semaphore",
        CL.PLATFORM_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR,
        CL.DEVICE_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR,
        "XM-XSM-013",
    ),
}


def named(*names: str) -> list[object]:
    """Parameters that name an extension each, without which their cases are unsupported."""
    return [pytest.param(name, marks=extension(name)) for name in names]


@pytest.mark.parametrize(
    "what",
    [pytest.param(name, marks=[pytest.mark.requirement(row[3]), extension(row[0])]) for name, row in PARTS.items()],
)
def test_platform_has_what_all_devices_have(icd: Icd, sandbox: Sandbox, what: str) -> None:
    """A type of the platform is a type of each of its devices."""
    name, of_platform, of_device, _ = PARTS[what]
    with icd.open(sandbox) as session:
        for platform in platforms_with(session, name, devices=0):
            listed = set(platform.types(platform.handle, of_platform))
            for device in platform.devices:
                assert listed <= set(platform.types(device, of_device))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.requirement(identifier), extension(name)])
        for name, identifier in (("cl_khr_external_memory", "XM-QRY-002"), ("cl_khr_semaphore", "XM-SEM-007"))
    ],
)
def test_some_device_has_a_type(icd: Icd, sandbox: Sandbox, name: str) -> None:
    """Of a platform with the extension, at least one device has a type of memory, or binary semaphores."""
    with icd.open(sandbox) as session:
        for platform in platforms_with(session, name, devices=0):
            if name == "cl_khr_semaphore":
                able = [
                    d
                    for d in platform.devices
                    if CL.SEMAPHORE_TYPE_BINARY_KHR in platform.types(d, CL.DEVICE_SEMAPHORE_TYPES_KHR)
                ]
            else:
                able = [
                    d for d in platform.devices if platform.types(d, CL.DEVICE_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR)
                ]
            assert able


@requirement("XM-QRY-003")
@extension("cl_khr_external_memory")
def test_linear_types_can_be_imported(icd: Icd, sandbox: Sandbox) -> None:
    """Types whose images are taken for linear are types that can be imported."""
    with icd.open(sandbox) as session:
        count = 0
        for platform in platforms_with(session, "cl_khr_external_memory", devices=0):
            for device in platform.devices:
                error, _ = platform.answer(
                    "clGetDeviceInfo", device, CL.DEVICE_EXTERNAL_MEMORY_IMPORT_ASSUME_LINEAR_IMAGES_HANDLE_TYPES_KHR
                )
                if error and not platform.is_since(0, 9, 3):
                    continue
                if device not in platform.able:
                    continue
                count += 1
                assert not error
                assert set(
                    platform.types(device, CL.DEVICE_EXTERNAL_MEMORY_IMPORT_ASSUME_LINEAR_IMAGES_HANDLE_TYPES_KHR)
                ) <= set(platform.types(device, CL.DEVICE_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR))
        if not count:
            raise Unsupported("loader", "this query came with revision 0.9.3 of cl_khr_external_memory")


@requirement("XM-QRY-004")
@pytest.mark.parametrize("name", named("cl_khr_external_memory", "cl_khr_external_semaphore"))
def test_types_have_their_extensions(icd: Icd, sandbox: Sandbox, name: str) -> None:
    """Each type that a device has is of an extension that it or its platform has, as far as extensions of KHR go."""
    memory = name == "cl_khr_external_memory"
    known = memory_handle_types() if memory else semaphore_handle_types()
    queries = (
        [CL.DEVICE_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR]
        if memory
        else [CL.DEVICE_SEMAPHORE_IMPORT_HANDLE_TYPES_KHR, CL.DEVICE_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR]
    )
    with icd.open(sandbox) as session:
        for platform in platforms_with(session, name, devices=0):
            of_platform = session.GetPlatformInfo(platform.handle, "CL_PLATFORM_EXTENSIONS").split()
            for device in platform.devices:
                types = [kind for query in queries for kind in platform.types(device, query) if kind in known]
                missing = {known[kind] for kind in types} - {*platform.extensions(device), *of_platform}
                assert not missing


@requirement("XM-QRY-005")
@extension("cl_khr_external_memory")
def test_extensions_have_their_types(icd: Icd, sandbox: Sandbox) -> None:
    """A platform that advertises an extension of handle types has one of its types, by its number."""
    with icd.open(sandbox) as session:
        for platform in platforms_with(session, "cl_khr_external_memory", devices=0):
            listed = {extension for device in platform.devices for extension in platform.extensions(device)}
            types = {
                kind
                for device in platform.devices
                for kind in platform.types(device, CL.DEVICE_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR)
            }
            numbers = {memory_handle_types()[kind] for kind in types & memory_handle_types().keys()}
            without = (set(memory_handle_types().values()) & listed) - numbers
            assert not without


@requirement("XM-XSM-013")
@extension("cl_khr_external_semaphore")
def test_device_with_external_semaphores_has_a_handle_type(icd: Icd, sandbox: Sandbox) -> None:
    """A device with external semaphores has a handle type to import or one to export."""
    with icd.open(sandbox) as session:
        for platform in platforms_with(session, "cl_khr_external_semaphore"):
            for device in platform.able:
                assert platform.types(device, CL.DEVICE_SEMAPHORE_IMPORT_HANDLE_TYPES_KHR) + platform.types(
                    device, CL.DEVICE_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR
                )


@requirement("XM-ACQ-001")
@pytest.mark.parametrize("name", named(*EXTENSION_FUNCTIONS))
def test_functions_of_an_advertised_extension_are_found(icd: Icd, sandbox: Sandbox, name: str) -> None:
    """The functions of an extension that a platform advertises are had by its address query."""
    with icd.open(sandbox) as session:
        for platform in platforms_with(session, name, devices=0):
            functions = set(EXTENSION_FUNCTIONS[name])
            if name.endswith("sync_fd") and not platform.is_since(1, 0, 0):
                functions.clear()  # its only function came with revision 0.9.2 of cl_khr_external_semaphore
            missing = [function for function in functions if not function_of(session, platform.handle, function)]
            assert not missing
