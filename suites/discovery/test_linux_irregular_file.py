# SPDX-License-Identifier: Apache-2.0
"""Configuration files whose content is not one line that names a library (DISC-LNX): nothing else may suffer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.check import CL, Loader, MockIcd, Sandbox, requirement

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
    "everywhere": ["bad", "one", "bad", "bad", "two", "bad", "bad", "bad", "bad", "bad"],
}

# An empty name given to dlopen means the program itself, whose symbols are the loader's in two of the ways.
PLACES_AND_WAYS = [(place, way) for place in PLACES for way in ("opened", "guarded heap")]
PLACES_AND_WAYS += [("middle", "linked"), ("last", "opened globally")]

Record = Callable[[str], None]


def vendor(sandbox: Sandbox, name: str, **settings: Any) -> MockIcd:
    """A vendor with an extension suffix of its own, so that its own functions can be asked for."""
    return sandbox.icd(name, suffix=f"_{name}", **settings)


def files_in_order(sandbox: Sandbox, place: str, bad: bytes) -> list[str]:
    """Fills the vendor directory with `bad` and good files; gives the names of the good ones."""
    lines = {name: f"{vendor(sandbox, name)}\n".encode() for name in dict.fromkeys(PLACES[place]) if name != "bad"}
    sandbox.vendors_in_order([lines.get(name, bad) for name in PLACES[place]])
    return list(lines)


def assert_only_good(loader: Loader, sandbox: Sandbox, place: str, bad: bytes, way: str = "opened") -> None:
    """The good vendors around bad files are all there is."""
    good = files_in_order(sandbox, place, bad)
    with loader.start(sandbox, **WAYS[way]) as cl:
        cl.check_vendors(*good)
        assert cl.platform_count() == len(good)


@requirement("DISC-LNX-019")
@pytest.mark.parametrize("place, way", PLACES_AND_WAYS)
def test_empty_file_is_passed_over(loader: Loader, sandbox: Sandbox, place: str, way: str) -> None:
    """A file without content names no vendor, and the files before and after it are read."""
    assert_only_good(loader, sandbox, place, b"", way)


@requirement("DISC-LNX-020")
@pytest.mark.parametrize("place, way", PLACES_AND_WAYS)
def test_file_of_one_newline_is_passed_over(loader: Loader, sandbox: Sandbox, place: str, way: str) -> None:
    """A file that holds nothing but a newline names no vendor, and the files before and after it are read."""
    assert_only_good(loader, sandbox, place, b"\n", way)


@requirement("DISC-LNX-019", "DISC-LNX-020")
@pytest.mark.parametrize("bad", [b"", b"\n"], ids=["empty", "newline"])
def test_empty_line_does_not_name_a_library(loader: Loader, sandbox: Sandbox, bad: bytes) -> None:
    """An empty line is not a name: the directory's own path, or a library called ".so", does not stand in for it."""
    for name in (".so", "lib.so", "lib"):
        vendor(sandbox, f"named {name}", file=name)
    sandbox.env["LD_LIBRARY_PATH"] = str(sandbox.libraries)
    sandbox.vendors_in_order([bad, f"{vendor(sandbox, 'good')}\n", bad])

    with loader.start(sandbox) as cl:
        cl.check_vendors("good")


@requirement("DISC-LNX-019", "DISC-LNX-027")
@pytest.mark.parametrize("count", [1, 2, 9])
@pytest.mark.parametrize("bad", [b"", b"/absent/lib.so\n"], ids=["empty", "absent library"])
def test_files_that_name_nothing_are_no_vendors(loader: Loader, sandbox: Sandbox, bad: bytes, count: int) -> None:
    """A directory of files that name no library is the same as one without files."""
    sandbox.vendors_in_order([bad] * count)
    with loader.start(sandbox) as cl:
        number, platforms = cl.buffer(4), cl.room(2)
        assert cl.clGetPlatformIDs(0, None, number) == CL.PLATFORM_NOT_FOUND_KHR
        assert cl.clGetPlatformIDs(2, platforms, number) == CL.PLATFORM_NOT_FOUND_KHR
        assert cl.clGetPlatformIDs(2, platforms, None) == CL.PLATFORM_NOT_FOUND_KHR
        assert cl.vendor_function("clWho_one") is None


