# SPDX-License-Identifier: Apache-2.0
"""Copies of sandboxes for a person or a replay: what a subject wrote there is bounded, and stays sparse."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from harness.sandbox import folder
from harness.sandbox.folder import OwnFolder

MAX_FILES = 20_000
MAX_OUTPUT = 1 << 20  # bytes of what a process printed; no more is shown of it either
MAX_FILE = 64 << 20  # bytes of any other file; holes are not counted
MAX_SANDBOX = 256 << 20
MAX_RUN = 1 << 30  # of all that one process keeps: from then on nothing but small files
SMALL = 64 << 10
LEFT_OUT = "left-out"  # the file that names what was not copied, and why

_kept_in_this_run = 0


class _Copy:
    """One copy that is being made."""

    def __init__(self, where: Path) -> None:
        self.where = where
        self.left_out: list[str] = []
        self.modes: list[tuple[Path, int]] = []  # of folders, which have to be writable until the end
        self.files = 0
        self.room = MAX_SANDBOX

    def add(self, path: str, name: str, at: int, state: os.stat_result) -> None:
        """One entry of the sandbox: `name` in the folder that is open as `at`."""
        self.files += 1
        to = self.where / path
        if self.files > MAX_FILES:
            if self.files == MAX_FILES + 1:
                self.left_out.append(f"all after the first {MAX_FILES} files")
        elif not to.parent.is_dir():
            return  # it was left out
        elif stat.S_ISDIR(state.st_mode):
            to.mkdir()
            self.modes.append((to, stat.S_IMODE(state.st_mode) & 0o777))
        elif stat.S_ISLNK(state.st_mode):
            to.symlink_to(os.readlink(name, dir_fd=at))
        elif stat.S_ISREG(state.st_mode):
            self._add_file(path, name, at)

    def _add_file(self, path: str, name: str, at: int) -> None:
        global _kept_in_this_run
        data = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=at)
        to = os.open(self.where / path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            state = os.fstat(data)
            if not stat.S_ISREG(state.st_mode):
                return
            most = MAX_OUTPUT if path in ("stdout", "stderr") else MAX_FILE
            used = 512 * state.st_blocks
            if used > SMALL and (_kept_in_this_run > MAX_RUN or used > self.room):
                most = 0
            copied, whole = _copy_data(data, to, most)
            if not whole:
                self.left_out.append(f"{path}: all after {copied} bytes of {state.st_size}")
            self.room -= copied
            _kept_in_this_run += copied
            os.fchmod(to, stat.S_IMODE(state.st_mode) & 0o777)  # never set-uid: it has another owner now
        finally:
            os.close(data)
            os.close(to)

    def finish(self) -> None:
        if self.left_out:
            (self.where / LEFT_OUT).write_text("\n".join(self.left_out) + "\n", errors="backslashreplace")
        for to, mode in reversed(self.modes):
            to.chmod(mode)


def _copy_data(data: int, to: int, most: int) -> tuple[int, bool]:
    """Copies what is not a hole; gives the number of bytes, and whether that is all."""
    at, copied, size = 0, 0, os.fstat(data).st_size
    while at < size and copied < most:
        try:
            start = os.lseek(data, at, os.SEEK_DATA)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            break  # a hole up to the end
        at = start
        end = min(os.lseek(data, start, os.SEEK_HOLE), start + most - copied)
        while at < end and (part := os.pread(data, min(1 << 20, end - at), at)):
            copied += os.pwrite(to, part, at)
            at += len(part)
        if at < end:
            break  # it was shortened meanwhile
    else:
        if at < size:
            os.ftruncate(to, at)
            return copied, False
    os.ftruncate(to, size)
    return copied, True


def keep(source: OwnFolder, where: Path) -> None:
    """Copies a folder to `where`, in the place of what is there. Sockets, FIFOs and devices are left out."""
    folder.remove(where)
    where.mkdir()
    copy = _Copy(where)
    for entry in source.walk():
        try:
            copy.add(*entry)
        except OSError as error:
            copy.left_out.append(f"{entry[0]}: {error.strerror}")
    copy.finish()
