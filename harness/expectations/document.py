"""The text of an expectation file, edited entry by entry so that comments and layout survive.

An entry's block reaches from its header, `[[deviation]]` or `[[outcome]]`, to the next; comment lines right
above the header belong to it. The result is checked against the tables that it has to hold; should the
editing have gone wrong, which an unusual layout can cause, the tables are written afresh and the comments are
lost.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

Table = dict[str, Any]

_HEADER = re.compile(r"\s*\[\[\s*(deviation|outcome)\s*\]\]\s*(#.*)?")
_KINDS = ("deviation", "outcome")


class Document:
    """Entries are known by kind and by the position in their kind that they had when the file was read."""

    def __init__(self, text: str) -> None:
        self._head, self._blocks = _split(text)
        tables = tomllib.loads(text)
        self._top: Table = {k: v for k, v in tables.items() if k not in _KINDS}
        self._tables: dict[tuple[str, int], list[Table]] = {
            (kind, n): [table] for kind in _KINDS for n, table in enumerate(tables.get(kind, []))
        }

    @staticmethod
    def assignment(key: str, value: object) -> str:
        return f"{key} = {_value(value)}\n"

    def remove(self, kind: str, number: int) -> None:
        self.replace(kind, number, [])

    def replace(self, kind: str, number: int, tables: list[Table]) -> None:
        """Puts other entries in the place of one; its comment stays above the first."""
        block = self._blocks.get((kind, number), "")
        self._tables[kind, number] = tables
        lines = block.splitlines(keepends=True)
        above = "".join(lines[: next((n for n, line in enumerate(lines) if _HEADER.match(line)), 0)])
        self._blocks[kind, number] = (above if tables else "") + "\n".join(_entry(kind, t) for t in tables)
        if tables:
            self._blocks[kind, number] += "\n"

    def set(self, kind: str, number: int, key: str, value: object) -> None:
        """Changes one value, on its line."""
        self._tables[kind, number] = [table | {key: value} for table in self._tables[kind, number]]
        line = re.compile(rf"^(\s*{re.escape(key)}\s*=\s*)(\[.*?\]|\"[^\"\n]*\"|'[^'\n]*')", re.M | re.S)
        block = self._blocks.get((kind, number), "")
        self._blocks[kind, number] = line.sub(lambda m: m.group(1) + _value(value), block, count=1)

    def append(self, kind: str, table: Table) -> None:
        number = 1 + max((n for k, n in self._tables if k == kind), default=-1)
        self._tables[kind, number] = [table]
        self._blocks[kind, number] = _entry(kind, table) + "\n"

    def render(self) -> str:
        """The text; it always holds exactly the tables asked for."""
        kept = [block for key, block in self._blocks.items() if self._tables.get(key)]
        text = "\n".join(part.strip("\n") + "\n" for part in [self._head, *kept] if part.strip())
        wanted = self._wanted()
        try:
            if tomllib.loads(text) == wanted:
                return text
        except tomllib.TOMLDecodeError:
            pass
        head = "".join(self.assignment(key, value) for key, value in self._top.items())
        return "\n".join([head, *(_entry(kind, t) for kind in _KINDS for t in wanted.get(kind, []))])

    def _wanted(self) -> Table:
        wanted = dict(self._top)
        for kind in _KINDS:
            keys = sorted(key for key in self._tables if key[0] == kind)
            if tables := [table for key in keys for table in self._tables[key]]:
                wanted[kind] = tables
        return wanted


def _split(text: str) -> tuple[str, dict[tuple[str, int], str]]:
    """The head of the file, and the block of each entry in the order of the file."""
    lines = text.splitlines(keepends=True)
    starts: list[tuple[int, str]] = []
    for number, line in enumerate(lines):
        if match := _HEADER.fullmatch(line.rstrip("\n")):
            start = number
            while start > 0 and lines[start - 1].lstrip().startswith("#"):
                start -= 1
            starts.append((start, match.group(1)))
    blocks: dict[tuple[str, int], str] = {}
    counts = dict.fromkeys(_KINDS, 0)
    ends = [start for start, _ in starts[1:]] + [len(lines)] * bool(starts)
    for (start, kind), end in zip(starts, ends, strict=True):
        blocks[kind, counts[kind]] = "".join(lines[start:end])
        counts[kind] += 1
    return "".join(lines[: starts[0][0] if starts else len(lines)]), blocks


def _entry(kind: str, table: Table) -> str:
    return f"[[{kind}]]\n" + "".join(Document.assignment(key, value) for key, value in table.items())


def _value(value: object) -> str:
    """A string or a list of strings as TOML."""
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t"}
    out = []
    for char in str(value):
        code = ord(char)
        if 0xD800 <= code < 0xE000:
            out.append("?")
        elif char not in escapes and (code < 0x20 or code == 0x7F):
            out.append(f"\\u{code:04x}")
        else:
            out.append(escapes.get(char, char))
    return '"' + "".join(out) + '"'
