# SPDX-License-Identifier: Apache-2.0
"""Families of constants: which names a parameter of a type may have, as the comments of the OpenCL-Headers group them.

`/* cl_device_type - bitfield */` stands above the values of cl_device_type, `/* Error Codes */` above those of cl_int.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

ERRORS = "cl_int"  # the family of results and of errcode_ret

_COMMENT = re.compile(r"/\*+\s*(.*?)\s*\*+/")
_DEFINE = re.compile(r"#\s*define\s+(CL_\w+)\s+\S")
_BITFIELD = re.compile(r"typedef\s+cl_bitfield\s+(cl_\w+)\s*;")
_OF_ERRORS = re.compile(r"\berror (code|type)", re.I)
_QUERIES = range(0x900, 0x10000)  # other constants are bits, sizes or versions
_REMARK = re.compile(r"0x|reserved", re.I)  # within a group


@dataclass(frozen=True)
class Family:
    """The constants of one type in the order of the headers; values of a type with `bits` are combined by `|`."""

    bits: bool
    names: tuple[str, ...]


def read(texts: Iterable[str], constants: dict[str, int]) -> dict[str, Family]:
    """The families of all types in the text of headers; `constants` are the names that count."""
    bits: set[str] = set()
    names: dict[str, dict[str, None]] = {}
    ungrouped: list[str] = []
    for text in texts:
        bits.update(_BITFIELD.findall(text))
        for comment, name in _members(text):
            if name in constants and not re.search(r"\bcl_\w+", comment):
                ungrouped.append(name)
            types = [ERRORS] if _OF_ERRORS.search(comment) else re.findall(r"\bcl_\w+", comment)
            bits.update(types if "bitfield" in comment else ())
            for family in types if name in constants else ():
                names.setdefault(family, {})[name] = None
    _add_queries(names, [name for name in ungrouped if constants[name] in _QUERIES])
    return {family: Family(family in bits, tuple(listed)) for family, listed in names.items()}


def _add_queries(names: dict[str, dict[str, None]], ungrouped: Iterable[str]) -> None:
    """Headers name no type above the queries of some extensions; the first word of a name tells it, where one type of
    queries alone has names with that word."""
    owners: dict[str, set[str]] = {}
    for family in names:
        for name in names[family] if family.endswith("_info") else ():
            owners.setdefault(name.split("_")[1], set()).add(family)
    known = {name for listed in names.values() for name in listed}
    for name in ungrouped:
        families = owners.get(name.split("_")[1], set())
        if len(families) == 1 and name not in known:
            names[min(families)][name] = None


def _members(text: str) -> Iterator[tuple[str, str]]:
    """The comment of its group, and the name, of each constant."""
    comment = ""
    for line in text.splitlines():
        if match := _COMMENT.match(line):
            comment = comment if _REMARK.match(match[1]) else match[1]
        elif match := _DEFINE.match(line):
            yield comment, match[1]
        elif line.strip() and not line.startswith("#"):
            comment = ""  # a declaration ends the group
