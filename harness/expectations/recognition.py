# SPDX-License-Identifier: Apache-2.0
"""Which file is about a loader that does not say its name and version, or says others: what stands in its library.

A loader whose query of its own name is broken is still the loader that it was. `recognised_by` in the head of a file
lists texts of its library: names that it has for itself and its vendor, variables that it alone reads, functions and
versions of symbols that it alone exports, its soname. More than half of them must stand there, and a version that the
file holds for. So a change of one of them, be it the one that broke, does not hide whose it is.
"""

from __future__ import annotations

import re
from pathlib import Path

from harness.expectations import FOLDER, Expectations, load
from harness.expectations.versions import matches
from harness.tomlfile import read, wrong

_VERSION = re.compile(rb"(?<![ -~])(\d+(?:\.\d+)+)\0")


def recognised(library: bytes, folder: Path = FOLDER) -> Expectations | None:
    """The expectations for a library, by its bytes; None where no file fits, or more than one."""
    fitting = [(path, version) for path in sorted(folder.glob("*.toml")) if (version := _version(path, library))]
    return load(*fitting[0]) if len(fitting) == 1 else None


def _version(path: Path, library: bytes) -> str | None:
    """The version of the library where the file is about it, else None."""
    data = read(path)
    texts = data.get("recognised_by", [])
    if not isinstance(texts, list) or not all(isinstance(text, str) and text for text in texts):
        wrong(path, "the head", "needs `recognised_by` as a list of texts of the library")
    if 2 * sum(_stands_in(text, library) for text in texts) <= len(texts):
        return None
    versions = {found.decode() for found in _VERSION.findall(library)}
    inside = [version for version in versions if matches(data.get("versions", ""), version)]
    return inside[0] if len(inside) == 1 else None


def _stands_in(text: str, library: bytes) -> bool:
    """Whether a text stands in the library, as a whole and not as the end of another one."""
    return re.search(rb"(?<![ -~])" + re.escape(text.encode()) + rb"\0", library) is not None
