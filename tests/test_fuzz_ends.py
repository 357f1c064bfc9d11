# SPDX-License-Identifier: Apache-2.0
"""How the end of a fuzzer's process is understood, and what a campaign leaves alone."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import struct
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.build import build
from harness.errors import HarnessError
from harness.fuzz import builds, job, libfuzzer
from harness.fuzz.kept_inputs import VARIABLE, KeptInputs, Watch
from harness.fuzz.subject import FuzzSubject
from harness.fuzz.target_process import Replayer, Setting
from harness.sandbox import guard

WORDS = 1 << 13  # bytes


class Ended:
    """In the place of the processes of a campaign: one that ended with this status, in its so many-th turn."""

    def __init__(
        self,
        status: int | None,
        said: bytes = b"",
        ran: tuple[bytes, ...] = (),
        turns: int = 0,
        finished: bool = False,
        words: bytes = b"",
    ) -> None:
        self.status, self.said, self.ran, self.turns, self.finished, self.words = (
            status, said, ran, turns, finished, words
        )  # fmt: skip
        self.stop = threading.Event()

    def run(
        self,
        command: list[str],
        variables: dict[str, str],
        log: Path,
        seconds: float,
        work: Path,
        is_stuck: Callable[[], bool],
        campaign: Path | None = None,
    ) -> tuple[int | None, bytes]:
        if self.ran:
            content = b"".join(struct.pack("=I", len(data)) + data for data in self.ran)
            numbers = struct.pack("=QQ", self.finished, self.turns)
            content = (struct.pack("=Q", len(content)) + content).ljust((4 << 20) - WORDS - len(numbers), b"\0")
            Path(variables[VARIABLE]).write_bytes(content + self.words.ljust(WORDS, b"\0") + numbers)
        is_stuck()
        return self.status, self.said


def result_of(processes: Ended, folder: Path, icd: bool = False) -> job.JobResult:
    setting = SimpleNamespace(
        blocks=None, subject=None, icd=icd, time_limit=5, variables=lambda known: {}, campaign=None
    )
    of = SimpleNamespace(
        work=folder, program="fuzz_x", seconds=1.0, setting=setting, dictionary=None, corpus=folder, known=folder
    )
    return libfuzzer.run(of, processes)  # type: ignore[arg-type]


@pytest.mark.parametrize("status", [72, -signal.SIGINT])
def test_target_that_the_campaign_interrupted_is_no_finding(tmp_path: Path, status: int) -> None:
    """Ctrl-C comes at any moment, also before libFuzzer is ready for it."""
    processes = Ended(status, ran=(b"one",), turns=5)
    assert result_of(processes, tmp_path).ends, "nobody else interrupts it"
    processes.stop.set()
    assert not result_of(processes, tmp_path).ends


def test_what_ran_before_an_end_is_kept(tmp_path: Path) -> None:
    """Also of one without the fuzzer's notice: a subject may have handlers of signals of its own, as LLVM does."""
    (end,) = result_of(Ended(1, ran=(b"one", b"two", b"three")), tmp_path).ends
    assert (end.data, end.before) == (b"three", (b"one", b"two"))


@pytest.mark.parametrize("status", [0, 2, 72, -signal.SIGINT])
@pytest.mark.parametrize("turns", [5, 6], ids=["in the subject", "in a thread or a timer of it"])
def test_end_by_the_subject_is_a_finding_with_any_status(tmp_path: Path, status: int, turns: int) -> None:
    """With those of a fuzzer that has done its work, cannot start or was interrupted, too."""
    result = result_of(Ended(status, b"INFO: -max_len is not provided\n", (b"one", b"two"), turns), tmp_path)
    if (status, turns) == (2, 6):
        assert result.error == "INFO: -max_len is not provided", "the engine ends so where it cannot begin"
    else:
        assert [end.data for end in result.ends] == [b"two"] and result.error is None


