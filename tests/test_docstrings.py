# SPDX-License-Identifier: Apache-2.0
"""Each public function and class of the harness says what it is for."""

from __future__ import annotations

import ast
from pathlib import Path

from harness.build import ROOT

# What these do is the same in each module that has them: a program's start; a command's options, and its run.
OF_PROGRAMS = ("main",)
OF_COMMANDS = ("add_arguments", "run")


def silent(source: Path) -> list[str]:
    """The public functions and classes of a module that have no docstring, and the module itself."""
    tree = ast.parse(source.read_text())
    conventional = OF_PROGRAMS + (OF_COMMANDS if source.parent.name == "cli" else ())
    nodes = [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    names = [node.name for node in nodes if not ast.get_docstring(node) and node.name not in conventional]
    return ([] if ast.get_docstring(tree) else ["the module"]) + [
        name for name in names if not name.startswith(("_", "pytest_"))
    ]


def test_public_names_say_what_they_are_for() -> None:
    sources = sorted((ROOT / "harness").rglob("*.py"))
    assert len(sources) > 200
    strays = {str(path.relative_to(ROOT)): names for path in sources if (names := silent(path))}
    assert strays == {}


def test_a_name_without_words_is_noticed(tmp_path: Path) -> None:
    source = tmp_path / "module.py"
    functions = 'def told():\n    """It."""\ndef silent(): ...\ndef _own(): ...\n'
    source.write_text(f'"""A module."""\n{functions}class Both: ...\n')
    assert silent(source) == ["silent", "Both"]
