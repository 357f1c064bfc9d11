# SPDX-License-Identifier: Apache-2.0
"""The vendor directory on Linux: where it is, and which of its files are configuration files (DISC-LNX)."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from harness.check import (
    ANDROID_VENDORS,
    CL,
    SYSTEM_LAYERS,
    SYSTEM_VENDORS,
    Loader,
    MockIcd,
    Sandbox,
    Session,
    Unsupported,
    requirement,
)

Record = Callable[[str], None]

WAYS: dict[str, dict[str, Any]] = {
    "opened": {},
    "linked": {"linked": True},
    "private root": {"system": True},
    "guarded heap": {"guarded_heap": True},
}


def vendor(sandbox: Sandbox, name: str, **settings: Any) -> MockIcd:
    """A vendor with an extension suffix of its own, so that its own functions can be asked for."""
    return sandbox.icd(name, suffix=f"_{name}", **settings)


# --- the place ---


SIMILAR_PLACES = ("/etc/OpenCL", "/etc/OpenCL/vendor", "/etc/opencl/vendors", SYSTEM_LAYERS, "/vendors")


def compiled_for_android(loader: Loader, sandbox: Sandbox) -> bool:
    with loader.start(sandbox, system_binds={ANDROID_VENDORS: sandbox.vendors}) as cl:
        return cl.platform_count() > 0


def compiled_in_vendors(loader: Loader, sandbox: Sandbox, count: int) -> list[str]:
    """Vendors for the directory that is compiled into a loader for Linux; gives their names."""
    mocks = [vendor(sandbox, f"v{number}") for number in range(count)]
    sandbox.vendors_in_order([f"{mock}\n" for mock in mocks])
    if compiled_for_android(loader, sandbox):
        raise Unsupported("loader", f"this loader is compiled for Android: its directory is {ANDROID_VENDORS}")
    sandbox.forget_log()
    return [mock.name for mock in mocks]


@requirement("DISC-LNX-001")
@pytest.mark.parametrize("count", [1, 3])
def test_compiled_in_directory_is_read(loader: Loader, sandbox: Sandbox, count: int) -> None:
    """Without any variable the loader finds the vendors of /etc/OpenCL/vendors."""
    names = compiled_in_vendors(loader, sandbox, count)
    with loader.start(sandbox, system_binds={SYSTEM_VENDORS: sandbox.vendors}) as cl:
        cl.check_vendors(*names)


@requirement("DISC-LNX-038")
@pytest.mark.parametrize("count", [1, 3])
def test_directories_of_similar_names_are_not_read(loader: Loader, sandbox: Sandbox, count: int) -> None:
    """Beside /etc/OpenCL/vendors no similar place is read."""
    names = compiled_in_vendors(loader, sandbox, count)
    binds = {SYSTEM_VENDORS: sandbox.vendors}
    for number, place in enumerate(SIMILAR_PLACES):
        folder = sandbox.folder(f"similar{number}")
        sandbox.vendor_file("similar.icd", f"{vendor(sandbox, f'similar{number}')}\n", folder)
        (folder / "vendors").mkdir()
        (folder / "layers").mkdir()
        (folder / "vendor").mkdir()
        binds = {place: folder, **binds} if number == 0 else binds | {place: folder}

    with loader.start(sandbox, system_binds=binds) as cl:
        cl.check_vendors(*names)


@requirement("DISC-LNX-027")
@pytest.mark.parametrize("place", ["absent", "empty"])
def test_missing_compiled_in_directory_is_platform_not_found(loader: Loader, sandbox: Sandbox, place: str) -> None:
    """Where /etc/OpenCL/vendors is missing or empty there are no platforms."""
    vendor(sandbox, "elsewhere")
    binds = {} if place == "absent" else {SYSTEM_VENDORS: sandbox.vendors}
    with loader.start(sandbox, system_binds=binds) as cl:
        assert_no_platform(cl)


def assert_no_platform(cl: Session) -> None:
    """-1001 in every form of the question, also when it is repeated."""
    for _ in range(2):
        count, platforms = cl.buffer(4), cl.room(2)
        assert cl.clGetPlatformIDs(0, None, count) == CL.PLATFORM_NOT_FOUND_KHR
        assert cl.clGetPlatformIDs(2, platforms, count) == CL.PLATFORM_NOT_FOUND_KHR
        assert cl.clGetPlatformIDs(2, platforms, None) == CL.PLATFORM_NOT_FOUND_KHR
    assert cl.vendor_function("clWho_one") is None


# Vendor directories in which there is no configuration file; "{}" is the usual one.
BARREN = {
    "absent": "{}/absent",
    "absent below a file": "{}/../file/vendors",
    "empty": "{}",
    "empty, with a slash": "{}/",
    "a name too long": "{}/" + "x" * 300,
    "a path too long": "{}" + "/x" * 3000,
    "a link to nothing": "{}/../dangling",
    "a link to itself": "{}/../itself",
}


@requirement("DISC-LNX-027")
@pytest.mark.parametrize("linked", [False, True], ids=["opened", "linked"])
@pytest.mark.parametrize("barren", BARREN)
def test_missing_vendor_directory_is_platform_not_found(
    loader: Loader, sandbox: Sandbox, barren: str, linked: bool
) -> None:
    """A vendor directory that is missing, empty or cannot be opened is the same as having no vendors."""
    loader.require("OCL_ICD_VENDORS")
    sandbox.file("file")
    (sandbox.root / "dangling").symlink_to("absent")
    (sandbox.root / "itself").symlink_to("itself")
    sandbox.env["OCL_ICD_VENDORS"] = BARREN[barren].format(sandbox.vendors)
    with loader.start(sandbox, linked=linked) as cl:
        assert_no_platform(cl)


@requirement("DISC-LNX-027", "DISC-LNX-012")
@pytest.mark.parametrize("mode", [0o000, 0o111, 0o444], ids=oct)
def test_vendor_directory_without_permission_is_platform_not_found(loader: Loader, sandbox: Sandbox, mode: int) -> None:
    """A vendor directory that the user may not list, or whose files they may not reach, is the same as none."""
    sandbox.vendor("hidden")
    sandbox.vendors.chmod(mode)
    with loader.start(sandbox, ordinary_user=True) as cl:
        assert_no_platform(cl)
    sandbox.vendors.chmod(0o755)
    with loader.start(sandbox, ordinary_user=True) as cl:
        assert cl.platform_names() == {"hidden"}


@requirement("DISC-LNX-005")
@pytest.mark.parametrize("count", [1, 2, 100])
def test_directory_of_other_files_is_platform_not_found(loader: Loader, sandbox: Sandbox, count: int) -> None:
    """A directory that holds other files only is the same as an empty one."""
    mock = vendor(sandbox, "hidden")
    for number in range(count):
        sandbox.vendor_file(f"{number}.conf", f"{mock}\n")
    with loader.start(sandbox) as cl:
        assert_no_platform(cl)
    assert not sandbox.log.of("hidden")


def _spelled(folder: Path, length: int, ending: str) -> str:
    """A path of `length` characters for a folder, by slashes before its name; the loader needs its ending."""
    return f"{folder.parent}{'/' * (length - len(f'{folder}{ending}') + 1)}{folder.name}{ending}"


@requirement("DISC-ENV-001")
@pytest.mark.parametrize("length", [63, 64, 65, 127, 128, 129, 255, 256, 257, 1023, 1024, 1025, 3900])
def test_directory_with_a_long_path_is_read(loader: Loader, sandbox: Sandbox, length: int) -> None:
    """The vendor directory's files are read whatever the length of its path is."""
    loader.require("OCL_ICD_VENDORS")
    names = ("one", "two", "three")
    for number, name in enumerate(names):
        sandbox.vendor_file(f"{'x' * 50 * number}{name}.icd", f"{vendor(sandbox, name)}\n")
    sandbox.env["OCL_ICD_VENDORS"] = _spelled(sandbox.vendors, length, loader.folder_ending)
    with loader.start(sandbox, guarded_heap=True) as cl:
        cl.check_vendors(*names)


