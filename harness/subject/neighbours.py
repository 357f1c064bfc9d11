# SPDX-License-Identifier: Apache-2.0
"""Libraries that a subject needs, which lie in folders of its project's own and not in those of the system.

Whoever starts the harness says in its environment where they are, as for any program: LD_LIBRARY_PATH holds for every
case, after the folders that the case itself sets, and LD_PRELOAD where the subject lacks something without it. Or the
subject's own file says so (DT_RUNPATH), also by the place where it is ($ORIGIN).
"""

from __future__ import annotations

import functools
import os
import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

from harness.sandbox.machine import SEPARATORS

FOLDERS, PRELOADED = "LD_LIBRARY_PATH", "LD_PRELOAD"
KEPT_PRELOADED = "CLHARNESS_PRELOAD"  # what LD_PRELOAD was before Python started (cmake/clharness.in)
_SANITIZERS = re.compile(r"(lib[atl]san\.so|libubsan\.so|libclang_rt\.)[^/]*$")
_LOOK_LIMIT = 20.0  # seconds
_MOST_LINKS = 40  # as many as Linux follows


def keep_environment() -> None:
    """Makes relative paths absolute, as processes of cases are started in other folders; what is to be preloaded is for
    subjects, not for the programs that the harness starts.
    """
    if given := os.environ.get(FOLDERS):
        os.environ[FOLDERS] = ":".join(_absolute(given))
    if given := os.environ.pop(PRELOADED, "") or os.environ.get(KEPT_PRELOADED, ""):
        os.environ[KEPT_PRELOADED] = " ".join(os.path.abspath(n) if "/" in n else n for n in re.split("[: ]+", given))


def folders() -> list[str]:
    """The folders of LD_LIBRARY_PATH as it was set outside of all cases, absolute."""
    return _absolute(os.environ.get(FOLDERS, ""))


def joined(*lists: str | Iterable[str]) -> str:
    """A value of LD_LIBRARY_PATH with all folders of some lists, or values, each once. The empty one is kept."""
    parts = [part for one in lists for part in (one.split(":") if isinstance(one, str) and one else one)]
    return ":".join(dict.fromkeys(parts))


def preloaded(path: Path) -> list[str]:
    """Of what LD_PRELOAD names outside of all cases, what a library has to have: all, or nothing.

    A sanitizer's runtime always, for a part of it may be instrumented; others where the library cannot be loaded with
    all its functions without them.
    """
    names = _named()
    return names if names and (preloaded_sanitizer() or _is_needed(path, " ".join(names))) else []


def preloaded_sanitizer() -> str:
    """The sanitizer's runtime that LD_PRELOAD names outside of all cases, "" where there is none."""
    return next((name for name in _named() if _SANITIZERS.search(name)), "")


def preload(sanitizer: str, path: Path) -> str:
    """A value of LD_PRELOAD for a process of which a library becomes a part later."""
    return " ".join(dict.fromkeys(filter(None, [sanitizer, *preloaded(path)])))


def _named() -> list[str]:
    value = os.environ.get(KEPT_PRELOADED) or os.environ.get(PRELOADED, "")
    return [name for name in re.split("[: ]+", value) if name]


def as_opened(path: Path, real: Path, search_paths: Iterable[str]) -> Path:
    """The name by which a library is opened: its own one, links followed; the given one where it names folders by its
    place, for to the linker that is the place of the link.
    """
    given = Path(os.path.abspath(path))
    return given if given.parent.resolve() != real.parent and own_folders(given, search_paths) else real


def own_folders(path: Path, search_paths: Iterable[str]) -> list[str]:
    """The folders of DT_RUNPATH that are named by the place of the library, where it is."""
    origin = re.compile(r"\$ORIGIN\b|\$\{ORIGIN\}")
    return [origin.sub(lambda _: str(path.parent), folder) for folder in search_paths if origin.search(folder)]


def neighbours(path: Path, search_paths: Iterable[str]) -> list[Path]:
    """The folders in which what the library needs may be, and those that hold what it is linked to."""
    searched = [*folders(), *own_folders(path, search_paths), *(name for name in search_paths if name[:1] == "/")]
    names = preloaded(path)
    linked = re.findall(r"^\s*(?:\S+ => )?(/.+) \(0x", _look(path, " ".join(names)), re.M)
    libraries = [file for file in (*names, *linked) if file.startswith("/")]
    files = [*_links(path), *libraries, *map(os.path.realpath, libraries)]
    places = [*searched, *map(os.path.dirname, files)]
    return [Path(place) for place in dict.fromkeys(places) if os.path.isdir(place)]


def _links(path: Path) -> Iterator[str]:
    """What a name is a link to, and so on to the file; nothing where it is not one."""
    for _ in range(_MOST_LINKS):
        if not path.is_symlink():
            return
        path = Path(os.path.abspath(path.parent / path.readlink()))
        yield str(path)
        yield os.path.realpath(path)


def in_one_word(folder: str, link: Path) -> str:
    """A folder's name for LD_LIBRARY_PATH: a link to it where its own has a colon."""
    if not (SEPARATORS - {" "} | {";"}) & set(folder):
        return folder
    if not link.is_symlink():
        link.symlink_to(folder)
    return str(link)


def _absolute(value: str) -> list[str]:
    return list(dict.fromkeys(os.path.abspath(part) for part in value.split(":"))) if value else []


def _is_needed(path: Path, names: str) -> bool:
    return bool(_lacking(path, "") - _lacking(path, names))


def _lacking(path: Path, names: str) -> set[tuple[str, str]]:
    """What the dynamic linker does not find for a library: libraries and functions."""
    text = _look(path, names, "-r")
    return set(re.findall(r"^\s*(\S+) => not found|^undefined symbol: (\S+)", text, re.M))


def _look(path: Path, names: str, *options: str) -> str:
    """What ldd says of a library that is loaded after those of `names`."""
    return _ldd(path, options, (PRELOADED, names), (FOLDERS, ":".join(folders())))


@functools.cache
def _ldd(path: Path, options: tuple[str, ...], *variables: tuple[str, str]) -> str:
    environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", **dict(variables)}
    try:
        done = subprocess.run(
            ["ldd", *options, path], env=environment, capture_output=True, text=True, timeout=_LOOK_LIMIT, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout + done.stderr
