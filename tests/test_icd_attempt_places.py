# SPDX-License-Identifier: Apache-2.0
"""Checks of an ICD that make many calls in one case: which of their assertions the self-test takes them to fail at."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from harness.probe.icd_attempts import Attempts
from harness.probe.icd_session import IcdSession
from harness.probe.verdicts import Crashed
from harness.selftest.place import place_of

SUITE = """\
def holds(objects):
    assert objects


def fails(objects):
    assert not objects
"""


class Still:
    """A session with an ICD that is never asked for anything."""

    def limit(self) -> float:
        return 1.0

    def __enter__(self) -> Still:
        return self

    def __exit__(self, *end: object) -> None:
        pass

    def some_platforms(self) -> list[int]:
        return [1]

    def objects(self, _platform: int) -> object:
        return self


def still() -> IcdSession:
    return cast(IcdSession, Still())


def crashes(_objects: object) -> None:
    """A call in which the ICD crashes: the probe says so, and no line of a suite asserted anything."""
    raise Crashed("SIGSEGV in: call 1 clFinish 0")


@pytest.mark.parametrize(
    ("bodies", "place"),
    [
        (["fails"], "suites/dispatch/test_many.py:6"),
        (["holds", "fails"], "suites/dispatch/test_many.py:6"),
        (["crashes", "fails"], "suites/dispatch/test_many.py:6"),
    ],
)
def test_assertion_in_one_of_many_attempts_is_the_checks_own(tmp_path: Path, bodies: list[str], place: str) -> None:
    suite = tmp_path / "suites" / "dispatch" / "test_many.py"
    suite.parent.mkdir(parents=True)
    scope: dict[str, Callable[[Any], None]] = {"crashes": crashes}
    exec(compile(SUITE, str(suite), "exec"), scope)
    with pytest.raises((AssertionError, Crashed)) as caught, Attempts(still) as attempts:
        for body in bodies:
            attempts.check(body, scope[body])
    assert str(place_of(caught.value, tmp_path)) == place


@pytest.mark.parametrize("ends", [True, False])
def test_what_fails_after_a_terminated_command_only_is_in_order(ends: bool) -> None:
    """Its context, and the queues of it, may no longer be available."""
    session: list[int] = []

    def open_one() -> IcdSession:
        session.clear()
        return still()

    def terminates(_objects: object) -> None:
        session.append(1)
        assert len(session) == 1, "the queue is not available"

    def make_both() -> None:
        with Attempts(open_one, each_ends_a_command=ends) as attempts:
            attempts.check("first", terminates)
            attempts.check("second", terminates)

    if ends:
        make_both()
    else:
        with pytest.raises(AssertionError, match="1 of 2 calls\nsecond: the queue is not available"):
            make_both()


def test_crash_is_no_assertion_of_the_check(tmp_path: Path) -> None:
    with pytest.raises(Crashed) as caught, Attempts(still) as attempts:
        attempts.check("clFinish", crashes)
    assert place_of(caught.value, tmp_path) is None
