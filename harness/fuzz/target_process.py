# SPDX-License-Identifier: Apache-2.0
"""One run of a fuzz target: its environment, what it says of a finding, and inputs replayed in fresh processes."""

from __future__ import annotations

import os
import re
import signal
import tempfile
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.errors import HarnessError
from harness.fuzz.guarded import Guarded, output_of
from harness.fuzz.kept_inputs import VARIABLE, KeptInputs
from harness.fuzz.subject import FuzzSubject, symbolizer
from harness.probe.patience import TICK, Meter, Starved, wall_limit

_TIME_LIMIT = 5  # seconds of one input, by the fuzzer's clock
_HANG_LIMIT = 2  # seconds that a process must have been able to use where the fuzzer says that an input hangs
_DRIVER = 10  # times that for drivers, whose devices take their time: an input may make several contexts, and compile
_INTERRUPTED = 2.0  # seconds that an input may take of a campaign that was interrupted
_USAGE = 2  # the engine's exit code where it could not begin
_REPORTED = (1, 70, 71, 77, -signal.SIGABRT)  # statuses of a process that a sanitizer or libFuzzer ends with a report
_LINE = re.compile(r"^clharness-fuzz: finding: (\w+) (\S+): (.*)$", re.M)
_STOPPED = re.compile(r"^clharness-fuzz: (?!finding:|input:|seen:|left:)(.*)$", re.M)
_LEFT = re.compile(r"^clharness-fuzz: left: (.*)$", re.M)
_UNDEFINED = re.compile(r"^(?P<file>\S+):(?P<line>\d+):\d+: runtime error: (?P<what>.+)$", re.M)
_EXITED = "fuzz target exited"
_SAID = {_EXITED: "the end of the process, by exit,"}  # libFuzzer's words that a user of ours does not know
_REPORT = re.compile(
    rf"^(?:==\d+==)?\s*ERROR: (?P<tool>\w+Sanitizer|libFuzzer): (?P<what>deadly signal|{_EXITED}|[\w-]+)", re.M
)
# The function in the place, its line or offset, and the module: see stack_trace_format below.
_FRAME = re.compile(r"^ {4}#\d+ \| (?P<function>.*?) \| (?P<line>\d*) \| (?P<module>.*?) \| (?P<offset>\w*)$", re.M)
_OPTIONS = {
    "stack_trace_format": "'    #%n | %f | %l | %m | %o'",
    "detect_leaks": "0",  # the engine looks for leaks itself, after each input
    "max_free_fill_size": "4096",  # a loader that is not instrumented shows no use after free otherwise
    # Released memory is kept from use for the input alone, whose loader ends with it. With the default of 256 nearly
    # each allocation was of memory that had never been touched, which took a fifth of the time.
    "quarantine_size_mb": "16",
    "allocator_may_return_null": "1",
    "handle_abort": "1",
}


@dataclass(frozen=True)
class Defect:
    """A finding as a fuzz target says it."""

    kind: str
    key: str
    sentence: str
    by_engine: bool = False  # in its own line; else the key was made of a sanitizer's report

    @property
    def by_clock(self) -> bool:
        """Whether only time says so, which a busy machine takes, too."""
        return self.key.startswith("hang@")

    @property
    def is_nameless(self) -> bool:
        """Whether nothing but the status of the process is known."""
        return self.key.endswith("@nowhere")


STUCK = Defect("hang", "hang@nowhere", "the process does not end, nor does the fuzzer's limit end it")


