# SPDX-License-Identifier: Apache-2.0
"""Which version of Vulkan applications ask for and drivers see (VK-VER)."""

from typing import Any

import pytest

from harness.check import VulkanLoader, VulkanSandbox, requirement, version_number


def seen_versions(sandbox: VulkanSandbox, name: str) -> list[int | None]:
    """The apiVersion of each vkCreateInstance that a driver saw; None without a VkApplicationInfo."""
    seen = [event.data["in"].get("apiVersion") for event in sandbox.log.calls("vkCreateInstance", by=name)]
    return [int(value, 16) if value else None for value in seen]


# What makes a driver one of Vulkan 1.0, each beside a manifest and a library that otherwise say 1.3.
OF_1_0: dict[str, dict[str, Any]] = {
    "manifest": {"manifest": {"api_version": "1.0.100"}},
    "no function": {"functions": {"lacks": ["vkEnumerateInstanceVersion"]}},
    "answers 1.0": {"manifest": {"api_version": "1.3.0"}, "api_version": "1.0.50"},
    "fails": {"faults": ["version_fails=-1"]},
}


@requirement("VK-VER-008")
@pytest.mark.parametrize("why", OF_1_0)
@pytest.mark.parametrize("asked", ["1.1.0", "1.3.0"])
def test_driver_of_1_0_sees_1_0(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, why: str, asked: str) -> None:
    """A driver of 1.0 is told that the application wants 1.0; a newer one beside it is told what it wants."""
    sandbox.driver("new", api_version="1.3.0")
    settings: dict[str, Any] = {"api_version": "1.3.0", **OF_1_0[why]}
    faults = [*settings.pop("faults", []), "create_instance_refuses_versions"]
    sandbox.driver("old", faults=faults, **settings)

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers(api_version=asked) == {"new", "old"}
    (version,) = seen_versions(sandbox, "old")
    assert version is not None and version >> 12 == version_number("1.0.0") >> 12
    assert seen_versions(sandbox, "new") == [version_number(asked)]


@requirement("VK-VER-008")
@pytest.mark.parametrize("version", ["1.0.0", "1.1.0"])
def test_driver_sees_the_application(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, version: str) -> None:
    """The version may be another one; the rest of VkApplicationInfo is the application's own."""
    sandbox.driver("a", api_version=version)

    with vulkan_loader.start(sandbox) as vk:
        application = vk.structure(
            "VkApplicationInfo",
            apiVersion=version_number("1.1.0"),
            pApplicationName=vk.data(b"an application\0"),
            applicationVersion=3,
            pEngineName=vk.data(b"an engine\0"),
            engineVersion=7,
        )
        info = vk.structure("VkInstanceCreateInfo", pApplicationInfo=application)
        assert vk.vkCreateInstance(info, None, vk.buffer(8)) == 0
    created = sandbox.log.calls("vkCreateInstance", by="a").only
    seen = created.data["in"]
    assert [seen[name] for name in ("pApplicationName", "pEngineName")] == ["an application", "an engine"]
    assert [int(seen[name], 16) for name in ("applicationVersion", "engineVersion")] == [3, 7]


@requirement("VK-VER-008")
@pytest.mark.parametrize("asked", ["1.0.0", "1.1.0", "1.2.200", "1.3.7"])
def test_driver_of_1_1_sees_what_the_application_asks_for(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, asked: str
) -> None:
    """A driver of 1.1 or newer sees the application's version unchanged, also one above its own."""
    sandbox.driver("a", api_version="1.1.0")

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers(api_version=asked) == {"a"}
    assert seen_versions(sandbox, "a") == [version_number(asked)]


@requirement("VK-VER-008")
def test_instance_without_application_info(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """An application that says nothing about itself gets an instance on drivers of every version."""
    sandbox.driver("old", api_version="1.0.0")
    sandbox.driver("new", api_version="1.3.0")

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers() == {"old", "new"}
    assert all(version is None or version >> 12 == version_number("1.0.0") >> 12
               for name in ("old", "new") for version in seen_versions(sandbox, name))  # fmt: skip


@requirement("VK-VER-007")
@pytest.mark.parametrize("interface", range(2, 8))
@pytest.mark.parametrize("asked", ["1.0.0", "1.1.0", "1.3.0"])
def test_every_version_through_every_interface(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, interface: int, asked: str
) -> None:
    """A version that the loader supports reaches the driver, whatever the version of their interface is."""
    vulkan_loader.require_interface(5)
    sandbox.driver("a", interface=interface, api_version="1.3.0")

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers(api_version=asked) == {"a"}
    assert seen_versions(sandbox, "a") == [version_number(asked)]


@requirement("VK-VER-013")
def test_loader_says_its_own_version(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """vkEnumerateInstanceVersion answers the loader's version, whatever the drivers support."""
    sandbox.driver("a", api_version="1.0.0")
    with vulkan_loader.start(sandbox) as vk:
        one = vk.instance_version()
    other_sandbox_version = "1.1.0"
    sandbox.shown.clear()
    sandbox.driver("b", api_version=other_sandbox_version)
    with vulkan_loader.start(sandbox) as vk:
        assert vk.instance_version() == one
    assert one >= version_number("1.1.0")


OF_THREE_NUMBERS = pytest.mark.requirement("VK-VER-008")
VERSIONS = ["1.1.0", "1.1.255", "1.2.256", "1.3.999", "1.3.4095", "1.256.0"]


@requirement("VK-VER-018")
@pytest.mark.parametrize("version", ["1.1.2.0", "7.1.0.0"])
def test_driver_of_another_variant_is_left_out(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, version: str
) -> None:
    """A version of four numbers begins with that of the variant, which is 0 for Vulkan itself."""
    sandbox.driver("vulkan", manifest={"api_version": "0.1.1.0"})
    sandbox.driver("other", manifest={"api_version": version})

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers() == {"vulkan"}


@pytest.mark.parametrize(
    "version",
    [
        *(pytest.param(version, marks=OF_THREE_NUMBERS) for version in VERSIONS),
        pytest.param("0.1.3.280", marks=pytest.mark.requirement("VK-VER-018")),
    ],
)
def test_patch_of_a_manifest_does_not_make_its_driver_old(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, version: str
) -> None:
    """However large a number of its version is, a driver of 1.1 or newer is told what the application wants."""
    sandbox.driver("a", manifest={"api_version": version}, api_version="1.3.0")

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers(api_version="1.2.0") == {"a"}
    assert seen_versions(sandbox, "a") == [version_number("1.2.0")]


@requirement("VK-VER-014")
@pytest.mark.parametrize("version", ["1.0.0", "1.1.5", "1.2.0", "1.3.999", "1.9.0"])
def test_manifest_of_every_version_is_used(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, version: str) -> None:
    """Drivers may be older or newer than the loader, as far as the major version is the same."""
    sandbox.driver("a", manifest={"api_version": version}, api_version="1.1.0")
    sandbox.driver("b")

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers() == {"a", "b"}
