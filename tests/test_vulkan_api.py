# SPDX-License-Identifier: Apache-2.0
"""Vulkan's API as data, the mock driver, and what a build without them says."""

from __future__ import annotations

import dataclasses
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.api.vulkan.model import VK, Result, version_number, version_text, vulkan
from harness.build import build
from harness.check.vulkan_dispatch import by_origin, is_same, physical_device_functions
from harness.errors import HarnessError
from harness.sandbox.vulkan import VulkanSandbox
from harness.subject.vulkan_capabilities import NEGOTIATE
from harness.subject.vulkan_loader import VulkanLoader


@pytest.fixture
def sandbox() -> Iterator[VulkanSandbox]:
    box = VulkanSandbox()
    yield box
    box.close()


@pytest.fixture
def loader() -> VulkanLoader:
    return VulkanLoader(build().with_vulkan().reference_loader)


def test_layouts_of_structures_are_those_of_the_compiler(tmp_path: Path) -> None:
    """Sizes and offsets of all structures that the main header has."""
    structures = vulkan().structures
    header = Path("/usr/include/vulkan/vulkan_core.h").read_text()
    lines = ["#include <stddef.h>", "#include <vulkan/vulkan_core.h>"]
    for name, layout in structures.items():
        if f"}} {name};" in header:
            lines.append(f'_Static_assert(sizeof({name}) == {layout.size}, "{name}");')
            lines += [f'_Static_assert(offsetof({name}, {m.name}) == {m.offset}, "{m.name}");'
                      for m in layout.members.values()]  # fmt: skip
    assert len(lines) > 3000
    source = tmp_path / "layouts.c"
    source.write_text("\n".join(lines))
    done = subprocess.run([build().compiler, "-fsyntax-only", source], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:2000]


def test_functions_have_their_levels() -> None:
    levels = {name: f.level for name, f in vulkan().functions.items()}
    assert levels["vkCreateInstance"] == "global"
    assert levels["vkEnumeratePhysicalDevices"] == "instance"
    assert levels["vkGetPhysicalDeviceProperties"] == "physical_device"
    assert {levels["vkQueueSubmit"], levels["vkCmdDraw"], levels["vkCreateBuffer"]} == {"device"}


def test_every_function_below_an_instance_is_dispatched_or_the_loaders() -> None:
    of_devices = {f.name for functions in by_origin().values() for f in functions}
    assert {"vkCmdDraw", "vkQueueSubmit", "vkCreateSwapchainKHR"} <= of_devices
    assert "vkGetPhysicalDeviceProperties" in physical_device_functions()
    assert is_same("vkGetPhysicalDeviceFeatures2KHR", "vkGetPhysicalDeviceFeatures2")


def test_results_and_versions_print_as_what_they_are() -> None:
    assert str(Result(-9)) == "VK_ERROR_INCOMPATIBLE_DRIVER" and str(Result(-987)) == "-987"
    assert Result.of_word(0xFFFFFFF7) == VK.ERROR_INCOMPATIBLE_DRIVER
    assert version_text(version_number("1.3.239")) == "1.3.239"
    with pytest.raises(AttributeError, match="did you mean VK_SUCCESS"):
        _ = VK.SUCESS


@pytest.mark.parametrize(("interface", "agreed"), [(0, 0), (5, 5), (99, 7)])
def test_mock_driver_agrees_on_what_both_support(
    loader: VulkanLoader, sandbox: VulkanSandbox, interface: int, agreed: int
) -> None:
    sandbox.driver("a", interface=interface)
    with loader.start(sandbox) as vk:
        vk.CreateInstance()
    (answer,) = sandbox.log.returns(NEGOTIATE, by="a")
    assert int(answer.data["out"]["version"], 16) == agreed


def test_mock_driver_lacks_what_it_is_told_to_lack(loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """Also where it is found late, or no longer."""
    sandbox.driver("a", log_lookups=True, functions={"lacks": ["vkCmdDraw"], "early": ["vkCmdCopyBuffer"]})
    with loader.start(sandbox) as vk:
        device = vk.device(vk.physical_devices(vk.instance())[0])
        answers = {
            name: bool(vk.device_proc(device, name)) for name in ("vkCmdDraw", "vkCmdCopyBuffer", "vkCmdDispatch")
        }
    assert answers == {"vkCmdDraw": False, "vkCmdCopyBuffer": False, "vkCmdDispatch": True}
    assert any(e.data["in"]["pName"] == "vkCmdDraw" for e in sandbox.log.calls("vkGetDeviceProcAddr", by="a"))


def test_capabilities_of_the_reference_loader_are_found_out(loader: VulkanLoader) -> None:
    loader.ask()
    assert loader.facts.name == "clharness reference Vulkan loader" and loader.interface == 7
    wanted = {"VK_DRIVER_FILES", "driver filters", "interface by query", "library_arch", "hides portability drivers"}
    assert wanted <= loader.capabilities
    assert "device filters" not in loader.capabilities


def test_build_without_vulkan_names_the_package() -> None:
    without = dataclasses.replace(build(), vulkan=None)
    with pytest.raises(HarnessError, match="libvulkan-dev"):
        without.with_vulkan()
