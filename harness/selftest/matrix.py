# SPDX-License-Identifier: Apache-2.0
"""Which check catches which fault, found in as few runs as possible.

First the cases run without fault: all must be green, and their times and outcomes are what later runs are compared
with. Then each fault meets the cases of its own requirements, the nearest first, then, where they stay green, all the
others; the first red case ends it. Last, checks that no fault has proven yet meet further faults: one case of a check
for each fault at first, and only where that proves nothing more of them. No case meets a fault twice.

Where checks are not to be proven, a fault meets few cases at first, and more as long as they are green; of the cases
only those run without fault that some fault is about to meet.

A fault is caught by whatever is red. A check is proven by its own assertion only: what is red because the process
crashed would be red without a single assertion.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import pytest

from harness.run.cases import CASE
from harness.selftest.further import BY_TESTS, Check, FurtherFaults, Seen, sections_of
from harness.selftest.mutants import Mutant
from harness.selftest.place import Place
from harness.selftest.worker import Result, Runner, Task, Usual, Workers

CHUNK = 40  # cases of a task, where a fault meets all of them
FIRST = 2  # cases that a fault meets at first, where checks are not to be proven
MORE = 2  # times as many are the next, of which most may run for nothing without a fault
_FUNCTION = re.compile(r"(?<![A-Za-z0-9])cl[A-Z][A-Za-z0-9]*")
LIKE = 3  # checks that noticed others of a family, whose cases its next fault meets first


@dataclass
class Caught:
    """How a fault fared."""

    mutant: Mutant
    by: str | None = None  # ID of the case that was red
    verdict: str = ""
    message: str = ""
    cases: int = 0  # that ran until then
    seconds: float = 0.0
    program: str = ""  # what its C program shows, where that was tried


class Matrix:
    """The cases, the faults, and what is known of them so far."""

    def __init__(
        self, items: Sequence[pytest.Item], mutants: Sequence[Mutant], jobs: int, programs: bool = False
    ) -> None:
        self.items = items
        self.programs = programs
        self.jobs = jobs
        self.caught = {mutant.name: Caught(mutant) for mutant in mutants}
        self.red_without_fault: list[Result] = []
        self.failed: dict[Place, str] = {}  # assertions of the suites, and a fault that made each fail
        self.checks: dict[str, Check] = {}
        self._check_of: list[Check] = []
        self._of_function: dict[str, set[int]] = defaultdict(set)  # cases that have an API function in their names
        self._seen = Seen()
        self._noticed: dict[str, Counter[str]] = defaultdict(Counter)  # checks that noticed faults of a family
        for number, item in enumerate(items):
            name = item.nodeid.partition("[")[0]
            check = self.checks.setdefault(name, Check(name, proof=BY_TESTS.get(name)))
            check.cases.append(number)
            check.requirements |= set(item.stash[CASE].requirements)
            self._check_of.append(check)
            for function in _FUNCTION.findall(item.nodeid):
                self._of_function[function].add(number)
        self._ids = [item.nodeid for item in items]
        self._usual = Usual()
        self.ran = 0  # cases that ran without fault
        self._supported = set(range(len(items)))  # as far as is known: less what was unsupported without fault
        for check in self.checks.values():
            check.supported = check.cases

    # --- without fault ---

    def run_without_fault(self, tick: Callable[[str], None], cases: Sequence[int] | None = None) -> bool:
        """Whether these cases are green, by default all."""
        numbers = range(len(self.items)) if cases is None else cases
        tasks = (Task(None, tuple(numbers[start::200]), until="end") for start in range(min(200, len(numbers))))
        outcomes = dict(self._usual.outcomes)
        seconds = dict(self._usual.seconds)
        total = len(seconds) + len(numbers)

        def done(_: Task, results: list[Result]) -> None:
            for result in results:
                outcomes[result.case] = result.outcome
                seconds[result.case] = result.seconds
                if result.red:
                    self.red_without_fault.append(result)
                if result.verdict == "unsupported":
                    self._supported.discard(result.case)
            tick(f"without fault: {len(seconds)} of {total} cases")

        with Workers(Runner(self.items, Usual()), self.jobs) as pool:
            pool.run(tasks, done)
        self._usual = Usual(outcomes, seconds)
        self.ran = len(seconds)
        for check in self.checks.values():
            check.supported = [number for number in check.cases if number in self._supported]
        return not self.red_without_fault

    # --- with faults ---

    def run_as_needed(self, tick: Callable[[str], None], all_own_cases: bool = False) -> None:
        """Each fault against cases until one is red, with as few runs without fault as that takes.

        With `all_own_cases` a fault meets all cases of its own requirements, whatever they find.
        """

        def done(task: Task, results: list[Result]) -> None:
            self._note(task, results)
            tick(f"{sum(1 for c in self.caught.values() if c.by)} of {len(self.caught)} faults caught")

        first, size = True, FIRST
        while left := [caught.mutant for caught in self.caught.values() if not caught.by]:
            whole = first and all_own_cases
            parts = {mutant.name: self._own(mutant) if whole else self._next(mutant, size) for mutant in left}
            known = self._usual.seconds
            new = dict.fromkeys(n for part in parts.values() for n in part if n not in known)
            if not any(parts.values()) or (new and not self.run_without_fault(tick, list(new))):
                return
            with Workers(Runner(self.items, self._usual, self.programs), self.jobs) as pool:
                pool.run(self._tasks(parts, "end" if whole else "red"), done)
            first, size = False, size if whole else size * MORE

    def _tasks(self, parts: Mapping[str, Sequence[int]], until: Literal["red", "end"]) -> Iterator[Task]:
        """Those of the cases that are supported, as is known by now, or that the fault names with their parameters."""
        for name, part in parts.items():
            whole_names = set(self._nearest(self.caught[name].mutant))
            if cases := [case for case in part if case in self._supported or case in whole_names]:
                yield Task(name, tuple(cases), until)

    def run_faults(self, tick: Callable[[str], None], all_own_cases: bool = False) -> None:
        """Each fault against the checks, and each check that none of them proves against further faults.

        With `all_own_cases` a fault meets all cases of its own requirements, whatever they find.
        """

        def done(task: Task, results: list[Result]) -> None:
            self._note(task, results)
            caught = sum(1 for c in self.caught.values() if c.by)
            proven = sum(1 for c in self.checks.values() if c.proof)
            tick(f"{caught} of {len(self.caught)} faults caught, {proven} of {len(self.checks)} checks proven")

        with Workers(Runner(self.items, self._usual, self.programs), self.jobs) as pool:
            pool.run(self._own_cases(until="end" if all_own_cases else "red"), done)
            pool.run(self._other_cases(), done)
            mutants = [caught.mutant for caught in self.caught.values()]
            pool.run(FurtherFaults(self.checks, self._ids, mutants, self._of_function, self._seen).tasks(), done)

    def _note(self, task: Task, results: list[Result]) -> None:
        caught = self.caught[task.fault or ""]
        for result in itertools.takewhile(lambda _: caught.by is None, results):
            caught.cases += 1
            caught.seconds += result.seconds
            if result.red:
                caught.by, caught.verdict = self.items[result.case].nodeid, result.verdict
                caught.message, caught.program = result.message, result.program
                self._noticed[caught.mutant.family][self._check_of[result.case].name] += 1
        self._seen.ran[caught.mutant.name].update(result.case for result in results)
        for result in results:
            if result.red:
                check = self._check_of[result.case]
                if result.own:
                    check.proof = check.proof or caught.mutant.name
                    self._seen.failed[caught.mutant.name].add(check.name)
                else:
                    check.ended_by = check.ended_by or caught.mutant.name
                if result.place:
                    self.failed.setdefault(result.place, caught.mutant.name)

    def _in_turn(self, checks: Sequence[Check]) -> list[int]:
        """Cases of checks: the first of each, the second of each, and so on; unproven checks come first."""
        order: list[int] = []
        for proven in (False, True):
            lists = [check.supported for check in checks if bool(check.proof) == proven]
            order += [n for group in itertools.zip_longest(*lists) for n in group if n is not None]
        return order

    def _nearest(self, mutant: Mutant) -> list[int]:
        """Cases whose names hold what the mutant says they do, else the API function that it is in.

        A case that is named with its parameters counts also where the loader without faults does not support it.
        """
        if mutant.cases:
            cases = [n for part in mutant.parts for n, case in enumerate(self._ids) if part in case]
            return cases if mutant.cases.endswith("]") else [n for n in cases if n in self._supported]
        named = self._of_function.get(mutant.function.removeprefix("loader_"), set())
        return sorted(named & self._supported)

    def _like(self, mutant: Mutant) -> list[int]:
        """Cases of the mutant's function, or of none, of the checks that noticed most others of its family."""
        if not mutant.family:
            return []
        named = self._of_function.get(mutant.api_function, set())
        cases: list[int] = []
        for name, _ in self._noticed[mutant.family].most_common(LIKE):
            supported = self.checks[name].supported
            cases += [case for case in supported if case in named] or supported[:1]
        return cases

    def _next(self, mutant: Mutant, size: int) -> list[int]:
        """The cases, so many, that a fault meets next, of those that it has not met."""
        met = self._seen.ran[mutant.name]
        for cases in (self._own(mutant), self._others(mutant)):
            if left := [case for case in cases if case not in met]:
                return left[:size]
        return []

    def _own(self, mutant: Mutant) -> list[int]:
        """Cases that are likely to notice a fault: those of others like it, the nearest, those of its requirements."""
        requirements = set(mutant.requirements)
        own = self._in_turn([c for c in self.checks.values() if c.requirements & requirements])
        mine = set(own)
        near = sorted(self._nearest(mutant), key=lambda number: number not in mine)
        return list(dict.fromkeys(self._like(mutant) + near + own))

    def _others(self, mutant: Mutant) -> list[int]:
        """All other cases, those of the same sections first."""
        requirements = set(mutant.requirements)
        sections = sections_of(requirements)
        near: list[Check] = []
        far: list[Check] = []
        for check in self.checks.values():
            if not check.requirements & requirements:
                (far if sections.isdisjoint(sections_of(check.requirements)) else near).append(check)
        return self._in_turn(near) + self._in_turn(far)

    def _own_cases(self, until: Literal["red", "end"]) -> Iterator[Task]:
        for caught in self.caught.values():
            if cases := self._own(caught.mutant):
                yield Task(caught.mutant.name, tuple(cases), until)

    def _other_cases(self) -> Iterator[Task]:
        for caught in [caught for caught in self.caught.values() if not caught.by]:
            cases = self._others(caught.mutant)
            for start in range(0, len(cases), CHUNK):
                if caught.by:
                    break
                yield Task(caught.mutant.name, tuple(cases[start : start + CHUNK]))
