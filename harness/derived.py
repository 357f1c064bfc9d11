# SPDX-License-Identifier: Apache-2.0
"""What is derived from files of this project (parsed TOML, marks in sources), kept below the build folder.

An entry holds for exactly the content that it was made of and for the code that made it: both are in its digest, so
that nothing has to be invalidated. What cannot be kept, or is not below the project's root, is made each time.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parent.parent
FOLDER = "derived"  # below the build folder

keeps = True  # whether anything is kept, or what was kept is used

_packs: dict[str, Pack] = {}


class Pack:
    """The entries of one folder's files: a file with a line for each, of digest, name and JSON."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._process = os.getpid()
        self._entries: dict[str, tuple[str, str]] = {}
        self._is_new = False
        with contextlib.suppress(OSError, ValueError):
            lines = file.read_text(encoding="utf-8", errors="surrogatepass").split("\n")
            self._entries = {name: (digest, text) for digest, name, text in (line.split("\t", 2) for line in lines)}

    def get(self, name: str, digest: str) -> str | None:
        """The JSON of an entry; None where it is not there, or was made of something else."""
        known, text = self._entries.get(name, ("", ""))
        return text if known == digest else None

    def put(self, name: str, digest: str, text: str) -> None:
        """Takes in what was derived from a file's content, under that content's key."""
        if not self._is_new:
            atexit.register(self._write)
        self._is_new = True
        self._entries[name] = digest, text

    def _write(self) -> None:
        """At the end of the process that has made something; not of those that it forked."""
        if os.getpid() == self._process:
            lines = (f"{digest}\t{name}\t{text}" for name, (digest, text) in self._entries.items())
            write_whole(self.file, "\n".join(lines))


def write_whole(file: Path, text: str) -> None:
    """Writes a file that others may read or write now: they see the one or the other, and none of it where it fails."""
    new = file.with_name(f"{file.name}.{os.getpid()}")
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        new.write_text(text, encoding="utf-8", errors="surrogatepass")
        new.replace(file)
        return
    with contextlib.suppress(OSError):
        new.unlink()


def folder() -> Path | None:
    """Where it is kept; None where nothing may be: without a build, nothing is written anywhere."""
    return _folder(os.environ.get("CLHARNESS_OUTPUT", ""), os.environ.get("CLHARNESS_BUILD", ""))


@functools.cache
def _folder(output: str, built: str) -> Path | None:
    if output:
        return Path(output).absolute() / FOLDER
    if not built and (_ROOT / os.environ.get("CLHARNESS_PARTS", "") / "clharness.json").exists():  # installed
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").absolute() / "clharness" / FOLDER
    build = Path(built or _ROOT / "build").absolute()
    return build / FOLDER if (build / "clharness.json").exists() else None


def derived(maker: str, path: Path, content: bytes, make: Callable[[], Any]) -> Any:
    """What `make` gives for the content of a file, as JSON can hold it; a new object each time.

    `maker` tells what is made, with a version of it where code may change: one word.
    """
    if (name := _name_of(path)) is None:
        return make()
    digest = hashlib.sha256(maker.encode() + b"\0" + content).hexdigest()
    return kept(f"{maker.partition('@')[0]}-{os.path.dirname(name).replace(os.sep, '-')}", name, digest, make)


def kept(pack_name: str, name: str, digest: str, make: Callable[[], Any]) -> Any:
    """What `make` gives, as JSON can hold it; a new object each time. It is kept under a name in a pack, for as long as
    the digest is the same: that of everything that it depends on. None is not kept.
    """
    if not keeps or {"\t", "\n"} & set(name) or (place := folder()) is None:
        return make()
    pack = _pack(place / pack_name)
    if (text := pack.get(name, digest)) is not None:
        return json.loads(text)
    value = make()
    if value is None:
        return None
    with contextlib.suppress(TypeError, ValueError):  # such as dates
        pack.put(name, digest, json.dumps(value, ensure_ascii=True))
    return value


def of_file(pack_name: str, file: Path, modules: Iterable[str], make: Callable[[], Any]) -> Any:
    """What `make` gives for a file that may lie anywhere, as JSON can hold it; kept for as long as the file's content
    and the sources of the modules that make it are the same. Raises OSError where the file cannot be read.
    """
    with file.open("rb") as opened:
        content = hashlib.file_digest(opened, "sha256").hexdigest()
    return kept(pack_name, str(file), f"{version_of(*modules)}-{content}", make)


def _name_of(path: Path) -> str | None:
    """The file's name within the project; None for one outside of it."""
    whole = os.path.abspath(path)
    root = f"{_ROOT}{os.sep}"
    return whole.removeprefix(root) if whole.startswith(root) else None


def _pack(file: Path) -> Pack:
    if str(file) not in _packs:
        _packs[str(file)] = Pack(file)
    return _packs[str(file)]


def version_of(*modules: str) -> str:
    """A digest of the sources of modules, for `maker`: what they make is made anew where they change."""
    return hashlib.sha256(b"\0".join(Path(module).read_bytes() for module in modules)).hexdigest()[:16]
