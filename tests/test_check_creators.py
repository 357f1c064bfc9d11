# SPDX-License-Identifier: Apache-2.0
"""What checks of property lists expect: each expectation holds, and fails for each thing that it demands."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.check import BUFFER, CL, CONTEXT, Creator, Value, list_of
from harness.check.icd.creators import CREATORS, Answer, Outcome, Pairs, Properties, in_words, shown

PLATFORM = (int(CL.CONTEXT_PLATFORM), 0x1234)
OBJECT, NULL = Value(0x10, "r1"), Value(0, "r2")


class Scripted(Creator):
    """A function that answers as configured, without a session."""

    def __init__(self, function: str, error: int, value: Value, flags: int = 1) -> None:
        self.about = CREATORS[function]
        self.version = (3, 0)
        self.error, self.value, self.flags = error, value, flags

    def create(self, properties: Properties) -> Outcome:
        words = in_words(properties)
        return Outcome((Answer(self.error, shown(words)), self.value))

    def answers(self, value: Value, pairs: Pairs) -> dict[int, int | str]:
        return dict.fromkeys(self.expected_answers(pairs), self.flags)


HOLDS: dict[str, Callable[[], object]] = {
    "created": lambda: Scripted(BUFFER, 0, OBJECT).expect_created(None),
    "heeded": lambda: Scripted(BUFFER, 0, OBJECT).expect_heeded([]),
    "without platform": lambda: Scripted(CONTEXT, CL.INVALID_PLATFORM, NULL).expect_created([]),
    "refused": lambda: Scripted(BUFFER, CL.INVALID_VALUE, NULL).expect_refused([(1, 2)], CL.INVALID_VALUE),
    "one of two": lambda: Scripted(BUFFER, CL.INVALID_VALUE, NULL).expect_refused([1, 2, 0], -64, CL.INVALID_VALUE),
}
FAILS: dict[str, tuple[Callable[[], object], str]] = {
    "refused in place of created": (
        lambda: Scripted(BUFFER, CL.INVALID_VALUE, NULL).expect_created([(1, 2)]),
        "clCreateBufferWithProperties answered (CL_INVALID_VALUE to {0x1, 0x2, 0}, no object), expected an object",
    ),
    "success without an object": (
        lambda: Scripted(BUFFER, 0, NULL).expect_created(None),
        "CL_SUCCESS to NULL, no object",
    ),
    "an object beside an error": (
        lambda: Scripted(BUFFER, CL.INVALID_VALUE, OBJECT).expect_created(None),
        "CL_INVALID_VALUE to NULL, an object",
    ),
    "no platform, though one is named": (
        lambda: Scripted(CONTEXT, CL.INVALID_PLATFORM, NULL).expect_created([PLATFORM]),
        "CL_INVALID_PLATFORM to {CL_CONTEXT_PLATFORM, 0x1234, 0}",
    ),
    "no platform for a buffer": (
        lambda: Scripted(BUFFER, CL.INVALID_PLATFORM, NULL).expect_created(None),
        "CL_INVALID_PLATFORM",
    ),
    "not heeded": (
        lambda: Scripted(BUFFER, 0, OBJECT, flags=4).expect_heeded([]),
        "CL_MEM_FLAGS answers 0x4, expected 0x1",
    ),
    "created in place of refused": (
        lambda: Scripted(BUFFER, 0, OBJECT).expect_refused([(1, 2)], CL.INVALID_VALUE),
        "expected CL_INVALID_VALUE and no object",
    ),
    "another error": (
        lambda: Scripted(BUFFER, CL.INVALID_PROPERTY, NULL).expect_refused([], CL.INVALID_VALUE),
        "CL_INVALID_PROPERTY to {0}, no object",
    ),
    "an error and an object": (
        lambda: Scripted(BUFFER, CL.INVALID_VALUE, OBJECT).expect_refused([], CL.INVALID_VALUE),
        "an object), expected CL_INVALID_VALUE and no object",
    ),
}


@pytest.mark.parametrize("expectation", HOLDS)
def test_expectation_that_holds_is_silent(expectation: str) -> None:
    assert HOLDS[expectation]() in (None, OBJECT, NULL)


@pytest.mark.parametrize("expectation", FAILS)
def test_expectation_that_fails_says_what_was_answered(expectation: str) -> None:
    check, message = FAILS[expectation]
    with pytest.raises(AssertionError) as caught:
        check()
    assert message in str(caught.value)


def test_properties_are_pairs_or_words() -> None:
    assert in_words([(1, 2), (3, 4)]) == list_of((1, 2), (3, 4)) == [1, 2, 3, 4, 0]
    assert in_words([]) == [0]
    assert in_words([0]) == [0]
    assert in_words([1, 2, 0]) == [1, 2, 0]
    assert in_words(None) is None