@requirement("DISC-ENV-001")
@pytest.mark.parametrize("length", [4084, 4085, 4086, 4087, 4090, 4095])
def test_path_too_long_for_directory_and_name_does_no_harm(
    loader: Loader, sandbox: Sandbox, record: Record, length: int
) -> None:
    """Where directory and file name together are too long for a path, the file is ignored or read, without harm."""
    loader.require("OCL_ICD_VENDORS")
    sandbox.vendor_file("abcde.icd", f"{vendor(sandbox, 'one')}\n")
    sandbox.env["OCL_ICD_VENDORS"] = _spelled(sandbox.vendors, length, loader.folder_ending)
    with loader.start(sandbox, guarded_heap=True) as cl:
        names = cl.used_platforms()
        assert names in ([], ["one"])
        record("read" if names else "ignored")


# --- names ---

CONSIDERED = [
    "a.icd",
    "aa.icd",
    "1.icd",
    "abc.icd",
    "vendor-1_0.icd",
    "a.b.icd",
    "a.icd.icd",
    "a.txt.icd",
    "icd.icd",
    "a b.icd",
    " .icd",
    "-.icd",
    "~.icd",
    "#a#.icd",
    "%s%n%d.icd",
    "$HOME.icd",
    "*.icd",
    "a:b;c,d=e.icd",
    "\\.icd",
    "\n.icd",
    "é漢.icd",
    "\udcff.icd",
    "AbC.icd",
    "x" * 100 + ".icd",
    "y" * 123 + ".icd",
    "y" * 124 + ".icd",
    "y" * 125 + ".icd",
    "z" * 249 + ".icd",
    "z" * 250 + ".icd",
    "z" * 251 + ".icd",
]

