# SPDX-License-Identifier: Apache-2.0
"""Checks that cannot fail are found in their source; checks that can are left alone."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable
from typing import Any

import pytest

from harness.run import assertions


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("True", "a constant"),
        ("1 < 2", "a constant"),
        ("'text'", "a constant"),
        ("not False", "a constant"),
        ("(names, 'a message')", "a tuple"),
        ("(n for n in names)", "a generator"),
        ("lambda: names", "a function"),
        ("names == names", "a value with itself"),
        ("cl.names is cl.names", "a value with itself"),
        ("0 <= names == names", "a value with itself"),
        ("names or True", "alternatives"),
        ("names == {'a'} or 1", "alternatives"),
        ("names and True", "a constant"),
        ("len(names) >= 0", "not negative"),
    ],
)
def test_an_assertion_that_always_holds(text: str, why: str) -> None:
    message = assertions.always_true(ast.parse(text, mode="eval").body)
    assert message and why in message


@pytest.mark.parametrize(
    "text",
    [
        "names == {'a'}",
        "cl.names() == cl.names()",
        "not names",
        "names",
        "names == {'a'} or names == {'a', 'b'}",
        "len(names) >= 1",
        "len(names) == 0",
        "all(n for n in names)",
        "names != names",
    ],
)
def test_an_assertion_that_can_fail(text: str) -> None:
    assert assertions.always_true(ast.parse(text, mode="eval").body) is None


# --- whole checks ---


def helper(value: object) -> None:
    assert value == 1


def helper_of_helper(value: object) -> None:
    helper(value)


def calls_nobody(value: object) -> None:
    print(value)


def calls_itself(value: object) -> None:
    calls_itself(value)


def asserts(loader: Any) -> None:
    assert loader


def asserts_by_helper(loader: Any) -> None:
    helper_of_helper(loader)


def asserts_by_name(loader: Any) -> None:
    loader.check_response()


def expects_an_error(loader: Any) -> None:
    with pytest.raises(ValueError):
        loader()


def raises(loader: Any) -> None:
    if loader:
        raise AssertionError("it is")


def records(loader: Any, record: Callable[[str], None]) -> None:
    record("a" if loader else "b")


def recovers(loader: Any) -> None:
    try:
        assert loader
    except AssertionError:
        assert loader is None


@pytest.mark.parametrize(
    "check", [asserts, asserts_by_helper, asserts_by_name, expects_an_error, raises, records, recovers]
)
def test_a_check_that_can_fail(check: Callable[..., Any]) -> None:
    assert list(assertions.problems(check)) == []


def empty(loader: Any) -> None:
    """Nothing."""


def calls(loader: Any) -> None:
    calls_nobody(loader.path)
    calls_itself(loader)


def asserts_true(loader: Any) -> None:
    loader()
    assert True


def catches(loader: Any) -> None:
    try:
        assert loader
    except Exception:
        loader()


def catches_all(loader: Any) -> None:
    try:
        assert loader
    except:  # noqa: E722
        loader()


def suppresses(loader: Any) -> None:
    with contextlib.suppress(ValueError, AssertionError):
        assert loader


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (empty, ["asserts nothing; it stays green whatever the loader does"]),
        (calls, ["asserts nothing; it stays green whatever the loader does"]),
        (asserts_true, ["asserts nothing; it stays green whatever the loader does", "asserts a constant"]),
        (catches, ["catches the failure of its own assertion"]),
        (catches_all, ["catches the failure of its own assertion"]),
        (suppresses, ["catches the failure of its own assertion"]),
    ],
)
def test_a_check_that_cannot_fail(check: Callable[..., Any], message: list[str]) -> None:
    problems = list(assertions.problems(check))
    assert [text.rpartition(": ")[2] for text in problems] == message
