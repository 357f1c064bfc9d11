# SPDX-License-Identifier: Apache-2.0
"""Marks for checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import pytest

Check = TypeVar("Check", bound=Callable[..., Any])


def requirement(*identifiers: str) -> Callable[[Check], Check]:
    """Names the requirements that a check proves, by their IDs in the catalogue."""

    def mark(check: Check) -> Check:
        return pytest.mark.requirement(*identifiers)(check)  # type: ignore[no-any-return]

    return mark


def extension(name: str) -> pytest.MarkDecorator:
    """Names an extension without which a case, or each case of a file (`pytestmark`), is unsupported by an ICD."""
    return pytest.mark.extension(name)


def scenario(function: Callable[..., Any]) -> pytest.MarkDecorator:
    """Names what a check of torture does: it runs once when cases are collected, to see which calls can fail."""
    return pytest.mark.scenario.with_args(function)
