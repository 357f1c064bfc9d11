# SPDX-License-Identifier: Apache-2.0
"""Fuzz a loader or an ICD: find what crashes it, hangs it, leaks, or differs from another loader."""

from __future__ import annotations

import argparse
import json
import math
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType

from harness.build import build, require_checkout
from harness.cli.loader import library_path, output_path, positive
from harness.errors import Exit, UsageError
from harness.escaping import printable
from harness.fuzz import bisect, builds, coverage, grown, history, reproducers, summary, sweep
from harness.fuzz.blocks import blocks_file
from harness.fuzz.campaign import SHORTEST, Campaign, Target, default_folder
from harness.fuzz.history import Code
from harness.fuzz.planted import planted
from harness.fuzz.sarif import sarif
from harness.fuzz.subject import FuzzSubject, fuzz_subject
from harness.fuzz.target_process import Setting
from harness.report.sarif import write_sarif
from harness.report.table import table
from harness.report.terminal import Terminal
from harness.subject.icd import find_library
from harness.subject.identify import VULKAN_LOADER, identify

EXAMPLE = """\
  clharness fuzz --list                                 the targets
  clharness fuzz icd_file --time 1m                     the reference loader, instrumented
  clharness fuzz --all --time 8h --jobs 4 --out night --loader /usr/lib/x86_64-linux-gnu/libOpenCL.so.1
  clharness fuzz --all --against /usr/lib/x86_64-linux-gnu/libOpenCL.so.1
                                                        two loaders must show the same
  clharness fuzz --icd ./libvendor.so                   a vendor's ICD
  clharness fuzz --all --loader /usr/lib/x86_64-linux-gnu/libvulkan.so.1
                                                        a Vulkan loader, by the targets of its kind
  clharness fuzz --all --bisect old/libOpenCL.so.1 new/libOpenCL.so.1
                                                        what is new in a version
  clharness fuzz --keep short_name night/findings/icd_file-leak@x
                                                        makes a finding a regression case
"""

_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("target", metavar="TARGET", nargs="*", help="what is fuzzed (--list prints all)")
    parser.add_argument("--all", action="store_true", help="all targets")
    parser.add_argument("--list", action="store_true", help="print the targets and end")
    parser.add_argument("--loader", metavar="PATH", help="loader to test; default: the instrumented reference loader")
    parser.add_argument("--against", metavar="PATH", help="a second loader, which must show the same on each input")
    parser.add_argument(
        "--bisect",
        metavar=("GOOD", "BAD"),
        nargs=2,
        help="fuzz BAD, and say which of its findings GOOD does not have: exit code 1 if there are any",
    )
    parser.add_argument(
        "--icd", metavar="PATH", help="ICD to test, without a loader: a library, an .icd file, or its name"
    )
    parser.add_argument("--time", metavar="T", type=_seconds, default=600.0, help="such as 90s, 10m (default), 8h")
    parser.add_argument("--jobs", metavar="N", type=positive, default=1, help="processes at a time (default: 1)")
    parser.add_argument(
        "--engine", choices=("libfuzzer", "afl"), default="libfuzzer", help="what makes the inputs (default: libfuzzer)"
    )
    parser.add_argument("--out", metavar="DIR", help="corpora and findings; with the same folder a campaign goes on")
    parser.add_argument("--corpus", metavar="DIR", help="more inputs to begin with; of one target, or a folder of each")
    parser.add_argument("--json", metavar="FILE", help="write the result there")
    parser.add_argument("--sarif", metavar="FILE", help="write the findings there as SARIF, for code scanning")
    parser.add_argument(
        "--mode", choices=("legal", "violations"), default="legal", help="whether vendors may break the contract"
    )
    parser.add_argument(
        "--coverage",
        metavar="PATH",
        nargs="?",
        const="",
        help="write what the corpora reach into DIR/coverage, as HTML: of the source, where PATH is the same loader "
        "built for source coverage (or it is the reference loader), else of the blocks of the binary",
    )
    parser.add_argument("--first", action="store_true", help="end with the first finding")
    parser.add_argument(
        "--fault",
        metavar="NAME",
        help="fuzz the reference loader with this fault, of `clharness selftest --list` or harness/fuzz/planted.toml: "
        "shows that it is found",
    )
    parser.add_argument(
        "--keep", metavar=("NAME", "DIR"), nargs=2, help="keep a finding under fuzz/reproducers, and end"
    )


def run(args: argparse.Namespace) -> int:
    require_checkout("clharness fuzz")
    if args.list:
        print("\n".join(table(list(builds.targets().items()), texts=2, width=Terminal(sys.stdout).table_width)))
        return Exit.AS_EXPECTED
    if args.keep:
        name, folder = args.keep
        print(f"kept as {reproducers.keep(name, Path(folder))}; see {reproducers.LIST}")
        return Exit.AS_EXPECTED
    for option in ("loader", "against", "icd", "out", "corpus", "json", "sarif"):
        if getattr(args, option) == "":
            raise UsageError(f"--{option} is empty: give a path, or leave it out")
    if args.bisect:
        _take_two(args)
    with _interruptible():
        return _campaign(args)


