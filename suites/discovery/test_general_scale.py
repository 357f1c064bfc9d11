# SPDX-License-Identifier: Apache-2.0
"""Many vendors, many platforms: all are found, and each is usable (DISC-GEN-001)."""

from __future__ import annotations

import pytest

from harness.check import Loader, Sandbox, Unsupported, build, requirement


@requirement("DISC-GEN-001")
@pytest.mark.parametrize(("vendors", "platforms"), [(100, 1), (1000, 1), (10, 64), (40, 64)])
def test_every_platform_of_many_vendors_is_listed_once(
    loader: Loader, sandbox: Sandbox, vendors: int, platforms: int
) -> None:
    """Every platform of every vendor is listed once, and the first, the last and one in between are usable."""
    if vendors > 100 and build().bits < 64:
        raise Unsupported("machine", f"{vendors} mock ICDs do not fit into addresses of {build().bits} bits")
    if build().windows:
        vendors = min(vendors, 250)  # Wine takes tens of milliseconds for a library
    sandbox.forget_log(64 << 20)  # a loader may ask each platform for everything
    names = [f"v{i}" for i in range(vendors)]
    for name in names:
        sandbox.vendor(name, platforms=platforms)
    with loader.start(sandbox, time_limit=60) as cl:
        listed = cl.GetPlatformIDs()
        assert len(set(listed)) == len(listed) == vendors * platforms
        sample = [listed[0], listed[len(listed) // 2], listed[-1]]
        assert len({cl.GetPlatformInfo(platform) for platform in sample}) == 3
    assert {event.who for event in sandbox.log.happened("loaded")} == set(names)
