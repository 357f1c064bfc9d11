# SPDX-License-Identifier: Apache-2.0
"""Campaigns: targets share time and processes, findings are kept as they come, corpora grow and are merged.

A folder holds all of it, and another campaign with the same folder goes on with it:

    corpus/TARGET/          what the fuzzer found worth keeping
    set-aside/TARGET/       inputs that end the process at once
    findings/TARGET-KEY/    input, description.txt, report.txt, reproduce.sh
    known.txt               the keys of findings, which the targets pass over
    campaign.json           numbers
    history.html            what each run reached (history.py)
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.errors import HarnessError
from harness.fuzz import afl, libfuzzer
from harness.fuzz.findings import Finding, Keeper, load
from harness.fuzz.job import Job, JobResult, ProcessEnd, Processes, add_inputs, inputs_of, set_aside
from harness.fuzz.target_process import Setting

_STRETCH = 600.0  # seconds of a job, at most: then another target has its turn
SHORTEST = 1.0  # seconds of a job, at least
_TICK = 0.5  # seconds between two looks for progress
_REPEATS = 20  # ends in a row with findings that are known: then a target rests
_MINIMISING = 60.0  # seconds of making a finding's input small, at most; less where there is little time
_TOGETHER = 1000  # inputs that one process runs singly
_MERGING = 120.0  # seconds of merging a corpus, at most
_WORTH_MERGING = 3.0  # seconds of a target: what it grows in less is not worth another run of all its inputs
_ENGINES = {"libfuzzer": libfuzzer.run, "afl": afl.run}


@dataclass(frozen=True)
class Target:
    """What is fuzzed, and with which settings."""

    name: str
    program: Path
    setting: Setting
    seeds: Sequence[Path]  # folders
    dictionary: Path | None


@dataclass
class State:
    """How far a target has come."""

    seconds: float = 0.0  # of this run
    keeping: float = 0.0  # seconds of making findings small, which count against its share
    inputs: int = 0
    edges: int = 0
    corpus: int = 0
    numbers: set[int] = field(default_factory=set)  # of the workers that are at it
    in_a_row: int = 0  # ends without anything new
    run_singly: bool = False  # what its corpus shows was learned in one pass
    resting: str = ""  # why it is not fuzzed any more
    errors: list[str] = field(default_factory=list)
    unconfirmed: dict[str, str] = field(default_factory=dict)  # keys, each with its sentence and why it is no finding
    all_seconds: float = 0.0  # with earlier runs in the same folder
    all_inputs: int = 0

    @property
    def cut(self) -> str:
        """What errors made of it, in words."""
        return "ended early" if self.inputs else "left out"

    def add(self, result: JobResult) -> None:
        """Counts what a job took and ran."""
        self.seconds += result.seconds
        self.all_seconds += result.seconds
        self.inputs += result.inputs
        self.all_inputs += result.inputs


class Campaign:
    """Runs targets until their time is over, or until it is told to stop."""

    def __init__(
        self,
        out: Path,
        targets: Sequence[Target],
        seconds: float,
        jobs: int,
        say: Callable[[str], None],
        first: bool = False,
    ) -> None:
        self.out, self.targets, self.jobs, self.seconds = out, list(targets), jobs, seconds
        self.share = seconds * jobs / len(self.targets)  # of process time, for each target
        self.processes = Processes()
        self.states = {target.name: State() for target in targets}
        self.findings: list[Finding] = []
        self.gone: list[Finding] = []  # of earlier runs: they do not happen any more
        self.started = time.monotonic()
        self._say, self._first = say, first
        self._lock = threading.Lock()
        self._keeping: set[str] = set()
        self._afterwards = max(10.0, seconds / 6)  # seconds of what is made of the results, at most
        self._keeper = Keeper(out, min(_MINIMISING, self._afterwards), self.processes.stop.is_set)

    # --- before and after ---

    def prepare(self) -> None:
        """Brings in seeds, and what an earlier campaign left."""
        self.out.mkdir(parents=True, exist_ok=True)
        for name, numbers in self._earlier().items():
            if name in self.states:
                self.states[name].all_seconds = numbers.get("all_seconds", 0.0)
                self.states[name].all_inputs = numbers.get("all_inputs", 0)
                self.states[name].edges = numbers.get("edges", 0)
        for target in self.targets:
            self._corpus(target).mkdir(parents=True, exist_ok=True)
            for folder in target.seeds:
                add_inputs(folder, self._corpus(target))
            aside = self.out / "set-aside" / target.name
            for file in aside.iterdir() if aside.is_dir() else ():
                (self._corpus(target) / file.name).unlink(missing_ok=True)
        by_name = {target.name: target for target in self.targets}
        for finding in load(self.out):
            of = by_name.get(finding.target)
            if of is None or finding.mode != of.setting.mode:
                continue
            try:
                happens = self._keeper.still_happens(finding, of.program, of.setting)
            except HarnessError as error:
                self.states[of.name].errors = [str(error)]
                continue
            (self.findings if happens else self.gone).append(finding)
        self._write_known()

    def _earlier(self) -> Mapping[str, Any]:
        try:
            summary: dict[str, Any] = json.loads((self.out / "campaign.json").read_text())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise HarnessError(f"{self.out / 'campaign.json'} cannot be read ({error}): name another folder") from None
        return summary

    def finish(self) -> None:
        """Merges the corpora, unless it was short or interrupted, and writes the numbers."""
        for target in self.targets:
            state = self.states[target.name]
            is_grown = target.setting.engine == "libfuzzer" and state.seconds and self.share >= _WORTH_MERGING
            if is_grown and not state.errors and not self.processes.stop.is_set():
                libfuzzer.merge(self._job(target, min(_MERGING, self._afterwards), 0), self.processes)
            state.corpus = sum(1 for _ in self._corpus(target).iterdir())
        numbers = dict(self._earlier())
        for name, state in self.states.items():
            numbers[name] = {"all_seconds": state.all_seconds, "all_inputs": state.all_inputs, "edges": state.edges}
        (self.out / "campaign.json").write_text(json.dumps(numbers, indent=1) + "\n")

    # --- the time in between ---

    def run(self, tick: Callable[[], None]) -> None:
        """Until the time of all targets is over. KeyboardInterrupt ends it, and what runs."""
        self.started = time.monotonic()
        with ThreadPoolExecutor(self.jobs) as pool:
            workers = [pool.submit(self._work, number) for number in range(self.jobs)]
            try:
                while wait(workers, _TICK).not_done:
                    tick()
            except BaseException:
                self.processes.stop.set()
                wait(workers)
                raise
        for worker in workers:
            worker.result()

    def _work(self, number: int) -> None:
        while not self.processes.stop.is_set():
            target = self._next(number)
            if target is None:
                return
            state = self.states[target.name]
            remaining = (self.share - state.seconds - state.keeping) / max(1, len(state.numbers))
            # The last targets have several processes each: the first of them must not take the whole share for itself.
            left = self.started + self.seconds - time.monotonic()
            remaining = min(remaining, left) if left >= SHORTEST else remaining
            try:
                self._fuzz(target, max(SHORTEST, min(_STRETCH, remaining)), number)
            except HarnessError as error:
                state.errors.append(str(error))
                self._say(f"{target.name} is left out: {error}")
            finally:
                with self._lock:
                    state.numbers.discard(number)

    def _next(self, number: int) -> Target | None:
        """The target with the least time so far."""
        is_over = self.started + self.seconds - time.monotonic() < SHORTEST  # a second process reads all seeds again
        with self._lock:
            ready = [t for t in self.targets if self._wants(self.states[t.name])]
            ready = [t for t in ready if not (is_over and self.states[t.name].numbers)]
            if not ready:
                return None
            target = min(ready, key=lambda t: (len(self.states[t.name].numbers), self.states[t.name].seconds))
            self.states[target.name].numbers.add(number)
            return target

    def _wants(self, state: State) -> bool:
        return not state.errors and not state.resting and self.share - state.seconds - state.keeping >= SHORTEST

    def _fuzz(self, target: Target, seconds: float, number: int) -> None:
        job, state = self._job(target, seconds, number), self.states[target.name]
        with self._lock:
            passed_over = self._known()
        result = _ENGINES[target.setting.engine](job, self.processes)
        with self._lock:
            state.add(result)
            state.edges = max(state.edges, result.edges)
            if result.error:
                state.errors.append(result.error)
                self._say(f"{target.name} is {state.cut}: {result.error}")
        news = [self._take(target, end) for end in result.ends]
        if news and not result.begun and not state.run_singly:
            self._run_singly(target, number)
        with self._lock:
            if any(news) or not news:
                state.in_a_row = 0
            else:  # what another job found meanwhile does not count
                state.in_a_row += all(end.defect.key in passed_over for end in result.ends)
            if state.in_a_row >= _REPEATS:
                key = result.ends[-1].defect.key
                state.resting = f"{key} ended it {_REPEATS} times in a row, and hides what comes after it"
                self._say(f"{target.name}: {state.resting}")

    def _run_singly(self, target: Target, number: int) -> None:
        """Learns in one pass what else the inputs of the corpus show, of which one has ended a job at its beginning."""
        state = self.states[target.name]
        state.run_singly = True
        files = inputs_of(self._corpus(target))
        while files and self._wants(state) and not self.processes.stop.is_set():
            job = self._job(target, self.share - state.seconds - state.keeping, number)
            result = libfuzzer.run_singly(job, files[:_TOGETHER], self.processes)
            with self._lock:
                state.add(result)
            files = files[result.inputs if result.ends else _TOGETHER :]
            for end in result.ends:
                self._take(target, end)

    def _take(self, target: Target, end: ProcessEnd) -> bool:
        """Keeps what is new; gives whether it was."""
        key = end.defect.key
        with self._lock:
            same = next((finding for finding in self.findings if finding.key == key), None)
            if same:
                same.times += 1
            new = same is None and key not in self._keeping
            known = [finding.key for finding in self.findings]
            if new:  # other jobs pass over it from now on, and not only when it was made small
                self._keeping.add(key)
                self._write_known()
        if end.data is not None:
            set_aside(end.data, self._corpus(target), self.out / "set-aside" / target.name)
        if not new:
            return False
        started = time.monotonic()
        finding = self._keeper.keep(target.name, target.program, target.setting, end, known)
        with self._lock:
            self.states[target.name].keeping += time.monotonic() - started
            if isinstance(finding, str):
                self.states[target.name].unconfirmed[key] = f"{end.defect.sentence}: {finding}"
            else:
                self.findings.append(finding)
            self._write_known()
        if isinstance(finding, str):
            return True
        self._say(f"finding: {finding.target}: {finding.kind} {finding.key}: {finding.sentence}")
        if self._first:
            self.processes.stop.set()
        return True

    # --- places ---

    def _corpus(self, target: Target) -> Path:
        """Legal inputs and violations of the contract are kept apart."""
        kind = "corpus" if target.setting.mode == "legal" else f"corpus-{target.setting.mode}"
        return self.out / kind / target.name

    def corpus(self, target: Target) -> Path:
        """The folder with the inputs that this target has found so far."""
        return self._corpus(target)

    def work_folder(self, target: Target, number: int) -> Path:
        """The folder of one process of a target, by the number of its job."""
        return self.out / "work" / f"{target.name}-{target.setting.mode}-{number}"

    def _job(self, target: Target, seconds: float, number: int) -> Job:
        work = self.work_folder(target, number)
        work.mkdir(parents=True, exist_ok=True)
        known = self.out / "known.txt"
        return Job(
            target.name, target.program, target.setting, seconds, self._corpus(target), work, known, target.dictionary
        )

    def _known(self) -> set[str]:
        """The keys that targets pass over."""
        return {finding.key for finding in self.findings} | self._keeping

    def _write_known(self) -> None:
        text = "".join(f"{key}\n" for key in sorted(self._known()))
        (self.out / "known.txt").write_text(text)

    # --- for progress ---

    def progress(self) -> tuple[float, int, int]:
        """Seconds so far, inputs, findings."""
        inputs = 0
        with self._lock:
            for target in self.targets:
                running = libfuzzer.running if target.setting.engine == "libfuzzer" else afl.running
                state = self.states[target.name]
                inputs += state.inputs + sum(running(self.work_folder(target, n))[0] for n in state.numbers)
        return time.monotonic() - self.started, inputs, len(self.findings)


def default_folder(root: Path, library: Path, mode: str) -> Path:
    """Where campaigns on a library lie, if nothing else is said: the same folder for the same path."""
    name = hashlib.sha1(str(library).encode()).hexdigest()[:8]
    return root / "campaigns" / f"{library.name.partition('.')[0]}-{name}" / ("" if mode == "legal" else mode)
