# SPDX-License-Identifier: Apache-2.0
"""OCL_ICD_VENDORS and OPENCL_VENDOR_PATH: which directory is read (DISC-ENV)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.check import Loader, MockIcd, Sandbox, Session, requirement

Record = Callable[[str], None]


def in_folder(sandbox: Sandbox, folder: Path, name: str) -> MockIcd:
    """A vendor whose configuration file lies in another folder than the usual one."""
    folder.mkdir(parents=True, exist_ok=True)
    mock = sandbox.icd(name, suffix=name.upper())
    sandbox.vendor_file(f"{name}.icd", f"{mock}\n", folder)
    return mock


def assert_works(cl: Session, *names: str) -> None:
    """The platforms are exactly these, usable, and each vendor's own function is found."""
    assert cl.used_platforms() == set(names)
    cl.check_functions(*names, like="clThing{NAME}")
    assert cl.used_platforms() == set(names), "the second answer differs"


def assert_empty(cl: Session) -> None:
    """There is no platform, and the loader stays usable."""
    assert cl.platform_count() == 0
    assert cl.vendor_function("clThingDEFAULT") is None
    assert cl.platform_count() == 0


# --- a directory ---


@requirement("DISC-ENV-001")
@pytest.mark.parametrize("options", [{}, {"linked": True}, {"ordinary_user": True}], ids=["opened", "linked", "user"])
def test_directory_takes_the_place_of_the_default(loader: Loader, sandbox: Sandbox, options: dict[str, Any]) -> None:
    """OCL_ICD_VENDORS names the directory that is read, and the default directory is not read then."""
    loader.require("OCL_ICD_VENDORS")
    sandbox.vendor("default", suffix="DEFAULT")
    in_folder(sandbox, sandbox.root / "chosen", "first")
    in_folder(sandbox, sandbox.root / "chosen", "second")
    rejected = sandbox.icd("rejected", variant="icd_without_get_extension_function_address")
    sandbox.vendor_file("rejected.icd", f"{rejected}\n", sandbox.root / "chosen")
    with loader.start(sandbox, system=True, **options) as cl:
        assert_works(cl, "default")

    sandbox.forget_log()
    sandbox.env["OCL_ICD_VENDORS"] = str(sandbox.root / "chosen")
    with loader.start(sandbox, system=True, **options) as cl:
        assert_works(cl, "first", "second")
        assert cl.getenv("OCL_ICD_VENDORS") == str(sandbox.root / "chosen").encode()
    assert not sandbox.log.of("default")
    assert sorted(e.who for e in sandbox.log.happened("loaded")) == ["first", "rejected", "second"], "read twice"


LONG = "/".join(["n" * 200] * 18)  # with the sandbox's own path and a file name still below PATH_MAX

# How the folder is called (in the sandbox, which is the working directory), and what the variable says of it.
SPELLINGS = {
    "absolute": ("chosen", "{root}/chosen"),
    "trailing slash": ("chosen", "{root}/chosen/"),
    "two trailing slashes": ("chosen", "{root}/chosen//"),
    "trailing dot": ("chosen", "{root}/chosen/."),
    "doubled slash": ("chosen", "{root}//chosen"),
    "parent": ("chosen", "{root}/vendors/../chosen"),
    "relative": ("chosen", "chosen"),
    "relative with slash": ("chosen", "chosen/"),
    "relative with dot": ("chosen", "./chosen"),
    "one letter": ("c", "c"),
    "working directory": (".", "."),
    "space": ("two words ", "{root}/two words "),
    "colon": ("vendors:more", "{root}/vendors:more"),
    "semicolon": ("vendors;more", "{root}/vendors;more"),
    "percent": ("%s%n", "{root}/%s%n"),
    "not ASCII": ("großer Ordner 目录", "{root}/großer Ordner 目录"),
    "not UTF-8": ("\udcff\udcfe", "{root}/\udcff\udcfe"),
    "newline": ("a\nb", "{root}/a\nb"),
    "named like a file": ("vendors.icd", "{root}/vendors.icd"),
    "named like a library": ("libvendors.so", "{root}/libvendors.so"),
    "longest name": ("n" * 255, "{root}/" + "n" * 255),
    "name of 256": ("a" * 128 + "/" + "b" * 127, "{root}/" + "a" * 128 + "/" + "b" * 127),
    "long": (LONG, "{root}/" + LONG),
}


