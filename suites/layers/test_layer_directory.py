# SPDX-License-Identifier: Apache-2.0
"""The folder of system layers: OPENCL_LAYER_PATH and /etc/OpenCL/layers, its files and their order (LAY-DSC)."""

from __future__ import annotations

import os
import random
import socket
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from harness.check import SCHEMES, Loader, Sandbox, Session, Unsupported, requirement, use_scheme

Record = Callable[[str], None]
PATH = "OPENCL_LAYER_PATH"


def passed(sandbox: Sandbox) -> list[str]:
    """The layers that the application's last clGetPlatformInfo went through, from the front to the back."""
    log = sandbox.log.during("clGetPlatformInfo")[-1]
    return [e.who for e in log.calls("clGetPlatformInfo") if e.who not in ("application", "a")]


def check_layers(cl: Session, sandbox: Sandbox, *loaded: str) -> None:
    """These layers, initialised in this order, each once, and called from the last to the first."""
    assert cl.platform_names() == ["a"]
    assert [e.who for e in sandbox.log.calls() if e.name.startswith("clInitLayer")] == list(loaded)
    assert passed(sandbox) == list(reversed(loaded))


def lay_files(sandbox: Sandbox, names: Iterable[str], folder: Path) -> dict[str, str]:
    """A layer for each name of a file; gives the layers by file. The folder does not list them in their order."""
    layers = {name: f"layer{number:02}" for number, name in enumerate(names)}
    order = list(layers)
    for seed in range(20):
        random.Random(seed).shuffle(order)
        for name in order:
            (folder / name).unlink(missing_ok=True)
        for name in order:
            (folder / name).write_text(f"{sandbox.libraries}/lib{layers[name]}.so\n")
        listed = [entry.name for entry in os.scandir(folder) if entry.name in layers]
        if len(listed) < 3 or listed not in (sorted(listed), sorted(listed, reverse=True)):
            break
    else:
        raise Unsupported("machine", "this file system lists folders in the order of names")
    for layer in layers.values():
        sandbox.layer(layer)
    return layers


def use_folder(loader: Loader, sandbox: Sandbox) -> Path:
    """A folder that the variable names."""
    loader.require(PATH)
    sandbox.vendor("a")
    folder = sandbox.folder("layers")
    sandbox.env[PATH] = str(folder)
    return folder


# --- files and their order ---


@requirement("LAY-DSC-007", "LAY-DSC-008")
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("count", [0, 1, 2, 5, 6, 7, 8, 9, 13, 14, 15, 40])
def test_every_lay_file_is_loaded_in_order_of_its_name(
    loader: Loader, sandbox: Sandbox, count: int, scheme: str
) -> None:
    """Every .lay file names a layer, and they are loaded in the order of their names, however they lie there."""
    use_scheme(loader, sandbox, scheme)
    folder = use_folder(loader, sandbox)
    layers = lay_files(sandbox, [f"{number * 7 % 41:02}.lay" for number in range(count)], folder)
    with loader.start(sandbox, guarded_heap=count in (6, 14, 40)) as cl:
        check_layers(cl, sandbox, *(layers[name] for name in sorted(layers)))


@requirement("LAY-DSC-007", "LAY-DSC-008")
@pytest.mark.parametrize("others", [".lay", ".txt"])
def test_layer_folder_of_ten_thousand_files_is_read_to_its_end(loader: Loader, sandbox: Sandbox, others: str) -> None:
    """A folder of ten thousand files is read to its end; the layers among them keep their order."""
    folder = use_folder(loader, sandbox)
    names = ["0.lay", "1500.lay", "9999.lay"]
    layers = lay_files(sandbox, names, folder)
    absent = sandbox.file("absent", "/absent/lib.so\n")
    for number in range(10_000):
        if f"{number:04}.lay" not in names:
            os.link(absent, folder / f"{number:04}{others}")
    with loader.start(sandbox) as cl:
        check_layers(cl, sandbox, *(layers[name] for name in names))


@requirement("LAY-DSC-017")
@pytest.mark.parametrize("kind", ["good", "empty", "missing", "other", "none"])
def test_layer_folder_and_files_are_closed_again(loader: Loader, sandbox: Sandbox, kind: str) -> None:
    """The folder and its files are closed again, also those that bring no layer."""
    folder = use_folder(loader, sandbox)
    if kind == "good":
        lay_files(sandbox, ["1.lay", "2.lay"], folder)
    elif kind != "none":
        name = "1.lay" if kind != "other" else "1.icd"
        (folder / name).write_text("" if kind == "empty" else "/missing.so\n")
    with loader.start(sandbox) as cl:
        files = cl.open_files()
        assert cl.platform_names() == ["a"]
        assert cl.open_files() == files


