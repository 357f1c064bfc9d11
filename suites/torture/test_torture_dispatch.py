# SPDX-License-Identifier: Apache-2.0
"""Calls on objects in which one call of the loader for a resource fails: for each of these calls a case (TORT-DSP)."""

from __future__ import annotations

from harness.check import CL, Failure, Loader, Sandbox, Torture, requirement, scenario
from harness.check import answered_in_order as in_order


def dispatch(loader: Loader, sandbox: Sandbox, torture: Torture) -> None:
    """Objects of two vendors are made, used and released, and functions are looked up."""
    sandbox.vendor("plain")
    sandbox.vendor("managed", icd2=loader.has("ICD 2"), extensions="cl_khr_icd clharness_extension")
    with loader.start(sandbox, torture=torture) as cl:
        platforms = cl.GetPlatformIDs()
        assert len(platforms) == 2
        torture.begin()
        for platform in platforms:
            device = cl.GetDeviceIDs(platform)[0]
            error = cl.buffer(4)
            properties = [CL.CONTEXT_PLATFORM, platform, 0]
            context = in_order(cl, "clCreateContext", properties, 1, [device], None, None, error)
            other = in_order(cl, "clCreateContextFromType", properties, CL.DEVICE_TYPE_ALL, None, None, error)
            queue = in_order(cl, "clCreateCommandQueue", context, device, 0, error)
            memory = in_order(cl, "clCreateBuffer", context, 0, 64, None, error)
            event = in_order(cl, "clCreateUserEvent", context, error)
            assert in_order(cl, "clSetUserEventStatus", event, 0) == 0
            assert in_order(cl, "clWaitForEvents", 1, [event]) == 0
            assert in_order(cl, "clFinish", queue) == 0
            objects = {"Event": event, "MemObject": memory, "CommandQueue": queue, "Context": context}
            for name, handle in objects.items():
                assert in_order(cl, f"clRelease{name}", handle) == 0
            assert in_order(cl, "clReleaseContext", other) == 0
            in_order(cl, "clGetExtensionFunctionAddressForPlatform", platform, "clCreateSemaphoreWithPropertiesKHR")
        in_order(cl, "clGetExtensionFunctionAddress", "clIcdGetPlatformIDsKHR")
        assert cl.platform_names() == {"plain", "managed"}


@requirement("TORT-DSP-001", "TORT-DSP-002")
@scenario(dispatch)
def test_calls_succeed_after_one_that_failed_for_want_of_a_resource(
    loader: Loader, sandbox: Sandbox, failure: Failure
) -> None:
    """A call for a resource that fails costs the application one call at most, which succeeds when it is repeated."""
    torture = failure.torture(sandbox, loader.path)
    dispatch(loader, sandbox, torture)
    failure.expect_it_happened(torture)
    failure.expect_nothing_left(torture)
