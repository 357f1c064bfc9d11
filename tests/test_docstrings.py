# SPDX-License-Identifier: Apache-2.0
"""Each public function, class and method of the harness says what it is for."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Set
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


def documented(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Class and name of each method that has a docstring."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield from (
                (node.name, f.name) for f in node.body if isinstance(f, ast.FunctionDef) and ast.get_docstring(f)
            )


def silent_methods(tree: ast.Module, known: Set[tuple[str, str]], bases: Mapping[str, list[str]]) -> list[str]:
    """The public methods without a docstring, whose class inherits none for them either."""

    def says(kind: str, method: str) -> bool:
        return (kind, method) in known or any(says(base, method) for base in bases.get(kind, ()))

    return [
        f"{node.name}.{method.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
        for method in node.body
        if isinstance(method, ast.FunctionDef) and not method.name.startswith(("_", "pytest_"))
        if not says(node.name, method.name)
    ]


def inheritance(trees: Iterable[ast.Module]) -> dict[str, list[str]]:
    """The names of each class' bases."""
    classes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    return {node.name: [ast.unparse(base).rpartition(".")[2] for base in node.bases] for node in classes}


def test_public_names_say_what_they_are_for() -> None:
    sources = sorted((ROOT / "harness").rglob("*.py"))
    assert len(sources) > 200
    strays = {str(path.relative_to(ROOT)): names for path in sources if (names := silent(path))}
    assert strays == {}


def test_public_methods_say_what_they_are_for() -> None:
    trees = {path: ast.parse(path.read_text()) for path in sorted((ROOT / "harness").rglob("*.py"))}
    known = {pair for tree in trees.values() for pair in documented(tree)}
    assert len(known) > 500
    bases = inheritance(trees.values())
    strays = {
        str(path.relative_to(ROOT)): names
        for path, tree in trees.items()
        if (names := silent_methods(tree, known, bases))
    }
    assert strays == {}


def test_a_method_without_words_is_noticed() -> None:
    methods = '    def told(self):\n        """It."""\n    def silent(self): ...\n    def _own(self): ...\n'
    tree = ast.parse(f"class Base:\n{methods}class Derived(Base):\n    def told(self): ...\n    def new(self): ...\n")
    names = silent_methods(tree, set(documented(tree)), inheritance([tree]))
    assert names == ["Base.silent", "Derived.new"]


def test_a_name_without_words_is_noticed(tmp_path: Path) -> None:
    source = tmp_path / "module.py"
    functions = 'def told():\n    """It."""\ndef silent(): ...\ndef _own(): ...\n'
    source.write_text(f'"""A module."""\n{functions}class Both: ...\n')
    assert silent(source) == ["silent", "Both"]