@requirement("LAY-DSC-008")
def test_layer_files_are_ordered_by_the_bytes_of_their_names(loader: Loader, sandbox: Sandbox) -> None:
    """In the C locale names are ordered by their bytes: numbers as text, capitals first, a name before longer ones."""
    folder = use_folder(loader, sandbox)
    names = ["10.lay", "9.lay", "10-a.lay", "A.lay", "a.lay", "B.lay", "b.lay", "aa.lay", "a b.lay", "_.lay", "~.lay",
             "a.lay.lay", "é.lay", "a-.lay", "Z" * 200 + ".lay", "0.lay"]  # fmt: skip
    layers = lay_files(sandbox, names, folder)
    with loader.start(sandbox) as cl:
        check_layers(cl, sandbox, *(layers[name] for name in sorted(names, key=os.fsencode)))


CONSIDERED = ["a.lay", "b.c.lay", "c.icd.lay", "d e.lay", "lay.lay", "x" * 251 + ".lay", ".hidden.lay"]
OTHERS = ["a", "lay", "alay", "a.la", "a.layx", "a.lay~", "a.lay.bak", "a.LAY", "a.Lay", "a.icd", "a.so", "a_lay", "l",
          ".a.lay.swp", "a.lay\n", "a.lay.", "xxx.yal"]  # fmt: skip


@requirement("LAY-DSC-007")
@pytest.mark.parametrize("others", [[], OTHERS], ids=["alone", "among others"])
@pytest.mark.parametrize("heap", ["usual heap", "guarded heap"])
def test_only_files_that_end_in_lay_count(loader: Loader, sandbox: Sandbox, heap: str, others: list[str]) -> None:
    """Files whose names end in ".lay" count, and no others."""
    folder = use_folder(loader, sandbox)
    layers = lay_files(sandbox, [*CONSIDERED, *others], folder)
    with loader.start(sandbox, guarded_heap=heap == "guarded heap") as cl:
        check_layers(cl, sandbox, *(layers[name] for name in sorted(CONSIDERED)))


@requirement("LAY-DSC-007")
@pytest.mark.parametrize("heap", ["usual heap", "guarded heap"])
def test_file_called_only_lay_does_no_harm(loader: Loader, sandbox: Sandbox, heap: str, record: Record) -> None:
    """A file called ".lay" counts or not; it does no harm."""
    folder = use_folder(loader, sandbox)
    layers = lay_files(sandbox, [".lay", "a.lay"], folder)
    with loader.start(sandbox, guarded_heap=heap == "guarded heap") as cl:
        assert cl.platform_names() == ["a"]
    assert passed(sandbox) in ([layers["a.lay"], layers[".lay"]], [layers["a.lay"]])
    record("counts" if layers[".lay"] in passed(sandbox) else "passed over")


# What a file says ({} is the path of a layer), and whether the layer is used; None: as the loader likes.
CONTENTS: dict[str, tuple[str, bool | None]] = {
    "newline": ("{}\n", True),
    "no newline": ("{}", True),
    "empty": ("", False),
    "newline alone": ("\n", False),
    "missing library": ("{}x\n", False),
    "shorter name": ("{name}", False),
    "comment": ("# {}\n", False),
    "carriage return": ("{}\r\n", None),
    "two newlines": ("{}\n\n", None),
    "second line": ("{}\n/missing.so\n", None),
    "second line, empty first": ("\n{}\n", None),
    "blank before": (" {}\n", None),
    "blank after": ("{} \n", None),
    "byte order mark": ("\ufeff{}\n", None),
    "NUL after": ("{}\0x\n", None),
    "list": ("{}:/missing.so\n", False),
    "very long": ("/" + "x" * 100_000 + "\n", False),
    "slashes": ("/" * 3000 + "{}\n", True),
    "relative": ("libraries/{name}\n", True),
    "dot": ("./libraries/{name}\n", True),
}