@dataclass(frozen=True)
class Setting:
    """What a target is run with; the same for a campaign and for the replay of what it finds."""

    subject: FuzzSubject
    against: Path | None = None
    icd: Path | None = None
    mode: str = "legal"
    blocks: Path | None = None
    engine: str = "libfuzzer"
    fault: str | None = None  # of the seeded loader
    records: bool = True  # whether mutations keep the records of an input whole; else the fuzzer's own are made alone
    known: frozenset[str] = field(default_factory=frozenset)
    campaign: Path | None = None  # its folder, of which a process can change what is its own

    @property
    def time_limit(self) -> int:
        """Seconds that an input may take, by the clock."""
        return _TIME_LIMIT * (_DRIVER if self.icd else 1)

    @property
    def hang_limit(self) -> int:
        """Seconds that an input must use to hang."""
        return _HANG_LIMIT * (_DRIVER if self.icd else 1)

    def variables(self, known_file: Path | None) -> dict[str, str]:
        """What the engine reads."""
        variables = {"CLHARNESS_FUZZ_LOADER": str(self.subject.path), "CLHARNESS_FUZZ_MODE": self.mode}
        if self.icd:
            variables["CLHARNESS_FUZZ_ICD"] = str(self.icd)
        if self.against:
            variables["CLHARNESS_FUZZ_AGAINST"] = str(self.against)
        if self.blocks:
            variables["CLHARNESS_FUZZ_BLOCKS"] = str(self.blocks)
        if self.fault:
            variables["CLHARNESS_FAULT"] = self.fault
        if not self.records:
            variables["CLHARNESS_FUZZ_MUTATOR"] = "plain"
        if known_file:
            variables["CLHARNESS_FUZZ_KNOWN"] = str(known_file)
        return variables

    def replay_variables(self, known_file: Path | None) -> dict[str, str]:
        """The same for a single input, without a fuzzer around the process."""
        # AFL++'s runtime otherwise refuses a library that is opened.
        own = {"AFL_IGNORE_PROBLEMS": "1"} if self.engine == "afl" else {}
        return self.variables(known_file) | own

    def passing_over(self, known: Collection[str]) -> Setting:
        """The same setting, with findings of these keys passed over."""
        return replace(self, known=frozenset(known))


def environment(variables: Mapping[str, str], symbolize: bool = True) -> dict[str, str]:
    """The user's, without what earlier runs may have left. To name places in a report takes most of a crash's time."""
    own = {
        k: v
        for k, v in os.environ.items()
        if not k.startswith(("CLHARNESS_FUZZ_", "AFL_", "ASAN_", "UBSAN_", "OCL_", "OPENCL_"))
    }
    options = ":".join(f"{name}={value}" for name, value in _OPTIONS.items())
    own |= {"ASAN_OPTIONS": options if symbolize else f"{options}:symbolize=0", **variables}
    own["UBSAN_OPTIONS"] = "halt_on_error=1:abort_on_error=1"  # else it prints a line that nobody reads, and goes on
    if symbolize and (path := symbolizer()):
        own["ASAN_SYMBOLIZER_PATH"] = path
    return own


def read_line(output: str) -> Defect | None:
    """The finding in the engine's own line; the first, because the end of the process may be reported in another."""
    line = _LINE.search(output)
    return Defect(line[1], line[2], line[3], by_engine=True) if line else None


def read_finding(output: str, subject: FuzzSubject) -> Defect | None:
    """The finding that a run ended with: in the engine's line, else in a report of the sanitizer or of libFuzzer."""
    return read_line(output) or _read_report(output, subject)


def defect_of(kept: KeptInputs, status: int, output: str, subject: FuzzSubject) -> Defect:
    """What a process ended with that something cut short. Its subject can write what it likes: the engine's line is
    taken from the engine, and the last report counts of a process that ends as one does that makes a report."""
    line = read_line(kept.words if kept.turns else output)
    report = _read_report(output, subject) if line is None and status in _REPORTED else None
    return line or report or Defect("crash", f"status{status}@nowhere", ended(status))


def left_of(kept: KeptInputs) -> Defect | None:
    """What a process that came to its end is not as it was in, where it had a subject that must leave it so."""
    if not (match := _LEFT.search(kept.words)):
        return None
    name, _, _ = match[1].partition(": ")
    return Defect("wrong", f"left@{name.replace(' ', '-')}", f"the process is left changed: {match[1]}", by_engine=True)


