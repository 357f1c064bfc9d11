# SPDX-License-Identifier: Apache-2.0
"""Whatever a subject does to its sandbox, nothing outside is touched, and nothing of it is left."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.probe import SubjectFailure
from harness.sandbox import Sandbox
from harness.sandbox import sandbox as module
from harness.sandbox.folder import OwnFolder, sweep
from harness.sandbox.machine import bubblewrap, is_root, scratch_root
from harness.subject.loader import Loader
from tests.hostile import hostile

__all__ = ["hostile"]

# Names of what a subject does, as commands of a shell that starts in the sandbox.
DEEDS = {
    "removes it": 'rm -rf "$PWD"',
    "renames it": 'mv "$PWD" ../renamed',
    "renames it to elsewhere": "perl -e \"rename '$PWD', '../../bystander/renamed'\"",  # mv would make a copy
    "replaces it by a link": 'mv "$PWD" ../renamed; ln -s ../bystander "$PWD"',
    "replaces it by a link to the parent": 'mv "$PWD" ../renamed; ln -s . "$PWD"',
    "replaces it by a file": 'mv "$PWD" ../renamed; touch "$PWD"',
    "replaces it by a FIFO": 'rm -rf "$PWD"; mkfifo "$PWD"',
    "replaces it by a copy": 'mv "$PWD" ../renamed; cp -a ../renamed "$PWD"; chmod 0 "$PWD/vendors" "$PWD"',
    "makes links to others": "ln -s ../../bystander a; ln -s .. vendors/up; ln ../../bystander/file hard; ln -s / root",
    "makes it unreadable": 'mkdir -p a/b/c; chmod 0 a/b/c a/b a vendors libraries "$PWD"',
    "makes it unchangeable": "mkdir -p a/b; touch a/f a/b/f; chattr +i a/f a/b/f; chattr +a a/b; chattr +i a .",
    # Deeper than Python recurses, and longer than a path may be, where a shell's cd fails.
    "makes it 1,500 deep": "perl -e 'for (1..1500) { mkdir q(deep); chdir q(deep) or die }'",
    "goes on writing": "for n in 1 2 3; do setsid sh -c 'while :; do mkdir -p x/y/z; : > x/y/z/$$; done' & done",
    "mounts": "mkdir m n; mount -t tmpfs none m; mkdir m/in; mount --bind ../../bystander n; mount --bind n vendors",
    "mounts over itself": 'mount --bind ../../bystander "$PWD"',
    "mounts over a file": "touch f; mount --bind ../../bystander/file f",
}


def snapshot(folder: Path) -> dict[str, tuple[int, int, int, bytes]]:
    """Modes, owners and content of all that is in a folder, and of the folder itself."""
    files = {}
    for path in [folder, *folder.rglob("*")]:
        state = path.lstat()
        content = path.read_bytes() if stat.S_ISREG(state.st_mode) else b""
        files[str(path)] = (state.st_mode, state.st_uid, state.st_ino, content)
    return files


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the place for sandboxes, and what has to stay as it is beside it."""
    (tmp_path / "scratch").mkdir()
    (tmp_path / "scratch").chmod(0o1777)
    (tmp_path / "scratch" / "other").mkdir()
    (tmp_path / "bystander").mkdir()
    (tmp_path / "bystander" / "file").write_text("precious")
    monkeypatch.setattr(module, "_swept_root", lambda: tmp_path / "scratch")
    yield tmp_path
    mounts = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    left = [mount for mount in mounts if Path(mount).is_relative_to(tmp_path)]
    for mount in reversed(left):
        subprocess.run(["umount", "-l", mount])
    assert not left


def by_another(sandbox: Sandbox, deed: str) -> None:
    """Does what a subject does that has no mounts of its own, in which its sandbox is a place that stays."""
    subprocess.run(["sh", "-c", DEEDS[deed]], cwd=sandbox.root, check=False)


@pytest.mark.parametrize("by_subject", [True, False], ids=["subject", "another"])
@pytest.mark.parametrize("deed", DEEDS)
def test_nothing_outside_is_touched(place: Path, hostile: Loader, deed: str, by_subject: bool) -> None:
    if not by_subject and ("mount" in deed or deed == "goes on writing"):
        pytest.skip("what is left of that is not the sandbox's")
    if ("mount" in deed or "chattr" in DEEDS[deed]) and not is_root():
        pytest.skip("only root can do that")
    before = snapshot(place)
    sandbox = Sandbox(hostile.path)
    sandbox.vendor("a")
    sandbox.env["HOSTILE"] = f"shell={DEEDS[deed]}" if by_subject else ""
    with contextlib.suppress(SubjectFailure), hostile.start(sandbox) as cl:
        assert cl.platform_count() == 1
    if not by_subject:
        by_another(sandbox, deed)
    sandbox.listing()
    sandbox.keep(place.parent / f"{place.name}-kept")
    sandbox.close()
    assert snapshot(place) == before
    assert not sandbox.problems


def test_what_took_the_place_of_the_sandbox_is_not_written_to(place: Path, hostile: Loader) -> None:
    sandbox = Sandbox(hostile.path)
    with hostile.start(sandbox) as cl:
        cl.platform_count()
    by_another(sandbox, "replaces it by a link")
    before = snapshot(place / "bystander")
    for write in (lambda: sandbox.file("new"), lambda: sandbox.vendor("a"), sandbox.forget_log):
        with pytest.raises(AssertionError, match="replaced"):
            write()
    sandbox.close()
    assert snapshot(place / "bystander") == before


