# SPDX-License-Identifier: Apache-2.0
"""The end of the loader where one of its calls for a resource fails: for each of these calls a case (TORT-END)."""

from __future__ import annotations

from harness.check import Failure, Loader, Sandbox, Torture, requirement, scenario
from harness.check import answered_in_order as in_order


def unload(loader: Loader, sandbox: Sandbox, torture: Torture) -> None:
    """The loader is unloaded, and used once more after it was loaded again."""
    sandbox.vendor("kept")
    sandbox.vendor("unloadable", extensions="cl_khr_icd cl_khr_icd_unloadable", unloadable=True)
    if loader.has("OPENCL_LAYERS"):
        sandbox.env["OPENCL_LAYERS"] = str(sandbox.layer("layer"))
    with loader.start(sandbox, late=True, torture=torture) as cl:
        cl.open()
        assert cl.used_platforms() == {"kept", "unloadable"}
        torture.begin()
        cl.close()
        cl.open()
        in_order(cl, "clGetPlatformIDs", 0, None, cl.buffer(4))
        assert set(cl.used_platforms()) <= {"kept", "unloadable"}


@requirement("TORT-END-001", "TORT-END-002")
@scenario(unload)
def test_loader_can_be_unloaded_and_loaded_again_where_a_call_fails(
    loader: Loader, sandbox: Sandbox, failure: Failure
) -> None:
    """A call for a resource that fails in deinitialisation, or in the discovery after it, costs no more than that."""
    torture = failure.torture(sandbox, loader.path)
    unload(loader, sandbox, torture)
    failure.expect_it_happened(torture)
    failure.expect_nothing_left(torture)
