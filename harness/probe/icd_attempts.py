# SPDX-License-Identifier: Apache-2.0
"""Many calls in one case, each judged by itself.

A driver's start is what a case costs, so calls that should leave nothing behind share a process. What goes wrong is
made once more in a process of its own, and so is what comes after it: an improper call that was taken may do damage.

with icd.attempts(sandbox) as attempts:
    attempts.check("size 0", lambda objects: ... assertions ...)
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Self

from harness.api.model import api
from harness.api.wording import argument
from harness.probe.deviations import with_parts
from harness.probe.icd_objects import IcdObjects
from harness.probe.icd_session import IcdSession
from harness.probe.verdicts import Crashed, Hung, SubjectFailure
from harness.sandbox import Unsupported

Body = Callable[[IcdObjects], None]


class Attempts:
    """Calls on the first platform (all platforms of one vendor have the same code)."""

    def __init__(
        self, open_session: Callable[[], IcdSession], until_hung: bool = False, each_ends_a_command: bool = False
    ) -> None:
        """`open_session` gives a session in a process of its own, not yet entered. With `until_hung`, nothing is tried
        after an attempt that hung, for the others would hang for the same reason, and each waits a quarter of the time
        for what comes without an answer; the limit of an answer stays, for a driver may be slow. With
        `each_ends_a_command`, an attempt terminates a command, after which its context "may no longer be available":
        what is in order alone is in order.
        """
        self.open_session = open_session
        self.until_hung = until_hung
        self.each_ends_a_command = each_ends_a_command
        self.session: IcdSession | None = None
        self.objects: IcdObjects | None = None
        self.calls = 0
        self.passed = 0
        self.failures: list[tuple[str, BaseException]] = []
        self.unsupported: Unsupported | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._abandon()
            return
        if self.session is not None:
            try:
                self.session.__exit__(None, None, None)
            except SubjectFailure as failure:
                self.failures.append(("the end of the process", failure))
        self._judge()

    def check(self, label: str, body: Body) -> None:
        """Makes one attempt; what is wrong with it is said when all are made."""
        if self.until_hung and any(isinstance(error, Hung) for _, error in self.failures):
            return
        self.calls += 1
        alone = self.session is None
        failure = self._attempt(label, body)
        if failure is not None and not alone and not isinstance(failure, Hung):
            again = self._attempt(label, body)
            after = AssertionError(f"{failure}\n(after the calls before it; alone it is in order)")
            failure = again or (None if self.each_ends_a_command else after.with_traceback(failure.__traceback__))
        if failure is not None:
            self.failures.append((label, failure))

    def _attempt(self, label: str, body: Body) -> BaseException | None:
        """What is wrong, if anything; then the process is not used any more."""
        try:
            if self.session is None or self.objects is None:
                self.session = self.open_session().__enter__()
                self.objects = self.session.objects(self.session.some_platforms()[0])
            self.session.attempt = label
            limit = self.session.limit() / (4 if self.until_hung else 1)
            self.session.deadline = time.monotonic() + limit  # for each attempt
            body(self.objects)
        except Unsupported as error:
            self.unsupported = error
            return None
        except (AssertionError, SubjectFailure) as error:
            self._abandon()
            return error
        except BaseException:
            self._abandon()
            raise
        self.passed += 1
        return None

    def _abandon(self) -> None:
        if self.session is not None:
            self.session.failed = True
            self.session.__exit__(RuntimeError, None, None)  # killed, not asked to end
        self.session = self.objects = None

    def _judge(self) -> None:
        if not self.failures:
            if not self.passed and self.unsupported:
                raise self.unsupported
            return
        message = "\n".join(f"{label}: {_first_lines(error)}" for label, error in self.failures)
        message = f"{len(self.failures)} of {self.calls} calls\n{message}"
        worst = next((e for _, e in self.failures if isinstance(e, SubjectFailure)), None)
        if isinstance(worst, Hung):
            raise with_parts(Hung(message, worst.stacks), self.failures)
        if worst is not None:
            raise with_parts(Crashed(message, worst.stacks), self.failures)
        raise with_parts(AssertionError(message), self.failures)


_CALL = re.compile(r"(?:address \d+ \S+|call \d+) (cl\w+) ?(.*)")


def readable(text: str) -> str:
    """A command of the probe as the call that it makes: clFinish(NULL), clBuildProgram(program, 1, device_list, …)."""
    return _CALL.sub(lambda match: f"{match[1]}({', '.join(_shown(match[1], match[2].split()))})", text)


def _shown(function: str, words: list[str]) -> Iterator[str]:
    """Constants by name, numbers, NULL, and the names of parameters for objects and memory."""
    for parameter, word in zip(api().functions[function].parameters, words, strict=False):
        if not word.removeprefix("-").isdecimal():
            yield parameter.name
        elif parameter.kind != "integer":
            yield "NULL" if word == "0" else word
        else:
            name = argument(parameter, int(word))
            yield name if name.startswith("CL_") else word


def _first_lines(error: BaseException) -> str:
    """What happened, without the stack that is shown elsewhere and without pytest's explanation of values."""
    lines = readable(str(error)).splitlines()
    return "\n".join(line for line in lines[:1] + [text for text in lines[1:] if text.startswith("(")])
