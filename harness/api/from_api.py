# SPDX-License-Identifier: Apache-2.0
"""Command line of the programs that write one file from api.json, which CMake runs at build time."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any


def main(program: str, description: str | None, text: Callable[[dict[str, Any]], str], arguments: list[str]) -> int:
    """`python -m PROGRAM --out FILE --api api.json`; `text` makes what the file holds."""
    parser = argparse.ArgumentParser(prog=f"python -m {program}", description=description)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--api", type=Path, required=True, help="api.json of harness.api.generate")
    options = parser.parse_args(arguments)
    options.out.write_text(text(json.loads(options.api.read_text())))
    return 0
