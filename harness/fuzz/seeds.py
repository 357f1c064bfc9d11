# SPDX-License-Identifier: Apache-2.0
"""How the seeds of fuzz targets are written: each target's in a folder of its own."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

Seeds = Callable[[], Iterator[bytes]]


def main(program: str, description: str | None, targets: Sequence[Seeds], arguments: list[str]) -> int:
    """`python -m PROGRAM --out FOLDER`; each target is a function with the target's name."""
    parser = argparse.ArgumentParser(prog=f"python -m {program}", description=description)
    parser.add_argument("--out", type=Path, required=True)
    folder = parser.parse_args(arguments).out
    for target in targets:
        (folder / target.__name__).mkdir(parents=True, exist_ok=True)
        for number, seed in enumerate(target()):
            (folder / target.__name__ / f"{number:03}").write_bytes(seed)
    return 0
