# SPDX-License-Identifier: Apache-2.0
"""Files that name libraries, in folders that loaders read: .icd files of vendors, .lay files of layers."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from harness.doctor import access
from harness.doctor.findings import Finding, note

_MOST = 64 << 10  # bytes of a file that are looked at
_LONGEST = 4096
_QUOTES = "\"'\u201c\u201d\u2018\u2019\u00ab\u00bb"  # also those that word processors make


@dataclass
class Entry:
    """A file, or an element of a variable, that names a library. `step`: how far it came: file, line, library.

    `name` is the library as a loader takes it, `meant` what was meant, where the line is malformed.
    """

    where: str
    name: str = ""
    meant: str = ""
    step: str = "file"
    findings: list[Finding] = field(default_factory=list)
    in_use: bool = True


@dataclass
class Folder:
    """A folder of such files, and what is wrong with the folder itself."""

    path: Path
    entries: list[Entry] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


def same_library(one: str, other: str) -> bool:
    """Whether two names lead to the same library; a bare name is that of any file called so."""
    if "/" in one and "/" in other:
        return os.path.realpath(one) == os.path.realpath(other)
    return os.path.basename(one) == os.path.basename(other)


def read_folder(path: Path, suffix: str) -> Folder:
    """Reads all entries. `suffix` is ".icd" or ".lay"."""
    folder = Folder(path)
    try:
        names = sorted(os.listdir(path))
    except OSError as error:
        folder.findings.append(_not_listed(path, error))
        return folder
    if access.listed_for_nobody(path):
        folder.findings.append(
            Finding(
                "folder-closed",
                f"The folder {path} is read by root only: its mode lets nobody.",
                str(path),
                f"Open it to all users: sudo chmod 755 {path}.",
            )
        )
    folder.entries = [read_entry(path / name) for name in names if _is_read(name, suffix)]
    passed_over = (_passed_over(path / name, suffix, folder.entries) for name in names if not _is_read(name, suffix))
    folder.findings += filter(None, passed_over)
    if not folder.entries:
        folder.findings.append(
            Finding(
                "folder-empty",
                f"The folder {path} has no file that ends in {suffix}.",
                str(path),
                "Install a driver, which brings its file there.",
            )
        )
    return folder


def _not_listed(path: Path, error: OSError) -> Finding:
    """Why the names in a folder cannot be had."""
    if isinstance(error, FileNotFoundError):
        words = access.why_absent(path)
        advice = "Install a driver, which brings its file there."
        return Finding("folder-missing", f"The folder {path} {words}.", str(path), advice)
    if isinstance(error, NotADirectoryError):
        advice = "Remove it, and install the driver again."
        return Finding("folder-not-a-folder", f"{path} is not a folder.", str(path), advice)
    return Finding(
        "folder-closed",
        f"The folder {path} cannot be read: {access.barrier(path) or error.strerror}.",
        str(path),
        f"Open it to all users: sudo chmod a+rx {path}.",
    )


def _passed_over(path: Path, suffix: str, read: list[Entry]) -> Finding | None:
    """What loaders do not read, although it seems to be meant for them."""
    if os.path.isdir(path) and (inner := access.globbed(path, f"*{suffix}")):
        return Finding(
            "file-in-subfolder",
            f"{inner[0]} is passed over: loaders do not look into folders below {path.parent}.",
            str(inner[0]),
            f"Move it to {path.parent}.",
        )
    return _wrong_name(path, suffix, read)


def _is_read(name: str, suffix: str) -> bool:
    return name.endswith(suffix) and name != suffix


def _wrong_name(path: Path, suffix: str, read: list[Entry]) -> Finding | None:
    """A file that names a library, but is not read because of its own name; a note where one that is read names it."""
    try:
        data = _content(path)
    except OSError:
        data = b""
    first = next((line.strip() for line in data.split(b"\n") if line.strip()), b"")
    if not re.search(rb"^[\w./+-]+\.so[\d.]*$", first) and suffix not in path.name.lower():
        return None
    stem = path.name.lower().partition(suffix)[0] or "vendor"
    stem = stem if suffix in path.name.lower() else path.stem
    return Finding(
        "wrong-name",
        f"{path.name} is passed over: its name does not end in {suffix}.",
        str(path),
        f"Rename it to {stem}{suffix}, if it is meant to be used.",
        harmless=any(same_library(first.decode(errors="surrogateescape"), entry.meant) for entry in read),
    )


def read_entry(path: Path) -> Entry:
    """Reads one file."""
    entry = Entry(str(path))
    try:
        data = _content(path)
    except OSError as error:
        entry.findings.append(_unreadable(path, error))
        return entry
    if access.readable_by_nobody(path):
        entry.findings.append(
            Finding(
                "file-unreadable",
                f"{path} is read by root only: its mode lets nobody.",
                str(path),
                f"Let all users read it: sudo chmod 644 {path}.",
            )
        )
    elif access.readable_by_root_only(path):
        entry.findings.append(
            note(
                "file-for-root",
                f"{path} is not readable for every user.",
                str(path),
                f"Let all users read it: sudo chmod a+r {path}.",
            )
        )
    entry.step = "line"
    entry.name = data.removesuffix(b"\n").partition(b"\0")[0].decode(errors="surrogateescape")
    problem = _problem(data, entry)
    if problem:
        entry.findings.append(Finding(problem[0], f"{path.name} {problem[1]}.", str(path), problem[2]))
    if entry.meant:
        entry.step = "library"
    return entry


def _content(path: Path) -> bytes:
    """The bytes of a regular file. Raises OSError; never waits, as for a FIFO."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        return os.pread(descriptor, _MOST, 0)
    finally:
        os.close(descriptor)


