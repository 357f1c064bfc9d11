# SPDX-License-Identifier: Apache-2.0
"""How a loader finds the vendor of each function (slots.toml), and which version of OpenCL brought it."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

from harness.api.codes import nearest
from harness.api.families import ERRORS
from harness.api.model import Api
from harness.tomlfile import one_of, only_keys, read, text, wrong

FILE = Path(__file__).with_name("slots.toml")
_KEYS = ("slot", "class", "argument", "null", "null_note", "errcode_ret", "reached", "empty_slot")


@dataclass(frozen=True)
class Slot:
    """How a loader finds the vendor of one function; see the head of slots.toml."""

    function: str
    number: int
    class_: str
    argument: str
    null: int | None  # OpenCL error code for NULL in that argument
    null_note: str | None
    errcode_ret: bool
    reached: str  # export, query or windows-query
    empty_slot: str  # undefined, CL_INVALID_OPERATION or never used


@functools.cache
def slots() -> dict[str, Slot]:
    """Vendor inference by function name, in the order of the dispatch table."""
    data = read(FILE)
    classes = data["class"]
    result: dict[str, Slot] = {}
    for name, table in data["function"].items():
        only_keys(FILE, name, table, _KEYS)
        kind = text(FILE, name, table, "class")
        one_of(FILE, name, "class", kind, classes)
        note = table.get("null_note")
        result[name] = Slot(
            function=name,
            number=table["slot"],
            class_=kind,
            argument=table.get("argument", classes[kind]["argument"]),
            null=None if note else table.get("null", classes[kind].get("null")),
            null_note=note,
            errcode_ret=table.get("errcode_ret", False),
            reached=table.get("reached", "export"),
            empty_slot=table.get("empty_slot", "undefined"),
        )
    return result


def check(model: Api) -> None:
    """Refuses functions without a slot in headers and supplement.h, and numbers that are not error codes."""
    errors = {model.constants[name] for name in model.families[ERRORS].names}
    for name, slot in slots().items():
        if name not in model.slots:
            wrong(FILE, name, f"is not a slot of cl_icd_dispatch{nearest(name, list(model.slots))}")
        if slot.null is not None and slot.null not in errors:
            wrong(FILE, name, f"has null = {slot.null}, which is not an error code of the OpenCL-Headers")


# The version of OpenCL that brought the slots from each number on; members of cl_icd_dispatch are only ever appended.
_FIRST_SLOTS = {"1.0": 0, "1.1": 81, "1.2": 93, "2.0": 123, "2.1": 137, "2.2": 144, "3.0": 146, "3.1": 149}


def opencl_version(slot: Slot) -> str:
    """The version of OpenCL that brought a function, as "1.2"; of an extension's, the one that it is listed under."""
    return next(version for version, first in reversed(_FIRST_SLOTS.items()) if slot.number >= first)
