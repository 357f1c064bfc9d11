# SPDX-License-Identifier: Apache-2.0
"""As few entries as say the same: one pattern for many cases, where it stands for these cases and no others."""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Iterator


def fits(case: str, pattern: str | None) -> bool:
    """Whether a pattern, in which only `*` and `?` are special, stands for a case; None stands for every case."""
    return pattern is None or case == pattern or fnmatch.fnmatchcase(case, pattern.replace("[", "[[]"))


def patterns(names: Collection[str], kin: Collection[str]) -> list[tuple[str | None, list[str]]]:
    """Patterns that stand for the cases of `names` and none else of `kin`, each with its cases.

    `kin` are all cases of the requirement, `names` among them; None stands for all of them. A pattern covers a whole
    family of parameters, or those that begin or end alike; where none does, it is the name of a case.
    """
    chosen: list[tuple[str | None, list[str]]] = []
    remaining = list(dict.fromkeys(names))
    targets = frozenset(remaining)
    while remaining:
        for pattern in _candidates(remaining[0]):
            covered = [name for name in kin if fits(name, pattern)]
            if targets.issuperset(covered) and (len(covered) > 1 or pattern is None):
                chosen.append((pattern, [name for name in remaining if fits(name, pattern)]))
                break
        else:
            chosen.append((remaining[0], [remaining[0]]))
        remaining = [name for name in remaining if name not in chosen[-1][1]]
    return chosen


def _candidates(name: str) -> Iterator[str | None]:
    """From the broadest to the narrowest pattern for a case and others like it."""
    yield None
    stem, bracket, rest = name.partition("[")
    if not bracket or "*" in name or "?" in name:
        return
    yield f"{stem}[*]"
    parameters = rest.removesuffix("]").split("-")
    for length in range(1, len(parameters)):
        yield f"{stem}[{'-'.join(parameters[:length])}-*]"
        yield f"{stem}[*-{'-'.join(parameters[length:])}]"
