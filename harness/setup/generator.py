# SPDX-License-Identifier: Apache-2.0
"""Runs a program that writes files of the build, and tells the build tool which files of this repository it has read.

    python -P harness/setup/generator.py DEPFILE OUTPUT MODULE [ARGUMENT...]

The program finds the package `harness` whatever PYTHONPATH holds, and modules of PYTHONPATH, too. OUTPUT is the first
file that it writes; DEPFILE gets a line for make: OUTPUT, and each module and table that was read, so that a change in
one of them runs the program again.
"""

from __future__ import annotations

import importlib.util
import os
import runpy
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Reads:
    """Every file that this process opens to read, from now on."""

    def __init__(self) -> None:
        self.paths: set[str] = set()
        sys.addaudithook(self._note)

    def _note(self, event: str, arguments: tuple[object, ...]) -> None:
        if event != "open":
            return
        path, _, flags = arguments
        if isinstance(path, (str, bytes)) and isinstance(flags, int) and flags & os.O_ACCMODE == os.O_RDONLY:
            self.paths.add(os.path.abspath(os.fsdecode(path)))


def modules(main: str) -> set[str]:
    """The source files of what was imported, and of the program itself; a compiled module is read from elsewhere."""
    spec = importlib.util.find_spec(main)
    files = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
    return {os.path.abspath(file) for file in files | {spec.origin if spec else None} if file}


def in_repository(path: str) -> bool:
    """Whether it is a source of this project on which a generated file can depend."""
    return path.startswith(f"{ROOT}{os.sep}") and not path.endswith(".pyc") and os.path.isfile(path)


def escaped(path: str) -> str:
    """As make reads names of files."""
    return path.replace("$", "$$").replace("#", "\\#").replace(" ", "\\ ")


def main() -> int:
    depfile, output, module, *arguments = sys.argv[1:]
    sys.path.insert(0, str(ROOT))
    from harness import derived

    derived.keeps = False  # what another build left must not become something that this one depends on
    reads = Reads()
    sys.argv = [module, *arguments]
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if end.code:
            raise
    needed = sorted(filter(in_repository, reads.paths | modules(module)))
    Path(depfile).write_text(f"{escaped(output)}: {' '.join(map(escaped, needed))}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