def stop_reason(kept: KeptInputs, status: int | None, output: str) -> str | None:
    """Why the engine itself ended the process, where it did."""
    if kept.words:
        return stop_message(kept.words) if _STOPPED.search(kept.words) else None
    return stop_message(output) if status == _USAGE and not kept.is_subjects else None


def _read_report(output: str, subject: FuzzSubject) -> Defect | None:
    if undefined := _UNDEFINED.search(output):
        place = f"{Path(undefined['file']).name}:{undefined['line']}"
        return Defect(
            "crash", f"undefined@{place}", f"UndefinedBehaviorSanitizer reports {undefined['what']} in {place}"
        )
    report = _last_report(output)
    if report is None:
        return None
    kind, word = _classify(report["tool"], report["what"])
    # A loop is interrupted anywhere, so that its line says nothing.
    place = _place(output[report.start() :], subject, kind != "hang")
    at = place if place != "outside" else "no function of the library under test: the harness itself, perhaps"
    what = _SAID.get(report["what"], report["what"])
    return Defect(kind, f"{word}@{place}", f"{report['tool']} reports {what} in {at}")


def _last_report(output: str) -> re.Match[str] | None:
    return next(reversed(list(_REPORT.finditer(output))), None)


def _classify(tool: str, what: str) -> tuple[str, str]:
    if tool == "libFuzzer" and what.startswith("timeout"):
        return "hang", "hang"
    if tool == "libFuzzer":
        return {"deadly signal": ("crash", "signal"), _EXITED: ("crash", "exit")}.get(what, ("hang", "out-of-memory"))
    return "crash", what.partition(" ")[0]


def _frames(report: str, subject: FuzzSubject) -> list[re.Match[str]]:
    """The frames of the library under test in the first stack of a report, innermost first."""
    first = (
        report[: stop.start()] if (stop := re.search(r"\n\n|^(freed|previously|allocated)", report, re.M)) else report
    )
    frames = list(_FRAME.finditer(first)) or list(_FRAME.finditer(report))
    return [frame for frame in frames if os.path.realpath(frame["module"]) == str(subject.path)]


def _function(frame: re.Match[str], subject: FuzzSubject) -> str:
    has_name = frame["function"] not in ("", "<null>")
    return frame["function"] if has_name else f"{subject.path.name}+{frame['offset']}"


def _place(report: str, subject: FuzzSubject, with_line: bool) -> str:
    """The innermost place of the library under test in the first stack of a report, as one word."""
    for frame in _frames(report, subject)[:1]:
        has_line = with_line and frame["line"] not in ("", "0") and frame["function"] not in ("", "<null>")
        return _function(frame, subject) + (f":{frame['line']}" if has_line else "")
    return "outside"


def read_stack(output: str, subject: FuzzSubject) -> tuple[str, ...]:
    """The functions of the library under test that a report shows at work, innermost first; () where it shows none."""
    report = _last_report(output)
    frames = _frames(output[report.start() :], subject) if report else []
    return tuple(_function(frame, subject) for frame in frames)


@dataclass
class Replay:
    """One input in one process."""

    defect: Defect | None
    output: str
    left: Defect | None = None  # what the input did to the process as a whole

    @property
    def key(self) -> str | None:
        """The key of what was found; None where the input did no harm."""
        return self.defect.key if self.defect else None