@requirement("DISC-LNX-002", "DISC-LNX-024")
@pytest.mark.parametrize("heap", ["opened", "guarded heap"])
def test_content_of_one_byte_does_no_harm(loader: Loader, sandbox: Sandbox, heap: str) -> None:
    """No content of a single byte harms a loader, or the vendors between such files."""
    short = [bytes([value]) for value in range(256) if value not in b"\0\n"]
    good = {len(short): "last", 100: "middle", 0: "first"}
    for at, name in good.items():
        short.insert(at, f"{vendor(sandbox, name)}\n".encode())
    sandbox.vendors_in_order(short)

    with loader.start(sandbox, **WAYS[heap]) as cl:
        cl.check_vendors(*good.values())


@requirement("DISC-LNX-002")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("bad", ["/\n", ".\n", "..", "{folder}\n", "{folder}/", "{folder}/absent.so\n", "{text}\n"])
def test_content_that_names_no_library_is_ignored(loader: Loader, sandbox: Sandbox, bad: str, way: str) -> None:
    """A line that names nothing that can be loaded is ignored: a folder, an absent file, a file of text."""
    text = sandbox.file("text.so", "no library\n")
    line = bad.format(folder=sandbox.libraries, text=text).encode()
    assert_only_good(loader, sandbox, "everywhere", line, way)


def whose(loader: Loader, sandbox: Sandbox, content: bytes, vendors: dict[str, str], heap: str = "opened") -> str:
    """Which of `vendors` (by outcome: the mock's name) a file of this content brings in, between two good files."""
    good = [vendor(sandbox, "one"), vendor(sandbox, "two")]
    sandbox.vendors_in_order([f"{good[0]}\n", content, f"{good[1]}\n"])
    with loader.start(sandbox, **WAYS[heap]) as cl:
        names = cl.used_platforms()
        extra = [name for name in names if name not in ("one", "two")]
        assert names == {"one", "two", *extra}, "the other vendors are affected"
        cl.check_functions(*names, like="clWho_{name}")
    loaded = [event.who for event in sandbox.log.happened("loaded")]
    assert sorted(loaded) == sorted(names), "a library without a platform was loaded"
    assert len(extra) <= 1, "one file brings in several vendors"
    return next((outcome for outcome, name in vendors.items() if name in extra), "ignored")


# What surrounds the path: the requirement, what stands before and after the path.
AROUND: dict[str, tuple[str, bytes, bytes]] = {
    "CRLF": ("DISC-LNX-015", b"", b"\r\n"),
    "CR": ("DISC-LNX-015", b"", b"\r"),
    "LFCR": ("DISC-LNX-015", b"", b"\n\r"),
    "leading blank": ("DISC-LNX-016", b" ", b"\n"),
    "leading tab": ("DISC-LNX-016", b"\t", b"\n"),
    "trailing blank": ("DISC-LNX-016", b"", b" \n"),
    "trailing blank, no newline": ("DISC-LNX-016", b"", b" "),
    "trailing tab": ("DISC-LNX-016", b"", b"\t\n"),
    "blanks on both sides": ("DISC-LNX-016", b"  ", b"  \n"),
    "two newlines": ("DISC-LNX-017", b"", b"\n\n"),
    "three newlines": ("DISC-LNX-017", b"", b"\n\n\n"),
    "many newlines": ("DISC-LNX-017", b"", b"\n" * 5000),
    "NUL": ("DISC-LNX-021", b"", b"\0"),
    "NUL, newline": ("DISC-LNX-021", b"", b"\0\n"),
    "newline, NUL": ("DISC-LNX-021", b"", b"\n\0"),
    "NUL, junk": ("DISC-LNX-021", b"", b"\0junk\n"),
    "NUL, much junk": ("DISC-LNX-021", b"", b"\0" + b"junk" * 20000),
    "byte-order mark": ("DISC-LNX-022", b"\xef\xbb\xbf", b"\n"),
    "comment after": ("DISC-LNX-023", b"", b" # the vendor\n"),
    "hash before": ("DISC-LNX-023", b"#", b"\n"),
}