NOT_CONSIDERED = [
    "a",
    "ab",
    "abc",
    "abcd",
    "abcde",
    "icd",
    "aicd",
    "xxicd",
    "a_icd",
    "a.ic",
    "a.cd",
    "a.icdx",
    "a.icd.bak",
    "a.icd~",
    "a.icd.",
    "a.icd ",
    "a.icd\n",
    "a.icd.dpkg-old",
    "a.icd.rpmsave",
    ".a.icd.swp",
    "#a.icd#",
    ".icd.",
    "icd.",
    "a.txt",
    "a.conf",
    "a.lay",
    "a.so",
    "a.dci",
    "a.idc",
    "a.iced",
    "a.jcd",
    "a.icc",
    "a.hcd",
    "a.i",
    "a.",
    "...",
    "x" * 255,
    "x" * 251 + ".ic_",
]

OTHER_CASE = ["a.ICD", "a.Icd", "a.iCd", "a.icD", "a.ICd", "a.iCD", "a.IcD", "A.ICD", ".ICD"]

DOT_FILES = [".hidden.icd", ".a.icd", "..icd", "..hidden.icd", "...icd", ".#a.icd"]


def named_files(sandbox: Sandbox, names: Sequence[str], start: str) -> list[str]:
    """A vendor for each file name; gives the vendors' names."""
    vendors = [f"{start}{number:02}" for number in range(len(names))]
    for name, of in zip(names, vendors, strict=True):
        sandbox.vendor_file(name, f"{vendor(sandbox, of)}\n")
    return vendors


@requirement("DISC-LNX-005")
@pytest.mark.parametrize("way", WAYS)
def test_every_file_that_ends_in_icd_is_read(loader: Loader, sandbox: Sandbox, way: str) -> None:
    """Every file whose name ends in ".icd" is read, however long or odd what stands before that is."""
    good = named_files(sandbox, CONSIDERED, "considered")
    with loader.start(sandbox, **WAYS[way]) as cl:
        cl.check_vendors(*good)


@requirement("DISC-LNX-005")
@pytest.mark.parametrize("name", CONSIDERED[:5])
def test_single_configuration_file_is_read(loader: Loader, sandbox: Sandbox, name: str) -> None:
    """A single configuration file in the directory is read."""
    good = named_files(sandbox, [name], "single")
    with loader.start(sandbox) as cl:
        cl.check_vendors(*good)


@requirement("DISC-LNX-005")
@pytest.mark.parametrize("way", WAYS)
def test_file_that_does_not_end_in_icd_is_not_read(loader: Loader, sandbox: Sandbox, way: str) -> None:
    """A file whose name does not end in ".icd" is not read, even if it names a vendor's library."""
    named_files(sandbox, NOT_CONSIDERED, "other")
    good = named_files(sandbox, ["a.icd", "b.icd"], "considered")
    with loader.start(sandbox, **WAYS[way]) as cl:
        cl.check_vendors(*good)


@requirement("DISC-LNX-006")
def test_file_suffix_in_another_case_is_not_read(loader: Loader, sandbox: Sandbox) -> None:
    """A suffix with capital letters is another suffix."""
    named_files(sandbox, OTHER_CASE, "other")
    good = named_files(sandbox, ["a.icd", "A.icd"], "considered")
    with loader.start(sandbox) as cl:
        cl.check_vendors(*good)


