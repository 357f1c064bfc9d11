# SPDX-License-Identifier: Apache-2.0
"""Files that a subject may have written, or put in the place of others: nothing but a regular file is ever opened."""

from __future__ import annotations

import errno
import os
import stat


def open_regular(path: str | os.PathLike[str], flags: int = os.O_RDONLY, folder: int | None = None) -> int:
    """Opens a file (a name in the open `folder`, where one is given) and gives its descriptor.

    Raises OSError for a link, and for whatever might block or act when it is opened: FIFOs, devices, sockets.
    """
    name = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        if not stat.S_ISREG(os.fstat(name).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", os.fspath(path))
        return os.open(f"/proc/self/fd/{name}", flags | os.O_NONBLOCK | os.O_CLOEXEC)
    finally:
        os.close(name)


def head(path: str | os.PathLike[str], most: int, folder: int | None = None) -> bytes:
    """The first bytes of a file."""
    descriptor = open_regular(path, folder=folder)
    try:
        return os.pread(descriptor, most, 0)
    finally:
        os.close(descriptor)
