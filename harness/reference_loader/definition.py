# SPDX-License-Identifier: Apache-2.0
"""Writes OpenCL.def, which gives the Windows linker the names that the reference loader exports.

python -m harness.reference_loader.definition --out FILE --api api.json
"""

from __future__ import annotations

import sys
from typing import Any

from harness.api import from_api
from harness.api.contract.slots import slots


def definition(api: dict[str, Any]) -> str:
    """The text: every function that is exported by name and that the headers declare."""
    declared = {function["name"] for function in api["functions"]}
    names = [name for name in api["slots"] if name in declared and slots()[name].reached == "export"]
    return "".join(["LIBRARY OpenCL\nEXPORTS\n", *(f"    {name}\n" for name in names)])


if __name__ == "__main__":
    sys.exit(from_api.main("harness.reference_loader.definition", __doc__, definition, sys.argv[1:]))
