# SPDX-License-Identifier: Apache-2.0
"""Layers, as far as drivers have to do with them: they have none, and see none (VK-EXT)."""

import json

import pytest

from harness.check import VulkanLoader, VulkanSandbox, requirement

LAYER = "VK_LAYER_CLH_of_nothing"


@requirement("VK-EXT-013")
@pytest.mark.parametrize("version", ["1.0.0", "1.1.0"])
def test_driver_sees_no_layers_of_an_instance(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, version: str
) -> None:
    """With a layer that is made of no others: a driver that refuses layers is used as without it."""
    for name in ("a", "b"):
        sandbox.driver(name, api_version=version, faults=["create_instance_refuses_layers"])
    about = {"name": LAYER, "type": "GLOBAL", "api_version": "1.3.0", "implementation_version": "1",
             "description": "none", "component_layers": []}  # fmt: skip
    folder = sandbox.folder("layers")
    (folder / "layer.json").write_text(json.dumps({"file_format_version": "1.1.1", "layer": about}))
    sandbox.env |= {"VK_LAYER_PATH": str(folder), "VK_LOADER_LAYERS_DISABLE": ""}

    with vulkan_loader.start(sandbox) as vk:
        count = vk.buffer(4, 0)
        assert vk.vkEnumerateInstanceLayerProperties(count, None) == 0
        if not count.u32():
            vulkan_loader.require("layers made of layers")
        assert vk.drivers(api_version="1.1.0", layers=[]) == {"a", "b"}
        assert vk.drivers(api_version="1.1.0", layers=[LAYER]) == {"a", "b"}
