# SPDX-License-Identifier: Apache-2.0
"""How long each fuzzer takes to find each planted fault: processor seconds, with and without mutations of records.

    python -m harness.fuzz.proof [--way WAY]... [--repeat N] [--seconds S] [--jobs N] [--swept] [--markdown FILE]
        [FAULT...]

Each search begins with the committed seeds alone, so that it is the fuzzer that finds; with --swept also with the sweep
as campaigns do. A change of the engine is judged by this table before and after it, on one machine.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from harness.errors import ClharnessError, UsageError
from harness.fuzz import afl, builds, libfuzzer, sweep
from harness.fuzz.job import Job, Processes, add_inputs
from harness.fuzz.planted import planted
from harness.fuzz.subject import fuzz_subject
from harness.fuzz.target_process import Setting


@dataclass(frozen=True)
class Way:
    """How is searched: the fuzzer, and whether mutations keep the records of an input whole."""

    kind: builds.Kind
    records: bool


WAYS = {
    "libFuzzer": Way(builds.LIBFUZZER, True),
    "libFuzzer, bytes": Way(builds.LIBFUZZER, False),
    "AFL++": Way(builds.AFL, True),
    "AFL++, bytes": Way(builds.AFL, False),
}


@dataclass(frozen=True)
class Search:
    """One search: which fault, how (of WAYS), for how many seconds at most, and whether it begins with the sweep."""

    fault: str
    way: str
    seconds: float
    swept: bool = False


def search(build: builds.FuzzBuild, wanted: Search) -> float | None:
    """Processor seconds until the fault is found, or None."""
    with tempfile.TemporaryDirectory(prefix="clharness-proof-") as folder:
        return _search(build, wanted, Path(folder))


def _search(build: builds.FuzzBuild, wanted: Search, folder: Path) -> float | None:
    name = planted()[wanted.fault].target
    corpus = folder / "corpus"
    add_inputs(builds.seeds(name), corpus)
    if wanted.swept and (more := sweep.folder(name, build.folder)):
        add_inputs(more, corpus)
    way = WAYS[wanted.way]
    subject = fuzz_subject(build.planted_loader(), way.kind.engine)
    setting = Setting(subject, engine=way.kind.engine, fault=wanted.fault, records=way.records)
    known, dictionary = folder / "known", builds.dictionary(name)
    job = Job(name, build.program(name), setting, wanted.seconds, corpus, folder / "work", known, dictionary)
    job.work.mkdir()
    known.touch()
    before = _processor_seconds()
    is_afl = way.kind is builds.AFL
    result = afl.run(job, Processes(), until_crash=True) if is_afl else libfuzzer.run(job, Processes())
    if result.error:
        raise UsageError(f"{name} cannot run: {result.error}")
    return _processor_seconds() - before if result.ends else None


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def median(times: Sequence[float | None]) -> float | None:
    """The middle one, where a search without a result is longer than any other."""
    middle = statistics.median_high([float("inf") if time is None else time for time in times])
    return None if middle == float("inf") else middle


def lines(times: Mapping[str, Mapping[str, Sequence[float | None]]], seconds: float) -> list[str]:
    """The table as Markdown: a row for each fault, the median and how many searches found it."""
    ways = list(next(iter(times.values())))
    table = ["| fault | target | " + " | ".join(ways) + " |", "| --- " * (2 + len(ways)) + "|"]
    for fault, by_way in times.items():
        cells = []
        for own in by_way.values():
            middle, count = median(own), sum(time is not None for time in own)
            cells.append(f"{f'{middle:.1f} s' if middle is not None else f'> {seconds:.0f} s'} ({count} of {len(own)})")
        table.append(f"| {fault} | {planted()[fault].target} | {' | '.join(cells)} |")
    return table


def _made(ways: Sequence[str], faults: Sequence[str]) -> dict[str, builds.FuzzBuild]:
    """The builds of the ways, by the name of the fuzzer."""
    names = sorted({planted()[fault].target for fault in faults})
    return {
        kind.engine: builds.make(kind, names, planted=True) for kind in dict.fromkeys(WAYS[way].kind for way in ways)
    }


def measure(
    faults: Sequence[str], ways: Sequence[str], repeat: int, seconds: float, swept: bool, jobs: int
) -> dict[str, dict[str, list[float | None]]]:
    """The times of all searches, by fault and way; each row is printed once it is known."""
    made = _made(ways, faults)
    for name in {planted()[fault].target for fault in faults} if swept else ():
        for fuzz_build in made.values():
            sweep.folder(name, fuzz_build.folder)  # once, and not by several searches at a time
    times: dict[str, dict[str, list[float | None]]] = {}
    with ProcessPoolExecutor(jobs) as pool:
        coming = {
            (fault, way): [
                pool.submit(search, made[WAYS[way].kind.engine], Search(fault, way, seconds, swept))
                for _ in range(repeat)
            ]
            for fault in faults
            for way in ways
        }
        for fault in faults:
            times[fault] = {way: [one.result() for one in coming[fault, way]] for way in ways}
            print(lines({fault: times[fault]}, seconds)[-1], flush=True)
    return times


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m harness.fuzz.proof", description=__doc__)
    parser.add_argument("fault", metavar="FAULT", nargs="*", help="of harness/fuzz/planted.toml; default: all")
    parser.add_argument("--way", action="append", choices=list(WAYS), help="how to search (default: all)")
    parser.add_argument("--repeat", type=int, default=5, help="searches of each kind (default: 5)")
    parser.add_argument("--seconds", type=float, default=60.0, help="of each search, at most (default: 60)")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="searches at a time")
    parser.add_argument("--swept", action="store_true", help="begin with the sweep, too")
    parser.add_argument("--markdown", type=Path, help="write the table there")
    options = parser.parse_args(arguments)
    try:
        if unknown := set(options.fault) - planted().keys():
            raise UsageError(f"{min(unknown)}: there is no such planted fault; they are {', '.join(planted())}")
        faults, ways = options.fault or list(planted()), options.way or list(WAYS)
        times = measure(faults, ways, options.repeat, options.seconds, options.swept, max(1, options.jobs))
    except ClharnessError as error:
        print(f"clharness: {error}", file=sys.stderr)
        return int(error.exit_code)
    if options.markdown:
        options.markdown.write_text("\n".join(lines(times, options.seconds)) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
