"""Version ranges such as ">=2.3.1, <2.4", on dotted integers."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable

_CLAUSE = re.compile(r"(>=|<=|==|!=|>|<)\s*(\d+(?:\.\d+)*)")
_OPERATORS: dict[str, Callable[[tuple[int, ...], tuple[int, ...]], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}


def parse_version(text: str | None) -> tuple[int, ...] | None:
    """The leading dotted integers of a version, trailing zeros dropped; None where it starts with none.

    >>> parse_version("2.3.0-rc1"), parse_version("unknown")
    ((2, 3), None)
    """
    match = re.match(r"\s*v?(\d+(?:\.\d+)*)", text or "")
    if not match:
        return None
    numbers = [int(part) for part in match.group(1).split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def matches(versions: str, version: str | None) -> bool:
    """Whether a version lies in a range; the empty range holds every version, even an unknown one.

    Raises ValueError, with a text for the user, where the range is malformed.
    """
    clauses = [clause.strip() for clause in versions.split(",") if clause.strip()]
    subject = parse_version(version)
    within = True
    for clause in clauses:
        match = _CLAUSE.fullmatch(clause)
        if not match:
            raise ValueError(f"{clause!r} is no version clause; write for example '>=2.3.1, <2.4'")
        bound = parse_version(match.group(2))
        assert bound is not None
        within = within and subject is not None and _OPERATORS[match.group(1)](subject, bound)
    return within