def _unreadable(path: Path, error: OSError) -> Finding:
    if not os.path.exists(path) and error.errno != errno.EACCES:
        return Finding(
            "file-dangling",
            f"{path} {access.why_absent(path)}.",
            str(path),
            "Remove the link, or install the driver that it belongs to again.",
        )
    if error.errno == errno.EACCES:
        return Finding(
            "file-unreadable",
            f"{path} cannot be read: {access.barrier(path) or 'permission denied'}.",
            str(path),
            f"Let all users read it: sudo chmod 644 {path}.",
        )
    try:
        kind = access.special(path)
    except OSError:
        kind = ""
    what = f"{path} is {kind}, not a file" if kind else f"{path} cannot be read: {error.strerror}"
    waits = ", and a loader that opens it waits for ever" if kind == "a FIFO" else ""
    return Finding("file-not-regular", f"{what}{waits}.", str(path), "Remove it, and install the driver again.")


def _problem(data: bytes, entry: Entry) -> tuple[str, str, str] | None:
    """What is wrong with the bytes: word, clause after the name of the file, what to do; fills in what was meant."""
    rewrite = "Write one line into it that holds the library's path and nothing else"
    if not data:
        return "file-empty", "is empty", f"{rewrite}, or install the driver again."
    if data.startswith(b"\x7fELF"):
        entry.meant = os.path.realpath(entry.where)
        return "file-is-library", "is a library itself, not a text file that names one", f"{rewrite}: {entry.meant}."
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        entry.meant = data.decode("utf-16", errors="replace").strip()
        return "file-utf16", "is written in UTF-16", "Save it as plain ASCII or UTF-8 without a byte order mark."
    text = data.decode(errors="surrogateescape")
    problems = list(_malformed(text, entry))
    if not entry.meant and not problems:
        return "file-blank", "holds blanks only", f"{rewrite}."
    if not problems:
        return None
    name = problems[0][0]
    meant = os.path.expandvars(os.path.expanduser(entry.meant))  # what the line means to a shell
    shown = meant if meant.isprintable() and len(meant) < 200 else ""
    return name, ", and ".join(dict.fromkeys(w for _, w in problems)), f"{rewrite}{f': {shown}' if shown else ''}."


def _likeliest(names: list[str]) -> str:
    """Which of several lines names the library: the first that holds the path of a file, of which that path."""
    if len(names) > 1:
        for name in names:
            for path in re.findall(r"/[^\s\"'=,;]+", name):
                if os.path.isfile(path):
                    return str(path)
    return names[0] if names else ""


def _malformed(text: str, entry: Entry) -> Iterator[tuple[str, str]]:
    if text.startswith("\ufeff"):
        text = text.removeprefix("\ufeff")
        yield "file-bom", "begins with a byte order mark"
    if "\0" in text:
        text = text.replace("\0", "")
        yield "file-nul", "holds NUL bytes"
    if text.lstrip().startswith("{"):
        yield "file-json", "is a JSON manifest, as Vulkan has them"
        return
    lines = text.split("\n")
    if "\r" in text:
        lines = [line.rstrip("\r") for line in lines]
        yield "file-carriage-return", "has Windows line ends (CR LF), and the CR becomes part of the library's name"
    if text.strip() and not lines[0].strip():
        yield "file-leading-line", "begins with an empty line"
    used = [line for line in lines if line.strip()]
    comments = [line for line in used if line.lstrip().startswith(("#", ";", "//"))]
    if comments:
        yield "file-comment", "holds a comment, which no loader knows"
    names = [line for line in used if line not in comments]
    if len(names) > 1:
        yield "file-lines", f"has {len(names)} lines, and loaders take one library from each file"
    first = _likeliest(names)
    entry.meant = first.strip().strip(_QUOTES)
    if first != first.strip():
        yield "file-blanks", "has blanks around the library's name"
    if first.strip() != entry.meant:
        yield "file-quotes", "has quotation marks, which become part of the library's name"
    if re.search(r"^~|\$\{?(?!ORIGIN|LIB|PLATFORM)\w", entry.meant):
        yield "file-variable", f"has {entry.meant[:60]}, and no loader replaces ~ or variables"
    if re.match(r"[A-Za-z]:[\\/]|[^/]*\\", entry.meant):
        yield "file-windows-path", f"has {entry.meant[:60]}, which is a path of Windows"
        entry.meant = ""
    if len(entry.meant) >= _LONGEST or any(len(part) > 255 for part in entry.meant.split("/")):
        yield "file-long", f"has a line of {len(entry.meant)} characters, more than a path can have"
        entry.meant = ""
    elif not entry.meant.isprintable():
        yield "file-unprintable", "holds control characters"
