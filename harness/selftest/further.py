# SPDX-License-Identifier: Apache-2.0
"""Which faults a check meets that none has proven yet, in an order in which few have to.

A round goes further from the check than the one before, or takes more of its cases; a check that is proven leaves.
What is left after the last round met every fault, those of its own requirements with all of its cases.
"""

from __future__ import annotations

import itertools
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Literal

from harness.selftest.mutants import Mutant
from harness.selftest.worker import Task

FEW = 6  # cases of a check that meet a fault of other requirements, at least
OWN, SECTION, ANY = range(3)  # distances: faults of the check's requirements, of their sections, and all others
Share = Literal["named", "one", "few", "all"]  # of a check's cases

ROUNDS: tuple[tuple[int, Share], ...] = (
    (OWN, "named"),
    (SECTION, "named"),
    (ANY, "named"),
    (OWN, "one"),
    (OWN, "few"),
    (SECTION, "one"),
    (ANY, "one"),
    (OWN, "all"),
    (SECTION, "few"),
    (ANY, "few"),
)
# What proves checks that no fault can which is chosen when the loader runs: tests of the project's own.
BY_TESTS = {
    "suites/dispatch/test_vendor_functions.py::test_semaphore_and_command_buffer_functions_are_not_exported": (
        "tests/test_suites_exports.py"
    )
}
AT_ONCE = 16  # checks that meet faults in turn: what a task finds out is known before the next of its check, mostly
_TWIN = "_through_layers"  # how the name of a check ends that asks through layers what another asks without
_GOLDEN = 0.618  # its multiples are spread evenly, however many there are


@dataclass
class Check:
    """A test function: its cases, and the fault with which an assertion of its own failed, or else what proves it."""

    name: str
    cases: list[int] = field(default_factory=list)
    requirements: set[str] = field(default_factory=set)
    proof: str | None = None
    ended_by: str | None = None  # a fault with which a case only crashed, hung, or could not make a call
    supported: list[int] = field(default_factory=list)  # cases that this loader supports on this machine

    @property
    def applicable(self) -> bool:
        """Whether some case is supported here."""
        return bool(self.supported)


@dataclass
class Seen:
    """What is known of the faults so far, by their names."""

    ran: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))  # cases that met the fault
    failed: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))  # checks that it made fail


class FurtherFaults:
    """Tasks for checks without proof. `of_function` holds the cases that have an API function in their IDs."""

    def __init__(
        self,
        checks: Mapping[str, Check],
        ids: Sequence[str],
        mutants: Sequence[Mutant],
        of_function: Mapping[str, Set[int]],
        seen: Seen,
    ) -> None:
        self._checks = checks
        self._ids = ids
        self._mutants = mutants
        self._of_function = of_function
        self._naming = frozenset().union(*of_function.values())
        self._seen = seen

    def tasks(self) -> Iterator[Task]:
        """One fault and one check each, as long as the check is not proven."""
        for distance, share in ROUNDS:
            left = (check for check in self._checks.values() if check.applicable and not check.proof)
            rounds = (self._round(check, distance, share) for check in left)
            open_rounds = deque(itertools.islice(rounds, AT_ONCE))
            while open_rounds:
                tasks = open_rounds.popleft()
                task = next(tasks, None)
                if task:
                    yield task
                open_rounds.extend([tasks] if task else itertools.islice(rounds, 1))

    def _round(self, check: Check, distance: int, share: Share) -> Iterator[Task]:
        families: set[str] = set()
        for number, mutant in enumerate(self._candidates(check, distance)):
            if check.proof:
                return
            # The functions of a family are alike: one has to do, but for all cases of the check's own requirements.
            if mutant.family in families and share != "all":
                continue
            cases = self._chosen(check, mutant, share, number)
            if mutant.family and cases:
                families.add(mutant.family)
            if cases := [case for case in cases if case not in self._seen.ran[mutant.name]]:
                yield Task(mutant.name, tuple(cases), until="own")

    def _candidates(self, check: Check, distance: int) -> list[Mutant]:
        """The faults at a distance: first those that the check's twin noticed, then those that most checks did."""
        name = check.name
        twin = name.removesuffix(_TWIN) if name.endswith(_TWIN) else name + _TWIN

        def rank(mutant: Mutant) -> tuple[bool, int]:
            failed = self._seen.failed.get(mutant.name, ())
            return twin not in failed, -len(failed)

        sections = sections_of(check.requirements)

        def is_at(mutant: Mutant) -> bool:
            if not check.requirements.isdisjoint(mutant.requirements):
                return distance == OWN
            return distance == (ANY if sections.isdisjoint(sections_of(mutant.requirements)) else SECTION)

        return sorted(filter(is_at, self._mutants), key=rank)

    def _chosen(self, check: Check, mutant: Mutant, share: Share, number: int) -> list[int]:
        """The cases of a check that meet its candidate of a number, which are others for each where one has to do.

        Of a family's fault they are those that name its function, and none where they name only others.
        """
        cases = check.supported
        if share == "all":
            return cases
        if share == "named":
            cases = [] if mutant.family else [case for case in cases if mutant.names(self._ids[case])]
        if mutant.family and share == "one":
            named = self._of_function.get(mutant.api_function, frozenset())
            cases = [case for case in cases if case in named or case not in self._naming]
        if share == "one" and cases:
            return [cases[int(number * _GOLDEN % 1 * len(cases))]]
        return cases[:: max(1, len(cases) // FEW)]


def sections_of(requirements: Set[str] | Sequence[str]) -> set[str]:
    """The sections of the catalogue that requirements are in: DISC-LNX of DISC-LNX-014."""
    return {requirement.rpartition("-")[0] for requirement in requirements}
