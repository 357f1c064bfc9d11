# SPDX-License-Identifier: Apache-2.0
"""The modules that drive the probe import each other one way."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter

import pytest

from harness.build import ROOT

PACKAGE = "harness.probe"


def imports() -> dict[str, set[str]]:
    """Which modules of the package each of them imports, for type checkers alone as well."""
    graph: dict[str, set[str]] = {}
    for path in (ROOT / "harness" / "probe").glob("*.py"):
        if path.name == "__init__.py":
            continue
        named = {f"{PACKAGE}.{path.stem}": set[str]()}
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module == PACKAGE:
                named[f"{PACKAGE}.{path.stem}"] |= {f"{PACKAGE}.{alias.name}" for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and str(node.module).startswith(f"{PACKAGE}."):
                named[f"{PACKAGE}.{path.stem}"].add(str(node.module))
        graph |= named
    return graph


def test_no_circle() -> None:
    graph = imports()
    assert f"{PACKAGE}.connection" in graph[f"{PACKAGE}.calls"], "the imports are read"
    try:
        order = list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(f"a circle of imports: {' -> '.join(error.args[1])}")
    assert order.index(f"{PACKAGE}.values") < order.index(f"{PACKAGE}.session")
