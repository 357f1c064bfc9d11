# SPDX-License-Identifier: Apache-2.0
"""Seeds of the target `limits`: each number of its machine on its own at every small value and around every size that
programs reserve, and the pairs that only work together.

python -m harness.fuzz.sweep --out FOLDER     writes FOLDER/limits

They are written when they are needed: thousands of files of a few bytes, all of them a rule.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from harness.errors import HarnessError
from harness.fuzz import seeds

_SOURCES = Path(__file__).parents[2] / "fuzz" / "targets" / "limits"
_DIRECT, _EDGES = 128, 126  # codes that are the value, codes for the edges after them
_SMALL = 40  # direct values that are tried
_FEW = 10  # and where a number is tried once more, beside others

# What else has to be there for a number to matter: each of the settings is one seed.
_BESIDE: Mapping[str, tuple[Mapping[str, int], ...]] = {
    "VENDORS_COUNT": ({}, {"WAY": 3}, {"REVERSED": 1}, {"CLASSES": 3}, {"CLASSES": 5}, {"CLASSES": 1}, {"ICD2": 1}),
    "PLATFORMS_COUNT": ({}, {"CLASSES": 5}, {"ICD2": 1}, {"VENDORS_COUNT": 3, "PLACE": 2}),
    "DEVICES_COUNT": ({}, {"VENDORS_COUNT": 3, "PLACE": 1}, {"VENDORS_COUNT": 12, "PLACE": 2, "CLASSES": 1}),
    "SUFFIX": ({}, {"VENDORS_COUNT": 3, "PLACE": 2}),
    "PATH": ({"VENDORS_COUNT": 3}, {"VENDORS_COUNT": 3, "WAY": 3, "PLACE": 2}, {"WAY": 4}, {"WAY": 5}),
    "FILE_NAME": ({"VENDORS_COUNT": 3}, {"WAY": 4}),
    "TAIL": ({"VENDORS_COUNT": 3},),
    "JUNK": ({"VENDORS_COUNT": 3},),
    "DUPLICATE": ({"VENDORS_COUNT": 120}, {"VENDORS_COUNT": 40, "PLACE": 2}, {"VENDORS_COUNT": 40, "WAY": 3}),
    "REFUSED": tuple({"VENDORS_COUNT": 40, "FLAW": flaw} for flaw in range(1, 5)),
    "LAYERS_COUNT": ({}, {"LAYER_FILES": 1}, {"LAYER_PROPERTIES": 1}),
    "LAYER_PATH": ({"LAYERS_COUNT": 2}, {"LAYERS_COUNT": 2, "LAYER_FILES": 1}),
    "LAYER_DUPLICATE": ({"LAYERS_COUNT": 40}, {"LAYERS_COUNT": 40, "LAYER_FILES": 1}),
    "DEFAULT": (*({"VENDORS_COUNT": count} for count in (5, 17, 33)), {"VENDORS_COUNT": 9, "DEFAULT_FORM": 3}),
    "VARIABLE_LENGTH": tuple(
        {"VENDORS_COUNT": 4, "VARIABLE": variable, "VARIABLE_FORM": form}
        for variable in range(1, 8)
        for form in ((0,) if variable < 7 else (0, 1, 3))
    ),
    "PAIRS": ({}, {"VENDORS_COUNT": 3, "PAIR_PLACE": 2}),
    "LIST": ({"VENDORS_COUNT": 2},),
    "QUERY": ({"VENDORS_COUNT": 2},),
}
# Loaders take long for many of these: quadratic time.
_SLOW = ("VENDORS_COUNT", "PLATFORMS_COUNT", "REFUSED")
# Values of a few kinds: one seed each is enough.
_KINDS = 8


@cache
def numbers() -> dict[str, int]:
    """The numbers of a machine by name, in their order."""
    text = (_SOURCES / "machine.h").read_text(encoding="utf-8")
    found = re.search(r"enum number \{(.*?)\bNUMBERS,", text, re.S)
    if found is None:
        raise HarnessError(f"{_SOURCES}: the numbers of a machine are not where they were")
    names = re.findall(r"^\s*(\w+)[,\s]", re.sub(r"/\*.*?\*/", "", found[1], flags=re.S), re.M)
    return {name: number for number, name in enumerate(names)}


@cache
def _most() -> dict[str, int | None]:
    text = (_SOURCES / "machine.c").read_text(encoding="utf-8")
    rows = re.findall(r"\[(\w+)\] = \{(?:\s*\"[^\"]*\")+,\s*([\w -]+),", text)
    return {name: int(most) if most.isdigit() else None for name, most in rows}


@cache
def _sizes() -> list[int]:
    text = (_SOURCES / "machine.c").read_text(encoding="utf-8")
    found = re.search(r"sizes\[\] = \{([\d\s,]+)\}", text)
    if found is None:
        raise HarnessError(f"{_SOURCES}: the sizes that are tried are not where they were")
    return [int(size) for size in found[1].split(",") if size.strip()]


def record(name: str, code: int, word: int = 0) -> bytes:
    """One number of the target `limits` in its input: by name, code of its value, and a word for values in between."""
    return bytes([numbers()[name], code, word & 255, word >> 8])


def _codes(name: str, again: bool) -> Iterator[int]:
    most = _most()[name]
    if most is None or most < _SMALL:
        yield from range(_KINDS if most is None else most + 1)
        return
    yield from range(_FEW if again else _SMALL)
    for code in range(_DIRECT, _DIRECT + _EDGES):
        place, step = divmod(code - _DIRECT, 3)
        value = _sizes()[place] - 1 + step
        slow = name in _SLOW and value > _DIRECT
        # What has no room for one more shows with the greater neighbour of a size.
        if value <= most and (step == 2 or not (again or slow)) and not (again and slow):
            yield code


def limits() -> Iterator[bytes]:
    """Inputs of the target `limits`: each number at each of its values, and vendors of every count."""
    for name in numbers():
        for number, beside in enumerate(_BESIDE.get(name, ({},))):
            before = b"".join(record(other, value) for other, value in beside.items())
            for code in _codes(name, number > 0):
                yield before + record(name, code)
    for value in (*range(4, 40), 100, 200):
        for sort in range(4):
            yield record("VENDORS_COUNT", value) + record("CLASSES", value) + record("SORT", sort)
            yield record("VENDORS_COUNT", value) + record("DEFAULT", value + sort) + record("SORT", sort)


TARGETS = {limits.__name__: limits}


def folder(target: str, build: Path) -> Path | None:
    """The folder with such seeds of a target, brought up to date; None where it has none."""
    if target not in TARGETS:
        return None
    to = build / "sweep" / target
    wanted = {hashlib.sha1(seed).hexdigest(): seed for seed in TARGETS[target]()}
    to.mkdir(parents=True, exist_ok=True)
    there = {file.name for file in to.iterdir()}
    for name in there - wanted.keys():
        (to / name).unlink(missing_ok=True)
    for name in wanted.keys() - there:
        (to / name).write_bytes(wanted[name])
    return to


if __name__ == "__main__":
    sys.exit(seeds.main("harness.fuzz.sweep", __doc__, (limits,), sys.argv[1:]))
