# SPDX-License-Identifier: Apache-2.0
"""How the seeds of fuzz targets are written: each target's in a folder of its own."""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

Seeds = Callable[[], Iterator[bytes]]


def by_name(inputs: Iterable[bytes]) -> dict[str, bytes]:
    """Inputs named by their content, so that none is there twice."""
    return {hashlib.sha1(data).hexdigest(): data for data in inputs}


def keep_folder(folder: Path, inputs: Iterable[bytes]) -> Path:
    """Brings a folder up to date, so that it holds these inputs and nothing else."""
    wanted = by_name(inputs)
    folder.mkdir(parents=True, exist_ok=True)
    there = {file.name for file in folder.iterdir()}
    for name in there - wanted.keys():
        (folder / name).unlink(missing_ok=True)
    for name in wanted.keys() - there:
        (folder / name).write_bytes(wanted[name])
    return folder


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
