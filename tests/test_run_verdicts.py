# SPDX-License-Identifier: Apache-2.0
"""What is not the subject's doing is none of its verdicts, and the other way round: a check that cannot go on because
the subject lists too little, and a machine that is prepared in an unusual way.
"""

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


REMOVED = """
@requirement("DISC-LNX-014")
@pytest.mark.parametrize("starts", [True, False])
def test_removed(loader, sandbox, starts):
    \"\"\"What the first session has left is what the second one finds.\"\"\"
    if starts:
        with loader.start(sandbox) as cl:
            assert cl.clGetPlatformIDs(0, None, None) == CL.PLATFORM_NOT_FOUND_KHR
    sandbox.vendors.rmdir()
    sandbox.vendor_file("a.icd", "x")
"""


def test_sandbox_that_the_subject_has_cleared_is_its_failure(small: SmallRun) -> None:
    """That the next session cannot be prepared is not the harness's own trouble, unless no subject has run."""
    small.suite(REMOVED)
    done = small.run("-j", "1")
    red, control = (done.cases[f"test_removed[{starts}]"] for starts in (True, False))
    assert red["verdict"] == "fail"
    assert "the folder of vendors was removed from the sandbox, by what ran in it: [Errno 2] " in red["message"]
    assert control["verdict"] == "error"


OPEN_TO_OTHERS = """
@requirement("DISC-LNX-014")
def test_open_to_others(loader, sandbox):
    \"\"\"Whatever is made in its sandbox can be read by an ordinary user of the case.\"\"\"
    folder, library = sandbox.folder("folder"), sandbox.icd("b").path
    made = [sandbox.vendor_file("a.icd", "x"), folder, sandbox.file("file", b""), library]
    assert all(path.stat().st_mode & 0o444 == 0o444 for path in made)
"""


@pytest.mark.parametrize("mask", [0o077, 0o777, 0])
def test_mask_of_the_caller_is_for_the_caller_s_files(small: SmallRun, mask: int) -> None:
    """As of an administrator whose shell closes new files to everybody else."""
    small.suite(OPEN_TO_OTHERS)
    done = small.end(small.start("-j", "1", umask=mask))
    assert done.cases["test_open_to_others"]["verdict"] == "pass", done.output
    assert small.records.stat().st_mode & 0o777 == 0o666 & ~mask