@requirement("LAY-DSC-007")
@pytest.mark.parametrize("content", CONTENTS)
def test_lay_file_is_one_line_that_names_a_library(
    loader: Loader, sandbox: Sandbox, content: str, record: Record
) -> None:
    """A file is one line of text that names a library, with a newline or not; whatever it says, others are read."""
    folder = use_folder(loader, sandbox)
    layers = lay_files(sandbox, ["1.lay", "2.lay", "3.lay"], folder)
    tested = layers["2.lay"]
    text, used = CONTENTS[content]
    path = sandbox.libraries / f"lib{tested}.so"
    (folder / "2.lay").write_text(text.format(path, name=path.name))
    with loader.start(sandbox, guarded_heap=True) as cl:
        assert cl.platform_names() == ["a"]
    with_it, without = [layers["3.lay"], tested, layers["1.lay"]], [layers["3.lay"], layers["1.lay"]]
    assert passed(sandbox) in {True: [with_it], False: [without], None: [with_it, without]}[used]
    if used is None:
        record("used" if tested in passed(sandbox) else "not used")


@requirement("LAY-DSC-006", "LAY-DSC-007")
@pytest.mark.parametrize("sought", [True, False], ids=["path", "no path"])
def test_bare_layer_name_is_sought_by_the_dynamic_linker(loader: Loader, sandbox: Sandbox, sought: bool) -> None:
    """A bare name, in the list or in a file, is sought on the linker's path: not here, nor beside the file."""
    folder = use_folder(loader, sandbox)
    (folder / "a.lay").write_text("libinfile.so")
    sandbox.env["OPENCL_LAYERS"] = "libinlist.so"
    for name in ("infile", "inlist"):
        for place in (folder, sandbox.root, sandbox.libraries if sought else sandbox.vendors):
            sandbox.layer(name, folder=place)
    sandbox.env["LD_LIBRARY_PATH"] = str(sandbox.libraries)
    with loader.start(sandbox) as cl:
        check_layers(cl, sandbox, *(("infile", "inlist") if sought else ()))


# --- entries that are not plain files ---


def make_socket(path: Path, target: Path) -> None:
    here = os.getcwd()
    os.chdir(path.parent)  # a socket's name must be short
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path.name)
    finally:
        os.chdir(here)


def make_folder(path: Path, target: Path) -> None:
    path.mkdir()
    (path / "inner.lay").write_text(f"{target}\n")


def make_link(path: Path, target: Path) -> None:
    (path.parent / "elsewhere.txt").write_text(f"{target}\n")
    path.symlink_to("elsewhere.txt")


SPECIAL: dict[str, tuple[Callable[[Path, Path], Any], bool]] = {
    "folder": (make_folder, False),
    "FIFO": (lambda path, target: os.mkfifo(path), False),
    "socket": (make_socket, False),
    "link to nothing": (lambda path, target: path.symlink_to("nothing.lay"), False),
    "link to itself": (lambda path, target: path.symlink_to(path.name), False),
    "link to a folder": (lambda path, target: path.symlink_to("."), False),
    "link to a device": (lambda path, target: path.symlink_to("/dev/null"), False),
    "link to a file": (make_link, True),
    "library": (lambda path, target: path.symlink_to(target), False),
}


@requirement("LAY-DSC-007")
@pytest.mark.parametrize("special", SPECIAL)
def test_entry_that_is_not_a_lay_file_is_passed_over(loader: Loader, sandbox: Sandbox, special: str) -> None:
    """Entries that are not files are passed over, links are followed, and files around them are read."""
    folder = use_folder(loader, sandbox)
    layers = lay_files(sandbox, ["1.lay", "3.lay"], folder)
    tested = sandbox.layer("tested")
    make, used = SPECIAL[special]
    make(folder / "2.lay", tested.path)
    with loader.start(sandbox) as cl:
        check_layers(cl, sandbox, layers["1.lay"], *(["tested"] if used else []), layers["3.lay"])


@requirement("LAY-DSC-007")
@pytest.mark.parametrize("readable", [False, True])
def test_lay_file_without_permission_is_passed_over(loader: Loader, sandbox: Sandbox, readable: bool) -> None:
    """A file that the user may not read is passed over; the others are read."""
    folder = use_folder(loader, sandbox)
    layers = lay_files(sandbox, ["1.lay", "2.lay", "3.lay"], folder)
    (folder / "2.lay").chmod(0o644 if readable else 0)
    with loader.start(sandbox, ordinary_user=True) as cl:
        check_layers(cl, sandbox, *(layers[name] for name in sorted(layers) if readable or name != "2.lay"))


# --- which folder ---

BARREN: Mapping[str, str] = {
    "missing": "{root}/missing",
    "empty": "{root}/empty",
    "a file": "{root}/file",
    "a layer file": "{root}/layers/1.lay",
    "a layer": "{root}/libraries/liblayer00.so",
    "a link to nothing": "{root}/dangling",
    "a long name": "{root}/" + "x" * 300,
    "two folders": "{root}/layers:{root}/layers",
}