def _around(identifier: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("around", [name for name, row in AROUND.items() if row[0] == identifier])


def check_around(loader: Loader, sandbox: Sandbox, record: Record, around: str) -> None:
    """The outcome: ignored, the bytes around the path count as part of the name (kept), or they do not (stripped)."""
    _, before, after = AROUND[around]
    path = vendor(sandbox, "stripped").path
    line = before + str(path).encode() + after
    vendors = {"stripped": "stripped"}
    if not before and not set(after.rstrip(b"\n")) & set(b"\0\n") and not after.endswith(b"\n\n"):
        vendor(sandbox, "kept", file=path.name + after.rstrip(b"\n").decode())
        vendors["kept"] = "kept"
    record(whose(loader, sandbox, line, vendors))


@requirement("DISC-LNX-015")
@_around("DISC-LNX-015")
def test_carriage_return_costs_at_most_its_vendor(
    loader: Loader, sandbox: Sandbox, record: Record, around: str
) -> None:
    """A carriage return at the end of a line costs that vendor at most, and never another one."""
    check_around(loader, sandbox, record, around)


@requirement("DISC-LNX-016")
@_around("DISC-LNX-016")
def test_blanks_around_the_path_cost_at_most_their_vendor(
    loader: Loader, sandbox: Sandbox, record: Record, around: str
) -> None:
    """Blanks around a path cost that vendor at most, and never another one."""
    check_around(loader, sandbox, record, around)


@requirement("DISC-LNX-017")
@_around("DISC-LNX-017")
def test_several_newlines_cost_at_most_their_vendor(
    loader: Loader, sandbox: Sandbox, record: Record, around: str
) -> None:
    """More newlines than one cost that vendor at most, and never another one."""
    check_around(loader, sandbox, record, around)


@requirement("DISC-LNX-021")
@_around("DISC-LNX-021")
def test_nul_after_the_path_costs_at_most_its_vendor(
    loader: Loader, sandbox: Sandbox, record: Record, around: str
) -> None:
    """A NUL and what follows it costs that vendor at most, and never another one."""
    check_around(loader, sandbox, record, around)


@requirement("DISC-LNX-022")
@_around("DISC-LNX-022")
def test_byte_order_mark_costs_at_most_its_vendor(
    loader: Loader, sandbox: Sandbox, record: Record, around: str
) -> None:
    """A byte-order mark costs that vendor at most, and never another one."""
    check_around(loader, sandbox, record, around)


@requirement("DISC-LNX-023")
@_around("DISC-LNX-023")
def test_comment_in_the_line_costs_at_most_its_vendor(
    loader: Loader, sandbox: Sandbox, record: Record, around: str
) -> None:
    """What looks like a comment costs that vendor at most, and never another one."""
    check_around(loader, sandbox, record, around)


@requirement("DISC-LNX-016")
@pytest.mark.parametrize("blank", [" ", "\t"], ids=["blank", "tab"])
def test_leading_blank_of_a_bare_name_loads_nothing_else(
    loader: Loader, sandbox: Sandbox, record: Record, blank: str
) -> None:
    """A blank before a file name is part of the name or not; nothing else is loaded for it."""
    vendor(sandbox, "stripped", file="libvendor.so")
    vendor(sandbox, "kept", file=f"{blank}libvendor.so")
    vendor(sandbox, "cut", file="ibvendor.so")
    sandbox.env["LD_LIBRARY_PATH"] = str(sandbox.libraries)
    outcome = whose(loader, sandbox, f"{blank}libvendor.so\n".encode(), {"stripped": "stripped", "kept": "kept"})
    assert not sandbox.log.of("cut")
    record(outcome)


# Two lines: what the file holds, with the libraries "first" and "second" in it.
LINES = {
    "two libraries": "{first}\n{second}\n",
    "two libraries, no newline": "{first}\n{second}",
    "two libraries, CRLF between": "{first}\r\n{second}\r\n",
    "library, text": "{first}\nanything else\n",
    "library, blank": "{first}\n \n",
    "library, comment": "{first}\n# comment\n",
    "text, library": "anything else\n{second}\n",
    "absent library, library": "/absent/lib.so\n{second}\n",
    "empty line, library": "\n{second}\n",
    "same library twice": "{first}\n{first}\n",
    "path list": "{first}:{second}\n",
    "blank between": "{first} {second}\n",
    "comma between": "{first},{second}\n",
}


@requirement("DISC-LNX-018")
@pytest.mark.parametrize("lines", LINES)
def test_second_line_brings_in_no_vendor(loader: Loader, sandbox: Sandbox, record: Record, lines: str) -> None:
    """A file names at most one vendor, that of its first line; a second line brings in no other one."""
    paths = {name: vendor(sandbox, name).path for name in ("first", "second")}
    content = LINES[lines].format(**paths).encode()
    outcome = whose(loader, sandbox, content, {"first line": "first", "second line": "second"})
    assert outcome != "second line"
    record(outcome)


@requirement("DISC-LNX-023")
@pytest.mark.parametrize("comment", ["# a comment", "#", "; a comment", "// a comment"])
def test_comment_before_the_line_costs_at_most_its_vendor(
    loader: Loader, sandbox: Sandbox, record: Record, comment: str
) -> None:
    """A comment before the library's line costs that vendor at most, and never another one."""
    path = vendor(sandbox, "after").path
    record(whose(loader, sandbox, f"{comment}\n{path}\n".encode(), {"comment skipped": "after"}))


NUL_FIRST = {
    "NUL": "\0",
    "NUL, newline": "\0\n",
    "newline, NUL": "\n\0",
    "four NULs, newline": "\0\0\0\0\n",
    "NUL, path": "\0{path}\n",
}


@requirement("DISC-LNX-021")
@pytest.mark.parametrize("way", ["opened", "guarded heap"])
@pytest.mark.parametrize("content", NUL_FIRST)
def test_nul_at_the_start_is_ignored_without_harm(
    loader: Loader, sandbox: Sandbox, record: Record, content: str, way: str
) -> None:
    """A file that starts with a NUL is ignored without harm."""
    line = NUL_FIRST[content].format(path=vendor(sandbox, "after")).encode()
    record(whose(loader, sandbox, line, {"NUL skipped": "after"}, way))


LINE_ENDS = {"LF LF": b"\n\n", "LF LF LF": b"\n\n\n", "65536 LF": b"\n" * 65536, "CR LF": b"\r\n", "CR": b"\r"}


@requirement("DISC-LNX-017")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("content", LINE_ENDS)
def test_file_of_line_ends_names_no_vendor(loader: Loader, sandbox: Sandbox, content: str, way: str) -> None:
    """A file that holds nothing but line ends names no vendor and does no harm."""
    assert whose(loader, sandbox, LINE_ENDS[content], {}, way) == "ignored"


MARKS = {
    "UTF-8": b"\xef\xbb\xbf",
    "UTF-8, newline": b"\xef\xbb\xbf\n",
    "half of it": b"\xef\xbb",
    "UTF-16, text": b"\xff\xfe/\0l\0\n\0",
}


@requirement("DISC-LNX-022")
@pytest.mark.parametrize("content", MARKS)
def test_byte_order_mark_alone_names_no_vendor(loader: Loader, sandbox: Sandbox, content: str) -> None:
    """A file that holds a byte-order mark and no path names no vendor and does no harm."""
    assert whose(loader, sandbox, MARKS[content], {}) == "ignored"


@requirement("DISC-LNX-022")
def test_three_bytes_are_not_skipped_blindly(loader: Loader, sandbox: Sandbox) -> None:
    """A line whose first three bytes are not a byte-order mark names a library with all of them."""
    meant = vendor(sandbox, "meant", file="xyzlib.so")
    vendor(sandbox, "cut", file="lib.so")
    marked = vendor(sandbox, "marked", file="é€ßlib.so")
    sandbox.env["LD_LIBRARY_PATH"] = str(sandbox.libraries)
    sandbox.vendors_in_order([f"{meant.path.name}\n", f"{marked.path.name}\n"])

    with loader.start(sandbox) as cl:
        cl.check_vendors("meant", "marked")
