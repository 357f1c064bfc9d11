# SPDX-License-Identifier: Apache-2.0
"""The kinds of subjects that have mutants: their lists, and how a run gets a subject with one of these faults.

A further kind is one entry of TARGETS: the options of `clharness selftest` and of pytest, and the faults that
`clharness requirements` names, follow from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.build import ROOT, build
from harness.errors import UsageError
from harness.selftest.mutants import Mutant

if TYPE_CHECKING:
    from harness.sandbox import Sandbox
    from harness.subject import Subject

# The lists of mutants are read only where a run needs them, and the parts that need a build only there.


@dataclass(frozen=True)
class Target:
    """A kind of subject with its checks and mutants. Its subjects come from `library` or from `make`."""

    kind: str  # a key of harness.subject.KINDS
    word: str  # what the report calls the subject
    help: str  # of the option
    mutants: Callable[[], Mapping[str, Mutant]]
    folder: str = ""  # of the checks, below suites/; "" for all of them
    # The built library that $CLHARNESS_FAULT makes faulty; raises where it lacks one of the mutants.
    library: Callable[[Sequence[Mutant]], Path] | None = None
    # Makes a subject with the fault that $CLHARNESS_FAULT names, of mocks, in the sandbox of a case.
    make: Callable[[Sandbox], Subject] | None = None
    # All mutants that --fault may name, where a run without it takes fewer; they are another target's, then.
    named: Callable[[], Mapping[str, Mutant]] | None = None

    def arguments(self, mutants: Sequence[Mutant]) -> tuple[str, ...]:
        """The options of pytest that name the subject of a run with some mutants. Raises as `library` does."""
        from harness.subject import KINDS

        if self.library:
            return (f"{KINDS[self.kind].option}={self.library(mutants)}",)
        return (seeded_option(self.kind),)


def seeded_option(kind: str) -> str:
    """The option of pytest by which each case makes its own subject of a kind, with the fault that is asked for."""
    return f"--clharness-seeded-{kind}"


def _loaders() -> Mapping[str, Mutant]:
    from harness.selftest.mutants.loader import mutants

    return mutants().by_name


def _vulkan_loaders() -> Mapping[str, Mutant]:
    from harness.selftest.mutants.loader import vulkan_mutants

    return vulkan_mutants().by_name


def _layers() -> Mapping[str, Mutant]:
    from harness.selftest.mutants.layer import layer_mutants

    return {name: one.mutant for name, one in layer_mutants().items()}


def _icds() -> Mapping[str, Mutant]:
    from harness.selftest.mutants.icd import icd_mutants

    return {name: one.mutant for name, one in icd_mutants().items()}


def _vulkan_drivers() -> Mapping[str, Mutant]:
    from harness.selftest.mutants.vulkan_driver import vulkan_driver_mutants

    return {name: one.mutant for name, one in vulkan_driver_mutants().items()}


def _all_on_windows() -> Mapping[str, Mutant]:
    """The faults that the reference loader's copy for Windows can have."""
    from harness.selftest.seed import for_windows

    if not build().windows:
        raise UsageError("--windows needs the build for Windows, which ./clharness selftest --windows makes")
    shared = {"acceptance.c", "discovery.c", "layers.c", "loader.c", "entry_points.c", "clharness_dispatch.c"}
    return for_windows(_loaders(), shared | _files_of_windows())


def _windows() -> Mapping[str, Mutant]:
    """Those of its own part for Windows alone."""
    own = _files_of_windows()
    return {name: fault for name, fault in _all_on_windows().items() if fault.file in own}


def _files_of_windows() -> set[str]:
    return {path.name for path in (ROOT / "harness" / "reference_loader").glob("os_windows*")}


def _seeded_loader(mutants: Sequence[Mutant]) -> Path:
    from harness.selftest.seeded import seeded_loader

    return seeded_loader(mutants)


def _seeded_vulkan_loader(mutants: Sequence[Mutant]) -> Path:
    from harness.selftest.seeded import seeded_vulkan_loader

    return seeded_vulkan_loader(mutants)


def _seeded_layer(sandbox: Sandbox) -> Subject:
    from harness.selftest.mutants.layer import seeded_layer

    return seeded_layer(sandbox)


def _seeded_icd(sandbox: Sandbox) -> Subject:
    from harness.selftest.mutants.icd import seeded_icd

    return seeded_icd(sandbox)


def _seeded_vulkan_driver(sandbox: Sandbox) -> Subject:
    from harness.selftest.mutants.vulkan_driver import seeded_vulkan_driver

    return seeded_vulkan_driver(sandbox)


# By the name of the option, without its dashes; "" is what a run without one measures.
TARGETS: Mapping[str, Target] = {
    "": Target(
        "loader",
        "loader",
        "measure the checks of OpenCL loaders: the faults are the reference loader's",
        _loaders,
        library=_seeded_loader,
    ),
    "layer": Target(
        "layer",
        "layer",
        "measure the checks of a layer: the faults are those of mock layers",
        _layers,
        "layers/layer",
        make=_seeded_layer,
    ),
    "icd": Target(
        "icd",
        "ICD",
        "measure the checks of an ICD: the faults are of mock ICDs",
        _icds,
        make=_seeded_icd,
    ),
    "vulkan": Target(
        "vulkan_loader",
        "Vulkan loader",
        "measure the checks of Vulkan loaders: the faults are the reference Vulkan loader's",
        _vulkan_loaders,
        "interop/vulkan",
        _seeded_vulkan_loader,
    ),
    "vulkan-driver": Target(
        "vulkan_driver",
        "Vulkan driver",
        "measure the checks of Vulkan drivers: the faults are of mock drivers",
        _vulkan_drivers,
        "interop/vulkan_driver",
        make=_seeded_vulkan_driver,
    ),
    "windows": Target(
        "loader",
        "loader",
        "measure the checks on Windows: the faults are those of the reference loader's own part for Windows, and "
        "--fault takes those of its other parts, too",
        _windows,
        library=_seeded_loader,
        named=_all_on_windows,
    ),
}

# By kind: what makes each case's own subject with a fault.
SEEDED: Mapping[str, Callable[[Sandbox], Subject]] = {
    target.kind: target.make for target in TARGETS.values() if target.make
}
