# SPDX-License-Identifier: Apache-2.0
"""Semaphores from outside OpenCL that a vendor's ICD imports."""

from __future__ import annotations

import os
import stat
import struct

from harness.api.codes import CL
from harness.check.icd.external import UUID_SIZE, Semaphores
from harness.check.icd.platform import Platform
from harness.probe.calls import CallFailed
from harness.probe.icd_session import IcdSession
from harness.probe.session import CommandError
from harness.probe.values import Value
from harness.sandbox import Unsupported

VULKAN_TYPES = {
    CL.SEMAPHORE_HANDLE_OPAQUE_FD_KHR: 0x1,
    CL.SEMAPHORE_HANDLE_SYNC_FD_KHR: 0x8,
}  # VkExternalSemaphoreHandleTypeFlagBits
MAGIC = 0x6572616870616D73  # of the mock ICD (mock_icds/external/payloads.c)


class OutsideSemaphore:
    """A binary semaphore that OpenCL did not make.

    It is Vulkan's where that has the same device, else two words of shared memory, which the mock ICD takes alone.
    """

    def __init__(self, platform: Platform, device: Value, kind: int) -> None:
        self.session = platform.session
        self.without_vulkan = self._ask_vulkan(platform, device, kind)
        if self.without_vulkan:
            self._fd = self.session.descriptor("memory 16")
            self._file = own_file(self.session, self._fd)
            os.pwrite(self._file, struct.pack("<QQ", MAGIC, 0), 0)

    def _ask_vulkan(self, platform: Platform, device: Value, kind: int) -> str:
        """Makes it there; gives the reason why not."""
        error, uuid = platform.answer("clGetDeviceInfo", device, CL.DEVICE_UUID_KHR)
        if error or len(uuid) != UUID_SIZE:
            return "the device has no UUID"
        try:
            self.session.vulkan(f"open {uuid.hex()}")
            self.session.vulkan(f"semaphore {VULKAN_TYPES[kind]}")
        except CommandError as refused:
            return str(refused).rpartition(": ")[2]
        return ""

    def descriptor(self) -> Value:
        """A new one, which an import takes over. One of a sync payload can be had once a signal is submitted."""
        if self.without_vulkan:
            return self.session.descriptor(f"copy {self._fd.token} -1")
        return self.session.vulkan("semaphore-export")

    def signal(self) -> None:
        """Submits a signal, which is carried out once it is released."""
        if not self.without_vulkan:
            self.session.vulkan("semaphore-signal")

    def release(self) -> None:
        """Signals the semaphore from outside OpenCL."""
        if self.without_vulkan:
            os.pwrite(self._file, struct.pack("<Q", 1), 8)
        else:
            self.session.vulkan("semaphore-release")

    def wait(self) -> None:
        """Waits for it as a device does, which leaves it unsignalled. The case hangs where nobody has signalled it."""
        if not self.without_vulkan:
            self.session.vulkan("semaphore-wait")
            return
        (payload,) = struct.unpack("<Q", os.pread(self._file, 8, 8))
        assert payload == 1, "the semaphore outside OpenCL is not signalled"
        os.pwrite(self._file, bytes(8), 8)


def own_file(session: IcdSession, fd: Value) -> int:
    """A descriptor of the harness's own for memory that the probe has a descriptor of."""
    place = f"/proc/{session.pid}/fd/{int(fd)}"
    assert stat.S_ISREG(os.stat(place).st_mode), f"descriptor {int(fd)} is not the memory any more"
    return os.open(place, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)


def from_outside(semaphores: Semaphores, kind: int, *, signalled: bool = False) -> tuple[OutsideSemaphore, Value]:
    """A semaphore outside OpenCL, and what it is imported as.

    signalled: a signal is submitted before, and not released. Makes the case `unsupported` where this machine has
    none of the kind that the ICD takes; raises CallFailed where it refuses one of its own device's, made by Vulkan.
    """
    outside = OutsideSemaphore(semaphores.platform, semaphores.device, kind)
    if signalled:
        outside.signal()
    error, semaphore = semaphores.create(*semaphores.required(), kind, outside.descriptor())
    if error and outside.without_vulkan:
        raise Unsupported("machine", f"no semaphore is here that this ICD could import: {outside.without_vulkan}")
    if error:
        raise CallFailed(f"the import of a semaphore that Vulkan exports answered {error}, expected CL_SUCCESS")
    return outside, semaphore
