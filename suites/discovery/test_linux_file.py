# SPDX-License-Identifier: Apache-2.0
"""Configuration files of the vendor directory on Linux: what a well-formed line may look like (DISC-LNX)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.check import Loader, MockIcd, Sandbox, Unsupported, requirement

# Ways in which an application meets the loader, for what must hold in each of them.
WAYS: dict[str, dict[str, Any]] = {
    "opened": {},
    "opened globally": {"bind_global": True},
    "linked": {"linked": True},
    "private root": {"system": True},
    "ordinary user": {"ordinary_user": True},
    "guarded heap": {"guarded_heap": True},
}

# Around what a reader may have chosen as the size of its buffer; the mock's folder alone takes some 40 bytes.
SIZES = (64, 128, 256, 512, 1024, 2048, 4094)

# Names that are ordinary to dlopen, and meant to be special to a reader that takes lines apart.
ODD_NAMES = [
    "lib a.so",
    " lib.so",
    "#lib.so",
    "lib:a.so",
    "lib;a.so",
    "lib,a.so",
    "lib=a.so",
    "\"lib'a`.so",
    "lib%s%n%d.so",
    "lib*?[a].so",
    "~lib.so",
    "lib\\n\\x41.so",
    "lib$HOME.so",
    "libé-ö-漢.so",
    "lib\udce9.so",
    "lib\x01\x7f\t.so",
    "vendor",
    "a.so",
    "liba.so.1.2.3",
    "vendor.icd",
    ".so",
    "x" * 247 + ".so",
]


def vendor(sandbox: Sandbox, name: str, **settings: Any) -> MockIcd:
    """A vendor with an extension suffix of its own, so that its own functions can be asked for."""
    return sandbox.icd(name, suffix=f"_{name}", **settings)


def padded(path: Path, size: int) -> str:
    """The same file by a path of exactly `size` bytes."""
    more = size - len(str(path))
    if more < 0:
        raise Unsupported("machine", f"paths in the folder for sandboxes have more than {size} bytes: {path}")
    return f"{path.parent}{'/' * (more + 1)}{path.name}"


@requirement("DISC-LNX-002", "DISC-LNX-003")
@pytest.mark.parametrize("way", WAYS)
def test_file_of_one_line_names_a_library(loader: Loader, sandbox: Sandbox, way: str) -> None:
    """Each configuration file holds one line, and the library that the line names is the vendor's."""
    mocks = [vendor(sandbox, name) for name in ("first", "second", "third")]
    unnamed = vendor(sandbox, "unnamed")
    sandbox.vendors_in_order([f"{mock}\n" for mock in mocks])

    with loader.start(sandbox, **WAYS[way]) as cl:
        cl.check_vendors("first", "second", "third")
        assert not cl.maps(unnamed)


@requirement("DISC-LNX-002")
def test_configuration_file_is_text_not_the_library(loader: Loader, sandbox: Sandbox) -> None:
    """A configuration file is read as text: one that is itself a library is not loaded as the vendor's library."""
    itself = vendor(sandbox, "itself", file="itself.icd", folder=sandbox.vendors)
    named = vendor(sandbox, "named", file="named.icd")
    sandbox.vendor_file("good.icd", f"{named}\n")

    with loader.start(sandbox) as cl:
        cl.check_vendors("named")
        assert not cl.maps(itself)


@requirement("DISC-LNX-013", "DISC-LNX-014")
@pytest.mark.parametrize("way", WAYS)
def test_library_path_without_final_newline(loader: Loader, sandbox: Sandbox, way: str) -> None:
    """A .icd file that ends without a newline names its library all the same."""
    with_newline = vendor(sandbox, "with")
    without = vendor(sandbox, "without")
    sandbox.vendor_file("a.icd", f"{with_newline.path}\n")
    sandbox.vendor_file("b.icd", f"{without.path}")

    with loader.start(sandbox, **WAYS[way]) as cl:
        cl.check_vendors("with", "without")


