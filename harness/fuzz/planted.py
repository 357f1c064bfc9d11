# SPDX-License-Identifier: Apache-2.0
"""Faults of the reference loader that need lengths, counts or orders, each with the fuzz target that has to find it.

The list has the form of the mutants' lists (harness/selftest/seed.py makes the loader of it); here only the target and
the number of its machine are read, which stand in `cases`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from harness.fuzz import sweep
from harness.tomlfile import read, text

LIST = Path(__file__).with_name("planted.toml")


@dataclass(frozen=True)
class Planted:
    """One fault: the target that has to find it, and the number of the target `limits` that shows it, or nothing."""

    name: str
    target: str
    number: str


@cache
def planted() -> Mapping[str, Planted]:
    """The planted faults by name."""
    faults = {}
    for table in read(LIST)["mutant"]:
        name = text(LIST, "a planted fault", table, "name")
        target, _, number = text(LIST, name, table, "cases").partition(" ")
        faults[name] = Planted(name, target, number)
    return faults


def seeds(fault: Planted) -> Iterator[bytes]:
    """The seeds of the sweep that set the number which shows a fault; none where its target has no sweep."""
    if fault.number:
        number = sweep.numbers()[fault.number]
        yield from (seed for seed in sweep.limits() if seed[-sweep.RECORD] == number)
