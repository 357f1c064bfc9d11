# SPDX-License-Identifier: Apache-2.0
"""Entries of the vendor directory that are not plain files: folders, links, devices, unreadable files (DISC-LNX)."""

from __future__ import annotations

import os
import random
import shutil
import socket
import stat
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from harness.check import Loader, MockIcd, Sandbox, Unsupported, requirement

Maker = Callable[[Path], object]

PLACES = {
    "only": ["bad"],
    "first": ["bad", "one", "two"],
    "middle": ["one", "bad", "two"],
    "last": ["one", "two", "bad"],
}


def vendor(sandbox: Sandbox, name: str, **settings: Any) -> MockIcd:
    """A vendor with an extension suffix of its own, so that its own functions can be asked for."""
    return sandbox.icd(name, suffix=f"_{name}", **settings)


def plain_file(line: str, mode: int = 0o644) -> Maker:
    def make(path: Path) -> None:
        path.write_text(line)
        path.chmod(mode)

    return make


def entries_in_order(sandbox: Sandbox, makers: Sequence[Maker], suffix: str = ".icd") -> list[Path]:
    """Makes entries of any kind in the vendor directory, in an order that `readdir` lists them in.

    What lies there before may come anywhere among them.
    """
    others = set(os.listdir(sandbox.vendors))
    source = random.Random(len(makers))
    for attempt in range(200):
        paths = [sandbox.vendors / f"{source.randrange(10**6):06}{suffix}" for _ in makers]
        numbers = range(len(makers)) if attempt % 2 else reversed(range(len(makers)))
        for number in numbers:
            makers[number](paths[number])
        listed = [entry.name for entry in os.scandir(sandbox.vendors) if entry.name not in others]
        if listed == [path.name for path in paths]:
            return paths
        for path in paths:
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    raise Unsupported("machine", "the order of directory entries cannot be controlled on this file system")


def assert_only_good(
    loader: Loader, sandbox: Sandbox, place: str, bad: Maker, good: Sequence[str] = (), **start: Any
) -> None:
    """The files around a bad entry, and `good` vendors that the entry itself brings in, are all there is."""
    mocks = {name: vendor(sandbox, name) for name in PLACES[place] if name != "bad"}
    makers = [bad if name == "bad" else plain_file(f"{mocks[name]}\n") for name in PLACES[place]]
    entries_in_order(sandbox, makers)
    with loader.start(sandbox, **start) as cl:
        cl.check_vendors(*mocks, *good)
        assert cl.platform_count() == len(mocks) + len(good)


def unix_socket(path: Path) -> None:
    here = os.open(path.parent, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"/proc/self/fd/{here}/{path.name}")
    os.close(here)


def null_device(path: Path) -> None:
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    except PermissionError:
        raise Unsupported("machine", "this user cannot make devices") from None


def link_to(target: str) -> Maker:
    return lambda path: path.symlink_to(target)


def link_to_itself(path: Path) -> None:
    path.symlink_to(path.name)


SPECIAL: dict[str, tuple[str, Maker]] = {
    "folder": ("DISC-LNX-009", Path.mkdir),
    "link to a folder": ("DISC-LNX-009", link_to("/usr")),
    "link to the directory": ("DISC-LNX-009", link_to(".")),
    "dangling link": ("DISC-LNX-010", link_to("absent.txt")),
    "link to itself": ("DISC-LNX-010", link_to_itself),
    "link below a file": ("DISC-LNX-010", link_to("/bin/true/x")),
    "link with a long name": ("DISC-LNX-010", link_to("x" * 300)),
    "FIFO": ("DISC-LNX-011", os.mkfifo),
    "link to a FIFO": ("DISC-LNX-011", link_to("fifo")),
    "socket": ("DISC-LNX-011", unix_socket),
    "device": ("DISC-LNX-011", null_device),
    "link to /dev/null": ("DISC-LNX-011", link_to("/dev/null")),
    "link to /dev/zero": ("DISC-LNX-011", link_to("/dev/zero")),
    "link to /dev/full": ("DISC-LNX-011", link_to("/dev/full")),
    "file of /proc": ("DISC-LNX-011", link_to("/proc/self/cmdline")),
    "file shorter than it says": ("DISC-LNX-011", link_to("/sys/kernel/uevent_seqnum")),
    "file that cannot be read": ("DISC-LNX-011", link_to("/proc/self/mem")),
}


