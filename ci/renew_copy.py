# SPDX-License-Identifier: Apache-2.0
"""Makes a copy of a checkout what the checkout is now, in which whatever changed is newer than what was built from it.

usage: git ls-files -z … | ci/renew_copy.py CHECKOUT COPY
Reads names below CHECKOUT, each ended by a NUL byte; one that is not there is left out. A file of the copy that is the
same already keeps its time, so that nothing is built again for it; any other gets the time of now. That of the checkout
would not do: where a file changes while the copy is being built, it is older than what was built without the change.
Everything else in COPY is removed, but for its folder `build`.
"""

from __future__ import annotations

import filecmp
import os
import shutil
import sys
from pathlib import Path


def renew(checkout: Path, copy: Path, names: list[str]) -> None:
    """Renews the copy."""
    wanted = {name for name in names if (checkout / name).is_symlink() or (checkout / name).is_file()}
    _remove_others(copy, wanted)
    for name in sorted(wanted):
        source, target = checkout / name, copy / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if not _is_same(source, target):
            target.unlink(missing_ok=True)
            shutil.copyfile(source, target, follow_symlinks=False)
            if not source.is_symlink():
                shutil.copymode(source, target)


def _remove_others(copy: Path, wanted: set[str]) -> None:
    kept = {parent for name in wanted for parent in Path(name).parents}
    for path, folders, files in os.walk(copy):
        here = Path(path).relative_to(copy)
        for name in list(folders):
            if here == Path() and name == "build":
                folders.remove(name)
            elif Path(path, name).is_symlink():
                files.append(name)
            elif here / name not in kept:
                shutil.rmtree(Path(path, name))
        for name in files:
            if str(here / name) not in wanted:
                Path(path, name).unlink()


def _is_same(source: Path, target: Path) -> bool:
    if source.is_symlink() or target.is_symlink():
        return source.is_symlink() and target.is_symlink() and os.readlink(source) == os.readlink(target)
    if not target.exists() or source.stat().st_mode != target.stat().st_mode:
        return False
    return filecmp.cmp(source, target, shallow=False)


if __name__ == "__main__":
    renew(
        Path(sys.argv[1]), Path(sys.argv[2]), [os.fsdecode(name) for name in sys.stdin.buffer.read().split(b"\0")[:-1]]
    )
