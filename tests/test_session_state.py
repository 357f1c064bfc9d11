# SPDX-License-Identifier: Apache-2.0
"""The state of a process: each thing that a library may change there is seen, and nothing else changes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.sandbox import Sandbox, guard
from harness.sandbox.machine import is_root
from harness.subject import Icd

# What each value of the fault constructor_changes_process changes.
CHANGED = {
    1: "resource limit 2",
    2: "scheduling",
    3: "priority",
    4: "real timer",
    5: "signal stack",
    6: "standard stream 2",
    7: "name",
    8: "orphans are taken in",
    9: "processes",
    10: "processes",
    11: "processors",
}


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    box = Sandbox()
    yield box
    box.close()


def changed(sandbox: Sandbox, *faults: str) -> list[str]:
    """What loading a mock ICD changes of its process."""
    with Icd(sandbox.icd("a", faults=faults).path).open(sandbox, late=True) as session:
        before = session.state()
        session.open()
        after = session.state()
    assert before.keys() == after.keys()
    return [name for name in before if before[name] != after[name]]


def test_library_that_changes_nothing_changes_nothing(sandbox: Sandbox) -> None:
    assert changed(sandbox) == []


@pytest.mark.parametrize("what", CHANGED)
def test_change_is_seen_and_nothing_else(sandbox: Sandbox, what: int) -> None:
    if CHANGED[what] == "processors" and len(os.sched_getaffinity(0)) == 1:
        pytest.skip("there is one processor")
    assert changed(sandbox, f"constructor_changes_process={what}") == [CHANGED[what]]


@pytest.mark.skipif(not is_root(), reason="only root changes the root folder")
def test_another_root_folder_is_seen(sandbox: Sandbox) -> None:
    """What /proc tells is not to be seen from there either."""
    assert "root folder" in changed(sandbox, "constructor_changes_process=12")


@pytest.mark.parametrize("way", guard.WAYS)
@pytest.mark.parametrize("what", [9, 10], ids=["a child", "nobody's child"])
def test_process_that_is_left_is_seen_in_every_way(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, what: int, way: str
) -> None:
    monkeypatch.setenv(guard.VARIABLE, way)
    guard.isolation.cache_clear()
    try:
        guard.isolation()
        assert changed(sandbox, f"constructor_changes_process={what}") == ["processes"]
    except UsageError as error:
        pytest.skip(str(error))
    finally:
        guard.isolation.cache_clear()


def test_lines_in_the_name_of_a_folder_are_no_state_of_their_own(sandbox: Sandbox, tmp_path: Path) -> None:
    """The folder is the application's, or a subject's: nothing of its name ends the run."""
    odd = tmp_path / "first\nsecond"
    odd.mkdir()
    with Icd(sandbox.icd("a").path).open(sandbox, late=True) as session:
        session.chdir(odd)
        assert session.state()["working directory"].startswith(str(tmp_path))
