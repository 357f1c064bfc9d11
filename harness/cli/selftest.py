# SPDX-License-Identifier: Apache-2.0
"""Test the suites themselves: does each seeded fault turn a check red, and can each check fail?"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from harness.build import ROOT, require_checkout
from harness.cli.loader import WAITING, output_path, positive
from harness.errors import Exit, UsageError
from harness.report.blocks import wrap
from harness.report.terminal import Terminal
from harness.requirements.catalogue import suite_of
from harness.selftest.mutants import Mutant
from harness.selftest.targets import TARGETS, Target

SUITES = ("discovery", "dispatch", "layers", "interop")

EXAMPLE = """\
  clharness selftest                               all faults, all checks
  clharness selftest --sample 40 --seed 7          40 faults, chosen at random
  clharness selftest --fault fifo_blocks newline_kept
  clharness selftest --fault fifo_blocks -k special    does this check notice this fault?
  clharness selftest --suite discovery             one suite, and the faults of its requirements
  clharness selftest --layer                       the checks of `clharness layer`, against faulty mock layers
  clharness selftest --icd                         the checks of `clharness icd`, against faulty mock ICDs
  clharness selftest --vulkan                      the checks of Vulkan loaders, against a faulty reference loader
  clharness selftest --windows                     the checks on Windows, against the reference loader's OpenCL.dll
  clharness selftest --vulkan-driver               the checks of Vulkan drivers, against faulty mock drivers
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--fault", metavar="NAME", nargs="+", action="extend", help="only these faults (--list prints all)"
    )
    parser.add_argument("-k", metavar="EXPRESSION", help="with --fault: only these checks, as pytest's -k has it")
    parser.add_argument("--sample", metavar="N", type=positive, help="only so many faults, chosen at random")
    parser.add_argument("--seed", metavar="S", type=int, help="the seed of --sample; default: a new one each time")
    parser.add_argument("-j", metavar="N", type=positive, help="processes; default: four more than processors")
    parser.add_argument("--json", metavar="FILE", help="write the result there")
    parser.add_argument("--suite", metavar="NAME", help="only this suite, and the faults of its requirements")
    parser.add_argument("--suites", metavar="DIR", help="a folder named `suites` in place of the project's own")
    parser.add_argument(
        "--assertions",
        action="store_true",
        help="run all cases of each fault's requirements, and print the assertions that never failed (takes longer)",
    )
    for option, target in TARGETS.items():
        if option:
            parser.add_argument(f"--{option}", action="append_const", dest="targets", const=option, help=target.help)
    parser.add_argument(
        "--programs",
        action="store_true",
        help="with --icd: try the C program of each fault, which must show it, and nothing on a correct ICD",
    )
    parser.add_argument("--list", action="store_true", help="print the faults and end")


def run(args: argparse.Namespace) -> int:
    option = _option(args)
    target = TARGETS[option]
    chosen = _chosen(args, target)
    if args.list:
        _print_faults(chosen, target.word)
        return Exit.AS_EXPECTED
    require_checkout("clharness selftest")
    output = output_path("--json", args.json) if args.json else None
    if args.programs and option != "icd":
        raise UsageError("--programs is about faults of ICDs: give --icd, too")
    # Only here: --help and --list need neither pytest nor a build.
    from harness.selftest import report
    from harness.selftest.run import run_matrix

    suites = _suites(args.suites)
    whole = not args.fault and not args.sample and target.named is None
    terminal = Terminal(sys.stdout)
    started = time.monotonic()
    jobs = args.j or len(os.sched_getaffinity(0)) + WAITING
    folder = suites / (args.suite or target.folder)
    subject = target.arguments(chosen)
    keyword = ("-k", args.k) if args.k else ()
    lint = not args.fault and not option
    try:
        matrix = run_matrix(
            suites, folder, subject, chosen, jobs, terminal.progress, whole, args.assertions, lint, keyword,
            args.programs,
        )  # fmt: skip
    finally:
        terminal.end_progress()
    seconds = time.monotonic() - started
    if not matrix.items:
        print("clharness: nothing ran: there is no check", file=sys.stderr)
        return Exit.NOTHING_RAN
    if args.assertions:
        print("\n".join(report.idle_assertions(matrix, suites)))
    print("\n".join(report.lines(matrix, whole, seconds, target.word)))
    if output:
        output.write_text(json.dumps(report.as_json(matrix, whole, seconds), indent=1) + "\n")
    return Exit.AS_EXPECTED if report.passed(matrix, whole) else Exit.UNEXPECTED


def _print_faults(faults: Sequence[Mutant], word: str) -> None:
    """A line each in a pipe, for grep; folded below themselves in a terminal."""
    width = Terminal(sys.stdout).table_width
    for fault in faults:
        about = f"{', '.join(fault.requirements)}: {fault.about(word)}"
        if width is None or len(about) + 41 <= width:
            print(f"{fault.name:<40} {about}")
        else:
            print("\n".join([fault.name, *wrap(about, width, "    ")]))


def _option(args: argparse.Namespace) -> str:
    """Which of TARGETS is asked for."""
    given = args.targets or [""]
    if len(given) > 1:
        names = [f"--{name}" for name in TARGETS if name]
        raise UsageError(f"{', '.join(names[:-1])} and {names[-1]}: give one of them")
    option: str = given[0]
    if option and TARGETS[option].named is None and (args.suite or args.suites):
        raise UsageError(f"--{option} is about checks of its own; leave --suite and --suites out")
    return option


def _chosen(args: argparse.Namespace, target: Target) -> Sequence[Mutant]:
    known = (target.named or target.mutants)() if args.fault else target.mutants()
    if args.suite and args.suite not in SUITES:
        raise UsageError(f"--suite {args.suite}: there is no such suite; the suites are {', '.join(SUITES)}")
    if args.k and not args.fault:
        raise UsageError("-k chooses checks for the faults of --fault; give that, too")
    if args.fault and args.sample:
        raise UsageError("--fault and --sample: give one of them")
    if args.seed is not None and not args.sample:
        raise UsageError("--seed says how --sample chooses; give that, too")
    if args.fault:
        for name in args.fault:
            if name not in known:
                raise UsageError(f"--fault {name}: {_why_not(name, target)}")
        return [known[name] for name in dict.fromkeys(args.fault)]
    chosen = [fault for fault in known.values() if not args.suite or args.suite in map(suite_of, fault.requirements)]
    if args.sample:
        seed = random.randrange(10**6) if args.seed is None else args.seed
        if args.seed is None and not args.list:
            print(f"chosen with --seed {seed}")
        names = [fault.name for fault in chosen]
        sample = random.Random(seed).sample(sorted(names), min(args.sample, len(names)))
        return [fault for fault in chosen if fault.name in sample]
    return chosen


def _why_not(name: str, target: Target) -> str:
    """Why --fault does not take a name, and which command knows it, or lists what is known."""
    for option, other in TARGETS.items():
        if not other.named and name in other.mutants():
            return f"this is no fault of {target.word}s; `{_command(option)} --fault {name}` knows it"
    own = next(option for option, one in TARGETS.items() if one is target)
    return f"there is no such fault; `{_command(own)} --list` prints all"


def _command(option: str) -> str:
    return f"clharness selftest --{option}" if option else "clharness selftest"


def _suites(text: str | None) -> Path:
    path = ROOT / "suites" if text is None else Path(text).absolute()
    if path.name != "suites" or not path.is_dir():
        raise UsageError(f"--suites {text}: give a folder named `suites`, in which there is one for each suite")
    return path
