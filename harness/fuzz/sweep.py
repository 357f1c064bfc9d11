# SPDX-License-Identifier: Apache-2.0
"""Seeds of the target `limits`: each number of its machine on its own at every small value and around every size that
programs reserve, and the pairs that only work together.

python -m harness.fuzz.sweep --out FOLDER     writes FOLDER/limits

They are written when they are needed: thousands of files of a few bytes, all of them a rule.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations
from pathlib import Path

from harness.errors import HarnessError
from harness.fuzz import seeds

_SOURCES = Path(__file__).parents[2] / "fuzz" / "targets" / "limits"
RECORD = 4  # bytes
_DIRECT, _EDGES = 128, 126  # codes that are the value, codes for the edges after them
_WORD = 254  # the code before a value of its own
_SMALL = 40  # direct values that are tried
_BITS_16 = 1 << 16
_FEW = 10  # and where a number is tried once more, beside others

# A loader that says what it does.
_TALK = {"NOISE": 3}
# Ways in which two places name one half of the vendors each.
_HALVES = (8, 9, 11, 12, 13, 14)
# What else has to be there for a number to matter: each of the settings is one seed.
_BESIDE: Mapping[str, tuple[Mapping[str, int], ...]] = {
    "VENDORS_COUNT": ({}, {"WAY": 3}, {"REVERSED": 1}, {"CLASSES": 3}, {"CLASSES": 5}, {"CLASSES": 1}, {"ICD2": 1}),
    "PLATFORMS_COUNT": (
        {},
        {"CLASSES": 5},
        {"ICD2": 1},
        {"VENDORS_COUNT": 3, "PLACE": 2},
        {"VENDORS_COUNT": 3, "EACH": 3},
    ),
    "DEVICES_COUNT": (
        {},
        {"VENDORS_COUNT": 3, "PLACE": 1},
        *({"VENDORS_COUNT": 12, "PLACE": 2, "CLASSES": 1, "DEVICES_TYPE": type_} for type_ in range(3)),
    ),
    "EXTENSIONS": ({}, {"UNLOADABLE": 1}, _TALK),
    "NAME": ({}, _TALK),
    "VERSION": ({}, _TALK),
    "SUFFIX": ({}, {"VENDORS_COUNT": 3, "PLACE": 2}, _TALK),
    "PATH": (
        {"WAY": 3},
        {"VENDORS_COUNT": 3},
        {"VENDORS_COUNT": 3, "WAY": 3, "PLACE": 2},
        {"WAY": 4},
        {"WAY": 5},
        _TALK,
        {"VENDORS_COUNT": 3, "BARE": 1},
    ),
    "FILE_NAME": ({"VENDORS_COUNT": 3}, {"WAY": 4}, {"WAY": 10}, {"VENDORS_COUNT": 3} | _TALK),
    "TAIL": ({"VENDORS_COUNT": 3},),
    "JUNK": ({"VENDORS_COUNT": 3}, {"LAYERS_COUNT": 3, "LAYER_WAY": 1}),
    "DOTTED": ({"VENDORS_COUNT": 3}, {"VENDORS_COUNT": 3, "WAY": 1}, {"LAYERS_COUNT": 3, "LAYER_WAY": 1}),
    "LIBRARIES": (
        *({"VENDORS_COUNT": count, "WAY": way} for count in (3, 20) for way in (0, 3)),
        *({"LAYERS_COUNT": 3, "LAYER_WAY": way} for way in (0, 1)),
    ),
    "RELATIVE": (
        *({"VENDORS_COUNT": 3, "WAY": way} for way in (0, 1, 2, 3, 4, 5, 18)),
        *({"LAYERS_COUNT": 3, "LAYER_WAY": way} for way in (0, 3)),
    ),
    "WAY": ({}, *({"VENDORS_COUNT": count} for count in (3, 40, 130)), {"VENDORS_COUNT": 4, "BOTH": 1}),
    "LAYER_WAY": (*({"LAYERS_COUNT": count} for count in (2, 40, 130)), {"LAYERS_COUNT": 4, "BOTH": 1}),
    "NOISE": (
        {"VENDORS_COUNT": 5},
        {"VENDORS_COUNT": 5, "PLATFORMS_COUNT": 3, "UNLOADABLE": 1, "DUPLICATE": 2},
        {"VENDORS_COUNT": 12, "CLASSES": 1},
        {"VENDORS_COUNT": 40, "REFUSED": 3, "FLAW": 4, "ABSENT": 9},
        {"LAYERS_COUNT": 3},
        {"LAYERS_COUNT": 3, "LAYER_DUPLICATE": 1},
        {"LAYERS_COUNT": 3, "LAYER_HOLES": 2},
    ),
    "EACH": ({"VENDORS_COUNT": 2}, {"VENDORS_COUNT": 9, "CLASSES": 5}, {"VENDORS_COUNT": 3, "PLATFORMS_COUNT": 5}),
    "BOTH": (
        *({"VENDORS_COUNT": 40, "WAY": way} for way in _HALVES),
        *({"LAYERS_COUNT": 20, "LAYER_WAY": way} for way in (4, 5, 6)),
        *({"VENDORS_COUNT": 5, "WAY": way, "REVERSED": 1} for way in _HALVES),
    ),
    "BARE": ({"VENDORS_COUNT": 3}, {"WAY": 4}, {"LAYERS_COUNT": 3, "LAYER_WAY": 1}),
    "SPELLING": (
        *({"VENDORS_COUNT": 3, "WAY": way} for way in (0, 1, 2, 3, 4, 5)),
        *({"LAYERS_COUNT": 3, "LAYER_WAY": way} for way in (0, 3)),
        {"VENDORS_COUNT": 3, "WAY": 1} | _TALK,
        {"VENDORS_COUNT": 3, "WAY": 3} | _TALK,
        {"LAYERS_COUNT": 3, "LAYER_WAY": 3} | _TALK,
    ),
    "SLASHES": (
        *({"VENDORS_COUNT": 3, "WAY": way} for way in (1, 2)),
        {"LAYERS_COUNT": 2, "LAYER_WAY": 3},
        {"WAY": 1} | _TALK,
    ),
    "ALIKE": (
        {"VENDORS_COUNT": 3, "REVERSED": 1},
        *({"LAYERS_COUNT": 3, "LAYER_WAY": 1, "REVERSED": order} for order in range(2)),
    ),
    "EMPTY": ({"VENDORS_COUNT": 3, "WAY": 3}, {"LAYERS_COUNT": 3}),
    "BEGINNING": ({"VENDORS_COUNT": 3, "WAY": 3}, {"LAYERS_COUNT": 3}),
    "SHORT": (
        *({"VENDORS_COUNT": 3, "WAY": way} for way in (0, 4)),
        *({"LAYERS_COUNT": count, "LAYER_WAY": 1, "REVERSED": order} for count in (3, 40) for order in range(2)),
    ),
    "ENDING": ({"LAYERS_COUNT": 3}, {"VENDORS_COUNT": 3, "WAY": 3}),
    "LAYER_HOLES": tuple({"LAYERS_COUNT": count} for count in (2, 3, 20, 40)),
    "CLASSES": ({"VENDORS_COUNT": 12}, {"VENDORS_COUNT": 40}, {"VENDORS_COUNT": 3}),
    "CAPITALS": (
        {"VENDORS_COUNT": 3},
        *({"LAYERS_COUNT": 3, "LAYER_WAY": 1, "REVERSED": order} for order in range(2)),
    ),
    "DUPLICATE": (
        {"VENDORS_COUNT": 5},
        {"VENDORS_COUNT": 5, "WAY": 3},
        {"VENDORS_COUNT": 120},
        {"VENDORS_COUNT": 40, "PLACE": 2},
        {"VENDORS_COUNT": 40, "WAY": 3},
        {"VENDORS_COUNT": 120, "PLACE": 1},
        {"VENDORS_COUNT": 300, "PLACE": 1},
        *({"VENDORS_COUNT": 5, "UNLOADABLE": 1, "WAY": way} for way in (0, 3)),
    ),
    "REFUSED": tuple({"VENDORS_COUNT": 40, "FLAW": flaw} for flaw in range(1, 6)),
    "LAYERS_COUNT": (
        {},
        *({"LAYER_WAY": 1, "REVERSED": order} for order in range(2)),
        {"LAYER_SCHEME": 1},
        {"LAYER_SCHEME": 2},
        *({"LAYER_HOLES": holes} for holes in (1, 2)),
    ),
    "LAYER_PATH": (
        {"LAYERS_COUNT": 1},
        {"LAYERS_COUNT": 2},
        {"LAYERS_COUNT": 2, "LAYER_WAY": 1},
        {"LAYERS_COUNT": 2} | _TALK,
        {"LAYERS_COUNT": 2, "LAYER_WAY": 1, "BARE": 1},
    ),
    "LAYER_DUPLICATE": tuple({"LAYERS_COUNT": count, "LAYER_WAY": way} for count in (3, 40) for way in (0, 1)),
    "DEFAULT": (
        *({"VENDORS_COUNT": count} for count in (5, 17, 33)),
        *({"VENDORS_COUNT": count, "DEFAULT_FORM": 3} for count in (9, 33)),
        *({"VENDORS_COUNT": 5, "DEFAULT_FORM": form} for form in (1, 2, 4, 5, 6)),
    ),
    "VARIABLE_LENGTH": (
        *(
            {"VENDORS_COUNT": 4, "VARIABLE": variable, "VARIABLE_FORM": form}
            for variable in range(1, 8)
            for form in ((0,) if variable < 7 else (0, 1, 3))
        ),
        *({"VENDORS_COUNT": 9, "CLASSES": 1, "VARIABLE": 6, "VARIABLE_FORM": form} for form in (0, 4, 5)),
        *({"LAYERS_COUNT": 2, "VARIABLE": number, "VARIABLE_FORM": form} for number in (4, 5) for form in (0, 4, 5)),
    ),
    # Words have no length.
    "VARIABLE_FORM": (
        {"VENDORS_COUNT": 3, "UNLOADABLE": 1, "LAYERS_COUNT": 2, "VARIABLE": 4},
        {"VENDORS_COUNT": 3, "UNLOADABLE": 1, "LAYERS_COUNT": 2, "VARIABLE": 5},
        {"VENDORS_COUNT": 9, "CLASSES": 1, "VARIABLE": 6},
        {"VENDORS_COUNT": 5, "VARIABLE": 7},
    ),
    "PAIRS": ({}, {"VENDORS_COUNT": 3, "PAIR_PLACE": 2}),
    "LIST": ({"VENDORS_COUNT": 2},),
    "QUERY": ({"VENDORS_COUNT": 2}, _TALK),
    "FOLDER": ({"WAY": 1}, {"WAY": 2}, {"WAY": 18}, {"LAYERS_COUNT": 2, "LAYER_WAY": 1}, {"WAY": 1} | _TALK),
    "ABSENT": ({}, {"WAY": 3}, {"LAYERS_COUNT": 2}, {"LAYERS_COUNT": 2, "LAYER_WAY": 1}, _TALK),
    "UNLOADABLE": (
        {"VENDORS_COUNT": 3},
        {"VENDORS_COUNT": 5, "PLATFORMS_COUNT": 0},
        *({"VENDORS_COUNT": 3, "PLATFORMS_COUNT": 3, "EACH": each} for each in (0, 2)),
        {"VENDORS_COUNT": 3, "LAYERS_COUNT": 2},
    ),
    "FIRST_CALL": (
        {},
        {"VENDORS_COUNT": 3},
        {"VENDORS_COUNT": 3, "LAYERS_COUNT": 2},
        {"VENDORS_COUNT": 0},
        {"VENDORS_COUNT": 5, "DEFAULT": 3},
    ),
    "FILES_KIND": (
        *({"VENDORS_COUNT": 3, "WAY": way} for way in (0, 1, 2, 4, 10)),
        *({"LAYERS_COUNT": 3, "LAYER_WAY": way} for way in (1, 3)),
    ),
    "AGAIN": (
        *({"VENDORS_COUNT": 5, "DUPLICATE": 2, "WAY": way} for way in (0, 3)),
        *({"LAYERS_COUNT": 3, "LAYER_DUPLICATE": 2, "LAYER_WAY": way} for way in (0, 1)),
    ),
    "LINKER": (
        *({"VENDORS_COUNT": 3, "WAY": way} for way in (0, 1, 2, 3, 4, 5)),
        *({"LAYERS_COUNT": 3, "LAYER_WAY": way} for way in (0, 3)),
    ),
    "PRIVILEGED": (
        *({"VENDORS_COUNT": 3, "WAY": way} for way in (0, 1, 2, 3, 4, 5, 6, 7, 15, 16, 17)),
        *({"LAYERS_COUNT": 3, "LAYER_WAY": way} for way in (0, 1, 2, 3, 7, 8)),
    ),
}
# What is chosen by variables, beside each other: each may change what another one does.
_CHOICES: Mapping[str, Sequence[int]] = {
    "WAY": range(1, 20),
    "LAYER_WAY": range(1, 9),
    "LAYER_SCHEME": (1, 2),
    "SORT": (1, 2, 3),
    "DEFAULT": (1, 2, 3, 4),
    "NOISE": (1, 2, 4, 8, 16, 32),
    "REVERSED": (1,),
    "CLASSES": (1, 2),
    "UNLOADABLE": (1,),
}
# Loaders take long for many of these: quadratic time.
_SLOW = ("VENDORS_COUNT", "PLATFORMS_COUNT", "REFUSED")
# Values of a few kinds: one seed each is enough.
_KINDS = 20


@cache
def numbers() -> dict[str, int]:
    """The numbers of a machine by name, in their order."""
    text = (_SOURCES / "machine.h").read_text(encoding="utf-8")
    match = re.search(r"enum number \{(.*?)\bNUMBERS,", text, re.S)
    if match is None:
        raise HarnessError(f"{_SOURCES}: the numbers of a machine are not where they were")
    names = re.findall(r"^\s*(\w+)[,\s]", re.sub(r"/\*.*?\*/", "", match[1], flags=re.S), re.M)
    return {name: number for number, name in enumerate(names)}


@cache
def _most() -> dict[str, int | None]:
    text = (_SOURCES / "machine.c").read_text(encoding="utf-8")
    rows = re.findall(r"\[(\w+)\] =\s*\{(?:\s*\"[^\"]*\")+,\s*([\w -]+),", text)
    if unknown := [name for name, most in rows if not (most.isdigit() or most.endswith("S - 1"))]:
        raise HarnessError(f"{_SOURCES / 'machine.c'}: the largest {unknown[0]} is neither a numeral nor a choice")
    return {name: int(most) if most.isdigit() else None for name, most in rows}


@cache
def _sizes() -> list[int]:
    text = (_SOURCES / "machine.c").read_text(encoding="utf-8")
    match = re.search(r"sizes\[\] = \{([\d\s,]+)\}", text)
    if match is None:
        raise HarnessError(f"{_SOURCES}: the sizes that are tried are not where they were")
    return [int(size) for size in match[1].split(",") if size.strip()]


def record(name: str, code: int, word: int = 0) -> bytes:
    """One number of the target `limits` in its input: by name, code of its value, and a word for values in between."""
    return bytes([numbers()[name], code, word & 255, word >> 8])


def setting(name: str, value: int) -> bytes:
    """The record that gives a number this value."""
    return record(name, value) if value < _DIRECT else record(name, _WORD + (value >> 16), value & 0xFFFF)


def _records(name: str, again: bool) -> Iterator[bytes]:
    """The values of a number that are tried; fewer of them where it is tried again, beside others."""
    most = _most()[name]
    if most is None or most < _SMALL:
        yield from (record(name, code) for code in range(_KINDS if most is None else most + 1))
        return
    yield from (record(name, code) for code in range(_FEW if again else _SMALL))
    if not (again and name in _SLOW):
        yield setting(name, most)
    # Kept in 16 bits they begin anew.
    yield from (setting(name, value) for value in range(_BITS_16, min(most, _BITS_16 + 2) + 1))
    for code in range(_DIRECT, _DIRECT + _EDGES):
        place, step = divmod(code - _DIRECT, 3)
        value = _sizes()[place] - 1 + step
        slow = name in _SLOW and value > _DIRECT
        # What has no room for one more shows with the greater neighbour of a size; the end of a text with the size.
        if value <= most and (step == 2 or (step == 1 and not slow) or not (again or slow)) and not (again and slow):
            yield record(name, code)


def limits() -> Iterator[bytes]:
    """Inputs of the target `limits`: each number at each of its values, and vendors of every count."""
    for name in numbers():
        for number, beside in enumerate(_BESIDE.get(name, ({},))):
            before = b"".join(setting(other, value) for other, value in beside.items())
            for value in _records(name, number > 0):
                yield before + value
    most = setting("VENDORS_COUNT", 4) + setting("LAYERS_COUNT", 3)
    for one, other in combinations(_CHOICES, 2):
        if (one, other) == ("WAY", "DEFAULT"):  # below: of some ways a loader takes fewer platforms
            continue
        for first in _CHOICES[one]:
            for second in _CHOICES[other]:
                yield most + setting(one, first) + setting(other, second)
    for way in (1, 2, 3, 6, 7):
        yield setting("VENDORS_COUNT", 5) + setting("WAY", way) + setting("DEFAULT", 3)
    for count in (*range(4, 40), 100, 200):
        for sort in range(4):
            yield setting("VENDORS_COUNT", count) + setting("CLASSES", count) + setting("SORT", sort)
            yield setting("VENDORS_COUNT", count) + setting("DEFAULT", count + sort) + setting("SORT", sort)


TARGETS = {limits.__name__: limits}


def folder(target: str, build: Path) -> Path | None:
    """The folder with such seeds of a target, brought up to date; None where it has none."""
    if target not in TARGETS:
        return None
    return seeds.keep_folder(build / "sweep" / target, TARGETS[target]())


if __name__ == "__main__":
    sys.exit(seeds.main("harness.fuzz.sweep", __doc__, (limits,), sys.argv[1:]))