@requirement("DISC-LNX-013", "DISC-LNX-014")
@pytest.mark.parametrize("end", ["\n", ""], ids=["newline", "no newline"])
def test_newline_and_nothing_else_is_taken_off(loader: Loader, sandbox: Sandbox, end: str) -> None:
    """The library's name is the line without its newline: neither with it, nor a character shorter."""
    good = vendor(sandbox, "good", file="lib.so1")
    vendor(sandbox, "longer", file="lib.so1\n")
    vendor(sandbox, "shorter", file="lib.so")
    sandbox.vendor_file("a.icd", f"{good}{end}")

    with loader.start(sandbox) as cl:
        cl.check_vendors("good")


@requirement("DISC-LNX-014")
def test_library_whose_name_ends_in_the_letter_n(loader: Loader, sandbox: Sandbox) -> None:
    """Only a newline is taken off the end of a line: a name may end in any other character."""
    endings = "nrN0 \\t.-_~"
    mocks = [vendor(sandbox, f"v{number:02}", file=f"lib{end}") for number, end in enumerate(endings)]
    sandbox.vendors_in_order([str(mock) for mock in mocks])

    with loader.start(sandbox) as cl:
        cl.check_vendors(*(mock.name for mock in mocks))


@requirement("DISC-LNX-002", "DISC-LNX-013", "DISC-LNX-014")
@pytest.mark.parametrize("heap", ["usual heap", "guarded heap"])
@pytest.mark.parametrize("end", ["\n", ""], ids=["newline", "no newline"])
def test_library_name_of_one_character_is_found(loader: Loader, sandbox: Sandbox, end: str, heap: str) -> None:
    """A file name of a single character names a library as well as a longer one does."""
    mocks = [vendor(sandbox, f"v{length}", file="vendor"[:length]) for length in (1, 2, 3, 4, 5)]
    sandbox.env["LD_LIBRARY_PATH"] = str(sandbox.libraries)
    sandbox.vendors_in_order([f"{mock.path.name}{end}" for mock in mocks])

    with loader.start(sandbox, guarded_heap=heap == "guarded heap") as cl:
        cl.check_vendors(*(mock.name for mock in mocks))


