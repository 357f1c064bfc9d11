# SPDX-License-Identifier: Apache-2.0
"""What a device says that it can do is read as its machine has it: partitions in words as wide as an address."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest

from harness.api.model import api
from harness.probe import icd_abilities


@pytest.mark.parametrize("width", [4, 8])
@pytest.mark.parametrize(
    ("kinds", "promised"),
    [
        (["CL_DEVICE_PARTITION_EQUALLY"], True),
        (["CL_DEVICE_PARTITION_BY_COUNTS", "CL_DEVICE_PARTITION_EQUALLY"], True),
        (["CL_DEVICE_PARTITION_BY_COUNTS"], False),
        ([], False),
    ],
)
def test_partitions_are_words_of_the_machine(
    monkeypatch: pytest.MonkeyPatch, width: int, kinds: list[str], promised: bool
) -> None:
    """clCreateSubDevices of equal parts is promised where the list has that partition, at any place."""
    answer = b"".join(api().constant(kind).to_bytes(width, "little") for kind in kinds)
    answers: Callable[..., bytes] = lambda objects, query: answer  # noqa: E731
    machine = dataclasses.replace(api(), address=width)
    monkeypatch.setattr(icd_abilities, "_answer", answers)
    monkeypatch.setattr(icd_abilities, "api", lambda: machine)
    assert icd_abilities.is_promised(None, "clCreateSubDevices") == promised  # type: ignore[arg-type]
