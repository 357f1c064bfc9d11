# SPDX-License-Identifier: Apache-2.0
"""The library that a configuration file names on Linux: how it is searched for, opened and told apart (DISC-LNX)."""

from __future__ import annotations

import os
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.check import CommandError, Loader, MockIcd, Sandbox, Unsupported, build, requirement

Record = Callable[[str], None]

WAYS: dict[str, dict[str, Any]] = {
    "opened": {},
    "opened globally": {"bind_global": True},
    "linked": {"linked": True},
    "guarded heap": {"guarded_heap": True},
}

PLACES = {
    "only": ["bad"],
    "first": ["bad", "one", "two"],
    "middle": ["one", "bad", "two"],
    "last": ["one", "two", "bad"],
    "everywhere": ["bad", "one", "bad", "bad", "two", "bad"],
}


def vendor(sandbox: Sandbox, name: str, **settings: Any) -> MockIcd:
    """A vendor with an extension suffix of its own, so that its own functions can be asked for."""
    return sandbox.icd(name, suffix=f"_{name}", **settings)


def good_vendors(sandbox: Sandbox, place: str, bad: object) -> list[str]:
    """Fills the vendor directory with files for `bad` and for good vendors; gives the names of the good ones."""
    names = [name for name in PLACES[place] if name != "bad"]
    lines = {name: f"{vendor(sandbox, name)}\n" for name in names}
    sandbox.vendors_in_order([lines.get(name, f"{bad}\n") for name in PLACES[place]])
    return names


def assert_ignored(loader: Loader, sandbox: Sandbox, place: str, bad: object, way: str = "opened") -> None:
    """The good vendors around a bad library are all there is; nothing of it stays loaded."""
    good = good_vendors(sandbox, place, bad)
    with loader.start(sandbox, **WAYS[way]) as cl:
        cl.check_vendors(*good)
        assert not cl.maps(bad)


# --- bare names ---


@requirement("DISC-LNX-004")
@pytest.mark.parametrize("name", ["libvendor.so", "vendor", "libvendor.so.1.2", "lib vendor.so", "v.icd"])
def test_bare_name_is_searched_by_the_dynamic_linker(loader: Loader, sandbox: Sandbox, name: str) -> None:
    """A file name without a folder is searched for as the dynamic linker does, and nowhere else."""
    searched = [sandbox.folder("searched first"), sandbox.folder("searched second")]
    mock = vendor(sandbox, "found", file=name, folder=searched[0])
    for number, folder in enumerate((searched[1], sandbox.libraries, sandbox.vendors, sandbox.root)):
        vendor(sandbox, f"other{number}", file=name, folder=folder)
    second = vendor(sandbox, "second", file=f"{name}.second", folder=searched[1])
    sandbox.env["LD_LIBRARY_PATH"] = f"{searched[0]}:{searched[1]}"
    sandbox.vendor_file("a.icd", f"{mock.path.name}\n")
    sandbox.vendor_file("b.icd", f"{second.path.name}")

    with loader.start(sandbox) as cl:
        cl.check_vendors("found", "second")


@requirement("DISC-LNX-004")
def test_bare_name_may_begin_with_what_other_files_have_for_comments(loader: Loader, sandbox: Sandbox) -> None:
    """Each line is a name and nothing else, also where it begins with a sign that is a comment's or an option's."""
    names = {f"v{number}": f"{sign}vendor.so" for number, sign in enumerate("#;!%-+=~@&*?'\"([{<|,.^_")}
    sandbox.env["LD_LIBRARY_PATH"] = str(sandbox.libraries)
    mocks = [vendor(sandbox, name, file=file) for name, file in names.items()]
    sandbox.vendors_in_order([f"{mock.path.name}\n" for mock in mocks])

    with loader.start(sandbox) as cl:
        cl.check_vendors(*names)


