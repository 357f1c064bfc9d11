# SPDX-License-Identifier: Apache-2.0
"""--env: what a subject of a user's own needs in its environment, of which cases have little of their own accord."""

from __future__ import annotations

import argparse
import os
from collections.abc import Collection, Sequence

from harness.errors import UsageError
from harness.subject.neighbours import FOLDERS, KEPT_PRELOADED, PRELOADED


def add_variables_argument(parser: argparse.ArgumentParser, need: str) -> None:
    """The option. `need` goes on after "a variable that"."""
    parser.add_argument(
        "--env",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help=f"a variable that {need}; may be given several times",
    )


def variable_options(option: str, texts: Sequence[str], reserved: Collection[str] = ()) -> list[str]:
    """The same as one of pytest's options. Raises UsageError where one is not a variable, or `reserved` for the cases.

    What the dynamic linker reads goes into this process's environment, as if the user had set it before the command: it
    holds for whatever looks for the subject's libraries.
    """
    options = []
    for text in texts:
        name, sign, value = text.partition("=")
        if not (name and sign):
            raise UsageError(f"--env {text}: give a name and a value, as in RUSTICL_ENABLE=llvmpipe")
        if name in reserved:
            raise UsageError(f"--env {text}: the cases set {name} themselves; a value for all of them would spoil them")
        if name == FOLDERS:
            os.environ[FOLDERS] = ":".join(filter(None, (value, os.environ.get(FOLDERS))))
        elif name == PRELOADED:
            before = os.environ.pop(PRELOADED, "") or os.environ.get(KEPT_PRELOADED, "")
            os.environ[PRELOADED] = " ".join(filter(None, (value, before)))
        else:
            options.append(f"{option}={text}")
    return options
