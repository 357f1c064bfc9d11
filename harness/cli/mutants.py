# SPDX-License-Identifier: Apache-2.0
"""Make small mistakes in the sources of any loader, one at a time, and say which of them the suites find."""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from harness.build import ROOT
from harness.cli import built_loader
from harness.cli.loader import positive
from harness.errors import Exit, UsageError
from harness.mutation.operators import OPERATORS, Mutant
from harness.report.terminal import Terminal

EXAMPLE = """\
  clharness mutants                                      every mutant of the reference loader
  clharness mutants --compile-commands build --loader build/libOpenCL.so.1 --sample 200 --seed 7 --out build/mutants
                                                         200 of a loader of your own; a page in build/mutants
  clharness mutants --compile-commands build --target OpenCL --file icd.c --lines 120-180
  clharness mutants --file os_linux.c --list             what would be made of a file
  clharness mutants --no-expectations --suite discovery  only what a check itself calls red counts
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    built_loader.add_options(parser, "only mutants of these files")
    parser.add_argument("--lines", metavar="A-B", type=_span, help="only mutants of these lines of the file")
    parser.add_argument("--function", metavar="NAME", nargs="+", help="only mutants of these functions")
    parser.add_argument("--operator", metavar="NAME", nargs="+", choices=OPERATORS, help="; ".join(OPERATORS))
    parser.add_argument("--sample", metavar="N", type=positive, help="only so many mutants, chosen by chance")
    parser.add_argument("--seed", metavar="S", type=int, help="the seed of --sample; default: a new one each time")
    parser.add_argument("--suite", metavar="NAME", nargs="+", help="only these suites; default: all")
    parser.add_argument("-k", metavar="EXPRESSION", default="", help="only the checks that match (as pytest's -k)")
    parser.add_argument(
        "--no-expectations",
        action="store_true",
        help="only what a check itself calls red counts, as in a run without an expectation file; what --strict and "
        "a file would add is said; default: any difference from what the unchanged library does",
    )
    parser.add_argument("-j", metavar="N", type=positive, help="processes; default: one per processor")
    parser.add_argument(
        "--limit",
        metavar="S",
        type=float,
        default=300.0,
        help="seconds of a mutant (default 300)",
    )
    parser.add_argument("--cases", metavar="N", type=positive, help="at most so many cases of each mutant; the nearest")
    parser.add_argument("--per-check", metavar="N", type=positive, help="at most so many cases of each check")
    parser.add_argument(
        "--out", metavar="DIR", type=Path, help="keep results and a page there; a run goes on from them"
    )
    parser.add_argument("--at-least", metavar="PERCENT", type=float, default=0.0, help="exit 1 where less is found")
    parser.add_argument("--list", action="store_true", help="print the mutants and end; they may not compile")


def _span(text: str) -> tuple[int, int]:
    first, _, last = text.partition("-")
    if not first.isdigit() or (last and not last.isdigit()):
        raise argparse.ArgumentTypeError(f"{text} is not a line, nor two with - between them")
    return int(first), int(last or first)


def run(args: argparse.Namespace) -> int:
    from harness.mutation.subjects import all_mutants

    subject = built_loader.subject_of(args)
    selected = _selected(args, all_mutants(subject))
    if args.list:
        print("\n".join(str(mutant) for mutant in selected))
        return Exit.AS_EXPECTED
    if not selected:
        print("clharness: nothing ran: no mutant matches", file=sys.stderr)
        return Exit.NOTHING_RAN
    # Only here: --help and --list need no pytest.
    from harness.mutation import report
    from harness.mutation.campaign import Campaign
    from harness.mutation.page import page
    from harness.mutation.results import Results

    about = {"subject": subject.digest, "own": args.no_expectations, "suites": args.suite, "k": args.k}
    terminal = Terminal(sys.stdout)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a nightly job that is cut short still cleans up
    started = time.monotonic()
    campaign = Campaign(subject, selected, _suites(args.suite), args.k, args.j or len(os.sched_getaffinity(0)))
    campaign.limit, campaign.most, campaign.per_check = args.limit, args.cases, args.per_check
    campaign.own = args.no_expectations
    campaign.tick, campaign.results = terminal.progress, Results(args.out, about)
    try:
        campaign.run()
    finally:
        terminal.end_progress()
        seconds = time.monotonic() - started
        if campaign.fates:
            print("\n".join(report.lines(campaign, seconds, terminal.width)))
            if args.out:
                texts = {unit.source: unit.text for unit in subject.units}
                summary = report.summary(campaign, seconds)
                (args.out / "index.html").write_text(page(campaign.fates, summary, texts))
                numbers = {**report.figures(campaign.fates), "seconds": round(seconds), "summary": summary}
                (args.out / "summary.json").write_text(json.dumps(numbers, indent=2) + "\n")
                print(f"page: {args.out / 'index.html'}")
    return Exit.UNEXPECTED if 100 * report.share(campaign.fates) < args.at_least else Exit.AS_EXPECTED


def _suites(names: Sequence[str] | None) -> list[Path]:
    present = sorted(folder for folder in (ROOT / "suites").iterdir() if any(folder.glob("test_*.py")))
    by_name = {folder.name: folder for folder in present}
    for name in names or ():
        if name not in by_name:
            raise UsageError(f"--suite {name}: there is no such suite; the suites are {', '.join(by_name)}")
    return [by_name[name] for name in names or by_name]


def _selected(args: argparse.Namespace, mutants: Sequence[Mutant]) -> list[Mutant]:
    selection = [
        mutant
        for mutant in mutants
        if (not args.lines or args.lines[0] <= mutant.line <= args.lines[1])
        and (not args.function or mutant.function in args.function)
        and (not args.operator or mutant.operator in args.operator)
    ]
    if args.lines and len({mutant.file for mutant in selection}) > 1:
        raise UsageError("--lines: of which file? --file says it")
    if args.sample is None:
        return selection
    seed = random.randrange(10**6) if args.seed is None else args.seed
    if args.seed is None:
        print(f"chosen with --seed {seed}")
    numbers = random.Random(seed).sample(range(len(selection)), min(args.sample, len(selection)))
    return [selection[number] for number in sorted(numbers)]
