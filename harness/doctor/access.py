# SPDX-License-Identifier: Apache-2.0
"""What stands between this user and a file: modes, folders, links, mounts, access control of the kernel."""

from __future__ import annotations

import glob
import os
import stat
from pathlib import Path

_NOT_A_FILE = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFBLK: "a device",
    stat.S_IFCHR: "a device",
}


def special(path: Path) -> str:
    """What a path is where it is not a regular file; "" where it is. Raises OSError."""
    return _NOT_A_FILE.get(stat.S_IFMT(path.stat().st_mode), "")


def why_absent(path: Path) -> str:
    """Why a path leads to nothing, after the path: "is a link to X, which does not exist"."""
    if os.path.islink(path):
        target = os.readlink(path)
        try:
            path.stat()
        except FileNotFoundError:
            return f"is a link to {target}, which does not exist"
        except OSError as error:
            return f"is a link to {target}, which cannot be followed ({(error.strerror or '').lower()})"
    missing = next((folder for folder in reversed(path.parents) if not os.path.exists(folder)), None)
    return f"does not exist: there is no folder {missing}" if missing else "does not exist"


def globbed(folder: Path, pattern: str) -> list[Path]:
    """What matches below a folder, in order; what this user may not see does not."""
    return sorted(folder / name for name in glob.glob(pattern, root_dir=folder))


def barrier(path: Path) -> str:
    """What keeps this user from reading an existing file, as a clause; "" for nothing."""
    for folder in reversed(path.absolute().parents):
        if not os.access(folder, os.X_OK):
            return f"the folder {folder} is closed to this user (mode {_mode(folder)})"
    if not os.access(path, os.R_OK):
        return f"its mode is {_mode(path)}"
    return access_control()


def closed(path: Path) -> bool:
    """Whether a file is there that this user may not read, or that nobody but root may."""
    return os.path.exists(path) and (not os.access(path, os.R_OK) or readable_by_nobody(path))


def readable_by_nobody(path: Path) -> bool:
    """Whether only root reads the file, because its mode lets nobody."""
    return os.geteuid() == 0 and not path.stat().st_mode & 0o444


def listed_for_nobody(folder: Path) -> bool:
    """The same of a folder."""
    return os.geteuid() == 0 and not folder.stat().st_mode & 0o555


def readable_by_root_only(path: Path) -> bool:
    """Whether root alone can read a file, and this process is root."""
    return os.geteuid() == 0 and not path.stat().st_mode & 0o004


def is_noexec(path: Path) -> bool:
    """Whether the file lies where nothing may be executed."""
    try:
        return bool(os.statvfs(path).f_flag & os.ST_NOEXEC)
    except OSError:
        return False


def access_control() -> str:
    """SELinux or AppArmor, where one of them rules this process, as a clause; else ""."""
    try:
        label = Path("/proc/self/attr/current").read_text(errors="replace").strip("\0\n ")
    except OSError:
        label = ""
    if os.path.exists("/sys/fs/selinux/enforce") and label not in ("", "kernel"):
        return f"SELinux rules this process ({label}): ausearch -m avc -ts recent shows what it refused"
    if label.endswith("(enforce)"):
        return f"AppArmor rules this process ({label}): journalctl -k --grep DENIED shows what it refused"
    return ""


def _mode(path: Path) -> str:
    try:
        state = path.stat()
    except OSError:
        return "unknown"
    return f"{stat.S_IMODE(state.st_mode):04o}, owner {owner(state.st_uid)}"


def owner(uid: int) -> str:
    """The name of a user; the number where the machine has no name for it."""
    import pwd

    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
