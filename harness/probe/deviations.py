# SPDX-License-Identifier: Apache-2.0
"""From the failure of a check to what deviated and how; checks of several parts, each judged by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Self, TypeVar

from harness.api.codes import Code
from harness.deviation import Deviation
from harness.probe.verdicts import Hung, Leaked, SubjectFailure

LONGEST = 160  # characters that are kept of an answer

Failure = TypeVar("Failure", bound=BaseException)


def deviations_of(error: BaseException) -> tuple[Deviation, ...]:
    """What the failure of a case says: the deviations that were collected in it, else the one that ended it."""
    collected: tuple[Deviation, ...] = vars(error).get("deviations", ())
    return collected or (Deviation(_function(error), answer_of(error)),)


def with_deviations(error: Failure, deviations: Sequence[Deviation]) -> Failure:
    """The failure, which now says what deviated; each deviation once."""
    vars(error)["deviations"] = tuple(dict.fromkeys(deviations))
    return error


def with_parts(error: Failure, failures: Sequence[tuple[str, BaseException]]) -> Failure:
    """The failure of a case of several parts: what deviated in each, and the failures themselves (`parts_of`)."""
    vars(error)["parts"] = tuple(failure for _, failure in failures)
    return with_deviations(error, [part_deviation(what, failure) for what, failure in failures])


def parts_of(error: BaseException) -> tuple[BaseException, ...]:
    """The failures that a case of several parts ended with; the failure itself where it has none."""
    parts: tuple[BaseException, ...] = vars(error).get("parts", ())
    return parts or (error,)


class Parts:
    """Several parts of one case, each judged by itself: the first red one does not hide the others.

    with Parts() as parts:
        for words in lists:
            with parts(shown(words)):
                assert create(words) == refused

    A crash or a hang ends the case: there is no process for what would come next.
    """

    def __init__(self) -> None:
        self._failures: list[tuple[str, BaseException]] = []

    def __enter__(self) -> Self:
        return self

    @contextmanager
    def __call__(self, what: str) -> Iterator[None]:
        try:
            yield
        except AssertionError as error:
            self._failures.append((what, error))
        except SubjectFailure as failure:
            self._failures.append((what, failure))
            raise

    def fail(self, what: str, how: str) -> None:
        """Says that a part deviates."""
        self._failures.append((what, AssertionError(how)))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._failures:
            return
        failures = list(self._failures)
        if isinstance(error, (AssertionError, SubjectFailure)) and all(error is not known for _, known in failures):
            failures.append((_function(error), error))
        deviations = [part_deviation(what, known) for what, known in failures]
        others = "\n".join(f"{what}: {known}" for what, known in failures if known is not error)
        if isinstance(error, SubjectFailure):
            error.args = (f"{error}\n{others}".strip(),)
            with_deviations(error, deviations)
        elif error is None or isinstance(error, AssertionError):
            last = [str(error)] if error else []
            raise with_deviations(AssertionError("\n".join([*filter(None, [others]), *last])), deviations)


def part_deviation(what: str, error: BaseException) -> Deviation:
    """The deviation of a part of a case that failed."""
    return Deviation(_steady(what), answer_of(error))


# --- texts ---

_ENDED = re.compile(r"(SIG\w+|signal \d+|the process ended with exit code \d+) in: (.*)")
_SILENT = re.compile(r"no answer within .*? to: (.*)")
_CALL = re.compile(r"(?:(?:address \d+ \S+|call \d+) )?(cl[A-Z]\w*)")
_COMPARED = re.compile(r"assert (CL_\w+|0|-\d+) == (CL_\w+|0|-\d+)$")
_ANSWERED = re.compile(r"answered (\S+), expected (.+?)(?: \(-?\d+\))?$")


def answer_of(error: BaseException) -> str:
    """How something deviated: the first line of what the failure says, without what varies."""
    line = str(error).strip().partition("\n")[0].strip()
    if ended := _ENDED.match(line):
        return ended[1]
    if isinstance(error, Hung) or _SILENT.match(line):
        return "no answer"
    if answered := _ANSWERED.match(line):
        line = f"{_code(answered[1])} instead of {answered[2]}"
    if compared := _COMPARED.match(line):
        got, expected = map(_code, compared.groups())
        line = f"{got} instead of {expected}" if got.startswith("CL_") and expected.startswith("CL_") else line
    line = _steady(re.sub(r"\b(answered|error) (-\d+)", lambda m: f"{m[1]} {_code(m[2])}", line))
    if isinstance(error, Leaked):
        line = re.sub(r"\d{3,}", "*", line)
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}*"


def _function(error: BaseException) -> str:
    """The function that was called when the subject ended or fell silent."""
    line = str(error).partition("\n")[0]
    last = _ENDED.match(line) or _SILENT.match(line)
    function = _CALL.match(last[last.lastindex or 0]) if last else None
    return function[1] if function else ""


_VARYING = (
    (re.compile(r"<(?:\w+\.)*(\w+) object at 0x[0-9a-f]+>"), r"<\1>"),
    (re.compile(r"""b'(?:[^'\\]|\\.)*(?:\\x|/|\.\.\.)(?:[^'\\]|\\.)*'"""), "b'*'"),
    (re.compile(r"(?<![\w.])/(?:[^\s'\"/,:]+/)+[^\s'\",:)\]}]*"), "*"),
    (re.compile(r"[^\s,()\[\]{}'\"]*\.\.\.[^\s,()\[\]{}'\"]*"), "*"),
    (re.compile(r"\b0x[0-9a-f]{9,12}\b"), "*"),
    (re.compile(r"(?<![\w.])\d{11,16}(?![\w.])"), "*"),
    (re.compile(r"\*(?:[ ,]*\*)+"), "*"),
)


def _steady(text: str) -> str:
    """The text with `*` for what differs between two runs."""
    for pattern, replacement in _VARYING:
        text = pattern.sub(replacement, text)
    return text


def _code(word: str) -> str:
    """A number that is answered in the place of an error code, by its name."""
    return str(Code(int(word))) if word.lstrip("-").isdigit() else word
