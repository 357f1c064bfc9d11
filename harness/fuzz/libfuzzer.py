# SPDX-License-Identifier: Apache-2.0
"""Jobs of libFuzzer: one process, which ends with its time or with a finding; and merging of corpora."""

from __future__ import annotations

import contextlib
import re
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from harness.fuzz.job import Exchange, Job, JobResult, ProcessEnd, Processes
from harness.fuzz.kept_inputs import VARIABLE, KeptInputs, Watch
from harness.fuzz.target_process import STUCK, Defect, defect_of, left_of, stop_reason

_STATUS = re.compile(rb"^#(\d+)\t.*?cov: (\d+)", re.M)
_EXECUTED = re.compile(rb"^stat::number_of_executed_units: (\d+)", re.M)
_BEGUN = re.compile(rb"^#\d+\tINITED ", re.M)
_SINGLE = re.compile(rb"^Running: ", re.M)
# In searches, and where their speed is measured. Each feature of an input that fewer than so many inputs have is looked
# for in a list of all such: with 255, the default, that is all of them for some thousand inputs, and half of the time.
FEATURES = "-entropic_feature_frequency_threshold=16"
_TAIL = 8192  # bytes of a log in which its newest status stands
MEMORY = 4096  # MiB
_INPUTS = "inputs"  # the name of a job's file with what its process ran


def run(job: Job, processes: Processes) -> JobResult:
    """A job by libFuzzer: what it counted and found. The job's folders are its own; ends when its time is over."""
    artifacts = job.work / "artifacts"
    shutil.rmtree(artifacts, ignore_errors=True)
    artifacts.mkdir(parents=True)
    log, exchange = job.work / "log.txt", Exchange(job.work / "own", job.corpus)
    command = [
        str(job.program),
        f"-max_total_time={max(1, round(job.seconds))}",
        f"-timeout={job.setting.time_limit}",
        f"-rss_limit_mb={MEMORY}",
        f"-artifact_prefix={artifacts}/",
        *("-print_final_stats=1", "-print_funcs=0", "-reload=1", "-detect_leaks=0", FEATURES),
        # Breakpoints show each block once. Inputs that grow only when nothing new comes stay small for too long.
        *(["-len_control=0"] if job.setting.blocks else []),
        *([f"-dict={job.dictionary}"] if job.dictionary else []),
        str(exchange.own),
        str(job.corpus),
    ]
    started = time.monotonic()
    with KeptInputs(job.work / _INPUTS) as kept:
        watch = Watch(kept, job.setting.time_limit * 2)

        def look() -> bool:
            exchange.sometimes()
            return watch.look()

        status, output = processes.run(
            command, _variables(job, kept), log, job.seconds, job.work, look, job.setting.campaign
        )
        exchange.now()
        inputs, edges = _numbers(output)
        inputs = inputs or kept.turns // 2  # its output may be closed
        result = JobResult(time.monotonic() - started, inputs, edges, begun=bool(_BEGUN.search(output)))
        defect = _defect(job, processes, kept, watch, status, output)
        if isinstance(defect, str):
            result.error = defect
        elif defect:
            result.ends.append(_ended(job, kept, defect, _artifact(artifacts)))
        elif status is None and not processes.stop.is_set() and (result.begun or not inputs):  # else it is only slow
            result.error = f"the process went on {job.seconds:.0f} s and a minute, and was ended (its output: {log})"
    return result


def run_singly(job: Job, files: Sequence[Path], processes: Processes) -> JobResult:
    """Runs inputs one after the other, until one ends the process; `inputs` says how many that were, with that one.

    A job begins anew after each finding, and with its whole corpus: where many of its inputs show something, this is
    how to learn all of it in one pass.
    """
    files = _own_copies(files, job.work / "singly")  # other jobs may take some of them out of the corpus
    log = job.work / "singly.txt"
    command = [str(job.program), f"-timeout={job.setting.time_limit}", f"-rss_limit_mb={MEMORY}", "-detect_leaks=0"]
    command += [f"-artifact_prefix={job.work}/singly-", *map(str, files)]
    started = time.monotonic()
    with KeptInputs(job.work / _INPUTS) as kept:
        watch = Watch(kept, job.setting.time_limit * 2)
        status, output = processes.run(
            command, _variables(job, kept), log, job.seconds, job.work, watch.look, job.setting.campaign
        )
        result = JobResult(time.monotonic() - started, len(_SINGLE.findall(output)))
        defect = _defect(job, processes, kept, watch, status, output)
        if isinstance(defect, Defect) and 0 < result.inputs <= len(files):
            result.ends.append(_ended(job, kept, defect, _content(files[result.inputs - 1])))
    return result


