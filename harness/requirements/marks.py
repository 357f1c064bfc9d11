# SPDX-License-Identifier: Apache-2.0
"""Finds which check names which requirement, by reading the suites' source without importing it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.derived import derived, version_of
from harness.errors import UsageError

_ID = re.compile(r"[A-Z]+-[A-Z0-9]+-[0-9]{3}")


@dataclass(frozen=True)
class Check:
    """A `requirement(...)` mark. `requirement` is None where an expression gives it and the file names no ID at all.

    Where an expression gives it, IDs in the tables of the file count, from which the expression chooses.
    """

    requirement: str | None
    file: str  # relative to the folder above the suites
    line: int
    name: str  # the function or class that it marks; empty for a mark outside of one, as in a table

    @property
    def suite(self) -> str:
        """The suite's folder."""
        parts = Path(self.file).parts
        return parts[1] if len(parts) > 2 else ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" + (f" {self.name}" if self.name else "")


def find_checks(suites: Path) -> list[Check]:
    """All marks below a folder, in the order of files and lines."""
    maker = f"marks@{version_of(__file__)}"
    checks: list[Check] = []
    for path in sorted(suites.rglob("*.py")):
        file = str(path.relative_to(suites.parent))
        content = path.read_bytes()
        marks = derived(maker, path, content, lambda: _in_source(path, file, content))  # noqa: B023 - called at once
        checks += [Check(name, file, line, owner) for name, line, owner in marks]
    return checks


def _in_source(path: Path, file: str, content: bytes) -> list[tuple[str | None, int, str]]:
    try:
        tree = ast.parse(content.decode(), file)
    except (SyntaxError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: not valid Python: {error}; correct it") from error
    return [(c.requirement, c.line, c.name) for c in sorted(_file_marks(tree, file), key=lambda check: check.line)]


def _file_marks(tree: ast.Module, file: str) -> list[Check]:
    marks = list(_marks(tree, file, ""))
    written = [check for check in marks if check.requirement is not None]
    if len(written) == len(marks):
        return marks
    known = {(check.requirement, check.line) for check in written}
    strings = [node for place in _tables(tree) for node in ast.walk(place) if isinstance(node, ast.Constant)]
    tables = {
        (node.value, node.lineno)
        for node in strings
        if isinstance(node.value, str) and _ID.fullmatch(node.value) and (node.value, node.lineno) not in known
    }
    return written + [Check(name, file, line, "") for name, line in tables] if tables else marks


def _tables(tree: ast.Module) -> Iterator[ast.AST]:
    """Where the IDs stand that an expression chooses from: assignments of the file, decorators, and the functions in
    which the expressions are."""
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            yield node
        elif isinstance(node, ast.FunctionDef):
            yield from node.decorator_list
            inner = [mark for statement in node.body for mark in _marks(statement, "", "")]
            if any(mark.requirement is None for mark in inner):
                yield node


def _marks(node: ast.AST, file: str, owner: str) -> Iterator[Check]:
    """The marks in a node. A decorator belongs to what it decorates; a body to its own functions only."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        for decorator in node.decorator_list:
            yield from _marks(decorator, file, node.name)
        for statement in node.body:
            yield from _marks(statement, file, owner)
        return
    if isinstance(node, ast.Call) and _name(node.func) == "requirement":
        for argument in node.args:
            literal = isinstance(argument, ast.Constant) and isinstance(argument.value, str)
            value = str(argument.value) if literal and isinstance(argument, ast.Constant) else None
            yield Check(value, file, node.lineno, owner)
    for child in ast.iter_child_nodes(node):
        yield from _marks(child, file, owner)


def _name(function: ast.expr) -> str:
    """The last part of a dotted name: `requirement`, `pytest.mark.requirement`, `mark.requirement`."""
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""
