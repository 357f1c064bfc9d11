# SPDX-License-Identifier: Apache-2.0
"""Discovery in which one call of the loader for a resource fails: for each of these calls a case (TORT-DSC)."""

from __future__ import annotations

from harness.check import Failure, Loader, Sandbox, Session, Torture, requirement, scenario
from harness.check import answered_in_order as in_order


def listed(cl: Session) -> set[str]:
    """The platforms, each of them used. The first call may fail for want of memory."""
    in_order(cl, "clGetPlatformIDs", 0, None, cl.buffer(4))
    names = cl.used_platforms()
    for platform in cl.GetPlatformIDs():
        devices = cl.GetDeviceIDs(platform)
        context = in_order(cl, "clCreateContext", None, 1, devices[:1], None, None, cl.buffer(4))
        assert in_order(cl, "clReleaseContext", context) == 0
    assert len(set(names)) == len(names)
    return set(names)


def discover(loader: Loader, sandbox: Sandbox, torture: Torture) -> set[str]:
    """The platforms that the application has after discovery."""
    sandbox.vendor("first")
    sandbox.vendor("second", icd2=loader.has("ICD 2"))
    if loader.has("OCL_ICD_FILENAMES"):
        sandbox.env["OCL_ICD_FILENAMES"] = str(sandbox.icd("listed"))
    with loader.start(sandbox, torture=torture) as cl:
        names = listed(cl)
        assert listed(cl) >= names
        return names


@requirement("TORT-DSC-001", "TORT-DSC-002", "TORT-DSC-003", "TORT-DSC-004")
@scenario(discover)
def test_discovery_goes_on_where_a_call_fails(loader: Loader, sandbox: Sandbox, failure: Failure) -> None:
    """A call for a resource that fails in discovery costs what depends on it; the rest works, and nothing is left."""
    torture = failure.torture(sandbox, loader.path)
    names = discover(loader, sandbox, torture)
    everyone = {"first", "second"} | ({"listed"} if loader.has("OCL_ICD_FILENAMES") else set())
    assert names <= everyone
    if failure.call is None:
        assert names == everyone
    elif failure.call.function == "dlopen":
        assert len(names) >= len(everyone) - 1
    elif len(everyone) > 2:
        assert names
    failure.expect_it_happened(torture)
    failure.expect_nothing_left(torture)
