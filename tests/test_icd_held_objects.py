# SPDX-License-Identifier: Apache-2.0
"""An object that its driver holds for a moment has one reference more, and is no finding."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.sandbox import Sandbox
from tests.forked import clharness

CASES = "(test_reference_count_follows_whichever or test_new_object_has_one_reference) and clLinkProgram"


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    room = Sandbox()
    yield room
    room.close()


@pytest.mark.parametrize(
    ("fault", "verdicts"),
    [
        ("linked_programs_are_held_a_moment", ["pass", "pass"]),
        ("linked_programs_are_counted_twice", ["fail", "pass"]),  # for good: a new object has two
    ],
)
def test_linked_program_that_is_held_for_a_moment_is_waited_for(
    sandbox: Sandbox, tmp_path: Path, fault: str, verdicts: list[str]
) -> None:
    """The count is "immediately stale", and drivers may hold what is under way."""
    library = sandbox.icd("holding", features="images compiler", refuses=True, faults=[fault]).path
    records = tmp_path / "records.jsonl"
    clharness("icd", library, "-j", "1", "-k", CASES, "--json", records)
    lines = [json.loads(line) for line in records.read_text().splitlines()]
    found = {line["case"].partition("::")[2]: line["verdict"] for line in lines if line["record"] == "case"}
    assert [found[name] for name in sorted(found)] == verdicts
