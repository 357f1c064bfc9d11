# SPDX-License-Identifier: Apache-2.0
"""What an ICD lists without a loader, asked once: what loaders hand out is compared with it."""

from __future__ import annotations

import functools

from harness.api.model import api
from harness.probe.calls import CallFailed
from harness.probe.session import Session
from harness.probe.values import Value
from harness.sandbox import Sandbox
from harness.subject.icd import Icd


@functools.cache
def platforms_with_devices(icd: Icd) -> list[tuple[str, list[str]]]:
    """The names of all its platforms, each with those of its devices, as it answers them without a loader.

    Makes the case `unsupported` where it has no platform on this machine.
    """
    sandbox = Sandbox()
    try:
        with icd.open(sandbox) as session:
            result = []
            for platform in session.some_platforms():
                session.platform = platform
                names = [_name(session, device) for device in session.GetDeviceIDs(platform)]
                result.append((session.GetPlatformInfo(platform), names))
            return result
    finally:
        sandbox.close()


def _name(session: Session, device: Value) -> str:
    text = session.buffer(256, 0)
    error = session.call("clGetDeviceInfo", device, api().constant("CL_DEVICE_NAME"), 256, text, None)
    if error:
        raise CallFailed(f"clGetDeviceInfo answered {error} to the query of a device's name, expected CL_SUCCESS")
    return text.text()
