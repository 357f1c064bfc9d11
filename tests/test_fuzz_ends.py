# SPDX-License-Identifier: Apache-2.0
"""How the end of a fuzzer's process is understood, and what a campaign leaves alone."""

from __future__ import annotations

import itertools
import os
import signal
import struct
import subprocess
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.build import build
from harness.errors import HarnessError
from harness.fuzz import builds, job, libfuzzer
from harness.fuzz.kept_inputs import VARIABLE, kept_inputs
from harness.fuzz.subject import FuzzSubject
from harness.fuzz.target_process import Replayer, Setting


class Ended:
    """In the place of the processes of a campaign: one that ended with this status."""

    def __init__(
        self, status: int | None, said: bytes = b"", ran: tuple[bytes, ...] = (), with_subject: bool = False
    ) -> None:
        self.status, self.said, self.ran, self.with_subject = status, said, ran, with_subject
        self.stop = threading.Event()

    def run(self, command: list[str], variables: dict[str, str], log: Path, seconds: float, work: Path) -> int | None:
        log.write_bytes(self.said)
        if self.ran:
            content = b"".join(struct.pack("=I", len(data)) + data for data in self.ran)
            content = (struct.pack("=Q", len(content)) + content).ljust((4 << 20) - 8, b"\0")
            Path(variables[VARIABLE]).write_bytes(content + struct.pack("=Q", self.with_subject))
        return self.status


def result_of(processes: Ended, folder: Path, icd: bool = False) -> job.JobResult:
    setting = SimpleNamespace(blocks=None, subject=None, icd=icd, time_limit=5, variables=lambda known: {})
    of = SimpleNamespace(
        work=folder, program="fuzz_x", seconds=1.0, setting=setting, dictionary=None, corpus=folder, known=folder
    )
    return libfuzzer.run(of, processes)  # type: ignore[arg-type]


def ends_of(status: int, folder: Path) -> list[Any]:
    return result_of(Ended(status), folder).ends


def test_target_that_an_interrupt_ended_is_no_finding(tmp_path: Path) -> None:
    """Ctrl-C comes at any moment, also before libFuzzer is ready for it."""
    assert ends_of(-signal.SIGINT, tmp_path) == []
    (end,) = ends_of(-signal.SIGSEGV, tmp_path)
    assert end.defect.kind == "crash", "the control"


@pytest.mark.parametrize(("icd", "before"), [(False, ()), (True, (b"one", b"two"))], ids=["loader", "driver"])
def test_input_is_known_that_ended_a_process_without_the_fuzzers_notice(
    tmp_path: Path, icd: bool, before: tuple[bytes, ...]
) -> None:
    """A subject may have handlers of signals of its own, as LLVM does; what ran before matters to drivers."""
    (end,) = result_of(Ended(1, ran=(b"one", b"two", b"three")), tmp_path, icd).ends
    assert (end.data, end.before) == (b"three", before)


@pytest.mark.parametrize("status", [0, 2, 72, -signal.SIGINT])
@pytest.mark.parametrize("with_subject", [True, False], ids=["in the subject", "outside"])
def test_end_by_the_subject_is_a_finding_with_any_status(tmp_path: Path, status: int, with_subject: bool) -> None:
    """With those of a fuzzer that has done its work, cannot start or was interrupted, too."""
    processes = Ended(status, b"INFO: -max_len is not provided\n", (b"one", b"two"), with_subject)
    result = result_of(processes, tmp_path)
    assert [end.data for end in result.ends] == ([b"two"] if with_subject else [])
    assert (result.error is None) == (with_subject or status != 2)
    processes.stop.set()
    assert not result_of(processes, tmp_path).ends, "it may be the campaign that ended it"


def test_what_the_engine_says_of_its_end_is_no_finding(tmp_path: Path) -> None:
    result = result_of(Ended(2, b"clharness-fuzz: no memory\n", (b"one",), with_subject=True), tmp_path)
    assert (result.error, result.ends) == ("no memory", [])


ENDS = """
#include <CL/cl.h>
#include <stddef.h>
#include <unistd.h>
enum { NOWHERE, IN_CONSTRUCTOR, IN_CALL, IN_PARENT };
__attribute__((constructor)) static void begin(void)
{
    if (WHERE == IN_CONSTRUCTOR) {
        _exit(0);
    }
}
cl_int clGetPlatformIDs(cl_uint size, cl_platform_id *platforms, cl_uint *count)
{
    int ends[2];
    if (WHERE == IN_PARENT && pipe(ends) == 0 && fork()) {
        close(ends[1]);
        read(ends[0], &(char){0}, 1); /* until the child has ended */
        _exit(0);
    }
    if (WHERE == IN_CALL) {
        _exit(0);
    }
    return -1001;
}
void *clGetExtensionFunctionAddress(const char *name) { return NULL; }
"""


