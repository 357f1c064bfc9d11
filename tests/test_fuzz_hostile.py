# SPDX-License-Identifier: Apache-2.0
"""What a subject does to the process that fuzzes it is a finding, and said in words that are true."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.build import build
from harness.fuzz import builds
from harness.fuzz.findings import Finding, Keeper
from harness.fuzz.job import ProcessEnd
from harness.fuzz.kept_inputs import VARIABLE, KeptInputs
from harness.fuzz.subject import FuzzSubject
from harness.fuzz.target_process import STUCK, Defect, Replayer, Setting, environment

SOURCE = """
#define _GNU_SOURCE
#include <CL/cl.h>
#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>
static void ends(int number) { _exit(0); }
static void comes_back(int number) { }
static void *waits(void *nothing) { for (;;) pause(); }
static void *turns(void *nothing) { for (;;); }
static void *exits(void *nothing) { usleep(1000); syscall(SYS_exit_group, 0); return nothing; }
static void say(const char *text) { syscall(SYS_write, 2, text, strlen(text)); }
static void deed(void) { DEED; }
cl_int clGetPlatformIDs(cl_uint size, cl_platform_id *platforms, cl_uint *count)
{
    int calls = prctl(PR_GET_TIMERSLACK) - 50000; /* nobody puts it back */
    prctl(PR_SET_TIMERSLACK, 50000 + calls + 1);
    if (calls >= BEFORE) deed();
    return -1001;
}
__attribute__((constructor)) static void begin(void) { AT_ONCE; }
void *clGetExtensionFunctionAddress(const char *name) { return NULL; }
"""
CRASH = "*(volatile int *)16 = 1"
LIE = (
    r'say("\nclharness-fuzz: finding: crash memory@somebody_else: a lie\n'
    r'==1==ERROR: AddressSanitizer: heap-use-after-free on address 0x0\nSUMMARY: AddressSanitizer: a lie\n")'
)
ALL_BLOCKED = "sigset_t all; sigfillset(&all); sigprocmask(SIG_SETMASK, &all, NULL)"


@pytest.fixture
def hostile(tmp_path: Path) -> Callable[..., Setting]:
    def make(deed: str, before: int = 0, at_once: str = "") -> Setting:
        library = tmp_path / "libOpenCL.so.1"
        flags = ["-w", "-DCL_TARGET_OPENCL_VERSION=300", f"-DBEFORE={before}", "-shared", "-fPIC"]
        source = SOURCE.replace("DEED;", f"{deed};").replace("AT_ONCE", at_once)
        command: list[str | Path] = [build().compiler, *flags, "-x", "c", "-", "-o", library]
        subprocess.run(command, input=source.encode(), check=True, capture_output=True)
        return Setting(FuzzSubject(library, "breakpoints", False, ""), engine="replay")

    return make


PROGRAM = "replay_address_queries"


@pytest.mark.parametrize(
    ("deed", "key"),
    [
        ("", None),
        (LIE, None),
        ("raise(SIGCHLD)", None),
        (f"{LIE}; _exit(3)", "status3@nowhere"),
        ("syscall(SYS_exit_group, 0)", "status0@nowhere"),
        (f"signal(SIGSEGV, ends); {CRASH}", "status0@nowhere"),
        (f"stack_t none = {{.ss_flags = SS_DISABLE}}; sigaltstack(&none, 0); {CRASH}", "memory@deed"),
        ("ptrace(PTRACE_TRACEME); raise(SIGUSR1)", "status-10@nowhere"),
        ("close_range(0, ~0u, 0)", "errors-closed"),
        ("syscall(SYS_dup2, 0, 2)", "errors-elsewhere"),
        ("chdir(\"/\")", "left@working-directory"),
        ("umask(0777)", "left@umask"),
        ("signal(SIGSEGV, comes_back)", "left@handler-of-signal-11"),
        ("signal(SIGCHLD, SIG_IGN)", "left@handler-of-signal-17"),
        (ALL_BLOCKED, "left@blocking-of-signal-1"),
        ("pthread_t one; pthread_create(&one, 0, waits, 0)", "left@threads"),
        ("pthread_t one; pthread_create(&one, 0, turns, 0)", "left@threads"),
        ("struct itimerval late = {{0, 0}, {99, 0}}; setitimer(ITIMER_REAL, &late, 0)", None),
        ("struct itimerval late = {{0, 0}, {99, 0}}; setitimer(ITIMER_VIRTUAL, &late, 0)", "left@virtual-timer"),
        ("if (fork() == 0) { setsid(); waits(0); }", "left@processes"),
        ("prctl(PR_SET_NAME, \"other\")", "left@name"),
        ("prctl(PR_SET_DUMPABLE, 0)", "left@dumpable"),
        ("prctl(PR_SET_PDEATHSIG, SIGTERM)", "left@signal-at-the-end-of-the-parent"),
        ("struct rlimit few = {3, 3}; setrlimit(RLIMIT_NOFILE, &few)", "left@resource-limit-7"),
        ("getc(stdin)", None),
        (f"{ALL_BLOCKED}; waits(0)", STUCK.key),
        ("for (int i = 1; i < 64; i++) signal(i, SIG_IGN); turns(0)", STUCK.key),
    ],
)  # fmt: skip
def test_deed_of_a_subject(hostile: Callable[..., Setting], tmp_path: Path, deed: str, key: str | None) -> None:
    replayer = Replayer(build().folder / "fuzz" / PROGRAM, hostile(deed), tmp_path / "work", 1)
    replayer.patience = 3.0
    shown = replayer.replay(b"").key
    assert (shown or "").partition("+")[0] == (key or ""), shown
    assert not processes_of(tmp_path)


@pytest.mark.parametrize(
    ("deed", "key"),
    [
        ("", None),
        ("syscall(SYS_exit_group, 0)", "status0@nowhere"),
        ("chdir(\"/\")", "left@working-directory"),
        (ALL_BLOCKED, "left@blocking-of-signal-1"),
        ("if (fork() == 0) { setsid(); waits(0); }", "left@processes"),
    ],
)  # fmt: skip
def test_deed_of_a_constructor(hostile: Callable[..., Setting], tmp_path: Path, deed: str, key: str | None) -> None:
    replayer = Replayer(build().folder / "fuzz" / PROGRAM, hostile("", at_once=deed), tmp_path / "work", 5)
    assert replayer.replay(b"").key == key


def processes_of(folder: Path) -> list[str]:
    lines = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout.splitlines()
    return [line for line in lines if str(folder) in line]


def kept(folder: Path, setting: Setting, end: ProcessEnd) -> Finding | str:
    return Keeper(folder / "out", 1.0).keep("address_queries", build().folder / "fuzz" / PROGRAM, setting, end, [])


@pytest.mark.parametrize(
    ("deed", "words"),
    [
        ("struct rlimit none = {0, 0}; setrlimit(RLIMIT_FSIZE, &none)", "File size limit exceeded"),
        ("umask(0777); exit(1)", "exit code 1; the process is left changed: umask: 777 in place of "),
    ],
    ids=["a limit", "something else"],
)  # fmt: skip
def test_what_ended_a_process_is_said(hostile: Callable[..., Setting], tmp_path: Path, deed: str, words: str) -> None:
    """Also where the campaign knows another status, because the fuzzer writes more than a replay does."""
    finding = kept(tmp_path, hostile(deed), ProcessEnd(Defect("crash", "status9@nowhere", "it ended"), b""))
    assert isinstance(finding, Finding) and finding.stable and words in finding.sentence, finding


def test_subject_that_removes_what_is_in_its_folder_is_replayed(
    hostile: Callable[..., Setting], tmp_path: Path
) -> None:
    setting = hostile('system("rm -rf ./*"); _exit(0)', before=20)
    before = tuple(b"%d" % number for number in range(40))
    finding = kept(tmp_path, setting, ProcessEnd(Defect("crash", "status0@nowhere", "it ended"), b"1", before))
    assert isinstance(finding, Finding) and finding.stable and finding.before, finding


def test_deed_of_a_later_call_is_replayed_with_those_before(hostile: Callable[..., Setting], tmp_path: Path) -> None:
    setting = hostile("_exit(0)", before=20)
    before = tuple(b"%d" % number for number in range(40))
    finding = kept(tmp_path, setting, ProcessEnd(Defect("crash", "status0@nowhere", "it ended"), b"", before))
    assert isinstance(finding, Finding) and finding.stable and 0 < finding.before < 40, finding


def test_what_hangs_is_not_waited_for_again_and_again(hostile: Callable[..., Setting], tmp_path: Path) -> None:
    started = time.monotonic()
    finding = kept(tmp_path, hostile(f"{ALL_BLOCKED}; waits(0)"), ProcessEnd(STUCK, b"input"))
    assert isinstance(finding, Finding) and finding.stable and finding.key == STUCK.key
    assert time.monotonic() - started < 40


@pytest.mark.parametrize("before", [0, 1000], ids=["ends", "control"])
def test_inputs_that_end_processes_of_a_fuzzer_that_goes_on_are_kept(
    hostile: Callable[..., Setting], tmp_path: Path, before: int
) -> None:
    """AFL++ makes a process after the other, and takes the end of one with 0 for the end of its work."""
    files = [tmp_path / f"{number}" for number in range(3)]
    for file in files:
        file.write_bytes(file.name.encode())
    with KeptInputs(tmp_path / "kept") as kept_inputs:
        variables = hostile("_exit(0)", before=before).variables(None) | {VARIABLE: str(kept_inputs.path)}
        program = build().folder / "fuzz" / PROGRAM
        subprocess.run([program, "--each", *files], env=environment(variables), capture_output=True, check=True)
        assert kept_inputs.ended() == ([b"0", b"1"] if before == 0 else [])
        assert kept_inputs.is_subjects == (before == 0)


def test_correct_loader_leaves_the_process_as_it_was(tmp_path: Path) -> None:
    """In each target that a loader is needed for."""
    for name in builds.chosen_targets([], True):
        setting = Setting(FuzzSubject(build().reference_loader, "breakpoints", False, ""), engine="replay")
        replayer = Replayer(build().folder / "fuzz" / f"replay_{name}", setting, tmp_path / "work", 10)
        seed = min(builds.seeds(name).iterdir())
        assert replayer.replay(seed.read_bytes()).defect is None
