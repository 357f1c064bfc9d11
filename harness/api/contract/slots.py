"""How a loader finds the vendor of each function (slots.toml), and which version of OpenCL brought it."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

from harness.tomlfile import one_of, read, text

FILE = Path(__file__).with_name("slots.toml")


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


# The version of OpenCL that brought the slots from each number on; members of cl_icd_dispatch are only ever appended.
_FIRST_SLOTS = {"1.0": 0, "1.1": 81, "1.2": 93, "2.0": 123, "2.1": 137, "2.2": 144, "3.0": 146, "3.1": 149}


def opencl_version(slot: Slot) -> str:
    """The version of OpenCL that brought a function, as "1.2"; of an extension's, the one that it is listed under."""
    return next(version for version, first in reversed(_FIRST_SLOTS.items()) if slot.number >= first)
