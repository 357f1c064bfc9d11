# SPDX-License-Identifier: Apache-2.0
"""Memory from outside OpenCL: property lists of buffers and images, functions, queries (XM-IMP, XM-ACQ, XM-QRY)."""

from __future__ import annotations

import pytest

from harness.check import (
    CANARY,
    CL,
    DEVICE,
    EXTENSION_FUNCTIONS,
    NAME,
    Loader,
    Objects,
    Sandbox,
    Words,
    pack,
    problems_of_function,
    problems_of_lists,
    requirement,
)

LIST, OPAQUE_FD, WIN32, KMT, DMA_BUF, WIN32_NAME = (
    CL.MEM_DEVICE_HANDLE_LIST_KHR,
    CL.EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR,
    CL.EXTERNAL_MEMORY_HANDLE_OPAQUE_WIN32_KHR,
    CL.EXTERNAL_MEMORY_HANDLE_OPAQUE_WIN32_KMT_KHR,
    CL.EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR,
    CL.EXTERNAL_MEMORY_HANDLE_OPAQUE_WIN32_NAME_KHR,
)
END = 0

LISTS: dict[str, Words] = {
    "nothing": [END],
    "opaque-fd": [OPAQUE_FD, 7, END],
    "dma-buf": [DMA_BUF, 1023, END],
    "descriptor-0": [OPAQUE_FD, 0, END],
    "descriptor-0-before-a-list": [DMA_BUF, 0, LIST, DEVICE, END, END],
    "descriptor-minus-1": [OPAQUE_FD, -1, END],
    "descriptor-with-upper-bits": [OPAQUE_FD, 0x1_0000_0003, END],
    "win32": [WIN32, 0x1234_5678_9ABC_DEF0, END],
    "win32-kmt": [KMT, 0xFFFF_FFFF_8000_0002, END],
    "win32-name": [WIN32_NAME, NAME, END],
    "list-after": [OPAQUE_FD, 7, LIST, DEVICE, END, END],
    "list-in-front": [LIST, DEVICE, END, OPAQUE_FD, 7, END],
    "list-of-2-after": [OPAQUE_FD, 7, LIST, DEVICE, DEVICE, END, END],
    "list-of-2-in-front": [LIST, DEVICE, DEVICE, END, DMA_BUF, 7, END],
    "list-of-3-in-front": [LIST, DEVICE, DEVICE, DEVICE, END, WIN32, 7, END],
    "list-of-20-between": [0x7001, 1, LIST, *[DEVICE] * 20, END, OPAQUE_FD, 7, END],
    "list-of-none": [LIST, END, OPAQUE_FD, 7, END],
    "list-of-none-at-the-end": [OPAQUE_FD, 7, LIST, END, END],
    "list-alone": [LIST, DEVICE, END, END],
    "list-twice": [LIST, DEVICE, END, LIST, DEVICE, DEVICE, END, OPAQUE_FD, 7, END],
    "list-holds-names": [LIST, OPAQUE_FD, LIST, DMA_BUF, END, OPAQUE_FD, LIST, END],
    "handle-that-is-a-name": [OPAQUE_FD, LIST, DMA_BUF, OPAQUE_FD, END],
    "two-handles": [OPAQUE_FD, 7, DMA_BUF, 8, END],
    "same-handle-twice": [OPAQUE_FD, 7, OPAQUE_FD, 7, END],
    "unknown-around": [0x7001, 0, OPAQUE_FD, 7, (1 << 63) + LIST, 0, END],
    "many": [*(word for i in range(14) for word in (0x7001 + i, i)), LIST, DEVICE, END, DMA_BUF, 7, END],
}