@requirement("DISC-LNX-004")
@pytest.mark.parametrize("way", ["opened", "linked", "private root"])
@pytest.mark.parametrize("name", ["libvendor.so", "vendor"])
def test_bare_name_outside_the_search_is_not_found(loader: Loader, sandbox: Sandbox, name: str, way: str) -> None:
    """A file name is not looked up in the vendor directory, the working folder, or beside other vendors' libraries."""
    vendor(sandbox, "beside", file=name)
    vendor(sandbox, "in_vendors", file=name, folder=sandbox.vendors)
    vendor(sandbox, "in_working_folder", file=name, folder=sandbox.root)
    good = vendor(sandbox, "good")
    sandbox.vendors_in_order([f"{name}\n", f"{good}\n", f"{name}"])

    with loader.start(sandbox, linked=way == "linked", system=way == "private root") as cl:
        cl.check_vendors("good")


@requirement("DISC-LNX-004")
def test_bare_name_like_a_loaded_library_is_not_that_library(loader: Loader, sandbox: Sandbox) -> None:
    """A file name that differs from a vendor's by its start or its end is not taken for it."""
    sandbox.env["LD_LIBRARY_PATH"] = str(sandbox.libraries)
    good = vendor(sandbox, "good", file="libvendor.so")
    others = ["vendor", "vendor.so", "libvendor", "ibvendor.so", "libvendor.s", "libvendor.so.1", "libvendor.soo"]
    sandbox.vendors_in_order([f"{line}\n" for line in (good.path.name, *others)])

    with loader.start(sandbox) as cl:
        cl.check_vendors("good")


@requirement("DISC-LNX-026")
@pytest.mark.parametrize("path", ["./libvendor.so", "sub/libvendor.so", "sub/../libvendor.so", ".//libvendor.so"])
@pytest.mark.parametrize("moved", [False, True], ids=["as started", "after chdir"])
def test_relative_path_is_ignored_or_read_from_one_place(
    loader: Loader, sandbox: Sandbox, record: Record, path: str, moved: bool
) -> None:
    """A relative path with a slash is ignored or read from one place, and never from two."""
    places = {"vendor directory": sandbox.vendors, "folder at start": sandbox.root, "library path": sandbox.libraries}
    places["working folder"] = sandbox.folder("working")
    for number, folder in enumerate(places.values()):
        (folder / "sub").mkdir()
        for place in (folder, folder / "sub"):
            vendor(sandbox, f"v{number}", file="libvendor.so", folder=place)
    sandbox.env["LD_LIBRARY_PATH"] = str(sandbox.libraries)
    sandbox.vendor_file("a.icd", f"{path}\n")
    sandbox.vendor_file("b.icd", f"{vendor(sandbox, 'good')}\n")

    with loader.start(sandbox) as cl:
        if moved:
            cl.chdir(places["working folder"])
        names = cl.used_platforms()
        others = [name for name in names if name != "good"]
        assert names == {"good", *others}
        assert len(others) <= 1
        cl.check_vendors(*names)
    record(list(places)[int(others[0][1])] if others else "ignored")


# --- libraries that cannot be loaded ---


def elf(change: Callable[[bytearray], object]) -> Callable[[bytes], bytes]:
    def changed(good: bytes) -> bytes:
        content = bytearray(good)
        change(content)
        return bytes(content)

    return changed


def cut(size: int) -> Callable[[bytes], bytes]:
    return lambda good: good[:size]


