# SPDX-License-Identifier: Apache-2.0
"""Test a loader: run the suites against it and report what is not as expected."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from harness.build import build
from harness.cli.bisect_run import bisect, handed_on
from harness.cli.variables import add_variables_argument, variable_options
from harness.errors import HarnessError, UsageError
from harness.run import command, plan, torture
from harness.sandbox.sandbox import LOADER_VARIABLES
from harness.sandbox.vulkan import VULKAN_VARIABLES
from harness.sandbox.wine import runs_under
from harness.subject.identify import LOADER, VULKAN_LOADER, identify, refusal
from harness.subject.library import file_format
from harness.subject.loader import Loader
from harness.subject.search import SONAME, VULKAN_SONAME, system_loader
from harness.subject.vulkan_loader import VulkanLoader

EXAMPLE = """\
  clharness loader                                     the system's loader, else the reference loader
  clharness loader build/libOpenCL.so.1 -k fifo        one that was just built, the checks named fifo
  clharness loader --vulkan                            the system's Vulkan loader
  clharness loader build/libOpenCL.so.1 --torture      each call for memory, a file, a library fails once
  clharness loader --json build/run.jsonl --junit build/run.xml --strict
"""

WAITING = 4  # processes more than processors: at any time some wait for what a subject does, or does not do
WAITING_FOR_DRIVERS = 2  # fewer wait for a driver: most of its time it compiles, the same for each process once more
_ROOT = Path(__file__).resolve().parents[2]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "path",
        nargs="?",
        metavar="PATH",
        help="library to test; default: the system's loader, or where there is none the reference loader",
    )
    parser.add_argument("--vulkan", action="store_true", help="PATH is a Vulkan loader; without it: this machine's")
    parser.add_argument(
        "--suite", metavar="NAME", help="run only this suite: discovery, dispatch, layers, interop, torture"
    )
    parser.add_argument(
        "--torture",
        action="store_true",
        help="run the checks in which each call of the loader for memory, files, libraries and threads fails once",
    )
    parser.add_argument(
        "--bisect",
        metavar="FILE",
        help="for git bisect run: run what these records have as red; exit 0: none is, 1: one is, 125: untestable",
    )
    add_variables_argument(parser, "the loader needs")
    add_run_arguments(parser)


def add_run_arguments(parser: argparse.ArgumentParser, waiting: int = WAITING) -> None:
    """What every command takes that runs suites against a subject; with so many processes more than processors."""
    add_selection_arguments(parser, waiting)
    parser.add_argument("--json", metavar="FILE", help="write the records there, as JSON Lines")
    parser.add_argument("--junit", metavar="FILE", help="write JUnit XML there")
    parser.add_argument("--sarif", metavar="FILE", help="write the red cases there, as SARIF 2.1.0")
    parser.add_argument(
        "--html", metavar="DIR", help="write a page with every case into a folder, to open in a browser"
    )
    parser.add_argument("--expect", metavar="FILE", help="expectation file; default: found by the subject's name")
    parser.add_argument(
        "--update-expectations",
        action="store_true",
        help="rewrite the expectation file to what the run shows",
    )
    parser.add_argument("--strict", action="store_true", help="count deviations of should and de-facto, too")
    parser.add_argument("--keep", action="store_true", help="keep the sandbox of every case")
    add_terminal_arguments(parser)
    plan.add_arguments(parser)


def add_selection_arguments(parser: argparse.ArgumentParser, waiting: int = WAITING) -> None:
    """Which checks run, and how."""
    parser.add_argument("-k", metavar="EXPRESSION", help="run only the checks that match (like pytest's -k)")
    more = {WAITING: "four", WAITING_FOR_DRIVERS: "two"}[waiting]
    parser.add_argument("-j", metavar="N", type=positive, help=f"processes; default: {more} more than processors")
    parser.set_defaults(waiting=waiting)
    parser.add_argument("--time-limit", metavar="S", type=seconds, help="seconds until a call counts as hung")


def add_terminal_arguments(parser: argparse.ArgumentParser) -> None:
    """For every command that prints a report."""
    parser.add_argument("--verbose", action="store_true", help="report all cases, reasons and outcomes, by section")
    parser.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="default: auto, in a terminal that has them and without NO_COLOR",
    )


def run(args: argparse.Namespace) -> int:
    if args.bisect:
        if args.path is None:
            raise UsageError(f"--bisect {args.bisect}: name the loader of the version to test, too")
        return bisect(Path(args.bisect), args.path, handed_on(args))
    suites = _ROOT / "suites"
    if not any(suites.glob("*/test_*.py")):
        raise HarnessError(f"there are no suites in {suites}; is this checkout complete?")
    if args.torture and args.suite not in (None, torture.FOLDER):
        raise UsageError(f"--torture --suite {args.suite}: torture is a suite of its own; leave --suite out")
    is_torture = args.torture or args.suite == torture.FOLDER
    subject = loader_option(args.path, args.vulkan) + [torture.ONLY] * is_torture
    is_vulkan = bool(subject) and subject[0].startswith(VulkanLoader.option)
    if is_vulkan and args.suite not in (None, _VULKAN_SUITE):
        raise UsageError(
            f"--suite {args.suite}: a Vulkan loader has the suite {_VULKAN_SUITE} alone; leave --suite out"
        )
    of_cases = VULKAN_VARIABLES if is_vulkan else LOADER_VARIABLES
    subject += variable_options("--loader-env", args.env, of_cases)
    return run_suites(subject, args, _suite_folder(suites, torture.FOLDER if is_torture else args.suite))


def run_suites(subject: Sequence[str], args: argparse.Namespace, *folders: Path) -> int:
    """Runs the suites in `folders` with the options that name the subject; gives the exit code of the run."""
    jobs = args.j or len(os.sched_getaffinity(0)) + args.waiting
    options = [*subject, *run_options(args), *map(str, folders)]
    return command.run(_ROOT, options, jobs, plan.from_arguments(args))


def positive(text: str) -> int:
    """An argument that is a number from 1. Raises ArgumentTypeError, which argparse shows."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of processes; give 1 or more")
    return int(text)


