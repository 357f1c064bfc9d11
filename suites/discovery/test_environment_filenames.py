# SPDX-License-Identifier: Apache-2.0
"""OCL_ICD_FILENAMES: a list of vendor libraries that come before those of the directory (DISC-ENV)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from harness.check import Loader, MockIcd, Sandbox, Session, requirement

Record = Callable[[str], None]
VARIABLE = "OCL_ICD_FILENAMES"


def vendors(sandbox: Sandbox, names: Iterable[str]) -> list[MockIcd]:
    return [sandbox.icd(name, suffix=name.upper()) for name in names]


def joined(elements: Iterable[object]) -> str:
    return ":".join(str(element) for element in elements)


def assert_lists(cl: Session, names: list[str]) -> None:
    """The platforms are these in this order and usable, and each vendor's function is its own."""
    assert cl.used_platforms() == names
    cl.check_functions(*names, like="clThing{NAME}")


def assert_asked_once(sandbox: Sandbox, names: list[str]) -> None:
    """Each of these vendors was loaded once and asked for its platforms once (a count and a list), in this order."""
    assert [e.who for e in sandbox.log.happened("loaded")] == names
    callers = [e.who for e in sandbox.log.calls("clIcdGetPlatformIDsKHR")]
    assert callers == [name for name in names for _ in range(2)]


@requirement("DISC-ENV-008")
@pytest.mark.parametrize("count", [1, 2, 3, 7, 8, 9, 33])
def test_libraries_come_before_the_directory(loader: Loader, sandbox: Sandbox, count: int) -> None:
    """The libraries that OCL_ICD_FILENAMES lists are vendors, in its order, before the vendors of the directory."""
    loader.require(VARIABLE)
    sandbox.vendor("directory", suffix="DIRECTORY")
    names = [f"v{(7 * number) % 100:02}" for number in range(count)]
    sandbox.env[VARIABLE] = joined(vendors(sandbox, names))
    with loader.start(sandbox) as cl:
        assert_lists(cl, [*names, "directory"])
    assert_asked_once(sandbox, [*names, "directory"])


STARTS: dict[str, dict[str, Any]] = {
    "linked": {"linked": True},
    "system": {"system": True},
    "user": {"ordinary_user": True},
    "now": {"bind_now": True},
    "global": {"bind_global": True},
}


@requirement("DISC-ENV-008")
@pytest.mark.parametrize("start", STARTS)
def test_named_libraries_are_vendors_in_every_kind_of_program(loader: Loader, sandbox: Sandbox, start: str) -> None:
    """OCL_ICD_FILENAMES is honoured however the program uses the loader and wherever its directory is."""
    loader.require(VARIABLE)
    sandbox.vendor("directory", suffix="DIRECTORY")
    sandbox.env[VARIABLE] = joined(vendors(sandbox, ["a", "b"]))
    with loader.start(sandbox, **STARTS[start]) as cl:
        assert_lists(cl, ["a", "b", "directory"])


@requirement("DISC-ENV-008")
@pytest.mark.parametrize("directory", ["empty", "missing"])
def test_named_libraries_need_no_directory(loader: Loader, sandbox: Sandbox, directory: str) -> None:
    """OCL_ICD_FILENAMES is enough: no vendor has to be in the directory, and the directory need not exist."""
    loader.require(VARIABLE)
    sandbox.env[VARIABLE] = joined(vendors(sandbox, ["a", "b"]))
    if directory == "missing":
        sandbox.env["OCL_ICD_VENDORS"] = str(sandbox.root / "missing")
    with loader.start(sandbox) as cl:
        assert_lists(cl, ["a", "b"])


@requirement("DISC-ENV-008")
def test_platforms_of_named_libraries_keep_the_order_of_the_list(loader: Loader, sandbox: Sandbox) -> None:
    """All platforms of a listed library come before those of the next library and of the directory."""
    loader.require(VARIABLE)
    sandbox.vendor("d", platforms=2)
    sandbox.env[VARIABLE] = joined([sandbox.icd("a", platforms=3), sandbox.icd("b", platforms=0), sandbox.icd("c")])
    with loader.start(sandbox) as cl:
        assert cl.used_platforms() == ["a.0", "a.1", "a.2", "c", "d.0", "d.1"]