@requirement("DISC-ENV-001", "DISC-ENV-002")
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_vendor_directory_is_found_in_every_spelling(loader: Loader, sandbox: Sandbox, spelling: str) -> None:
    """However the directory is called and spelled, its vendors are found, and none of another directory."""
    loader.require("OCL_ICD_VENDORS")
    folder, value = SPELLINGS[spelling]
    sandbox.vendor("default")
    in_folder(sandbox, sandbox.root / folder, "first")
    in_folder(sandbox, sandbox.root / folder, "second")
    sandbox.env["OCL_ICD_VENDORS"] = value.format(root=sandbox.root)
    with loader.start(sandbox) as cl:
        assert_works(cl, "first", "second")
    assert not sandbox.log.of("default")


@requirement("DISC-ENV-001")
def test_link_to_a_vendor_directory_is_followed(loader: Loader, sandbox: Sandbox) -> None:
    """OCL_ICD_VENDORS may name a symbolic link to a directory."""
    loader.require("OCL_ICD_VENDORS")
    in_folder(sandbox, sandbox.root / "chosen", "first")
    (sandbox.root / "link").symlink_to("chosen")
    sandbox.env["OCL_ICD_VENDORS"] = str(sandbox.root / "link")
    with loader.start(sandbox) as cl:
        assert_works(cl, "first")


@requirement("DISC-ENV-001")
def test_relative_directory_follows_the_working_directory(loader: Loader, sandbox: Sandbox) -> None:
    """A relative OCL_ICD_VENDORS is understood from the working directory at the time of the first call."""
    loader.require("OCL_ICD_VENDORS")
    in_folder(sandbox, sandbox.root / "chosen", "here")
    in_folder(sandbox, sandbox.root / "elsewhere" / "chosen", "there")
    sandbox.env["OCL_ICD_VENDORS"] = "chosen"
    with loader.start(sandbox) as cl:
        cl.chdir(sandbox.root / "elsewhere")
        assert_works(cl, "there")


# --- a directory that yields nothing ---


def missing(sandbox: Sandbox) -> str:
    return str(sandbox.root / "missing")


def missing_with_slash(sandbox: Sandbox) -> str:
    return f"{sandbox.root}/missing/"


def missing_below_missing(sandbox: Sandbox) -> str:
    return str(sandbox.root / "missing" / "too")


def missing_beside(sandbox: Sandbox) -> str:
    return f"{sandbox.vendors}X"


def empty(sandbox: Sandbox) -> str:
    return str(sandbox.folder("empty"))


def below_a_file(sandbox: Sandbox) -> str:
    return str(sandbox.file("file") / "vendors")


def dangling_link(sandbox: Sandbox) -> str:
    (sandbox.root / "dangling").symlink_to("missing")
    return str(sandbox.root / "dangling")


def circle_of_links(sandbox: Sandbox) -> str:
    (sandbox.root / "circle").symlink_to("circle")
    return str(sandbox.root / "circle")


def name_too_long(sandbox: Sandbox) -> str:
    return str(sandbox.root / ("n" * 256))


def path_too_long(sandbox: Sandbox) -> str:
    return "/" + "/".join(["n" * 200] * 40)


def very_long(sandbox: Sandbox) -> str:
    return f"{sandbox.root}/" + "n" * 100_000


def list_of_directories(sandbox: Sandbox) -> str:
    return f"{sandbox.root}/missing:{sandbox.root}/missing too"


def device(sandbox: Sandbox) -> str:
    return "/dev/null"


def text_file(sandbox: Sandbox) -> str:
    return str(sandbox.file("text", "no library\n"))


def rejected_vendor(sandbox: Sandbox) -> str:
    mock = sandbox.icd("rejected", variant="icd_without_get_extension_function_address")
    sandbox.vendor_file("rejected.icd", f"{mock}\n", sandbox.folder("chosen"))
    return str(sandbox.root / "chosen")


def vendor_without_platforms(sandbox: Sandbox) -> str:
    sandbox.vendor_file("none.icd", f"{sandbox.icd('none', platforms=0)}\n", sandbox.folder("chosen"))
    return str(sandbox.root / "chosen")


def missing_library(sandbox: Sandbox) -> str:
    sandbox.vendor_file("missing.icd", "/missing.so\n", sandbox.folder("chosen"))
    return str(sandbox.root / "chosen")


