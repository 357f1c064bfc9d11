# SPDX-License-Identifier: Apache-2.0
"""Calls of a probe in the form that a check reads best; each is made of the plain calls."""

from __future__ import annotations

from typing import Any

from harness.api.codes import CL, Code
from harness.api.model import api
from harness.probe.process_calls import ProcessCalls
from harness.probe.values import Buffer, Names, Value

MAX_OBJECTS = 1 << 16  # platforms, or devices, in one list
MAX_TEXT = 16 << 20  # bytes of a string


class CallFailed(AssertionError):
    """A call that a check relies on answered an error."""


class Convenience(ProcessCalls):
    """Calls in the form that a check reads best."""

    platforms_listed: int | None = None  # how many platforms there were when a list of them was asked for last

    # --- OpenCL ---

    def platform_count(self) -> int:
        """The count that clGetPlatformIDs reports; 0 when there is no platform."""
        count = self.buffer(4)
        result = self.call("clGetPlatformIDs", 0, None, count)
        if result == CL.PLATFORM_NOT_FOUND_KHR:
            return 0
        if result:
            raise CallFailed(f"clGetPlatformIDs(0, NULL, &count) answered {result}, expected CL_SUCCESS")
        return count.u32()

    def _list_of(self, function: str, count: int) -> Buffer:
        """Memory for a list of handles. Raises CallFailed for a count that cannot be meant."""
        if count > MAX_OBJECTS:
            raise CallFailed(f"{function} answered a count of {count}, expected no more than {MAX_OBJECTS}")
        return self.room(count, 0)

    def GetPlatformIDs(self) -> list[Value]:
        """All platforms in the loader's order; an empty list when there is none."""
        count = self.platforms_listed = self.platform_count()
        if count == 0:
            return []
        platforms = self._list_of("clGetPlatformIDs", count)
        result = self.call("clGetPlatformIDs", count, platforms, None)
        if result:
            raise CallFailed(f"clGetPlatformIDs({count}, platforms, NULL) answered {result} after a count of {count}")
        return platforms.handles()

    def GetPlatformInfo(self, platform: Value, query: str = "CL_PLATFORM_NAME") -> str:
        """A string of a platform."""
        size = self.room(1, 0)
        constant = api().constant(query)
        result = self.call("clGetPlatformInfo", platform, constant, 0, None, size)
        if result:
            raise CallFailed(f"clGetPlatformInfo({query}) answered {result} to the size query")
        length = size.word()
        if length > MAX_TEXT:
            raise CallFailed(f"clGetPlatformInfo({query}) answered a size of {length}, expected at most {MAX_TEXT}")
        text = self.buffer(length)
        result = self.call("clGetPlatformInfo", platform, constant, length, text, None)
        if result:
            raise CallFailed(f"clGetPlatformInfo({query}) answered {result}")
        return text.text()

    def platform_names(self) -> Names:
        """Names of all platforms, asked through the loader: each name comes from the mock that it belongs to."""
        return Names(self.GetPlatformInfo(platform) for platform in self.GetPlatformIDs())

    def used_platforms(self) -> Names:
        """Names of all platforms, each of them used as an application does: information, devices, and back."""
        names = Names()
        for platform in self.GetPlatformIDs():
            names.append(self.GetPlatformInfo(platform))
            for about in ("PROFILE", "VERSION", "VENDOR", "EXTENSIONS"):
                self.GetPlatformInfo(platform, f"CL_PLATFORM_{about}")
            for device in self.GetDeviceIDs(platform):
                owner = self.room(1, 0)
                query = api().constant("CL_DEVICE_PLATFORM")
                result = self.call("clGetDeviceInfo", device, query, owner.size, owner, None)
                if result or owner.word() != platform:
                    raise CallFailed(f"a device of platform {names[-1]} names another platform ({result})")
        return names

    def vendor_function(self, name: str) -> str | None:
        """Asks the loader for a vendor's function and calls it; gives the mock that answered, None without address."""
        address = self.GetExtensionFunctionAddress(name)
        if not address:
            return None
        answer = self.call_at(address, "clGetExtensionFunctionAddress", None)
        assert isinstance(answer, Value)
        return self.text_at(answer)

    def text_at(self, address: Value) -> str:
        """The C string at an address, as far as it is shorter than 64 bytes."""
        return bytes.fromhex(self.command(f"read {address.token} 64")).split(b"\0")[0].decode(errors="replace")

    def GetDeviceIDs(self, platform: Value, kind: str = "CL_DEVICE_TYPE_ALL") -> list[Value]:
        """Devices of a platform; an empty list when there is none."""
        count = self.buffer(4, 0)
        constant = api().constant(kind)
        if self.call("clGetDeviceIDs", platform, constant, 0, None, count) or not count.u32():
            return []
        devices = self._list_of("clGetDeviceIDs", count.u32())
        result = self.call("clGetDeviceIDs", platform, constant, count.u32(), devices, None)
        if result:
            raise CallFailed(f"clGetDeviceIDs answered {result} after a count")
        return devices.handles()

    def CreateContext(self, properties: list[Any] | None, devices: list[Value]) -> tuple[Code, Value]:
        """The error code and the context."""
        error = self.buffer(4)
        context = self.call("clCreateContext", properties, len(devices), list(devices) or None, None, None, error)
        assert isinstance(context, Value)
        return error.code(), context

    def GetExtensionFunctionAddress(self, name: str) -> Value:
        """The address that the loader gives for a function's name; 0 for none."""
        address = self.call("clGetExtensionFunctionAddress", name)
        assert isinstance(address, Value)
        return address
