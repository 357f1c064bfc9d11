# SPDX-License-Identifier: Apache-2.0
"""Subjects with the fault that the environment names, by kind: a case gets one of its own (clharness selftest)."""

from __future__ import annotations

from collections.abc import Callable

from harness.sandbox import Sandbox
from harness.selftest.mutants.icd import seeded_icd
from harness.selftest.mutants.layer import seeded_layer
from harness.selftest.mutants.vulkan_driver import seeded_vulkan_driver
from harness.subject import Icd, Layer, Subject, VulkanDriver

# Loaders are not among them: the seeded one is a file of its own, and tested like any other.
SEEDED: dict[str, Callable[[Sandbox], Subject]] = {
    Layer.identity.kind: seeded_layer,
    Icd.identity.kind: seeded_icd,
    VulkanDriver.identity.kind: seeded_vulkan_driver,
}
