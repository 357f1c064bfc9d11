# SPDX-License-Identifier: Apache-2.0
"""A folder of one's own in a place that others use, such as /dev/shm: made, listed, copied and removed.

All of it is done by descriptors and without following links: whatever a subject does to the folder's name, to what is
in it, or to its mounts, nothing outside is read, changed or removed. The lock on a folder says that its owner lives.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import itertools
import os
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NAME_ONLY = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
_MNT_DETACH = 2
_GET_FLAGS, _SET_FLAGS = 0x80086601, 0x40086602  # of <linux/fs.h>, FS_IOC_GETFLAGS and FS_IOC_SETFLAGS
_UNCHANGEABLE = 0x30  # FS_IMMUTABLE_FL, FS_APPEND_FL
_TIME_LIMIT = 20.0  # seconds for removing a folder in which somebody goes on writing
_MAX_DEPTH = 40  # of what is listed and copied; what is removed may be as deep as it likes


def _same(one: os.stat_result, other: os.stat_result) -> bool:
    return (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)


def _mount_of(descriptor: int) -> bytes:
    """The mount that a descriptor's file belongs to."""
    state = os.open(f"/proc/self/fdinfo/{descriptor}", os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(state, 4096).partition(b"mnt_id:")[2].split(maxsplit=1)[0]
    finally:
        os.close(state)


def _unmount(descriptor: int) -> None:
    ctypes.CDLL(None).umount2(f"/proc/self/fd/{descriptor}".encode(), _MNT_DETACH)


def _open_inside(folder: int, name: str, mount: bytes) -> int:
    """Opens what a name in a folder is, for its name only. What is mounted over it is taken away before."""
    for _ in range(_MAX_DEPTH):
        descriptor = os.open(name, _NAME_ONLY, dir_fd=folder)
        if _mount_of(descriptor) == mount:
            return descriptor
        _unmount(descriptor)
        os.close(descriptor)
    raise OSError(errno.EBUSY, f"{name} is mounted, and that cannot be changed")


def _make_changeable(descriptor: int) -> None:
    """Takes away what keeps root from changing a file or a folder (chattr +i, +a)."""
    with contextlib.suppress(OSError):  # this file system has no such thing
        file = os.open(f"/proc/self/fd/{descriptor}", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            flags = bytearray(8)
            fcntl.ioctl(file, _GET_FLAGS, flags)
            if int.from_bytes(flags, sys.byteorder) & _UNCHANGEABLE:
                flags[:4] = (int.from_bytes(flags[:4], sys.byteorder) & ~_UNCHANGEABLE).to_bytes(4, sys.byteorder)
                fcntl.ioctl(file, _SET_FLAGS, flags)
        finally:
            os.close(file)


def _make_writable(descriptor: int) -> None:
    """The same of a folder, and of its mode."""
    _make_changeable(descriptor)
    with contextlib.suppress(PermissionError):  # another user's
        os.chmod(f"/proc/self/fd/{descriptor}", 0o700)  # this very file, however it was opened and is called now


def _open_to_list(folder: int) -> int:
    """Opens a folder that is open for its name only, which its owner may have closed to himself."""
    try:
        return os.open(".", _FOLDER, dir_fd=folder)
    except PermissionError:
        _make_writable(folder)
        return os.open(".", _FOLDER, dir_fd=folder)


def _unlink(folder: int, name: str, mount: bytes) -> None:
    try:
        os.unlink(name, dir_fd=folder)
    except PermissionError:
        _make_writable(folder)
        file = _open_inside(folder, name, mount)
        try:
            state = os.fstat(file)
            if stat.S_ISREG(state.st_mode) and state.st_nlink == 1:  # else it may be somebody else's file
                _make_changeable(file)
        finally:
            os.close(file)
        os.unlink(name, dir_fd=folder)
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
        os.close(_open_inside(folder, name, mount))
        os.unlink(name, dir_fd=folder)


def _dissolve(top: int, name: str, mount: bytes, names: Iterator[int]) -> None:
    """Removes a folder in `top`; folders in it are moved up into `top`, so that no depth is too much."""
    outside = _open_inside(top, name, mount)
    try:
        inside = _open_to_list(outside)
    finally:
        os.close(outside)
    try:
        for entry in list(os.scandir(inside)):
            if entry.is_dir(follow_symlinks=False):
                _move_up(inside, entry.name, top, mount, names)
            else:
                _unlink(inside, entry.name, mount)
    finally:
        os.close(inside)
    os.rmdir(name, dir_fd=top)


def _move_up(folder: int, name: str, top: int, mount: bytes, names: Iterator[int]) -> None:
    moved = _open_inside(folder, name, mount)
    try:
        for number in names:
            try:
                os.rename(name, f".removed-{number}", src_dir_fd=folder, dst_dir_fd=top)
                return
            except PermissionError:
                _make_writable(folder)
                _make_writable(moved)
                os.rename(name, f".removed-{number}", src_dir_fd=folder, dst_dir_fd=top)
                return
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                    raise
    finally:
        os.close(moved)


def _empty(top: int) -> None:
    """Removes all that is in a folder. Raises OSError where that cannot be done."""
    mount = _mount_of(top)
    names = itertools.count()
    trouble: OSError | None = None
    until = time.monotonic() + _TIME_LIMIT
    stays = 0
    while time.monotonic() < until and stays < 3:
        entries = list(os.scandir(top))
        if not entries:
            return
        left = 0
        for entry in entries:
            try:
                if entry.is_dir(follow_symlinks=False):
                    _dissolve(top, entry.name, mount, names)
                else:
                    _unlink(top, entry.name, mount)
            except PermissionError as error:
                _make_writable(top)
                trouble = error
                left += 1
            except OSError as error:
                trouble = error
        stays = stays + 1 if left == len(entries) else 0  # more time would not change that
    raise trouble or OSError(errno.ENOTEMPTY, "somebody goes on writing into it")


def _remove_empty(parent: int, name: str, folder: int) -> None:
    """Removes the folder `folder`, which is empty: by its name in `parent`, or wherever a subject moved it to.

    What a subject put in its place goes, too: nobody else uses that name.
    """
    own = os.fstat(folder)
    with contextlib.suppress(FileNotFoundError):
        os.close(_open_inside(parent, name, _mount_of(parent)))
        there = os.stat(name, dir_fd=parent, follow_symlinks=False)
        if _same(there, own):
            os.rmdir(name, dir_fd=parent)
            return
        _remove_in(parent, name)
    moved = os.readlink(f"/proc/self/fd/{folder}")
    with contextlib.suppress(FileNotFoundError):
        if _same(os.lstat(moved), own):
            os.rmdir(moved)


def remove(path: Path) -> None:
    """Removes a folder and all that is in it, or a file. Raises OSError where that cannot be done."""
    parent = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _remove_in(parent, path.name)
    finally:
        os.close(parent)


def _remove_in(parent: int, name: str) -> None:
    """The same, by its name in the open folder `parent`."""
    try:
        if not stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode):
            os.unlink(name, dir_fd=parent)
            return
        outside = os.open(name, _NAME_ONLY, dir_fd=parent)
    except FileNotFoundError:
        return
    try:
        folder = _open_to_list(outside)
    finally:
        os.close(outside)
    try:
        _empty(folder)
        _remove_empty(parent, name, folder)
    finally:
        os.close(folder)


class OwnFolder:
    """A new folder with a name that nobody else uses. Processes that are forked share it and its lock."""

    def __init__(self, place: Path, prefix: str) -> None:
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=prefix, dir=place))
            try:
                self.descriptor = os.open(self.path, _FOLDER)
            except FileNotFoundError:
                continue  # another run took it for one that was left behind
            if _take(self.descriptor, self.path):
                break
            os.close(self.descriptor)  # the same, a moment later
        os.fchmod(self.descriptor, 0o755)
        self._parent = os.open(place, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)

    def is_in_place(self) -> bool:
        """Whether the folder still is what its path names."""
        try:
            return _same(os.fstat(self.descriptor), os.lstat(self.path))
        except OSError:
            return False

    def walk(self) -> Iterator[tuple[str, str, int, os.stat_result]]:
        """What is in the folder: its path from here, its name, a descriptor of the folder it is in, and its state."""
        os.close(_open_to_list(self.descriptor))
        for folder, folders, files, at in os.fwalk(".", dir_fd=self.descriptor):
            if folder.count("/") >= _MAX_DEPTH:
                folders.clear()
            folders.sort()
            for name in sorted([*folders, *files]):
                with contextlib.suppress(FileNotFoundError):
                    state = os.stat(name, dir_fd=at, follow_symlinks=False)
                    yield os.path.join(folder, name).removeprefix("./"), name, at, state

    def remove(self) -> str:
        """Removes the folder; gives what is wrong where it could not be, or ""."""
        if self.descriptor < 0:
            return ""
        try:
            _empty(self.descriptor)
            _remove_empty(self._parent, self.path.name, self.descriptor)
        except OSError as error:
            return f"{self.path} could not be removed: {error.strerror}"
        finally:
            os.close(self.descriptor)
            os.close(self._parent)
            self.descriptor = -1
        return ""


def _take(folder: int, path: Path) -> bool:
    """Locks a folder, unless somebody else has it, or it is not there any more."""
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return _same(os.fstat(folder), os.lstat(path))
    except (BlockingIOError, FileNotFoundError):
        return False


def lock(path: Path) -> int | None:
    """A descriptor that holds a folder locked until it is closed; None where somebody else was faster."""
    try:
        folder = os.open(path, _FOLDER)
    except FileNotFoundError:
        return None
    if _take(folder, path):
        return folder
    os.close(folder)
    return None


def sweep(place: Path, prefix: str) -> None:
    """Removes the folders of this user that nobody holds any more: those of runs that were killed."""
    for entry in list(os.scandir(place)):
        if not entry.name.startswith(prefix):
            continue
        with contextlib.suppress(OSError):
            if entry.stat(follow_symlinks=False).st_uid == os.geteuid():
                _sweep_one(Path(entry.path))


def _sweep_one(path: Path) -> None:
    outside = os.open(path, _NAME_ONLY | os.O_DIRECTORY)
    try:
        folder = _open_to_list(outside)
    finally:
        os.close(outside)
    try:
        if _take(folder, path):
            remove(path)
    finally:
        os.close(folder)
