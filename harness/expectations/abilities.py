# SPDX-License-Identifier: Apache-2.0
"""Conditions of entries on what a subject does, for builds of which the version that they say is not the whole truth.

`when` in an entry lists capabilities that the subject was found to have, by their names (`"ICD 2"`), and versions of
symbols that it exports (`"OPENCL_3.1"`); with `no ` before it, one that it has not (`"no OPENCL_LAYERS"`). The entry
holds where all of them do. Of a subject that is used with loaders, `"loader NAME"` is one that is used.

A capability that the file's `[capabilities]` names counts where it vanishes, unless the library was built without that
part: nothing of it stands in the file then.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_NOT = "no "
_LEFT_OUT = "built without "
_LOADER = "loader "


@dataclass(frozen=True)
class _Abilities(Collection[str]):
    """What a subject has; which loaders it is used with is asked where a condition names one: that may take a start."""

    own: frozenset[str]
    loaders: Callable[[], Iterable[str]]

    def __contains__(self, name: object) -> bool:
        if isinstance(name, str) and name.startswith(_LOADER):
            return name.removeprefix(_LOADER) in self.loaders()
        return name in self.own

    def __iter__(self) -> Iterator[str]:
        return iter(self.own)

    def __len__(self) -> int:
        return len(self.own)


def abilities(facts: Mapping[str, Any], loaders: Callable[[], Iterable[str]] = tuple) -> Collection[str]:
    """What conditions can name, of the facts of a subject as records have them, and of the loaders it is used with.

    `loaders` gives their names, and is called where a condition is about one.
    """
    left_out = [_LEFT_OUT + name for name in _names(facts, "left_out")]
    return _Abilities(
        frozenset((*_names(facts, "capabilities"), *_names(facts, "symbol_versions"), *left_out)), loaders
    )


def _names(facts: Mapping[str, Any], key: str) -> list[str]:
    """The names that a list of the facts has; records may be a stranger's."""
    names = facts.get(key)
    return [name for name in names if isinstance(name, str)] if isinstance(names, (list, tuple)) else []


def is_left_out(name: str, able: Collection[str] | None) -> bool:
    """Whether the subject was built without a capability."""
    return able is not None and _LEFT_OUT + name in able


def holds(when: Collection[str], able: Collection[str] | None) -> bool:
    """Whether all conditions hold; of a subject of which nothing is known, only where there are none."""
    if able is None:
        return not when
    return all(_one_holds(condition, able) for condition in when)


def _one_holds(condition: str, able: Collection[str]) -> bool:
    lacking = condition.removeprefix(_NOT)
    return lacking not in able if lacking != condition else condition in able
