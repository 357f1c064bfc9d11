# SPDX-License-Identifier: Apache-2.0
"""Measure the harness (an event of the call log, a whole case), and what a loader's dispatch and vendors cost."""

from __future__ import annotations

import argparse
import functools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.bench.dispatch import dispatch_lines, measure_dispatch
from harness.bench.suites import CASES, measure_suites, suite_lines
from harness.bench.vendors import measure_vendors, vendor_lines
from harness.build import build
from harness.calllog import reader
from harness.cli.loader import output_path
from harness.errors import Exit, HarnessError
from harness.fuzz.bench import fuzz_lines, measure_targets
from harness.sandbox import Sandbox, Unsupported
from harness.sandbox.machine import scratch_root
from harness.subject.loader import Loader
from harness.subject.search import SONAME, system_loader

EXAMPLE = """\
  clharness bench                       everything
  clharness bench calllog               nanoseconds of an event, beside write(2)
  clharness bench case -n 300 --json build/bench.json
  clharness bench dispatch --loader build/libOpenCL.so.1
                                        instructions of every entry point, with 0, 1, 2 and 3 layers
  clharness bench vendors               the first call with 10, 100 and 1,000 vendors
  clharness bench suites                where the processor time of the suites' cases goes
  clharness bench fuzz                  inputs a second of each fuzz target, beside a process per input
"""

CALLLOG_TARGET = 100.0  # nanoseconds of CPU time an event
CASE_TARGET = 5.0  # milliseconds, median of a default case
_REPETITIONS = 100
_EVENTS = 100_000
_ROUNDS = 5
_LINE_ROOM = 256  # bytes of one of the benchmark's lines, at most

