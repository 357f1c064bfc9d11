# SPDX-License-Identifier: Apache-2.0
"""Which assertion of the suites a case failed at, and which assertions there are."""

from __future__ import annotations

import ast
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

import harness.probe
from harness.probe import checks, deviations, torture
from harness.probe.deviations import parts_of

_PROBE = Path(harness.probe.__file__).parent
# Assertions that suites share, and those that a check collects (deviations.Parts).
_CHECKS = (Path(checks.__file__), Path(torture.__file__), Path(deviations.__file__))
_ASSERTING = ("check_", "expect_")  # how the names of methods that assert begin


@dataclass(frozen=True, order=True)
class Place:
    """A line of the suites."""

    file: str  # relative to the folder above the suites
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def place_of(error: BaseException | None, root: Path) -> Place | None:
    """The innermost line of the suites below `root` that an error passed through.

    None where the probe raised it: a call that the check relies on failed, and the check asserted nothing yet. Of a
    case of several parts it is the line of the first part that has one.
    """
    parts = parts_of(error) if error else ()
    return next(filter(None, (_place_of_part(part, root) for part in parts)), None)


def _place_of_part(error: BaseException, root: Path) -> Place | None:
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return None
    last = Path(frames[-1].filename)
    if last.is_relative_to(_PROBE) and last not in _CHECKS and not frames[-1].name.startswith(_ASSERTING):
        return None
    suites = root / "suites"
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(suites)]
    return Place(str(Path(own[-1].filename).relative_to(root)), own[-1].lineno or 0) if own else None


def assertions(suites: Path) -> Iterator[Place]:
    """The assertions of all files below a folder, in order: `assert`, and calls of methods that assert."""
    for path in sorted(suites.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
        lines = sorted(node.lineno for node in ast.walk(tree) if _is_assertion(node))
        yield from (Place(str(path.relative_to(suites.parent)), line) for line in lines)


def _is_assertion(node: ast.AST) -> TypeGuard[ast.Assert | ast.Call]:
    method = node.func if isinstance(node, ast.Call) else None
    return isinstance(node, ast.Assert) or (isinstance(method, ast.Attribute) and method.attr.startswith(_ASSERTING))
