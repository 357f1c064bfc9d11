"""External memory, semaphores and command buffers: their functions, for which loaders have no entry, and their names.

An application asks a platform for the address of each function. The numbers stand here because older OpenCL-Headers
lack some of them (OpenCL-Docs, xml/cl.xml).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.api.model import api
from harness.probe.convenience import CallFailed
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

MEM_DEVICE_HANDLE_LIST = 0x2051
SEMAPHORE_DEVICE_HANDLE_LIST = 0x2053  # in revision 0.9.0 of cl_khr_semaphore it was that of memory
SEMAPHORE_TYPE = 0x203D
SEMAPHORE_TYPE_BINARY = 1
SEMAPHORE_EXPORT_HANDLE_TYPES = 0x203F
COMMAND_BUFFER_FLAGS = 0x1293

# Handle types of memory and of semaphores, and the extension that each comes with.
OPAQUE_FD, DMA_BUF = 0x2060, 0x2067
MEMORY_HANDLE_TYPES = {
    OPAQUE_FD: "cl_khr_external_memory_opaque_fd",
    0x2061: "cl_khr_external_memory_win32",  # an NT handle
    0x2062: "cl_khr_external_memory_win32",  # a KMT handle
    DMA_BUF: "cl_khr_external_memory_dma_buf",
    0x2069: "cl_khr_external_memory_win32",  # a name
    0x2070: "cl_khr_external_memory_android_hardware_buffer",
}
SEMAPHORE_OPAQUE_FD, SEMAPHORE_SYNC_FD = 0x2055, 0x2058
SEMAPHORE_HANDLE_TYPES = {
    SEMAPHORE_OPAQUE_FD: "cl_khr_external_semaphore_opaque_fd",
    0x2056: "cl_khr_external_semaphore_win32",
    0x2057: "cl_khr_external_semaphore_win32",
    SEMAPHORE_SYNC_FD: "cl_khr_external_semaphore_sync_fd",
    0x2059: "cl_khr_external_semaphore_dx_fence",
    0x2068: "cl_khr_external_semaphore_win32",
}

PLATFORM_MEMORY_TYPES, DEVICE_MEMORY_TYPES, DEVICE_LINEAR_TYPES = 0x2044, 0x204F, 0x2052
PLATFORM_SEMAPHORE_TYPES, DEVICE_SEMAPHORE_TYPES = 0x2036, 0x204C
PLATFORM_IMPORT_TYPES, DEVICE_IMPORT_TYPES = 0x2037, 0x204D
PLATFORM_EXPORT_TYPES, DEVICE_EXPORT_TYPES = 0x2038, 0x204E


def function_of(session: Session, platform: Value, name: str) -> Value:
    """What a platform answers as the address of a function; 0 for none."""
    found = session.call("clGetExtensionFunctionAddressForPlatform", platform, name)
    assert isinstance(found, Value)
    return found


def extensions(session: Session, handle: Value, kind: str = "Device") -> set[str]:
    """The extensions that a device names, or a "Platform". Raises CallFailed where it does not answer."""
    function = f"clGet{kind}Info"
    query = api().constant(f"CL_{kind.upper()}_EXTENSIONS")
    size = session.buffer(8, 0)
    error = session.call(function, handle, query, 0, None, size)
    text = session.buffer(max(size.u64(), 1), 0)
    error = error or session.call(function, handle, query, size.u64(), text, None)
    if error:
        raise CallFailed(f"{function} answered {error} to the query of its extensions, expected CL_SUCCESS")
    return set(text.text().split())
