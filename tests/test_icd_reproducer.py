# SPDX-License-Identifier: Apache-2.0
"""A failure of an ICD as a C program that needs nothing of the project, and calls in words."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from harness.api.model import api
from harness.probe.icd_attempts import readable
from harness.probe.verdicts import Crashed
from harness.run import reproducer
from harness.sandbox import Sandbox
from harness.subject.icd import Icd


def test_crash_happens_again_without_the_harness(tmp_path: Path) -> None:
    sandbox = Sandbox()
    mock = sandbox.icd("faulty", faults=["null_is_looked_at"])
    icd = Icd(mock.path)
    with pytest.raises(Crashed), icd.attempts(sandbox) as attempts:
        attempts.check(
            "NULL", lambda objects: print(objects.session.call("clGetContextInfo", objects.context, 0, 0, None, None))
        )
        attempts.check("NULL", lambda objects: print(objects.session.call("clFinish", None)))
    exchange = sandbox.runs[-1].exchange  # type: ignore[attr-defined]
    program = tmp_path / "reproducer.c"
    program.write_text(reproducer.source("case", "what happened */", mock.path, {"VENDOR": "1"}, exchange))
    compiler = os.environ.get("CC", "cc")
    subprocess.run([compiler, "-w", str(program), "-ldl", "-o", str(tmp_path / "run")], check=True)
    done = subprocess.run([tmp_path / "run"], capture_output=True, text=True)
    sandbox.close()
    assert done.returncode == -signal.SIGSEGV, done.stdout
    assert done.stdout.splitlines()[-1] == "clFinish"


def test_all_kinds_of_functions_compile(tmp_path: Path) -> None:
    """Those of extensions and of cl_khr_icd 2.0, too."""
    names = (
        "clIcdGetPlatformIDsKHR",
        "clIcdSetPlatformDispatchDataKHR",
        "clIcdGetFunctionAddressForPlatformKHR",
        "clCreateFromGLBuffer",
        "clGetGLContextInfoKHR",
        "clCreateFromEGLImageKHR",
        "clCreateSemaphoreWithPropertiesKHR",
        "clSVMFree",
    )
    zeros = {name: " 0" * len(api().functions[name].parameters) for name in names}
    exchange = [f"address {number} 0 {name}{zeros[name]}" for number, name in enumerate(names)]
    program = tmp_path / "reproducer.c"
    program.write_text(reproducer.source("case", "", tmp_path / "lib.so", {}, exchange))
    subprocess.run(["cc", "-w", "-c", str(program), "-o", str(tmp_path / "program.o")], check=True)


def test_threads_are_not_reproducible(tmp_path: Path) -> None:
    with pytest.raises(reproducer.NotReproducible):
        reproducer.source("case", "", tmp_path, {}, ["thread 0 call 1 clFinish 0"])


def test_calls_in_words() -> None:
    said = readable("SIGSEGV in: address 67 r66 clBuildProgram r62 1 b63 0 0 0")
    assert said == "SIGSEGV in: clBuildProgram(program, 1, device_list, NULL, NULL, NULL)"
    said = readable("SIGSEGV in: call 3 clCreateBuffer r1 9 -1 0 b2")
    assert said == "SIGSEGV in: clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, -1, NULL, errcode_ret)"


def test_constants_are_named_beside_their_numbers(tmp_path: Path) -> None:
    """Beside, because the headers of whoever builds the program may lack a name."""
    exchange = ["buffer 1 8 0", "call 2 clGetPlatformInfo 0 2306 8 b1 0"]
    program = tmp_path / "reproducer.c"
    program.write_text(reproducer.source("case", "", tmp_path / "lib.so", {}, exchange))
    assert "clGetPlatformInfo, NULL, 2306 /* CL_PLATFORM_NAME */, 8, (void *)(uint64_t)b1, NULL" in program.read_text()
    subprocess.run(["cc", "-w", "-c", str(program), "-o", str(tmp_path / "program.o")], check=True)
