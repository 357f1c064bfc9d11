# SPDX-License-Identifier: Apache-2.0
"""Which file is about a loader that does not say its name and version, or says others: what stands in its library.

A loader whose query of its own name is broken is still the loader that it was. `recognised_by` in the head of a file
lists texts of its library: names that it has for itself and its vendor, variables that it alone reads, functions and
versions of symbols that it alone exports, its soname. More than half of them must stand there, and a version that the
file holds for. So a change of one of them, be it the one that broke, does not hide whose it is.

`[[nameless]]` are kinds of releases of before there was a query for a name: `texts` all stand in such a library, those
of `without` do not, and `version`, the last one that its sources had in those years, is what it is taken for. A library
in which most of the texts of `recognised_by` stand is a later one, of which the query is broken.

`build_ids` lists builds that say nothing of themselves at all, such as those that a vendor ships: a library that has
one of these build-ids is the one that the file is about, whatever it says. Any other build is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from harness.errors import UsageError
from harness.expectations import FOLDER, Expectations, load
from harness.expectations.versions import matches
from harness.tomlfile import only_keys, read, text, wrong

_VERSION = re.compile(rb"(?<![ -~])(\d+(?:\.\d+)+)\0")


def recognised(
    library: bytes, folder: Path = FOLDER, able: Collection[str] | None = None, says_name: bool = False
) -> Expectations | None:
    """The expectations for a library, by its bytes; None where no file fits, or more than one.

    says_name: it tells a name, though none that a file is for; so it is not one of the nameless.
    """
    heads = {path: read(path) for path in sorted(folder.glob("*.toml"))}
    fitting = {path: version for path, head in heads.items() if (version := _version(path, head, library))}
    if not fitting and not says_name:
        fitting = {path: version for path, head in heads.items() if (version := _nameless(path, head, library))}
    return next(load(path, version, able) for path, version in fitting.items()) if len(fitting) == 1 else None


def of_build(build_id: str, folder: Path = FOLDER, able: Collection[str] | None = None) -> Expectations | None:
    """The expectations for a build, by its build-id in hexadecimal; None where no file lists it.

    Raises UsageError where two files do.
    """
    listing = [path for path in sorted(folder.glob("*.toml")) if build_id in _texts(path, read(path), "build_ids")]
    if len(listing) > 1:
        both = " and ".join(path.name for path in listing)
        raise UsageError(f"{folder}: {both} list the build {build_id}; take it out of all but one")
    return load(listing[0], None, able) if listing and build_id else None


def _version(path: Path, head: Mapping[str, Any], library: bytes) -> str | None:
    """The version of the library where the file is about it, else None."""
    if not _has_most_texts(path, head, library):
        return None
    versions = {result.decode() for result in _VERSION.findall(library)}
    inside = [version for version in versions if matches(head.get("versions", ""), version)]
    return inside[0] if len(inside) == 1 else None


def _has_most_texts(path: Path, head: Mapping[str, Any], library: bytes) -> bool:
    texts = _texts(path, head, "recognised_by")
    return 2 * sum(_stands_in(each, library) for each in texts) > len(texts)


def _nameless(path: Path, head: Mapping[str, Any], library: bytes) -> str | None:
    """The version that the library is taken for where it is of one kind of the file's nameless, else None."""
    kinds = head.get("nameless", [])
    if not isinstance(kinds, list) or not all(isinstance(kind, dict) for kind in kinds):
        wrong(path, "the head", "needs `[[nameless]]` as tables with `version`, `texts` and, where needed, `without`")
    fitting = [version for kind in kinds if (version := _version_of_kind(path, kind, library))]
    return fitting[0] if len(fitting) == 1 and not _has_most_texts(path, head, library) else None


def _version_of_kind(path: Path, kind: Mapping[str, Any], library: bytes) -> str | None:
    only_keys(path, "`[[nameless]]`", kind, {"version", "texts", "without"})
    version = text(path, "`[[nameless]]`", kind, "version")
    texts, without = _texts(path, kind, "texts"), _texts(path, kind, "without")
    known = bool(texts) and all(_stands_in(each, library) for each in texts)
    return version if known and not any(_stands_in(each, library) for each in without) else None


def _texts(path: Path, head: Mapping[str, Any], key: str) -> list[str]:
    """A list of texts in the head of a file; empty where the file does not have it."""
    texts = head.get(key, [])
    if not isinstance(texts, list) or not all(isinstance(text, str) and text for text in texts):
        wrong(path, "the head", f"needs `{key}` as a list of texts of the library")
    return texts


def _stands_in(text: str, library: bytes) -> bool:
    """Whether a text stands in the library, as a whole and not as the end of another one."""
    return re.search(rb"(?<![ -~])" + re.escape(text.encode()) + rb"\0", library) is not None
