# SPDX-License-Identifier: Apache-2.0
"""The proper call of each function (calls.toml), as words of the table's notation."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

from harness.api.contract import FOLDER
from harness.api.contract.entries import known, number, source, unknown
from harness.api.contract.slots import slots
from harness.api.model import Api, api
from harness.tomlfile import only_keys, read, wrong

FILE = FOLDER / "calls.toml"

# Objects that a word names besides those of a class ("context" for cl_context).
OBJECTS = (
    "platform",
    "device",
    "queue",
    "source",
    "built",
    "compiled",
    "args",
    "mem2",
    "image",
    "image2",
    "done",
    "profiled",
    "mapped",
    "svm",
    "svm2",
    "svm_mapped",
    # in states that forbid calls
    "broken",
    "with_kernel",
    "of_binary",
    "unset",
    "half_set",
    "of_image",
    "of_groups",
    "hidden",
    "host_reads",
    "host_writes",
    "read_only",
    "write_only",
    "hidden_image",
    "wide_image",
    "host_reads_image",
    "host_writes_image",
    "part",
    "pipe",
    "sub_device",
    "unmapped",
    "on_device",
    "failed",
    "ended",
    "of_another_context",
)


@dataclass(frozen=True)
class Recipe:
    """The proper call of a function: one word for each argument; `source` is document and section."""

    function: str
    words: tuple[str, ...]
    source: str


def load(model: Api) -> dict[str, Recipe]:
    """The proper calls of all functions of an API, in slot order. Raises UsageError for what is wrong in the table."""
    data = read(FILE)
    only_keys(FILE, "the head", data, ("needs", "call"))
    recipes: dict[str, Recipe] = {}
    for section, table in data["call"].items():
        where = source(FILE, f"[call.{section}]", table)
        for name, words in table.items():
            if name == "source":
                continue
            known(FILE, f"[call.{section}]", "function", name, [*model.functions, *slots()])
            if name in model.functions:
                recipes[name] = Recipe(name, _words(model, name, words), where)
    return {name: recipes[name] for name in slots() if name in recipes}


def _words(model: Api, function: str, text: str) -> tuple[str, ...]:
    words = tuple(text.split())
    takes = len(model.functions[function].parameters)
    if len(words) != takes:
        wrong(FILE, function, f"takes {takes} arguments, not {len(words)}")
    for word in words:
        check_word(FILE, function, word, model)
    return words


def check_word(path: Path, where: str, word: str, model: Api) -> None:
    """Refuses a word that is not of the notation, or that names an unknown constant or object."""
    kind, colon, rest = word.partition(":")
    if word in ("-", "!", ">", "f") or (word.startswith("?") and word[1:].isdecimal()) or (colon and kind == "s"):
        return
    for part in rest.split(",") if colon and kind in ("w", "u") else [rest] if colon and kind == "p" else [word]:
        if part.startswith(("?", "s:")):
            continue
        if number(path, where, part, model) is None and not _is_object(model, part):
            unknown(path, where, "word", part, [*OBJECTS, *(h.removeprefix("cl_") for h in handles(model))])


def _is_object(model: Api, word: str) -> bool:
    return word in OBJECTS or f"cl_{word}" in handles(model)


def handles(model: Api) -> frozenset[str]:
    """The classes of objects that functions take."""
    return frozenset(p.handle for f in model.functions.values() for p in f.parameters if p.handle)


@functools.cache
def recipes() -> dict[str, Recipe]:
    """The proper calls of the functions that the build's headers have."""
    return load(api())


@functools.cache
def needs_of(function: str) -> tuple[str, ...]:
    """What a platform may do without that the function is for: keys of `needs`."""
    return tuple(need for need, parts in read(FILE)["needs"].items() if any(part in function for part in parts))


def optional(function: str) -> bool:
    """Whether a platform may do without what the function is for, and say CL_INVALID_OPERATION."""
    return bool(needs_of(function))
