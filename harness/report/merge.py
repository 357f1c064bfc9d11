# SPDX-License-Identifier: Apache-2.0
"""Puts the records of the shards of a run together, as those of one run."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path, PurePath
from typing import Any

from harness.errors import UsageError
from harness.report.records import CaseResult, Header, paired, selection_of
from harness.report.saved import Saved


@dataclasses.dataclass(frozen=True)
class Merged:
    """The records of the whole."""

    header: Header
    results: tuple[CaseResult, ...]
    stale: tuple[str, ...]


def merge(shards: Sequence[Saved]) -> Merged:
    """Raises UsageError where the files are not all shards of one run, each of them whole."""
    for shard in shards:
        _expect_whole(shard)
    first = shards[0]
    for other in shards[1:]:
        _expect_same(first, other)
    _expect_all_parts(shards)
    results = [result for shard in shards for result in shard.results]
    again = next((case for case, n in Counter(result.case for result in results).items() if n > 1), None)
    if again:
        raise UsageError(f"{again} has a record in more than one of the files")
    if first.header.selection != (got := selection_of(result.case for result in results)):
        expected = (first.header.selection or {}).get("cases")
        raise UsageError(f"the files have {got['cases']} cases, which are not the {expected} that were selected")
    seeds = {shard.header.random_seed for shard in shards}
    header = dataclasses.replace(
        first.header,
        shard=None,
        planned=sum(shard.header.planned or 0 for shard in shards),
        random_seed=seeds.pop() if len(seeds) == 1 else None,
        started=min(shard.header.started for shard in shards),
    )
    stale = dict.fromkeys(entry for shard in shards for entry in shard.stale)
    return Merged(header, tuple(results), tuple(stale))


def _expect_whole(saved: Saved) -> None:
    if saved.header.shard is None:
        raise UsageError(f"{saved.path}: is not of a run with --shard")
    if saved.footer is None or not saved.footer.get("complete"):
        raise UsageError(f"{saved.path}: was cut short; let --resume {saved.path} bring it to its end first")
    if saved.header.planned != len(saved.results):
        raise UsageError(f"{saved.path}: {len(saved.results)} of {saved.header.planned} planned cases have a record")


def _name(path: str | None) -> str | None:
    return PurePath(path).name if path else None  # two machines may have it in different places


_SAME: dict[str, Callable[[Saved], Any]] = {
    "version of clharness": lambda saved: saved.version,
    "catalogue of requirements": lambda saved: saved.header.catalogue,
    "expectation file": lambda saved: _name(saved.header.expectations),
    "number of shards": lambda saved: (saved.header.shard or {}).get("of"),
    "number of repeats": lambda saved: saved.header.repeat,
    "selection of cases": lambda saved: (saved.header.selection or {}).get("digest"),
}


def _expect_same(one: Saved, other: Saved) -> None:
    for word, before, now in paired(one.header, other.header):
        for fact in ("name", "version", "build_id" if before.get("build_id") else "real_path"):
            if before.get(fact) != now.get(fact):
                raise UsageError(
                    f"{one.path} and {other.path} are of different subjects: the {word}'s {fact} is "
                    f"{before.get(fact)}, and {now.get(fact)}"
                )
    for what, of in _SAME.items():
        if of(one) != of(other):
            raise UsageError(f"{one.path} and {other.path} differ in their {what}: {of(one)}, and {of(other)}")


def _expect_all_parts(shards: Sequence[Saved]) -> None:
    of = (shards[0].header.shard or {})["of"]
    files: dict[int, Path] = {}
    for saved in shards:
        index = (saved.header.shard or {})["index"]
        if index in files:
            raise UsageError(f"{files[index]} and {saved.path} are the same shard, {index}/{of}")
        files[index] = saved.path
    missing = [f"{index}/{of}" for index in range(1, of + 1) if index not in files] if of <= 10_000 else ["some"]
    if missing:
        raise UsageError(f"not all shards are there: {', '.join(missing[:10])} missing")
