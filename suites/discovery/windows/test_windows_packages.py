# SPDX-License-Identifier: Apache-2.0
"""The package that maps OpenCL to Direct3D, whole or not: vendors of the machine are listed beside it (DISC-WIN).

No text has packages; what a loader takes from them is recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from harness.check import PACKAGE_FAMILY, Sandbox, WindowsLoader, requirement

Record = Callable[[str], None]


def mapping_layer(sandbox: Sandbox, folder: Path, name: str) -> None:
    """A package's library, for every machine that there are ones for."""
    for machine in ("", "arm64", "x64", "x86"):
        (folder / machine).mkdir(exist_ok=True)
        sandbox.icd(f"{name}{machine and '-'}{machine}", folder=folder / machine, file="OpenCLOn12.dll")


def mapping_packages(sandbox: Sandbox, lengths: Sequence[int]) -> None:
    """Packages with such a library each, in folders whose names are so much longer than "package"."""
    for number, length in enumerate(lengths):
        folder = sandbox.folder("package" + str(number) * length)
        mapping_layer(sandbox, folder, f"mapping{number}")
        sandbox.package(folder, PACKAGE_FAMILY, name=f"clharness.package{number}")


def check_vendors_are_listed(loader: WindowsLoader, sandbox: Sandbox) -> None:
    """Vendors of a driver and of the Vendors key are there beside the packages, also with a heap that is guarded."""
    sandbox.adapter(vendor=sandbox.icd("driver"))
    sandbox.registry_vendor(sandbox.icd("registered"))
    for guarded_heap in (False, True):
        with loader.start(sandbox, guarded_heap=guarded_heap) as cl:
            assert cl.platform_names() == {"driver", "registered"}


@requirement("DISC-WIN-005")
@pytest.mark.parametrize("lack", ["a path", "the functions", "files"])
def test_package_that_is_not_whole_costs_nobody(loader: WindowsLoader, sandbox: Sandbox, lack: str) -> None:
    """A package without a path or without its library, or a system without packages: other vendors are listed."""
    if lack == "the functions":
        sandbox.no_packages()
    sandbox.package(sandbox.folder("package"), PACKAGE_FAMILY, traits=["gone"] * (lack == "a path"))
    check_vendors_are_listed(loader, sandbox)


@requirement("DISC-WIN-005")
@pytest.mark.parametrize("lengths", [(1,), (1, 1), (1, 30), (30, 1), (9, 30, 1)], ids=str)
def test_package_with_a_mapping_layer_costs_nobody(
    loader: WindowsLoader, sandbox: Sandbox, lengths: Sequence[int], record: Record
) -> None:
    """Where packages that map OpenCL to Direct3D are installed, other vendors are listed as usual."""
    mapping_packages(sandbox, lengths)
    sandbox.adapter(vendor=sandbox.icd("driver"))
    sandbox.registry_vendor(sandbox.icd("registered"))
    with loader.start(sandbox) as cl:
        names = cl.used_platforms()
    assert {name for name in names if not name.startswith("mapping")} == {"driver", "registered"}
    record(", ".join(names))


@requirement("DISC-WIN-027")
@pytest.mark.parametrize("lengths", [(1,), (9, 30, 1)], ids=str)
def test_package_gives_no_library_of_another_machine(
    loader: WindowsLoader, sandbox: Sandbox, lengths: Sequence[int]
) -> None:
    """Of the libraries of a package, which has one for every machine, none is used that is for another one."""
    mapping_packages(sandbox, lengths)
    sandbox.adapter(vendor=sandbox.icd("driver"))
    with loader.start(sandbox) as cl:
        names = cl.used_platforms()
    assert not {"x86", "arm64"} & {name.rpartition("-")[2] for name in names}, "a library of another machine is used"


@requirement("DISC-WIN-005")
@pytest.mark.parametrize("first", [True, False], ids=["first", "second"])
@pytest.mark.parametrize("length", [200, 236, 259, 261, 300, 1000, 3000])
def test_package_with_a_long_path_costs_nobody(
    loader: WindowsLoader, sandbox: Sandbox, length: int, first: bool
) -> None:
    """The folder of a package may have any length that the system tells: other vendors are listed."""
    folder = sandbox.root / "package"
    long = Path(str(folder) + "/" + "p" * (length - len(f"Z:{folder}/")))
    for number, path in enumerate((long, folder) if first else (folder, long)):
        sandbox.package(path, PACKAGE_FAMILY, name=f"clharness.package{number}")
    check_vendors_are_listed(loader, sandbox)


@requirement("DISC-WIN-005")
@pytest.mark.parametrize("count", [1, 2])
def test_package_that_comes_while_packages_are_listed_costs_nobody(
    loader: WindowsLoader, sandbox: Sandbox, count: int
) -> None:
    """Where a package is installed between the count of packages and their list, other vendors are listed."""
    folder = sandbox.folder("package")
    sandbox.package(folder, PACKAGE_FAMILY)
    for number in range(count):
        sandbox.package(folder, PACKAGE_FAMILY, name=f"clharness.later{number}", traits=["late"])
    check_vendors_are_listed(loader, sandbox)


@requirement("DISC-WIN-021")
@pytest.mark.parametrize("others", [0, 1])
@pytest.mark.parametrize("step", ["counted", "gone", "measured"])
def test_package_that_is_removed_while_it_is_asked_is_not_used(
    loader: WindowsLoader, sandbox: Sandbox, step: str, others: int
) -> None:
    """A package that goes after it was counted, listed, or its path measured: nothing of it is used, no vendor lost."""
    folder = sandbox.folder("package")
    mapping_layer(sandbox, folder, "mapping")
    sandbox.package(folder, PACKAGE_FAMILY, name="clharness.removed", traits=[step])
    for number in range(others):
        sandbox.package(sandbox.folder("empty"), PACKAGE_FAMILY, name=f"clharness.other{number}")
    check_vendors_are_listed(loader, sandbox)
    assert {event.who for event in sandbox.log.happened("loaded")} == {"driver", "registered"}