# What makes a library of a good one that the dynamic linker refuses; offsets are those of the ELF header.
BROKEN: dict[str, Callable[[bytes], bytes]] = {
    "32-bit class": elf(lambda b: struct.pack_into("B", b, 4, 1)),
    "no class": elf(lambda b: struct.pack_into("B", b, 4, 0)),
    "other byte order": elf(lambda b: struct.pack_into("B", b, 5, 2)),
    "other ELF version": elf(lambda b: struct.pack_into("B", b, 6, 9)),
    "other magic": elf(lambda b: struct.pack_into("4s", b, 0, b"\x7fELG")),
    "machine i386": elf(lambda b: struct.pack_into("<H", b, 18, 3)),
    "machine ARM": elf(lambda b: struct.pack_into("<H", b, 18, 40)),
    "machine AArch64": elf(lambda b: struct.pack_into("<H", b, 18, 183)),
    "machine RISC-V": elf(lambda b: struct.pack_into("<H", b, 18, 243)),
    "no machine": elf(lambda b: struct.pack_into("<H", b, 18, 0)),
    "object file": elf(lambda b: struct.pack_into("<H", b, 16, 1)),
    "program": elf(lambda b: struct.pack_into("<H", b, 16, 2)),
    "core file": elf(lambda b: struct.pack_into("<H", b, 16, 4)),
    "wrong size of program headers": elf(lambda b: struct.pack_into("<H", b, 54 if b[4] == 2 else 42, 8)),
    "text": lambda _: b"INPUT(libvendor.so)\n",
    "zeros": lambda good: bytes(len(good)),
    **{f"cut to {size}": cut(size) for size in (0, 1, 3, 4, 15, 16, 18, 32, 51, 52, 63)},
}

if build().bits != 64 or (build().machine or os.uname().machine) != "x86_64":  # of what the mocks are built for
    for native in ("machine AArch64", "machine RISC-V", "machine ARM", "machine i386", "32-bit class"):
        BROKEN.pop(native)


def broken_library(sandbox: Sandbox, broken: str) -> Path:
    """A library that was good before it was broken in one thing."""
    library = vendor(sandbox, "broken").path
    library.write_bytes(BROKEN[broken](library.read_bytes()))
    return library


@requirement("DISC-LNX-035")
@pytest.mark.parametrize("place", ["middle", "everywhere"])
@pytest.mark.parametrize("broken", BROKEN)
def test_library_that_the_linker_refuses_is_ignored(loader: Loader, sandbox: Sandbox, broken: str, place: str) -> None:
    """A library that the dynamic linker refuses is ignored, and the vendors before and after it are listed."""
    assert_ignored(loader, sandbox, place, broken_library(sandbox, broken))


@requirement("DISC-LNX-035")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("place", PLACES)
def test_library_of_another_machine_is_ignored(loader: Loader, sandbox: Sandbox, place: str, way: str) -> None:
    """A library for another machine is ignored wherever it stands, and however the loader is loaded."""
    assert_ignored(loader, sandbox, place, broken_library(sandbox, "no machine"), way)


@requirement("DISC-LNX-035")
@pytest.mark.parametrize("place", ["only", "everywhere"])
@pytest.mark.parametrize("kind", ["folder", "empty file", "dangling link", "program", "absent folder", "/dev/null"])
def test_path_of_something_other_than_a_library_is_ignored(
    loader: Loader, sandbox: Sandbox, kind: str, place: str
) -> None:
    """A path to something other than a library is ignored, and the vendors before and after it are listed."""
    (sandbox.root / "dangling").symlink_to("absent")
    paths = {
        "folder": sandbox.libraries,
        "empty file": sandbox.file("empty.so"),
        "dangling link": sandbox.root / "dangling",
        "program": "/usr/bin/env",
        "absent folder": sandbox.root / "absent" / "libvendor.so",
        "/dev/null": "/dev/null",
    }
    assert_ignored(loader, sandbox, place, paths[kind])


@requirement("DISC-LNX-035")
@pytest.mark.parametrize("place", ["first", "everywhere"])
def test_library_without_permission_is_ignored(loader: Loader, sandbox: Sandbox, place: str) -> None:
    """A library that the user may not read is ignored, and the vendors before and after it are listed."""
    closed = vendor(sandbox, "closed")
    good = good_vendors(sandbox, place, closed)
    closed.path.chmod(0o000)
    with loader.start(sandbox, ordinary_user=True) as cl:
        cl.check_vendors(*good)
    sandbox.forget_log()
    closed.path.chmod(0o444)
    with loader.start(sandbox, ordinary_user=True) as cl:
        assert "closed" in cl.platform_names()


