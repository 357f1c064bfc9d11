# SPDX-License-Identifier: Apache-2.0
"""Writes the compile commands that clang-tidy is to read: each file once for each set of definitions.

usage: ci/tidy_commands.py COMPILE_COMMANDS OUT
clang-tidy reads a file once for each command that compiles it. A file that is part of several programs has as many,
which differ in nothing that it looks at; the build variants of a mock are told apart by their definitions.
"""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path


def chosen(commands: list[dict[str, str]]) -> list[dict[str, str]]:
    """The first command of each file with the same definitions, but for the one by which CMake names a library."""
    first: dict[tuple[str, ...], dict[str, str]] = {}
    for command in commands:
        words = shlex.split(command["command"])
        definitions = sorted(word for word in words if word.startswith("-D") and not word.endswith("_EXPORTS"))
        first.setdefault((command["file"], *definitions), command)
    return list(first.values())


def main(source: str, out: str) -> None:
    """Writes them."""
    Path(out).parent.mkdir(parents=True, exist_ok=True)
    Path(out).write_text(json.dumps(chosen(json.loads(Path(source).read_text())), indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
