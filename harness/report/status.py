# SPDX-License-Identifier: Apache-2.0
"""Does a verdict count? One pure function decides it; `judge` applies it to a case."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from harness.deviation import Deviation
from harness.expectations import Entry, Expectations, Expected
from harness.report.records import CaseResult, Status, Verdict
from harness.requirements.catalogue import catalogue, strongest


def status(
    verdict: Verdict,
    expected: Expected,
    strength: str,
    has_expectation_file: bool,
    strict: bool,
    vanished: bool,
    outcome: str | None,
) -> Status:
    """The status of a case.

    With an expectation file every difference from the file counts, whatever the strength: that is how a
    regression is noticed. `vanished` says that the case is unsupported for want of a capability that the file
    says the loader has; what else is unsupported never counts. Without a file, strength decides; a crash or a
    hang counts whatever the strength, and a leak where the texts leave the rest open. An outcome without an entry
    counts where the file has one for each.
    """
    if verdict == "error":
        return "unexpected"
    if verdict == "unsupported":
        if has_expectation_file and verdict in expected.verdicts:
            return "expected"
        return "unexpected" if vanished else "ok"
    if verdict == "pass":
        if verdict not in expected.verdicts:
            return "improved"
        if expected.outcome is None:
            return "changed" if expected.all_pinned and outcome is not None else "ok"
        return "ok" if expected.outcome == outcome else "changed"
    if verdict in expected.verdicts:
        return "expected"
    if has_expectation_file or strength == "must" or verdict in ("crash", "hang"):
        return "unexpected"
    if verdict == "leak" and strength == "undefined":  # whatever the texts leave open, it is nobody's choice
        return "unexpected"
    if strict and strength in ("should", "de-facto"):
        return "unexpected"
    return "deviation"


def judge(result: CaseResult, expectations: Expectations, strict: bool) -> CaseResult:
    """The result with strength, expected verdicts, reason and status filled in."""
    expected = expectations.expected(result.requirements, result.name)
    strength = strength_of(result.requirements)
    judged = status(
        result.verdict,
        expected,
        strength,
        expectations.path is not None,
        strict,
        result.verdict == "unsupported" and result.capability in expectations.capabilities,
        result.outcome,
    )
    judged, why = _by_deviations(result, expected, judged)
    if _differs(result, expected):
        judged, why = "flaky", result.runs_in_words
    return dataclasses.replace(
        result,
        strength=strength,
        expected=expected.verdicts,
        expected_outcome=expected.outcome,
        reason=(result.reason if result.verdict == "unsupported" else None) or why or expected.reason,
        status=judged,
    )


def _by_deviations(result: CaseResult, expected: Expected, judged: Status) -> tuple[Status, str | None]:
    """The status of a red case whose entry lists what deviates, and what is not as listed."""
    entry = expected.deviation
    if entry is None or entry.deviates is None or result.verdict not in ("fail", "crash", "hang", "leak"):
        return judged, None
    happened = result.deviations or (Deviation("", result.verdict),)
    if "AddressSanitizer" in result.message:
        happened = tuple(_without_report(deviation, entry) for deviation in happened)
    if new := entry.unlisted(happened):
        return "unexpected", f"not listed: {'; '.join(map(str, new))}"
    gone = entry.gone(happened)
    if gone and (judged == "expected" or result.verdict == "fail"):
        return "improved", f"no longer: {'; '.join(gone)}"
    return judged, None


_SIGNALS = ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGILL", "SIGFPE")


def _without_report(deviation: Deviation, entry: Entry) -> Deviation:
    """What a library built with the address sanitizer would have done without: where it ends the process with a report,
    others die of a signal, which is what entries list.
    """
    if not deviation.how.startswith("the process ended with exit code"):
        return deviation
    signals = (Deviation(deviation.what, name) for name in _SIGNALS)
    return next((signal for signal in signals if not entry.unlisted([signal])), deviation)


def _differs(result: CaseResult, expected: Expected) -> bool:
    """Whether the runs of a case differ. Of an entry with several verdicts, it is chance which one happens."""
    verdicts = {run.partition(":")[0] for run in result.runs}
    chance = len(expected.verdicts) > 1 and verdicts <= set(expected.verdicts)
    return len(set(result.runs)) > 1 and not chance


def strength_of(requirements: Iterable[str]) -> str:
    """The strongest among the strengths of the requirements; a case without any is held to "must"."""
    known = catalogue()
    return strongest([known[identifier].strength for identifier in requirements if identifier in known])