@requirement("DISC-LNX-035")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("place", PLACES)
def test_library_that_needs_an_absent_one_is_ignored(loader: Loader, sandbox: Sandbox, place: str, way: str) -> None:
    """A library that cannot be loaded for want of another is ignored, and the vendors around it are listed."""
    needy = vendor(sandbox, "needy", variant="icd_needs_absent_library")
    assert_ignored(loader, sandbox, place, needy, way)


@requirement("DISC-ACC-019")
@pytest.mark.parametrize("place", ["only", "first", "last"])
def test_library_whose_platform_fails_is_opened_once_and_closed(loader: Loader, sandbox: Sandbox, place: str) -> None:
    """A library that loads but offers no usable platform is opened once and closed again, and nothing of it stays."""
    dropped = vendor(sandbox, "dropped", faults=["suffix_size_fails"])
    good = good_vendors(sandbox, place, dropped)
    with loader.start(sandbox) as cl:
        assert cl.used_platforms() == set(good)
        assert not cl.maps(dropped)
    events = [event.name for event in sandbox.log.of("dropped") if event.kind == "event"]
    assert events == ["loaded", "unloaded"]


# --- binding and scope ---


@requirement("DISC-LNX-032")
@pytest.mark.parametrize("place", ["only", "first", "middle", "last"])
def test_library_with_an_unresolved_symbol_costs_no_other_vendor(
    loader: Loader, sandbox: Sandbox, record: Record, place: str
) -> None:
    """A library with a symbol that nobody has is accepted and usable, or ignored; the other vendors are listed."""
    unresolved = vendor(sandbox, "unresolved", variant="icd_unresolved")
    names = good_vendors(sandbox, place, unresolved)
    with loader.start(sandbox) as cl:
        accepted = "unresolved" in cl.platform_names()
        cl.check_vendors(*names, *["unresolved"] * accepted)
        assert cl.maps(unresolved) == accepted
    record("accepted" if accepted else "ignored")


@requirement("DISC-LNX-032")
@pytest.mark.parametrize("place", PLACES)
def test_library_with_an_unresolved_symbol_bound_at_once_is_ignored(
    loader: Loader, sandbox: Sandbox, place: str
) -> None:
    """Where the dynamic linker binds everything at once (LD_BIND_NOW), a library with a missing symbol is ignored."""
    sandbox.env["LD_BIND_NOW"] = "1"
    assert_ignored(loader, sandbox, place, vendor(sandbox, "unresolved", variant="icd_unresolved"))


def bound(sandbox: Sandbox) -> list[str]:
    """What the vendor that refers to another library's symbol found."""
    return [str(event.data["detail"]) for event in sandbox.log.happened("vendor symbol")]


@requirement("DISC-LNX-033")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("order", ["has, refers", "refers, has", "has, refers, has"])
def test_symbols_of_a_vendor_stay_its_own(loader: Loader, sandbox: Sandbox, order: str, way: str) -> None:
    """No vendor's reference is satisfied by what another vendor's library exports."""
    mocks = []
    for number, kind in enumerate(order.split(", ")):
        variant = "icd_with_symbol" if kind == "has" else "icd_refers_to_symbol"
        mocks.append(vendor(sandbox, f"v{number}", variant=variant))
    sandbox.vendors_in_order([f"{mock}\n" for mock in mocks])

    with loader.start(sandbox, **WAYS[way]) as cl:
        cl.check_vendors(*(mock.name for mock in mocks))
        if way == "linked":
            with pytest.raises((CommandError, AssertionError)):
                assert int(cl.command("symbol clharness_vendor_symbol"), 16)
    assert bound(sandbox) == ["unbound"]