# How one element of the list names the library of "a"; the working directory is the sandbox.
SPELLINGS = {
    "absolute": ("liba.so", "{root}/libraries/liba.so"),
    "relative": ("liba.so", "libraries/liba.so"),
    "relative with dot": ("liba.so", "./libraries/liba.so"),
    "sought": ("liba.so", "liba.so"),
    "any ending": ("a", "{root}/libraries/a"),
    "ending of a configuration file": ("a.icd", "{root}/libraries/a.icd"),
    "semicolon": ("liba.so;libb.so", "{root}/libraries/liba.so;libb.so"),
    "comma and space": ("lib a, b.so", "{root}/libraries/lib a, b.so"),
    "space at the end": ("liba.so ", "{root}/libraries/liba.so "),
    "percent": ("lib%s%n.so", "{root}/libraries/lib%s%n.so"),
    "not ASCII": ("größe目录.so", "{root}/libraries/größe目录.so"),
    "longest name": ("n" * 250, "{root}/libraries/" + "n" * 250),
    "long path": ("liba.so", "{root}" + "/." * 1800 + "/libraries/liba.so"),
}


@requirement("DISC-ENV-008")
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_element_is_the_library_name_byte_for_byte(loader: Loader, sandbox: Sandbox, spelling: str) -> None:
    """An element of OCL_ICD_FILENAMES is a library's name as dlopen takes it, byte for byte; only ':' separates."""
    loader.require(VARIABLE)
    if spelling in ("any ending", "longest name", "semicolon", "space at the end", "not ASCII"):
        sandbox.require_linux("names of this kind")
    file, element = SPELLINGS[spelling]
    sandbox.icd("a", file=file)
    tested, other = element.format(root=sandbox.root), sandbox.icd("b")
    sandbox.env |= {VARIABLE: joined([other, tested]), "LD_LIBRARY_PATH": str(sandbox.libraries)}
    with loader.start(sandbox) as cl:
        assert cl.used_platforms() == ["b", "a"]
    sandbox.env[VARIABLE] = joined([tested, other])
    with loader.start(sandbox) as cl:
        assert cl.used_platforms() == ["a", "b"]


# --- elements that are not vendors ---


def missing(sandbox: Sandbox) -> object:
    return sandbox.root / "missing.so"


def folder(sandbox: Sandbox) -> object:
    return sandbox.vendors


def text(sandbox: Sandbox) -> object:
    return sandbox.file("text.so", "no library\n")


def empty_file(sandbox: Sandbox) -> object:
    return sandbox.file("empty.so")


def configuration_file(sandbox: Sandbox) -> object:
    return sandbox.file("bad.icd", f"{sandbox.icd('named')}\n")


def elsewhere(sandbox: Sandbox) -> object:
    """A library that is not there, though dlopen would find its bare name."""
    sandbox.env["LD_LIBRARY_PATH"] = str(sandbox.libraries)
    return sandbox.root / sandbox.icd("named").path.name


def one_letter(sandbox: Sandbox) -> object:
    return "x"


def too_long(sandbox: Sandbox) -> object:
    return "/" + "n" * 30_000


def without_enumeration(sandbox: Sandbox) -> object:
    return sandbox.icd("bad", variant="icd_without_get_platform_ids", faults=["get_platform_ids_not_returned"])


def without_address_query(sandbox: Sandbox) -> object:
    return sandbox.icd("bad", variant="icd_only_get_platform_ids")


def count_fails(sandbox: Sandbox) -> object:
    return sandbox.icd("bad", faults=["count_call_fails"])


def no_platform(sandbox: Sandbox) -> object:
    return sandbox.icd("bad", platforms=0)


BAD = [
    missing, folder, text, empty_file, configuration_file, elsewhere, one_letter, too_long, without_enumeration,
    without_address_query, count_fails, no_platform,
]  # fmt: skip
POSITIONS = {"first": (0,), "last": (2,), "everywhere": (0, 2, 4)}


@requirement("DISC-ENV-009")
@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad.__name__)
def test_bad_element_is_passed_over(
    loader: Loader, sandbox: Sandbox, bad: Callable[[Sandbox], object], position: str
) -> None:
    """An element that is not a vendor is passed over; the other elements and the directory are vendors all the same."""
    loader.require(VARIABLE)
    if bad.__name__ == "too_long":
        sandbox.require_linux("a variable of this length")
    sandbox.vendor("directory", suffix="DIRECTORY")
    elements: list[object] = list(vendors(sandbox, ["a", "b"]))
    element = bad(sandbox)
    for index in POSITIONS[position]:
        elements.insert(index, element)
    sandbox.env[VARIABLE] = joined(elements)
    with loader.start(sandbox) as cl:
        assert_lists(cl, ["a", "b", "directory"])
        assert not isinstance(element, MockIcd) or not cl.maps(element), "the rejected library stays loaded"
    assert not sandbox.log.of("named"), "another library was loaded in its place"
    assert len(sandbox.log.happened("loaded", by="bad")) <= len(POSITIONS[position]), "the list was read twice"