def other_files(sandbox: Sandbox) -> str:
    sandbox.vendor_file("other.txt", f"{sandbox.icd('other')}\n", sandbox.folder("chosen"))
    return str(sandbox.root / "chosen")


YIELDS_NOTHING = [
    rejected_vendor, vendor_without_platforms, missing_library, other_files,
    missing, missing_with_slash, missing_below_missing, missing_beside, empty, below_a_file, dangling_link,
    circle_of_links, name_too_long, path_too_long, very_long, list_of_directories, device, text_file,
]  # fmt: skip


@requirement("DISC-ENV-006")
@pytest.mark.parametrize("value", YIELDS_NOTHING, ids=lambda value: value.__name__)
def test_directory_without_vendors_has_no_fallback(
    loader: Loader, sandbox: Sandbox, value: Callable[[Sandbox], str]
) -> None:
    """OCL_ICD_VENDORS that leads to no vendor leads to no platform: the default directory is not read instead."""
    loader.require("OCL_ICD_VENDORS")
    sandbox.vendor("default", suffix="DEFAULT")
    sandbox.env["OCL_ICD_VENDORS"] = value(sandbox)
    with loader.start(sandbox, system=True) as cl:
        assert_empty(cl)
    assert not sandbox.log.of("default")


@requirement("DISC-ENV-006")
@pytest.mark.parametrize("mode", [0o000, 0o444, 0o111], ids=["nothing", "only read", "only search"])
def test_forbidden_directory_has_no_fallback(loader: Loader, sandbox: Sandbox, mode: int) -> None:
    """A directory that the user may not read, named by OCL_ICD_VENDORS, leads to no platform."""
    loader.require("OCL_ICD_VENDORS")
    in_folder(sandbox, sandbox.root / "chosen", "default")
    sandbox.env["OCL_ICD_VENDORS"] = str(sandbox.root / "chosen")
    with loader.start(sandbox, ordinary_user=True) as cl:
        assert_works(cl, "default")

    (sandbox.root / "chosen").chmod(mode)
    with loader.start(sandbox, ordinary_user=True) as cl:
        assert_empty(cl)


# --- a file in place of a directory ---

# What OCL_ICD_VENDORS says of a .icd file "one.icd": the folder that it lies in, and the value.
ICD_FILES = {
    "absolute": ("folder", "{root}/folder/one.icd"),
    "relative": ("folder", "folder/one.icd"),
    "relative with dot": ("folder", "./folder/one.icd"),
    "bare, in the working directory": (".", "one.icd"),
    "bare, in the default directory": ("vendors", "one.icd"),
    "not ASCII": ("Ordner ß", "{root}/Ordner ß/one.icd"),
    "long": (LONG, "{root}/" + LONG + "/one.icd"),
    "missing": ("folder", "{root}/folder/two.icd"),
    "bare and missing": ("folder", "one.icd"),
    "name that is only the ending": ("folder", "{root}/folder/.icd"),
    "another ending": ("folder", "{root}/folder/one.icd.old"),
    "as a directory": ("folder", "{root}/folder/one.icd/"),
}


@requirement("DISC-ENV-003")
@pytest.mark.parametrize("spelling", ICD_FILES)
def test_configuration_file_as_vendors_is_read_alone_or_nothing(
    loader: Loader, sandbox: Sandbox, record: Record, spelling: str
) -> None:
    """OCL_ICD_VENDORS that names a .icd file loads the vendor of this file alone, or nothing."""
    loader.require("OCL_ICD_VENDORS")
    folder, value = ICD_FILES[spelling]
    sandbox.vendor("default")
    in_folder(sandbox, sandbox.root / folder, "one")
    in_folder(sandbox, sandbox.root / folder, "other")
    sandbox.vendor_file("one.icd.old", f"{sandbox.icd('old')}\n", sandbox.root / folder)
    sandbox.vendor_file(".icd", f"{sandbox.icd('ending')}\n", sandbox.root / folder)
    sandbox.env["OCL_ICD_VENDORS"] = value.format(root=sandbox.root)
    with loader.start(sandbox, system=True) as cl:
        names = cl.used_platforms()
    assert names in ([], ["one"], ["ending"] if spelling == "name that is only the ending" else [])
    assert sandbox.log.happened("loaded").components() == names
    record("that vendor" if names else "nothing")


