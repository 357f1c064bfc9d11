# SPDX-License-Identifier: Apache-2.0
"""Discovery on Windows happens in the first call, with the machine as it is then, and once (DISC-GEN)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.check import LEGACY, Sandbox, Session, WindowsLoader, requirement

FIRST_CALLS: dict[str, Callable[[Session], object]] = {
    "clGetPlatformIDs": lambda cl: cl.platform_count(),
    "clGetExtensionFunctionAddress": lambda cl: cl.GetExtensionFunctionAddress("clNobodyHasThis"),
}

# What installs a vendor.
WAYS: dict[str, Callable[[Sandbox, str], object]] = {
    "the Vendors key": lambda sandbox, name: sandbox.registry_vendor(sandbox.icd(name)),
    "the kernel": lambda sandbox, name: sandbox.adapter(vendor=sandbox.icd(name), devices=False),
    "a device": lambda sandbox, name: sandbox.adapter(vendor=sandbox.icd(name), kernel=False),
}


def install(sandbox: Sandbox, cl: Session, way: str, name: str) -> None:
    """Installs a vendor while the loader runs."""
    before = len(sandbox.lines)
    WAYS[way](sandbox, name)
    for line in sandbox.lines[before:]:
        cl.change_machine(line)


@requirement("DISC-GEN-012")
@pytest.mark.parametrize("first", FIRST_CALLS)
@pytest.mark.parametrize("way", WAYS)
def test_machine_at_the_first_call_counts(loader: WindowsLoader, sandbox: Sandbox, way: str, first: str) -> None:
    """What is installed while the loader is loaded already, before the first call, is found."""
    sandbox.registry_vendor(sandbox.icd("there"))
    with loader.start(sandbox) as cl:
        install(sandbox, cl, way, "later")
        FIRST_CALLS[first](cl)
        assert sorted(cl.used_platforms()) == ["later", "there"]


# Where the kernel lists adapters, a loader may leave all devices to it.
PAIRS = [(source, way) for source in WAYS for way in WAYS if {source, way} != {"the kernel", "a device"}]


@requirement("DISC-GEN-011")
@pytest.mark.parametrize("first", FIRST_CALLS)
@pytest.mark.parametrize(("source", "way"), PAIRS)
def test_vendors_installed_after_the_first_call_are_not_listed(
    loader: WindowsLoader, sandbox: Sandbox, source: str, way: str, first: str
) -> None:
    """A vendor that is installed after the first call is not picked up by this process, wherever others came from."""
    WAYS[source](sandbox, "there")
    with loader.start(sandbox) as cl:
        FIRST_CALLS[first](cl)
        install(sandbox, cl, way, "later")
        assert list(cl.used_platforms()) == ["there"]
        assert not sandbox.log.of("later")
    with loader.start(sandbox) as cl:
        assert sorted(cl.used_platforms()) == ["later", "there"]


@requirement("DISC-GEN-011")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("before", ["nothing", "a list of libraries"])
def test_that_nothing_is_installed_is_found_out_once(
    loader: WindowsLoader, sandbox: Sandbox, before: str, way: str
) -> None:
    """Where the first call found nothing installed, that is so for the whole life of the process, too."""
    listed = []
    if before == "a list of libraries":
        loader.require("OCL_ICD_FILENAMES")
        listed = ["listed"]
        sandbox.env["OCL_ICD_FILENAMES"] = str(sandbox.icd("listed"))
    with loader.start(sandbox) as cl:
        assert cl.platform_count() == len(listed)
        install(sandbox, cl, way, "later")
        assert list(cl.used_platforms()) == listed
        assert not sandbox.log.of("later")


@requirement("DISC-GEN-011")
@pytest.mark.parametrize("where", ["registry", "list"])
@pytest.mark.parametrize("count", [0, 1, 2])
def test_vendors_and_layers_installed_after_the_first_call_are_not_used(
    loader: WindowsLoader, sandbox: Sandbox, count: int, where: str
) -> None:
    """With layers discovery happens once, too: neither a vendor nor a layer comes later."""
    loader.require("OPENCL_LAYERS")
    loader.require("layers of the registry")
    if not loader.has("initialises layers with properties"):
        sandbox.env[LEGACY] = "1"
    sandbox.registry_vendor(sandbox.icd("there"))
    for number in range(count):
        sandbox.registry_layer(sandbox.layer(f"layer{number}"), number)
    with loader.start(sandbox) as cl:
        assert cl.used_platforms() == ["there"]
        install(sandbox, cl, "the Vendors key", "later")
        late = sandbox.layer("late")
        if where == "registry":
            cl.change_machine(sandbox.registry_layer(late, 0))
        else:
            cl.setenv("OPENCL_LAYERS", str(late))
        assert cl.used_platforms() == ["there"]
    layers = [e.who for e in sandbox.log.calls() if e.name.startswith("clInitLayer")]
    assert layers == [f"layer{number}" for number in range(count)]


@requirement("DISC-GEN-011")
def test_vendor_disabled_after_the_first_call_stays(loader: WindowsLoader, sandbox: Sandbox) -> None:
    """A vendor that is disabled after the first call stays in this process, and is gone from the next one."""
    mocks = [sandbox.icd(name) for name in ("a", "b")]
    for mock in mocks:
        sandbox.registry_vendor(mock)
    with loader.start(sandbox) as cl:
        platforms = cl.GetPlatformIDs()
        cl.change_machine(sandbox.registry_vendor(mocks[1], data=1))
        assert sorted(cl.used_platforms()) == ["a", "b"]
        assert cl.GetPlatformIDs() == platforms
    with loader.start(sandbox) as cl:
        assert cl.used_platforms() == ["a"]
