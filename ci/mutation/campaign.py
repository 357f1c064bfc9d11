# SPDX-License-Identifier: Apache-2.0
"""A mutation run: builds mutants, lets the suites meet them, and keeps what became of each."""

from __future__ import annotations

import itertools
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from ci.mutation.builder import Builder, Subject
from ci.mutation.cases import Against, Answer, Job, Lost, Pool, Suites, with_suites
from ci.mutation.operators import Mutant

AHEAD = 4  # mutants that are built before a worker is free
# States of a mutant. Those above count: they differ from the original, in code at least.
FOUND, SURVIVED, ERROR, LOST = "found", "survived", "error", "lost"
NOT_COUNTED = ("no compile", "equivalent", "duplicate")


@dataclass
class Fate:
    """What became of a mutant."""

    mutant: Mutant
    state: str
    case: str = ""
    answer: Answer = field(default_factory=Answer)

    @property
    def counts(self) -> bool:
        return self.state not in NOT_COUNTED


class Order:
    """Which cases meet a mutant first: those that noticed mistakes near it, then those that noticed many, then all."""

    def __init__(self, suites: Suites) -> None:
        self._suites = suites
        self._all = suites.usable()
        self._noticed: dict[object, Counter[int]] = defaultdict(Counter)

    def noticed(self, mutant: Mutant, number: int) -> None:
        for near in self._near(mutant):
            self._noticed[near][number] += 1

    @staticmethod
    def _near(mutant: Mutant) -> tuple[object, ...]:
        return (mutant.file, mutant.function), mutant.file, None

    def cases_for(self, mutant: Mutant) -> tuple[int, ...]:
        first: dict[int, None] = {}
        for near, most in zip(self._near(mutant), (10, 10, 20), strict=True):
            first |= dict.fromkeys(number for number, _ in self._noticed[near].most_common(most))
        word = mutant.function.lower()
        named = [n for n in self._all if word and word in self._suites.items[n].nodeid.lower()]
        first |= dict.fromkeys(itertools.islice(named, 20))
        unstable = self._suites.unstable
        return tuple(n for n in (first | dict.fromkeys(self._all)) if n not in unstable)


@dataclass
class Campaign:
    """The settings of a run, and its result."""

    subject: Subject
    mutants: Sequence[Mutant]
    folders: Sequence[Path]  # of the suites
    expression: str = ""
    jobs: int = 2
    limit: float = 300.0  # seconds of a mutant
    tick: Callable[[str], None] = lambda _: None
    fates: list[Fate] = field(default_factory=list)
    suites: Suites | None = None

    def run(self) -> None:
        with tempfile.TemporaryDirectory(prefix="clharness-mutants-", ignore_cleanup_errors=True) as folder:
            Path(folder).chmod(0o755)  # cases run the library as an ordinary user, too
            builder = Builder(self.subject, Path(folder))
            with_suites(builder.original, self.folders, self.expression, lambda suites: self._meet(suites, builder))

    def _meet(self, suites: Suites, builder: Builder) -> None:
        self.suites = suites
        suites.learn(self.jobs, self.tick)
        order = Order(suites)
        built: dict[int, Mutant] = {}

        def jobs() -> Iterator[Job]:
            for key, (mutant, library, problem) in enumerate(_built(builder, self.mutants)):
                if problem:
                    self._note(Fate(mutant, problem))
                else:
                    built[key] = mutant
                    yield Job(key, library, order.cases_for(mutant))

        def done(job: Job, answer: Answer | Lost) -> None:
            mutant = built.pop(job.key)
            job.library.unlink(missing_ok=True)
            if isinstance(answer, Lost):
                self._note(Fate(mutant, LOST, answer=Answer(message=answer.reason)))
                return
            suites.unstable.update(answer.unstable)
            if answer.case is not None:
                order.noticed(mutant, answer.case)
            self._note(judged(mutant, answer, suites))

        pool = Pool(Against(suites.items, suites.usual).answer, self.jobs, self.limit, suites.memory)
        pool.run(jobs(), done)

    def _note(self, fate: Fate) -> None:
        self.fates.append(fate)
        states = Counter(known.state for known in self.fates)
        self.tick(f"{len(self.fates)} of {len(self.mutants)}: " + ", ".join(f"{n} {s}" for s, n in states.items()))


def judged(mutant: Mutant, answer: Answer, suites: Suites) -> Fate:
    if answer.case is not None:
        return Fate(mutant, FOUND, suites.items[answer.case].nodeid, answer)
    return Fate(mutant, ERROR if answer.error_only else SURVIVED, answer=answer)


def _built(builder: Builder, mutants: Iterable[Mutant]) -> Iterator[tuple[Mutant, Path, str]]:
    """Mutants with their library, in their order; built a few ahead, while the suites run."""
    ahead: list[tuple[Mutant, Path, Future[str]]] = []
    with ThreadPoolExecutor(1) as executor:  # one: a mutant is a duplicate of those before it
        for number, mutant in enumerate(mutants):
            library = builder.folder / "mutants" / f"{number}" / "libOpenCL.so.1"
            ahead.append((mutant, library, executor.submit(builder.build, mutant, library)))
            if len(ahead) >= AHEAD:
                first = ahead.pop(0)
                yield first[0], first[1], first[2].result()
        for mutant, library, result in ahead:
            yield mutant, library, result.result()
