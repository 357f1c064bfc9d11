# SPDX-License-Identifier: Apache-2.0
"""OPENCL_LAYERS: which libraries are layers, in which order, and which elements are passed over (LAY-DSC)."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from harness.check import SCHEMES, Loader, MockLayer, Sandbox, Session, Unsupported, requirement, use_scheme

Record = Callable[[str], None]
LIST = "OPENCL_LAYERS"
GOOD = ("one", "two", "three")


def passed(sandbox: Sandbox) -> list[str]:
    """The layers that the application's last clGetPlatformInfo went through, from the front to the back."""
    log = sandbox.log.during("clGetPlatformInfo")[-1]
    return [e.who for e in log.calls("clGetPlatformInfo") if e.who not in ("application", "a")]


def check_layers(cl: Session, sandbox: Sandbox, *loaded: str) -> None:
    """These layers, loaded and initialised in this order, each once, and called from the last to the first."""
    assert cl.platform_names() == ["a"]
    log = sandbox.log
    assert [e.who for e in log.calls() if e.name.startswith("clInitLayer")] == list(loaded)
    assert passed(sandbox) == list(reversed(loaded))


# --- the list ---


@requirement("LAY-DSC-001", "LAY-DSC-002")
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("count", [0, 1, 2, 3, 16])
def test_layers_are_loaded_in_the_order_of_the_list(loader: Loader, sandbox: Sandbox, count: int, scheme: str) -> None:
    """Layers are loaded in the order of the list, and calls enter the last one first."""
    use_scheme(loader, sandbox, scheme)
    sandbox.vendor("a")
    names = [f"layer{number}" for number in range(count)]
    sandbox.env[LIST] = ":".join(str(sandbox.layer(name)) for name in names)
    with loader.start(sandbox) as cl:
        check_layers(cl, sandbox, *names)
    assert [e.who for e in sandbox.log.happened("loaded") if e.who != "a"] == names


@pytest.mark.parametrize(
    "folder",
    [
        pytest.param("searched", marks=pytest.mark.requirement("LAY-DSC-006")),
        pytest.param("written out", marks=pytest.mark.requirement("LAY-DSC-001")),
    ],
)
def test_element_of_the_layer_list_is_a_name_and_nothing_else(loader: Loader, sandbox: Sandbox, folder: str) -> None:
    """An element is a name as it stands, also with blanks at its start or end, or with signs that have other uses."""
    loader.require(LIST)
    sandbox.require_linux("a name of any characters")
    sandbox.vendor("a")
    files = [f"{sign}layer.so" for sign in " \t#;!%-+=~@&*?'\"([{<|,.^"] + [
        "layer.so ",
        "layer.so\t",
        "a  b",
        "%s%n%s%n",
    ]
    layers = [sandbox.layer(f"layer{number}", file=file) for number, file in enumerate(files)]
    sandbox.env["LD_LIBRARY_PATH"] = str(sandbox.libraries)
    sandbox.env[LIST] = ":".join(layer.path.name if folder == "searched" else str(layer) for layer in layers)
    with loader.start(sandbox) as cl:
        check_layers(cl, sandbox, *(layer.name for layer in layers))


