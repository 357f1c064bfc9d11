# SPDX-License-Identifier: Apache-2.0
"""What a loader shows a sign of works: a broken variable or interface does not look like a missing one (DISC-GEN)."""

from __future__ import annotations

import pytest

from harness.check import (
    CAPABILITIES,
    Loader,
    Sandbox,
    Unsupported,
    capability_outcomes,
    capability_signs,
    requirement,
)

SIGNED = [name for name, capability in CAPABILITIES.items() if capability.signs]
# What the specification of layers and extensions of it define; the others have no text but their loader's own.
SPECIFIED = ["OPENCL_LAYERS", "ICD 2"]

# Functions of the dispatch table whose names have an extension's suffix: applications ask for these by name.
EXTENSIONS = {
    "cl_ext_device_fission": {"clCreateSubDevicesEXT", "clRetainDeviceEXT", "clReleaseDeviceEXT"},
    "cl_khr_egl_event": {"clCreateEventFromEGLSyncKHR"},
    "cl_khr_egl_image": {"clCreateFromEGLImageKHR", "clEnqueueAcquireEGLObjectsKHR", "clEnqueueReleaseEGLObjectsKHR"},
    "cl_khr_gl_event": {"clCreateEventFromGLsyncKHR"},
    "cl_khr_gl_sharing": {"clGetGLContextInfoKHR"},
    "cl_khr_subgroups": {"clGetKernelSubGroupInfoKHR"},
}


def of_its_text(name: str) -> pytest.MarkDecorator:
    return pytest.mark.requirement("DISC-GEN-017" if name in SPECIFIED else "DISC-GEN-024")


@pytest.mark.parametrize("name", [pytest.param(name, marks=of_its_text(name)) for name in SIGNED])
def test_capability_that_the_loader_shows_a_sign_of_works(loader: Loader, name: str) -> None:
    """What a text in the loader's file names, or what it asks the environment for, works in one way, at least."""
    signs = capability_signs(loader, name)
    if not signs:
        raise Unsupported("loader", f"this loader shows no sign of {name}")
    outcomes = capability_outcomes(loader, name)
    assert "yes" in outcomes.values(), (
        f"the loader contains or asks for {', '.join(signs)}, but {name} does not work: {outcomes}"
    )


@requirement("DISC-GEN-026")
@pytest.mark.parametrize("extension", EXTENSIONS)
def test_extension_of_which_the_loader_has_a_function_is_found_whole(
    loader: Loader, sandbox: Sandbox, extension: str
) -> None:
    """Where a function of an extension is exported or found by its name, the address query gives all of them."""
    functions = EXTENSIONS[extension]
    sandbox.vendor("a")
    with loader.start(sandbox) as cl:
        assert not cl.GetExtensionFunctionAddress("clNoFunctionKHR")
        by_name = {name for name in functions if cl.GetExtensionFunctionAddress(name)}
        if not by_name and not any(cl.symbol(name) for name in functions):
            raise Unsupported("loader", f"this loader leaves {extension} to the vendors")
        assert by_name == functions
