# SPDX-License-Identifier: Apache-2.0
"""External memory, semaphores and command buffers: their functions, for which loaders have no entry, and their handles.

An application asks a platform for the address of each function.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from harness.api.codes import CL
from harness.api.model import api
from harness.probe.calls import CallFailed
from harness.probe.values import Value

if TYPE_CHECKING:
    from harness.probe.session import Session

FUNCTIONS = {
    "cl_khr_external_memory": ("clEnqueueAcquireExternalMemObjectsKHR", "clEnqueueReleaseExternalMemObjectsKHR"),
    "cl_khr_semaphore": (
        "clCreateSemaphoreWithPropertiesKHR",
        "clEnqueueWaitSemaphoresKHR",
        "clEnqueueSignalSemaphoresKHR",
        "clGetSemaphoreInfoKHR",
        "clRetainSemaphoreKHR",
        "clReleaseSemaphoreKHR",
    ),
    "cl_khr_external_semaphore": ("clGetSemaphoreHandleForTypeKHR",),
    "cl_khr_external_semaphore_sync_fd": ("clReImportSemaphoreSyncFdKHR",),
    "cl_khr_command_buffer": (
        "clCreateCommandBufferKHR",
        "clFinalizeCommandBufferKHR",
        "clRetainCommandBufferKHR",
        "clReleaseCommandBufferKHR",
        "clEnqueueCommandBufferKHR",
        "clCommandBarrierWithWaitListKHR",
        "clCommandCopyBufferKHR",
        "clCommandCopyBufferRectKHR",
        "clCommandCopyBufferToImageKHR",
        "clCommandCopyImageKHR",
        "clCommandCopyImageToBufferKHR",
        "clCommandFillBufferKHR",
        "clCommandFillImageKHR",
        "clCommandNDRangeKernelKHR",
        "clGetCommandBufferInfoKHR",
    ),
    "cl_khr_command_buffer_mutable_dispatch": ("clUpdateMutableCommandsKHR", "clGetMutableCommandInfoKHR"),
}


@cache
def memory_handle_types() -> dict[int, str]:
    """The types of handles to external memory, with the extension that each comes with."""
    return {
        CL.EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR: "cl_khr_external_memory_opaque_fd",
        CL.EXTERNAL_MEMORY_HANDLE_OPAQUE_WIN32_KHR: "cl_khr_external_memory_win32",
        CL.EXTERNAL_MEMORY_HANDLE_OPAQUE_WIN32_KMT_KHR: "cl_khr_external_memory_win32",
        CL.EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR: "cl_khr_external_memory_dma_buf",
        CL.EXTERNAL_MEMORY_HANDLE_OPAQUE_WIN32_NAME_KHR: "cl_khr_external_memory_win32",
        CL.EXTERNAL_MEMORY_HANDLE_ANDROID_HARDWARE_BUFFER_KHR: "cl_khr_external_memory_android_hardware_buffer",
    }


@cache
def semaphore_handle_types() -> dict[int, str]:
    """The types of handles to semaphores, with the extension that each comes with."""
    return {
        CL.SEMAPHORE_HANDLE_OPAQUE_FD_KHR: "cl_khr_external_semaphore_opaque_fd",
        CL.SEMAPHORE_HANDLE_OPAQUE_WIN32_KHR: "cl_khr_external_semaphore_win32",
        CL.SEMAPHORE_HANDLE_OPAQUE_WIN32_KMT_KHR: "cl_khr_external_semaphore_win32",
        CL.SEMAPHORE_HANDLE_SYNC_FD_KHR: "cl_khr_external_semaphore_sync_fd",
        CL.SEMAPHORE_HANDLE_D3D12_FENCE_KHR: "cl_khr_external_semaphore_dx_fence",
        CL.SEMAPHORE_HANDLE_OPAQUE_WIN32_NAME_KHR: "cl_khr_external_semaphore_win32",
    }


def function_of(session: Session, platform: Value, name: str) -> Value:
    """What a platform answers as the address of a function; 0 for none."""
    address = session.call("clGetExtensionFunctionAddressForPlatform", platform, name)
    assert isinstance(address, Value)
    return address


def extensions(session: Session, handle: Value, kind: str = "Device") -> set[str]:
    """The extensions that a device names, or a "Platform". Raises CallFailed where it does not answer."""
    function = f"clGet{kind}Info"
    query = api().constant(f"CL_{kind.upper()}_EXTENSIONS")
    size = session.room(1, 0)
    error = session.call(function, handle, query, 0, None, size)
    text = session.buffer(max(size.word(), 1), 0)
    error = error or session.call(function, handle, query, size.word(), text, None)
    if error:
        raise CallFailed(f"{function} answered {error} to the query of its extensions, expected CL_SUCCESS")
    return set(text.text().split())
