# SPDX-License-Identifier: Apache-2.0
"""Conditions of entries on what a subject does, for builds of which the version that they say is not the whole truth.

`when` in an entry lists capabilities that the subject was found to have, by their names (`"ICD 2"`), and versions of
symbols that it exports (`"OPENCL_3.1"`); with `no ` before it, one that it has not (`"no OPENCL_LAYERS"`). The entry
holds where all of them do. Of a subject that is used with loaders, `"loader NAME"` is one that is used.

A capability that the file's `[capabilities]` names counts where it vanishes, unless the library was built without that
part: nothing of it stands in the file then.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

_NOT = "no "
_LEFT_OUT = "built without "


def abilities(facts: Mapping[str, Any], loaders: Iterable[str] = ()) -> frozenset[str]:
    """What conditions can name, of the facts of a subject as records have them, and of the loaders it is used with."""
    left_out = (_LEFT_OUT + name for name in facts.get("left_out", ()))
    used = (f"loader {name}" for name in loaders)
    return frozenset((*facts.get("capabilities", ()), *facts.get("symbol_versions", ()), *left_out, *used))


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