@requirement("LAY-DSC-007")
@pytest.mark.parametrize("barren", BARREN)
def test_folder_without_layers_leaves_the_list(loader: Loader, sandbox: Sandbox, barren: str) -> None:
    """A variable that names no folder, or an empty one, means that there are no system layers; the list counts."""
    folder = use_folder(loader, sandbox)
    lay_files(sandbox, ["1.lay"], folder)
    sandbox.folder("empty")
    sandbox.file("file", "text\n")
    sandbox.file("here.lay", f"{sandbox.libraries}/liblayer00.so\n")
    (sandbox.root / "dangling").symlink_to("nothing")
    sandbox.env[PATH] = BARREN[barren].format(root=sandbox.root)
    sandbox.env["OPENCL_LAYERS"] = str(sandbox.layer("listed"))
    with loader.start(sandbox) as cl:
        check_layers(cl, sandbox, "listed")


@requirement("LAY-DSC-007")
@pytest.mark.parametrize(
    "spelling", ["{}/", "{}//", "{}/.", "layers", "./layers", "link", "{}" + "/" * 500], ids=lambda text: text[:9]
)
def test_layer_folder_is_found_in_every_spelling(loader: Loader, sandbox: Sandbox, spelling: str) -> None:
    """The folder is found by any path that leads to it."""
    folder = use_folder(loader, sandbox)
    layers = lay_files(sandbox, ["1.lay", "2.lay"], folder)
    (sandbox.root / "link").symlink_to(folder)
    sandbox.env[PATH] = spelling.format(folder)
    with loader.start(sandbox, guarded_heap=True) as cl:
        check_layers(cl, sandbox, layers["1.lay"], layers["2.lay"])


def system_folder(loader: Loader) -> str:
    """The compiled-in folder, which stands beside that of vendors (on Android, too)."""
    return str(Path(loader.system_vendors).parent / "layers")


@requirement("LAY-DSC-007", "LAY-DSC-009")
@pytest.mark.parametrize("listed", [0, 2])
@pytest.mark.parametrize("count", [1, 3])
def test_compiled_in_layer_folder_comes_before_the_list(
    loader: Loader, sandbox: Sandbox, count: int, listed: int
) -> None:
    """Without the variable the layers of /etc/OpenCL/layers are loaded, before those of the list; of no other place."""
    loader.require(PATH)
    sandbox.vendor("a")
    folder, similar = sandbox.folder("layers"), sandbox.folder("similar")
    layers = lay_files(sandbox, [f"{number}.lay" for number in range(count)], folder)
    decoy = sandbox.layer("decoy")
    for place in (similar, sandbox.vendors, sandbox.root):
        (place / "decoy.lay").write_text(f"{decoy}\n")
    (folder / "decoy.icd").write_text(f"{sandbox.icd('vendor')}\n")
    names = [f"listed{number}" for number in range(listed)]
    sandbox.env["OPENCL_LAYERS"] = ":".join(str(sandbox.layer(name)) for name in names)
    binds = {loader.system_vendors: sandbox.vendors, system_folder(loader): folder}
    binds |= {"/etc/OpenCL/layer": similar, "/layers": similar}
    with loader.start(sandbox, system_binds=binds) as cl:
        check_layers(cl, sandbox, *layers.values(), *names)


@requirement("LAY-DSC-007")
@pytest.mark.parametrize("value", ["{root}/chosen", "{root}/missing", "{root}/libraries", ""])
def test_variable_replaces_the_compiled_in_layer_folder(
    loader: Loader, sandbox: Sandbox, value: str, record: Record
) -> None:
    """With the variable only the folder that it names counts, also where that is missing; empty, either may count."""
    loader.require(PATH)
    sandbox.vendor("a")
    system, chosen = sandbox.folder("system"), sandbox.folder("chosen")
    (system / "a.lay").write_text(f"{sandbox.layer('insystem')}\n")
    (chosen / "a.lay").write_text(f"{sandbox.layer('inchosen')}\n")
    sandbox.env[PATH] = value.format(root=sandbox.root)
    binds = {loader.system_vendors: sandbox.vendors, system_folder(loader): system}
    with loader.start(sandbox, system_binds=binds) as cl:
        assert cl.platform_names() == ["a"]
    want = {"{root}/chosen": [["inchosen"]], "": [["insystem"], []]}.get(value, [[]])
    assert passed(sandbox) in want
    if not value:
        record("compiled-in folder" if passed(sandbox) else "no folder")


