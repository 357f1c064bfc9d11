# SPDX-License-Identifier: Apache-2.0
"""What discovery and the end of the loader leave behind: heap blocks, descriptors, mappings (DISC-GEN)."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest

from harness.check import Leaked, Loader, Sandbox, Session, requirement

ROUNDS = 6
SMALLEST_BLOCK = 4 * struct.calcsize("P")  # of the C library's heap
# A block is larger by half of the smallest where the rest of a free one is too small to be one. How many are, depends
# on the lengths of paths; what each of 499 files costs is more.
ROUNDING = 32 * SMALLEST_BLOCK
EXTENSIONS = "cl_khr_icd cl_khr_icd_unloadable"

# Files that bring no platform: the variant and the faults of the vendor that they name, or None for a missing one.
BAD: dict[str, tuple[str, list[str]] | None] = {
    "empty-file": None,
    "missing-library": None,
    "no-icd": ("not_an_icd", []),
    "no-address-function": ("icd_without_get_extension_function_address", []),
    "no-list-function": ("icd_without_get_platform_ids", ["get_platform_ids_not_returned"]),
    "count-fails": ("icd", ["count_call_fails"]),
    "says-not-found": ("icd", ["platform_not_found"]),
    "no-platforms": ("icd", ["count_call_says=0"]),
    "list-fails": ("icd", ["list_call_fails"]),
    "suffix-size-fails": ("icd", ["suffix_size_fails"]),
    "suffix-data-fails": ("icd", ["suffix_data_fails"]),
}


def bad(sandbox: Sandbox, kind: str, name: str) -> str:
    """What a file says that brings no platform; texts are of the same length for names of the same length."""
    about = BAD[kind]
    if about is None:
        return "" if kind == "empty-file" else f"{sandbox.libraries}/lib{name}-gone.so\n"
    mock = sandbox.icd(name, variant=about[0], faults=about[1], extensions=EXTENSIONS, unloadable=True)
    return f"{mock}\n"


def check_no_leak(before: int, after: int, what: str) -> None:
    if after > before:
        raise Leaked(f"{what}: {before} bytes of the heap were in use, and then {after}")


def use(cl: Session, platforms: int) -> None:
    assert len(cl.GetPlatformIDs()) == platforms
    cl.GetExtensionFunctionAddress("clSomethingMOCK")
    cl.clGetPlatformIDs(0, None, None)


@requirement("DISC-GEN-023")
@pytest.mark.parametrize("platforms", [1, 9], ids=str)
def test_repeated_calls_leave_the_heap_as_it_was(loader: Loader, sandbox: Sandbox, platforms: int) -> None:
    """Enumerations and address queries after the first leave the heap as it was."""
    sandbox.vendor("a", platforms=platforms)

    with loader.start(sandbox, counted_heap=True) as cl:
        array, count, name = cl.room(platforms), cl.buffer(4), cl.data(b"clSomethingMOCK\0")
        used = []
        for _ in range(ROUNDS):
            for _ in range(5):
                cl.clGetPlatformIDs(platforms, array, count)
                cl.clGetPlatformIDs(0, None, None)
                cl.clGetExtensionFunctionAddress(name)
            used.append(cl.heap())
        check_no_leak(used[1], used[-1], "repeated calls")
        assert cl.open_files() == []


@requirement("DISC-GEN-016")
@pytest.mark.parametrize("kind", BAD)
def test_bad_files_cost_no_heap(loader: Loader, sandbox: Sandbox, kind: str) -> None:
    """A file that brings no platform costs no heap once discovery is over: twenty cost what one costs."""
    used = []
    for number in (1, 20):
        names = [f"x{i:02}" for i in range(number)]
        contents = [bad(sandbox, kind, name) for name in names]
        sandbox.vendors_in_order([*contents, f"{sandbox.icd('a')}\n"])
        with loader.start(sandbox, counted_heap=True) as cl:
            assert cl.platform_names() == {"a"}
            used.append(cl.heap())
            assert cl.open_files() == []
            open_still = [name for name in names if cl.maps(sandbox.libraries / f"lib{name}.so")]
        if open_still:
            raise Leaked(f"libraries of rejected vendors are still loaded: {open_still}")
    # An entry in a table may stay; a block that is forgotten takes at least SMALLEST_BLOCK.
    check_no_leak(used[0], used[1] - (19 * SMALLEST_BLOCK - 1), "nineteen more files")


@requirement("DISC-GEN-016")
@pytest.mark.parametrize("folder", ["vendors", "layers"])
def test_other_files_of_a_folder_cost_no_heap(loader: Loader, sandbox: Sandbox, folder: str) -> None:
    """Files of another kind cost no heap once discovery is over: five hundred of them cost what one costs."""
    sandbox.require_linux("folders of configuration files")
    sandbox.vendor("a")
    place = sandbox.vendors
    if folder == "layers":
        loader.require("OPENCL_LAYER_PATH")
        place = sandbox.folder("layers")
        sandbox.env["OPENCL_LAYER_PATH"] = str(place)
        sandbox.vendor_file("l.lay", f"{sandbox.layer('l')}\n", place)
    used = []
    for number in (1, 500):
        for i in range(number):
            sandbox.vendor_file(f"{i:03}.txt", "", place)
        with loader.start(sandbox, counted_heap=True) as cl:
            assert cl.platform_names() == {"a"}
            used.append(cl.heap())
        assert folder == "vendors" or sandbox.log.calls("clGetPlatformInfo", by="l")
    check_no_leak(used[0], used[1] - ROUNDING, "499 more files")


@requirement("DISC-GEN-016")
@pytest.mark.parametrize("fault", ["list_call_fails", "list_call_fails_after_writing"])
def test_failed_platform_lists_cost_no_heap(loader: Loader, sandbox: Sandbox, fault: str) -> None:
    """Room that was made for a vendor's platforms is given back when the vendor then fails to list them."""
    used = []
    for platforms in (1, 64):
        bad_ones = [sandbox.icd(f"x{i}", platforms=platforms, faults=[fault]) for i in range(8)]
        sandbox.vendors_in_order([f"{mock}\n" for mock in (*bad_ones, sandbox.icd("a"))])
        with loader.start(sandbox, counted_heap=True) as cl:
            assert cl.platform_names() == {"a"}
            used.append(cl.heap())
    check_no_leak(used[0], used[1] - 2 * 63 * struct.calcsize("P"), "room for 8 times 63 more platforms")


