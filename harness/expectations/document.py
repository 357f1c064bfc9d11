# SPDX-License-Identifier: Apache-2.0
"""The text of an expectation file, edited entry by entry so that comments, order and layout of the others survive.

tomlkit keeps all of these within one array of tables, but gathers entries of two kinds that take turns, and knows no
comment as that of the entry below it. So each entry is a document of its own: its header, `[[deviation]]` or
`[[outcome]]`, what follows up to the next header, and the comment lines right above.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import tomlkit
from tomlkit import TOMLDocument, items
from tomlkit.exceptions import TOMLKitError

Table = dict[str, Any]

_HEADER = re.compile(r"\s*\[\[\s*(deviation|outcome)\s*\]\]\s*(#.*)?")
_ROW = 8  # short texts of a list in one line
_KINDS = ("deviation", "outcome")


class Document:
    """Entries are known by kind and by the position in their kind that they had when the file was read."""

    def __init__(self, text: str = "") -> None:
        head, *blocks = _split(text)
        self.head = tomlkit.parse(head)
        self._blocks: dict[tuple[str, int], list[TOMLDocument]] = {}
        for kind in _KINDS:  # entries in a single array, without headers of their own
            for table in self.head.pop(kind, []):
                self._blocks[self._next(kind)] = [_entry(kind, table)]
        for block in map(tomlkit.parse, blocks):
            self._blocks[self._next(_kind(block))] = [block]

    def _next(self, kind: str) -> tuple[str, int]:
        return kind, sum(k == kind for k, _ in self._blocks)

    def set_head(self, key: str, value: str | list[str]) -> None:
        """Changes or adds a value of the head; a new one stands after the others, before comments and tables."""
        given = _rows(value) if isinstance(value, list) else _plain(value)
        if key in self.head:
            self.head[key] = given
            return
        lines = tomlkit.dumps(self.head).splitlines(keepends=True)
        tables = (n for n, line in enumerate(lines) if line.lstrip().startswith("[") and _stands(lines[:n]))
        end = next(tables, len(lines))
        above, below = _parted("".join(lines[:end]))
        if not tomlkit.parse(above):
            above, below = above + below, ""
        self.head = tomlkit.parse(above + tomlkit.dumps({key: given}) + below + "".join(lines[end:]))

    def remove(self, kind: str, number: int) -> None:
        """Takes out the entry of this number among those of its kind, with its comments."""
        self.replace(kind, number, [])

    def replace(self, kind: str, number: int, tables: list[Table]) -> None:
        """Puts other entries in the place of one; its comment stays above the first."""
        above = _above(self._blocks[kind, number][0])
        blocks = [_entry(kind, table) for table in tables]
        self._blocks[kind, number] = [tomlkit.parse(above + tomlkit.dumps(blocks[0])), *blocks[1:]] if blocks else []

    def set(self, kind: str, number: int, key: str, value: object) -> None:
        """Changes one value, where a comment on its line stays, or adds it after the last one."""
        blocks = []
        for block in self._blocks[kind, number]:
            text, below = _parted(tomlkit.dumps(block))
            block = tomlkit.parse(text)
            entries = block[kind]
            assert isinstance(entries, items.AoT)
            entries[0][key] = _plain(value)
            blocks.append(tomlkit.parse(tomlkit.dumps(block) + below))
        self._blocks[kind, number] = blocks

    def append(self, kind: str, table: Table) -> None:
        """Adds an entry after the last one of its kind."""
        self._blocks[self._next(kind)] = [_entry(kind, table)]

    def single(self, kind: str) -> list[tuple[int, Table]]:
        """The entries of a kind that were not replaced by several, with their numbers."""
        blocks = ((number, blocks) for (k, number), blocks in self._blocks.items() if k == kind and len(blocks) == 1)
        return [(number, block[0].unwrap()[kind][0]) for number, block in blocks]

    def has_comment(self, kind: str, number: int) -> bool:
        """Whether a comment stands above the entry."""
        return any("#" in _above(block) for block in self._blocks[kind, number][:1])

    def render(self) -> str:
        """The file's new text; what was not changed is as it was read, comments included."""
        documents = [self.head, *(block for blocks in self._blocks.values() for block in blocks)]
        texts = (tomlkit.dumps(document).strip("\n") for document in documents)
        return "\n\n".join(text for text in texts if text.strip()) + "\n"


def _split(text: str) -> list[str]:
    """The head of the file, then the block of each entry. A line in a long string can look like a header: what does
    not stand by itself as TOML is not a block."""
    lines = text.splitlines(keepends=True)
    starts = [0]
    for number, line in enumerate(lines):
        if _HEADER.fullmatch(line.rstrip("\n")):
            start = number
            while start > starts[-1] and lines[start - 1].lstrip().startswith("#"):
                start -= 1
            if _stands(lines[starts[-1] : start]):
                starts.append(start)
    return ["".join(lines[a:b]) for a, b in zip(starts, [*starts[1:], len(lines)], strict=True)]


def _parted(text: str) -> tuple[str, str]:
    """An entry, and the comments and blank lines after its last value."""
    lines = text.splitlines(keepends=True)
    end = len(lines)
    while end > 1 and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
        end -= 1
    return ("".join(lines[:end]), "".join(lines[end:])) if _stands(lines[:end]) else (text, "")


def _stands(lines: list[str]) -> bool:
    try:
        tomlkit.parse("".join(lines))
    except TOMLKitError:
        return False
    return True


def _kind(block: TOMLDocument) -> str:
    return next(kind for kind in _KINDS if kind in block)


def _above(block: TOMLDocument) -> str:
    """The comment lines above the header."""
    text = tomlkit.dumps(block)
    return text[: text.index("[[")] if text.lstrip().startswith("#") else ""


def _entry(kind: str, table: Mapping[str, Any]) -> TOMLDocument:
    entries = tomlkit.aot()
    entry = tomlkit.table()
    for key, value in table.items():
        entry.add(key, _plain(value))
    entries.append(entry)
    document = tomlkit.document()
    document.add(kind, entries)
    return document


def _rows(texts: list[str]) -> items.Array:
    """A list of short texts, several in a row."""
    array = tomlkit.array()
    for start in range(0, len(texts), _ROW):
        array.add_line(*texts[start : start + _ROW])
    array.add_line(indent="")
    return array


def _plain(value: object) -> Any:
    """A string or a list of strings for tomlkit; halves of characters, which no file can hold, become `?`."""
    if isinstance(value, list | tuple):
        array = tomlkit.array()
        array.extend(_plain(part) for part in value)
        return array.multiline(sum(map(len, map(str, value))) > 90)
    return tomlkit.string(str(value).encode(errors="replace").decode()) if isinstance(value, str) else value