@requirement("DISC-LNX-033")
def test_symbols_of_the_program_are_seen(loader: Loader, sandbox: Sandbox) -> None:
    """A vendor's reference is satisfied by a library that the program itself has loaded, as always."""
    has = vendor(sandbox, "has", variant="icd_with_symbol", file="has")
    refers = vendor(sandbox, "refers", variant="icd_refers_to_symbol")
    sandbox.vendor_file("a.icd", f"{refers}\n")
    sandbox.env["LD_PRELOAD"] = str(has)
    with loader.start(sandbox) as cl:
        assert cl.platform_names() == {"refers"}
    assert bound(sandbox) == ["bound to another library"]


@requirement("DISC-LNX-033")
@pytest.mark.parametrize("preloaded", [False, True], ids=["alone", "preloaded"])
def test_symbols_of_the_program_come_before_those_of_a_vendor(
    loader: Loader, sandbox: Sandbox, preloaded: bool
) -> None:
    """A name that a library of the program has, too, is that library's in a vendor's: so malloc is replaced."""
    sandbox.require_linux("LD_PRELOAD")
    has = vendor(sandbox, "has", variant="icd_with_symbol", file="has")
    shares = vendor(sandbox, "shares", variant="icd_shares_symbol")
    sandbox.vendor_file("a.icd", f"{shares}\n")
    if preloaded:
        sandbox.env["LD_PRELOAD"] = str(has)
    with loader.start(sandbox) as cl:
        assert cl.platform_names() == {"shares"}
    assert bound(sandbox) == ["bound to another library" if preloaded else "its own"]


# --- the same library again ---


def other_name(sandbox: Sandbox, mock: MockIcd, kind: str) -> str:
    """Another name for the same library."""
    folder = sandbox.root / "other"
    folder.mkdir(exist_ok=True)
    if kind == "symbolic link":
        (folder / "link.so").symlink_to(mock.path)
        return str(folder / "link.so")
    if kind == "hard link":
        os.link(mock.path, folder / "hard.so")
        shutil.copyfile(f"{mock.path}.conf", folder / "hard.so.conf")
        return str(folder / "hard.so")
    spellings = {"same path": mock.path, "other spelling": f"{folder}/.././libraries//{mock.path.name}"}
    return str(spellings.get(kind, mock.path.name))


@requirement("DISC-LNX-029", "DISC-LNX-030")
@pytest.mark.parametrize("order", ["adjacent", "apart", "thrice"])
@pytest.mark.parametrize("kind", ["same path", "symbolic link", "hard link", "other spelling", "bare name"])
def test_library_named_by_two_files_counts_alike_in_every_spelling(
    loader: Loader, sandbox: Sandbox, record: Record, kind: str, order: str
) -> None:
    """A library that two files name is one vendor, or two of the same, alike for every way to name it."""
    again, good = vendor(sandbox, "again", platforms=2), vendor(sandbox, "good")
    sandbox.env["LD_LIBRARY_PATH"] = str(sandbox.libraries)
    name = other_name(sandbox, again, kind)
    orders = {"adjacent": [again, name, good], "apart": [again, good, name], "thrice": [name, again, good, again, name]}
    sandbox.vendors_in_order([f"{line}\n" for line in orders[order]])
    count = 1 if loader.has("deduplicates libraries") else len(orders[order]) - 1

    with loader.start(sandbox, guarded_heap=order == "thrice") as cl:
        names = cl.used_platforms()
        assert sorted(names) == sorted(["good", *["again.0", "again.1"] * count])
        platforms = cl.GetPlatformIDs()
        assert len(set(platforms)) == 3
        assert cl.vendor_function("clWho_again") == "again"
        assert cl.vendor_function("clWho_good") == "good"
    log = sandbox.log
    assert len(log.happened("loaded")) == 2
    assert len(log.calls("clIcdGetPlatformIDsKHR", by="again")) == 2 * count
    assert len(log.calls("clIcdGetPlatformIDsKHR", by="good")) == 2
    record("once" if count == 1 else "once for each file")


