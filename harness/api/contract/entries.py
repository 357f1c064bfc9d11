# SPDX-License-Identifier: Apache-2.0
"""What the readers of the tables have in common: a row names its source, an unknown name is refused with the nearest.

What is wrong is a UsageError: file, entry, and what to write.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from harness.api.codes import nearest
from harness.api.contract import FOLDER
from harness.api.model import Api
from harness.tomlfile import read, text, wrong

INDEX = FOLDER.parents[1] / "requirements" / "index.toml"
NUMBER = re.compile(r"-?(0x[0-9a-fA-F]+|\d+)")


@functools.cache
def documents() -> frozenset[str]:
    """The tags of documents that a source may name: `document` in harness/requirements/index.toml."""
    return frozenset(read(INDEX)["document"])


def source(path: Path, where: str, table: Mapping[str, Any]) -> str:
    """The `source` of a table: the tag of a document, and the title of a section in it."""
    value = text(path, where, table, "source")
    tag, _, section = value.partition(" ")
    known(path, where, "document", tag, documents())
    if not section.strip():
        wrong(path, where, f"has the source {value!r}, which names no section; write `{tag} SECTION`")
    return value


def known(path: Path, where: str, what: str, name: str, names: Iterable[str]) -> None:
    """Refuses a name that is not among those."""
    listed = list(names)
    if name not in listed:
        unknown(path, where, what, name, listed)


def unknown(path: Path, where: str, what: str, name: str, names: list[str]) -> NoReturn:
    """Raises UsageError for a name that the API does not have, with the nearest one that it has."""
    wrong(path, where, f"names the unknown {what} {name!r}{nearest(name, names)}")


def number(path: Path, where: str, word: str, api: Api) -> int | None:
    """The value of a number, CL_NAME or CL_NAME|CL_NAME; None for any other word. Unknown names are refused."""
    if NUMBER.fullmatch(word):
        return int(word, 0)
    if not word.startswith("CL_"):
        return None
    total = 0
    for name in word.split("|"):
        known(path, where, "constant", name, api.constants)
        total |= api.constants[name]
    return total
