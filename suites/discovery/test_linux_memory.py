# SPDX-License-Identifier: Apache-2.0
"""Memory that reading the vendor directory takes: what belongs to a file that is done with is given back (DISC-LNX)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.check import Leaked, Loader, Sandbox, requirement

# A list with room for each file may stay; a path or the content of a file is larger than an element of it.
MORE = 64
ALLOWANCE = 40 * MORE


def in_use(loader: Loader, sandbox: Sandbox, **start: Any) -> int:
    """Bytes of the heap that discovery leaves in use."""
    with loader.start(sandbox, counted_heap=True, **start) as cl:
        before = cl.heap()
        assert cl.platform_names() == {"good"}
        return cl.heap() - before


# Entries that bring in no vendor, by how to make one.
ENTRIES: dict[str, Callable[[Path], object]] = {
    "absent library": lambda path: path.write_text("/absent/lib.so\n"),
    "absent bare name": lambda path: path.write_text("libabsent.so"),
    "empty": lambda path: path.touch(),
    "newline": lambda path: path.write_text("\n"),
    "long line": lambda path: path.write_text("a" * 5000),
    "text as library": lambda path: path.write_text(f"{path}\n"),
    "folder": lambda path: path.mkdir(),
    "file shorter than it says": lambda path: path.symlink_to("/sys/kernel/uevent_seqnum"),
    "file that cannot be read": lambda path: path.symlink_to("/proc/self/mem"),
    "dangling link": lambda path: path.symlink_to("absent"),
    "file of another suffix": lambda path: path.with_suffix(".txt").write_text("/absent/lib.so\n"),
}


@requirement("DISC-GEN-016")
@pytest.mark.parametrize("entry", ENTRIES)
def test_memory_does_not_grow_with_ignored_files(loader: Loader, sandbox: Sandbox, entry: str) -> None:
    """The memory in use after discovery does not grow with the number of files that bring in no vendor."""
    sandbox.vendor("good")
    ENTRIES[entry](sandbox.vendors / "first.icd")
    one = in_use(loader, sandbox)
    for number in range(MORE):
        ENTRIES[entry](sandbox.vendors / f"{number:05}.icd")
    many = in_use(loader, sandbox)
    if many - one > ALLOWANCE:
        raise Leaked(f"{many - one} bytes more are in use after {MORE} more files of the kind: {entry}")


@requirement("DISC-GEN-016")
def test_memory_does_not_grow_with_unreadable_files(loader: Loader, sandbox: Sandbox) -> None:
    """The memory in use after discovery does not grow with the number of files that the user may not read."""
    sandbox.vendor("good")
    sandbox.vendor_file("first.icd", "/absent/lib.so\n").chmod(0)
    one = in_use(loader, sandbox, ordinary_user=True)
    for number in range(MORE):
        sandbox.vendor_file(f"{number:05}.icd", "/absent/lib.so\n").chmod(0)
    many = in_use(loader, sandbox, ordinary_user=True)
    if many - one > ALLOWANCE:
        raise Leaked(f"{many - one} bytes more are in use after {MORE} more unreadable files")


@requirement("DISC-GEN-016")
def test_memory_does_not_keep_the_content_of_a_file(loader: Loader, sandbox: Sandbox) -> None:
    """The content of a configuration file is not kept: a large one leaves no more memory in use than a small one."""
    mock = sandbox.icd("good")
    sandbox.vendor_file("a.icd", f"{mock}\n")
    sandbox.vendor_file("b.icd", b"/absent/lib.so\0\n")
    small = in_use(loader, sandbox)
    sandbox.vendor_file("a.icd", f"{mock}\0{'junk' * 5000}\n")
    with loader.start(sandbox) as cl:
        accepted = cl.platform_count() == 1
    if not accepted:
        sandbox.vendor_file("a.icd", f"{mock}\n")
        sandbox.vendor_file("b.icd", "/absent/lib.so\0" + "junk" * 5000)
    large = in_use(loader, sandbox)
    if large - small > 1000:
        raise Leaked(f"{large - small} bytes more are in use after a file that is 20000 bytes larger")
