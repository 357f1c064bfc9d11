# SPDX-License-Identifier: Apache-2.0
"""A failure of an ICD as a C program that needs nothing of the project, and calls in words."""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.api.codes import CL
from harness.api.model import api
from harness.build import ROOT, build
from harness.probe.answers import Compared
from harness.probe.icd_attempts import readable
from harness.probe.icd_objects import IcdObjects
from harness.probe.icd_session import IcdSession
from harness.probe.values import Callback
from harness.probe.verdicts import SubjectFailure
from harness.run import reproducer
from harness.run.exchange import NotReproducible
from harness.run.program import Failure, Part, part, program
from harness.sandbox import Sandbox
from harness.sandbox.machine import scratch_root
from harness.subject.icd import Icd
from tests.forked import with_derived

NOTIFY = "clSetEventCallback.pfn_notify"


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    room = Sandbox()
    yield room
    room.close()


def failed(sandbox: Sandbox, fault: str, body: Callable[[IcdObjects], None]) -> tuple[Icd, BaseException]:
    """What an attempt on an ICD with a fault raises."""
    icd = Icd(sandbox.icd("faulty", faults=[fault]).path)
    with pytest.raises((AssertionError, SubjectFailure)) as caught, icd.attempts(sandbox) as attempts:
        attempts.check("before", lambda objects: None)
        attempts.check("the one", body)
    return icd, caught.value


def ended(tmp_path: Path, text: str, library: Path) -> tuple[int, str]:
    """The exit code and the output of a program on a library."""
    source = tmp_path / "program.c"
    source.write_text(text)
    compiler = os.environ.get("CC", "cc")
    subprocess.run([compiler, "-w", str(source), "-ldl", "-o", str(tmp_path / "program")], check=True)
    done = subprocess.run([tmp_path / "program", library], capture_output=True, text=True)
    return done.returncode, done.stdout


def compiles(tmp_path: Path, text: str) -> None:
    (tmp_path / "program.c").write_text(text)
    subprocess.run(["cc", "-w", "-c", str(tmp_path / "program.c"), "-o", str(tmp_path / "program.o")], check=True)


def text_of(exchange: list[str], replies: list[str] | None = None, comparisons: tuple[Compared, ...] = ()) -> str:
    """The program of an exchange, in the form that compares every answer unless there are comparisons."""
    failure = Failure("a part", exchange, replies or [], comparisons, False)
    return program("case", "", "program", Path("lib.so"), {}, [part(failure, "plain" if comparisons else "answers")])


def test_wrong_error_shows_on_the_faulty_icd_alone(tmp_path: Path, sandbox: Sandbox) -> None:
    def check(objects: IcdObjects) -> None:
        code, mem = objects.session.buffer(4), objects.named("hidden")
        objects.session.call("clEnqueueMapBuffer", objects.queue, mem, 1, CL.MAP_READ, 0, 16, 0, None, None, code)
        assert code.code() == CL.INVALID_OPERATION

    icd, error = failed(sandbox, "host_access_is_ignored", check)
    text = reproducer.of_case("case", error, sandbox).text("case", "what happened */")
    code, output = ended(tmp_path, text, icd.path)
    assert code == 1
    assert "CL_INVALID_OPERATION" in output
    assert "the defect is there" in output
    assert "before" not in text, "what passed is not part of the program"
    with reproducer.correct_mock() as correct:
        code, output = ended(tmp_path, text, correct)
    assert code == 0
    assert "the defect is gone" in output


def test_crash_is_caught_and_named(tmp_path: Path, sandbox: Sandbox) -> None:
    icd, error = failed(sandbox, "null_is_looked_at", lambda objects: print(objects.session.call("clFinish", None)))
    text = reproducer.of_case("case", error, sandbox).text("case", "")
    code, output = ended(tmp_path, text, icd.path)
    assert code == 1
    assert "Segmentation fault" in output
    with reproducer.correct_mock() as correct:
        assert ended(tmp_path, text, correct)[0] == 0