def _variables(job: Job, kept: KeptInputs) -> dict[str, str]:
    """What the engine reads in a job, which keeps its inputs."""
    return job.setting.variables(job.known) | {VARIABLE: str(kept.path)}


def _ended(job: Job, kept: KeptInputs, defect: Defect, data: bytes | None) -> ProcessEnd:
    """The end of a job's process in an input; None is the last one that it ran. What ran before it matters where the
    subject cannot be put back."""
    inputs = kept.inputs()
    data = inputs[-1] if data is None and inputs else data
    return ProcessEnd(defect, data, tuple(inputs[:-1] if inputs[-1:] == [data] else inputs))


def _own_copies(files: Sequence[Path], folder: Path) -> list[Path]:
    """The same files by names in a folder that is emptied before; those that are gone are left out."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    copies = [folder / f"{number:06}" for number in range(len(files))]
    for file, copy in zip(files, copies, strict=True):
        with contextlib.suppress(FileNotFoundError):
            shutil.copyfile(file, copy)
    return [copy for copy in copies if copy.exists()]


def _defect(
    job: Job, processes: Processes, kept: KeptInputs, watch: Watch, status: int | None, output: bytes
) -> Defect | str | None:
    """What the process ended with, or why the engine ended it."""
    said = output.decode(errors="replace")
    if reason := stop_reason(kept, status, said):
        return reason
    if status is None:
        return STUCK if watch.is_stuck or (watch.is_slow and not processes.stop.is_set()) else None
    if not kept.is_cut_short(status):
        return left_of(kept)
    # It may be the campaign that ended it, before it was ready for that: then nobody says anything.
    defect = defect_of(kept, status, said, job.setting.subject)
    return None if processes.stop.is_set() and defect.is_nameless else defect


def _artifact(folder: Path) -> bytes | None:
    """The input that libFuzzer has noticed the end in. A subject may have handlers of signals of its own, and may have
    removed the folder."""
    try:
        return _content(max(folder.iterdir(), key=lambda path: path.stat().st_mtime))
    except (OSError, ValueError):
        return None


def _content(file: Path) -> bytes | None:
    """None where the subject has removed it."""
    try:
        return file.read_bytes()
    except OSError:
        return None


def _numbers(output: bytes) -> tuple[int, int]:
    """Inputs that were run, and edges that were reached."""
    statuses = _STATUS.findall(output)
    executed = _EXECUTED.findall(output)
    inputs = int(executed[-1]) if executed else int(statuses[-1][0]) if statuses else 0
    return inputs, int(statuses[-1][1]) if statuses else 0


def running(work: Path) -> tuple[int, int]:
    """The same of a job that goes on."""
    try:
        with (work / "log.txt").open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - _TAIL))
            return _numbers(file.read())
    except OSError:
        return 0, 0


def merge(job: Job, processes: Processes) -> bool:
    """Leaves of the corpus what is needed to reach all that it reaches. False where it stays as it is."""
    merged = job.work / "merged"
    shutil.rmtree(merged, ignore_errors=True)
    merged.mkdir(parents=True)
    command = [
        str(job.program),
        "-merge=1",
        f"-timeout={job.setting.time_limit}",
        f"-rss_limit_mb={MEMORY}",
        "-print_funcs=0",
    ]
    command += [f"-artifact_prefix={job.work}/merge-", str(merged), str(job.corpus)]
    until = time.monotonic() + job.seconds
    with KeptInputs(job.work / _INPUTS) as kept:
        watch = Watch(kept, job.setting.time_limit * 2)
        status, _ = processes.run(
            command, _variables(job, kept), job.work / "merge.txt", job.seconds, job.work,
            lambda: watch.look() or time.monotonic() > until, job.setting.campaign,
        )  # fmt: skip
    if status != 0 or not any(merged.iterdir()):
        shutil.rmtree(merged, ignore_errors=True)
        return False
    old = job.corpus.with_name(f"{job.corpus.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    job.corpus.rename(old)
    merged.rename(job.corpus)
    shutil.rmtree(old)
    return True
