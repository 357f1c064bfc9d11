# SPDX-License-Identifier: Apache-2.0
"""Cases of two runs that are the same under another name: moved to another file, or of a function that was renamed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TypeVar

from harness.report.records import CaseResult

Cases = Mapping[str, CaseResult]
Family = dict[str, CaseResult]  # the cases of a function by their parameters
T = TypeVar("T")


def renamed(before: Cases, after: Cases) -> dict[str, str]:
    """New IDs to old ones, of cases that only one of the runs has. What could be one of several is left alone."""
    old = [result for case, result in before.items() if case not in after]
    new = [result for case, result in after.items() if case not in before]
    names = {n.case: o.case for o, n in _alone(old, new, lambda r: (r.requirements, r.name))}
    taken = set(names.values())
    old_families = _families(result for result in old if result.case not in taken)
    new_families = _families(result for result in new if result.case not in names)
    for one, other in _alone(old_families.values(), new_families.values(), _shape):
        names |= {other[parameters].case: one[parameters].case for parameters in other}
    return names


def _families(results: Iterable[CaseResult]) -> dict[tuple[str, str], Family]:
    """The cases of each function of each file by their parameters."""
    families: dict[tuple[str, str], Family] = defaultdict(dict)
    for result in results:
        function, _, parameters = result.name.partition("[")
        families[result.case.partition("::")[0], function][parameters] = result
    return families


def _shape(family: Family) -> Hashable:
    """What a function keeps when only its name changes."""
    return frozenset((parameters, result.requirements) for parameters, result in family.items())


def _alone(old: Iterable[T], new: Iterable[T], key: Callable[[T], Hashable]) -> list[tuple[T, T]]:
    """Those that have a key in common with one on the other side, and with no other on either."""
    sides: dict[Hashable, tuple[list[T], list[T]]] = defaultdict(lambda: ([], []))
    for number, side in enumerate((old, new)):
        for each in side:
            sides[key(each)][number].append(each)
    return [(one[0], other[0]) for one, other in sides.values() if len(one) == len(other) == 1]