@requirement("DISC-ENV-003")
@pytest.mark.parametrize("both", [False, True], ids=["alone", "also elsewhere"])
@pytest.mark.parametrize("alias", [False, True], ids=["default", "alias"])
def test_bare_configuration_file_is_sought(
    loader: Loader, sandbox: Sandbox, record: Record, alias: bool, both: bool
) -> None:
    """OCL_ICD_VENDORS that is a bare file name is sought in the vendor directory, then in the working directory."""
    loader.require("OCL_ICD_VENDORS")
    if both:
        sandbox.file("a.icd", f"{sandbox.icd('here')}\n")
    sandbox.vendor_file("a.icd", f"{sandbox.icd('default')}\n")
    aliased = sandbox.folder("aliased")
    sandbox.vendor_file("a.icd", f"{sandbox.icd('aliased')}\n", aliased)
    sandbox.env["OCL_ICD_VENDORS"] = "a.icd"
    if alias:
        sandbox.env["OPENCL_VENDOR_PATH"] = str(aliased)
    with loader.start(sandbox, system=True) as cl:
        names = cl.platform_names()
    assert names in ([], ["here"] if both else [], ["default"], ["aliased"] if alias else [])
    record(", ".join(names) or "nothing")


@requirement("DISC-ENV-003")
@pytest.mark.parametrize("both", [False, True], ids=["alone", "also elsewhere"])
def test_configuration_file_with_a_folder_is_not_sought(
    loader: Loader, sandbox: Sandbox, record: Record, both: bool
) -> None:
    """OCL_ICD_VENDORS that is a file name with a folder is understood from the working directory, or is nothing."""
    loader.require("OCL_ICD_VENDORS")
    (sandbox.vendors / "folder").mkdir()
    sandbox.vendor_file("a.icd", f"{sandbox.icd('default')}\n", sandbox.vendors / "folder")
    if both:
        sandbox.vendor_file("a.icd", f"{sandbox.icd('here')}\n", sandbox.folder("folder"))
    sandbox.env["OCL_ICD_VENDORS"] = "folder/a.icd"
    with loader.start(sandbox, system=True) as cl:
        names = cl.platform_names()
    assert names in ([], ["here"] if both else [])
    record(", ".join(names) or "nothing")


@requirement("DISC-ENV-021")
@pytest.mark.parametrize(
    "spelling", [spelling for spelling in ICD_FILES if spelling.startswith(("abs", "rel", "bare, "))]
)
def test_library_and_configuration_file_as_vendors_go_together(loader: Loader, sandbox: Sandbox, spelling: str) -> None:
    """A loader that takes a library or a .icd file in OCL_ICD_VENDORS takes both, or neither."""
    loader.require("OCL_ICD_VENDORS")
    folder, value = ICD_FILES[spelling]
    sandbox.vendor("default")
    library = in_folder(sandbox, sandbox.root / folder, "one").path
    names = {}
    for kind, place in (("file", value.format(root=sandbox.root)), ("library", str(library))):
        sandbox.env["OCL_ICD_VENDORS"] = place
        with loader.start(sandbox, system=True) as cl:
            names[kind] = list(cl.used_platforms())
    taken = {kind for kind, listed in names.items() if listed == ["one"]}
    assert taken in (set(), {"file", "library"}), names


@requirement("DISC-ENV-021")
@pytest.mark.parametrize("value", ["folder/a.icd", "./folder/a.icd"])
def test_only_bare_configuration_file_is_sought_in_the_vendor_directory(
    loader: Loader, sandbox: Sandbox, value: str
) -> None:
    """A .icd file that OCL_ICD_VENDORS names by a folder, too, is not sought in the vendor directory."""
    loader.require("OCL_ICD_VENDORS")
    (sandbox.vendors / "folder").mkdir()
    sandbox.vendor_file("a.icd", f"{sandbox.icd('default')}\n")
    sandbox.vendor_file("a.icd", f"{sandbox.icd('below')}\n", sandbox.vendors / "folder")
    here = sandbox.folder("folder")

    def listed(vendors: str) -> list[str]:
        sandbox.env["OCL_ICD_VENDORS"] = vendors
        with loader.start(sandbox, system=True) as cl:
            return list(cl.used_platforms())

    seen = listed("a.icd"), listed(value)
    assert seen in ((["default"], []), ([], []))
    sandbox.vendor_file("a.icd", f"{sandbox.icd('here')}\n", here)
    assert listed(value) == (["here"] if seen[0] else [])


