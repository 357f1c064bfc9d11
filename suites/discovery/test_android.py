# SPDX-License-Identifier: Apache-2.0
"""The vendor directory that is compiled into a loader: Android's, or that of other Linux systems (DISC-AND)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from harness.check import ANDROID_VENDORS, SYSTEM_VENDORS, Loader, Sandbox, requirement

ANDROID = "Android vendor directory"


@requirement("DISC-LNX-038")
@pytest.mark.parametrize("linked", [False, True], ids=["opened", "linked"])
@pytest.mark.parametrize("present", ["both", "Linux", "Android"])
def test_only_the_directory_of_the_own_system_is_read(
    loader: Loader, sandbox: Sandbox, present: str, linked: bool
) -> None:
    """A loader reads the vendor directory of the system that it was built for, and no other system's."""
    linux, android = sandbox.folder("linux"), sandbox.folder("android")
    sandbox.vendor_file("linux.icd", f"{sandbox.icd('linux')}\n", linux)
    sandbox.vendor_file("android.icd", f"{sandbox.icd('android')}\n", android)
    places = {"Linux": {SYSTEM_VENDORS: linux}, "Android": {ANDROID_VENDORS: android}}
    binds = places.get(present, {SYSTEM_VENDORS: linux, ANDROID_VENDORS: android})
    own = "android" if loader.has(ANDROID) else "linux"
    expected = [own] if present == "both" or present.lower() == own else []
    with loader.start(sandbox, linked=linked, system_binds=binds) as cl:
        assert cl.used_platforms() == expected
    assert sandbox.log.happened("loaded").components() == expected


# What the files of the directory say, in its order (a letter is a good vendor), and the vendors that they mean.
CONTENTS: dict[str, tuple[Sequence[str], list[str]]] = {
    "newline": (["a\n"], ["a"]),
    "no newline": (["a"], ["a"]),
    "several": (["a\n", "b", "c\n"], ["a", "b", "c"]),
    "missing first": (["missing\n", "a\n", "b\n"], ["a", "b"]),
    "missing between": (["a\n", "missing\n", "b\n"], ["a", "b"]),
    "missing last": (["a\n", "b\n", "missing"], ["a", "b"]),
    "nothing": ([], []),
    "nine": ([f"{letter}\n" for letter in "abcdefghi"], list("abcdefghi")),
}


@requirement("DISC-AND-001")
@pytest.mark.parametrize("content", CONTENTS)
def test_configuration_files_on_android_name_libraries(loader: Loader, sandbox: Sandbox, content: str) -> None:
    """Android's directory holds .icd files that name a library, as on Linux; a missing one is passed over."""
    loader.require(ANDROID)
    lines, expected = CONTENTS[content]
    sandbox.vendors_in_order([sandbox_line(sandbox, line) for line in lines])
    with loader.start(sandbox, system_binds={ANDROID_VENDORS: sandbox.vendors}) as cl:
        assert cl.used_platforms() == set(expected)


def sandbox_line(sandbox: Sandbox, line: str) -> str:
    name = line.rstrip("\n")
    path = sandbox.root / "missing.so" if name == "missing" else sandbox.icd(name).path
    return line.replace(name, str(path))


@requirement("DISC-LNX-005")
def test_other_files_on_android_are_ignored(loader: Loader, sandbox: Sandbox) -> None:
    """Files of Android's directory whose names do not end in .icd are not configuration files."""
    loader.require(ANDROID)
    sandbox.vendor("good")
    for file in ("other.conf", "other.icd.old", "icd", "other.ICD"):
        sandbox.vendor_file(file, f"{sandbox.icd('other')}\n")
    with loader.start(sandbox, system_binds={ANDROID_VENDORS: sandbox.vendors}) as cl:
        assert cl.used_platforms() == {"good"}
    assert not sandbox.log.of("other")


@requirement("DISC-ENV-001")
def test_variable_on_android_replaces_the_directory(loader: Loader, sandbox: Sandbox) -> None:
    """OCL_ICD_VENDORS takes the place of Android's directory, too."""
    loader.require(ANDROID)
    loader.require("OCL_ICD_VENDORS")
    sandbox.vendor("default")
    sandbox.vendor_file("chosen.icd", f"{sandbox.icd('chosen')}\n", sandbox.folder("chosen"))
    sandbox.env["OCL_ICD_VENDORS"] = str(sandbox.root / "chosen")
    with loader.start(sandbox, system_binds={ANDROID_VENDORS: sandbox.vendors}) as cl:
        assert cl.used_platforms() == {"chosen"}
    assert not sandbox.log.of("default")
