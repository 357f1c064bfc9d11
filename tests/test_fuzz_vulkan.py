# SPDX-License-Identifier: Apache-2.0
"""Fuzz targets of Vulkan loaders: they find planted faults by their seeds, and take no loader of another kind."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from harness.build import build
from harness.errors import UsageError
from harness.fuzz import builds
from harness.fuzz.target_process import environment
from tests.forked import clharness

TARGETS = [name for name in builds.targets() if builds.is_of_vulkan(name)]
PLANTED = {
    "malformed_ends_discovery": ("vulkan_manifest", "good-driver-lost"),
    "first_element_only": ("vulkan_manifest", "good-driver-lost"),
    "instances_are_not_destroyed": ("vulkan_negotiation", "instance-of-driver"),
    "missing_export_is_called": ("vulkan_negotiation", "memory@"),
    "look_up_before_negotiation": ("vulkan_negotiation", "call-before-negotiation"),
    "refusal_is_ignored": ("vulkan_negotiation", "used-after-refusal"),
    "version_passes_through": ("vulkan_negotiation", "version-above-1.0"),
    "one_driver_spoils_all": ("vulkan_negotiation", "abort@open_driver"),
}


def replay(target: str, loader: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    build().with_vulkan()
    program = build().folder / "fuzz" / f"replay_{target}"
    command: list[str | Path] = [program, "--loader", loader, "--each", builds.seeds(target)]
    return subprocess.run(command, env=environment(variables), capture_output=True, text=True, timeout=120)


def test_there_are_targets_of_vulkan() -> None:
    assert TARGETS == ["vulkan_manifest", "vulkan_negotiation"]


@pytest.mark.parametrize("fault", PLANTED)
def test_seeds_show_a_planted_fault(fault: str) -> None:
    """And nothing in the loader without it."""
    target, key = PLANTED[fault]
    seeded = build().with_vulkan().seeded_loader
    assert seeded is not None
    without, with_fault = replay(target, seeded), replay(target, seeded, CLHARNESS_FAULT=fault)
    assert without.returncode == 0 and "finding:" not in without.stderr
    assert with_fault.returncode == 1 and f" {key}" in with_fault.stderr, with_fault.stderr[-2000:]


@pytest.mark.parametrize("target", TARGETS)
def test_two_loaders_are_compared(target: str) -> None:
    """The reference loader and a copy of it show the same on every seed."""
    vulkan = build().with_vulkan()
    assert vulkan.seeded_loader is not None
    same = replay(target, vulkan.reference_loader, CLHARNESS_FUZZ_AGAINST=str(vulkan.seeded_loader))
    assert same.returncode == 0, same.stderr[-2000:]


def test_target_refuses_a_loader_of_another_kind() -> None:
    done = replay("vulkan_manifest", build().reference_loader)
    assert done.returncode == 2 and "give a Vulkan loader" in done.stderr


def test_kinds_are_not_mixed() -> None:
    with pytest.raises(UsageError, match="one kind at a time"):
        builds.chosen_targets(["icd_file", "vulkan_manifest"], False)
    assert builds.chosen_targets([], True, vulkan=True) == TARGETS
    assert not set(builds.chosen_targets([], True)) & set(TARGETS)


def test_command_says_which_loader_a_target_takes() -> None:
    done = clharness("fuzz", "vulkan_manifest", "--loader", build().reference_loader, limit=120)
    assert done.returncode == 2 and "is an OpenCL loader: vulkan_manifest takes a Vulkan loader" in done.stderr