@requirement("DISC-LNX-007")
@pytest.mark.parametrize("heap", ["usual heap", "guarded heap"])
@pytest.mark.parametrize("alone", [True, False], ids=["alone", "among others"])
def test_file_called_only_icd_does_no_harm(
    loader: Loader, sandbox: Sandbox, record: Record, alone: bool, heap: str
) -> None:
    """A file called ".icd" is a configuration file or not; short names around it do no harm."""
    (sandbox.vendors / ".icd").write_text(f"{vendor(sandbox, 'bare')}\n")
    good = [] if alone else named_files(sandbox, ["a.icd"], "considered")
    if not alone:
        named_files(sandbox, ["a", "ab", "icd", "cd", "d"], "other")
    with loader.start(sandbox, guarded_heap=heap == "guarded heap") as cl:
        bare = [name for name in cl.platform_names() if name == "bare"]
        cl.check_vendors(*good, *bare)
    record("accepted" if bare else "ignored")


@requirement("DISC-LNX-008")
@pytest.mark.parametrize("heap", ["usual heap", "guarded heap"])
@pytest.mark.parametrize("name", DOT_FILES)
def test_configuration_file_that_starts_with_a_dot_is_read(
    loader: Loader, sandbox: Sandbox, name: str, heap: str
) -> None:
    """A file whose name starts with a dot is a configuration file like any other, also for what counts the files."""
    good = named_files(sandbox, [name, "a.icd"], "considered")
    with loader.start(sandbox, guarded_heap=heap == "guarded heap") as cl:
        cl.check_vendors(*good)


# --- numbers ---


@requirement("DISC-LNX-002")
@pytest.mark.parametrize("heap", ["usual heap", "guarded heap"])
@pytest.mark.parametrize("count", [1, 2, 3, 7, 8, 9, 16, 17, 33])
def test_every_file_is_read_once(loader: Loader, sandbox: Sandbox, count: int, heap: str) -> None:
    """Each file of the directory is read exactly once, however many there are and in whatever order they lie."""
    names = [f"v{number:03}" for number in range(count)]
    sandbox.vendors_in_order([f"{vendor(sandbox, name)}\n" for name in names])
    with loader.start(sandbox, guarded_heap=heap == "guarded heap") as cl:
        cl.check_vendors(*names)


@requirement("DISC-LNX-028")
@pytest.mark.parametrize("bad", [1, 7, 8, 9, 33])
def test_bad_files_cost_no_good_ones(loader: Loader, sandbox: Sandbox, bad: int) -> None:
    """Files that name no library do not keep the files between and after them from being read."""
    names = [f"v{number:03}" for number in range(5)]
    lines = []
    for name in names:
        lines += ["/absent/lib.so\n"] * bad + [f"{vendor(sandbox, name)}\n"]
    sandbox.vendors_in_order([*lines, *["/absent/lib.so\n"] * bad])
    with loader.start(sandbox, guarded_heap=bad == 1) as cl:
        cl.check_vendors(*names)


@requirement("DISC-LNX-005", "DISC-LNX-028")
@pytest.mark.parametrize("suffix", [".icd", ".txt"])
def test_directory_of_ten_thousand_files_is_read_to_its_end(loader: Loader, sandbox: Sandbox, suffix: str) -> None:
    """A directory of ten thousand files is read to its end."""
    absent = sandbox.file("absent", "/absent/lib.so\n")
    names = ("one", "two", "three")
    for name in names:
        sandbox.vendor_file(f"{name}.icd", f"{vendor(sandbox, name)}\n")
        for number in range(5000):
            os.link(absent, sandbox.vendors / f"{name}{number}{suffix}")
    with loader.start(sandbox) as cl:
        cl.check_vendors(*names)


@requirement("DISC-LNX-027")
@pytest.mark.parametrize("present", [False, True], ids=["missing", "present"])
def test_missing_directory_is_not_the_working_directory(loader: Loader, sandbox: Sandbox, present: bool) -> None:
    """In place of a vendor directory that is missing, no other one is read: neither the working directory nor `/`."""
    folder = sandbox.root / "elsewhere"
    sandbox.vendor_file("decoy.icd", f"{sandbox.icd('decoy')}\n", sandbox.root)  # the program's working directory
    sandbox.env["OCL_ICD_VENDORS"] = f"{folder}{loader.folder_ending}"
    if present:  # the control: the same directory, with one vendor in it
        folder.mkdir()
        sandbox.vendor_file("vendor.icd", f"{sandbox.icd('vendor')}\n", folder)
    loader.require("OCL_ICD_VENDORS")

    with loader.start(sandbox) as cl:
        assert cl.platform_names() == ({"vendor"} if present else set())
    assert not sandbox.log.of("decoy")
