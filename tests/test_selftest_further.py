# SPDX-License-Identifier: Apache-2.0
"""Checks that are not proven yet meet the likeliest faults first, and in the end all that they have to."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable
from typing import Any

from harness.run.cases import CASE
from harness.selftest.further import FEW, Check, FurtherFaults, Seen
from harness.selftest.matrix import Matrix
from harness.selftest.mutants import Mutant
from harness.selftest.report import open_mutants
from harness.selftest.worker import Result, Task

OWN, SECTION, ANY = "DISC-LNX-014", "DISC-LNX-015", "LAY-CHN-003"


def mutant(name: str, requirement: str, family: str = "", cases: str = "") -> Mutant:
    function = f"loader_{name.partition('_')[0]}" if family else ""
    return Mutant(name, (requirement,), "", function=function, family=family, cases=cases)


def check(name: str, cases: Iterable[int]) -> Check:
    numbers = list(cases)
    return Check(name, numbers, {OWN}, supported=numbers)


def tasks(
    checks: Iterable[Check],
    mutants: Iterable[Mutant],
    seen: Seen | None = None,
    proves: Callable[[Task], bool] = lambda task: False,
    of_function: dict[str, set[int]] | None = None,
) -> list[Task]:
    """The tasks that are handed out; what `proves` says of one is known before the next."""
    seen = seen or Seen()
    by_name = {one.name: one for one in checks}
    handed_out = []
    ids = [f"case {number}" for number in range(100)]
    for task in FurtherFaults(by_name, ids, list(mutants), of_function or {}, seen).tasks():
        handed_out.append(task)
        seen.ran[task.fault or ""].update(task.cases)
        if proves(task):
            (proven,) = (one for one in by_name.values() if task.cases[0] in one.cases)
            proven.proof = task.fault
    return handed_out


def meets(fault: str, case: int, task: Task) -> bool:
    return task.fault == fault and case in task.cases


def met(handed_out: Iterable[Task], fault: str) -> list[int]:
    return [case for task in handed_out if task.fault == fault for case in task.cases]


def test_a_check_that_nothing_proves_meets_all_faults() -> None:
    """Its own ones with all of its cases, the others with a few from everywhere among them."""
    faults = [mutant("own", OWN), mutant("same_section", SECTION), mutant("elsewhere", ANY)]
    handed_out = tasks([check("test_a", range(100))], faults)
    assert sorted(met(handed_out, "own")) == list(range(100))
    for fault in ("same_section", "elsewhere"):
        cases = met(handed_out, fault)
        assert len(cases) >= FEW
        assert max(cases) - min(cases) > 70


def test_every_fault_of_a_family_meets_a_check_of_its_requirement() -> None:
    faults = [mutant(f"clF{number}_lost", OWN, "lost") for number in range(5)]
    handed_out = tasks([check("test_a", range(3))], faults)
    assert [sorted(met(handed_out, fault.name)) for fault in faults] == [[0, 1, 2]] * 5


def test_one_of_a_family_does_for_a_check_of_another_requirement() -> None:
    handed_out = tasks([check("test_a", range(3))], [mutant(f"clF{number}_lost", ANY, "lost") for number in range(5)])
    assert {task.fault for task in handed_out} == {"clF0_lost"}


def test_no_case_meets_a_fault_twice() -> None:
    seen = Seen()
    seen.ran["own"] = {1, 2}
    handed_out = tasks([check("test_a", range(4))], [mutant("own", OWN), mutant("elsewhere", ANY)], seen)
    assert sorted(met(handed_out, "own")) == [0, 3]
    assert sorted(met(handed_out, "elsewhere")) == [0, 1, 2, 3]


def test_a_proven_check_meets_nothing_more() -> None:
    proven, unproven, unsupported = check("test_a", range(3)), check("test_b", range(3, 6)), Check("test_c", [6])
    proven.proof = "own"
    handed_out = tasks([proven, unproven, unsupported], [mutant("own", OWN), mutant("elsewhere", ANY)])
    assert {case for task in handed_out for case in task.cases} == {3, 4, 5}


def test_a_check_leaves_once_it_is_proven() -> None:
    faults = [mutant(f"fault_{number}", OWN) for number in range(50)]
    handed_out = tasks([check("test_a", range(20))], faults, proves=lambda task: task.fault == "fault_7")
    assert [task.fault for task in handed_out] == [f"fault_{number}" for number in range(8)]
    assert {len(task.cases) for task in handed_out} == {1}


def test_a_case_is_found_that_is_the_only_one_to_notice() -> None:
    """However late it comes, and whichever fault it is."""
    for fault in ("fault_0", "fault_5", "fault_8"):
        one = check("test_a", range(100))
        faults = [mutant(f"fault_{number}", OWN) for number in range(9)]
        last = tasks([one], faults, proves=functools.partial(meets, fault, 97))[-1]
        assert (one.proof, last.fault) == (fault, fault)


def test_what_the_twin_noticed_comes_first_then_what_most_checks_did() -> None:
    seen = Seen()
    seen.failed["noticed"] = {"test_x", "test_y"}
    seen.failed["noticed_by_the_twin"] = {"test_a"}
    faults = [mutant(name, OWN) for name in ("other", "noticed", "noticed_by_the_twin")]
    handed_out = tasks([check("test_a_through_layers", [0])], faults, seen)
    assert [task.fault for task in handed_out] == ["noticed_by_the_twin", "noticed", "other"]


def test_a_fault_of_a_function_meets_the_cases_of_that_function_first() -> None:
    of_function = {"clFlush": {0, 1}, "clFinish": {2, 3}}
    faults = [mutant("clRetainEvent_lost", OWN, "lost"), mutant("clFinish_lost", OWN, "lost")]
    handed_out = tasks([check("test_a", range(4))], faults, of_function=of_function)
    assert (handed_out[0].fault, set(handed_out[0].cases) < {2, 3}) == ("clFinish_lost", True)
    assert sorted(met(handed_out, "clRetainEvent_lost")) == [0, 1, 2, 3]


def test_a_fault_meets_the_cases_first_that_it_names() -> None:
    """However far away its requirement is, and not only those that it names."""
    faults = [mutant("own", OWN), mutant("elsewhere", ANY, cases="case 17 or case 19")]
    handed_out = tasks([check("test_a", range(10, 30))], faults)
    assert handed_out[0] == Task("elsewhere", (17, 19), until="own")
    assert len(met(handed_out, "elsewhere")) > 2


def matrix(ids: Iterable[str], mutants: Iterable[Mutant]) -> Matrix:
    """All cases are supported, and belong to the requirement OWN."""
    case = types.SimpleNamespace(requirements=(OWN,))
    items: list[Any] = [types.SimpleNamespace(nodeid=name, stash={CASE: case}) for name in ids]
    made = Matrix(items, list(mutants), jobs=1)
    for one in made.checks.values():
        one.supported = list(one.cases)
    return made


def test_the_next_of_a_family_meets_the_check_first_that_noticed_the_others() -> None:
    """With its cases of the function that the fault is in, and then all that it would have met without."""
    ids = [f"test_{check}[{function}]" for check in "abc" for function in ("clFinish", "clFlush")]
    faults = [mutant("clFinish_lost", OWN, "lost"), mutant("clFlush_lost", OWN, "lost"), mutant("other", OWN)]
    one = matrix(ids, faults)
    own = one._own_cases("red")
    first = next(own)
    one._note(first, [Result(4, "fail", None, "", 0.0)])
    second, third = own
    assert (second.fault, second.cases[0], sorted(second.cases)) == ("clFlush_lost", 5, list(range(6)))
    assert (third.fault, third.cases[0]) == ("other", 0)


def test_a_fault_that_no_case_notices_met_all_of_them() -> None:
    ids = [f"test_{check}[{case}]" for check in "ab" for case in range(50)]
    one = matrix(ids, [mutant("own", OWN), mutant("elsewhere", ANY)])
    for handed_out in (one._own_cases("red"), one._other_cases()):
        for task in handed_out:
            one._note(task, [Result(case, "pass", None, "", 0.0) for case in task.cases])
    assert {name: caught.cases for name, caught in one.caught.items()} == {"own": 100, "elsewhere": 100}
    assert [caught.mutant.name for caught in open_mutants(one)] == ["own", "elsewhere"]


def test_checks_meet_faults_in_turn() -> None:
    """Several processes then find out something about several checks, and not about one that the first has proven."""
    checks = [check("test_a", range(5)), check("test_b", range(5, 10))]
    handed_out = tasks(checks, [mutant(f"fault_{number}", OWN) for number in range(4)])
    assert [task.cases[0] // 5 for task in handed_out[:8]] == [0, 1] * 4
