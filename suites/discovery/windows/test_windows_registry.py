# SPDX-License-Identifier: Apache-2.0
"""Which values of the Vendors key are vendors, and that all others cost nothing but themselves (DISC-WIN)."""

from __future__ import annotations

import shutil
from collections.abc import Callable

import pytest

from harness.check import VENDORS_KEY, VENDORS_KEY_32, Sandbox, Unsupported, WindowsLoader, requirement


def check_listed(loader: WindowsLoader, sandbox: Sandbox, *names: str, wow64: bool = False) -> None:
    """These vendors and no others are listed, each once, and nobody else was loaded."""
    with loader.start(sandbox, wow64=wow64) as cl:
        assert sorted(cl.used_platforms()) == sorted(names)
    assert {e.who for e in sandbox.log.happened("loaded")} == set(names)


@requirement("DISC-WIN-001")
@pytest.mark.parametrize("count", [0, 1, 2, 3, 17])
def test_each_enabled_value_names_a_vendor(loader: WindowsLoader, sandbox: Sandbox, count: int) -> None:
    """The name of each value of the Vendors key, whose data is the number 0, is the path of a vendor's library."""
    names = [f"vendor{number}" for number in range(count)]
    for name in names:
        sandbox.registry_vendor(sandbox.icd(name), data=0, type="REG_DWORD")
    check_listed(loader, sandbox, *names)


@requirement("DISC-WIN-001")
def test_thousands_of_values_are_read_to_the_end(loader: WindowsLoader, sandbox: Sandbox) -> None:
    """Thousands of values of missing libraries, before and after a good one, do not hide it."""
    sandbox.registry_vendor(sandbox.icd("good"))
    for number in range(4200):
        sandbox.registry_vendor(rf"A:\missing\{number}.dll")
    for number in range(100):
        sandbox.registry_vendor(rf"Z:\zzz\{number}.dll")
    check_listed(loader, sandbox, "good")


@requirement("DISC-WIN-001")
def test_data_of_a_value_is_no_path(loader: WindowsLoader, sandbox: Sandbox) -> None:
    """A library that stands in the data of a value, and not in its name, is not a vendor."""
    sandbox.registry_vendor(sandbox.icd("named"))
    data = f"Z:{sandbox.icd('data')}".replace("/", "\\")
    sandbox.registry_vendor("OpenCL", data=data, type="REG_SZ")
    check_listed(loader, sandbox, "named")


@requirement("DISC-WIN-025")
@pytest.mark.parametrize("hive", ["a key below", "a key beside", "another company", "another API"])
def test_values_of_other_keys_are_not_vendors(loader: WindowsLoader, sandbox: Sandbox, hive: str) -> None:
    """Values of keys below the Vendors key, or beside it, are not vendors."""
    keys = {
        "a key below": VENDORS_KEY + r"\More",
        "a key beside": VENDORS_KEY + "2",
        "another company": r"HKLM\SOFTWARE\Acme\OpenCL\Vendors",
        "another API": r"HKLM\SOFTWARE\Khronos\Vulkan\Drivers",
    }
    sandbox.registry_vendor(sandbox.icd("good"))
    sandbox.registry_vendor(sandbox.icd("other"), key=keys[hive])
    check_listed(loader, sandbox, "good")


@requirement("DISC-WIN-001")
@pytest.mark.parametrize("missing", ["the key", "the values"])
def test_no_vendors_key_is_no_platform(loader: WindowsLoader, sandbox: Sandbox, missing: str) -> None:
    """Where the key is missing, or has no values, there is no platform; a library that nobody names is not loaded."""
    sandbox.icd("unregistered")
    if missing == "the values":
        sandbox.registry_key(VENDORS_KEY)
    check_listed(loader, sandbox)


@requirement("DISC-WIN-001")
def test_vendors_key_that_cannot_be_opened_is_no_crash(loader: WindowsLoader, sandbox: Sandbox) -> None:
    """A Vendors key that the user may not open costs its vendors; those that a driver names are there."""
    sandbox.registry_vendor(sandbox.icd("hidden"))
    sandbox.adapter(vendor=sandbox.icd("driver"))
    sandbox.registry_deny(VENDORS_KEY)
    check_listed(loader, sandbox, "driver")


# --- disabled values ---


@requirement("DISC-WIN-002")
@pytest.mark.parametrize("data", [1, 2, 0x100, 0x10000, 0x1000000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF], ids=hex)
def test_value_that_is_not_zero_is_disabled(loader: WindowsLoader, sandbox: Sandbox, data: int) -> None:
    """Any number but 0 disables a vendor, whichever of its bits is set."""
    sandbox.registry_vendor(sandbox.icd("enabled"), data=0)
    sandbox.registry_vendor(sandbox.icd("disabled"), data=data)
    check_listed(loader, sandbox, "enabled")


