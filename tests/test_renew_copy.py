# SPDX-License-Identifier: Apache-2.0
"""The copy of the checkout in the root of another system: what changed is newer than what was built from it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ci.renew_copy import renew

NAMES = ["changed", "folder/same", "folder/gone", "program", "link", "odd\nname"]
LONG_AGO = 1_000_000_000


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout, and beside it a copy from which something has been built."""
    folder = tmp_path / "checkout"
    (folder / "folder").mkdir(parents=True)
    for name in NAMES:
        (folder / name).write_text(name)
    (folder / "link").unlink()
    (folder / "link").symlink_to("folder")
    (tmp_path / "copy" / "build").mkdir(parents=True)
    (tmp_path / "copy" / "build" / "object").write_text("from the first copy")
    renew(folder, tmp_path / "copy", NAMES)
    for name in NAMES:
        os.utime(tmp_path / "copy" / name, (LONG_AGO, LONG_AGO), follow_symlinks=False)
    return folder


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()}


def test_file_that_changed_before_the_last_build_ended_is_newer_than_it(checkout: Path) -> None:
    copy = checkout.with_name("copy")
    (checkout / "changed").write_text("CHANGED")  # as long as before
    os.utime(checkout / "changed", (LONG_AGO - 1, LONG_AGO - 1))
    renew(checkout, copy, NAMES)
    assert (copy / "changed").read_text() == "CHANGED"
    assert (copy / "changed").stat().st_mtime >= (copy / "build" / "object").stat().st_mtime
    others = {name for name in NAMES if (copy / name).lstat().st_mtime == LONG_AGO}
    assert others == set(NAMES) - {"changed"}


def test_copy_has_what_the_checkout_has_and_nothing_else(checkout: Path) -> None:
    copy = checkout.with_name("copy")
    (checkout / "folder" / "gone").unlink()
    (copy / "left" / "over").mkdir(parents=True)
    (copy / "left" / "over" / "file").touch()
    (copy / "folder" / "left").touch()
    (copy / "way out").symlink_to(checkout)
    (checkout / "program").chmod(0o755)
    renew(checkout, copy, NAMES)
    assert files(copy) == {*NAMES, "build/object"} - {"folder/gone"}
    assert files(checkout) == {*NAMES} - {"folder/gone"}
    assert os.readlink(copy / "link") == "folder"
    assert os.access(copy / "program", os.X_OK)


def test_what_was_a_folder_may_be_a_file_and_the_other_way_round(checkout: Path) -> None:
    copy = checkout.with_name("copy")
    names = ["folder", "program/part", "link"]
    (checkout / "folder" / "same").unlink()
    (checkout / "folder" / "gone").unlink()
    (checkout / "folder").rmdir()
    (checkout / "folder").write_text("a file now")
    (checkout / "program").unlink()
    (checkout / "program").mkdir()
    (checkout / "program" / "part").write_text("a part")
    (checkout / "link").unlink()
    (checkout / "link").write_text("no link")
    renew(checkout, copy, names)
    assert files(copy) == {*names, "build/object"}
    assert [(copy / name).read_text() for name in names] == ["a file now", "a part", "no link"]
    assert (copy / "changed").exists() is False
