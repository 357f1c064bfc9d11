# SPDX-License-Identifier: Apache-2.0
"""Writes the version script of the reference loader: each function under the OpenCL version that brought it.

    python -m harness.reference_loader.symbol_versions --out FILE --api api.json

Programs that were linked with another loader for Linux ask for these versions by name.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from typing import Any

from harness.api import from_api
from harness.api.contract.slots import opencl_version, slots


def script(api: dict[str, Any]) -> str:
    """The text: every function that is exported by name and that the headers declare."""
    declared = {function["name"] for function in api["functions"]}
    names: dict[str, list[str]] = defaultdict(list)
    for slot in slots().values():
        if slot.function in declared and slot.reached == "export":
            names[opencl_version(slot)].append(slot.function)
    parts, before = [], ""
    for version, functions in names.items():
        listed = "".join(f"        {name};\n" for name in functions)
        others = "" if before else "    local:\n        *;\n"
        parts.append(f"OPENCL_{version} {{\n    global:\n{listed}{others}}}{before};\n")
        before = f" OPENCL_{version}"
    return "\n".join(parts)


if __name__ == "__main__":
    sys.exit(from_api.main("harness.reference_loader.symbol_versions", __doc__, script, sys.argv[1:]))
