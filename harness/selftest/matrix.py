# SPDX-License-Identifier: Apache-2.0
"""Which check catches which fault, found in as few runs as possible.

First the cases run without fault: all must be green, and their times and outcomes are what later runs are compared
with. Then each fault meets the cases of its own requirements, the nearest first, then, where they stay green, all the
others; the first red case ends it. Last, checks that no fault has proven yet meet further faults.

A fault is caught by whatever is red. A check is proven by its own assertion only: what is red because the process
crashed would be red without a single assertion.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import pytest

from harness.run.cases import CASE
from harness.selftest.mutants import Mutant
from harness.selftest.place import Place
from harness.selftest.worker import Result, Runner, Task, Usual, Workers

CHUNK = 40  # cases of a task, where a fault meets all of them
FEW = 6  # cases of a check that meet a fault of other requirements


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


@dataclass
class Check:
    """A test function: its cases, and the fault with which an assertion of its own failed."""

    name: str
    cases: list[int] = field(default_factory=list)
    requirements: set[str] = field(default_factory=set)
    proof: str | None = None
    ended_by: str | None = None  # a fault with which a case only crashed, hung, or could not make a call
    applicable: bool = False  # some case is supported here
    met: set[str] = field(default_factory=set)  # faults that all of its cases ran against


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
        for number, item in enumerate(items):
            name = item.nodeid.partition("[")[0]
            check = self.checks.setdefault(name, Check(name))
            check.cases.append(number)
            check.requirements |= set(item.stash[CASE].requirements)
            self._check_of.append(check)
            for function in re.findall(r"(?<![A-Za-z0-9])cl[A-Z][A-Za-z0-9]*", item.nodeid):
                self._of_function[function].add(number)
        self._usual = Usual()
        self._supported: set[int] = set()

    def add(self, other: Matrix) -> None:
        """Takes over what another matrix, of further cases, found out about some of the faults."""
        for name, caught in other.caught.items():
            caught.cases += self.caught[name].cases
            caught.seconds += self.caught[name].seconds
        self.caught |= other.caught
        self.checks |= other.checks
        self.items = other.items
        self.red_without_fault += other.red_without_fault

    # --- without fault ---

    def run_without_fault(self, tick: Callable[[str], None]) -> bool:
        """Whether all cases are green."""
        numbers = range(len(self.items))
        tasks = (Task(None, tuple(numbers[start::200]), until="end") for start in range(min(200, len(numbers))))
        outcomes: dict[int, str | None] = {}
        seconds: dict[int, float] = {}

        def done(_: Task, results: list[Result]) -> None:
            for result in results:
                outcomes[result.case] = result.outcome
                seconds[result.case] = result.seconds
                if result.red:
                    self.red_without_fault.append(result)
                if result.verdict != "unsupported":
                    self._supported.add(result.case)
                    self._check_of[result.case].applicable = True
            tick(f"without fault: {len(seconds)} of {len(self.items)} cases")

        with Workers(Runner(self.items, Usual()), self.jobs) as pool:
            pool.run(tasks, done)
        self._usual = Usual(outcomes, seconds)
        return not self.red_without_fault

    # --- with faults ---

    def run_faults(self, tick: Callable[[str], None], prove_checks: bool, all_own_cases: bool = False) -> None:
        """Each fault against the checks; with `prove_checks` each check against further faults, too.

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
            if prove_checks:
                pool.run(self._further_faults(), done)

    def _note(self, task: Task, results: list[Result]) -> None:
        caught = self.caught[task.fault or ""]
        for result in itertools.takewhile(lambda _: caught.by is None, results):
            caught.cases += 1
            caught.seconds += result.seconds
            if result.red:
                caught.by, caught.verdict = self.items[result.case].nodeid, result.verdict
                caught.message, caught.program = result.message, result.program
        ran = {result.case for result in results}
        for check in {id(c): c for c in (self._check_of[n] for n in ran)}.values():
            if ran.issuperset(self._cases(check)):
                check.met.add(caught.mutant.name)
        for result in results:
            if result.red:
                check = self._check_of[result.case]
                if result.own:
                    check.proof = check.proof or caught.mutant.name
                else:
                    check.ended_by = check.ended_by or caught.mutant.name
                if result.place:
                    self.failed.setdefault(result.place, caught.mutant.name)

    def _cases(self, check: Check) -> list[int]:
        """Those that are supported on this machine by this loader."""
        return [number for number in check.cases if number in self._supported]

    def _in_turn(self, checks: Sequence[Check]) -> list[int]:
        """Cases of checks: the first of each, the second of each, and so on; unproven checks come first."""
        order: list[int] = []
        for proven in (False, True):
            lists = [self._cases(check) for check in checks if bool(check.proof) == proven]
            order += [n for group in itertools.zip_longest(*lists) for n in group if n is not None]
        return order

    def _nearest(self, mutant: Mutant) -> list[int]:
        """Cases whose names hold what the mutant says they do, else the API function that it is in.

        A case that is named with its parameters counts also where the loader without faults does not support it.
        """
        if mutant.cases:
            cases = [number for number, item in enumerate(self.items) if mutant.cases in item.nodeid]
            return cases if mutant.cases.endswith("]") else [n for n in cases if n in self._supported]
        named = self._of_function.get(mutant.function.removeprefix("loader_"), set())
        return sorted(named & self._supported)

    def _own_cases(self, until: Literal["red", "end"]) -> Iterator[Task]:
        for caught in self.caught.values():
            requirements = set(caught.mutant.requirements)
            own = self._in_turn([c for c in self.checks.values() if c.requirements & requirements])
            mine = set(own)
            near = sorted(self._nearest(caught.mutant), key=lambda number: number not in mine)
            if cases := list(dict.fromkeys(near + own)):
                yield Task(caught.mutant.name, tuple(cases), until)

    def _other_cases(self) -> Iterator[Task]:
        for caught in self.caught.values():
            requirements = set(caught.mutant.requirements)
            sections = {r.rpartition("-")[0] for r in requirements}
            near: list[Check] = []
            far: list[Check] = []
            for check in self.checks.values():
                if not check.requirements & requirements:
                    related = any(r.rpartition("-")[0] in sections for r in check.requirements)
                    (near if related else far).append(check)
            cases = self._in_turn(near) + self._in_turn(far)
            for start in range(0, len(cases), CHUNK):
                if caught.by:
                    break
                yield Task(caught.mutant.name, tuple(cases[start : start + CHUNK]))

    def _further_faults(self) -> Iterator[Task]:
        """Faults for checks without proof: those of their requirements, of their section, and then any.

        Of a family of faults one has to do where the requirement is another: its functions are alike.
        """
        tried: set[tuple[str, str]] = set()
        by_distance: dict[int, list[tuple[Check, Mutant]]] = defaultdict(list)
        for check in self.checks.values():
            sections = {r.rpartition("-")[0] for r in check.requirements}
            for caught in self.caught.values():
                requirements = caught.mutant.requirements
                same = any(r.rpartition("-")[0] in sections for r in requirements)
                distance = 0 if check.requirements & set(requirements) else 1 if same else 2
                by_distance[distance].append((check, caught.mutant))
        for distance in sorted(by_distance):
            for check, mutant in by_distance[distance]:
                if check.proof or not check.applicable or mutant.name in check.met:
                    continue
                if distance and mutant.family and (check.name, mutant.family) in tried:
                    continue
                tried.add((check.name, mutant.family))
                cases = self._cases(check)
                step = 1 if distance == 0 else max(1, len(cases) // FEW)
                yield Task(mutant.name, tuple(cases[::step]), until="own")
