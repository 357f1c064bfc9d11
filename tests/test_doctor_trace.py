# SPDX-License-Identifier: Apache-2.0
"""doctor --trace: a program's calls on the vendors that it has."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from harness.build import ROOT, build
from harness.report.page import write_trace
from harness.sandbox import Sandbox
from tests.browser import DRIVER, Browser
from tests.doctor_machine import system
from tests.test_doctor_programs import compiled

needs_browser = pytest.mark.skipif(DRIVER is None, reason="needs chromedriver")
APPLICATION = """
#include <CL/cl.h>
#include <stdlib.h>
int main(int count, char **arguments)
{
    cl_platform_id platform;
    cl_device_id device;
    if (clGetPlatformIDs(1, &platform, NULL) || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))
        return 100;
    if (count > 2)
        abort();
    return atoi(arguments[1]);
}
"""


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("application")
    return compiled(folder, "-DCL_TARGET_OPENCL_VERSION=120", str(system().resolve()), source=APPLICATION)


def trace(*arguments: object, loader: Path | None = None, vendors: bool = True) -> subprocess.CompletedProcess[str]:
    sandbox = Sandbox(system())
    if vendors:
        sandbox.vendor("well")
    environment = os.environ | {"OCL_ICD_VENDORS": str(sandbox.vendors), "PYTHONPATH": str(ROOT)}
    if loader:
        environment["LD_LIBRARY_PATH"] = str(loader)
    command = [sys.executable, "-P", "-m", "harness.cli", "doctor", "--trace", *map(str, arguments)]
    try:
        return subprocess.run(command, env=environment, capture_output=True, text=True, cwd=ROOT)
    finally:
        sandbox.close()


def test_calls_are_shown_with_answers_and_the_exit_code_is_the_program_s(application: Path) -> None:
    done = trace("--", application, "7")
    lines = done.stdout.splitlines()
    assert done.returncode == 7
    assert [line.split("ms  ")[1].split("(")[0] for line in lines] == ["clGetPlatformIDs", "clGetDeviceIDs"]
    assert all(" = CL_SUCCESS" in line for line in lines)
    assert "CL_DEVICE_TYPE_ALL" in lines[1]
    assert "2 OpenCL calls" in done.stderr


def test_signal_ends_the_trace_as_in_a_shell(application: Path) -> None:
    done = trace("--", application, "0", "abort")
    assert done.returncode == 128 + 6
    assert len(done.stdout.splitlines()) == 2


def test_perfetto_file_holds_the_calls(application: Path, tmp_path: Path) -> None:
    done = trace("--perfetto", tmp_path / "trace.json", "--", application, "0")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert (done.returncode, done.stdout) == (0, "")
    assert {"clGetPlatformIDs", "clGetDeviceIDs"} <= {event["name"] for event in events if event["ph"] == "B"}


@needs_browser
def test_page_shows_the_calls_by_order_and_by_the_clock(application: Path, tmp_path: Path) -> None:
    file = tmp_path / "trace.html"
    done = trace("--html", file, "--", application, "0")
    assert (done.returncode, done.stdout) == (0, "")
    assert f"2 OpenCL calls; open {file} in a browser" in done.stderr
    with Browser() as browser:
        browser.open(file)
        names = "[...document.querySelectorAll('.timeline .call')].map(n => n.getAttribute('aria-label'))"
        shown = browser.run(names)
        assert [text.partition("(")[0] for text in shown] == [
            "application | clGetPlatformIDs",
            "application | clGetDeviceIDs",
        ]
        assert all(re.search(r"CL_SUCCESS.*\(after .*s, for [\d.]+ (ns|µs|ms)\)$", text) for text in shown), shown
        places = "[...document.querySelectorAll('.timeline .call')].map(n => n.x.baseVal.value)"
        by_order = browser.run(places)
        browser.click(".tools input")
        by_clock = browser.run(places)
        assert by_clock[0] == by_order[0] and by_clock[1] != by_order[1]
        assert "from left to right" in browser.run("document.querySelector('.tools small').textContent")
        assert browser.console() == []


def test_page_of_many_calls_says_what_is_left_out(tmp_path: Path) -> None:
    write_trace(tmp_path / "t.html", "</script>", ["application | f()"], [0], 7)
    text = (tmp_path / "t.html").read_text()
    assert "7 more events are not on this page" in text and "<h1>OpenCL calls of &lt;/script&gt;</h1>" in text


def test_loader_without_layers_is_replaced_for_the_run(application: Path, tmp_path: Path) -> None:
    """A copy of the loader in which the name of the variable is another one."""
    data = system().read_bytes()
    assert b"OPENCL_LAYERS" in data
    (tmp_path / "libOpenCL.so.1").write_bytes(data.replace(b"OPENCL_LAYERS", b"OPENCL_LAYXXX"))
    done = trace("--", application, "3", loader=tmp_path)
    assert "knows no layers: the reference loader" in done.stderr
    assert (done.returncode, len(done.stdout.splitlines())) == (3, 2)


def test_program_whose_loader_finds_no_vendor_is_told_so(application: Path) -> None:
    """The loader answers by itself, and a layer sees nothing of it."""
    done = trace("--", application, "7", vendors=False)
    assert done.returncode == 100
    assert "or its loader finds no vendor" in done.stderr


def test_program_without_opencl_is_told_so() -> None:
    done = trace("--", "/usr/bin/true")
    assert done.returncode == 0
    assert "no OpenCL call was seen" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "no program to run"),
        (("--", "/no/such/program"), "/no/such/program is not found"),
        (("--perfetto", "/no/such/folder/t.json", "--", "/usr/bin/true"), "cannot be written"),
        (("--html", "/no/such/folder/t.html", "--", "/usr/bin/true"), "--html /no/such/folder/t.html: cannot be"),
    ],
)
def test_wrong_usage_is_one_sentence(arguments: tuple[str, ...], sentence: str) -> None:
    done = trace(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr and len(done.stderr.splitlines()) == 1


def test_reference_loader_is_built() -> None:
    """It is what takes the place of a loader without layers."""
    assert build().reference_loader.exists()