@requirement("DISC-LNX-002", "DISC-LNX-003")
@pytest.mark.parametrize("size", SIZES)
def test_library_with_a_long_path_is_found(loader: Loader, sandbox: Sandbox, size: int) -> None:
    """A library is found by its path whatever the path's length is, up to the longest that the system takes."""
    mocks = [vendor(sandbox, f"v{number}") for number in range(6)]
    lines = [padded(mock.path, size - 1 + number // 2) for number, mock in enumerate(mocks)]
    sandbox.vendors_in_order([line + "\n" * (number % 2) for number, line in enumerate(lines)])

    with loader.start(sandbox) as cl:
        cl.check_vendors(*(mock.name for mock in mocks))


@requirement("DISC-LNX-003", "DISC-LNX-024")
@pytest.mark.parametrize("size", SIZES)
def test_library_path_is_not_cut(loader: Loader, sandbox: Sandbox, size: int) -> None:
    """A line is used whole: its first bytes alone name a library here that nobody asked for."""
    traps = [vendor(sandbox, f"trap{number}") for number in range(3)]
    starts = [padded(trap.path, size - 1 + number) for number, trap in enumerate(traps)]
    control = vendor(sandbox, "control")
    lines = [end for start in starts for end in (f"{start}x\n", f"{start}-absent")]
    sandbox.vendors_in_order([*lines, f"{padded(control.path, size)}\n"])

    with loader.start(sandbox) as cl:
        cl.check_vendors("control")
        assert not any(cl.maps(trap) for trap in traps)


@requirement("DISC-LNX-003")
@pytest.mark.parametrize("end", ["\n", ""], ids=["newline", "no newline"])
def test_odd_characters_in_an_absolute_path_are_kept(loader: Loader, sandbox: Sandbox, end: str) -> None:
    """An absolute path is opened exactly as written, whatever characters it has."""
    mocks = []
    for number, name in enumerate(ODD_NAMES):
        folder = sandbox.folder(f"{name[:100]} {number}")
        mocks.append(vendor(sandbox, f"v{number:02}", file=name, folder=folder))
    sandbox.vendors_in_order([f"{mock}{end}".encode(errors="surrogateescape") for mock in mocks])

    with loader.start(sandbox) as cl:
        cl.check_vendors(*(mock.name for mock in mocks))


@requirement("DISC-LNX-003")
def test_absolute_path_is_not_searched_for(loader: Loader, sandbox: Sandbox) -> None:
    """An absolute path names that file, and not one of the same name where libraries are searched for."""
    folders = [sandbox.folder(name) for name in ("away", "searched", "elsewhere")]
    written = vendor(sandbox, "written", file="libvendor.so", folder=folders[0])
    others = [vendor(sandbox, f"in_{place.name}", file="libvendor.so", folder=place) for place in folders[1:]]
    others.append(vendor(sandbox, "in_vendors", file="libvendor.so", folder=sandbox.vendors))
    others.append(vendor(sandbox, "in_working_folder", file="libvendor.so", folder=sandbox.root))
    sandbox.env["LD_LIBRARY_PATH"] = f"{folders[1]}:{sandbox.libraries}"
    sandbox.vendor_file("a.icd", f"{written}\n")
    sandbox.vendor_file("b.icd", f"{folders[2]}/absent/libvendor.so\n")

    with loader.start(sandbox) as cl:
        cl.check_vendors("written")
        assert not any(cl.maps(other) for other in others)


@requirement("DISC-LNX-003")
def test_absolute_path_is_not_simplified(loader: Loader, sandbox: Sandbox) -> None:
    """Links and ".." in an absolute path mean what they mean to the system, not what the text looks like."""
    deep, shallow = sandbox.folder("deep/er"), sandbox.folder("shallow")
    (shallow / "link").symlink_to(deep)
    meant = vendor(sandbox, "meant", file="libvendor.so", folder=deep.parent)
    looks_like = vendor(sandbox, "looks_like", file="libvendor.so", folder=shallow)
    sandbox.vendor_file("a.icd", f"{shallow}/link/../libvendor.so\n")

    with loader.start(sandbox) as cl:
        cl.check_vendors("meant")
        assert cl.maps(meant)
        assert not cl.maps(looks_like)


@requirement("DISC-LNX-024")
@pytest.mark.parametrize("heap", ["usual heap", "guarded heap"])
@pytest.mark.parametrize("size", [4096, 4097, 8192, 65535, 65536, 1 << 20, 5 << 20])
def test_line_too_long_for_a_path_is_ignored(loader: Loader, sandbox: Sandbox, size: int, heap: str) -> None:
    """A line beyond the longest path is ignored, and the vendors before and after it are not affected."""
    ended, whole = "a" * (size - 1) + "\n", "a" * size
    sandbox.vendors_in_order([ended, f"{vendor(sandbox, 'one')}\n", whole, f"{vendor(sandbox, 'two')}\n", ended])

    with loader.start(sandbox, guarded_heap=heap == "guarded heap") as cl:
        cl.check_vendors("one", "two")


@requirement("DISC-LNX-024")
@pytest.mark.parametrize("size", [4096, 4097, 5000, 65536, 1 << 20])
def test_path_one_byte_too_long_is_ignored(loader: Loader, sandbox: Sandbox, size: int) -> None:
    """A path that is one byte too long for the system is ignored, even if a shorter one would name a library."""
    long = vendor(sandbox, "long")
    control = vendor(sandbox, "control")
    sandbox.vendors_in_order([f"{padded(long.path, size)}\n", f"{padded(control.path, 4095)}\n"])

    with loader.start(sandbox) as cl:
        cl.check_vendors("control")
