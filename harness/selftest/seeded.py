# SPDX-License-Identifier: Apache-2.0
"""The built loaders with seeded faults: $CLHARNESS_FAULT says which one a loader has once it is loaded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.build import build
from harness.errors import HarnessError, UsageError
from harness.selftest.mutants import Mutant


def seeded_loader(mutants: Sequence[Mutant] = ()) -> Path:
    """The built loader that can be made faulty.

    Raises UsageError where the build has none, HarnessError where it was built without one of the mutants.
    """
    path = build().seeded_loader
    if path is None or not path.exists():
        raise UsageError(
            f"the build in {build().folder} has no loader with seeded faults: "
            f"cmake -DCLHARNESS_SEEDED_FAULTS=ON {build().folder} && cmake --build {build().folder}"
        )
    _require(path, mutants)
    return path


def seeded_vulkan_loader(mutants: Sequence[Mutant] = ()) -> Path:
    """The same for Vulkan drivers."""
    path = build().with_vulkan().seeded_loader
    if path is None or not path.exists():
        raise UsageError(f"the build in {build().folder} has no Vulkan loader with seeded faults; see seeded_loader")
    _require(path, mutants)
    return path


def _require(library: Path, mutants: Sequence[Mutant]) -> None:
    """Raises HarnessError where the library was built without a mutant: each of its cases would end, as if caught."""
    content = library.read_bytes()
    absent = [mutant.name for mutant in mutants if mutant.name.encode() + b"\0" not in content]
    if absent:
        raise HarnessError(
            f"{library} was built without {', '.join(absent[:5])}: cmake {build().folder}, and build again"
        )
