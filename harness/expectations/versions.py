# SPDX-License-Identifier: Apache-2.0
"""Version ranges such as ">=2.3.1, <2.4", on dotted integers."""

from __future__ import annotations

import re

from packaging.specifiers import InvalidSpecifier, SpecifierSet

_OPERATORS = (">=", "<=", "==", "!=", ">", "<")


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

    Loaders spell their versions as they like ("2.3.2 (git)", "v3.0.6"): only the leading integers are compared.
    Raises ValueError, with a text for the user, where the range is malformed.
    """
    clauses = [clause.strip() for clause in versions.split(",") if clause.strip()]
    for clause in clauses:
        if not clause.startswith(_OPERATORS) or not re.fullmatch(r"[\d.\s]+", clause.lstrip("<>=!")):
            raise ValueError(f"{clause!r} is not a version clause; write for example '>=2.3.1, <2.4'")
    try:
        specifiers = SpecifierSet(",".join(clauses))
    except InvalidSpecifier as error:
        raise ValueError(f"{versions!r} is not a version clause; write for example '>=2.3.1, <2.4'") from error
    numbers = parse_version(version)
    if numbers is None:
        return not clauses
    return specifiers.contains(".".join(map(str, numbers)) or "0")