# The ways to run a case, by the name that the report gives them: arguments of Loader.start.
_CASES: dict[str, dict[str, bool]] = {
    "default": {},
    "linked": {"linked": True},
    "system": {"system": True},
    "ordinary user": {"ordinary_user": True},
    "elevated": {"elevated": True},
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what the command takes (harness.cli.main)."""
    parser.add_argument(
        "what",
        nargs="?",
        choices=("calllog", "case", "dispatch", "vendors", "suites", "fuzz"),
        help="measure only this; default: everything but suites and fuzz",
    )
    parser.add_argument(
        "--loader", metavar="PATH", help="loader that is measured; default: the system's, else the reference loader"
    )
    parser.add_argument(
        "--without", metavar="PATH", help="with dispatch: the same loader built without layers, to compare"
    )
    parser.add_argument(
        "-n",
        metavar="N",
        type=_count,
        help=f"repetitions of each case (default: {_REPETITIONS}); with suites: so many cases (default: {CASES})",
    )
    parser.add_argument("--json", metavar="FILE", help="write the numbers there")


def run(args: argparse.Namespace) -> int:
    """Runs the command; gives its exit code. Raises ClharnessError, whose sentence and code are the answer then."""
    output = None if args.json is None else output_path("--json", args.json)
    numbers: dict[str, Any] = {}
    if args.what in (None, "calllog"):
        numbers["calllog"] = measure_calllog()
        print("\n".join(_calllog_lines(numbers["calllog"])), flush=True)
    if args.what in (None, "case"):
        numbers["case"] = measure_cases(Loader(measured_loader(args.loader)), args.n or _REPETITIONS)
        print("\n".join(_case_lines(numbers["case"])))
    if args.what in (None, "dispatch"):
        numbers["dispatch"] = measure_dispatch(measured_loader(args.loader))
        without = measure_dispatch(Path(args.without)) if args.without else None
        numbers |= {"without layers": without} if without else {}
        print("\n".join(dispatch_lines(numbers["dispatch"], without)))
    if args.what in (None, "vendors"):
        numbers["vendors"] = measure_vendors(measured_loader(args.loader))
        print("\n".join(vendor_lines(numbers["vendors"])))
    if args.what == "suites":
        numbers["suites"] = measure_suites(measured_loader(args.loader), args.n or CASES)
        print("\n".join(suite_lines(numbers["suites"])))
    if args.what == "fuzz":
        numbers["fuzz"] = measure_targets(Path(args.loader) if args.loader else None, _progress)
        print("\n".join(fuzz_lines(numbers["fuzz"])))
    if output is not None:
        output.write_text(json.dumps(numbers, indent=1) + "\n")
    return Exit.AS_EXPECTED


@functools.cache
def measured_loader(path: str | None) -> Path:
    """The loader that is measured: the one named, else the system's, else the reference loader, which is said then."""
    library = Path(path) if path else system_loader()
    if library is None:
        print(f"there is no {SONAME} on this machine: clharness's own reference loader is measured", flush=True)
        return build().reference_loader
    return library


def _progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 2:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of repetitions; give 2 or more")
    return int(text)


# --- the call log ---


def measure_calllog(events: int = _EVENTS, rounds: int = _ROUNDS) -> dict[str, Any]:
    """CPU time of an event, medians over rounds: into the log, and by write(2) to an O_APPEND descriptor."""
    measured: dict[str, list[float]] = {"calllog": [], "write": []}
    with tempfile.TemporaryDirectory(prefix="clharness-", dir=scratch_root()) as folder:
        for _ in range(rounds):
            log = Path(folder) / "calllog"
            reader.create(log, events * _LINE_ROOM)
            done = subprocess.run([build().calllog_bench, log, str(events)], capture_output=True, text=True)
            if done.returncode:
                raise HarnessError(f"{build().calllog_bench}: {done.stderr.strip() or f'exit code {done.returncode}'}")
            if reader.dropped(log):
                raise HarnessError(f"{log}: too small for {events} events; what was measured is their loss")
            for name, value in (line.split() for line in done.stdout.splitlines()):
                measured[name].append(float(value))
    event, write = (round(statistics.median(measured[name]), 1) for name in ("calllog", "write"))
    return {
        "events": events,
        "rounds": rounds,
        "folder": str(scratch_root()),
        "event_ns": event,
        "write_ns": write,
        "ratio_to_write": round(event / write, 3),
        "target_ns": CALLLOG_TARGET,
        "met": event <= CALLLOG_TARGET,
    }


def _calllog_lines(numbers: dict[str, Any]) -> list[str]:
    return [
        f"call log: {numbers['event_ns']:.0f} ns an event, {numbers['ratio_to_write']:.2f} of a write(2) of the same "
        f"line to an O_APPEND descriptor ({numbers['write_ns']:.0f} ns)",
        f"  target: at most {numbers['target_ns']:.0f} ns: {_met(numbers['met'])}",
        f"  {numbers['rounds']} rounds of {numbers['events']} events in {numbers['folder']}, CPU time, medians",
    ]


def _met(met: bool) -> str:
    return "met" if met else "MISSED"


# --- whole cases ---


def measure_cases(loader: Loader, repetitions: int) -> dict[str, Any]:
    """Wall-clock time of the smallest whole case, for each way to run it, and of starting /bin/true in between."""
    ways: dict[str, dict[str, Any]] = {}
    spawns: list[float] = []
    for name, options in _CASES.items():
        try:
            _case(loader, options)  # what is found out once a process is found out here
        except Unsupported as reason:
            ways[name] = {"unsupported": reason.reason}
            continue
        times = []
        for _ in range(repetitions):
            times.append(_milliseconds(lambda options=options: _case(loader, options)))  # type: ignore[misc]
            spawns.append(_milliseconds(_spawn))
        ways[name] = _spread(times)
    spawn = _spread(spawns)
    for way in ways.values():
        if "median_ms" in way:
            way["ratio_to_spawn"] = round(way["median_ms"] / spawn["median_ms"], 2)
    median = ways["default"]["median_ms"]
    return {
        "loader": loader.facts.real_path,
        "repetitions": repetitions,
        "folder": str(scratch_root()),
        "spawn": spawn,
        "cases": ways,
        "target_ms": CASE_TARGET,
        "met": median <= CASE_TARGET,
    }


def _case(loader: Loader, options: dict[str, bool]) -> None:
    """A sandbox, a vendor, the loader that lists its platform, and the end of it all."""
    sandbox = Sandbox(loader.path)
    try:
        sandbox.vendor("a")
        with loader.start(sandbox, **options) as cl:  # type: ignore[arg-type]
            if (names := cl.platform_names()) != ["a"]:
                raise HarnessError(f"the case does not work: {loader.path} lists the platforms {names}, not ['a']")
    finally:
        sandbox.close()


def _spawn() -> None:
    subprocess.run(["/bin/true"], check=True)


def _milliseconds(work: Callable[[], None]) -> float:
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1e3


def _spread(times: list[float]) -> dict[str, float]:
    return {
        "median_ms": round(statistics.median(times), 3),
        "p95_ms": round(statistics.quantiles(times, n=20)[-1], 3),
    }


def _case_lines(numbers: dict[str, Any]) -> list[str]:
    lines = [f"{'case':16}{'median ms':>10}{'95 % ms':>10}{'of a spawn':>12}"]
    for name, way in numbers["cases"].items():
        if "unsupported" in way:
            lines.append(f"{name:16}unsupported: {way['unsupported']}")
        else:
            lines.append(f"{name:16}{way['median_ms']:10.2f}{way['p95_ms']:10.2f}{way['ratio_to_spawn']:12.1f}")
    spawn = numbers["spawn"]
    lines.append(f"{'/bin/true':16}{spawn['median_ms']:10.2f}{spawn['p95_ms']:10.2f}{1:12.1f}")
    lines.append(f"  target: median of a default case at most {numbers['target_ms']:g} ms: {_met(numbers['met'])}")
    lines.append(
        f"  {numbers['repetitions']} repetitions with {numbers['loader']} in {numbers['folder']}, "
        f"{os.cpu_count()} processors"
    )
    return lines
