# SPDX-License-Identifier: Apache-2.0
"""Paths with letters beyond ASCII, from each place that names libraries (DISC-WIN-013).

Letters of the machine's code page are those that the ANSI load function opens; no text asks for more.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.check import PACKAGE_FAMILY, Sandbox, Unsupported, WindowsLoader, requirement

Record = Callable[[str], None]
# In some code pages a letter takes several bytes: a path of few letters may have more bytes than paths have letters.
LETTERS = {"accents": "bibliothèque", "umlauts": "größe", "signs": "50% §±µ", "many": "ü" * 110}


def require_letters(loader: WindowsLoader, sandbox: Sandbox, text: str) -> None:
    """A machine whose code page lacks the letters makes the case unsupported."""
    with loader.start(sandbox) as cl:
        page = cl.code_page()
    try:
        text.encode("utf-8" if page == 65001 else f"cp{page}")
    except (LookupError, UnicodeEncodeError):
        raise Unsupported("machine", f"code page {page} lacks these letters") from None


def _key(loader: WindowsLoader, sandbox: Sandbox, path: str) -> None:
    sandbox.registry_vendor(path)


def _adapter(loader: WindowsLoader, sandbox: Sandbox, path: str) -> None:
    sandbox.adapter(vendor=path)


def _kernel(loader: WindowsLoader, sandbox: Sandbox, path: str) -> None:
    sandbox.adapter(vendor=path, devices=False)


def _device(loader: WindowsLoader, sandbox: Sandbox, path: str) -> None:
    sandbox.older_system()
    sandbox.adapter(vendor=path)


def _list(loader: WindowsLoader, sandbox: Sandbox, path: str) -> None:
    loader.require("OCL_ICD_FILENAMES")
    sandbox.env["OCL_ICD_FILENAMES"] = path


PLACES = {
    "the Vendors key": _key,
    "an adapter": _adapter,
    "the kernel alone": _kernel,
    "a device": _device,
    "OCL_ICD_FILENAMES": _list,
}
# Which requirement each is of, where it is not that of the paths of the registry.
OTHERS = {"the kernel alone": "DISC-WIN-028", "OCL_ICD_FILENAMES": "DISC-ENV-008"}


@pytest.mark.parametrize("letters", LETTERS)
@pytest.mark.parametrize(
    "place",
    [pytest.param(p, marks=pytest.mark.requirement(OTHERS.get(p, "DISC-WIN-013"))) for p in PLACES],
)
def test_path_with_letters_of_the_machine_is_opened(
    loader: WindowsLoader, sandbox: Sandbox, place: str, letters: str
) -> None:
    """A path that the machine's code page can write is that of a vendor, wherever it is named."""
    require_letters(loader, sandbox, LETTERS[letters])
    sandbox.registry_vendor(sandbox.icd("plain"))
    PLACES[place](loader, sandbox, str(sandbox.icd("letters", file=f"{LETTERS[letters]}.dll")))
    with loader.start(sandbox) as cl:
        assert sorted(cl.used_platforms()) == ["letters", "plain"]


@requirement("DISC-WIN-013")
@pytest.mark.parametrize("place", ["the Vendors key", "an adapter", "a device"])
def test_path_with_other_letters_costs_only_itself(
    loader: WindowsLoader, sandbox: Sandbox, place: str, record: Record
) -> None:
    """A path that the machine's code page cannot write may be opened, or not; the vendors beside it are there."""
    sandbox.registry_vendor(sandbox.icd("a"))
    sandbox.registry_vendor(sandbox.icd("z"))
    letters = sandbox.icd("letters", folder=sandbox.folder("first"), file="библиотека図書館.dll")
    PLACES[place](loader, sandbox, str(letters))
    with loader.start(sandbox) as cl:
        names = cl.used_platforms()
    assert sorted(name for name in names if name != "letters") == ["a", "z"]
    record("opened" if "letters" in names else "passed over")


@requirement("DISC-WIN-005")
@pytest.mark.parametrize("folder", ["plain", "deep", "accents", "long", "very long"])
def test_package_in_a_folder_of_any_name_costs_nobody(
    loader: WindowsLoader, sandbox: Sandbox, folder: str, record: Record
) -> None:
    """A package whose folder has letters beyond ASCII, or more of them than a path may have, costs no vendor."""
    place = sandbox.folder({"accents": "bibliothèque", "deep": "d" * 150}.get(folder, folder))
    depth = {"long": 5, "very long": 50}.get(folder, 0)
    (place / "x64").mkdir()
    sandbox.icd("mapping", folder=place / "x64", file="OpenCLOn12.dll")
    sandbox.package(place.joinpath(*["y" * 60] * depth), PACKAGE_FAMILY)
    sandbox.adapter(vendor=sandbox.icd("driver"))
    with loader.start(sandbox) as cl:
        names = cl.used_platforms()
    assert sorted(name for name in names if name != "mapping") == ["driver"]
    record("listed" if "mapping" in names else "not listed")
