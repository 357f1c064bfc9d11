# SPDX-License-Identifier: Apache-2.0
"""One object of every class for a platform, made through the loader as an application makes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.api.model import api
from harness.errors import HarnessError
from harness.probe.calls import CallFailed
from harness.probe.values import Value

if TYPE_CHECKING:
    from harness.probe.session import Session

# How each class is made: the class that it is made from, the function, and the arguments between the parent and
# errcode_ret. Functions of OpenCL 1.0 and 1.1 only, so that loaders and vendors of every age can be used.
_MADE = {
    "cl_command_queue": ("cl_context", "clCreateCommandQueue", ("device", 0)),
    "cl_mem": ("cl_context", "clCreateBuffer", (0, 64, None)),
    "cl_sampler": ("cl_context", "clCreateSampler", (0, "CL_ADDRESS_NONE", "CL_FILTER_NEAREST")),
    "cl_program": ("cl_context", "clCreateProgramWithSource", (1, "source", None)),
    "cl_kernel": ("cl_program", "clCreateKernel", ("name",)),
    "cl_event": ("cl_context", "clCreateUserEvent", ()),
}


class Objects:
    """The objects of one platform; each is made when it is first asked for, with what it needs.

    `owner` is the platform's name: the mock ICD that its objects belong to.
    """

    def __init__(self, session: Session, platform: Value) -> None:
        self.session = session
        self.owner = session.GetPlatformInfo(platform)
        self._made: dict[str, Value] = {"cl_platform_id": platform}

    def __getitem__(self, handle: str) -> Value:
        """The object of a class, by its C type: objects["cl_context"]."""
        if handle not in self._made:
            self._made[handle] = self._make(handle)
        return self._made[handle]

    def __contains__(self, handle: str) -> bool:
        return handle in _MADE or handle in ("cl_platform_id", "cl_device_id", "cl_context")

    def by_type(self) -> dict[str, Value]:
        """What has been made so far, by its C type."""
        return dict(self._made)

    @property
    def platform(self) -> Value:
        """The vendor's platform."""
        return self["cl_platform_id"]

    @property
    def device(self) -> Value:
        """The vendor's first device."""
        return self["cl_device_id"]

    @property
    def context(self) -> Value:
        """The vendor's context."""
        return self["cl_context"]

    @property
    def queue(self) -> Value:
        """The vendor's command queue."""
        return self["cl_command_queue"]

    @property
    def mem(self) -> Value:
        """The vendor's memory object."""
        return self["cl_mem"]

    @property
    def sampler(self) -> Value:
        """The vendor's sampler."""
        return self["cl_sampler"]

    @property
    def program(self) -> Value:
        """The vendor's program."""
        return self["cl_program"]

    @property
    def kernel(self) -> Value:
        """The vendor's kernel."""
        return self["cl_kernel"]

    @property
    def event(self) -> Value:
        """The vendor's event."""
        return self["cl_event"]

    def forget(self, handle: str) -> Value | None:
        """The next one asked for is a new one; gives the old one, for `remember`."""
        return self._made.pop(handle, None)

    def remember(self, handle: str, value: Value | None) -> None:
        """This is the one that is given from now on; None: the next one asked for is a new one."""
        self._made.pop(handle, None)
        if value is not None:
            self._made[handle] = value

    def _make(self, handle: str) -> Value:
        cl = self.session
        if handle == "cl_device_id":
            devices = cl.GetDeviceIDs(self.platform)
            if not devices:
                raise CallFailed(f"clGetDeviceIDs answered no device for the platform {self.owner}, expected one")
            return devices[0]
        if handle == "cl_context":
            properties = [api().constant("CL_CONTEXT_PLATFORM"), self.platform, 0]
            error, context = cl.CreateContext(properties, [self.device])
            return self._checked("clCreateContext", error, context)
        if handle not in _MADE:
            raise HarnessError(f"no way is known to make a {handle}")
        parent, function, arguments = _MADE[handle]
        code = cl.buffer(4)
        value = cl.call_for(code, function, self[parent], *[self._argument(a) for a in arguments], code)
        assert isinstance(value, Value)
        return self._checked(function, code.code(), value)

    def _argument(self, argument: object) -> object:
        if argument == "device":
            return self.device
        if argument == "source":
            return [self.session.data(b"kernel void name() {}\0")]
        if isinstance(argument, str) and argument.startswith("CL_"):
            return api().constant(argument)
        return argument

    def _checked(self, function: str, error: int, value: Value) -> Value:
        if error or not value:
            raise CallFailed(f"{function} for platform {self.owner} answered {value:#x} and the error {error}")
        return value
