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

from harness.mutation.builder import Builder, Subject
from harness.mutation.cases import Against, Answer, Job, Lost, Pool, Suites, with_suites
from harness.mutation.operators import Mutant
from harness.mutation.results import ERROR, FOUND, LOST, SURVIVED, Fate, Results

AHEAD = 4  # mutants that are built before a worker is free
NEAREST = 12  # checks that are named for a survivor


class Order:
    """Which cases meet a mutant first: those that noticed mistakes near it, then those that noticed many, then all
    that reach its lines.
    """

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

    def reaching(self, mutant: Mutant) -> frozenset[int] | None:
        """The cases that reach a mutant's lines; None where nobody knows, as of a table of data."""
        reach = self._suites.reach
        if reach is None or not mutant.in_function:
            return None
        return reach.of(mutant.file, mutant.line, mutant.line + mutant.before.count("\n"))

    def cases_for(self, mutant: Mutant) -> tuple[int, ...]:
        first: dict[int, None] = {}
        word = mutant.function.lower()
        named = [n for n in self._all if word and word in self._suites.items[n].nodeid.lower()]
        for near, most in zip(self._near(mutant), (10, 10, 20), strict=True):
            first |= dict.fromkeys(number for number, _ in self._noticed[near].most_common(most))
        first |= dict.fromkeys(itertools.islice(named, 20))
        reaching, left_out = self.reaching(mutant), self._suites.unstable | self._suites.idle
        return tuple(
            n for n in first | dict.fromkeys(self._all) if n not in left_out and (reaching is None or n in reaching)
        )


@dataclass
class Campaign:
    """The settings of a run, and its result. `own`: only the checks' own red counts."""

    subject: Subject
    mutants: Sequence[Mutant]
    folders: Sequence[Path]  # of the suites
    expression: str = ""
    jobs: int = 2
    limit: float = 300.0  # seconds of a mutant
    most: int | None = None  # cases of a mutant
    own: bool = False
    tick: Callable[[str], None] = lambda _: None
    results: Results = field(default_factory=lambda: Results(None, {}))
    suites: Suites | None = None

    @property
    def fates(self) -> list[Fate]:
        return self.results.fates

    def run(self) -> None:
        with tempfile.TemporaryDirectory(prefix="clharness-mutants-", ignore_cleanup_errors=True) as folder:
            Path(folder).chmod(0o755)  # cases run the library as an ordinary user, too
            builder = Builder(self.subject, Path(folder))
            with_suites(builder.original, self.folders, self.expression, lambda suites: self._meet(suites, builder))

    def _meet(self, suites: Suites, builder: Builder) -> None:
        self.suites = suites
        suites.learn(builder.marking, builder.folder, self.results.reach, self.tick)
        order = Order(suites)
        built: dict[int, Mutant] = {}
        known = self.results.known()
        left = [mutant for mutant in self.mutants if mutant not in known]

        def jobs() -> Iterator[Job]:
            for key, (mutant, library, problem) in enumerate(_built(builder, left)):
                if problem:
                    self._note(Fate(mutant, problem))
                else:
                    built[key] = mutant
                    yield Job(key, library, order.cases_for(mutant)[: self.most], self.own)

        def done(job: Job, answer: Answer | Lost) -> None:
            mutant = built.pop(job.key)
            job.library.unlink(missing_ok=True)
            if isinstance(answer, Answer):
                suites.unstable.update(answer.unstable)
                if answer.case is not None:
                    order.noticed(mutant, answer.case)
            self._note(judged(mutant, answer, suites, order))

        Pool(Against(suites.items, suites.seconds).answer, self.jobs, self.limit, suites.memory).run(jobs(), done)

    def _note(self, fate: Fate) -> None:
        self.results.note(fate)
        states = Counter(known.state for known in self.fates)
        self.tick(f"{len(self.fates)} of {len(self.mutants)}: " + ", ".join(f"{n} {s}" for s, n in states.items()))


def judged(mutant: Mutant, answer: Answer | Lost, suites: Suites, order: Order) -> Fate:
    if isinstance(answer, Lost):
        return Fate(mutant, LOST, message=answer.reason)
    fate = Fate(mutant, FOUND, "", answer.verdict, answer.usually, answer.message, answer.own)
    fate.ran, fate.seconds = answer.ran, round(answer.seconds, 2)
    if answer.case is not None:
        fate.case = suites.items[answer.case].nodeid
        return fate
    fate.state, fate.message = ERROR if answer.error_only else SURVIVED, answer.error_only
    reaching = order.reaching(mutant)
    fate.reached_by = None if reaching is None else len(reaching)
    fate.near = list(dict.fromkeys(suites.check_of(n) for n in order.cases_for(mutant)))[:NEAREST] if reaching else []
    return fate


def _built(builder: Builder, mutants: Iterable[Mutant]) -> Iterator[tuple[Mutant, Path, str]]:
    """Mutants with their library, in their order; built a few ahead, while the suites run."""
    ahead: list[tuple[Mutant, Path, Future[str]]] = []
    with ThreadPoolExecutor(1) as executor:  # one: a mutant is a duplicate of those before it
        for number, mutant in enumerate(mutants):
            library = builder.folder / "mutants" / f"{number}" / builder.subject.name
            ahead.append((mutant, library, executor.submit(builder.build, mutant, library)))
            if len(ahead) >= AHEAD:
                first = ahead.pop(0)
                yield first[0], first[1], first[2].result()
        for mutant, library, result in ahead:
            yield mutant, library, result.result()