def test_library_that_cannot_be_loaded_is_not_judged(tmp_path: Path) -> None:
    """125 is what `git bisect run` skips."""
    text = text_of(["buffer 1 4 0", "call 2 clFinish 0"], ["ok", "ok 0x0"])
    code, output = ended(tmp_path, text, tmp_path / "none.so")
    assert code == 125
    assert "dlopen failed" in output


def test_failure_that_calls_do_not_show_has_no_program(sandbox: Sandbox) -> None:
    """A correct ICD gives the same answers to the same calls: a program of these would show nothing."""
    icd = Icd(sandbox.icd("plain").path)
    with icd.open(sandbox) as session:
        session.call("clGetExtensionFunctionAddress", "clNoSuchFunction")
    with pytest.raises(NotReproducible, match="does not show it"):
        reproducer.of_case("case", AssertionError("seen elsewhere"), sandbox)


@pytest.mark.parametrize("shape", [{"gpus": 3, "cpus": 2}, {"suffix": "OTHER"}, {"platforms": 2}], ids=str)
def test_another_shape_than_that_of_the_correct_icd_is_no_defect(sandbox: Sandbox, shape: dict[str, Any]) -> None:
    """How many platforms and devices there are, and where they lie, differs between two correct ICDs as well."""
    icd = Icd(sandbox.icd("plain", **shape).path)

    def check(objects: IcdObjects) -> None:
        objects.session.call("clSetUserEventStatus", objects.event, -5)
        raise AssertionError("seen elsewhere")

    with pytest.raises(AssertionError) as caught, icd.attempts(sandbox) as attempts:
        attempts.check("the one", check)
    with pytest.raises(NotReproducible, match="does not show it"):
        reproducer.of_case("case", caught.value, sandbox)


def test_all_kinds_of_functions_compile(tmp_path: Path) -> None:
    """Those of extensions, of cl_khr_icd 2.0, provisional and deprecated ones, too."""
    names = (
        "clIcdGetPlatformIDsKHR",
        "clIcdSetPlatformDispatchDataKHR",
        "clIcdGetFunctionAddressForPlatformKHR",
        "clCreateFromGLBuffer",
        "clGetGLContextInfoKHR",
        "clCreateFromEGLImageKHR",
        "clCreateSemaphoreWithPropertiesKHR",
        "clSVMFree",
        "clFinalizeCommandBufferKHR",
        "clSetCommandQueueProperty",
        "clCreateImage2D",
        "clEnqueueTask",
    )
    zeros = {name: " 0" * len(api().functions[name].parameters) for name in names}
    exchange = [f"address {number} 0 {name}{zeros[name]}" for number, name in enumerate(names)]
    compiles(tmp_path, text_of(exchange))


