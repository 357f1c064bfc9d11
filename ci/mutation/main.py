# SPDX-License-Identifier: Apache-2.0
"""The command line of ci/mutants."""

from __future__ import annotations

import argparse
import json
import os
import random
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from ci.mutation import report
from ci.mutation.builder import Subject, chosen, cmake_link, units, with_output
from ci.mutation.campaign import Campaign
from ci.mutation.operators import OPERATORS, Mutant, mutants
from ci.mutation.syntax import SyntaxFailure, parse
from harness.build import ROOT, build
from harness.cli.loader import output_path, positive
from harness.errors import ClharnessError, Exit, HarnessError, UsageError
from harness.report.terminal import Terminal

REFERENCE = "clharness_reference_loader"
EPILOG = """\
examples:
  ci/mutants                                         every mutant of the reference loader
  ci/mutants --sample 60 --seed 7 --suite discovery  60 of them, chosen by chance, against one suite
  ci/mutants --only os_linux.c --list                what would be made of a file
  ci/mutants --compile-commands build --target OpenCL --sources 'loader/*.c' 'loader/linux/*.c'
                                                     a loader of your own that CMake builds

exit codes: 0 done, 1 a smaller share was found than --at-least says, 2 wrong usage, 3 the run itself failed
"""


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="ci/mutants",
        description="Makes small mistakes in a loader's sources, one at a time; says which of them the suites find.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--sample", metavar="N", type=positive, help="only so many mutants, chosen by chance")
    parser.add_argument("--seed", metavar="S", type=int, help="the seed of --sample; default: a new one each time")
    parser.add_argument("--only", metavar="FILE", nargs="+", help="only mutants of these files")
    parser.add_argument("--function", metavar="NAME", nargs="+", help="only mutants of these functions")
    parser.add_argument("--operator", metavar="NAME", nargs="+", choices=OPERATORS, help="; ".join(OPERATORS))
    parser.add_argument("--suite", metavar="NAME", nargs="+", help="only these suites; default: all")
    parser.add_argument("-k", metavar="EXPRESSION", default="", help="only the checks that match (as pytest's -k)")
    parser.add_argument("-j", metavar="N", type=positive, help="processes; default: one per processor")
    parser.add_argument("--limit", metavar="S", type=float, default=300.0, help="seconds of a mutant (default 300)")
    parser.add_argument("--json", metavar="FILE", help="write the result there")
    parser.add_argument("--at-least", metavar="PERCENT", type=float, default=0.0, help="exit 1 where less is found")
    parser.add_argument("--list", action="store_true", help="print the mutants and end; they may not compile")
    other = parser.add_argument_group("another library than the reference loader")
    other.add_argument("--compile-commands", metavar="DIR", type=Path, help="build folder with compile_commands.json")
    other.add_argument("--target", metavar="NAME", default="", help="CMake's target of the library")
    other.add_argument("--sources", metavar="GLOB", nargs="+", default=["*.c"], help="files to mutate; default: all")
    other.add_argument(
        "--link", metavar="COMMAND", help="links {objects} to {output}, run in DIR; default: CMake's command"
    )
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    args = _arguments(argv)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a nightly job that is cut short still cleans up
    try:
        return _run(args)
    except (ClharnessError, SyntaxFailure) as error:
        print(f"ci/mutants: {error}", file=sys.stderr)
        return int(error.exit_code if isinstance(error, ClharnessError) else Exit.HARNESS)
    except KeyboardInterrupt:
        print("ci/mutants: interrupted", file=sys.stderr)
        return Exit.INTERRUPTED


def _run(args: argparse.Namespace) -> int:
    output = output_path("--json", args.json) if args.json else None
    subject = _subject(args) if args.compile_commands else reference_loader()
    selected = _selected(args, subject)
    if args.list:
        print("\n".join(str(mutant) for mutant in selected))
        return Exit.AS_EXPECTED
    if not selected:
        print("ci/mutants: no mutant matches", file=sys.stderr)
        return Exit.NOTHING_RAN
    _must_run(["cmake", "--build", build().folder])  # the harness itself: as the sources are now
    terminal = Terminal(sys.stdout)
    started = time.monotonic()
    campaign = Campaign(subject, selected, _suites(args.suite), args.k, _jobs(args.j), args.limit, terminal.progress)
    try:
        campaign.run()
    finally:
        terminal.end_progress()
        seconds = time.monotonic() - started
        if campaign.fates:
            print("\n".join(report.lines(campaign, seconds)))
            if output:
                output.write_text(json.dumps(report.as_json(campaign, seconds), indent=1) + "\n")
    return Exit.UNEXPECTED if 100 * report.share(campaign) < args.at_least else Exit.AS_EXPECTED


def _jobs(number: int | None) -> int:
    return number or len(os.sched_getaffinity(0))


def _suites(names: Sequence[str] | None) -> list[Path]:
    present = sorted(folder for folder in (ROOT / "suites").iterdir() if any(folder.glob("test_*.py")))
    by_name = {folder.name: folder for folder in present}
    for name in names or ():
        if name not in by_name:
            raise UsageError(f"--suite {name}: there is no such suite; the suites are {', '.join(by_name)}")
    return [by_name[name] for name in names or by_name]


def reference_loader() -> Subject:
    """The reference loader without seeded faults, configured in a folder of its own; only what is written by hand."""
    folder = build().folder / "mutants"
    if not (folder / "compile_commands.json").exists():
        _must_run(["cmake", "-S", ROOT, "-B", folder, "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"])
    _must_run(["cmake", "--build", folder, "--target", REFERENCE])
    all_units = units(folder, REFERENCE)
    directory, link = cmake_link(folder, REFERENCE)
    here = ROOT / "harness" / "reference_loader"
    return Subject(all_units, link, directory, tuple(unit.source for unit in all_units if unit.source.parent == here))


def _must_run(command: Sequence[str | Path]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise HarnessError(f"{shlex.join(map(str, command))} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


def _subject(args: argparse.Namespace) -> Subject:
    folder = args.compile_commands.resolve()
    all_units = units(folder, args.target)
    if args.link:
        directory, link = folder, with_output(shlex.split(args.link))
    else:
        directory, link = cmake_link(folder, args.target)
    sources = chosen(all_units, args.sources)
    if not sources:
        raise UsageError(f"--sources: none of {', '.join(unit.source.name for unit in all_units)} matches")
    return Subject(all_units, link, directory, sources)


def all_mutants(subject: Subject) -> list[Mutant]:
    result: list[Mutant] = []
    for source in dict.fromkeys(subject.sources):
        unit = subject.unit(source)
        parsed = parse(source, unit.arguments, unit.directory)
        if parsed.text != unit.text:
            raise HarnessError(f"{source} is being changed; start again")
        result += mutants(parsed)
    return result


def _selected(args: argparse.Namespace, subject: Subject) -> list[Mutant]:
    selection = [
        mutant
        for mutant in all_mutants(subject)
        if (not args.only or mutant.file.name in {Path(name).name for name in args.only})
        and (not args.function or mutant.function in args.function)
        and (not args.operator or mutant.operator in args.operator)
    ]
    if args.sample is None:
        return selection
    seed = random.randrange(10**6) if args.seed is None else args.seed
    if args.seed is None:
        print(f"chosen with --seed {seed}")
    numbers = random.Random(seed).sample(range(len(selection)), min(args.sample, len(selection)))
    return [selection[number] for number in sorted(numbers)]
