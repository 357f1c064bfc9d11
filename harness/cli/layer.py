# SPDX-License-Identifier: Apache-2.0
"""Test a layer: its contract, whether anybody notices it, and what it leaves behind."""

from __future__ import annotations

import argparse
from pathlib import Path

from harness.build import ROOT
from harness.cli.loader import add_run_arguments, library_path, run_suites
from harness.cli.variables import add_variables_argument, variable_options
from harness.errors import HarnessError
from harness.sandbox.sandbox import LOADER_VARIABLES
from harness.subject import Layer, Subject

EXAMPLE = """\
  clharness layer build/libmylayer.so                            with the reference loader
  clharness layer libmylayer.so --loader /usr/lib/libOpenCL.so.1  with that loader, too
  clharness layer libtracer.so --changes clCreateCommandQueue    a layer that changes these calls on purpose
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what the command takes (harness.cli.main)."""
    parser.add_argument("path", metavar="PATH", help="library of the layer")
    add_loader_argument(parser, "the layer")
    add_variables_argument(parser, "the layer needs")
    parser.add_argument(
        "--changes",
        metavar="FUNCTION",
        action="append",
        default=[],
        help="what the layer changes on purpose: a function's name, `all`, or `invalid` where it answers invalid calls "
        "itself; may be given several times",
    )
    add_run_arguments(parser)


def add_loader_argument(parser: argparse.ArgumentParser, subject: str, besides: str = "the reference loader") -> None:
    """For subjects that loaders load."""
    parser.add_argument(
        "--loader",
        metavar="PATH",
        action="append",
        default=[],
        help=f"a loader to test {subject} with, besides {besides}; may be given several times",
    )


def folders_of_checks(kind: type[Subject]) -> list[Path]:
    """The folders of the suites that have the checks for a kind of subject. Raises HarnessError where there is none."""
    suites = ROOT / "suites"
    folders = sorted({path.parent for path in suites.glob(f"*/{kind.checks}/test_*.py")})
    if not folders:
        raise HarnessError(f"there are no checks in {suites}/*/{kind.checks}; is this checkout complete?")
    return folders


def run(args: argparse.Namespace) -> int:
    """Runs the command; gives its exit code. Raises ClharnessError, whose sentence and code are the answer then."""
    folders = folders_of_checks(Layer)
    options = [f"{Layer.option}={library_path(args.path, 'a layer, such as build/libmylayer.so')}"]
    options += [f"--through={library_path(path)}" for path in args.loader]
    options += [f"--changes={name}" for name in args.changes]
    options += variable_options("--layer-env", args.env, LOADER_VARIABLES)
    return run_suites(options, args, *folders)