# --- values that are not numbers ---

ODD: dict[str, tuple[str, bytes]] = {
    "no data": ("REG_DWORD", b""),
    "one byte": ("REG_DWORD", b"\0"),
    "two bytes": ("REG_DWORD", b"\0\0"),
    "three bytes": ("REG_DWORD", b"\0\0\0"),
    "five bytes": ("REG_DWORD", b"\0\0\0\0\0"),
    "eight bytes": ("REG_DWORD", b"\0" * 8),
    "empty text": ("REG_SZ", b""),
    "short text": ("REG_SZ", b"\0\0"),
    "text of four bytes": ("REG_SZ", b"\0\0\0\0"),
    "long text": ("REG_SZ", "a longer text\0".encode("utf-16-le")),
    "text of thousands": ("REG_SZ", ("x" * 4000 + "\0").encode("utf-16-le")),
    "text with variables": ("REG_EXPAND_SZ", "%PATH%\0".encode("utf-16-le")),
    "list of texts": ("REG_MULTI_SZ", "a\0b\0\0".encode("utf-16-le")),
    "bytes": ("REG_BINARY", bytes(4)),
    "many bytes": ("REG_BINARY", bytes(1000)),
    "big-endian number": ("REG_DWORD_BIG_ENDIAN", bytes(4)),
    "long number": ("REG_QWORD", bytes(8)),
    "nothing": ("REG_NONE", b""),
    "four bytes of nothing": ("REG_NONE", bytes(4)),
}


@requirement("DISC-WIN-003")
@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("place", ["first", "between", "last"])
def test_value_of_another_type_does_not_stop_the_scan(
    loader: WindowsLoader, sandbox: Sandbox, odd: str, place: str
) -> None:
    """A value of another type or size is passed over wherever it stands, and those around it still count."""
    kind, data = ODD[odd]
    name = {"first": "!first.dll", "between": r"Z:\dev\shm\n.dll", "last": "~last.dll"}[place]
    for vendor in ("a", "b"):
        sandbox.registry_vendor(sandbox.icd(vendor))
    sandbox.registry_vendor(name, data=data, type=kind)
    check_listed(loader, sandbox, "a", "b")


@pytest.mark.parametrize(
    "odd",
    [
        pytest.param(odd, marks=pytest.mark.requirement("DISC-WIN-026" if kind == "REG_DWORD" else "DISC-WIN-003"))
        for odd, (kind, _) in ODD.items()
    ],
)
def test_value_of_another_type_is_not_a_vendor(loader: WindowsLoader, sandbox: Sandbox, odd: str) -> None:
    """Only a number of 32 bits enables a vendor: one whose value is of another type or size is not loaded."""
    kind, data = ODD[odd]
    sandbox.registry_vendor(sandbox.icd("number"))
    sandbox.registry_vendor(sandbox.icd("other"), data=data, type=kind)
    check_listed(loader, sandbox, "number")


@requirement("DISC-WIN-003")
def test_default_value_of_the_key_is_passed_over(loader: WindowsLoader, sandbox: Sandbox) -> None:
    """The key's own value, which has no name, names no library."""
    sandbox.registry_vendor("", data=0)
    sandbox.registry_vendor(sandbox.icd("good"))
    check_listed(loader, sandbox, "good")


@requirement("DISC-WIN-003")
@pytest.mark.parametrize("data", [0, 1])
def test_default_value_that_is_a_text_is_passed_over(loader: WindowsLoader, sandbox: Sandbox, data: int) -> None:
    """The key's own value may be a text that names a library: it is not a vendor, and others are."""
    sandbox.registry_vendor("", data=f"Z:{sandbox.icd('text')}", type="REG_SZ")
    sandbox.registry_vendor(sandbox.icd("good"))
    sandbox.registry_vendor(sandbox.icd("other"), data=data)
    check_listed(loader, sandbox, "good", *["other"] * (data == 0))


# --- names ---


@requirement("DISC-WIN-004")
@pytest.mark.parametrize("length", [259, 260, 261, 511, 512, 1022, 1023, 1024, 1025, 2000, 4096, 16383])
@pytest.mark.parametrize("where", ["before", "after"])
def test_long_name_does_not_hide_other_vendors(
    loader: WindowsLoader, sandbox: Sandbox, length: int, where: str
) -> None:
    """A name of any length that the registry takes does not hide the vendors before and after it."""
    first = "!" if where == "before" else "~"
    for vendor in ("a", "b"):
        sandbox.registry_vendor(sandbox.icd(vendor))
    sandbox.registry_vendor(first + "x" * (length - 1))
    check_listed(loader, sandbox, "a", "b")