# Queries of types by object, and what the vendors below answer.
MEMORY = "cl_khr_external_memory cl_khr_external_memory_opaque_fd"
SEMAPHORES = "cl_khr_semaphore cl_khr_external_semaphore cl_khr_external_semaphore_opaque_fd"
EXTENSIONS = {
    "a": f"cl_khr_icd {MEMORY}",
    "b": f"cl_khr_icd {MEMORY} cl_khr_external_memory_dma_buf {SEMAPHORES} cl_khr_external_semaphore_sync_fd",
    "c": "cl_khr_icd",
}
OF_PLATFORM = {
    "clGetPlatformInfo-memory": CL.PLATFORM_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR,
    "clGetPlatformInfo-semaphore": CL.PLATFORM_SEMAPHORE_TYPES_KHR,
    "clGetPlatformInfo-import": CL.PLATFORM_SEMAPHORE_IMPORT_HANDLE_TYPES_KHR,
    "clGetPlatformInfo-export": CL.PLATFORM_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR,
}
OF_DEVICE = {
    "clGetDeviceInfo-memory": CL.DEVICE_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR,
    "clGetDeviceInfo-linear": CL.DEVICE_EXTERNAL_MEMORY_IMPORT_ASSUME_LINEAR_IMAGES_HANDLE_TYPES_KHR,
    "clGetDeviceInfo-semaphore": CL.DEVICE_SEMAPHORE_TYPES_KHR,
    "clGetDeviceInfo-import": CL.DEVICE_SEMAPHORE_IMPORT_HANDLE_TYPES_KHR,
    "clGetDeviceInfo-export": CL.DEVICE_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR,
}
ANSWERS: dict[tuple[str, str], list[int]] = {
    ("a", "memory"): [OPAQUE_FD],
    ("a", "linear"): [],
    ("b", "memory"): [OPAQUE_FD, DMA_BUF],
    ("b", "linear"): [DMA_BUF],
    ("b", "semaphore"): [1],
    ("b", "import"): [CL.SEMAPHORE_HANDLE_OPAQUE_FD_KHR, CL.SEMAPHORE_HANDLE_SYNC_FD_KHR],
    ("b", "export"): [CL.SEMAPHORE_HANDLE_OPAQUE_FD_KHR, CL.SEMAPHORE_HANDLE_SYNC_FD_KHR],
}


@requirement("XM-QRY-006")
@pytest.mark.parametrize("name", [*OF_PLATFORM, *OF_DEVICE])
def test_queries_of_handle_types_come_back_unchanged(loader: Loader, sandbox: Sandbox, name: str) -> None:
    """Types that a vendor answers, their size, and the error of one that knows no such query come back as they are."""
    function, what = name.split("-")
    for vendor, extensions in EXTENSIONS.items():
        sandbox.vendor(vendor, extensions=extensions, icd2=vendor == "b" and loader.has("ICD 2"))
    with loader.start(sandbox) as cl:
        count = 0
        for platform in cl.GetPlatformIDs():
            own = Objects(cl, platform)
            handle, query = (own.platform, OF_PLATFORM[name]) if name in OF_PLATFORM else (own.device, OF_DEVICE[name])
            size, types = cl.room(), cl.buffer(64)
            expected = ANSWERS.get((own.owner, what))
            if expected is None:
                assert cl.call(function, handle, query, 64, types, size) == CL.INVALID_VALUE
                assert size.bytes() + types.bytes() == bytes([CANARY]) * (size.size + 64)
                continue
            count += 1
            needed = 4 * len(expected)
            assert cl.call(function, handle, query, 0, None, size) == CL.SUCCESS
            assert size.word() == needed
            assert cl.call(function, handle, query, needed, types, size) == CL.SUCCESS
            assert types.bytes() == pack(expected, 4) + bytes([CANARY]) * (64 - needed)
            for room in range(needed):
                assert cl.call(function, handle, query, room, types, None) == CL.INVALID_VALUE
        assert count > 0


@requirement("XM-IMP-017")
@pytest.mark.parametrize("function", ["clCreateBufferWithProperties", "clCreateImageWithProperties"])
def test_memory_list_reaches_the_vendor_up_to_its_end(loader: Loader, sandbox: Sandbox, function: str) -> None:
    """Whatever a list holds, the vendor of the context gets it up to its terminator, and nothing after that is read."""
    assert len(LISTS) > 20
    assert problems_of_lists(loader, sandbox, function, LISTS) == []


@requirement("XM-ACQ-011")
@pytest.mark.parametrize("function", EXTENSION_FUNCTIONS["cl_khr_external_memory"])
def test_external_memory_functions_are_each_platforms_own(loader: Loader, sandbox: Sandbox, function: str) -> None:
    """Each platform that has the function gives its own by address query, beside one that has not."""
    assert problems_of_function(loader, sandbox, function) == []
