# SPDX-License-Identifier: Apache-2.0
"""Faults of the reference loader that need lengths, counts or orders, each with the fuzz target that has to find it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from harness.fuzz import sweep
from harness.selftest.mutants import Mutant
from harness.selftest.mutants.loader import load

LIST = Path(__file__).with_name("planted.toml")


@cache
def planted() -> Mapping[str, Mutant]:
    """The planted faults by name."""
    return load(LIST).by_name


def target(fault: Mutant) -> str:
    """The fuzz target that has to find a fault."""
    return fault.cases.split()[0]


def seeds(fault: Mutant) -> Iterator[bytes]:
    """The seeds of the sweep that set the number which shows a fault; none where its target has no sweep."""
    _, _, number = fault.cases.partition(" ")
    if number:
        yield from (seed for seed in sweep.limits() if seed[-sweep.RECORD] == sweep.numbers()[number])
