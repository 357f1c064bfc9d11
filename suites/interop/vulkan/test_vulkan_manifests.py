# SPDX-License-Identifier: Apache-2.0
"""Manifests of Vulkan drivers (VK-DSC)."""

from harness.check import VulkanLoader, VulkanSandbox, requirement


@requirement("VK-DSC-001")
def test_variable_replaces_the_search(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """Manifests that the variable names are the only ones: folders are not searched."""
    sandbox.driver("named")
    sandbox.manifest("found.json", sandbox.library("found"), sandbox.search_folder("data"))
    sandbox.env["XDG_DATA_HOME"] = str(sandbox.root / "data")

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers() == {"named"}
    with vulkan_loader.start(sandbox, search=True) as vk:
        assert vk.drivers() == {"found"}
