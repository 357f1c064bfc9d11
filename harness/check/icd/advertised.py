"""What an ICD advertises, asked once: a case about an extension that nobody has needs no process of its own."""

from __future__ import annotations

import functools

from harness.api.model import api
from harness.probe import SubjectFailure
from harness.probe.convenience import CallFailed
from harness.probe.session import CommandError, Session
from harness.probe.values import Value
from harness.sandbox import Sandbox, Unsupported
from harness.subject.icd import Icd


def extensions(session: Session, handle: Value, kind: str = "Device") -> set[str]:
    """The extensions that a device names, or a "Platform"."""
    function = f"clGet{kind}Info"
    query = api().constant(f"CL_{kind.upper()}_EXTENSIONS")
    size = session.buffer(8, 0)
    error = session.call(function, handle, query, 0, None, size)
    text = session.buffer(max(size.u64(), 1), 0)
    error = error or session.call(function, handle, query, size.u64(), text, None)
    if error:
        raise CallFailed(f"{function} answered {error} to the query of its extensions, expected CL_SUCCESS")
    return set(text.text().split())


@functools.cache
def advertised(icd: Icd) -> frozenset[str] | None:
    """The extensions of all its platforms and devices; None where it does not say: its cases find out why."""
    sandbox = Sandbox()
    found: set[str] = set()
    try:
        with icd.open(sandbox) as session:
            for platform in session.platforms():
                session.platform = platform
                found |= extensions(session, platform, "Platform")
                for device in session.GetDeviceIDs(platform):
                    found |= extensions(session, device)
                session.platform = None
    except (SubjectFailure, CommandError, CallFailed, Unsupported):
        return None
    finally:
        sandbox.close()
    return frozenset(found)


@functools.cache
def platforms_with_devices(icd: Icd) -> list[tuple[str, list[str]]]:
    """The names of all its platforms, each with those of its devices, as it answers them without a loader.

    Makes the case `unsupported` where it has no platform on this machine.
    """
    sandbox = Sandbox()
    try:
        with icd.open(sandbox) as session:
            found = []
            for platform in session.some_platforms():
                session.platform = platform
                names = [_name(session, device) for device in session.GetDeviceIDs(platform)]
                found.append((session.GetPlatformInfo(platform), names))
            return found
    finally:
        sandbox.close()


def _name(session: Session, device: Value) -> str:
    text = session.buffer(256, 0)
    error = session.call("clGetDeviceInfo", device, api().constant("CL_DEVICE_NAME"), 256, text, None)
    if error:
        raise CallFailed(f"clGetDeviceInfo answered {error} to the query of a device's name, expected CL_SUCCESS")
    return text.text()


def require(icd: Icd, extension: str) -> None:
    """Makes the case `unsupported` where the ICD advertises the extension nowhere."""
    known = advertised(icd)
    if known is not None and extension not in known:
        raise Unsupported("loader", f"this ICD does not advertise {extension}", extension)
