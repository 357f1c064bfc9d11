# SPDX-License-Identifier: Apache-2.0
"""Writes where each call must go, for the oracles of the fuzz targets, from the classes of vendor inference.

python -m harness.fuzz.rules --out FILE --api api.json
"""

from __future__ import annotations

import re
import sys
from typing import Any

from harness.api import from_api
from harness.api.contract.slots import Slot, slots

KINDS = {"devices": "LIST", "events": "LIST", "properties": "PROPERTIES", "loader": "LOADER", "none": "LOADER"}
LISTS = {"devices": "devices", "events": "event_list", "properties": "properties"}


def _argument(function: dict[str, Any], slot: Slot) -> int:
    """The place of the argument that belongs to the vendor."""
    name = LISTS.get(slot.class_, slot.argument)
    names = [p["name"] for p in function["parameters"]]
    if name in names:
        return names.index(name)
    if slot.class_ in ("loader", "none"):
        return 0
    return next(i for i, p in enumerate(function["parameters"]) if p["kind"] == "handle")


def _null_answer(slot: Slot) -> int:
    """The error for NULL there; in a list, for NULL in its first place."""
    element = re.search(r"NULL element (-\d+)", slot.null_note or "")
    return int(element[1]) if element else slot.null or 0


def _row(function: dict[str, Any], slot: Slot) -> str:
    exported, here = slot.reached == "export", slot.reached != "windows-query"
    fields = (
        f"RULE_{KINDS.get(slot.class_, 'OBJECT')}",
        str(_argument(function, slot)),
        str(_null_answer(slot)),
        str(exported).lower(),
        str(here).lower(),
        str(slot.empty_slot == "CL_INVALID_OPERATION").lower(),
    )
    return f"    [FUNCTION_{slot.function}] = {{{', '.join(fields)}}},\n"


def source(api: dict[str, Any]) -> str:
    """The C text."""
    functions = {f["name"]: f for f in api["functions"]}
    rows = "".join(_row(functions[s.function], s) for s in slots().values() if s.function in functions)
    return f"""/* Generated from the installed OpenCL-Headers and harness/api/contract/slots.toml. Do not edit. */
#include "rules.h"

const struct rule rules[FUNCTION_COUNT] = {{
{rows}}};
"""


if __name__ == "__main__":
    sys.exit(from_api.main("harness.fuzz.rules", __doc__, source, sys.argv[1:]))