@requirement("DISC-LNX-031")
@pytest.mark.parametrize("count", [2, 3, 9])
def test_copy_of_a_library_is_another_vendor(loader: Loader, sandbox: Sandbox, count: int) -> None:
    """A copy of a library is another vendor, even if its platforms have the same names."""
    copies = []
    for number in range(count):
        folder = sandbox.folder(f"copy{number}")
        copies.append(sandbox.icd("same", file="libvendor.so", folder=folder, suffix=f"_{number}"))
    sandbox.vendors_in_order([f"{mock}\n" for mock in copies])

    with loader.start(sandbox) as cl:
        assert cl.used_platforms() == ["same"] * count
        assert len(set(cl.GetPlatformIDs())) == count
        assert all(cl.maps(mock) for mock in copies)
        files = [cl.command(f"module {cl.GetExtensionFunctionAddress(f'clWho_{n}').token}") for n in range(count)]
    assert [bytes.fromhex(file).decode() for file in files] == [str(mock) for mock in copies]


# --- the loader itself ---


@requirement("DISC-LNX-025")
@pytest.mark.parametrize("way, place", [("opened", "first"), ("linked", "middle")])
def test_loader_named_as_a_vendor_is_ignored(loader: Loader, sandbox: Sandbox, way: str, place: str) -> None:
    """A file that names the loader itself is ignored: no endless search, and no platform is listed twice."""
    names: dict[str, object] = {"opened": loader.path, "linked": "libOpenCL.so.1"}
    good = good_vendors(sandbox, place, names[way])
    with loader.start(sandbox, **WAYS[way]) as cl:
        cl.check_vendors(*good)


@requirement("DISC-LNX-025")
def test_copy_of_the_loader_named_as_a_vendor_ends_the_search(loader: Loader, sandbox: Sandbox, record: Record) -> None:
    """A file that names a copy of the loader does not make the search endless; the good vendors are listed."""
    copy = sandbox.root / "copy-of-the-loader.so"
    shutil.copyfile(loader.path, copy)
    names = good_vendors(sandbox, "middle", copy)
    with loader.start(sandbox) as cl:
        listed = cl.used_platforms()
        assert set(listed) == set(names)
        cl.check_functions(*names, like="clWho_{name}")
    record("once" if listed == set(names) else "also through the copy")


# --- another library with the functions of OpenCL in the program ---


def copy_of_the_loader(loader: Loader, sandbox: Sandbox) -> str:
    """It asks the vendors as well, as soon as one of its functions is called."""
    return str(shutil.copy(loader.path, sandbox.root / "other-loader.so"))


def library_of_a_vendor(loader: Loader, sandbox: Sandbox) -> str:
    """It exports every function, and logs each call."""
    return str(vendor(sandbox, "linked", variant="icd_exports_all", file="linked"))


@requirement("DISC-LNX-037")
@pytest.mark.parametrize("other", [copy_of_the_loader, library_of_a_vendor])
def test_functions_of_another_library_are_not_called(
    loader: Loader, sandbox: Sandbox, other: Callable[[Loader, Sandbox], str]
) -> None:
    """In a program that has the functions of another library, the loader finds its vendors by itself."""
    sandbox.require_linux("libraries that are preloaded")
    if loader.facts.sanitizer:
        raise Unsupported("machine", "this loader's sanitizer has to be preloaded, so no other library can be")
    sandbox.env["LD_PRELOAD"] = other(loader, sandbox)
    sandbox.vendors_in_order([f"{vendor(sandbox, name, platforms=2)}\n" for name in "abc"])

    with loader.start(sandbox) as cl:
        assert cl.maps(sandbox.env["LD_PRELOAD"]), "it is not in the program: the check would prove nothing"
        cl.used_platforms()
        cl.check_asked_once("a", "b", "c")
    assert [str(call) for call in sandbox.log.calls(by="linked")] == []