@requirement("DISC-ENV-009")
@pytest.mark.parametrize("count", [1, 2, 40])
def test_list_of_bad_elements_leaves_the_directory(loader: Loader, sandbox: Sandbox, count: int) -> None:
    """A list without any vendor leaves the vendors of the directory."""
    loader.require(VARIABLE)
    sandbox.vendor("directory", suffix="DIRECTORY")
    sandbox.env[VARIABLE] = joined([f"/missing/{'n' * 200}/{i}.so" for i in range(count)])
    with loader.start(sandbox) as cl:
        assert_lists(cl, ["directory"])


@requirement("DISC-ENV-008", "DISC-ENV-009")
@pytest.mark.parametrize("between", ["many missing", "long names", "all separators"])
def test_long_list_of_libraries_is_read_to_its_end(loader: Loader, sandbox: Sandbox, between: str) -> None:
    """A list that is as long as a variable can be is read to its end."""
    loader.require(VARIABLE)
    sandbox.require_linux("a variable of this length")
    sandbox.vendor("directory", suffix="DIRECTORY")
    named = [str(vendor) for vendor in vendors(sandbox, "abc")]
    element = {"many missing": "/x:", "long names": "/" + "x" * 5000 + ":", "all separators": ":"}[between]
    filling = element * (25_000 // len(element))
    sandbox.env[VARIABLE] = filling + filling.join(f"{library}:" for library in named) + filling
    with loader.start(sandbox) as cl:
        assert_lists(cl, ["a", "b", "c", "directory"])


# Names of files that a list must take as they are.
ODD_NAMES = [f"{sign}vendor.so" for sign in " \t#;!%-+=~@&*?'\"([{<|,.^"] + [
    "vendor.so ",
    "vendor.so\t",
    "a  b",
    "%s%n%s%n",
]


@requirement("DISC-ENV-008")
@pytest.mark.parametrize("folder", ["searched", "written out"])
def test_element_of_the_list_is_a_name_and_nothing_else(loader: Loader, sandbox: Sandbox, folder: str) -> None:
    """An element is a name as it stands, also with blanks at its start or end, or with signs that have other uses."""
    loader.require(VARIABLE)
    sandbox.require_linux("a name of any characters")
    sandbox.vendor("directory", suffix="DIRECTORY")
    sandbox.env["LD_LIBRARY_PATH"] = str(sandbox.libraries)
    names = [f"v{number:02}" for number in range(len(ODD_NAMES))]
    mocks = [sandbox.icd(name, suffix=name.upper(), file=file) for name, file in zip(names, ODD_NAMES, strict=True)]
    sandbox.env[VARIABLE] = joined(mock.path.name if folder == "searched" else mock for mock in mocks)
    with loader.start(sandbox) as cl:
        assert_lists(cl, [*names, "directory"])


# --- empty elements ---

# The list of a library "{a}" and a library "{b}", and the vendors that it means.
EMPTY = {
    "trailing": ("{a}:", ["a"]),
    "leading": (":{a}", ["a"]),
    "doubled": ("{a}::{b}", ["a", "b"]),
    "tripled": ("{a}:::{b}", ["a", "b"]),
    "two trailing": ("{a}::", ["a"]),
    "everywhere": (":{a}::{b}:", ["a", "b"]),
    "only a separator": (":", []),
    "only separators": (":::", []),
}


@requirement("DISC-ENV-010")
@pytest.mark.parametrize("spelling", EMPTY)
def test_empty_elements_of_filenames_are_passed_over(loader: Loader, sandbox: Sandbox, spelling: str) -> None:
    """Empty elements of OCL_ICD_FILENAMES are passed over."""
    loader.require(VARIABLE)
    sandbox.vendor("directory", suffix="DIRECTORY")
    a, b = vendors(sandbox, ["a", "b"])
    value, names = EMPTY[spelling]
    sandbox.env[VARIABLE] = value.format(a=a, b=b)
    with loader.start(sandbox) as cl:
        assert_lists(cl, [*names, "directory"])


@requirement("DISC-ENV-010")
@pytest.mark.parametrize("spelling", ["trailing", "leading"])
def test_empty_element_in_a_linked_program_is_not_the_program(loader: Loader, sandbox: Sandbox, spelling: str) -> None:
    """An empty element does not lead to the program itself, in which the loader's own functions are found."""
    loader.require(VARIABLE)
    sandbox.vendor("directory", suffix="DIRECTORY")
    (a,) = vendors(sandbox, ["a"])
    value, names = EMPTY[spelling]
    sandbox.env[VARIABLE] = value.format(a=a)
    with loader.start(sandbox, linked=True) as cl:
        assert_lists(cl, [*names, "directory"])


@requirement("DISC-ENV-012")
@pytest.mark.parametrize("start", ["opened", "linked", "global"])
def test_empty_variable_adds_nothing(loader: Loader, sandbox: Sandbox, start: str) -> None:
    """An empty OCL_ICD_FILENAMES leaves the vendors of the directory, as if it were not set."""
    sandbox.vendor("directory", suffix="DIRECTORY")
    sandbox.env[VARIABLE] = ""
    with loader.start(sandbox, **STARTS.get(start, {})) as cl:
        assert_lists(cl, ["directory"])
    assert_asked_once(sandbox, ["directory"])


@requirement("DISC-ENV-008")
def test_filenames_are_honoured_as_a_whole_or_not_at_all(loader: Loader, sandbox: Sandbox, record: Record) -> None:
    """A list of libraries is honoured as a whole or not at all; the directory is read either way."""
    sandbox.vendor("directory", suffix="DIRECTORY")
    sandbox.env[VARIABLE] = joined(vendors(sandbox, ["a", "b"]))
    with loader.start(sandbox) as cl:
        names = cl.platform_names()
        assert names in (["a", "b", "directory"], ["directory"])
        assert_lists(cl, list(names))
    record("honoured" if "a" in names else "ignored")


# --- a library that is named more than once ---

# What the list and the directory name (in this order), and the vendors in their order.
REPEATED = {
    "list and directory": ("ab", "a", ["a", "b"]),
    "list and directory, last": ("ab", "b", ["a", "b"]),
    "all of the list": ("ab", "ba", ["a", "b"]),
    "twice in the list": ("aba", "c", ["a", "b", "c"]),
    "in a row": ("aab", "c", ["a", "b", "c"]),
    "three times": ("aaa", "aa", ["a"]),
    "alternating": ("abab", "cabc", ["a", "b", "c"]),
}


@requirement("DISC-ENV-011")
@pytest.mark.parametrize("named", REPEATED)
def test_library_named_again_in_the_variable_is_one_vendor(loader: Loader, sandbox: Sandbox, named: str) -> None:
    """A library that is named several times is one vendor, at the place where it is named first."""
    loader.require(VARIABLE)
    loader.require("deduplicates libraries")
    in_list, in_directory, names = REPEATED[named]
    mocks = {mock.name: mock for mock in vendors(sandbox, "abc")}
    sandbox.vendors_in_order([f"{mocks[name]}\n" for name in in_directory])
    sandbox.env[VARIABLE] = joined(mocks[name] for name in in_list)
    with loader.start(sandbox) as cl:
        assert_lists(cl, names)
    assert_asked_once(sandbox, names)


@requirement("DISC-ENV-011")
@pytest.mark.parametrize("other", ["link", "hard link", "dots", "relative", "sought"])
def test_library_named_by_another_path_is_the_same_vendor(loader: Loader, sandbox: Sandbox, other: str) -> None:
    """A library is the same vendor whatever path leads to its file; a copy of it is another one."""
    loader.require(VARIABLE)
    loader.require("deduplicates libraries")
    if "link" in other:
        sandbox.require_linux("links to libraries")
    a, b = vendors(sandbox, ["a", "b"])
    name = a.path.name
    sandbox.vendor_file("a.icd", f"{a}\n")
    link = sandbox.root / f"link{sandbox.suffix}"
    if other == "link":
        link.symlink_to(a.path)
    elif other == "hard link":
        link.hardlink_to(a.path)
    names = {
        "dots": f"{sandbox.root}/./libraries/../libraries/{name}",
        "relative": f"libraries/{name}",
        "sought": name,
    }
    sandbox.env |= {VARIABLE: joined([names.get(other, link), b]), "LD_LIBRARY_PATH": str(sandbox.libraries)}
    beside = link.with_name(f"link{sandbox.suffix}.conf")  # what the mock is told, should it be loaded by this name
    beside.write_bytes(Path(f"{a}.conf").read_bytes())
    with loader.start(sandbox) as cl:
        assert cl.used_platforms() == ["a", "b"]
    assert_asked_once(sandbox, ["a", "b"])
