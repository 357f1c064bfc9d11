# SPDX-License-Identifier: Apache-2.0
"""How long the fuzzer takes to find each planted fault: processor seconds, with mutations of whole records and without.

    python -m harness.fuzz.proof [--repeat N] [--seconds S] [--swept] [--markdown FILE] [FAULT...]

Each search begins with the committed seeds alone, so that it is the fuzzer that finds; with --swept also with the sweep
as campaigns do. A change of the engine is judged by this table before and after it, on one machine.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.errors import ClharnessError, UsageError
from harness.fuzz import builds, libfuzzer, sweep
from harness.fuzz.job import Job, Processes, add_inputs
from harness.fuzz.planted import planted
from harness.fuzz.subject import fuzz_subject
from harness.fuzz.target_process import Setting

_MUTATORS = {"records": True, "plain": False}


def search(
    build: builds.FuzzBuild, fault: str, records: bool, seconds: float, swept: bool, folder: Path
) -> float | None:
    """Processor seconds until a fault is found, or None."""
    name = planted()[fault].target
    corpus = folder / "corpus"
    add_inputs(builds.seeds(name), corpus)
    if swept and (more := sweep.folder(name, build.folder)):
        add_inputs(more, corpus)
    subject = fuzz_subject(build.planted_loader(), "libfuzzer")
    setting = Setting(subject, fault=fault, records=records)
    job = Job(
        name, build.program(name), setting, seconds, corpus, folder / "work", folder / "known", builds.dictionary(name)
    )
    job.work.mkdir()
    job.known.touch()
    before = _processor_seconds()
    result = libfuzzer.run(job, Processes())
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
    table = ["| fault | target | " + " | ".join(_MUTATORS) + " |", "| --- " * (2 + len(_MUTATORS)) + "|"]
    for fault, by_mutator in times.items():
        cells = []
        for mutator in _MUTATORS:
            own = by_mutator[mutator]
            middle, count = median(own), sum(time is not None for time in own)
            cells.append(f"{f'{middle:.1f} s' if middle is not None else f'> {seconds:.0f} s'} ({count} of {len(own)})")
        table.append(f"| {fault} | {planted()[fault].target} | {' | '.join(cells)} |")
    return table


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m harness.fuzz.proof", description=__doc__)
    parser.add_argument("fault", metavar="FAULT", nargs="*", help="of harness/fuzz/planted.toml; default: all")
    parser.add_argument("--repeat", type=int, default=5, help="searches of each kind (default: 5)")
    parser.add_argument("--seconds", type=float, default=60.0, help="of each search, at most (default: 60)")
    parser.add_argument("--swept", action="store_true", help="begin with the sweep, too")
    parser.add_argument("--markdown", type=Path, help="write the table there")
    options = parser.parse_args(arguments)
    try:
        if unknown := set(options.fault) - planted().keys():
            raise UsageError(f"{min(unknown)}: there is no such planted fault; they are {', '.join(planted())}")
        faults = options.fault or list(planted())
        build = builds.make(builds.LIBFUZZER, sorted({planted()[fault].target for fault in faults}), planted=True)
        times: dict[str, dict[str, list[float | None]]] = {}
        for fault in faults:
            times[fault] = {mutator: [] for mutator in _MUTATORS}
            for mutator, records in _MUTATORS.items():
                for _ in range(options.repeat):
                    with tempfile.TemporaryDirectory(prefix="clharness-proof-") as folder:
                        result = search(build, fault, records, options.seconds, options.swept, Path(folder))
                    times[fault][mutator].append(result)
            print(lines({fault: times[fault]}, options.seconds)[-1], flush=True)
    except ClharnessError as error:
        print(f"clharness: {error}", file=sys.stderr)
        return int(error.exit_code)
    if options.markdown:
        options.markdown.write_text("\n".join(lines(times, options.seconds)) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
