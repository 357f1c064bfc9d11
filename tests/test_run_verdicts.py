# SPDX-License-Identifier: Apache-2.0
"""What a check cannot do because its subject lists too little is the subject's failure, not the harness's trouble."""

from __future__ import annotations

import pytest

from tests.small_runs import SmallRun

# The loader under test lists no platform.
CHECK = '''
@requirement("DISC-LNX-014")
@pytest.mark.parametrize("vendors", [2, 0])
def test_needs_platforms(loader, sandbox, vendors):
    """It lists what there is."""
    for number in range(vendors):
        sandbox.vendor(f"v{number}")
    with loader.start(sandbox) as cl:
        platforms = cl.GetPlatformIDs()
        {statement}
    assert platforms
'''


@pytest.mark.parametrize(
    "statement",
    [
        "platforms[0]",
        "a, b = platforms",
        "next(p for p in platforms)",
        "{p: p for p in platforms}['a']",
        "1 // len(platforms)",
    ],
)
def test_check_without_the_platforms_that_it_needs_fails(small: SmallRun, statement: str) -> None:
    small.suite(CHECK.replace("{statement}", statement))
    done = small.run("-j", "1")
    red, control = (done.cases[f"test_needs_platforms[{vendors}]"] for vendors in (2, 0))
    assert red["verdict"] == "fail"
    assert "0 of the 2 platforms in the sandbox were listed, and the check needs more: " in red["message"]
    assert statement in red["message"]
    assert control["verdict"] == "error", "where none can be listed, the check itself is wrong"
