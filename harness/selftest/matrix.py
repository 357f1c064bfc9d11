"""Which check catches which fault, found in as few runs as possible.

First the cases run without fault: all must be green, and their times and outcomes are what later runs are compared
with. Then each fault meets the cases of its own requirements, then, where they stay green, all the others; the first
red case ends it. Last, checks that have not been red yet meet further faults.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import pytest

from harness.plugin import CASE
from harness.reference_loader.faults import Fault
from harness.selftest.worker import Pool, Result, Runner, Task, Usual

CHUNK = 40  # cases of a task, where a fault meets all of them
FEW = 6  # cases of a check that meet a fault of other requirements


@dataclass
class Caught:
    """How a fault fared."""

    fault: Fault
    by: str | None = None  # ID of the case that was red
    verdict: str = ""
    message: str = ""
    cases: int = 0  # that ran
    seconds: float = 0.0


@dataclass
class Check:
    """A test function: its cases, and the fault that turned one of them red."""

    name: str
    cases: list[int] = field(default_factory=list)
    requirements: set[str] = field(default_factory=set)
    proof: str | None = None
    applicable: bool = False  # some case is supported here
    met: set[str] = field(default_factory=set)  # faults that all of its cases ran against


class Matrix:
    """The cases, the faults, and what is known of them so far."""

    def __init__(self, items: Sequence[pytest.Item], faults: Sequence[Fault], jobs: int) -> None:
        self.items = items
        self.jobs = jobs
        self.caught = {fault.name: Caught(fault) for fault in faults}
        self.red_without_fault: list[Result] = []
        self.checks: dict[str, Check] = {}
        self._check_of: list[Check] = []
        for number, item in enumerate(items):
            name = item.nodeid.partition("[")[0]
            check = self.checks.setdefault(name, Check(name))
            check.cases.append(number)
            check.requirements |= set(item.stash[CASE].requirements)
            self._check_of.append(check)
        self._usual = Usual()
        self._supported: set[int] = set()

    # --- without fault ---

    def run_without_fault(self, tick: Callable[[str], None]) -> bool:
        """Whether all cases are green."""
        numbers = range(len(self.items))
        tasks = (Task(None, tuple(numbers[start::200]), first_red=False) for start in range(min(200, len(numbers))))
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

        with Pool(Runner(self.items, Usual()), self.jobs) as pool:
            pool.run(tasks, done)
        self._usual = Usual(outcomes, seconds)
        return not self.red_without_fault

    # --- with faults ---

    def run_faults(self, tick: Callable[[str], None], prove_checks: bool) -> None:
        """Each fault against the checks; with `prove_checks` each check against further faults, too."""

        def done(task: Task, results: list[Result]) -> None:
            self._note(task, results)
            caught = sum(1 for c in self.caught.values() if c.by)
            proven = sum(1 for c in self.checks.values() if c.proof)
            tick(f"{caught} of {len(self.caught)} faults caught, {proven} of {len(self.checks)} checks proven")

        with Pool(Runner(self.items, self._usual), self.jobs) as pool:
            pool.run(self._own_cases(), done)
            pool.run(self._other_cases(), done)
            if prove_checks:
                pool.run(self._further_faults(), done)

    def _note(self, task: Task, results: list[Result]) -> None:
        caught = self.caught[task.fault or ""]
        caught.cases += len(results)
        caught.seconds += sum(result.seconds for result in results)
        ran = {result.case for result in results}
        for check in {id(c): c for c in (self._check_of[n] for n in ran)}.values():
            if ran.issuperset(self._cases(check)):
                check.met.add(caught.fault.name)
        for result in results:
            if result.red:
                check = self._check_of[result.case]
                check.proof = check.proof or caught.fault.name
                if caught.by is None:
                    caught.by = self.items[result.case].nodeid
                    caught.verdict, caught.message = result.verdict, result.message

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

    def _own_cases(self) -> Iterator[Task]:
        for caught in self.caught.values():
            own = [c for c in self.checks.values() if c.requirements & set(caught.fault.requirements)]
            if cases := self._in_turn(own):
                yield Task(caught.fault.name, tuple(cases))

    def _other_cases(self) -> Iterator[Task]:
        for caught in self.caught.values():
            wanted = set(caught.fault.requirements)
            sections = {r.rpartition("-")[0] for r in wanted}
            near: list[Check] = []
            far: list[Check] = []
            for check in self.checks.values():
                if not check.requirements & wanted:
                    related = any(r.rpartition("-")[0] in sections for r in check.requirements)
                    (near if related else far).append(check)
            cases = self._in_turn(near) + self._in_turn(far)
            for start in range(0, len(cases), CHUNK):
                if caught.by:
                    break
                yield Task(caught.fault.name, tuple(cases[start : start + CHUNK]))

    def _further_faults(self) -> Iterator[Task]:
        """Faults for checks without proof: those of their requirements, of their section, and then any."""
        by_distance: dict[int, list[tuple[Check, Fault]]] = defaultdict(list)
        for check in self.checks.values():
            sections = {r.rpartition("-")[0] for r in check.requirements}
            for caught in self.caught.values():
                wanted = caught.fault.requirements
                same = any(r.rpartition("-")[0] in sections for r in wanted)
                distance = 0 if check.requirements & set(wanted) else 1 if same else 2
                by_distance[distance].append((check, caught.fault))
        for distance in sorted(by_distance):
            for check, fault in by_distance[distance]:
                if check.proof or not check.applicable or fault.name in check.met:
                    continue
                cases = self._cases(check)
                step = 1 if distance == 0 else max(1, len(cases) // FEW)
                yield Task(fault.name, tuple(cases[::step]))
