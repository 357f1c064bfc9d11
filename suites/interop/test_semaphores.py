# SPDX-License-Identifier: Apache-2.0
"""Semaphores, also those from outside OpenCL: property lists and functions (XM-SEM, XM-XSM)."""

from __future__ import annotations

import pytest

from harness.check import (
    CL,
    DEVICE,
    EXTENSION_FUNCTIONS,
    Loader,
    Sandbox,
    Words,
    problems_of_function,
    problems_of_lists,
    requirement,
)

TYPE, LIST, EXPORT = CL.SEMAPHORE_TYPE_KHR, CL.SEMAPHORE_DEVICE_HANDLE_LIST_KHR, CL.SEMAPHORE_EXPORT_HANDLE_TYPES_KHR
BINARY = [TYPE, CL.SEMAPHORE_TYPE_BINARY_KHR]
END = 0
CREATE = "clCreateSemaphoreWithPropertiesKHR"

LISTS: dict[str, Words] = {
    "nothing": [END],
    "type": [*BINARY, END],
    "type-and-device": [*BINARY, LIST, DEVICE, END, END],
    "device-and-type": [LIST, DEVICE, END, *BINARY, END],
    "devices-and-type": [LIST, DEVICE, DEVICE, END, *BINARY, END],
    "exported": [*BINARY, EXPORT, CL.SEMAPHORE_HANDLE_OPAQUE_FD_KHR, END, END],
    "exported-as-several": [
        EXPORT,
        CL.SEMAPHORE_HANDLE_OPAQUE_FD_KHR,
        CL.SEMAPHORE_HANDLE_SYNC_FD_KHR,
        END,
        *BINARY,
        END,
    ],
    "exported-as-nothing": [EXPORT, END, *BINARY, END],
    "both-lists": [EXPORT, CL.SEMAPHORE_HANDLE_SYNC_FD_KHR, END, LIST, DEVICE, END, *BINARY, END],
    "opaque-fd": [*BINARY, CL.SEMAPHORE_HANDLE_OPAQUE_FD_KHR, 0, LIST, DEVICE, END, END],
    "sync-fd-minus-1": [CL.SEMAPHORE_HANDLE_SYNC_FD_KHR, -1, *BINARY, END],
    "sync-fd-minus-1-in-32-bits": [CL.SEMAPHORE_HANDLE_SYNC_FD_KHR, 0xFFFFFFFF, *BINARY, END],
    "win32": [CL.SEMAPHORE_HANDLE_OPAQUE_WIN32_KHR, 0x1234_5678_9ABC_DEF0, *BINARY, END],
    "d3d12-fence": [*BINARY, CL.SEMAPHORE_HANDLE_D3D12_FENCE_KHR, 0x8000_0000_0000_0001, END],
}


@requirement("XM-SEM-019")
def test_semaphore_list_reaches_the_vendor_up_to_its_end(loader: Loader, sandbox: Sandbox) -> None:
    """Whatever a list holds, the vendor gets it up to its terminator, and nothing after that is read."""
    assert LISTS
    assert problems_of_lists(loader, sandbox, CREATE, LISTS) == []


@requirement("XM-SEM-019")
@pytest.mark.parametrize("function", EXTENSION_FUNCTIONS["cl_khr_semaphore"])
def test_semaphore_functions_are_each_platforms_own(loader: Loader, sandbox: Sandbox, function: str) -> None:
    """Each platform that has the function gives its own by address query, beside one that has not."""
    assert problems_of_function(loader, sandbox, function) == []


@requirement("XM-XSM-016")
@pytest.mark.parametrize("extension", ["cl_khr_external_semaphore", "cl_khr_external_semaphore_sync_fd"])
def test_external_semaphore_functions_are_each_platforms_own(loader: Loader, sandbox: Sandbox, extension: str) -> None:
    """Each platform that has the function gives its own by address query, beside one that has not."""
    (function,) = EXTENSION_FUNCTIONS[extension]
    assert problems_of_function(loader, sandbox, function) == []
