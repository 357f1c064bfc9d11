# SPDX-License-Identifier: Apache-2.0
"""Inputs a second of each fuzz target, beside a process per input: CPU time, in one run, over the target's seeds."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.build import build
from harness.errors import HarnessError
from harness.fuzz import builds, libfuzzer
from harness.fuzz.blocks import blocks_file
from harness.fuzz.subject import FuzzSubject, fuzz_subject
from harness.fuzz.target_process import Setting, environment
from harness.subject.identify import VULKAN_LOADER, identify

_SECONDS = 0.5  # of CPU time, roughly, for each number
_PROCESSES = 20  # of a process per input
_EXECUTED = re.compile(r"^stat::number_of_executed_units: (\d+)", re.M)
_ENDED = re.compile(r"^clharness-fuzz: (.*) ended with ", re.M)
_READ = re.compile(r": read (\d+) inputs")


def measure_targets(
    loader: Path | None, tell: Callable[[str], None], only: Collection[str] = ()
) -> list[dict[str, Any]]:
    """For each target: inputs a CPU second in one process and with a process each, with and without sanitizer.

    With a loader, the targets that take one of its kind; else all, with the reference loaders that this build has.
    `tell` is told what is done now; `only` are the targets to measure, where not all of them are.
    """
    tell("building the fuzz targets")
    kinds = [identify(loader) is VULKAN_LOADER] if loader else [False] if build().vulkan is None else [False, True]
    planned = [plan for vulkan in kinds for plan in _planned(loader, vulkan, only)]
    results = []
    for number, plan in enumerate(planned, 1):
        tell(f"measuring {plan[0]} ({number} of {len(planned)})")
        results.append(_measure(*plan))
    return results


def _planned(
    loader: Path | None, vulkan: bool, only: Collection[str]
) -> list[tuple[str, builds.FuzzBuild, builds.FuzzBuild, FuzzSubject, FuzzSubject]]:
    """The targets of a kind, as `_measure` takes them."""
    names = [name for name in builds.chosen_targets((), True, vulkan) if not only or name in only]
    if not names:
        return []
    ordinary, fuzzed = builds.ordinary(names), builds.make(builds.LIBFUZZER, names)
    subject = fuzz_subject(loader or fuzzed.reference_loader(vulkan), "libfuzzer")
    plain = (
        subject if loader and not subject.sanitized else fuzz_subject(ordinary.reference_loader(vulkan), "libfuzzer")
    )
    return [(name, ordinary, fuzzed, plain, subject) for name in names]


def _measure(
    name: str, ordinary: builds.FuzzBuild, fuzzed: builds.FuzzBuild, plain: FuzzSubject, subject: FuzzSubject
) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="clharness-bench-") as folder:
        corpus = Path(folder) / "corpus"
        corpus.mkdir()
        for file in _seeds(name):
            (corpus / file.name).write_bytes(file.read_bytes())
        if not any(corpus.iterdir()):
            (corpus / "shortest").write_bytes(b"\0")
        _leave_out_findings(ordinary.replay(name), plain, corpus)
        inputs = sorted(corpus.iterdir())
        in_process = _replay_rate(ordinary.replay(name), plain, corpus)
        each = _process_rate(ordinary.replay(name), plain, inputs, ())
        fuzzing = _fuzzing_rate(fuzzed.program(name), subject, corpus)
        fuzzing_each = _process_rate(fuzzed.program(name), subject, inputs, ("-detect_leaks=0",))
    return {
        "target": name,
        "seeds": len(inputs),
        "replay_per_second": round(in_process),
        "process_per_second": round(each, 1),
        "replay_ratio": round(in_process / each, 1),
        "fuzz_per_second": round(fuzzing),
        "fuzz_process_per_second": round(fuzzing_each, 1),
        "fuzz_ratio": round(fuzzing / fuzzing_each, 1),
    }


def _seeds(name: str) -> list[Path]:
    return [path for path in builds.seeds(name).iterdir() if path.is_file()] if builds.seeds(name).is_dir() else []


def _leave_out_findings(program: Path, subject: FuzzSubject, corpus: Path) -> None:
    """Seeds with which this loader shows one of its defects."""
    _, output = _cpu_seconds([program, "--each", corpus], _variables(subject))
    for path in _ENDED.findall(output):
        Path(path).unlink()
    if not any(corpus.iterdir()):
        raise HarnessError(f"{program.name}: {subject.path} shows a finding with each seed")


def _replay_rate(program: Path, subject: FuzzSubject, corpus: Path) -> float:
    """In one process, without what starting it costs."""
    nothing, count, _ = _replayed(program, subject, corpus, 1)
    repeat = 1
    while True:
        repeat *= 10
        seconds, _, _ = _replayed(program, subject, corpus, repeat)
        if seconds - nothing > _SECONDS / 3 or repeat >= 1_000_000:
            return count * (repeat - 1) / max(seconds - nothing, 1e-6)


def _replayed(program: Path, subject: FuzzSubject, corpus: Path, repeat: int) -> tuple[float, int, str]:
    seconds, output = _cpu_seconds([program, "--repeat", str(repeat), corpus], _variables(subject))
    read = _READ.search(output)
    if read is None:
        raise HarnessError(f"{program.name} cannot replay the seeds: {output.strip()[-400:]}")
    return seconds, int(read[1]), output


def _process_rate(program: Path, subject: FuzzSubject, inputs: Sequence[Path], options: Sequence[str]) -> float:
    """Each input in a process of its own."""
    total, variables = 0.0, _variables(subject)
    for number in range(_PROCESSES):
        seconds, _ = _cpu_seconds([program, *options, inputs[number % len(inputs)]], variables)
        total += seconds
    return _PROCESSES / total


def _fuzzing_rate(program: Path, subject: FuzzSubject, corpus: Path) -> float:
    """With mutation and coverage, as in a campaign, without what starting costs."""
    rates = []
    nothing, begun = _fuzzed(program, subject, corpus, "-runs=0")
    for runs in (5_000, 50_000):
        seconds, executed = _fuzzed(program, subject, corpus, f"-runs={runs}")
        rates.append((executed - begun) / max(seconds - nothing, 1e-6))
        if seconds - nothing > _SECONDS:
            break
    return rates[-1]


def _fuzzed(program: Path, subject: FuzzSubject, corpus: Path, runs: str) -> tuple[float, int]:
    with tempfile.TemporaryDirectory(prefix="clharness-bench-") as fresh:
        options = [runs, "-seed=1", "-print_final_stats=1", "-detect_leaks=0", "-print_funcs=0", libfuzzer.FEATURES]
        seconds, output = _cpu_seconds([program, *options, fresh, corpus], _variables(subject), Path(fresh))
    executed = _EXECUTED.findall(output)
    if not executed:
        raise HarnessError(f"{program.name} cannot run: {output.strip()[-400:]}")
    return seconds, int(executed[-1])


def _variables(subject: FuzzSubject) -> dict[str, str]:
    blocks = None
    if subject.coverage == "breakpoints":
        blocks = blocks_file(subject.path, build().folder / "blocks")
    return environment(Setting(subject, blocks=blocks).variables(None))


def _cpu_seconds(
    command: Sequence[object], variables: Mapping[str, str], folder: Path | None = None
) -> tuple[float, str]:
    """User and system time of one process, and what it said."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            list(map(str, command)),
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=folder,
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        return used.ru_utime + used.ru_stime, output.read().decode(errors="replace")


def fuzz_lines(measurements: Sequence[Mapping[str, Any]]) -> list[str]:
    """The measurements of `bench fuzz` as a table, a line a target."""
    lines = [f"{'':20}{'inputs a CPU second, plain':>38}{'fuzzed, with sanitizer':>38}"]
    lines.append(f"{'target':20}" + f"{'one process':>14}{'a process each':>16}{'ratio':>8}" * 2)
    for one in measurements:
        lines.append(
            f"{one['target']:20}{one['replay_per_second']:14,}{one['process_per_second']:16,.0f}{one['replay_ratio']:8.0f}"
            f"{one['fuzz_per_second']:14,}{one['fuzz_process_per_second']:16,.0f}{one['fuzz_ratio']:8.0f}"
        )
    return lines