def test_the_place_of_sandboxes_keeps_its_mode(hostile: Loader) -> None:
    """The place itself, such as /dev/shm, as its users have it."""
    before = scratch_root().stat().st_mode
    sandbox = Sandbox(hostile.path)
    sandbox.env["HOSTILE"] = f"shell={DEEDS['removes it']}"
    with contextlib.suppress(SubjectFailure), hostile.start(sandbox) as cl:
        cl.platform_count()
    sandbox.close()
    assert not sandbox.root.exists()
    assert scratch_root().stat().st_mode == before


def test_folder_that_cannot_be_removed_costs_no_time(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing changes by waiting where something may not be removed."""
    own = OwnFolder(place / "scratch", "case-")
    (own.path / "file").touch()
    (own.path / "folder").mkdir()
    remove = os.unlink

    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(errno.EPERM, "not permitted")

    monkeypatch.setattr(os, "unlink", refuse)
    start = time.monotonic()
    assert "not permitted" in own.remove()
    assert time.monotonic() - start < 5
    monkeypatch.setattr(os, "unlink", remove)
    sweep(place / "scratch", "case-")
    assert not own.path.exists(), "the next run removes it"


# --- copies ---


@pytest.fixture
def sandbox(place: Path, hostile: Loader) -> Iterator[Sandbox]:
    box = Sandbox(hostile.path)
    yield box
    box.close()


def test_a_copy_is_sparse_and_bounded(sandbox: Sandbox, tmp_path: Path) -> None:
    with (sandbox.root / "hole").open("wb") as file:
        file.truncate(20 << 30)
        file.seek(10 << 30)
        file.write(b"data")
    (sandbox.root / "stderr").write_bytes(b"x" * (3 << 20))
    (sandbox.root / "small").write_text("whole")
    copy = sandbox.keep(tmp_path / "copy")
    assert (copy / "small").read_text() == "whole"
    with (copy / "hole").open("rb") as file:
        file.seek(10 << 30)
        assert file.read(5) == b"data\0"
    assert (copy / "hole").stat().st_size == 20 << 30 and (copy / "hole").stat().st_blocks < 2000
    assert (copy / "stderr").stat().st_size == 1 << 20
    assert "stderr" in (copy / "left-out").read_text()


def test_a_copy_takes_the_place_of_an_older_one(sandbox: Sandbox, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "file").touch()
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "old").symlink_to(victim)
    sandbox.keep(tmp_path / "copy")
    assert not (tmp_path / "copy" / "old").is_symlink() and (tmp_path / "copy" / "vendors").is_dir()
    assert (victim / "file").exists()
    (tmp_path / "link").symlink_to(victim)
    sandbox.keep(tmp_path / "link")
    assert not (tmp_path / "link").is_symlink() and (victim / "file").exists()


def test_a_copy_has_neither_special_files_nor_privileges(sandbox: Sandbox, tmp_path: Path) -> None:
    os.mkfifo(sandbox.root / "fifo")
    (sandbox.root / "program").touch()
    (sandbox.root / "program").chmod(0o4755)
    copy = sandbox.keep(tmp_path / "copy")
    assert not (copy / "fifo").exists()
    assert stat.S_IMODE((copy / "program").stat().st_mode) == 0o755


# --- what killed runs leave ---


def test_sandboxes_of_killed_runs_are_swept(place: Path) -> None:
    """Those that a living process holds stay, and so does what only looks like one."""
    scratch = place / "scratch"
    killed = "import sys, os; from pathlib import Path; from harness.sandbox.folder import OwnFolder\n"
    killed += "folder = OwnFolder(Path(sys.argv[1]), 'case-'); (folder.path / 'file').touch(); os.kill(os.getpid(), 9)"
    subprocess.run([sys.executable, "-c", killed, str(scratch)], check=False)
    (left,) = scratch.glob("case-*")
    assert (left / "file").exists()
    left.chmod(0)
    held = OwnFolder(scratch, "case-")
    (scratch / "case-link").symlink_to(place / "bystander")
    (scratch / "case-file").touch()
    sweep(scratch, "case-")
    assert not left.exists()
    assert held.path.exists() and (scratch / "case-link").is_symlink() and (scratch / "case-file").exists()
    assert (place / "bystander" / "file").exists() and (scratch / "other").exists()
    held.remove()
    assert not held.path.exists()


def test_new_folder_that_another_run_sweeps_at_once_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between its creation and its lock a folder looks like one that a killed run has left."""
    create = tempfile.mkdtemp
    created: list[str] = []

    def create_and_sweep(**options: Any) -> str:
        created.append(create(**options))
        if len(created) == 1:
            os.rmdir(created[0])
        return created[-1]

    monkeypatch.setattr(tempfile, "mkdtemp", create_and_sweep)
    folder = OwnFolder(tmp_path, "case-")
    assert [str(folder.path)] == created[1:]
    assert folder.is_in_place()
    assert folder.remove() == ""


@pytest.mark.skipif(shutil.which("bwrap") is None or not Path("/lib").is_symlink(), reason="no bubblewrap, or no link")
def test_no_folder_is_mounted_where_a_link_was_made() -> None:
    """Newer bubblewrap refuses that; what the link leads to is there anyhow."""
    command = bubblewrap({}, [], [Path("/lib"), Path("/lib64")])
    made = {to for option, to in zip(command, command[2:], strict=False) if option == "--symlink"}
    mounted = {to for option, to in zip(command, command[2:], strict=False) if option == "--ro-bind"}
    assert "/lib" in made and not made & mounted