def test_program_that_does_not_compile_says_why(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    _, error = failed(sandbox, "null_is_looked_at", lambda objects: print(objects.session.call("clFinish", None)))
    monkeypatch.setattr(reproducer, "program", lambda *_: "int main(void) { return unknown_name; }")
    with pytest.raises(NotReproducible, match=r"the program does not compile: .*unknown_name. undeclared"):
        reproducer.of_case("case", error, sandbox)


def test_extension_function_is_got_by_its_name(tmp_path: Path) -> None:
    exchange = [
        "buffer 1 34 0",
        f"put 1 0 {b'clCreateSemaphoreWithPropertiesKHR'.hex()}",
        "call 2 clGetExtensionFunctionAddressForPlatform 0 b1",
        "address 3 r2 clCreateSemaphoreWithPropertiesKHR 0 0 0",
    ]
    replies = ["ok", "ok", "ok 0x7f0000001000", "ok 0x0"]
    text = text_of(exchange, replies, (Compared("r3", "!=", 0, False),))
    assert "AT(address, clCreateSemaphoreWithPropertiesKHR)(NULL, NULL, NULL)" in text
    compiles(tmp_path, text)


def test_list_of_pointers_is_an_array_of_pointers(tmp_path: Path) -> None:
    """`void **` points at `void *`; its first word may be named without an offset, as the probe takes it."""
    exchange = [
        "buffer 1 8 0", "call 2 clGetPlatformIDs 1 b1 0", "call 3 clSVMAlloc 0 1 64 0", "buffer 4 16 0", "word 4 0 r3",
        "word 4 8 r3", "buffer 5 8 0", "word 5 0 *b1", "call 6 clEnqueueSVMFree 0 2 b4 0 0 0 0 0",
        "call 7 clEnqueueSVMFree 0 1 b5 0 0 0 0 0",
    ]  # fmt: skip
    replies = ["ok"] * 2 + ["ok 0x7f0000001000"] + ["ok"] * 5 + ["ok 0x0"] * 2
    text = text_of(exchange, replies, (Compared("r7", "==", -36, False, kind="code"),))
    assert "2, (void *[]){address, address}" in text and "1, &platform" in text
    compiles(tmp_path, text)


def test_release_in_a_callback_is_made_in_the_callback(tmp_path: Path, sandbox: Sandbox) -> None:
    """What a callback releases, the program releases in a callback."""

    def check(objects: IcdObjects) -> None:
        session, event = objects.session, objects.made_by("clCreateUserEvent", objects.context)
        assert isinstance(session, IcdSession)
        session.when(NOTIFY, "clReleaseEvent", event, address=session.entry(event, "clReleaseEvent"))
        assert session.call("clSetEventCallback", event, CL.COMPLETE, Callback(NOTIFY), None) == CL.SUCCESS
        assert session.call("clSetUserEventStatus", event, CL.COMPLETE) == CL.SUCCESS

    icd, error = failed(sandbox, "releases_in_event_callbacks_crash", check)
    text = reproducer.of_case("case", error, sandbox).text("case", "")
    assert "in_callback(" in text
    code, output = ended(tmp_path, text, icd.path)
    assert code == 1
    assert "Segmentation fault" in output
    with reproducer.correct_mock() as correct:
        code, output = ended(tmp_path, text, correct)
    assert code == 0, output


def expect_counted(tmp_path: Path, icd: Icd, sandbox: Sandbox, wrong: str, right: str) -> None:
    """The program of calls whose callbacks were called wrongly shows that, and the right calls on a correct ICD."""
    text = reproducer.of_case("case", AssertionError("seen in the log"), sandbox).text("case", "")
    code, output = ended(tmp_path, text, icd.path)
    assert code == 1, output
    assert wrong in output
    with reproducer.correct_mock() as correct:
        code, output = ended(tmp_path, text, correct)
    assert code == 0, output
    assert right in output


def test_status_that_a_callback_is_told_is_compared(tmp_path: Path, sandbox: Sandbox) -> None:
    """What callbacks are told is the answer of no call; a program compares it all the same."""
    icd = Icd(sandbox.icd("faulty", faults=["late_callbacks_are_told_completion"]).path)
    with icd.open(sandbox) as session:
        event = session.objects(session.some_platforms()[0]).event
        assert session.call("clSetUserEventStatus", event, -5) == CL.SUCCESS
        assert session.call("clSetEventCallback", event, CL.COMPLETE, Callback(NOTIFY), 7) == CL.SUCCESS
        session.pause(50)
    told = "a call with the status {} and the data 0x7"
    expect_counted(tmp_path, icd, sandbox, told.format(0), told.format(-5))


def test_callbacks_that_are_called_too_often_are_counted(tmp_path: Path, sandbox: Sandbox) -> None:
    """So it counts them, also where they ask something each time."""
    icd = Icd(sandbox.icd("faulty", faults=["builds_end_twice"], features="compiler").path)
    notify = "clBuildProgram.pfn_notify"
    with icd.open(sandbox) as session:
        objects = session.objects(session.some_platforms()[0])
        session.count_callback(notify, objects.device)
        program = objects.with_source()
        assert session.call("clBuildProgram", program, 0, None, "", Callback(notify), 7) == CL.SUCCESS
        session.await_callbacks(2)
    expect_counted(tmp_path, icd, sandbox, "got: 2 calls of callbacks", "got: 1 calls of callbacks")


def test_callbacks_that_are_called_as_they_must_be_are_no_finding(sandbox: Sandbox) -> None:
    icd = Icd(sandbox.icd("plain").path)
    with icd.open(sandbox) as session:
        event = session.objects(session.some_platforms()[0]).event
        assert session.call("clSetEventCallback", event, CL.COMPLETE, Callback(NOTIFY), 7) == CL.SUCCESS
        assert session.call("clSetUserEventStatus", event, CL.COMPLETE) == CL.SUCCESS
        session.pause(50)
    with pytest.raises(NotReproducible, match="does not show it"):
        reproducer.of_case("case", AssertionError("seen elsewhere"), sandbox)


def rounds(count: int) -> tuple[list[str], list[str]]:
    """An exchange that makes and releases an event again and again, with its replies."""
    exchange, replies = ["buffer 1 4 0", "call 2 clCreateContext 0 0 0 0 0 b1"], ["ok", "ok 0x10"]
    for number in range(3, 3 + 2 * count, 2):
        exchange += [f"call {number} clCreateUserEvent r2 b1", f"call {number + 1} clReleaseEvent r{number}"]
        replies += ["ok 0x20", "ok 0x0"]
    return exchange, replies


def test_calls_that_are_made_again_and_again_are_a_loop(tmp_path: Path) -> None:
    exchange, replies = rounds(20)
    text = program("case", "", "program", Path("lib.so"), {}, [
        part(Failure("a part", exchange, replies, (), False, leaves="threads"), "rounds")
    ])  # fmt: skip
    compiles(tmp_path, text)
    assert text.count("clCreateUserEvent)(context") == 1
    assert 'return left_behind("threads");' in text
    assert text.index("clCreateContext)") < text.index("while (another_round())") < text.index("clCreateUserEvent)(")


def test_calls_that_are_made_a_few_times_are_no_loop() -> None:
    exchange, replies = rounds(5)
    with pytest.raises(NotReproducible, match="what is left behind"):
        part(Failure("a part", exchange, replies, (), False, leaves="threads"), "rounds")


@pytest.mark.parametrize(
    "line",
    [
        "when clSetEventCallback.pfn_notify call 1 clFinish 0",
        "when clSetEventCallback.pfn_notify peek 1 @0 8",
        "when clSetEventCallback.pfn_notify address 1 r2 clGetDeviceInfo r3 0 0 0 0",
    ],
)
def test_other_calls_in_callbacks_are_not_reproducible(line: str) -> None:
    with pytest.raises(NotReproducible, match="calls in a callback"):
        text_of([line])


def test_releases_in_two_kinds_of_callbacks_are_not_reproducible() -> None:
    lines = [
        f"when {name}.pfn_notify address 1 r2 clReleaseEvent r3" for name in ("clBuildProgram", "clSetEventCallback")
    ]
    with pytest.raises(NotReproducible, match="calls in several callbacks"):
        text_of(lines)


def test_threads_are_not_reproducible() -> None:
    with pytest.raises(NotReproducible, match="threads"):
        text_of(["thread 0 call 1 clFinish 0"])


def test_constants_have_their_names(tmp_path: Path) -> None:
    exchange = ["buffer 1 8 0", "call 2 clGetPlatformInfo 0 2306 8 b1 0"]
    text = text_of(exchange, ["ok", "ok 0x0"], (Compared("r2", "==", -30, False, kind="code"),))
    assert "(NULL, CL_PLATFORM_NAME, 8, &param_value, NULL)" in text
    assert "EXPECT(error == CL_INVALID_VALUE)" in text
    compiles(tmp_path, text)


BUFFER = [
    "buffer 1 8 0", "call 2 clGetPlatformIDs 1 b1 0",
    "buffer 3 8 0", "call 4 clGetDeviceIDs *b1+0 4294967295 1 b3 0",
    "buffer 5 4 165", "call 6 clCreateContext 0 1 b3 0 0 b5",
    "buffer 7 4 165", "call 8 clCreateBuffer r6 8589934592 64 0 b7",
]  # fmt: skip
REPLIES = ["ok", "ok 0x0", "ok", "ok 0x0", "ok", "ok 0x7f0000001000", "ok", "ok 0x7f0000002000"]


def test_program_is_short_and_reads_like_one_that_was_written(tmp_path: Path) -> None:
    """Typed variables, and no helper that it does not use."""
    text = text_of(BUFFER, REPLIES, (Compared("i32(b7, 0)", "==", -30, False, kind="code"),))
    assert "cl_device_id device" in text
    assert "1, &device, NULL, NULL, &error)" in text
    assert "EXPECT(error == CL_INVALID_VALUE)" in text
    for unused in ("mmap", "memcmp", "answer(", "CL_ENABLE_BETA_EXTENSIONS", "V("):
        assert unused not in text
    assert text.count("\n") < 90
    compiles(tmp_path, text)


def test_program_does_not_tell_the_stack_of_another_run() -> None:
    message = "no answer\nthread 7: 0x3c04f (libc.so.6)\n    main+0x395 (probe)\n    0xffffffffffffffff\n    4 more"
    each = part(Failure("a part", BUFFER, REPLIES, (), True), "ended plain")
    text = program("case", message, "program", Path("lib.so"), {}, [each])
    assert " * no answer\n *     4 more\n" in text


def test_parts_share_what_they_begin_with(tmp_path: Path) -> None:
    """A set-up that fails cannot be judged: 125, and not the 1 of a truth value."""
    calls = [f"call 9 {function} r8" for function in ("clRetainMemObject", "clReleaseMemObject")]
    failures = [
        Failure(call, [*BUFFER, call], [*REPLIES, "ok 0x0"], (Compared("r9", "==", -38, False, kind="code"),), False)
        for call in calls
    ]
    text = program("case", "", "program", Path("lib.so"), {}, [part(each, "plain") for each in failures])
    assert text.count("clCreateContext") == 1
    none = tmp_path / "libnone.so"
    functions = "int clGetPlatformIDs(void) { return -30; }"
    subprocess.run([build().compiler, "-shared", "-xc", "-", "-o", none], input=functions, text=True, check=True)
    code, output = ended(tmp_path, text, none)
    assert code == 125
    assert "failed: EXPORTED(clGetPlatformIDs)" in output


def test_crash_that_only_guarded_memory_shows_keeps_it() -> None:
    failure = Failure("a part", BUFFER, REPLIES, (), True)
    assert failure.forms() == ("ended plain", "ended", "ended whole")
    assert "memory(" not in part(failure, "ended plain").body
    assert "memory(4, 165)" in part(failure, "ended").body


def test_queries_that_nobody_needs_are_left_out() -> None:
    exchange = ["buffer 1 8 0", "call 2 clGetPlatformInfo 0 2306 8 b1 0", "call 3 clFinish 0"]
    text = text_of(exchange, ["ok", "ok 0x0", "ok 0x0"], (Compared("r3", "==", -36, False, kind="code"),))
    assert "clFinish" in text
    assert "clGetPlatformInfo" not in text


def test_parts_survive_their_file(tmp_path: Path) -> None:
    program = reproducer.Reproducer(Path("lib.so"), {"A": "1"}, (Part("label", "    clFinish(NULL);\n", "compared"),))
    program.write(tmp_path, "case", "")
    assert reproducer.read(tmp_path) == reproducer.Reproducer(
        Path("lib.so"), {"A": "1"}, (Part("label", "    clFinish(NULL);\n", "compared", [], {}, []),)
    )


def test_calls_in_words() -> None:
    output = readable("SIGSEGV in: address 67 r66 clBuildProgram r62 1 b63 0 0 0")
    assert output == "SIGSEGV in: clBuildProgram(program, 1, device_list, NULL, NULL, NULL)"
    output = readable("SIGSEGV in: call 3 clCreateBuffer r1 9 -1 0 b2")
    assert (
        output == "SIGSEGV in: clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, -1, NULL, errcode_ret)"
    )


HOSTILE = r"""
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>
__attribute__((constructor)) static void loaded(void)
{
    if (fork() == 0) {
        setsid();
        signal(SIGTERM, SIG_IGN);
        flock(open(LOCK, O_RDWR | O_CREAT, 0600), LOCK_EX);
        for (;;)
            pause();
    }
    while (flock(open(LOCK, O_RDWR | O_CREAT, 0600), LOCK_EX | LOCK_NB) == 0)
        flock(open(LOCK, O_RDWR), LOCK_UN);
    for (long i = 0; ENDLESS; i++)
        puts("rubbish");
}
"""


@pytest.mark.parametrize("endless", [0, 1])
def test_program_that_is_tried_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, endless: int) -> None:
    """No process of the library's, no endless output, and nothing of the mock, also where a worker just ends."""
    lock, library = tmp_path / "lock", tmp_path / "libhostile.so"
    (tmp_path / "hostile.c").write_text(HOSTILE)
    options = ["-w", "-shared", "-fPIC", f'-DLOCK="{lock}"', f"-DENDLESS={endless}"]
    subprocess.run([build().compiler, *options, tmp_path / "hostile.c", "-o", library], check=True)
    exchange = ["buffer 1 4 0", "call 2 clFinish 0"]
    shown = part(Failure("a part", exchange, ["ok", "ok 0x0"], (), False), "answers")
    (tmp_path / "scratch").mkdir()
    monkeypatch.setenv("CLHARNESS_SCRATCH", str(tmp_path / "scratch"))
    worker = os.fork()
    if worker == 0:
        scratch_root.cache_clear()
        reproducer.tried(reproducer.Reproducer(library, {}, (shown,)))
        os._exit(0)
    assert os.waitpid(worker, 0)[1] == 0
    assert lock.exists(), "the control"
    with lock.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert not os.listdir(tmp_path / "scratch")


