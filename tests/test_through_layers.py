# SPDX-License-Identifier: Apache-2.0
"""Checks that run once more with layers in front."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from harness.check import also_through_layers
from harness.sandbox import Sandbox
from harness.subject import Loader


def something(loader: Loader, sandbox: Sandbox, size: int) -> None:
    """What must hold."""


def module() -> dict[str, Any]:
    something.pytestmark = [pytest.mark.parametrize("size", [1])]  # type: ignore[attr-defined]
    return {"test_something": something, "test_other": something, "helper": len}


def test_added_checks_have_names_marks_and_a_count() -> None:
    checks = module()
    also_through_layers(checks, counts=[1, 3], leaving_out=["test_other"])
    assert set(checks) == {"test_something", "test_other", "helper", "test_something_through_layers"}
    added = checks["test_something_through_layers"]
    assert list(inspect.signature(added).parameters) == ["loader", "sandbox", "size", "layers_in_front"]
    assert [mark.args[0] for mark in added.pytestmark] == ["size", "layers_in_front"]
    assert added.pytestmark[1].kwargs["ids"] == ["1-layer", "3-layers"]
    assert added.__doc__.startswith("What must hold.")
    assert len(something.pytestmark) == 1, "the check itself is as before"  # type: ignore[attr-defined]


def test_unknown_name_to_leave_out_is_an_error() -> None:
    with pytest.raises(AssertionError, match="no such checks here: test_nothing"):
        also_through_layers(module(), leaving_out=["test_nothing"])


def test_file_with_nothing_left_is_an_error() -> None:
    with pytest.raises(AssertionError, match="no check is left"):
        also_through_layers(module(), leaving_out=["test_something", "test_other"])
