# SPDX-License-Identifier: Apache-2.0
"""Writes the reference loader's exported functions from the API model and the classes of vendor inference.

    python -m harness.reference_loader.generate --out FILE --api api.json

Each exported function calls the first layer's table where there is a layer, else the loader's own function, which
finds the vendor by its object (or stands in entry_points.c).
"""

from __future__ import annotations

import sys
from typing import Any

from harness.api import from_api
from harness.api.contract.slots import Slot, opencl_version, slots

OWN = ("loader", "properties", "devices", "events", "none")
OWN_FUNCTIONS = ("clSVMAlloc", "clSVMFree")
# Functions that may be the first of a process: they start discovery.
FIRST = ("loader", "properties", "platform", "none")


def _declaration(function: dict[str, Any], name: str) -> str:
    parameters = ", ".join(
        p["type"].replace("(*", "(CL_CALLBACK *", 1) if p["kind"] == "callback" else p["type"]
        for p in function["parameters"]
    )
    return f"{function['result']} CL_API_CALL {name}({parameters or 'void'})"


def _arguments(function: dict[str, Any]) -> str:
    return ", ".join(p["name"] for p in function["parameters"])


def _loader_function(function: dict[str, Any], slot: Slot) -> str:
    """The loader's own end of the chain, for a function whose vendor is that of one object."""
    name, handle = function["name"], next(p for p in function["parameters"] if p["kind"] == "handle")["name"]
    errors = any(p["name"] == "errcode_ret" for p in function["parameters"])

    def fail(error: int | str) -> str:
        if not errors:
            return f"        return {error};"
        return f"        if (errcode_ret) {{\n            *errcode_ret = {error};\n        }}\n        return NULL;"

    return f"""static {_declaration(function, "loader_" + name)}
{{
    if (!{handle}) {{
{fail(slot.null or 0)}
    }}
    type_of_{name} *forward = (type_of_{name} *)vendor_entry({handle}, {slot.number});
    if (!forward) {{
{fail("CL_INVALID_OPERATION")}
    }}
    return forward({_arguments(function)});
}}
"""


def _export(function: dict[str, Any], slot: Slot) -> str:
    name, arguments = function["name"], _arguments(function)
    back = "" if function["result_kind"] == "void" else "return "
    start = "    loader_initialize();\n" if slot.class_ in FIRST else ""
    call = f"((type_of_{name} *)first_layer_table->slot[{slot.number}])({arguments})"
    linkage = "EXPORTED CL_API_ENTRY" if slot.reached == "export" else "static"
    exported = name if slot.reached == "export" else f"queried_{name}"
    return f"""{linkage} {_declaration(function, exported)}
{{
{start}    if (first_layer_table) {{
        {back}{call};{"" if back else chr(10) + "        return;"}
    }}
    {back}loader_{name}({arguments});
}}
"""


def source(api: dict[str, Any]) -> str:
    """The C text."""
    functions = {f["name"]: f for f in api["functions"]}
    parts, own, queried, versions = [], [], [], []
    for name in api["slots"]:
        slot = slots()[name]
        function = functions.get(name)
        if function is None:  # headers of another system declare it
            continue
        parts.append(f"typedef {_declaration(function, 'type_of_' + name)};\n")
        if slot.reached == "export":  # headers have slots whose function they do not declare
            parts.append(f"EXPORTED CL_API_ENTRY {_declaration(function, name)};\n")
            versions.append(opencl_version(slot))
        if slot.class_ not in OWN and name not in OWN_FUNCTIONS:
            parts.append(_loader_function(function, slot))
        parts.append(_export(function, slot))
        public = name if slot.reached == "export" else f"queried_{name}"
        own.append(f"        [{slot.number}] = (entry)loader_{name},\n")
        if slot.empty_slot == "CL_INVALID_OPERATION":  # so are the slots of extensions marked
            queried.append(f"    [{slot.number}] = (entry){public},\n")
    return f"""/* Generated from the installed OpenCL-Headers and harness/api/contract/slots.toml. Do not edit. */
#include "dispatch.h"
#include "entry_points.h"

#ifdef _WIN32
#define EXPORTED /* OpenCL.def names them */
#else
#define EXPORTED __attribute__((visibility("default")))
#endif
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

{"".join(parts)}
const struct table loader_table = {{
    .slot = {{
{"".join(own)}    }}}};

static const entry queried[TABLE_LENGTH] = {{
{"".join(queried)}}};

const char loader_opencl_version[] = "OpenCL {max(versions)}";

entry queried_function(int slot)
{{
    return queried[slot];
}}
"""


if __name__ == "__main__":
    sys.exit(from_api.main("harness.reference_loader.generate", __doc__, source, sys.argv[1:]))
