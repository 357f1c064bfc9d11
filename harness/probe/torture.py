# SPDX-License-Identifier: Apache-2.0
"""Calls by which a library asks for resources (memory, files, libraries, threads): listed, or one of them failing.

A preloaded library counts them in the order in which they come (torture.c says which), and writes into a file what it
saw; what the library still has when the process ends is part of that.
"""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.api.codes import CL
from harness.probe.calls import CallFailed
from harness.probe.session import Session
from harness.probe.stacks import function_at
from harness.probe.verdicts import Leaked
from harness.sandbox import Sandbox
from harness.untrusted import head

_LIMIT = 1 << 20  # bytes of a report
_LINE = re.compile(r"^(call|fail|left|lost) (\d{1,9}) (\w{1,40}) (0x[0-9a-f]{1,16})$", re.M)

# What nobody gave back, or can: the kind ("memory", or the function that brought it), and the calls that brought it.
Left = Mapping[str, list[str]]


@dataclass(frozen=True)
class Call:
    """A call for a resource."""

    number: int  # in its process, from 1
    function: str
    place: str  # in the library: function+offset, where it has names, else the offset from its base

    def __str__(self) -> str:
        return f"{self.number}-{self.function}-{self.place}"


class Torture:
    """What the processes of a case are to do, and what was seen of the last one."""

    def __init__(self, sandbox: Sandbox, library: Path, failing: int = 0) -> None:
        """`failing` is the number of the call that fails; 0: none does, and all are listed."""
        self._path = sandbox.new_place("torture")
        self._library = library
        self._failing = failing
        self._prelude = 0
        self._path.touch()

    def environment(self) -> dict[str, str]:
        """The variables of a process."""
        variables = {"CLHARNESS_TORTURE_IN": str(self._library), "CLHARNESS_TORTURE_REPORT": str(self._path)}
        return variables | ({"CLHARNESS_TORTURE_FAIL": str(self._failing)} if self._failing else {})

    def begin(self) -> None:
        """What the library did until now is another scenario's."""
        self._prelude = len(self._calls("call"))

    def _lines(self) -> list[tuple[str, str, str, str]]:
        return _LINE.findall(head(self._path, _LIMIT).decode(errors="replace"))

    def _calls(self, kind: str) -> list[Call]:
        return [
            Call(int(number), function, function_at(os.fspath(self._library), int(offset, 16)))
            for what, number, function, offset in self._lines()
            if what == kind
        ]

    @property
    def calls(self) -> list[Call]:
        """All calls since `begin`, where none failed."""
        return self._calls("call")[self._prelude :]

    @property
    def failed(self) -> Call | None:
        """The call that failed."""
        return next(iter(self._calls("fail")), None)

    @property
    def left(self) -> Left:
        """What is left at the end."""
        left: dict[str, list[str]] = defaultdict(list)
        for what, number, function, offset in self._lines():
            if what in ("left", "lost"):
                call = f"{function} at {function_at(os.fspath(self._library), int(offset, 16))}"
                left["memory" if what == "lost" else function] += [call] * int(number)
        return dict(left)

    @property
    def ended(self) -> bool:
        """Whether the process came to its end in order."""
        return head(self._path, _LIMIT).endswith(b"end\n")


def answered_in_order(cl: Session, function: str, *arguments: Any) -> Any:
    """The answer to a call that may fail for want of a resource, once: then it is made again.

    Its error is the call's, else what it writes to its last argument.
    """
    for _ in range(2):
        result = cl.call(function, *arguments)
        error = _error(function, result, arguments)
        if error not in (CL.OUT_OF_HOST_MEMORY, CL.OUT_OF_RESOURCES):
            break
    if error not in (CL.SUCCESS, CL.PLATFORM_NOT_FOUND_KHR):
        raise CallFailed(f"{function} answered {error} to its second call, expected CL_SUCCESS")
    return result


def _error(function: str, result: int, arguments: Sequence[Any]) -> Any:
    if function.startswith("clCreate"):
        return arguments[-1].code()
    return CL.SUCCESS if function.startswith("clGetExtension") else result


@dataclass(frozen=True)
class Failure:
    """One case of a scenario: the call that fails in it, and what is left at the end where none does."""

    call: Call | None  # None: nothing fails
    calls: tuple[Call, ...] = ()  # all of the scenario
    left: Left | None = None  # None: it never came to its end

    def __str__(self) -> str:
        return str(self.call or "0-nothing")

    def torture(self, sandbox: Sandbox, library: Path) -> Torture:
        """What runs the scenario with this failure, in this sandbox, on this library."""
        return Torture(sandbox, library, self.call.number if self.call else 0)

    def expect_it_happened(self, torture: Torture) -> None:
        """The call that was to fail has failed, and the process came to its end; without one, all calls came."""
        assert torture.ended, "the process did not come to its end in order"
        if self.call:
            assert torture.failed == self.call, "the calls before this one are not those that were counted"
        else:
            assert torture.calls == list(self.calls), "the calls are not the same in each process"

    def expect_nothing_left(self, torture: Torture) -> None:
        """No more is left than where nothing fails. Raises Leaked."""
        usual = self.left or {}
        for kind, calls in torture.left.items():
            if len(calls) > len(usual.get(kind, ())):
                more = Counter(calls) - Counter(usual.get(kind, ()))
                raise Leaked(f"{kind} is lost, which is not where nothing fails: {', '.join(sorted(more))}")
