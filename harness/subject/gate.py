# SPDX-License-Identifier: Apache-2.0
"""What all checks of an ICD need, asked before any of them runs: a platform with its strings, a device, plain objects.

What is missing is told once, by the check of it; cases that need it are `unsupported`, with that as the reason, and not
red for requirements that they do not get to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.api.codes import CL
from harness.probe import SubjectFailure
from harness.probe.calls import CallFailed
from harness.probe.icd_objects import IcdObjects
from harness.probe.icd_session import IcdSession
from harness.probe.replies import CommandError
from harness.sandbox import Unsupported

CHECK = "test_platform_device_and_plain_objects_can_be_had"  # says what is missing
STRINGS = ("PROFILE", "VERSION", "NAME", "VENDOR", "EXTENSIONS")
CLASSES = ("cl_device_id", "cl_context", "cl_command_queue", "cl_mem", "cl_program", "cl_event")


def missing(open_session: Callable[[], IcdSession]) -> dict[str, str]:
    """By class of object, why none can be had. What the machine lacks, such as a device, is not missing."""
    reasons: dict[str, str] = {}
    if not _reason(open_session, ("cl_platform_id", *CLASSES), reasons):
        return reasons  # all of it in one process
    for kind in ("cl_platform_id", *CLASSES):
        if "cl_platform_id" not in reasons and (reason := _reason(open_session, (kind,), reasons)):
            reasons[kind] = reason
    return reasons


def _reason(open_session: Callable[[], IcdSession], kinds: Sequence[str], reasons: dict[str, str]) -> str:
    """Why there is no object of one of these classes; "" where there is one of each."""
    try:
        with open_session() as session:
            session.gate = reasons
            platforms = session.some_platforms()
            if "cl_platform_id" in kinds:
                _ask_platform(session)
            objects = session.objects(platforms[0])
            if "cl_device_id" in kinds:
                _ask_devices(session, objects)
            for kind in kinds:
                assert objects[kind], f"the {kind} is NULL"
    except Unsupported:
        return ""
    except (AssertionError, SubjectFailure, CommandError) as error:
        return str(error).partition("\n")[0]
    return ""


def _ask_platform(session: IcdSession) -> None:
    for platform in session.some_platforms():
        session.objects(platform)
        session.version(platform)
        for name in STRINGS:
            text = session.GetPlatformInfo(platform, f"CL_PLATFORM_{name}")
            if name != "EXTENSIONS" and not text:
                raise CallFailed(f"CL_PLATFORM_{name} is empty")


def _ask_devices(session: IcdSession, objects: IcdObjects) -> None:
    """A platform may have no device here; that it does not say so is another matter."""
    error = session.call("clGetDeviceIDs", objects.platform, CL.DEVICE_TYPE_ALL, 0, None, session.buffer(4, 0))
    if error not in (CL.SUCCESS, CL.DEVICE_NOT_FOUND):
        raise CallFailed(f"clGetDeviceIDs answered {error}, expected CL_SUCCESS or CL_DEVICE_NOT_FOUND")


def devices(session: IcdSession) -> list[dict[str, str]]:
    """All devices of all platforms: platform, name, the version of OpenCL, and that of the driver."""
    result = []
    for platform in session.platforms():
        objects: IcdObjects = session.objects(platform)
        for device in session.GetDeviceIDs(platform):
            result.append(
                {
                    "platform": str(objects.owner),
                    "name": device_text(session, device, CL.DEVICE_NAME),
                    "version": device_text(session, device, CL.DEVICE_VERSION),
                    "driver": device_text(session, device, CL.DRIVER_VERSION),
                }
            )
    session.platform = None
    return result


def device_text(session: IcdSession, device: object, query: int) -> str:
    """A string of a device."""
    text = session.buffer(1024, 0)
    error = session.call("clGetDeviceInfo", device, query, 1024, text, None)
    return "" if error else str(text.text())