def _take_two(args: argparse.Namespace) -> None:
    """--bisect GOOD BAD: the campaign is that of BAD."""
    for option in ("loader", "against", "icd", "fault"):
        if getattr(args, option):
            raise UsageError(f"--bisect names both libraries: leave out --{option}")
    is_icd = args.target == [builds.OF_ICD]
    setattr(args, "icd" if is_icd else "loader", args.bisect[1])
    library_path(args.bisect[0])


def _campaign(args: argparse.Namespace) -> int:
    output = output_path("--json", args.json) if args.json else None
    scanned = output_path("--sarif", args.sarif) if args.sarif else None
    names = _targets(args)
    _require_kind(args, names)
    _require_time(args, len(names))
    is_planted = args.fault in planted()
    kind = builds.AFL if args.engine == "afl" else builds.LIBFUZZER
    fuzz_build = builds.make(kind, names, seeded=bool(args.fault) and not is_planted, planted=is_planted)
    subject = fuzz_subject(_library(args, fuzz_build, names), args.engine)
    good = fuzz_subject(library_path(args.bisect[0]), args.engine) if args.bisect else None
    if args.coverage:
        coverage.require_counts(library_path(args.coverage))
    setting = _setting(args, subject)
    out = _folder(args, subject)
    history.runs(out)  # what cannot be read is said before the time is spent
    setting = replace(setting, campaign=out)
    targets = [_target(args, fuzz_build, setting, name) for name in names]
    terminal = Terminal(sys.stdout)
    campaign = Campaign(out, targets, args.time, args.jobs, lambda text: terminal.line(printable(text)), args.first)
    terminal.line(f"{subject.path}: {subject.words}")
    interrupted = _run(campaign, terminal, args.time)
    terminal.end_progress()
    print("\n".join(summary.lines(campaign, subject, interrupted, Terminal(sys.stdout).width)), flush=True)
    seen = bisect.compared(campaign, good) if good else []
    if good:
        print("\n".join(bisect.lines(seen, good)), flush=True)
    if output:
        result = summary.as_json(campaign, subject, interrupted)
        if good:
            result["bisect"] = {"good": str(good.path), "new": [one.finding.folder for one in seen if one.is_new]}
        output.write_text(json.dumps(result, indent=1) + "\n")
    if scanned:
        write_sarif(scanned, sarif(campaign, subject))
    code = None
    if args.coverage is not None and not interrupted:
        page, code = _coverage(args, campaign, fuzz_build, setting)
        print(f"coverage: {page}")
    history.add(campaign, subject, code)
    ends = _exit_code(campaign, interrupted)
    known = good and ends == Exit.UNEXPECTED and all(one.earlier for one in seen)
    return Exit.AS_EXPECTED if known else ends


def _coverage(
    args: argparse.Namespace, campaign: Campaign, fuzz_build: builds.FuzzBuild, setting: Setting
) -> tuple[Path, Code]:
    folder, known = campaign.out / "coverage", campaign.out / "known.txt"
    able = [target for target in campaign.targets if not campaign.states[target.name].errors]
    corpora = {target.name: campaign.corpus(target) for target in able}
    if args.coverage or (setting.subject.path == fuzz_build.reference_loader().resolve() and not args.icd):
        counting = library_path(args.coverage) if args.coverage else coverage.reference_loader_with_counts()
        return coverage.write_source_coverage(folder, corpora, fuzz_build, setting, known, counting)
    if setting.blocks is None:
        raise UsageError("--coverage needs PATH here: the same loader, built for source coverage (fuzz/README.md)")
    return coverage.write_block_coverage(folder, corpora, fuzz_build, setting, known)


def _run(campaign: Campaign, terminal: Terminal, seconds: float) -> bool:
    """Gives whether it was interrupted."""
    interrupted = False
    try:
        campaign.prepare()
        campaign.run(lambda: terminal.progress(_progress(campaign, seconds)))
    except KeyboardInterrupt:
        interrupted = True
        campaign.processes.stop.set()
    try:
        campaign.finish()
    except KeyboardInterrupt:
        interrupted = True
        campaign.processes.stop.set()
        campaign.finish()
    return interrupted


@contextmanager
def _interruptible() -> Iterator[None]:
    """What ends a job from outside (a time limit of CI) gets the summary, too.

    Also SIGINT where a script has started the job in the background, which ignores that signal.
    """

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _progress(campaign: Campaign, seconds: float) -> str:
    passed, inputs, findings = campaign.progress()
    at_work = ", ".join(t.name for t in campaign.targets if campaign.states[t.name].numbers)
    return f"{_clock(min(passed, seconds))} of {_clock(seconds)}  {inputs:,} inputs  {findings} findings  {at_work}"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _exit_code(campaign: Campaign, interrupted: bool) -> int:
    """A target that could not run is left out, and said; the others count."""
    if campaign.findings:
        return Exit.UNEXPECTED
    if all(state.errors for state in campaign.states.values()):
        return Exit.HARNESS
    if interrupted:
        return Exit.INTERRUPTED
    return Exit.AS_EXPECTED if any(s.inputs for s in campaign.states.values()) else Exit.NOTHING_RAN