@pytest.mark.parametrize(("whom", "shown"), [("0", "not judged"), ("getpid()", "there")], ids=["all of it", "a part"])
def test_program_that_the_library_stops_is_not_waited_for(tmp_path: Path, whom: str, shown: str) -> None:
    library = tmp_path / "libstops.so"
    stops = "#include <signal.h>\n#include <unistd.h>\n__attribute__((constructor)) static void loaded(void)\n"
    (tmp_path / "stops.c").write_text(stops + f"{{ kill({whom}, SIGSTOP); }}\n")
    subprocess.run([build().compiler, "-shared", "-fPIC", tmp_path / "stops.c", "-o", library], check=True)
    each = part(Failure("a part", ["buffer 1 4 0", "call 2 clFinish 0"], ["ok", "ok 0x0"], (), False), "answers")
    start = time.monotonic()
    assert reproducer.tried(reproducer.Reproducer(library, {}, (each,)))[0][0] == shown
    assert time.monotonic() - start < 4 * reproducer._SECONDS, "half of what it may take"


def test_report_of_a_mock_names_a_program_that_shows_its_fault(tmp_path: Path) -> None:
    """The mock lay in the sandbox, which is gone; the program takes the copy that was kept."""
    environment = os.environ | {
        "CLHARNESS_FAULT": "numeric_versions_are_older",
        "CLHARNESS_OUTPUT": str(with_derived(tmp_path)),
    }
    check = "suites/dispatch/icd/test_icd_consistent_platforms.py::test_version_as_a_number_is_that_of_the_string"
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--clharness-seeded-icd", check]
    report = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True).stdout
    (line,) = re.findall(r"^  reproduce +(.*)$", report, re.M)
    done = subprocess.run(["sh", "-c", line], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "the defect is there" in done.stdout