@requirement("DISC-ENV-021")
def test_bare_configuration_file_is_taken_from_the_vendor_directory_first(loader: Loader, sandbox: Sandbox) -> None:
    """A loader that takes a bare .icd file from the working directory takes it from the vendor directory first."""
    loader.require("OCL_ICD_VENDORS")
    listed = []

    def add(name: str, folder: Path) -> None:
        sandbox.vendor_file("a.icd", f"{sandbox.icd(name)}\n", folder)
        with loader.start(sandbox, system=True) as cl:
            listed.extend(cl.used_platforms() or ["nothing"])

    sandbox.env["OCL_ICD_VENDORS"] = "a.icd"
    sandbox.vendor("other")
    add("here", sandbox.root)
    add("default", sandbox.vendors)
    if "OPENCL_VENDOR_PATH" in loader.capabilities:
        folder = sandbox.folder("aliased")
        sandbox.env["OPENCL_VENDOR_PATH"] = str(folder)
        add("aliased", folder)
    assert listed in (["here", "default", "aliased"][: len(listed)], ["nothing"] * len(listed))


@requirement("DISC-ENV-003")
@pytest.mark.parametrize("content", ["empty", "missing library", "not an ICD", "text"])
def test_bad_configuration_file_as_vendors_is_platform_not_found(
    loader: Loader, sandbox: Sandbox, content: str
) -> None:
    """OCL_ICD_VENDORS that names a .icd file without a usable library leads to no platform, and to no other file."""
    loader.require("OCL_ICD_VENDORS")
    sandbox.vendor("default")
    rejected = sandbox.icd("rejected", variant="icd_without_get_extension_function_address")
    lines = {
        "empty": "",
        "missing library": f"{sandbox.root}/missing.so\n",
        "not an ICD": f"{rejected}\n",
        "text": f"{sandbox.file('text.so', 'no library')}\n",
    }
    sandbox.env["OCL_ICD_VENDORS"] = str(sandbox.file("a.icd", lines[content]))
    with loader.start(sandbox, system=True) as cl:
        assert_empty(cl)
    assert not sandbox.log.of("default")


LIBRARIES = {
    "absolute": "{root}/libraries/libone.so",
    "relative": "libraries/libone.so",
    "relative with dot": "./libraries/libone.so",
    "sought": "libone.so",
    "missing": "{root}/libraries/libtwo.so",
    "missing and sought": "libtwo.so",
    "missing here": "{root}/libone.so",
}


@requirement("DISC-ENV-004")
@pytest.mark.parametrize("spelling", LIBRARIES)
def test_library_as_vendors_is_loaded_alone_or_nothing(
    loader: Loader, sandbox: Sandbox, record: Record, spelling: str
) -> None:
    """OCL_ICD_VENDORS that names a library loads this vendor alone, or nothing."""
    loader.require("OCL_ICD_VENDORS")
    sandbox.vendor("default")
    sandbox.icd("one")
    sandbox.icd("other")
    sandbox.env["OCL_ICD_VENDORS"] = LIBRARIES[spelling].format(root=sandbox.root)
    sandbox.env["LD_LIBRARY_PATH"] = str(sandbox.libraries)
    with loader.start(sandbox, system=True) as cl:
        names = cl.used_platforms()
    assert names in ([], [] if "missing" in spelling else ["one"])
    assert sandbox.log.happened("loaded").components() == names
    record("that vendor" if names else "nothing")


@requirement("DISC-ENV-021")
@pytest.mark.parametrize("spelling", ["relative", "relative with dot", "sought"])
def test_library_as_vendors_is_spelled_as_the_dynamic_linker_takes_it(
    loader: Loader, sandbox: Sandbox, spelling: str
) -> None:
    """A loader that takes a library in OCL_ICD_VENDORS by its whole path takes it by any other name of it."""
    loader.require("OCL_ICD_VENDORS")
    sandbox.vendor("default")
    sandbox.icd("one")
    sandbox.env["LD_LIBRARY_PATH"] = str(sandbox.libraries)
    names = {}
    for value in ("absolute", spelling):
        sandbox.env["OCL_ICD_VENDORS"] = LIBRARIES[value].format(root=sandbox.root)
        with loader.start(sandbox, system=True) as cl:
            names[value] = list(cl.used_platforms())
    assert names[spelling] == names["absolute"] in ([], ["one"])