def _targets(args: argparse.Namespace) -> list[str]:
    if args.all and args.target:
        raise UsageError("--all takes no other target")
    if args.icd:
        if args.target not in ([], [builds.OF_ICD]):
            raise UsageError(f"--icd is for the target {builds.OF_ICD} alone")
        return builds.chosen_targets([builds.OF_ICD], False)
    if builds.OF_ICD in args.target:
        raise UsageError(f"{builds.OF_ICD} needs --icd PATH")
    if not args.all and not args.target:
        raise UsageError(f"name a target, or give --all; the targets are {', '.join(builds.targets())}")
    vulkan = _is_vulkan_loader(args.loader)
    return builds.chosen_targets(args.target, args.all, vulkan)


def _is_vulkan_loader(path: str | None) -> bool:
    return bool(path) and Path(str(path)).exists() and identify(Path(str(path))) is VULKAN_LOADER


def _require_kind(args: argparse.Namespace, names: list[str]) -> None:
    """Each target takes one kind of loader."""
    vulkan = any(map(builds.is_of_vulkan, names))
    for path in filter(None, (args.loader, args.against)):
        if Path(path).exists() and _is_vulkan_loader(path) != vulkan:
            kind, other = ("a Vulkan loader", "an OpenCL loader") if vulkan else ("an OpenCL loader", "a Vulkan loader")
            raise UsageError(f"{path} is {other}: {names[0]} takes {kind}")


def _require_time(args: argparse.Namespace, count: int) -> None:
    """Each target has its share."""
    least = SHORTEST * count / args.jobs
    if args.time < least:
        whose = f"{count} targets" if count > 1 else "a target"
        jobs = f" with {args.jobs} jobs" if args.jobs > 1 else ""
        raise UsageError(f"--time {args.time:g}s is too short for {whose}{jobs}: give {math.ceil(least)}s or more")


def _library(args: argparse.Namespace, fuzz_build: builds.FuzzBuild, names: list[str]) -> Path:
    """The file under test."""
    vulkan = any(map(builds.is_of_vulkan, names))
    if args.fault and (args.loader or args.icd):
        raise UsageError("--fault is for the project's own seeded loader: leave out --loader and --icd")
    if args.icd and (args.loader or args.against):
        raise UsageError("--icd uses the ICD without a loader: leave out --loader and --against")
    if args.fault:
        return fuzz_build.planted_loader() if args.fault in planted() else fuzz_build.seeded_loader(vulkan)
    if args.icd:
        return _icd(args.icd)
    if args.loader:
        return library_path(args.loader)
    return fuzz_build.reference_loader(vulkan)


def _icd(name: str) -> Path:
    """As `clharness icd` takes it: a library, an .icd file, or the name of an installed one."""
    return library_path(str(find_library(name)), "an ICD, such as ./libvendor.so")


def _setting(args: argparse.Namespace, subject: FuzzSubject) -> Setting:
    icd = subject.path if args.icd else None
    blocks = None
    if subject.coverage == "breakpoints":
        blocks = blocks_file(subject.path, build().folder / "blocks")
    against = library_path(args.against) if args.against else None
    if against:
        fuzz_subject(against, args.engine)
    return Setting(subject, against, icd, args.mode, blocks, args.engine, args.fault)


def _folder(args: argparse.Namespace, subject: FuzzSubject) -> Path:
    if args.out is None:
        if args.fault:
            raise UsageError("--fault needs --out DIR: its findings are not those of a loader")
        return default_folder(build().folder, subject.path, args.mode)
    out = Path(args.out).absolute()
    if out.exists() and not out.is_dir():
        raise UsageError(f"--out {args.out}: is not a folder")
    if out.is_dir() and any(out.iterdir()) and not (out / "known.txt").exists():
        raise UsageError(f"--out {args.out}: has other files in it; name an empty or a new folder")
    return out


def _target(args: argparse.Namespace, fuzz_build: builds.FuzzBuild, setting: Setting, name: str) -> Target:
    seeds = [builds.seeds(name)] if builds.seeds(name).is_dir() else []
    seeds += [more for more in (sweep.folder(name, fuzz_build.folder), grown.folder(name, fuzz_build.folder)) if more]
    if args.corpus:
        more = Path(args.corpus)
        if not more.is_dir():
            raise UsageError(f"--corpus {args.corpus}: is not a folder")
        if (more / name).is_dir():
            seeds.append(more / name)
        elif len(_targets(args)) == 1:
            seeds.append(more)
    return Target(name, fuzz_build.program(name), setting, seeds, builds.dictionary(name))


def _seconds(text: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd]?)", text)
    if match is None or float(match[1]) <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time; give one such as 90s, 10m or 8h")
    return float(match[1]) * _UNITS[match[2]]
