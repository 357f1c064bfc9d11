# SPDX-License-Identifier: Apache-2.0
"""Subjects with the fault that the environment names, by kind: a case gets one of its own (clharness selftest)."""

from __future__ import annotations

from collections.abc import Callable

from harness.sandbox import Sandbox
from harness.subject import Subject

# The lists of mutants are read only where a run tests one of them.


def _layer(sandbox: Sandbox) -> Subject:
    from harness.selftest.mutants.layer import seeded_layer

    return seeded_layer(sandbox)


def _icd(sandbox: Sandbox) -> Subject:
    from harness.selftest.mutants.icd import seeded_icd

    return seeded_icd(sandbox)


def _vulkan_driver(sandbox: Sandbox) -> Subject:
    from harness.selftest.mutants.vulkan_driver import seeded_vulkan_driver

    return seeded_vulkan_driver(sandbox)


# Loaders are not among them: the seeded one is a file of its own, and tested like any other.
SEEDED: dict[str, Callable[[Sandbox], Subject]] = {"layer": _layer, "icd": _icd, "vulkan_driver": _vulkan_driver}