# --- folder and list ---


@requirement("LAY-DSC-009")
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(("system", "listed"), [(1, 1), (1, 2), (2, 1), (3, 3), (0, 2)])
def test_system_layers_are_closer_to_the_vendors(
    loader: Loader, sandbox: Sandbox, system: int, listed: int, scheme: str
) -> None:
    """System layers are loaded before those of the list, so calls enter the list's layers first."""
    use_scheme(loader, sandbox, scheme)
    folder = use_folder(loader, sandbox)
    layers = lay_files(sandbox, [f"{number}.lay" for number in range(system)], folder)
    names = [f"listed{number}" for number in range(listed)]
    sandbox.env["OPENCL_LAYERS"] = ":".join(str(sandbox.layer(name)) for name in names)
    with loader.start(sandbox) as cl:
        check_layers(cl, sandbox, *layers.values(), *names)


@requirement("LAY-DSC-005", "LAY-DSC-009")
@pytest.mark.parametrize("listed", [[0], [0, 9], [9, 0], [1, 0]], ids=str)
def test_system_layer_that_is_listed_too_is_one_layer(loader: Loader, sandbox: Sandbox, listed: list[int]) -> None:
    """A layer of the folder that the list names again, or two files name, is one layer, at its first place."""
    folder = use_folder(loader, sandbox)
    layers = list(lay_files(sandbox, ["0.lay", "1.lay"], folder).values())
    (folder / "2.lay").write_text((folder / "0.lay").read_text())
    extra = sandbox.layer("extra")
    sandbox.env["OPENCL_LAYERS"] = ":".join(
        str(extra) if number == 9 else f"{sandbox.libraries}/lib{layers[number]}.so" for number in listed
    )
    with loader.start(sandbox) as cl:
        check_layers(cl, sandbox, *layers, *(["extra"] if 9 in listed else []))


@requirement("LAY-DSC-014")
@pytest.mark.parametrize("bad", ["missing", "vendor", "version", "refuses"])
@pytest.mark.parametrize("position", [0, 1, 2])
def test_bad_layer_in_the_folder_costs_itself(loader: Loader, sandbox: Sandbox, position: int, bad: str) -> None:
    """A file whose library is not a layer costs itself: the layers of other files and of the list are used."""
    folder = use_folder(loader, sandbox)
    layers = lay_files(sandbox, ["0.lay", "1.lay", "2.lay"], folder)
    settings: dict[str, list[str]] = {"version": ["reports_api_version=1"], "refuses": ["init_fails"]}
    target = f"{sandbox.root}/missing.so"
    if bad != "missing":
        target = str(sandbox.icd("bad") if bad == "vendor" else sandbox.layer("bad", faults=settings[bad]))
    (folder / f"{position}.lay").write_text(f"{target}\n")
    sandbox.env["OPENCL_LAYERS"] = str(sandbox.layer("listed"))
    good = [layer for name, layer in layers.items() if name != f"{position}.lay"]
    with loader.start(sandbox) as cl:
        assert cl.platform_names() == ["a"]
    assert passed(sandbox) == ["listed", *reversed(good)]


# --- privileges ---


@requirement("LAY-DSC-011")
@pytest.mark.parametrize("variable", [PATH, "OPENCL_LAYERS", "both"])
def test_layer_variables_with_elevated_privileges_load_nothing(loader: Loader, sandbox: Sandbox, variable: str) -> None:
    """A set-uid process loads no layer that a variable names, though a plain process does."""
    loader.require("OPENCL_LAYERS" if variable == "OPENCL_LAYERS" else PATH)
    sandbox.vendor("a")
    folder = sandbox.folder("layers")
    layers: list[str] = []
    if variable != "OPENCL_LAYERS":
        layers += lay_files(sandbox, ["a.lay"], folder).values()
        sandbox.env[PATH] = str(folder)
    if variable != PATH:
        sandbox.env["OPENCL_LAYERS"] = str(sandbox.layer("listed"))
        layers.append("listed")
    with loader.start(sandbox) as cl:
        check_layers(cl, sandbox, *layers)
    sandbox.forget_log()
    with loader.start(sandbox, elevated=True) as cl:
        assert cl.secure
        cl.platform_names()
        assert cl.GetExtensionFunctionAddress("clNothing") == 0
    assert not [layer for layer in layers if sandbox.log.of(layer)]
