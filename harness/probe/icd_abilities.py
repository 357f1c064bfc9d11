# SPDX-License-Identifier: Apache-2.0
"""What a device says that it can do: whether it may refuse a proper call as one that it does not have.

Which functions are optional, and what for, is in `needs` of harness/api/contract/calls.toml. A device that says that it
has what a function is for has to do what a proper call of it asks; one that has not may answer CL_INVALID_OPERATION.
"""

from __future__ import annotations

from typing import Protocol

from harness.api.codes import CL
from harness.api.contract.calls import needs_of
from harness.api.contract.slots import slots
from harness.api.model import api
from harness.probe.session import Session
from harness.probe.values import Value

ROOM = 256  # bytes, for any of the answers

# Queries whose answer is not 0, or not empty, where the device has it; and since when it can be asked.
_QUERIES = {
    "images": ("CL_DEVICE_IMAGE_SUPPORT", (1, 0)),
    "svm": ("CL_DEVICE_SVM_CAPABILITIES", (2, 0)),
    "pipes": ("CL_DEVICE_PIPE_SUPPORT", (3, 0)),
    "il": ("CL_DEVICE_IL_VERSION", (2, 1)),
    "sub_groups": ("CL_DEVICE_MAX_NUM_SUB_GROUPS", (2, 1)),
    "timers": ("CL_PLATFORM_HOST_TIMER_RESOLUTION", (2, 1)),
}
_NATIVE = "clEnqueueNativeKernel"


class Objects(Protocol):
    """What is asked of the objects of a platform."""

    session: Session

    @property
    def platform(self) -> Value:
        """The platform."""

    @property
    def device(self) -> Value:
        """The device that objects are made for."""

    def version(self) -> tuple[int, int]:
        """The version of OpenCL that the platform reports."""


def is_promised(objects: Objects, function: str) -> bool:
    """Whether the device has to do what a function of the core is for. What no query tells is not promised, and
    functions of extensions say for themselves what is optional of them.
    """
    if function not in slots() or api().functions[function].slot is None:
        return False
    needs = needs_of(function)
    if function == _NATIVE:
        return bool(_number(objects, "CL_DEVICE_EXECUTION_CAPABILITIES") & CL.EXEC_NATIVE_KERNEL)
    if "sub_devices" in needs:
        answer, width = _answer(objects, "CL_DEVICE_PARTITION_PROPERTIES"), api().address  # of an intptr_t
        kinds = [answer[i : i + width] for i in range(0, len(answer), width)]
        return api().constant("CL_DEVICE_PARTITION_EQUALLY").to_bytes(width, "little") in kinds
    for need in needs:
        query, since = _QUERIES.get(need, ("", (99, 0)))
        if objects.version() < since or not _number(objects, query):
            return False
    return True


def _answer(objects: Objects, query: str) -> bytes:
    room, size = objects.session.buffer(ROOM, 0), objects.session.room(1, 0)
    of_platform = query.startswith("CL_PLATFORM_")
    function, handle = ("clGetPlatformInfo", objects.platform) if of_platform else ("clGetDeviceInfo", objects.device)
    error = objects.session.call(function, handle, api().constant(query), ROOM, room, size)
    return b"" if error else room.bytes()[: size.word()]


def _number(objects: Objects, query: str) -> int:
    return int.from_bytes(_answer(objects, query), "little")
