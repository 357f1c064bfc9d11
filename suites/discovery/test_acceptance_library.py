# SPDX-License-Identifier: Apache-2.0
"""Opening a vendor library and finding its functions: which libraries are vendors at all (DISC-ACC)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.check import CL, Loader, MockIcd, Sandbox, requirement


def listed_in_order(sandbox: Sandbox, mocks: list[MockIcd | Path]) -> None:
    """Vendor files whose names sort in this order; made last first, which is the order of readdir on tmpfs."""
    for number, mock in reversed(list(enumerate(mocks))):
        sandbox.vendor_file(f"{number:03}.icd", f"{mock}\n")


def missing(sandbox: Sandbox) -> Path:
    return sandbox.libraries / "libmissing.so"


def missing_folder(sandbox: Sandbox) -> Path:
    return sandbox.root / "nowhere" / "libmissing.so"


def folder(sandbox: Sandbox) -> Path:
    return sandbox.folder("libfolder.so")


def empty_file(sandbox: Sandbox) -> Path:
    return sandbox.file("libempty.so", mode=0o755)


def text_file(sandbox: Sandbox) -> Path:
    return sandbox.file("libtext.so", "This is no library.\n", 0o755)


def changed(sandbox: Sandbox, change: Callable[[bytes], bytes]) -> Path:
    """A mock ICD whose bytes were changed."""
    mock = sandbox.icd("changed")
    mock.path.write_bytes(change(mock.path.read_bytes()))
    return mock.path


def first_bytes_only(sandbox: Sandbox) -> Path:
    return changed(sandbox, lambda content: content[:32])


def head_only(sandbox: Sandbox) -> Path:
    return changed(sandbox, lambda content: content[:64])


def of_another_width(sandbox: Sandbox) -> Path:
    if sandbox.suffix == ".dll":
        return of_another_machine(sandbox)
    other = {1: b"\2", 2: b"\1"}
    return changed(sandbox, lambda content: content[:4] + other[content[4]] + content[5:])


def of_another_machine(sandbox: Sandbox) -> Path:
    def of_machine(content: bytes) -> bytes:
        place = int.from_bytes(content[0x3C:0x40], "little") + 4 if sandbox.suffix == ".dll" else 18
        return content[:place] + b"\xf3\0" + content[place + 2 :]

    return changed(sandbox, of_machine)


def needs_what_nobody_has(sandbox: Sandbox) -> Path:
    return sandbox.icd("needs", variant="icd_needs_absent_library").path


def dangling_link(sandbox: Sandbox) -> Path:
    path = sandbox.libraries / "liblink.so"
    path.symlink_to("libnobody.so")
    return path


def link_to_itself(sandbox: Sandbox) -> Path:
    path = sandbox.libraries / "libloop.so"
    path.symlink_to(path)
    return path


def unreadable(sandbox: Sandbox) -> Path:
    sandbox.require_linux("permissions of files")
    path = sandbox.icd("unreadable").path
    path.chmod(0)
    return path


def device(sandbox: Sandbox) -> Path:
    path = sandbox.libraries / "libdevice.so"
    path.symlink_to("/dev/null")
    return path


UNLOADABLE = [
    missing, missing_folder, folder, empty_file, text_file, first_bytes_only, head_only, of_another_width,
    of_another_machine, needs_what_nobody_has, dangling_link, link_to_itself, unreadable, device,
]  # fmt: skip


@requirement("DISC-ACC-001")
@pytest.mark.parametrize("make", UNLOADABLE, ids=lambda make: make.__name__)
def test_library_that_cannot_be_opened(loader: Loader, sandbox: Sandbox, make: Callable[[Sandbox], Path]) -> None:
    """A library that cannot be opened is skipped, whether it comes first, between others or last."""
    broken = make(sandbox)
    listed_in_order(sandbox, [broken, sandbox.icd("a"), broken, broken, sandbox.icd("b"), broken])

    with loader.start(sandbox, guarded_heap=True, ordinary_user=True) as cl:
        assert cl.used_platforms() == {"a", "b"}
        assert not cl.maps(broken)


@requirement("DISC-ACC-001", "DISC-GEN-002")
@pytest.mark.parametrize("count", [1, 2, 7, 8, 9, 33])
def test_no_library_can_be_opened(loader: Loader, sandbox: Sandbox, count: int) -> None:
    """Where none of the libraries can be opened there is no platform, and with one more that can be there is one."""
    for number in range(count):
        sandbox.vendor_file(f"{number}.icd", f"{sandbox.libraries}/lib{number}.so\n")
    with loader.start(sandbox, guarded_heap=True) as cl:
        number_of_platforms = cl.buffer(4)
        assert cl.clGetPlatformIDs(0, None, number_of_platforms) == CL.PLATFORM_NOT_FOUND_KHR

    sandbox.vendor("good")
    with loader.start(sandbox, guarded_heap=True) as cl:
        assert cl.used_platforms() == {"good"}


@requirement("DISC-ACC-001", "DISC-LNX-003")
@pytest.mark.parametrize("place", ["missing folder", "wrong folder", "file as folder", "empty file", "text"])
def test_path_of_no_library_is_not_replaced_by_one_of_the_same_name(
    loader: Loader, sandbox: Sandbox, place: str
) -> None:
    """Where a path names no library, one of the same name that the dynamic linker would find is not taken instead."""
    mock = sandbox.icd("x")
    sandbox.env["LD_LIBRARY_PATH"] = str(sandbox.libraries)
    other = sandbox.folder("other") / mock.path.name
    if place in ("empty file", "text"):
        other.write_text("" if place == "empty file" else "This is no library.\n")
    folder = {"missing folder": "nowhere", "file as folder": "calllog"}.get(place, "other")
    sandbox.vendor_file("x.icd", f"{sandbox.root}/{folder}/{mock.path.name}\n")
    sandbox.vendor("a")
    with loader.start(sandbox) as cl:
        assert cl.used_platforms() == {"a"}
        assert not sandbox.log.happened("loaded", by="x")

    sandbox.vendor_file("x.icd", f"{mock.path.name}\n")  # the control: the dynamic linker does find it by its name
    with loader.start(sandbox) as cl:
        assert cl.used_platforms() == {"a", "x"}


@requirement("DISC-ACC-001", "DISC-ACC-002")
@pytest.mark.parametrize("name", ["libm.so.6", "libc.so.6", "libdl.so.2", "libclharness_no_such_library.so"])
def test_libraries_of_the_system_are_no_vendors(loader: Loader, sandbox: Sandbox, name: str) -> None:
    """A library that the process uses already is not a vendor, and it stays usable after it was closed."""
    sandbox.vendor("a")
    sandbox.vendor_file("b.icd", f"{name}\n")
    sandbox.vendor("c")

    with loader.start(sandbox) as cl:
        assert cl.used_platforms() == {"a", "c"}


# Which of the three functions a library exports, and which its clGetExtensionFunctionAddress tells.
COMPLETE = {
    "all-exported-and-told": ("icd", ()),
    "list-function-only-told": ("icd_without_get_platform_ids", ()),
    "everything-exported": ("icd_exports_all", ()),
}


@requirement("DISC-ACC-004")
@pytest.mark.parametrize("way", COMPLETE)
@pytest.mark.parametrize("platforms", [1, 3])
def test_library_with_all_functions_exported_or_queried_is_a_vendor(
    loader: Loader, sandbox: Sandbox, way: str, platforms: int
) -> None:
    """clIcdGetPlatformIDsKHR may be exported, or be answered by clGetExtensionFunctionAddress only."""
    variant, faults = COMPLETE[way]
    mock = sandbox.vendor("x", variant=variant, faults=faults, platforms=platforms, suffix="XX")
    sandbox.vendor("a")

    with loader.start(sandbox) as cl:
        names = {"x"} if platforms == 1 else {f"x.{n}" for n in range(platforms)}
        assert cl.used_platforms() == {"a"} | names
        assert cl.vendor_function("clSomethingXX") == "x"
        assert cl.maps(mock)


@requirement("DISC-ACC-004")
def test_library_that_exports_only_its_address_query_is_a_vendor_or_not(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None]
) -> None:
    """A library that exports clGetExtensionFunctionAddress only, which answers the other two, is a vendor or not."""
    sandbox.vendor("x", variant="icd_only_get_extension_function_address")
    sandbox.vendor("a")

    with loader.start(sandbox) as cl:
        names = cl.used_platforms()
    assert names == {"a"} or names == {"a", "x"}
    record("accepted" if "x" in names else "ignored")


@requirement("DISC-ACC-005")
@pytest.mark.parametrize(
    "fault", ["get_platform_ids_not_returned", "address_query_returns_null"], ids=["list-function", "all"]
)
def test_list_function_that_is_only_exported_makes_a_vendor_or_not(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None], fault: str
) -> None:
    """A library that exports clIcdGetPlatformIDsKHR, which its address function does not answer, is a vendor or not."""
    mocks = [sandbox.vendor(name, faults=[fault]) for name in ("x", "z")]
    sandbox.vendor("a")

    with loader.start(sandbox, guarded_heap=True) as cl:
        names = cl.used_platforms()
        if names == {"a"}:
            assert not sandbox.log.calls("clGetPlatformInfo", by="x")
            record("ignored, closed" if not cl.maps(mocks[0]) else "ignored, left open")
        else:
            assert names == {"a", "x", "z"}
            record("accepted")


@requirement("DISC-ACC-006")
@pytest.mark.parametrize(
    ("variant", "faults"),
    [("icd_without_get_platform_info", ()), ("icd", ("get_platform_info_not_returned",))],
    ids=["told", "exported"],
)
def test_info_function_only_exported_or_only_queried_makes_a_vendor_or_not(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None], variant: str, faults: tuple[str, ...]
) -> None:
    """A library whose clGetPlatformInfo is only exported, or only known to its address function, is a vendor or not."""
    sandbox.vendor("x", variant=variant, faults=faults)
    sandbox.vendor("a")

    with loader.start(sandbox, guarded_heap=True) as cl:
        names = cl.used_platforms()
    assert names == {"a"} or names == {"a", "x"}
    record("accepted" if "x" in names else "ignored")


@requirement("DISC-ACC-020")
@pytest.mark.parametrize("platforms", [1, 3])
@pytest.mark.parametrize("by_query", [True, False], ids=["told", "exported-only"])
def test_info_function_is_the_same_for_each_platform(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None], platforms: int, by_query: bool
) -> None:
    """clGetPlatformInfo is the exported function or the one in the dispatch table, the same for each platform."""
    faults = ["exported_info_differs"] + ([] if by_query else ["get_platform_info_not_returned"])
    sandbox.vendor("x", faults=faults, platforms=platforms)
    sandbox.vendor("plain")

    with loader.start(sandbox) as cl:
        names = {"x"} if platforms == 1 else {f"x.{n}" for n in range(platforms)}
        assert cl.platform_names() == {"plain"} | names  # after discovery it is the table's, always
    log = sandbox.log
    exported = len(log.happened("exported clGetPlatformInfo", by="x"))
    requests = [
        call for call in log.calls("clGetPlatformInfo", by="x") if call.arguments[1] == CL.PLATFORM_ICD_SUFFIX_KHR
    ]
    assert bool(exported) != bool(requests)
    record("exported" if exported else "table")


@requirement("DISC-GEN-001", "DISC-GEN-015")
@pytest.mark.parametrize(
    "way", ["linked", "system", "ordinary_user", "elevated", "bind_global", "late", "guarded_heap"]
)
def test_accepted_and_rejected_in_every_way_of_starting(loader: Loader, sandbox: Sandbox, way: str) -> None:
    """However the loader came into the process, vendors are accepted and rejected alike."""
    wrong = ["count_call_fails", "list_call_fails", "suffix_size_fails", "suffix_data_fails", "platform_not_found"]
    mocks: list[MockIcd | Path] = []
    for fault in wrong:
        mocks += [sandbox.icd(fault, faults=[fault]), sandbox.icd(f"beside-{fault}", platforms=2)]
    listed_in_order(sandbox, [missing(sandbox), *mocks, sandbox.icd("bare", variant="not_an_icd")])
    if way == "elevated":  # variables are not read then: only that nothing of the kind above is a crash
        with loader.start(sandbox, elevated=True) as cl:
            assert cl.secure
            cl.platform_count()
        return
    options = {way: True}
    with loader.start(sandbox, **options) as cl:  # type: ignore[arg-type]
        if way == "late":
            cl.open()
        assert cl.used_platforms() == {f"beside-{fault}.{n}" for fault in wrong for n in (0, 1)}