def seconds(text: str) -> float:
    """A time that an option gives."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a time; give seconds, such as 5 or 0.5")
    return number


def run_options(args: argparse.Namespace) -> list[str]:
    """The options of pytest. Paths become absolute here: pytest runs in the root, wherever the user is."""
    arguments = [f"--color={_PYTEST_COLOR[args.color]}"]
    if args.k is not None:
        arguments += ["-k", args.k]
    for option, file in (
        ("--clharness-json", args.json),
        ("--clharness-junit", args.junit),
        ("--clharness-sarif", args.sarif),
    ):
        if file is not None:
            arguments.append(f"{option}={output_path(option.replace('clharness-', ''), file)}")
    if args.html is not None:
        arguments.append(f"--clharness-html={output_folder('--html', args.html)}")
    if args.expect is not None:
        arguments.append(f"--expect={_expectation_path(args.expect, args.update_expectations)}")
    if args.time_limit is not None:
        arguments.append(f"--time-limit={args.time_limit:g}")
    return arguments + [option for name, option in _FLAGS.items() if getattr(args, name)]


def _suite_folder(suites: Path, name: str | None) -> Path:
    if name is None:
        return suites
    present = sorted(folder.name for folder in suites.iterdir() if any(folder.glob("test_*.py")))
    if name not in present:
        raise UsageError(f"--suite {name}: there is no such suite; the suites are {', '.join(present)}")
    return suites / name


_VULKAN_SUITE = "interop"
_FLAGS = {
    "update_expectations": "--update-expectations",
    "strict": "--clharness-strict",  # --strict is pytest's own
    "keep": "--keep",
    "verbose": "--clharness-verbose",  # --verbose is pytest's own
}
_PYTEST_COLOR = {"auto": "auto", "always": "yes", "never": "no"}


def loader_option(path: str | None, vulkan: bool = False) -> list[str]:
    """The loader that pytest is to test: none for the system's, which it finds itself."""
    if vulkan and path is None:
        return [_vulkan_option()]
    if path is not None:
        library = library_path(path)
        return [f"{VulkanLoader.option if vulkan or _is_vulkan_loader(library) else Loader.option}={library}"]
    if build().windows:
        return [f"{Loader.option}={build().reference_loader}"]
    if system_loader() is not None:
        return []
    print(f"clharness: there is no {SONAME} on this machine: this run tests clharness's own reference loader")
    return [f"--loader={build().reference_loader}"]


def _is_vulkan_loader(library: Path) -> bool:
    try:
        return identify(library) == VULKAN_LOADER
    except UsageError:  # a damaged library, which is said when it is opened
        return False


def _vulkan_option() -> str:
    """The system's Vulkan loader, else the reference loader for Vulkan drivers."""
    library = system_loader(VULKAN_SONAME)
    if library is None:
        print(
            f"clharness: there is no {VULKAN_SONAME} on this machine: this run tests clharness's own reference loader"
        )
        library = build().with_vulkan().reference_loader
    return f"{VulkanLoader.option}={library}"


def library_path(text: str, example: str = "a loader, such as build/libOpenCL.so.1") -> Path:
    """The absolute path of a shared library. UsageError where it is not one: what it is, or the `example` of one."""
    path = Path(text)
    try:
        form = file_format(path)
    except OSError as error:
        reason = "is a folder" if path.is_dir() else (error.strerror or str(error)).lower()
        raise UsageError(f"{text}: {reason}; give the path of {example}") from error
    if form == "PE":
        if (identity := identify(path)) is not LOADER:
            raise UsageError(refusal(path, identity))
        print(f"clharness: {text} is a library for Windows: its processes run {runs_under()}", file=sys.stderr)
    elif form != "ELF":
        if (identity := identify(path)).kind:
            raise UsageError(refusal(path, identity))
        raise UsageError(f"{text}: not a shared library; give the path of {example}")
    return path.absolute()


def output_path(option: str, text: str) -> Path:
    """The file that a report goes to. Raises UsageError where it cannot be written there."""
    path = Path(text)
    if text in ("-", "/dev/stdout"):
        raise UsageError(f"{option} {text}: the report is printed there; name a file")
    if path.is_dir():
        raise UsageError(f"{option} {text}: is a folder; name a file in it")
    if not path.parent.is_dir():
        raise UsageError(f"{option} {text}: there is no folder {path.parent}; make it first")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise UsageError(f"{option} {text}: cannot be written; name another file")
    return path.absolute()


def output_folder(option: str, text: str) -> Path:
    """The absolute path of a folder that can be written to, or made. Raises UsageError."""
    path = Path(text)
    if path.exists() and not path.is_dir():
        raise UsageError(f"{option} {text}: is not a folder; name a new one")
    if not path.absolute().parent.is_dir():
        raise UsageError(f"{option} {text}: there is no folder {path.parent}; make it first")
    if not os.access(path if path.exists() else path.absolute().parent, os.W_OK):
        raise UsageError(f"{option} {text}: cannot be written; name another folder")
    return path.absolute()


def _expectation_path(text: str, will_be_written: bool) -> Path:
    path = Path(text)
    if not path.is_file() and not (will_be_written and path.parent.is_dir() and not path.exists()):
        raise UsageError(f"--expect {text}: no such file; --update-expectations would write a new one there")
    return path.absolute()
