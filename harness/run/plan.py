# SPDX-License-Identifier: Apache-2.0
"""How often, in which order and which part of the selected cases a run runs; and what comes of their runs.

A case that runs several times has one record all the same: that of its worst run, with what each run did.
"""

from __future__ import annotations

import argparse
import dataclasses
import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.report import CaseResult, Header
from harness.run.turns import Turns

_SEEDS = 2**32
_MOST_SHARDS = 10_000


@dataclass(frozen=True)
class Plan:
    """What the options of the command say."""

    repeat: int | None = 1  # None: until a case is red
    until_red: bool = False
    seed: int | None = None  # of a random order
    shard: tuple[int, int] | None = None  # which, from 1, and of how many
    resumed: Path | None = None  # records of a run that was cut short
    rerun: Path | None = None  # records of a run whose red cases are to run again
    most_red: int | None = None  # no further case starts after so many that are not as expected

    @property
    def several(self) -> bool:
        """Whether a case may run more than once."""
        return self.repeat != 1

    @property
    def is_part(self) -> bool:
        """Whether not all of the selected cases run."""
        return bool(self.shard or self.rerun)

    def part(self, cases: Sequence[str]) -> list[int]:
        """The numbers of those of the cases, given by their IDs, that this shard runs.

        It depends on the selection alone: not on the order of its collection, nor on the seed.
        """
        if self.shard is None:
            return list(range(len(cases)))
        index, of = self.shard
        return sorted(sorted(range(len(cases)), key=lambda number: cases[number])[index - 1 :: of])

    def in_header(self, header: Header) -> Header:
        """The header with what the plan says."""
        shard = {"index": self.shard[0], "of": self.shard[1]} if self.shard else None
        return dataclasses.replace(header, shard=shard, repeat=self.repeat, random_seed=self.seed)


ONCE = Plan()


class Rounds:
    """The runs of the cases of a plan: each round runs every case once.

    `file_of` gives the file of a case; without it, and in random order, all count as of one. `earlier` has what cases
    did in an earlier run, by their number; that is one of their runs.
    """

    def __init__(
        self,
        plan: Plan,
        numbers: Sequence[int],
        file_of: Callable[[int], str] = lambda _: "",
        earlier: dict[int, CaseResult] | None = None,
    ) -> None:
        self._plan = plan
        self._numbers = list(numbers)
        self._file_of = file_of
        self._random = random.Random(plan.seed)
        self._earlier = earlier or {}
        self._runs: dict[int, list[CaseResult]] = defaultdict(list)
        self._running: set[int] = set()
        self._red: set[int] = set()
        self._begun = 0  # rounds
        self._turns = Turns(())

    @property
    def stopped(self) -> bool:
        """Whether so many cases were not as expected that the plan starts no further one."""
        return self._plan.most_red is not None and len(self._red) >= self._plan.most_red

    def next_for(self, place: int) -> int | None:
        """The number of the next case for the worker of a place; None at the end, and while those left still run."""
        if not self._turns and (self._plan.repeat is None or self._begun < self._plan.repeat):
            self._turns = self._round()
            self._begun += 1
        if self.stopped or (self._begun > 1 and self._plan.until_red and self._red):
            return None
        number = self._turns.take(place, self._running)  # none that runs: its sandbox is kept in one place
        if number is not None:
            self._running.add(number)
        return number

    def _round(self) -> Turns:
        if self._plan.seed is None:
            return Turns((number, self._file_of(number)) for number in self._numbers)
        order = list(self._numbers)
        self._random.shuffle(order)
        return Turns((number, "") for number in order)

    def take(self, number: int, result: CaseResult) -> int:
        """Takes the result of a run; gives how many the case has had."""
        self._running.discard(number)
        self._runs[number].append(result)
        if result.counts:
            self._red.add(number)
        return len(self._runs[number])

    def is_over(self, number: int) -> bool:
        """Whether a case has had all its runs."""
        return len(self._runs[number]) == self._plan.repeat

    @property
    def is_whole(self) -> bool:
        """Whether every case has had a run."""
        return all(self._runs[number] for number in self._numbers)

    def ended(self) -> list[int]:
        """The cases that had some of their runs, in the order of the plan: those that the end of the run cut short."""
        return [number for number in self._numbers if self._runs[number] and not self.is_over(number)]

    def result(self, number: int) -> CaseResult:
        """What the runs of a case come to; still to be judged where they are several."""
        earlier = [self._earlier[number]] if number in self._earlier else []
        return combined([*earlier, *self._runs[number]])


def combined(runs: Sequence[CaseResult]) -> CaseResult:
    """One result for all runs of a case: the last of the worst ones, whose sandbox is the one that was kept."""
    if len(runs) == 1:
        return runs[0]
    worst = max(enumerate(runs), key=lambda run: (_badness(run[1]), run[0]))[1]
    return dataclasses.replace(
        worst,
        number=runs[-1].number,
        runs=tuple(text for run in runs for text in (run.runs or (_text(run),))),
        duration=round(sum(run.duration for run in runs), 4),
    )


def _badness(run: CaseResult) -> int:
    red = run.verdict not in ("pass", "unsupported")
    return 4 * (run.counts and run.verdict != "error") + 2 * red + run.counts


def _text(run: CaseResult) -> str:
    return run.verdict if run.outcome is None else f"{run.verdict}: {run.outcome}"


# --- options ---


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """For every command that runs suites against a subject."""
    parser.add_argument("--repeat", metavar="N", type=_count, help="run each case N times; what differs is flaky")
    parser.add_argument(
        "--until-red", action="store_true", help="repeat until a case is not as expected, at most --repeat times"
    )
    parser.add_argument(
        "--random-order",
        metavar="SEED",
        nargs="?",
        type=_seed,
        const=-1,
        help="run the cases in random order, another one in each repeat; default: a new seed, which is printed",
    )
    stop = parser.add_mutually_exclusive_group()
    stop.add_argument("-x", dest="maxfail", action="store_const", const=1, help="stop at the first unexpected case")
    stop.add_argument("--maxfail", metavar="N", type=_count_of_cases, help="stop after N unexpected cases")
    parser.add_argument("--shard", metavar="I/N", type=_shard, help="run only the I-th of N parts of the cases")
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--resume", metavar="FILE", help="go on from the records of a run that was cut short (its --json FILE)"
    )
    which.add_argument(
        "--rerun-failed", metavar="FILE", help="run the cases again that made that run fail; what differs is flaky"
    )


def from_arguments(args: argparse.Namespace) -> Plan:
    """The plan that the options ask for."""
    seed = random.SystemRandom().randrange(_SEEDS) if args.random_order == -1 else args.random_order
    return Plan(
        args.repeat or (None if args.until_red else 1),
        args.until_red,
        seed,
        args.shard,
        Path(args.resume).absolute() if args.resume else None,
        Path(args.rerun_failed).absolute() if args.rerun_failed else None,
        args.maxfail,
    )


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of runs; give 1 or more")
    return int(text)


def _count_of_cases(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of cases; give 1 or more")
    return int(text)


def _seed(text: str) -> int:
    if not text.isdecimal() or int(text) >= _SEEDS:
        raise argparse.ArgumentTypeError(f"{text!r} is not a seed; give a number below 2^32, or --random-order last")
    return int(text)


def _shard(text: str) -> tuple[int, int]:
    index, slash, of = text.partition("/")
    if not (slash and index.isdecimal() and of.isdecimal() and 1 <= int(index) <= int(of) <= _MOST_SHARDS):
        raise argparse.ArgumentTypeError(f"{text!r} is not a part; give I/N, such as 1/4 to 4/4")
    return int(index), int(of)
