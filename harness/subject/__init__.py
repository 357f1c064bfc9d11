# SPDX-License-Identifier: Apache-2.0
"""What is under test: loaders, layers, ICDs; what their files say, how they are found and started.

A kind of subject is one class, in a file of its own, that KINDS lists: pytest's options, the fixture by the kind's
name, its folder of checks and of expectations come from there.
"""

from harness.subject.base import Subject
from harness.subject.icd import Icd
from harness.subject.layer import Layer
from harness.subject.loader import Loader
from harness.subject.vulkan_driver import VulkanDriver
from harness.subject.vulkan_loader import VulkanLoader
from harness.subject.windows_loader import WindowsLoader

# The first kind is also what the others are used with.
KINDS: dict[str, type[Subject]] = {
    kind.identity.kind: kind for kind in (Loader, Layer, Icd, VulkanLoader, VulkanDriver)
}

__all__ = ["KINDS", "Icd", "Layer", "Loader", "Subject", "VulkanDriver", "VulkanLoader", "WindowsLoader"]