@requirement("DISC-WIN-004")
@pytest.mark.parametrize("length", [100, 200, 250])
def test_vendor_with_a_long_path_is_loaded(loader: WindowsLoader, sandbox: Sandbox, length: int) -> None:
    """A path as long as the system opens one is that of a vendor, beside one with a short path."""
    folder = sandbox.root
    while len(str(folder)) < length - 60:
        folder = folder / ("d" * min(40, length - 50 - len(str(folder))))
    folder.mkdir(parents=True, exist_ok=True)
    room = length - len(f"Z:{folder}/.dll")
    sandbox.registry_vendor(sandbox.icd("long", folder=folder, file="l" * room + ".dll"))
    sandbox.registry_vendor(sandbox.icd("short"))
    check_listed(loader, sandbox, "long", "short")


FILES: dict[str, str] = {
    "blanks": "lib with blanks.dll",
    "dots": "lib.with.dots.dll",
    "another ending": "library.icd",
    "capitals": "LIBRARY.DLL",
    "a variable": "lib%SystemRoot%.dll",
    "signs": "lib#%&'()+,;=@[]^`{}~!.dll",
}


@requirement("DISC-WIN-001", "DISC-WIN-013")
@pytest.mark.parametrize("kind", FILES)
def test_file_names_of_every_kind_are_loaded(loader: WindowsLoader, sandbox: Sandbox, kind: str) -> None:
    """The path in a value's name is opened as it stands: blanks, dots and other signs are part of it."""
    sandbox.registry_vendor(sandbox.icd("odd", file=FILES[kind]))
    sandbox.registry_vendor(sandbox.icd("plain"))
    check_listed(loader, sandbox, "odd", "plain")


SPELLINGS: dict[str, Callable[[str], str]] = {
    "slashes": lambda path: path.replace("\\", "/"),
    "mixed slashes": lambda path: path.replace("\\", "/", 2),
    "double slash": lambda path: path.replace("\\libraries\\", "\\libraries\\\\"),
    "dots": lambda path: path.replace("\\libraries\\", "\\libraries\\.\\"),
    "back and forth": lambda path: path.replace("\\libraries\\", "\\libraries\\..\\libraries\\"),
    "small drive": lambda path: path.replace("Z:", "z:"),
}


@pytest.mark.parametrize(
    "spelling",
    [
        pytest.param(s, marks=pytest.mark.requirement("DISC-WIN-024" if "slashes" in s else "DISC-WIN-013"))
        for s in SPELLINGS
    ],
)
def test_path_is_found_in_every_spelling(loader: WindowsLoader, sandbox: Sandbox, spelling: str) -> None:
    """A path that Windows opens is that of a vendor, however it is written."""
    path = f"Z:{sandbox.icd('spelt')}".replace("/", "\\")
    sandbox.registry_vendor(SPELLINGS[spelling](path))
    sandbox.registry_vendor(sandbox.icd("plain"))
    check_listed(loader, sandbox, "spelt", "plain")


@requirement("DISC-WIN-001", "DISC-WIN-013")
@pytest.mark.parametrize("source", ["the Vendors key", "an adapter"])
def test_libraries_of_one_name_in_two_folders_are_two_vendors(
    loader: WindowsLoader, sandbox: Sandbox, source: str
) -> None:
    """Vendors often call their library the same in each of their folders: the whole path counts."""
    one = sandbox.icd("one", folder=sandbox.folder("one"), file="vendor64.dll")
    two = sandbox.icd("two", folder=sandbox.folder("two"), file="vendor64.dll")
    sandbox.registry_vendor(one)
    if source == "an adapter":
        sandbox.adapter(vendor=two)
    else:
        sandbox.registry_vendor(two)
    check_listed(loader, sandbox, "one", "two")


@requirement("DISC-WIN-024")
@pytest.mark.parametrize("system", ["usual", "strict"])
def test_bare_name_is_found_beside_the_application(loader: WindowsLoader, sandbox: Sandbox, system: str) -> None:
    """A name without a folder is looked for as Windows does: in the current folder, at last.

    LOAD_WITH_ALTERED_SEARCH_PATH, which is for whole paths, is undefined for it: a strict system refuses that.
    """
    if system == "strict":
        sandbox.strict_paths()
    sandbox.icd("bare", folder=sandbox.root, file="clharness_bare.dll")
    sandbox.registry_vendor("clharness_bare.dll")
    sandbox.registry_vendor(sandbox.icd("whole"))
    with loader.start(sandbox) as cl:
        if system == "usual" and "bare" not in cl.platform_names():
            raise Unsupported("machine", "a name without a folder is not found in the current one here")
        assert sorted(cl.platform_names()) == ["bare", "whole"]


