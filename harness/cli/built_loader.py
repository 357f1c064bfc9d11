# SPDX-License-Identifier: Apache-2.0
"""The options that name a loader with its sources, by the folder that it is built in: of `mutants` and `coverage`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.mutation.builder import Subject


def add_options(parser: argparse.ArgumentParser, files: str) -> None:
    """`files` is the help of --file."""
    parser.add_argument("--compile-commands", metavar="DIR", type=Path, help="build folder with compile_commands.json")
    parser.add_argument(
        "--loader",
        metavar="PATH",
        type=Path,
        help="the built library; says what is linked, and how (default: the one libOpenCL of the build)",
    )
    parser.add_argument(
        "--target", metavar="NAME", default="", help="in place of --loader: CMake's target of the library"
    )
    parser.add_argument(
        "--link", metavar="COMMAND", help="in place of --loader: links {objects} to {output}, run in DIR"
    )
    parser.add_argument("--file", metavar="GLOB", nargs="+", default=["*.c"], help=files)


def subject_of(args: argparse.Namespace) -> Subject:
    """What the options name. Raises UsageError, or HarnessError where it cannot be built."""
    from harness.mutation.subjects import subject_named

    return subject_named(args.compile_commands, args.loader, args.target, args.link, args.file)
