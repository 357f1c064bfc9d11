# SPDX-License-Identifier: Apache-2.0
"""How long an answer is waited for in a case: what is expected not to come has a limit of its own."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from harness.run import plugin, tested
from harness.run.cases import CASE, Case


@pytest.mark.parametrize(
    ("verdicts", "deviates", "patterns"),
    [
        (("pass",), None, ()),
        (("fail",), ("clFlush: SIGSEGV",), ()),
        (("hang",), ("clFlush: no answer",), ("clFlush: no answer",)),
        (("hang", "pass"), ("no answer",), ("no answer",)),
        (("hang",), None, ("*",)),
    ],
)
def test_limits_follow_what_is_expected(
    monkeypatch: pytest.MonkeyPatch, verdicts: tuple[str, ...], deviates: Any, patterns: tuple[str, ...]
) -> None:
    deviation = None if verdicts == ("pass",) else SimpleNamespace(deviates=deviates)
    expected = SimpleNamespace(verdicts=verdicts, deviation=deviation)
    file = SimpleNamespace(expected=lambda requirements, name: expected)
    monkeypatch.setattr(tested, "expectations", lambda config: file)
    monkeypatch.setattr(tested, "time_limit", lambda config, subject: 7.0)
    node = SimpleNamespace(stash={CASE: Case("suites/test_a.py::test_b", ("A-B-001",), "dispatch")})
    request: Any = SimpleNamespace(node=node, config=None)
    subject: Any = SimpleNamespace(default_time_limit=20.0)
    plugin._limit(request, subject)
    assert subject.time_limit == 7.0
    assert tuple(subject.expected_hangs.patterns) == patterns
    assert subject.expected_hangs.limit == 2.0
