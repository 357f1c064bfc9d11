# SPDX-License-Identifier: Apache-2.0
"""Assertions that many checks share: each passes, fails for each thing that it demands, and shows the log."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from harness.build import build
from harness.probe import Session
from harness.sandbox import Sandbox
from harness.selftest.place import place_of
from harness.subject.loader import Loader


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with_mocks = Sandbox(build().reference_loader)
    yield with_mocks
    with_mocks.close()


@pytest.fixture
def session(sandbox: Sandbox) -> Iterator[Session]:
    for name in ("one", "two"):
        sandbox.vendor(name, suffix=f"_{name}")
    with Loader(build().reference_loader).start(sandbox) as cl:
        yield cl


def test_checks_that_hold_are_silent(session: Session) -> None:
    session.check_vendors("two", "one")
    session.check_asked_once("one", "two")
    session.check_functions("two", like="clWho_{name}")
    assert session.platform_count() == 2


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("clGetPlatformID", "a session has no clGetPlatformID; did you mean clGetPlatformIDs?"),
        ("platforms_names", "a session has no platforms_names; did you mean platform_names?"),
        ("xyz", "a session has no xyz"),
    ],
)
def test_name_that_a_session_lacks_comes_with_the_nearest(session: Session, name: str, message: str) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(session, name)
    assert str(caught.value) == message


FAILURES: dict[str, tuple[Callable[[Session], object], str]] = {
    "a vendor that is not there": (lambda cl: cl.check_vendors("one"), "platforms: ['one', 'two'], expected ['one']"),
    "a function of nobody": (
        lambda cl: cl.check_functions("one", like="clWho_{NAME}"),
        "vendors of clWho_ONE: {'one': None}, expected {'one': 'one'}",
    ),
    "a vendor that was never asked": (
        lambda cl: cl.check_asked_once("three"),
        "times that three was loaded: 0, expected 1",
    ),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_check_that_fails_says_why_and_shows_the_log(session: Session, failure: str) -> None:
    check, message = FAILURES[failure]
    session.check_asked_once()
    session.platform_names()
    with pytest.raises(AssertionError) as caught:
        check(session)
    first, *log = str(caught.value).splitlines()
    assert first == message
    assert any("application | clGetPlatformIDs" in line or "| clGetPlatformInfo" in line for line in log)


def test_failed_check_is_a_place_in_the_suites(sandbox: Sandbox) -> None:
    """The self-test takes it for an assertion of the check, and a call that failed for none."""
    root = sandbox.root
    suite = root / "suites" / "discovery" / "test_a.py"
    suite.parent.mkdir(parents=True)
    suite.write_text("def run(cl):\n    cl.check_vendors('nobody')\n\n\ndef call(cl):\n    cl.GetPlatformInfo(None)\n")
    scope: dict[str, Callable[[Session], None]] = {}
    exec(compile(suite.read_text(), str(suite), "exec"), scope)
    sandbox.vendor("one", suffix="_one")
    places = []
    with Loader(build().reference_loader).start(sandbox) as cl:
        for function in ("run", "call"):
            with pytest.raises(AssertionError) as caught:
                scope[function](cl)
            places.append(place_of(caught.value, root))
    assert [str(place) for place in places] == ["suites/discovery/test_a.py:2", "None"]
