# SPDX-License-Identifier: Apache-2.0
"""Checks that cannot fail, as far as their source shows it: no assertion, one that always holds, or one that is caught.

What the source does not show, `clharness selftest` does: a check that no seeded fault turns red proves nothing.
"""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

HARNESS = Path(__file__).parents[1]
_ASSERTING = ("check", "assert", "expect", "raises", "fail")  # how the names of helpers that assert begin
_CATCHES_ASSERTIONS = ("AssertionError", "Exception", "BaseException")


def problems(check: Callable[..., Any]) -> Iterator[str]:
    """What is wrong with a check, one sentence each."""
    check = inspect.unwrap(check)
    tree = _source(check)
    if tree is not None:
        yield from problems_in(tree, check)


def problems_in(tree: ast.AST, check: Callable[..., Any]) -> Iterator[str]:
    """The same for another source of the check, whose globals say what it calls."""
    if not _asserts(tree, check, {check}):
        yield "asserts nothing; it stays green whatever the loader does"
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert) and (why := always_true(node.test)):
            yield f"line {node.lineno}: {why}"
        if isinstance(node, ast.Try | ast.With) and _swallows(node):
            yield f"line {node.lineno}: catches the failure of its own assertion"


def _source(function: Callable[..., Any]) -> ast.AST | None:
    """The function's syntax tree; None where it has no source."""
    code = getattr(function, "__code__", None)
    return _functions(code.co_filename).get(code.co_firstlineno) if code else None


@functools.cache
def _functions(file: str) -> dict[int, ast.AST]:
    """The functions of a file by their first lines, decorators included."""
    try:
        tree = ast.parse(Path(file).read_text(encoding="utf-8"), file)
    except (OSError, ValueError, SyntaxError):
        return {}
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    result = [node for node in ast.walk(tree) if isinstance(node, kinds)]
    return {min([node.lineno, *(d.lineno for d in node.decorator_list)]): node for node in result}


# --- no assertion ---


def _asserts(tree: ast.AST, function: Callable[..., Any], seen: set[object]) -> bool:
    """Whether a function, or one of the suites that it calls by name, can fail by itself."""
    nodes = list(ast.walk(tree))
    if any(isinstance(node, ast.Raise) or (isinstance(node, ast.Assert) and not always_true(node.test))
           for node in nodes):  # fmt: skip
        return True
    return any(_call_asserts(node.func, function, seen) for node in nodes if isinstance(node, ast.Call))


def _call_asserts(called: ast.expr, function: Callable[..., Any], seen: set[object]) -> bool:
    name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
    if name == "record" or name.lstrip("_").startswith(_ASSERTING):
        return True  # an outcome that a loader's expectations pin fails by being another
    target = _resolved(called, function)
    if target is None or target in seen:
        return False
    seen.add(target)
    source = _source(target)
    return source is not None and _asserts(source, target, seen)


def _resolved(called: ast.expr, function: Callable[..., Any]) -> FunctionType | None:
    """The function that is called, where it is one of the suites' own: the harness's helpers do not judge."""
    names = getattr(function, "__globals__", {})
    result: object = None
    if isinstance(called, ast.Name):
        result = names.get(called.id)
    elif isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
        module = names.get(called.value.id)
        result = getattr(module, called.attr, None) if isinstance(module, ModuleType) else None
    result = inspect.unwrap(result) if callable(result) else None
    if not isinstance(result, FunctionType) or Path(result.__code__.co_filename).is_relative_to(HARNESS):
        return None
    return result


# --- assertions that always hold ---


def always_true(test: ast.expr) -> str | None:
    """Why an assertion holds whatever happens, or None."""
    if isinstance(test, ast.Tuple) and test.elts:
        return "asserts a tuple, which is always true; remove the brackets"
    if isinstance(test, ast.GeneratorExp | ast.Lambda):
        return "asserts a generator or a function, which is always true; call it, or put it into all()"
    if not any(isinstance(node, ast.Name | ast.Attribute | ast.Call) for node in ast.walk(test)):
        return "asserts a constant"
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        return next((f"asserts alternatives, one of which always holds ({why})"
                     for why in map(always_true, test.values) if why), None)  # fmt: skip
    if isinstance(test, ast.BoolOp):  # each part of an `and` must be able to fail
        return next((why for why in map(always_true, test.values) if why), None)
    return _comparison_that_holds(test) if isinstance(test, ast.Compare) else None


def _comparison_that_holds(test: ast.Compare) -> str | None:
    parts = [test.left, *test.comparators]
    for left, operator, right in zip(parts, test.ops, parts[1:], strict=False):
        calls = any(isinstance(node, ast.Call) for node in ast.walk(left))
        reflexive = isinstance(operator, ast.Eq | ast.Is | ast.LtE | ast.GtE)
        if reflexive and not calls and ast.dump(left) == ast.dump(right):
            return "compares a value with itself"
        length = isinstance(left, ast.Call) and isinstance(left.func, ast.Name) and left.func.id == "len"
        if length and isinstance(operator, ast.GtE) and isinstance(right, ast.Constant) and right.value == 0:
            return "asserts that a length is not negative"
    return None


# --- assertions that are caught ---


def _swallows(node: ast.Try | ast.With) -> bool:
    if isinstance(node, ast.Try):
        tried = any(isinstance(inner, ast.Assert) for statement in node.body for inner in ast.walk(statement))
        return tried and any(_catches(handler.type) and not _raises(handler) for handler in node.handlers)
    calls = [item.context_expr for item in node.items if isinstance(item.context_expr, ast.Call)]
    quiet = any(_name(call.func) == "suppress" and any(map(_catches, call.args)) for call in calls)
    return quiet and any(isinstance(inner, ast.Assert) for inner in ast.walk(node))


def _catches(kind: ast.expr | None) -> bool:
    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return any(one is None or _name(one) in _CATCHES_ASSERTIONS for one in kinds)


def _raises(handler: ast.ExceptHandler) -> bool:
    return any(isinstance(node, ast.Raise | ast.Assert) for statement in handler.body for node in ast.walk(statement))


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