@requirement("DISC-ENV-004")
@pytest.mark.parametrize(
    ("variant", "fault"),
    [
        ("icd_without_get_extension_function_address", None),
        ("icd_without_get_platform_ids", "get_platform_ids_not_returned"),
        ("icd", "count_call_fails"),
    ],
    ids=["without address query", "without enumeration", "count fails"],
)
def test_rejected_library_as_vendors_is_platform_not_found(
    loader: Loader, sandbox: Sandbox, variant: str, fault: str | None
) -> None:
    """OCL_ICD_VENDORS that names a library that is not a vendor leads to no platform."""
    loader.require("OCL_ICD_VENDORS")
    sandbox.vendor("default")
    mock = sandbox.icd("rejected", variant=variant, faults=[fault] if fault else [])
    sandbox.env["OCL_ICD_VENDORS"] = str(mock)
    with loader.start(sandbox, system=True) as cl:
        assert_empty(cl)
    assert not sandbox.log.of("default")


# --- an empty variable, and the alias ---


@requirement("DISC-ENV-005")
def test_empty_vendors_variable_is_the_default_or_no_directory(
    loader: Loader, sandbox: Sandbox, record: Record
) -> None:
    """An empty OCL_ICD_VENDORS means the default directory, or no directory; never another one."""
    loader.require("OCL_ICD_VENDORS")
    sandbox.vendor("default", suffix="DEFAULT")
    sandbox.file("here.icd", f"{sandbox.icd('here')}\n")
    sandbox.env["OCL_ICD_VENDORS"] = ""
    with loader.start(sandbox, system=True) as cl:
        names = cl.used_platforms()
        assert cl.vendor_function("clThingDEFAULT") == ("default" if names else None)
    assert names in ([], ["default"])
    record("default directory" if names else "no directory")


# OCL_ICD_VENDORS and OPENCL_VENDOR_PATH: what either says (None: unset), and the acceptable vendors.
ALIAS: dict[str, tuple[str | None, str | None, tuple[str, ...]]] = {
    "alone": (None, "{root}/aliased", ("default", "aliased")),
    "trailing slash": (None, "{root}/aliased/", ("default", "aliased")),
    "relative": (None, "aliased", ("default", "aliased")),
    "empty": (None, "", ("default",)),
    "missing": (None, "{root}/missing", ("default", "")),
    "one file": (None, "{root}/aliased/aliased.icd", ("default", "")),
    "beside an empty variable": ("", "{root}/aliased", ("default", "aliased", "")),
    "beside a directory": ("{root}/chosen", "{root}/aliased", ("chosen",)),
    "beside a missing directory": ("{root}/missing", "{root}/aliased", ("",)),
    "empty beside a directory": ("{root}/chosen", "", ("chosen",)),
    "both empty": ("", "", ("default", "")),
    "missing beside a directory": ("{root}/chosen", "{root}/missing", ("chosen",)),
}


@requirement("DISC-ENV-007")
@pytest.mark.parametrize("values", ALIAS)
def test_alias_of_the_vendors_variable_never_wins(
    loader: Loader, sandbox: Sandbox, record: Record, values: str
) -> None:
    """OPENCL_VENDOR_PATH never wins over OCL_ICD_VENDORS; where that is unset, it names the directory or is ignored."""
    loader.require("OCL_ICD_VENDORS")
    variable, alias, acceptable = ALIAS[values]
    sandbox.vendor("default")
    in_folder(sandbox, sandbox.root / "chosen", "chosen")
    in_folder(sandbox, sandbox.root / "aliased", "aliased")
    if variable is not None:
        sandbox.env["OCL_ICD_VENDORS"] = variable.format(root=sandbox.root)
    if alias is not None:
        sandbox.env["OPENCL_VENDOR_PATH"] = alias.format(root=sandbox.root)
    with loader.start(sandbox, system=True) as cl:
        names = cl.used_platforms()
    assert len(names) <= 1 and "".join(names) in acceptable
    assert sandbox.log.happened("loaded").components() == names
    record(names[0] if names else "nothing")
