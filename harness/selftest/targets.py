# SPDX-License-Identifier: Apache-2.0
"""What a run of the self-test measures: the checks of one kind of subject, against the mutants of that kind.

A further kind is one entry of TARGETS: the options of `clharness selftest`, and the faults that
`clharness requirements` names, follow from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from harness.build import ROOT, build
from harness.errors import UsageError
from harness.selftest.mutants import Mutant

# The lists of mutants are read only where a run needs them, and the parts that need a build only there.


@dataclass(frozen=True)
class Target:
    """A kind of subject with its checks and mutants."""

    word: str  # what the report calls the subject
    help: str  # of the option
    mutants: Callable[[], Mapping[str, Mutant]]
    folder: str = ""  # of the checks, below suites/; "" for all of them
    # Of pytest, for some mutants: what names the subject; () stands for the seeded OpenCL loader.
    arguments: Callable[[Sequence[Mutant]], tuple[str, ...]] = lambda _mutants: ()
    # All mutants that --fault may name, where a run without it takes fewer; they are another target's, then.
    named: Callable[[], Mapping[str, Mutant]] | None = None


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


def _seeded_vulkan_loader(mutants: Sequence[Mutant]) -> tuple[str, ...]:
    from harness.selftest.run import seeded_vulkan_loader

    return (f"--vulkan-loader={seeded_vulkan_loader(mutants)}",)


# By the name of the option, without its dashes; "" is what a run without one measures.
TARGETS: Mapping[str, Target] = {
    "": Target("loader", "measure the checks of OpenCL loaders: the faults are the reference loader's", _loaders),
    "layer": Target(
        "layer",
        "measure the checks of a layer: the faults are those of mock layers",
        _layers,
        "layers/layer",
        lambda _mutants: ("--clharness-seeded-layer",),
    ),
    "icd": Target(
        "ICD",
        "measure the checks of an ICD: the faults are of mock ICDs",
        _icds,
        "",
        lambda _mutants: ("--clharness-seeded-icd",),
    ),
    "vulkan": Target(
        "Vulkan",
        "measure the checks of Vulkan loaders: the faults are the reference Vulkan loader's",
        _vulkan_loaders,
        "interop/vulkan",
        _seeded_vulkan_loader,
    ),
    "vulkan-driver": Target(
        "Vulkan driver",
        "measure the checks of Vulkan drivers: the faults are of mock drivers",
        _vulkan_drivers,
        "interop/vulkan_driver",
        lambda _mutants: ("--clharness-seeded-vulkan_driver",),
    ),
    "windows": Target(
        "loader",
        "measure the checks on Windows: the faults are those of the reference loader's own part for Windows, and "
        "--fault takes those of its other parts, too",
        _windows,
        named=_all_on_windows,
    ),
}
