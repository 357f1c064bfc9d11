# SPDX-License-Identifier: Apache-2.0
"""Which worker runs which case: those of one file one worker, and none waits while a case does."""

from __future__ import annotations

import pytest

from harness.report.records import CaseResult
from harness.run.plan import Plan, Rounds
from harness.run.turns import Turns
from tests.small_runs import QUIET, SmallRun


@pytest.mark.parametrize("repeat", [1, 3])
def test_worker_goes_on_with_its_file_and_none_is_idle_while_a_case_waits(repeat: int) -> None:
    files = "aaaabbbbccddddd"
    rounds = Rounds(Plan(repeat=repeat), range(len(files)), files.__getitem__)
    runs: list[tuple[int, int]] = []
    while len(runs) < len(files) * repeat:
        for place in (0, 1, 2):
            number = rounds.next_for(place)
            assert number is not None
            runs.append((place, number))
            rounds.take(number, CaseResult("x", (), "pass"))
    assert [rounds.next_for(place) for place in (0, 1, 2)] == [None] * 3
    ran = ["".join(files[number] for place, number in runs if place == of) for of in (0, 1, 2)]
    assert ran[0].startswith("aaaa") and ran[1].startswith("bbbb") and ran[2].startswith("ccddd")
    assert sorted(number for _, number in runs) == sorted(list(range(len(files))) * repeat)


def test_idle_workers_take_from_the_file_with_the_most_cases_left() -> None:
    turns = Turns(enumerate("aabbbbb"))
    assert [turns.take(0, ()), turns.take(1, ()), turns.take(2, ())] == [0, 2, 3]
    assert [turns.take(0, ()), turns.take(0, ()), turns.take(2, {5}), turns.take(1, {5})] == [1, 4, 6, None]


def test_random_order_is_that_of_all_files_together() -> None:
    rounds = Rounds(Plan(seed=1), range(40), lambda number: "ab"[number // 20])
    numbers = [rounds.next_for(number % 3) for number in range(40)]
    assert sorted(n for n in numbers if n is not None) == list(range(40))
    assert {"ab"[n // 20] for n in numbers[:12] if n is not None} == {"a", "b"}


def test_cases_of_one_file_are_run_by_one_worker(small: SmallRun) -> None:
    """Two workers, two files: whoever is done first helps with what is left of the other's."""
    names = ("one", "other")
    for name in names:
        write = f'with Path("{small.scratch}/{name}").open("a") as file:\n        file.write(f"{{os.getpid()}}\\n")'
        check = QUIET.replace("test_quiet", f"test_{name}").replace("with loader", f"{write}\n    with loader", 1)
        small.suite(check, name=name)
    assert small.run("-j", "2").code == 0
    workers = [(small.scratch / name).read_text().split() for name in names]
    assert [len(of) for of in workers] == [6, 6]
    assert workers[0][0] != workers[1][0]
    assert min(len(set(of)) for of in workers) == 1