@requirement("DISC-GEN-016")
@pytest.mark.parametrize("directory", ["missing", "empty", "a-file"])
def test_discoveries_that_find_nothing_leave_no_heap(loader: Loader, sandbox: Sandbox, directory: str) -> None:
    """A loader that finds nothing, over and over, leaves nothing behind, wherever it was sent."""
    loader.require("OCL_ICD_VENDORS")
    sandbox.env["OCL_ICD_VENDORS"] = str(sandbox.root / "elsewhere")
    if directory == "empty":
        sandbox.folder("elsewhere")
    elif directory == "a-file":
        sandbox.file("elsewhere", "text\n")

    with loader.start(sandbox, counted_heap=True, late=True) as cl:
        used = []
        for _ in range(ROUNDS):
            cl.open()
            assert cl.platform_count() == 0
            cl.close()
            assert cl.open_files() == []
            used.append(cl.heap())
        check_no_leak(used[1], used[-1], f"{ROUNDS - 2} more rounds")


@requirement("DISC-GEN-016")
@pytest.mark.parametrize("what", ["extensions", "other-extensions", "suffix"])
def test_strings_of_discovery_are_kept_at_most_once(
    loader: Loader, sandbox: Sandbox, record: Callable[[str], None], what: str
) -> None:
    """The strings that discovery reads are kept at most once each; whether a loader keeps them is recorded."""
    used = []
    for length in (100, 10100):
        if what == "suffix":
            mocks = [sandbox.icd(n, suffix="S" * (length // 50)) for n in "abcdefgh"]
        else:
            first = "cl_khr_icd" if what == "extensions" else "cl_khr_other"
            mocks = [sandbox.icd(n, extensions=f"{first} {'x' * length}") for n in "abcdefgh"]
        sandbox.vendors_in_order([f"{mock}\n" for mock in mocks])
        with loader.start(sandbox, counted_heap=True) as cl:
            platforms = len(cl.GetPlatformIDs())
            assert platforms == len(mocks) or (platforms == 0 and what == "other-extensions")
            used.append(cl.heap())
    longer = (200 if what == "suffix" else 10000) * len(mocks)
    grown = used[1] - used[0]
    assert grown < longer * 3 // 2, f"strings {longer} bytes longer cost {grown} bytes more"
    record("kept" if grown > longer // 2 else "given back")


@requirement("DISC-GEN-016")
@pytest.mark.parametrize(
    "kind, unloadable",
    [("nothing", False), ("none-at-all", False), *((kind, True) for kind in ("nothing", "listed-twice", *BAD))],
    ids=lambda value: {True: "unloadable", False: "stays"}.get(value, value),
)
def test_repeated_discoveries_leave_no_heap(loader: Loader, sandbox: Sandbox, kind: str, unloadable: bool) -> None:
    """A loader that is opened, used and closed over and over leaves nothing behind."""
    good = [] if kind == "none-at-all" else ["a", "b"]
    extensions = EXTENSIONS if unloadable else "cl_khr_icd"
    contents = [f"{sandbox.icd(n, platforms=2, extensions=extensions, unloadable=unloadable)}\n" for n in good]
    contents += [bad(sandbox, kind, f"x{i}") for i in range(3)] if kind in BAD else []
    contents += contents if kind == "listed-twice" else []
    sandbox.vendors_in_order(contents)
    times = 2 if kind == "listed-twice" and not loader.has("deduplicates libraries") else 1

    with loader.start(sandbox, counted_heap=True, late=True) as cl:
        used = []
        for _ in range(ROUNDS):
            cl.open()
            use(cl, 2 * len(good) * times)
            cl.close()
            assert cl.open_files() == []
            used.append(cl.heap())
        assert not cl.maps(loader.path), "the loader was not unloaded: this proves nothing"
        check_no_leak(used[1], used[-1], f"{ROUNDS - 2} more rounds")
        stays = [n for n in good if cl.maps(sandbox.libraries / f"lib{n}.so")]
        if unloadable and stays and loader.has("unloads vendors"):
            raise Leaked(f"libraries of unloadable vendors are still loaded when the loader is not: {stays}")


# Files whose text is not one line that names a library.
ODD = {
    "long-line": f"/{'x' * 5000}.so\n",
    "two-lines": "/gone.so\n/gone.so\n",
    "blanks": "  \n",
    "no-newline": "/gone.so",
}


@requirement("DISC-GEN-016")
@pytest.mark.parametrize("kind", ["nothing", *BAD, *ODD])
def test_discovery_closes_every_file_and_directory(loader: Loader, sandbox: Sandbox, kind: str) -> None:
    """Discovery closes every file and directory that it opened, also where it was disappointed by what it found."""
    contents = (
        [bad(sandbox, kind, f"x{i}") for i in range(3)] if kind in BAD else [ODD[kind]] * 3 if kind in ODD else []
    )

    for good in (0, 2):
        sandbox.vendors_in_order([f"{sandbox.icd(f'g{i}')}\n" for i in range(good)] + contents)
        with loader.start(sandbox) as cl:
            before = cl.open_files()
            assert len(cl.GetPlatformIDs()) == good
            assert cl.open_files() == before


@requirement("DISC-GEN-016")
@pytest.mark.parametrize("way", ["plain", "linked", "system"])
@pytest.mark.parametrize("good", [0, 1, 9], ids=str)
def test_process_ends_normally_after_discovery(loader: Loader, sandbox: Sandbox, good: int, way: str) -> None:
    """A process ends normally after discovery, with memory filled as it is freed, with vendors and without."""
    contents = [f"{sandbox.icd(f'g{i}', platforms=2, extensions=EXTENSIONS, unloadable=True)}\n" for i in range(good)]
    sandbox.vendors_in_order([*contents, bad(sandbox, "list-fails", "x")])
    sandbox.env["GLIBC_TUNABLES"] = "glibc.malloc.perturb=165"

    with loader.start(sandbox, linked=way == "linked", system=way == "system") as cl:
        use(cl, 2 * good)
    assert cl.exit_code == 0
    assert {event.who for event in sandbox.log.happened("unloaded")} == {"x", *(f"g{i}" for i in range(good))}
    assert len(sandbox.log.happened("unloaded")) == good + 1, "a library's end came twice"


@requirement("DISC-GEN-016")
@pytest.mark.parametrize("kind", ["nothing", *BAD])
def test_discovery_does_not_damage_the_heap(loader: Loader, sandbox: Sandbox, kind: str) -> None:
    """Discovery and the end of the loader write to no memory beyond what they asked for, and free nothing twice."""
    contents = [f"{sandbox.icd(n, platforms=2, extensions=EXTENSIONS, unloadable=True)}\n" for n in "ab"]
    if kind in BAD:
        contents = [bad(sandbox, kind, "x"), contents[0], bad(sandbox, kind, "y"), contents[1], bad(sandbox, kind, "z")]
    sandbox.vendors_in_order(contents)

    with loader.start(sandbox, late=True, guarded_heap=True) as cl:
        cl.open()
        assert len(cl.GetPlatformIDs()) == 4
        cl.close()
    assert cl.exit_code == 0
