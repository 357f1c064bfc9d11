# SPDX-License-Identifier: Apache-2.0
"""Jobs of AFL++: afl-fuzz in persistent mode for some time. It goes on after a crash, which is looked at afterwards."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from harness.fuzz.builds import afl_mutator
from harness.fuzz.job import Job, JobResult, ProcessEnd, Processes, add_inputs
from harness.fuzz.kept_inputs import VARIABLE, KeptInputs
from harness.fuzz.target_process import Replayer

_VARIABLES = {
    "AFL_NO_UI": "1",
    "AFL_SKIP_CPUFREQ": "1",
    "AFL_NO_AFFINITY": "1",
    "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES": "1",
    "AFL_AUTORESUME": "1",
    "AFL_FAST_CAL": "1",
    "CLHARNESS_FUZZ_REARM": "1",  # breakpoints come back, so that the same input shows the same each time
    # afl-fuzz insists on these.
    "ASAN_OPTIONS": "abort_on_error=1:symbolize=0:detect_leaks=0:max_free_fill_size=4096:allocator_may_return_null=1",
}
_MOST_CRASHES = 50  # of a job, to look at
_MOST_ENDED = 5  # the same of inputs in which a process ended otherwise
# afl-fuzz passes over an input of the corpus that ends the process, and says so.
_PASSED_OVER = re.compile(r"Test case '[^']*\borig:([^']+)' results in a (?:crash|timeout|hang)")


def run(job: Job, processes: Processes, until_crash: bool = False) -> JobResult:
    """A job by AFL++: what it counted and found. The job's folders are its own; ends when its time is over.

    With `until_crash` it ends with the first input that ends the process, as libFuzzer does.
    """
    job.work.mkdir(parents=True, exist_ok=True)
    session, log = job.work / "session", job.work / "log.txt"
    if not any(job.corpus.iterdir()):
        (job.corpus / "first").write_bytes(b"\0")  # afl-fuzz needs one
    command = ["afl-fuzz", "-i", str(job.corpus), "-o", str(session), "-V", str(max(1, round(job.seconds)))]
    command += ["-t", f"{job.setting.time_limit * 1000}", "-m", "none"]
    command += ["-x", str(job.dictionary)] if job.dictionary else []
    command += ["--", str(job.program)]
    before = _statistics(session)
    started = time.monotonic()
    variables = job.setting.variables(job.known) | _VARIABLES | _own_mutations(job)
    variables |= {"AFL_BENCH_UNTIL_CRASH": "1"} if until_crash else {}
    with KeptInputs(job.work / "inputs") as kept:
        variables[VARIABLE] = str(kept.path)
        status, output = processes.run(command, variables, log, job.seconds, job.work, campaign=job.setting.campaign)
        # Its processes do not come to an end by themselves: what an input leaves changed is seen in a replay.
        others = [*kept.ended()[:_MOST_ENDED], *kept.inputs()[-1:]]
    result = JobResult(time.monotonic() - started)
    after = _statistics(session)
    result.inputs = max(0, after.get("execs_done", 0) - before.get("execs_done", 0))
    result.edges = after.get("edges_found", 0)
    results = session / "default"
    if (results / "queue").is_dir():
        add_inputs(results / "queue", job.corpus)
    crashes = [file for kind in ("crashes", "hangs") for file in sorted((results / kind).glob("id:*"))]
    result.ends = _process_ends(job, [*_contents(crashes), *_contents(_passed_over(job, output)), *others])
    for file in crashes:
        file.unlink()
    if status not in (0, None) and not processes.stop.is_set():
        # It does not begin where each seed crashes. Once their findings are known, they do not.
        result.ends = result.ends or _process_ends(job, _contents(sorted(job.corpus.iterdir())))
        result.error = None if result.ends else _trouble(log, output, status)
    return result


def _passed_over(job: Job, output: bytes) -> list[Path]:
    """Inputs of the corpus with which the process ended before anything was mutated."""
    names = dict.fromkeys(_PASSED_OVER.findall(output.decode(errors="replace")))
    return [job.corpus / name for name in names if (job.corpus / name).is_file()]


def _own_mutations(job: Job) -> dict[str, str]:
    """The target says in a file where the records of its inputs begin, and a library mutates them for afl-fuzz."""
    if not job.setting.records or not (library := afl_mutator()):
        return {}
    return {"AFL_CUSTOM_MUTATOR_LIBRARY": str(library), "CLHARNESS_FUZZ_BORDERS": str(job.work / "borders")}


def _contents(files: Iterable[Path]) -> Iterator[bytes]:
    return (file.read_bytes() for file in files)


def _trouble(log: Path, output: bytes, status: int) -> str:
    lines = output.decode(errors="replace").splitlines()
    shown = [line for line in lines if "PROGRAM ABORT" in line or "clharness" in line]
    return " ".join(shown[-2:]) or f"afl-fuzz ended with exit code {status} (its output: {log})"


def _process_ends(job: Job, inputs: Iterable[bytes]) -> list[ProcessEnd]:
    """Inputs that end the process, each replayed to learn its key; one of each key."""
    known = job.known.read_text().split() if job.known.exists() else []
    replayer = Replayer(job.program, job.setting.passing_over(known), job.work / "replay")
    ends, seen = [], set()
    for data in islice(dict.fromkeys(inputs), _MOST_CRASHES):
        defect = replayer.replay(data).defect
        if defect and defect.key not in seen:
            seen.add(defect.key)
            ends.append(ProcessEnd(defect, data))
    return ends


def _statistics(session: Path) -> dict[str, int]:
    try:
        lines = (session / "default" / "fuzzer_stats").read_text().splitlines()
    except OSError:
        return {}
    pairs = (line.partition(":")[::2] for line in lines)
    return {name.strip(): int(value) for name, value in pairs if value.strip().isdecimal()}


def running(work: Path) -> tuple[int, int]:
    """Inputs and edges so far."""
    statistics = _statistics(work / "session")
    return statistics.get("execs_done", 0), statistics.get("edges_found", 0)