@pytest.mark.parametrize(
    "shape",
    [
        pytest.param("many missing", marks=pytest.mark.requirement("LAY-DSC-001", "LAY-DSC-003")),
        pytest.param("long names", marks=pytest.mark.requirement("LAY-DSC-001", "LAY-DSC-003")),
        pytest.param("all separators", marks=pytest.mark.requirement("LAY-DSC-004")),
    ],
)
def test_long_layer_list_is_read_to_its_end(loader: Loader, sandbox: Sandbox, shape: str) -> None:
    """A list that is as long as a variable can be is read to its end."""
    loader.require(LIST)
    sandbox.vendor("a")
    layers = [str(sandbox.layer(name)) for name in GOOD]
    # On Windows each element, also an empty one, is a search for a library that takes a millisecond.
    longest, most = (10_000, 500) if sandbox.suffix == ".dll" else (120_000, 30_000)
    room = longest - len("".join(layers))
    element = {"many missing": "/x:", "long names": "/" + "x" * 5000 + ":", "all separators": ":"}[shape]
    between = element * min(most, room // 4 // len(element))
    sandbox.env[LIST] = (
        between + between.join(f"{layer}:" for layer in layers) + between[: -1 if element != ":" else None]
    )
    with loader.start(sandbox, guarded_heap=shape == "long names") as cl:
        check_layers(cl, sandbox, *GOOD)


# How a list reads in which `{}` stands for a layer.
SEPARATORS = ["{}:", ":{}", "::{}", "{}::", "{}:{}", "{}::{}", ":{}:{}:", "{}:::{}::{}:", ":::::{}:::::", "", ":",
              ":::"]  # fmt: skip


@requirement("LAY-DSC-004")
@pytest.mark.parametrize("shape", SEPARATORS)
def test_empty_elements_of_the_layer_list_are_passed_over(loader: Loader, sandbox: Sandbox, shape: str) -> None:
    """Empty elements before, between and after layers are passed over, also where there is nothing else."""
    loader.require(LIST)
    sandbox.vendor("a")
    names = GOOD[: shape.count("{}")]
    sandbox.env[LIST] = shape.format(*(sandbox.layer(name) for name in names))
    with loader.start(sandbox) as cl:
        check_layers(cl, sandbox, *names)


@requirement("LAY-DSC-004")
@pytest.mark.parametrize("shape", [shape for shape in SEPARATORS if shape.startswith(":") or "::" in shape])
def test_empty_element_is_not_the_program(loader: Loader, sandbox: Sandbox, shape: str) -> None:
    """An empty element does not stand for the program itself, even where that has the functions of a layer.

    The functions are those of a library that is preloaded, as a program would have them that exports its own.
    """
    loader.require(LIST)
    sandbox.require_linux("libraries that are preloaded")
    if loader.facts.sanitizer:
        raise Unsupported("machine", "this loader's sanitizer has to be preloaded, so no other library can be")
    sandbox.vendor("a")
    names = GOOD[: shape.count("{}")]
    sandbox.env[LIST] = shape.format(*(sandbox.layer(name) for name in names))
    sandbox.env["LD_PRELOAD"] = str(sandbox.layer("preloaded"))
    with loader.start(sandbox) as cl:
        assert sandbox.log.happened("loaded", by="preloaded"), "it is not in the program: the check would prove nothing"
        check_layers(cl, sandbox, *names)


# --- what a layer exports ---


@requirement("LAY-DSC-016")
@pytest.mark.parametrize("count", [1, 3])
def test_symbols_of_a_layer_stay_its_own(loader: Loader, sandbox: Sandbox, count: int) -> None:
    """What a layer exports is not found by the program, which could be bound to it, nor by vendors."""
    loader.require(LIST)
    sandbox.require_linux("scopes of symbols")
    sandbox.vendor("a")
    sandbox.env[LIST] = ":".join(str(sandbox.layer(name)) for name in GOOD[:count])
    with loader.start(sandbox, linked=True) as cl:
        check_layers(cl, sandbox, *GOOD[:count])
        assert cl.symbol("clGetPlatformIDs")
        assert not cl.symbol("clGetLayerInfo")


# --- elements that are not layers ---


def no_file(sandbox: Sandbox) -> str:
    return f"{sandbox.root}/missing.so"


def no_such_name(sandbox: Sandbox) -> str:
    return "libmissing-layer.so"


def empty_file(sandbox: Sandbox) -> str:
    return str(sandbox.file("empty.so"))


def text_file(sandbox: Sandbox) -> str:
    return str(sandbox.file("text.so", "no library\n" * 100))


def folder(sandbox: Sandbox) -> str:
    return str(sandbox.folder("folder.so"))


def folder_with_slash(sandbox: Sandbox) -> str:
    return f"{sandbox.folder('folder')}/"


def root_folder(sandbox: Sandbox) -> str:
    return "/"


def torn_library(sandbox: Sandbox) -> str:
    whole = sandbox.layer("torn").path
    os.truncate(whole, 40)  # more of it would crash the C library's linker by itself
    return str(whole)


def other_machine(sandbox: Sandbox) -> str:
    """The right file for a machine that does not exist."""
    path = sandbox.layer("other").path
    content = bytearray(path.read_bytes())
    machine = int.from_bytes(content[0x3C:0x40], "little") + 4 if sandbox.suffix == ".dll" else 18
    content[machine : machine + 2] = b"\xfe\xfe"
    path.write_bytes(content)
    return str(path)


def dangling_link(sandbox: Sandbox) -> str:
    (sandbox.root / "link.so").symlink_to("nowhere.so")
    return f"{sandbox.root}/link.so"


def looping_link(sandbox: Sandbox) -> str:
    (sandbox.root / "loop.so").symlink_to("loop.so")
    return f"{sandbox.root}/loop.so"


def below_a_file(sandbox: Sandbox) -> str:
    return f"{sandbox.file('file.so', 'text')}/layer.so"


def name_too_long(sandbox: Sandbox) -> str:
    return "/" + "x" * 300


def vendor_of_its_own(sandbox: Sandbox) -> str:
    return str(sandbox.icd("vendor"))


def vendor_in_use(sandbox: Sandbox) -> str:
    return f"{sandbox.libraries}/liba{sandbox.suffix}"


def loader_itself(sandbox: Sandbox) -> str:
    return str(sandbox.loader_path)


def other_library(sandbox: Sandbox) -> str:
    return "libm.so.6"


def without_info(sandbox: Sandbox) -> str:
    return str(sandbox.layer("bad", variant="layer_without_info"))


def without_init(sandbox: Sandbox) -> str:
    return str(sandbox.layer("bad", variant="layer_without_init_init_with_properties"))


def of_other_version(sandbox: Sandbox) -> str:
    return str(sandbox.layer("bad", faults=["reports_api_version=200"]))


def refuses(sandbox: Sandbox) -> str:
    return str(sandbox.layer("bad", faults=["init_fails"]))


def refuses_after_writing(sandbox: Sandbox) -> str:
    return str(sandbox.layer("bad", faults=["init_fails_after_writing"]))


NOT_OPENED = [no_file, no_such_name, empty_file, text_file, folder, folder_with_slash, root_folder, torn_library,
              other_machine, dangling_link, looping_link, below_a_file, name_too_long]  # fmt: skip
DISCARDED = [vendor_of_its_own, vendor_in_use, loader_itself, other_library, without_info, without_init,
             of_other_version, refuses, refuses_after_writing]  # fmt: skip


def cases(ways: Sequence[Callable[[Sandbox], str]], identifier: str) -> list[Any]:
    marks = pytest.mark.requirement(identifier)
    return [pytest.param(way, marks=marks, id=way.__name__) for way in ways]


@pytest.mark.parametrize("position", [0, 1, 3])
@pytest.mark.parametrize("way", cases(NOT_OPENED, "LAY-DSC-003") + cases(DISCARDED, "LAY-DSC-014"))
def test_element_that_is_not_a_layer_costs_itself(
    loader: Loader, sandbox: Sandbox, way: Callable[[Sandbox], str], position: int
) -> None:
    """An element that is not a layer, or one that cannot be used, costs itself: the others are there, in order."""
    loader.require(LIST)
    sandbox.vendor("a")
    elements = [str(sandbox.layer(name)) for name in GOOD]
    elements.insert(position, way(sandbox))
    sandbox.env[LIST] = ":".join(elements)
    with loader.start(sandbox) as cl:
        assert cl.platform_names() == ["a"]
        assert passed(sandbox) == list(reversed(GOOD))
    inits = [e.who for e in sandbox.log.calls() if e.name.startswith("clInitLayer")]
    assert list(dict.fromkeys(who for who in inits if who != "bad")) == list(GOOD)
    assert len(sandbox.log.happened("loaded", by="bad")) <= 1, "the list was read twice"


@requirement("LAY-DSC-014")
@pytest.mark.parametrize("good", [0, 1, 3])
def test_elements_that_are_not_layers_together_cost_themselves(loader: Loader, sandbox: Sandbox, good: int) -> None:
    """Any number of elements that are not layers, also with no layer between them, leaves the rest as it is."""
    loader.require(LIST)
    sandbox.vendor("a")
    elements = [way(sandbox) for way in (*NOT_OPENED, *DISCARDED) if way not in (without_init, of_other_version)]
    for number, name in enumerate(GOOD[:good]):
        elements.insert(3 + 7 * number, str(sandbox.layer(name)))
    sandbox.env[LIST] = ":".join(elements)
    with loader.start(sandbox, guarded_heap=True) as cl:
        assert cl.used_platforms() == ["a"]
        assert [name for name in passed(sandbox) if name != "vendor"] == list(reversed(GOOD[:good]))


@requirement("LAY-DSC-014")
@pytest.mark.parametrize("way", [vendor_of_its_own, loader_itself, other_library])
def test_library_that_is_not_a_layer_is_closed(loader: Loader, sandbox: Sandbox, way: Callable[[Sandbox], str]) -> None:
    """A library without the functions of a layer does not stay open; the loader itself can still be unloaded."""
    loader.require(LIST)
    if way is other_library:
        sandbox.require_linux("libm.so.6")
        if loader.facts.sanitizer:
            raise Unsupported("machine", "this loader's sanitizer keeps libm.so.6 open itself")
    sandbox.vendor("a")
    path = way(sandbox)
    sandbox.env[LIST] = path
    with loader.start(sandbox) as cl:
        assert cl.platform_names() == ["a"]
        assert passed(sandbox) == []
        if way is not loader_itself:
            assert not any(path in line for line in open(f"/proc/{cl.pid}/maps"))  # noqa: SIM115
        cl.close()
        assert not cl.maps(loader.path)


@requirement("LAY-DSC-003")
@pytest.mark.parametrize("way", NOT_OPENED, ids=lambda way: way.__name__)
def test_missing_element_is_not_the_program(loader: Loader, sandbox: Sandbox, way: Callable[[Sandbox], str]) -> None:
    """An element that cannot be opened does not stand for the program, even where that has a layer's functions."""
    loader.require(LIST)
    sandbox.require_linux("libraries that are preloaded")
    if loader.facts.sanitizer:
        raise Unsupported("machine", "this loader's sanitizer has to be preloaded, so no other library can be")
    sandbox.vendor("a")
    sandbox.env[LIST] = f"{way(sandbox)}:{sandbox.layer('one')}"
    sandbox.env["LD_PRELOAD"] = str(sandbox.layer("preloaded"))
    with loader.start(sandbox) as cl:
        assert sandbox.log.happened("loaded", by="preloaded"), "it is not in the program: the check would prove nothing"
        check_layers(cl, sandbox, "one")


# --- the same library again ---


def same_path(sandbox: Sandbox, layer: MockLayer) -> str:
    return str(layer)


def other_spelling(sandbox: Sandbox, layer: MockLayer) -> str:
    return f"{layer.path.parent}//./{layer.path.name}"


def relative(sandbox: Sandbox, layer: MockLayer) -> str:
    return os.path.relpath(layer.path, sandbox.root)


def linked(sandbox: Sandbox, layer: MockLayer) -> str:
    link = sandbox.libraries / "link.so"
    link.symlink_to(layer.path)
    shutil.copyfile(f"{layer.path}.conf", f"{link}.conf")
    return str(link)


def hard_link(sandbox: Sandbox, layer: MockLayer) -> str:
    link = sandbox.libraries / "hard.so"
    os.link(layer.path, link)
    shutil.copyfile(f"{layer.path}.conf", f"{link}.conf")
    return str(link)


@requirement("LAY-DSC-005")
@pytest.mark.parametrize("order", ["1s", "s1", "1s2", "12s", "21s", "1s2s3s", "123ssss"])
@pytest.mark.parametrize("again", [same_path, other_spelling, relative, linked, hard_link], ids=lambda a: a.__name__)
def test_library_listed_twice_is_one_layer(
    loader: Loader, sandbox: Sandbox, again: Callable[[Sandbox, MockLayer], str], order: str
) -> None:
    """A library that is listed again, by whatever name (s), is one layer, at its first place."""
    loader.require(LIST)
    sandbox.vendor("a")
    layers = {number: sandbox.layer(name) for number, name in zip("123", GOOD, strict=True)}
    elements = {number: str(layer) for number, layer in layers.items()} | {"s": again(sandbox, layers["1"])}
    sandbox.env[LIST] = ":".join(elements[letter] for letter in order)
    names = list(dict.fromkeys(layers["1" if letter == "s" else letter].name for letter in order))
    with loader.start(sandbox) as cl:
        check_layers(cl, sandbox, *names)


@requirement("LAY-DSC-002")
def test_copies_are_layers_of_their_own(loader: Loader, sandbox: Sandbox) -> None:
    """Two files with the same content are two layers."""
    loader.require(LIST)
    sandbox.vendor("a")
    first, second = sandbox.layer("one"), sandbox.layer("two")
    assert first.path.read_bytes() == second.path.read_bytes()
    sandbox.env[LIST] = f"{first}:{second}"
    with loader.start(sandbox) as cl:
        check_layers(cl, sandbox, "one", "two")