def _special(identifier: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("special", [name for name, row in SPECIAL.items() if row[0] == identifier])


@requirement("DISC-LNX-009")
@pytest.mark.parametrize("place", PLACES)
@_special("DISC-LNX-009")
def test_folder_that_ends_in_icd_is_passed_over(loader: Loader, sandbox: Sandbox, special: str, place: str) -> None:
    """A folder whose name ends in ".icd" is passed over, and the files before and after it are read."""
    assert_only_good(loader, sandbox, place, SPECIAL[special][1])


@requirement("DISC-LNX-009")
@pytest.mark.parametrize("place", PLACES)
def test_folder_of_configuration_files_is_not_searched(loader: Loader, sandbox: Sandbox, place: str) -> None:
    """A folder in the vendor directory is not searched for configuration files."""
    hidden = vendor(sandbox, "hidden")

    def folder(path: Path) -> None:
        path.mkdir()
        for name in ("a.icd", path.name):
            (path / name).write_text(f"{hidden}\n")

    assert_only_good(loader, sandbox, place, folder)


@requirement("DISC-LNX-010")
@pytest.mark.parametrize("place", PLACES)
@_special("DISC-LNX-010")
def test_link_to_nothing_is_passed_over(loader: Loader, sandbox: Sandbox, special: str, place: str) -> None:
    """A link that leads to no file is passed over, and the files before and after it are read."""
    assert_only_good(loader, sandbox, place, SPECIAL[special][1])


@requirement("DISC-LNX-011")
@pytest.mark.parametrize("place", ["first"])
@_special("DISC-LNX-011")
def test_special_file_does_not_stop_discovery(loader: Loader, sandbox: Sandbox, special: str, place: str) -> None:
    """A special file called like a configuration file does not stop discovery."""
    os.mkfifo(sandbox.vendors / "fifo")
    assert_only_good(loader, sandbox, place, SPECIAL[special][1])


# Links to a configuration file: from "x.icd" in the vendor directory to this target; {0} is that directory. What is
# relative stays in it: a loader that knows no variable is shown it in another place.
LINKS = {
    "absolute": "{0}/elsewhere/vendor.txt",
    "relative": "elsewhere/vendor.txt",
    "to no suffix": "{0}/elsewhere/vendor",
    "to an upper-case suffix": "{0}/elsewhere/vendor.ICD",
    "of links": "elsewhere/link",
    "through a linked folder": "linked/vendor.txt",
}


@requirement("DISC-LNX-010")
@pytest.mark.parametrize("place", ["only", "first", "last"])
@pytest.mark.parametrize("link", LINKS)
def test_link_to_a_configuration_file_is_followed(loader: Loader, sandbox: Sandbox, link: str, place: str) -> None:
    """A link to a configuration file is followed, whatever the file's own name is."""
    folder = sandbox.folder("vendors/elsewhere")
    line = f"{vendor(sandbox, 'linked')}\n"
    for name in ("vendor.txt", "vendor", "vendor.ICD"):
        (folder / name).write_text(line)
    (folder / "link").symlink_to("vendor.txt")
    (sandbox.vendors / "linked").symlink_to("elsewhere")
    target = LINKS[link].format(sandbox.vendors)
    assert_only_good(loader, sandbox, place, lambda path: path.symlink_to(target), ["linked"])


@requirement("DISC-LNX-005")
def test_link_counts_by_its_own_name(loader: Loader, sandbox: Sandbox) -> None:
    """A link whose own name does not end in ".icd" is not followed, even to a configuration file."""
    folder = sandbox.folder("elsewhere")
    for name in ("reached", "unreached"):
        (folder / f"{name}.icd").write_text(f"{vendor(sandbox, name)}\n")
    (sandbox.vendors / "link.txt").symlink_to(folder / "unreached.icd")
    (sandbox.vendors / "link.icd").symlink_to(folder / "reached.icd")
    with loader.start(sandbox) as cl:
        cl.check_vendors("reached")


@pytest.mark.parametrize(
    "way",
    [
        pytest.param("variable", marks=pytest.mark.requirement("DISC-ENV-001")),
        pytest.param("private root", marks=pytest.mark.requirement("DISC-LNX-010")),
    ],
)
def test_linked_vendor_directory_is_read(loader: Loader, sandbox: Sandbox, way: str) -> None:
    """A vendor directory that is reached through a link is read like any other."""
    (sandbox.root / "link").symlink_to(sandbox.vendors)
    sandbox.vendor_file("a.icd", f"{vendor(sandbox, 'one')}\n")
    if way == "variable":
        loader.require("OCL_ICD_VENDORS")
        sandbox.env["OCL_ICD_VENDORS"] = str(sandbox.root / "link")
    with loader.start(sandbox, system=way == "private root") as cl:
        cl.check_vendors("one")


@requirement("DISC-LNX-010")
def test_hard_link_to_a_configuration_file_is_read(loader: Loader, sandbox: Sandbox) -> None:
    """A configuration file that has another name outside the directory is read like any other."""
    outside = sandbox.file("outside.txt", f"{vendor(sandbox, 'one')}\n")
    os.link(outside, sandbox.vendors / "a.icd")
    with loader.start(sandbox) as cl:
        cl.check_vendors("one")


UNREADABLE = ["file", "write-only file", "folder", "link into a closed folder", "link to a closed file"]


@requirement("DISC-LNX-012")
@pytest.mark.parametrize("place", ["only", "first", "last"])
@pytest.mark.parametrize("kind", UNREADABLE)
def test_unreadable_file_is_passed_over(loader: Loader, sandbox: Sandbox, kind: str, place: str) -> None:
    """A configuration file that the user may not read is passed over, and the files around it are read."""
    line = f"{vendor(sandbox, 'hidden')}\n"
    closed = sandbox.folder("closed")
    (closed / "vendor.txt").write_text(line)
    closed_file = sandbox.file("closed.txt", line, mode=0o000)
    closed.chmod(0o000)
    makers: dict[str, Maker] = {
        "file": plain_file(line, 0o000),
        "write-only file": plain_file(line, 0o222),
        "folder": lambda path: path.mkdir(mode=0o000),
        "link into a closed folder": lambda path: path.symlink_to(closed / "vendor.txt"),
        "link to a closed file": lambda path: path.symlink_to(closed_file),
    }
    assert_only_good(loader, sandbox, place, makers[kind], ordinary_user=True, linked=place == "last")


@requirement("DISC-LNX-012")
def test_unreadable_file_that_becomes_readable_is_read(loader: Loader, sandbox: Sandbox) -> None:
    """Only the permission to read makes the difference: the same file is read once the user may read it."""
    vendor(sandbox, "hidden")
    file = sandbox.vendor_file("a.icd", f"{sandbox.libraries}/libhidden.so\n")
    for mode, names in ((0o000, []), (0o444, ["hidden"])):
        file.chmod(mode)
        with loader.start(sandbox, ordinary_user=True) as cl:
            cl.check_vendors(*names)


@requirement("DISC-LNX-009", "DISC-LNX-010")
@pytest.mark.parametrize("heap", ["usual heap", "guarded heap"])
@pytest.mark.parametrize("special", [name for name in SPECIAL if SPECIAL[name][0] != "DISC-LNX-011"])
def test_many_special_entries_do_not_disturb_the_count_of_files(
    loader: Loader, sandbox: Sandbox, special: str, heap: str
) -> None:
    """More entries that are passed over than files that are read do not disturb the counting of the files."""
    makers: list[Maker] = [SPECIAL[special][1]] * 9
    makers.insert(4, plain_file(f"{vendor(sandbox, 'one')}\n"))
    for number, maker in enumerate(makers):
        maker(sandbox.vendors / f"{number}.icd")
    with loader.start(sandbox, guarded_heap=heap == "guarded heap") as cl:
        cl.check_vendors("one")


@requirement("DISC-LNX-012", "DISC-LNX-002")
@pytest.mark.parametrize("mode", [0o400, 0o440, 0o600, 0o640, 0o644, 0o755, 0o777, 0o4644], ids=oct)
def test_readable_file_of_any_mode_is_read(loader: Loader, sandbox: Sandbox, mode: int) -> None:
    """A configuration file that the program may read is read, whatever else its mode says."""
    sandbox.vendor("plain")
    sandbox.vendor_file("mode.icd", f"{sandbox.icd('mode')}\n").chmod(mode)

    with loader.start(sandbox) as cl:
        assert cl.platform_names() == {"plain", "mode"}