def test_fuzzer_that_has_done_its_work_is_no_finding(tmp_path: Path) -> None:
    result = result_of(Ended(0, b"", (b"one", b"two"), 6, finished=True), tmp_path)
    assert (result.ends, result.error) == ([], None)


def test_what_the_engine_says_of_its_end_is_no_finding(tmp_path: Path) -> None:
    words = b"clharness-fuzz: no memory"
    result = result_of(Ended(2, b"", (b"one",), 5, words=words), tmp_path)
    assert (result.error, result.ends) == ("no memory", [])
    result = result_of(Ended(2, words, (b"one",), 5), tmp_path)
    assert result.error is None and len(result.ends) == 1, "the subject says it"


LIE = b"clharness-fuzz: finding: crash memory@somebody_else: a lie\n==1==ERROR: AddressSanitizer: SEGV on nothing\n"
TRUTH = b"clharness-fuzz: finding: wrong x@y: it is so\n"


@pytest.mark.parametrize(
    ("status", "words", "key"),
    [(-6, TRUTH, "x@y"), (9, b"", "status9@nowhere"), (-11, b"", "status-11@nowhere")],
    ids=["the engine", "a status", "a signal"],
)  # fmt: skip
def test_subject_does_not_say_what_was_found(tmp_path: Path, status: int, words: bytes, key: str) -> None:
    (end,) = result_of(Ended(status, LIE, (b"one",), 3, words=words), tmp_path).ends
    assert end.defect.key == key


@pytest.mark.parametrize("sign", ["is_stuck", "is_slow"])
def test_turn_that_does_not_end_is_a_hang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sign: str) -> None:
    """Also where the fuzzer does not notice it, because its signals are blocked, and where the time is over before."""
    monkeypatch.setattr(Watch, "look", lambda self: setattr(self, sign, True))
    (end,) = result_of(Ended(None, b"", (b"one",), 3), tmp_path).ends
    assert (end.defect.kind, end.data) == ("hang", b"one")
    assert result_of(Ended(0, b"", (b"one",), 4, finished=True), tmp_path).ends == [], "it has ended meanwhile"


@pytest.mark.parametrize(("turns", "finished"), [(3, False), (4, True)], ids=["a turn", "its end"])
def test_watch_sees_that_nothing_changes(tmp_path: Path, turns: int, finished: bool) -> None:
    file = tmp_path / "kept"

    def keep(turns: int, finished: bool) -> None:
        file.write_bytes(struct.pack("=QQ", finished, turns).rjust(4 << 20, b"\0"))

    with KeptInputs(file) as kept:
        watch = Watch(kept, 0.0)
        for free in (0, 2, 4):
            keep(free, False)
            assert not watch.look() and not watch.look(), "it is not the subject's turn"
        keep(turns, finished)
        assert not watch.look() or turns == 4, "it has just begun"
        assert watch.look()


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
    with KeptInputs(tmp_path / "kept") as kept:
        subprocess.run([program, *files], env=variables, check=True, capture_output=True)
        assert kept.inputs() == inputs and kept.is_finished and not kept.is_subjects and not kept.words


def test_kept_inputs_that_a_subject_spoilt_end_there(tmp_path: Path) -> None:
    with KeptInputs(tmp_path / "kept") as kept:
        for content, inputs in (
            (b"", []),
            (struct.pack("=Q", 1 << 60) + struct.pack("=I", 1) + b"a" + struct.pack("=I", 0xFFFFFFFF), [b"a"]),
        ):
            kept.path.write_bytes(content)
            assert kept.inputs() == inputs and not kept.ended()
        kept.path.unlink()
        assert kept.inputs() == [b"a"], "it is open"


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


