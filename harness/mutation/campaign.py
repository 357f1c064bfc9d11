# SPDX-License-Identifier: Apache-2.0
"""A mutation run: builds mutants, lets the suites meet them, and keeps what became of each."""

from __future__ import annotations

import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.mutation.builder import Builder, Subject
from harness.mutation.cases import Against, Answer, Job, Level, Lost, Pool, Suites, with_suites
from harness.mutation.operators import Mutant
from harness.mutation.results import ERROR, FILE, FOUND, LOST, STRICT, SURVIVED, Fate, Results

AHEAD = 4  # mutants that are built before a worker is free
NEAREST = 12  # checks that are named for a survivor


class Vocabulary:
    """The words in the names of cases, and in the sources."""

    def __init__(self, names: Mapping[int, str], texts: Mapping[Path, bytes]) -> None:
        self._texts = {path: text.decode(errors="replace").splitlines() for path, text in texts.items()}
        self._words = {number: _words(name) for number, name in names.items()}
        self._frequency = Counter(word for words in self._words.values() for word in words)

    def by_likeness(self, cases: Sequence[int], mutant: Mutant) -> list[int]:
        """Those first whose names share rare words with the lines around a mistake, and with its function."""
        lines = self._texts.get(mutant.file, [])[max(mutant.line - 4, 0) : mutant.line + 3]
        around = _words("\n".join([mutant.function, *lines]))

        def likeness(number: int) -> float:
            return sum(1 / self._frequency[word] for word in self._words[number] & around)

        return sorted(cases, key=likeness, reverse=True)


def _words(text: str) -> set[str]:
    """Words of three letters and more, in the parts of names, too."""
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]{2,}|[A-Z]{3,}", text)}


class Order:
    """Which cases meet a mutant first: those that noticed mistakes near it, then those that noticed many, then all
    that reach its lines.
    """

    def __init__(self, suites: Suites, texts: Mapping[Path, bytes]) -> None:
        self._suites = suites
        self._all = suites.usable()
        self._noticed: dict[object, Counter[int]] = defaultdict(Counter)
        self._vocabulary = Vocabulary({n: suites.items[n].nodeid for n in self._all}, texts)

    def noticed(self, mutant: Mutant, number: int) -> None:
        """Takes note that the case of this number noticed a mutant: it is tried early on mutants nearby."""
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
        return reach.of(mutant.file, mutant.switch or mutant.line, mutant.line + mutant.before.count("\n"))

    def cases_for(self, mutant: Mutant) -> tuple[int, ...]:
        """The numbers of the cases for a mutant, the likeliest to notice it first."""
        first: dict[int, None] = {}
        for near, most in zip(self._near(mutant), (10, 10, 20), strict=True):
            first |= dict.fromkeys(number for number, _ in self._noticed[near].most_common(most))
        reaching, left_out = self.reaching(mutant), self._suites.unstable | self._suites.idle
        usable = [n for n in self._all if n not in left_out and (reaching is None or n in reaching)]
        near_first = {n: None for n in first if n in usable}
        # In turn: what is named like the place of the mistake, and what is quick.
        in_turn = (n for pair in zip(self._vocabulary.by_likeness(usable, mutant), usable, strict=True) for n in pair)
        return tuple(near_first | dict.fromkeys(in_turn))


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
    per_check: int | None = None  # cases of a check
    own: bool = False
    tick: Callable[[str], None] = lambda _: None
    results: Results = field(default_factory=lambda: Results(None, {}))
    suites: Suites | None = None

    @property
    def fates(self) -> list[Fate]:
        """What became of each mutant, in the order of their ends."""
        return self.results.fates

    def run(self) -> None:
        """Runs the suites on the unchanged library, then on each mutant that has no fate yet."""
        with tempfile.TemporaryDirectory(prefix="clharness-mutants-", ignore_cleanup_errors=True) as folder:
            Path(folder).chmod(0o755)  # cases run the library as an ordinary user, too
            builder = Builder(self.subject, Path(folder))
            with_suites(
                builder.original,
                self.folders,
                self.expression,
                self.per_check,
                lambda suites: self._meet(suites, builder),
            )

    def _meet(self, suites: Suites, builder: Builder) -> None:
        self.suites = suites
        suites.learn(builder.marking, builder.folder / "marking", self.results.reach, self.tick)
        order = Order(suites, {unit.source: unit.text for unit in self.subject.units})
        built: dict[int, Mutant] = {}
        late: list[Job] = []
        known = self.results.known()
        left = [mutant for mutant in self.mutants if mutant not in known]

        def jobs() -> Iterator[Job]:
            for key, (mutant, library, problem) in enumerate(_built(builder, left)):
                if problem:
                    self._note(Fate(mutant, problem))
                else:
                    built[key] = mutant
                    yield Job(key, library, order.cases_for(mutant)[: self.most], self.own)

        def again() -> Iterator[Job]:
            while late:
                job = late.pop(0)
                self.tick(f"{len(late) + 1} out of time: each is tried again alone, by the time that it computes")
                yield replace(job, cases=order.cases_for(built[job.key])[: self.most], last=True)

        def done(job: Job, answer: Answer | Lost) -> None:
            if isinstance(answer, Lost) and answer.by_clock and not job.last:
                late.append(job)
                return
            mutant = built.pop(job.key)
            job.library.unlink(missing_ok=True)
            if isinstance(answer, Answer):
                suites.unstable.update(answer.unstable)
                if answer.case is not None and (answer.level == Level.RED or not self.own):
                    order.noticed(mutant, answer.case)
            self._note(judged(mutant, answer, suites, order, self.own))

        answer = Against(suites.items, suites.seconds).answer
        Pool(answer, self.jobs, self.limit, suites.memory).run(jobs(), done)
        if late:
            Pool(answer, 1, self.limit, suites.memory, by_processor=True).run(again(), done)

    def _note(self, fate: Fate) -> None:
        self.results.note(fate)
        states = Counter(known.state for known in self.fates)
        self.tick(f"{len(self.fates)} of {len(self.mutants)}: " + ", ".join(f"{n} {s}" for s, n in states.items()))


def judged(mutant: Mutant, answer: Answer | Lost, suites: Suites, order: Order, own: bool) -> Fate:
    """What became of a mutant, by the answer of its process: lost, found, survived, or trouble of the harness alone;
    with `own`, what is not red by itself is not found.
    """
    if isinstance(answer, Lost):
        return Fate(mutant, LOST, message=answer.reason)
    red = answer.level == Level.RED
    fate = Fate(mutant, FOUND, "", answer.verdict, answer.usually, answer.message, red)
    fate.ran, fate.seconds = answer.ran, round(answer.seconds, 2)
    if answer.case is not None:
        fate.case = suites.items[answer.case].nodeid
    if answer.case is not None and (red or not own):
        return fate
    weaker = {Level.STRICT: STRICT, Level.FILE: FILE}
    fate.state = ERROR if answer.error_only and answer.level < Level.STRICT else weaker.get(answer.level, SURVIVED)
    if fate.state in (ERROR, SURVIVED):
        fate.case, fate.message = "", answer.error_only
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
