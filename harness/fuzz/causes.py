# SPDX-License-Identifier: Apache-2.0
"""Which findings have one cause: one defect of a loader ends in many places, and each place is a finding.

Two findings belong together where the same functions of the loader lead there, or where their small inputs are the same
in all that is said of them and the loader's functions do not speak against it. Three functions of OpenCL or more that
go wrong in the same way in one target have a cause in common, such as a table that was moved: a loader has hundreds of
functions, and an input calls those that it happens to call.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from harness.fuzz.findings import Finding

_NUMBER = re.compile(r"0x[0-9a-f]+|\b\d+\b")
_LONG_TEXT = re.compile(r'"(?:[^"\\]|\\.){9,}"')
_OF_FUNCTION = re.compile(r"([a-z-]+)-cl[A-Z]\w+$")  # the key of what one function did wrong
_MANY = 3  # functions that go wrong in one way
_OFFSET = re.compile(r"\+0x[0-9a-f]+$")


def causes(findings: Sequence[Finding]) -> list[list[Finding]]:
    """The findings in groups of one cause each, in the order of each group's first."""
    groups: list[list[Finding]] = []
    for finding in findings:
        matching = [group for group in groups if any(same_cause(finding, other) for other in group)]
        for group in matching[1:]:
            matching[0].extend(group)
            groups.remove(group)
        if matching:
            matching[0].append(finding)
        else:
            groups.append([finding])
    return _joined_by_family(groups)


def _joined_by_family(groups: Sequence[list[Finding]]) -> list[list[Finding]]:
    """Groups of what many functions do wrong in one way, put together."""
    members: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for finding in (one for group in groups for one in group):
        members[_family(finding)].add(finding.key)
    joined: dict[tuple[str, ...], list[Finding]] = {}
    result = []
    for group in groups:
        family = next((f for f in map(_family, group) if f and len(members[f]) >= _MANY), ())
        if family in joined:
            joined[family].extend(group)
            continue
        result.append(list(group))
        if family:
            joined[family] = result[-1]
    return result


def _family(finding: Finding) -> tuple[str, ...]:
    """What a function of OpenCL did wrong, whichever it is; nothing for a finding of another kind."""
    match = _OF_FUNCTION.match(finding.key) if finding.kind == "wrong" else None
    return (finding.target, finding.mode, match[1]) if match else ()


def same_cause(one: Finding, other: Finding) -> bool:
    """Whether two findings are thought to show the same defect."""
    if one.kind != other.kind or one.mode != other.mode:
        return False
    if one.stack and _route(one) == _route(other):
        return True
    apart = one.stack and other.stack and not set(_functions(one)) & set(_functions(other))
    return not apart and one.target == other.target and bool(traits(one)) and traits(one) == traits(other)


def traits(finding: Finding) -> frozenset[str]:
    """What is said of the input, without its numbers and long texts: those are drawn anyhow."""
    return frozenset(_NUMBER.sub("N", _LONG_TEXT.sub('"..."', line)) for line in finding.words())


def _functions(finding: Finding) -> list[str]:
    """The loader's functions; a place in a library without symbols stays as it is."""
    return [place if _is_of_file(place) else _OFFSET.sub("", place) for place in finding.stack]


def _route(finding: Finding) -> tuple[str, ...]:
    """The way to the place: where the innermost function has no name, its callers are."""
    names = _functions(finding)
    return tuple(names[1:] if len(names) > 1 and _is_of_file(names[0]) else names)


def _is_of_file(place: str) -> bool:
    return ".so" in place