def test_nothing_is_left_of_a_process_that_is_killed(tmp_path: Path) -> None:
    """Not what made a session of its own and is stopped, as AFL++'s server of processes does."""

    def is_stopped() -> bool:
        """The time is over when the process is stopped, however slow the machine is."""
        return any(state_of(Path("/proc") / number) == "T" for number in processes_in(tmp_path))

    script = "setsid sh -c 'kill -STOP $$' & setsid sleep 60 & wait"
    assert job.Processes().run(["sh", "-c", script], {}, tmp_path / "log", 60.0, tmp_path, is_stopped)[0] is None
    assert not processes_in(tmp_path)


def test_nothing_is_left_of_a_process_that_ends(tmp_path: Path) -> None:
    """Not what is the child of nobody any more, as a subject's daemon."""
    script = "(setsid sleep 60 & touch begun) & wait; exit 3"
    assert job.Processes().run(["sh", "-c", script], {}, tmp_path / "log", 9.0, tmp_path)[0] == 3
    assert (tmp_path / "begun").exists() and not processes_in(tmp_path)


def test_output_of_a_process_that_removes_it_is_read(tmp_path: Path) -> None:
    """It writes without end, and is not read without end."""
    script = "echo begin; rm log; head -c 100000000 /dev/zero; sleep 0.5; echo end"
    status, output = job.Processes().run(["sh", "-c", script], {}, tmp_path / "log", 9.0, tmp_path)
    assert status == 0 and output.endswith(b"end\n") and len(output) < 10 << 20


@pytest.mark.skipif(guard.isolation() != "namespaces", reason="this machine has no mounts for each program")
def test_subject_can_change_nothing_of_a_campaign_but_its_own_folder(tmp_path: Path) -> None:
    own, others = tmp_path / "work" / "own", [tmp_path / "corpus" / "input", tmp_path / "known.txt"]
    for file in (own / "a", *others):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("it is there")
    script = f"rm -rf ./* ../../* {tmp_path}/*; echo changed >../../known.txt; touch mine; :"
    run = job.Processes().run
    assert run(["sh", "-c", script], {}, own / "log", 9.0, own, campaign=tmp_path)[0] == 0
    assert sorted(file.name for file in own.iterdir()) == ["mine"]
    assert all(file.read_text() == "it is there" for file in others)
    run(["sh", "-c", script], {}, own / "log", 9.0, own)
    assert not others[0].exists(), "the control"


def test_jobs_of_a_target_exchange_their_inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job, "_EXCHANGE", -1.0)
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "seed").write_text("seed")
    one, other = job.Exchange(tmp_path / "one", corpus), job.Exchange(tmp_path / "other", corpus)
    (one.own / "new").write_text("new")
    one.sometimes()
    assert not (corpus / "new").exists(), "it may be half written"
    os.utime(one.own / "new", (0, 0))
    (one.own / "link").symlink_to("/etc/passwd")
    one.sometimes()
    other.now()
    assert [file.name for file in other.own.iterdir()] == ["new"]
    (corpus / "new").unlink()
    one.now()
    shutil.rmtree(other.own)
    other.now()
    assert [file.name for file in corpus.iterdir()] == ["seed"], "what was set aside does not come back"


def processes_in(folder: Path) -> list[str]:
    """The processes whose folder it is."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if os.readlink(process / "cwd") == str(folder) and state_of(process) != "Z":
                found.append(process.name)
    return found


def state_of(process: Path) -> str:
    return (process / "stat").read_text().rpartition(")")[2].split()[0]


def test_variables_of_the_user_are_in_no_list_of_arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_PASSWORD", "very secret")
    seen: list[bytes] = []

    def look() -> bool:
        for file in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                seen.append(file.read_bytes())
        return (tmp_path / "ready").exists()

    script = "echo $A_PASSWORD >ready; sleep 60"
    job.Processes().run(["sh", "-c", script], {}, tmp_path / "log", 60.0, tmp_path, look)
    assert (tmp_path / "ready").read_text() == "very secret\n"
    assert any(b"A_PASSWORD >ready" in arguments for arguments in seen), "the control"
    assert not any(b"very secret" in arguments for arguments in seen)
