# SPDX-License-Identifier: Apache-2.0
"""Version ranges such as ">=2.3.1, <2.4", on dotted integers.

Loaders' versions are not those of Python packages, and each command would wait for the import of `packaging`.
"""

from __future__ import annotations

import operator
import re

_OPERATORS = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}
_CLAUSE = re.compile(r"(>=|<=|==|!=|>|<)\s*(\d+(?:\.\d+)*)")


def parse_version(text: str | None) -> tuple[int, ...] | None:
    """The leading dotted integers of a version, trailing zeros dropped; None where it starts with none.

    >>> parse_version("2.3.0-rc1"), parse_version("unknown")
    ((2, 3), None)
    """
    leading = leading_integers(text)
    return _numbers(leading) if leading else None


def leading_integers(text: str | None) -> str:
    """What is compared of a version, as a range has it: "2.3.0" of "v2.3.0 (git)"; "" where it starts with none."""
    match = re.match(r"\s*v?(\d+(?:\.\d+)*)", text or "")
    return match.group(1) if match else ""


def _numbers(dotted: str) -> tuple[int, ...]:
    numbers = [int(part) for part in dotted.split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def matches(versions: str, version: str | None) -> bool:
    """Whether a version lies in a range; the empty range holds every version, even an unknown one.

    Loaders spell their versions as they like ("2.3.2 (git)", "v3.0.6"): only the leading integers are compared.
    Raises ValueError, with a text for the user, where the range is malformed.
    """
    bounds = [_bound(clause.strip()) for clause in versions.split(",") if clause.strip()]
    numbers = parse_version(version)
    if numbers is None:
        return not bounds
    return all(_OPERATORS[sign](numbers, bound) for sign, bound in bounds)


def _bound(clause: str) -> tuple[str, tuple[int, ...]]:
    match = _CLAUSE.fullmatch(clause)
    if not match:
        raise ValueError(f"{clause!r} is not a version clause; write for example '>=2.3.1, <2.4'")
    return match.group(1), _numbers(match.group(2))
