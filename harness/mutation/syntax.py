# SPDX-License-Identifier: Apache-2.0
"""The syntax tree of a C file, from clang, with the place in the file's text where each node is written.

What comes from a macro is placed where the macro is used: an argument at the argument's own text, the rest at the whole
use, from the name to the closing parenthesis. What is written in another file has no place.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.errors import HarnessError

Json = dict[str, Any]
# Between two tokens: white space, a continued line, a comment.
BLANK = re.compile(rb"(?:\s|\\\n|/\*.*?\*/|//[^\n]*)*", re.DOTALL)
_TOKEN = re.compile(rb"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|/\*.*?\*/|//[^\n]*|[()]", re.DOTALL)


class SyntaxFailure(HarnessError):
    """clang does not take the file."""


@dataclass(eq=False)
class Node:
    """A node of the tree. `start` and `end` are byte offsets; both are -1 where it has no place in the file."""

    kind: str
    json: Json
    start: int
    end: int
    macro: int | None  # where the macro is used that the whole node comes from
    parent: Node | None = None
    children: list[Node] = field(default_factory=list)

    @property
    def placed(self) -> bool:
        """Whether it has a text of its own: one, too, that a macro's use stands for, but not a part of such a one."""
        inside = self.macro is not None and self.parent is not None and self.parent.macro == self.macro
        return self.start >= 0 and not inside

    @property
    def type(self) -> str:
        """The type that the compiler gives an expression or a declaration, without typedefs; "" where it has none."""
        description: Json = self.json.get("type", {})
        return str(description.get("desugaredQualType") or description.get("qualType", ""))

    def walk(self) -> Iterator[Node]:
        """The node and all below it, parents first."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass
class Source:
    """A C file: its text, and its declarations that have a place in it."""

    path: Path
    text: bytes
    declarations: list[Node]

    def text_of(self, node: Node) -> str:
        """The text of a node."""
        return self.text[node.start : node.end].decode(errors="replace")

    def line(self, offset: int) -> int:
        """The line of an offset, from 1."""
        return self.text.count(b"\n", 0, offset) + 1

    def column(self, offset: int) -> int:
        """The column of an offset, from 1, counted in bytes."""
        return offset - (self.text.rfind(b"\n", 0, offset) + 1) + 1


def parse(path: Path, arguments: Sequence[str], directory: Path, clang: str = "clang") -> Source:
    """Reads a file with the arguments that it is compiled with (no output, no input), in their directory."""
    command = [clang, "-fsyntax-only", "-w", "-Qunused-arguments", *arguments, "-Xclang", "-ast-dump=json", str(path)]
    # Where `clang` is ccache's, that would write paths below its base directory as relative ones.
    environment = {**os.environ, "CCACHE_DISABLE": "1"}
    try:
        done = subprocess.run(command, cwd=directory, capture_output=True, env=environment)
    except FileNotFoundError:
        raise HarnessError(f"{clang} is missing, which reads the sources: install clang") from None
    if done.returncode:
        raise SyntaxFailure(f"{path}: {done.stderr.decode(errors='replace').strip()}")
    text = path.read_bytes()
    tree = json.loads(done.stdout, object_hook=_NamesFiles())
    reader = _Reader(str(path), text)
    nodes = [reader.node(child, None) for child in tree.get("inner", ()) if reader.is_here(child)]
    return Source(path, text, nodes)


class _NamesFiles:
    """Gives each location its file, which clang writes only where it is another than in the location before."""

    def __init__(self) -> None:
        self._file = ""

    def __call__(self, value: Json) -> Json:
        if "offset" in value:
            self._file = value.setdefault("file", self._file)
        return value


@dataclass
class _Place:
    """Where a token is written; `use` is the whole use of the macro that it comes from."""

    start: int
    end: int
    use: tuple[int, int] | None = None
    argument: bool = False


class _Reader:
    def __init__(self, path: str, text: bytes) -> None:
        self._path = path
        self._text = text

    def is_here(self, json: Json) -> bool:
        place = json.get("loc", {})
        return bool(place.get("expansionLoc", place).get("file") == self._path and not json.get("isImplicit"))

    def node(self, json: Json, parent: Node | None) -> Node:
        start, end, macro = self._extent(json.get("range", {}))
        node = Node(json.get("kind", ""), json, start, end, macro, parent)
        node.children = [self.node(child, node) for child in json.get("inner", ())]
        return node

    def _extent(self, range_: Json) -> tuple[int, int, int | None]:
        first, last = self._place(range_.get("begin", {})), self._place(range_.get("end", {}))
        if first is None or last is None:
            return -1, -1, None
        one_use = first.use is not None and first.use == last.use
        if first.argument and last.argument and one_use:
            return (first.start, last.end, None) if first.start < last.end else (-1, -1, None)
        start = first.use[0] if first.use else first.start
        end = last.use[1] if last.use else last.end
        return (start, end, start if one_use else None) if start < end else (-1, -1, None)

    def _place(self, location: Json) -> _Place | None:
        if "expansionLoc" not in location:
            if location.get("file") != self._path:
                return None
            return _Place(location["offset"], location["offset"] + location["tokLen"])
        expansion, spelling = location["expansionLoc"], location["spellingLoc"]
        if expansion.get("file") != self._path:
            return None
        use = expansion["offset"], self._end_of_use(expansion["offset"] + expansion["tokLen"])
        start = spelling.get("offset", -1)
        written = spelling.get("file") == self._path and use[0] < start < use[1]
        if expansion.get("isMacroArgExpansion") and written:
            return _Place(start, start + spelling["tokLen"], use, argument=True)
        return _Place(*use, use)

    def _end_of_use(self, after_name: int) -> int:
        """After the closing parenthesis of a macro's arguments; after its name, where it has none."""
        blank = BLANK.match(self._text, after_name)
        position = blank.end() if blank else after_name
        if self._text[position : position + 1] != b"(":
            return after_name
        depth = 0
        for token in _TOKEN.finditer(self._text, position):
            depth += {b"(": 1, b")": -1}.get(token.group(), 0)
            if depth == 0:
                return token.end()
        return after_name
