"""Writes OpenCL.def, which tells the Windows linker the names that the reference loader exports.

python -m harness.reference_loader.definition --out FILE --api api.json
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from harness.requirements.catalogue import slots


def definition(api: dict[str, Any]) -> str:
    """The text: every function that is exported by name and that the headers declare."""
    declared = {function["name"] for function in api["functions"]}
    names = [name for name in api["slots"] if name in declared and slots()[name].reached == "export"]
    return "".join(["LIBRARY OpenCL\nEXPORTS\n", *(f"    {name}\n" for name in names)])


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m harness.reference_loader.definition", description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--api", type=Path, required=True, help="api.json of harness.api.generate")
    options = parser.parse_args(arguments)
    options.out.write_text(definition(json.loads(options.api.read_text())))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
