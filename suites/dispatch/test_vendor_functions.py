# SPDX-License-Identifier: Apache-2.0
"""Functions that take semaphores and command buffers are not a loader's: each platform has its own (DISP-OBJ)."""

from __future__ import annotations

from harness.check import EXTENSION_FUNCTIONS, Loader, Sandbox, api, function_of, requirement

OBJECTS = ("cl_semaphore_khr", "cl_command_buffer_khr", "cl_mutable_command_khr")


def of_extensions() -> list[str]:
    """The functions that take semaphores or command buffers, or are of their extensions."""
    known = {name for names in EXTENSION_FUNCTIONS.values() for name in names}
    taking = [
        f.name
        for f in api().functions.values()
        if (f.slot is None and any(p.handle in OBJECTS for p in f.parameters)) or f.name in known
    ]
    assert len(taking) >= 25
    return taking


@requirement("DISP-OBJ-013")
def test_semaphore_and_command_buffer_functions_are_not_exported(loader: Loader, sandbox: Sandbox) -> None:
    """The loader exports none of them."""
    with loader.start(sandbox) as cl:
        assert cl.symbol("clGetPlatformIDs")
        assert [name for name in of_extensions() if cl.symbol(name)] == []


@requirement("DISP-EXT-012")
def test_semaphore_and_command_buffer_functions_are_the_platforms(loader: Loader, sandbox: Sandbox) -> None:
    """The loader gives the address that the platform answers."""
    taking = of_extensions()
    sandbox.vendor("a")
    sandbox.vendor("b", icd2=loader.has("ICD 2"))
    with loader.start(sandbox) as cl:
        modules = {
            cl.GetPlatformInfo(p): str(sandbox.libraries / f"lib{cl.GetPlatformInfo(p)}{sandbox.suffix}")
            for p in cl.GetPlatformIDs()
        }
        for platform in cl.GetPlatformIDs():
            for name in taking:
                assert cl.module(function_of(cl, platform, name)) == modules[cl.GetPlatformInfo(platform)]
    assert set(modules) == {"a", "b"}