@pytest.mark.parametrize("where", ["NOWHERE", "IN_CONSTRUCTOR", "IN_CALL", "IN_PARENT"])
def test_replay_shows_an_end_with_the_status_of_success(tmp_path: Path, where: str) -> None:
    """Also one that comes after the end of a child that was forked in the midst of the input."""
    library = tmp_path / "libOpenCL.so.1"
    flags = ["-DCL_TARGET_OPENCL_VERSION=300", f"-DWHERE={where}", "-shared", "-fPIC", "-x", "c", "-"]
    subprocess.run([build().compiler, *flags, "-o", library], input=ENDS.encode(), check=True, capture_output=True)
    setting = Setting(FuzzSubject(library, "breakpoints", False, ""), engine="replay")
    replayer = Replayer(build().folder / "fuzz" / "replay_vendor_directory", setting, tmp_path / "work", 10)
    assert (replayer.replay(b"").key == "status0@nowhere") == (where != "NOWHERE")


@pytest.mark.parametrize("target", ["icd_file", "vendor_icd", "call_log"])
def test_targets_keep_the_inputs_that_they_run(tmp_path: Path, target: str) -> None:
    inputs = [b"\1\2", b"", b"abc" * 20]
    files = [tmp_path / f"{number}" for number in range(len(inputs))]
    for file, data in zip(files, inputs, strict=True):
        file.write_bytes(data)
    subject = build().mock_icds["icd"] if target == "vendor_icd" else build().reference_loader
    variables = {**os.environ, "CLHARNESS_FUZZ_LOADER": str(subject), VARIABLE: str(tmp_path / "kept")}
    program = build().folder / "fuzz" / f"replay_{target}"
    subprocess.run([program, *files], env=variables, check=True, capture_output=True)
    assert kept_inputs(tmp_path / "kept") == inputs


def test_kept_inputs_that_a_subject_spoilt_end_there(tmp_path: Path) -> None:
    file = tmp_path / "kept"
    assert kept_inputs(file) == []
    for content, inputs in (
        (b"", []),
        (struct.pack("=Q", 1 << 60) + struct.pack("=I", 1) + b"a" + struct.pack("=I", 9), [b"a"]),
    ):
        file.write_bytes(content)
        assert kept_inputs(file) == inputs


_READING = b"INFO: seed corpus: files: 900 min: 1b max: 99b total: 9000b rss: 30Mb\n"
_EXECUTED = b"stat::number_of_executed_units: 7\n"


@pytest.mark.parametrize(
    ("said", "is_error"),
    [(_READING + _EXECUTED, False), (_READING, True), (b"#8\tINITED cov: 3\n" + _EXECUTED, True)],
    ids=["reads its corpus", "stuck in the first input", "stuck in a later one"],
)  # fmt: skip
def test_target_that_reads_its_corpus_for_long_is_only_slow(tmp_path: Path, said: bytes, is_error: bool) -> None:
    """libFuzzer looks at the time after each input, but not before it has run all of the corpus."""
    result = result_of(Ended(None, said), tmp_path)
    assert (result.error is not None, result.begun) == (is_error, b"INITED" in said)


def test_ordinary_targets_are_used_as_they_are(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Runs may be using that build."""

    def refuse(*_: object) -> None:
        raise AssertionError("nothing is built in the main folder")

    monkeypatch.setattr(builds, "run_build", refuse)
    assert builds.ordinary(["icd_file"]).replay("icd_file").exists()
    monkeypatch.setattr(builds, "build", lambda: SimpleNamespace(folder=tmp_path))
    with pytest.raises(HarnessError, match="replay_icd_file is missing: build again"):
        builds.ordinary(["icd_file"])


def test_nothing_is_left_of_a_process_that_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not what made a session of its own and is stopped, as AFL++'s server of processes does."""
    file = tmp_path / "number"

    def stopped() -> float:
        """The time is over when the process is stopped, however slow the machine is."""
        text = file.read_text() if file.exists() else ""
        return float(text.endswith("\n") and state_of(int(text)) == "T")

    monkeypatch.setattr(job, "_GRACE", 0.0)
    times = itertools.chain([0.0], iter(stopped, None))  # it begins at 0, also where it is stopped by then
    monkeypatch.setattr(job, "time", SimpleNamespace(monotonic=lambda: next(times)))
    script = "setsid sh -c 'echo $$ >number; kill -STOP $$' & wait"
    processes = job.Processes()
    assert processes.run(["sh", "-c", script], {}, tmp_path / "log", 0.0, tmp_path) is None
    number = int(file.read_text())
    assert not Path(f"/proc/{number}").exists() or state_of(number) == "Z"


def state_of(number: int) -> str:
    return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
