# SPDX-License-Identifier: Apache-2.0
"""What all other checks of an ICD need (API-ARG): where it is missing, this says so once for all of them."""

from __future__ import annotations

from harness.check import Icd, Sandbox, Unsupported, requirement


@requirement("API-ARG-002")
def test_platform_device_and_plain_objects_can_be_had(icd: Icd, sandbox: Sandbox) -> None:
    """A platform with its strings, a device, and with plain arguments a context, queue, buffer, program and event."""
    with icd.open(sandbox) as session:
        session.gate = {}
        if not session.platforms():
            raise Unsupported("machine", "this ICD has no platform on this machine")
    missing = icd.missing()
    assert not missing, "; ".join(missing.values())