class Replayer:
    """Runs a target on single inputs, each in a fresh process.

    An input hangs that takes more than the limit of the time that its process can use: by the clock, by which the
    fuzzer goes, every input hangs on a machine that is busy enough.
    """

    def __init__(
        self,
        program: Path,
        setting: Setting,
        folder: Path,
        limit: int = 0,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        """`limit` is in seconds, for one input; 0 is the one of the setting. Once `stopped` says so, what takes long
        shows nothing."""
        self._stopped = stopped
        self._program, self._setting, self.folder = program, setting, folder
        self.limit = limit or setting.time_limit
        self.patience = self.limit * 4 + 10.0  # seconds, after which nobody else will end it
        self._here = folder / "here"  # what the subject can change
        self._known: Path | None = None
        self._before: list[Path] = []
        self.symbolizes = True
        folder.mkdir(parents=True, exist_ok=True)
        if setting.known:
            self._known = folder / "known.txt"
            self._known.write_text("".join(f"{key}\n" for key in sorted(setting.known)))

    def run_before(self, files: Sequence[Path]) -> None:
        """From now on each process runs these inputs first."""
        self._before = list(files)

    def replay(self, data: bytes, extra: Mapping[str, str] | None = None) -> Replay:
        """Runs an input in a fresh process; `extra` are more variables for it."""
        file = self.folder / "input"
        file.write_bytes(data)
        return self.replay_file(file, extra)

    def replay_file(self, file: Path, extra: Mapping[str, str] | None = None) -> Replay:
        """As replay(), for an input in a file."""
        with KeptInputs(self._here / "inputs") as kept:
            variables = self._setting.replay_variables(self._known) | {VARIABLE: str(kept.path)} | dict(extra or {})
            try:
                status, output = self._run(
                    file, self.limit, environment(variables, self.symbolizes), kept, self.patience
                )
            except Starved:
                return Replay(None, "")
            if status is None:
                return Replay(STUCK, output)
            if reason := stop_reason(kept, status, output):
                raise HarnessError(f"{self._program.name} cannot run: {reason}")
            left = left_of(kept)
            if not kept.is_cut_short(status):
                return Replay(left, output, left)
            defect = defect_of(kept, status, output, self._setting.subject)
        if defect.by_clock and not self._hangs(file, variables):
            return Replay(None, output)
        return Replay(defect, output, left)

    def _hangs(self, file: Path, variables: Mapping[str, str]) -> bool:
        """Whether an input that took too long by the clock does so by the time that its process can use, too."""
        try:
            with KeptInputs(self._here / "inputs") as kept:
                return self._run(file, 0, environment(variables, symbolize=False), kept, self.limit)[0] is None
        except Starved:
            return False

    def _run(
        self, file: Path, limit: int, variables: Mapping[str, str], kept: KeptInputs, patience: float
    ) -> tuple[int | None, str]:
        """Its status and its output. The status is None where one input could use more time than `patience`, and the
        process was ended; `limit` is the fuzzer's own, by the clock. Raises Starved."""
        options = [f"-timeout={limit}", "-rss_limit_mb=4096"] if self._setting.engine == "libfuzzer" else []
        command: list[str | Path] = [self._program, *options, *self._before, file]
        with tempfile.TemporaryFile() as errors, tempfile.TemporaryFile() as output:
            with Guarded(command, variables, self._here, output, errors, self._setting.campaign) as process:
                status = self._status(process, kept, patience)
            return status, "".join(output_of(one).decode(errors="replace") for one in (errors, output))

    def _status(self, process: Guarded, kept: KeptInputs, patience: float) -> int | None:
        """As it ended; None where it could use more time than this without another input. Raises Starved."""
        started, turns = time.monotonic(), 0
        meter = Meter(process.guard, started)
        while meter.used <= patience:
            if process.has_ended(TICK):
                return process.code()
            if turns != (turns := kept.turns):
                meter = Meter(process.guard, started := time.monotonic())
            meter.look()
            is_over = self._stopped() and time.monotonic() - started > _INTERRUPTED
            if is_over or time.monotonic() - started > wall_limit(patience):
                raise Starved("nothing can be said of an input")
        return None


def stop_message(output: str) -> str:
    """What the engine ended with, where it could not begin."""
    lines = _STOPPED.findall(output) or output.strip().splitlines()[-1:]
    return lines[-1] if lines else "it says nothing"


def ended(status: int) -> str:
    """What is told of an end that only a status is known of."""
    return f"the process ended with {signal.strsignal(-status) if status < 0 else f'exit code {status}'}"