# --- libraries that cannot be loaded ---


def _missing(sandbox: Sandbox) -> str:
    return str(sandbox.root / "missing.dll")


def _missing_folder(sandbox: Sandbox) -> str:
    return str(sandbox.root / "missing" / "lib.dll")


def _folder(sandbox: Sandbox) -> str:
    return str(sandbox.folder("folder.dll"))


def _empty(sandbox: Sandbox) -> str:
    return str(sandbox.file("empty.dll"))


def _text(sandbox: Sandbox) -> str:
    return str(sandbox.file("text.dll", "not a library\n" * 100))


def _truncated(sandbox: Sandbox) -> str:
    content = sandbox.icd("whole").path.read_bytes()
    return str(sandbox.file("truncated.dll", content[: len(content) // 3]))


def _other_machine(sandbox: Sandbox) -> str:
    """The same library, for 32-bit processes: the field Machine is that of i386."""
    content = bytearray(sandbox.icd("other").path.read_bytes())
    header = int.from_bytes(content[0x3C:0x40], "little")
    content[header + 4 : header + 6] = (0x14C).to_bytes(2, "little")
    return str(sandbox.file("i386.dll", bytes(content)))


def _refuses(sandbox: Sandbox) -> str:
    return str(sandbox.icd("refuses", variant="icd_refuses_to_load"))


def _needs_absent(sandbox: Sandbox) -> str:
    return str(sandbox.icd("needs", variant="icd_needs_absent_library"))


def _no_icd(sandbox: Sandbox) -> str:
    return str(sandbox.icd("not_an_icd", variant="not_an_icd"))


BAD: dict[str, Callable[[Sandbox], str]] = {
    "missing": _missing,
    "in a missing folder": _missing_folder,
    "a folder": _folder,
    "an empty file": _empty,
    "a text": _text,
    "truncated": _truncated,
    "for another machine": _other_machine,
    "refuses to load": _refuses,
    "needs what is absent": _needs_absent,
    "without OpenCL": _no_icd,
    "a drive that is not there": lambda sandbox: r"Q:\lib.dll",
    "a share that is not there": lambda sandbox: r"\\clharness-nowhere\share\lib.dll",
    "a device": lambda sandbox: "NUL",
    "signs that no name has": lambda sandbox: 'Z:\\<>|"?*.dll',
}


@requirement("DISC-WIN-013")
@pytest.mark.parametrize("kind", BAD)
def test_library_of_the_registry_that_cannot_be_loaded_costs_only_itself(
    loader: WindowsLoader, sandbox: Sandbox, kind: str
) -> None:
    """A value whose library cannot be loaded is passed over; the vendors around it are there."""
    for vendor in ("a", "z"):
        sandbox.registry_vendor(sandbox.icd(vendor, file=f"lib{vendor}.dll"))
    sandbox.registry_vendor(BAD[kind](sandbox))
    with loader.start(sandbox) as cl:
        assert sorted(cl.used_platforms()) == ["a", "z"]


@requirement("DISC-WIN-024")
def test_own_libraries_of_a_vendor_are_found_beside_it(loader: WindowsLoader, sandbox: Sandbox) -> None:
    """What a vendor's library needs is found in its own folder (LOAD_WITH_ALTERED_SEARCH_PATH, or an equivalent)."""
    needs = sandbox.icd("needs", variant="icd_needs_absent_library")
    sandbox.registry_vendor(needs)
    sandbox.registry_vendor(sandbox.icd("plain"))
    shutil.copyfile(sandbox.icd("beside", variant="not_an_icd").path, needs.path.parent / "clharness_absent.dll")
    check_listed(loader, sandbox, "needs", "plain")


# --- the views of 32-bit processes ---


@requirement("DISC-WIN-008")
@pytest.mark.parametrize("wow64", [False, True], ids=["64-bit", "32-bit"])
def test_each_process_sees_the_view_of_its_own(loader: WindowsLoader, sandbox: Sandbox, wow64: bool) -> None:
    """A 32-bit process reads the Vendors key of the 32-bit view (WOW6432Node), a 64-bit one that of its own."""
    sandbox.registry_vendor(sandbox.icd("wide"))
    sandbox.registry_vendor(sandbox.icd("narrow"), key=VENDORS_KEY_32)
    check_listed(loader, sandbox, "narrow" if wow64 else "wide", wow64=wow64)
