# SPDX-License-Identifier: Apache-2.0
"""Test the suites themselves: does each seeded fault turn a check red, and can each check fail?"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.build import ROOT, build
from harness.cli.loader import output_path, positive
from harness.errors import Exit, UsageError
from harness.report.terminal import Terminal
from harness.requirements.catalogue import suite_of
from harness.selftest.mutants import Mutant
from harness.selftest.mutants.loader import mutants, vulkan_mutants
from harness.selftest.seed import for_windows

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
    parser.add_argument("--fault", metavar="NAME", nargs="+", help="only these faults (--list prints all)")
    parser.add_argument("-k", metavar="EXPRESSION", help="with --fault: only these checks, as pytest's -k has it")
    parser.add_argument("--sample", metavar="N", type=positive, help="only so many faults, chosen at random")
    parser.add_argument("--seed", metavar="S", type=int, help="the seed of --sample; default: a new one each time")
    parser.add_argument("-j", metavar="N", type=positive, help="processes; default: one per processor")
    parser.add_argument("--json", metavar="FILE", help="write the result there")
    parser.add_argument("--suite", metavar="NAME", help="only this suite, and the faults of its requirements")
    parser.add_argument("--suites", metavar="DIR", help="a folder named `suites` in place of the project's own")
    parser.add_argument(
        "--assertions",
        action="store_true",
        help="run all cases of each fault's requirements, and print the assertions that never failed (takes longer)",
    )
    parser.add_argument(
        "--layer", action="store_true", help="measure the checks of a layer: the faults are those of mock layers"
    )
    parser.add_argument("--icd", action="store_true", help="measure the checks of an ICD: the faults are of mock ICDs")
    parser.add_argument(
        "--programs",
        action="store_true",
        help="with --icd: try the C program of each fault, which must show it, and nothing on a correct ICD",
    )
    parser.add_argument("--vulkan", action="store_true", help="measure the checks of Vulkan loaders")
    parser.add_argument(
        "--windows",
        action="store_true",
        help="measure the checks on Windows: the faults are those of the reference loader's own part for Windows, and "
        "--fault takes those of its other parts, too",
    )
    parser.add_argument(
        "--vulkan-driver",
        action="store_true",
        help="measure the checks of Vulkan drivers: the faults are of mock drivers",
    )
    parser.add_argument("--list", action="store_true", help="print the faults and end")


def run(args: argparse.Namespace) -> int:
    chosen = _chosen(args)
    if args.list:
        for fault in chosen:
            print(f"{fault.name:<40} {', '.join(fault.requirements)}: makes the {_subject(args)} {fault.sentence}")
        return Exit.AS_EXPECTED
    output = output_path("--json", args.json) if args.json else None
    # Only here: --help and --list need neither pytest nor a build.
    from harness.selftest import report
    from harness.selftest.run import run_matrix, seeded_vulkan_loader

    suites = _suites(args.suites)
    whole = not args.fault and not args.sample and not args.windows
    terminal = Terminal(sys.stdout)
    started = time.monotonic()
    jobs = args.j or len(os.sched_getaffinity(0))
    folder = suites / args.suite if args.suite else suites
    subject: tuple[str, ...] = ()
    if args.layer:
        folder, subject = suites / "layers" / "layer", ("--clharness-seeded-layer",)
    if args.programs and not args.icd:
        raise UsageError("--programs is about faults of ICDs: give --icd, too")
    if args.icd:
        folder, subject = suites, ("--clharness-seeded-icd",)
    if args.vulkan:
        folder, subject = suites / "interop" / "vulkan", (f"--vulkan-loader={seeded_vulkan_loader()}",)
    if args.vulkan_driver:
        folder, subject = suites / "interop" / "vulkan_driver", ("--clharness-seeded-vulkan_driver",)
    keyword = ("-k", args.k) if args.k else ()
    lint = not args.fault and not any(_others(args))
    try:
        matrix = run_matrix(
            suites, folder, chosen, jobs, terminal.progress, whole, args.assertions, lint, subject, keyword,
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
    print("\n".join(report.lines(matrix, whole, seconds, _subject(args))))
    if output:
        output.write_text(json.dumps(report.as_json(matrix, whole, seconds), indent=1) + "\n")
    return Exit.AS_EXPECTED if report.passed(matrix, whole) else Exit.UNEXPECTED


def _chosen(args: argparse.Namespace) -> Sequence[Mutant]:
    known = _known(args)
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
                raise UsageError(f"--fault {name}: there is no such fault; `clharness selftest --list` prints all")
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


def _known(args: argparse.Namespace) -> Mapping[str, Mutant]:
    """All faults: of the seeded reference loader, of mock layers, or of mock ICDs."""
    if not any(_others(args)):
        return mutants().by_name
    if sum(_others(args)) > 1:
        raise UsageError("--layer, --icd, --vulkan, --vulkan-driver and --windows: give one of them")
    if args.windows:
        return _of_windows(bool(args.fault))
    if args.suite or args.suites:
        raise UsageError(
            f"--{_subject(args).lower().replace(' ', '-')} is about checks of its own; leave --suite and --suites out"
        )
    if args.vulkan:
        return vulkan_mutants().by_name
    from harness.selftest.mutants.icd import icd_mutants
    from harness.selftest.mutants.layer import layer_mutants
    from harness.selftest.mutants.vulkan_driver import vulkan_driver_mutants

    if args.vulkan_driver:
        return {name: one.mutant for name, one in vulkan_driver_mutants().items()}
    if args.icd:
        return {name: one.mutant for name, one in icd_mutants().items()}
    return {name: one.mutant for name, one in layer_mutants().items()}


def _of_windows(whole: bool) -> Mapping[str, Mutant]:
    """The faults of the reference loader's own part for Windows, or all that its copy for Windows can have."""
    if not build().windows:
        raise UsageError("--windows needs the build for Windows, which ./clharness selftest --windows makes")
    own = {path.name for path in (ROOT / "harness" / "reference_loader").glob("os_windows*")}
    files = own | {"acceptance.c", "discovery.c", "layers.c", "loader.c", "entry_points.c", "clharness_dispatch.c"}
    known = for_windows(mutants().by_name, files)
    return known if whole else {name: fault for name, fault in known.items() if fault.file in own}


def _others(args: argparse.Namespace) -> tuple[bool, ...]:
    """Which other subjects than the seeded reference loader are asked for."""
    return args.layer, args.icd, args.vulkan, args.vulkan_driver, args.windows


def _subject(args: argparse.Namespace) -> str:
    if args.vulkan_driver:
        return "Vulkan driver"
    return "layer" if args.layer else "ICD" if args.icd else "Vulkan" if args.vulkan else "loader"


def _suites(text: str | None) -> Path:
    path = ROOT / "suites" if text is None else Path(text).absolute()
    if path.name != "suites" or not path.is_dir():
        raise UsageError(f"--suites {text}: give a folder named `suites`, in which there is one for each suite")
    return path
