# SPDX-License-Identifier: Apache-2.0
"""clharness mock: what the program gets to see, what the person gets to see, and what is said about a wrong file."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.build import ROOT, build
from harness.cli import mock
from harness.cli.main import main
from harness.sandbox.faults import faults
from harness.sandbox.settings import settings
from tests import forked

PRINT_VARIABLES = "import os; print(*(os.environ.get(n, '-') for n in ('OCL_ICD_VENDORS', 'OPENCL_LAYERS', 'MINE')))"

# Lists the platforms by the system's loader, as any application does.
APPLICATION = """\
import ctypes, sys
cl = ctypes.CDLL("libOpenCL.so.1")
count = ctypes.c_uint32()
cl.clGetPlatformIDs(0, None, ctypes.byref(count))
platforms = (ctypes.c_void_p * count.value)()
cl.clGetPlatformIDs(count, platforms, None)
for platform in platforms:
    name = (ctypes.c_char * 64)()
    cl.clGetPlatformInfo(ctypes.c_void_p(platform), 0x902, ctypes.c_size_t(64), name, None)
    print(name.value.decode())
sys.exit(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
"""


def clharness(*arguments: str | Path, **variables: str) -> forked.Done:
    return forked.clharness("mock", *arguments, folder=Path.cwd(), limit=60, **{"PYTHONPATH": str(ROOT)} | variables)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "mocks.toml"
    path.write_text(
        '[[icd]]\nname = "one"\n\n[[icd]]\nname = "two"\nplatforms = 2\n[[icd.platform]]\nname = "first"\n\n'
        '[[layer]]\nname = "layer"\n\n[environment]\nMINE = "yes"\n'
    )
    return path


def log_path(done: subprocess.CompletedProcess[str]) -> Path:
    match = re.search(r"log: (.+)", done.stderr)
    assert match, done.stderr
    return Path(match[1])


def test_an_application_sees_the_vendors(config: Path) -> None:
    done = clharness("--config", config, "--", sys.executable, "-c", APPLICATION)
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.splitlines()) == {"one", "first", "two.1"}
    assert re.search(r"calls: .*\bone \d+", done.stderr)
    assert re.search(r"calls: .*\btwo \d+", done.stderr)
    assert "one | clIcdGetPlatformIDsKHR(" in log_path(done).read_text()


def test_the_log_is_printed_after_the_programs_output(config: Path) -> None:
    done = clharness("--config", config, "--log", "--", sys.executable, "-c", APPLICATION)
    names, log = done.stdout.splitlines()[:3], done.stdout.splitlines()[3:]
    assert set(names) == {"one", "first", "two.1"}
    assert log and all(" | " in line for line in log)


def test_the_trace_has_the_vendors_as_lanes(config: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    clharness("--config", config, "--trace", trace, "--", sys.executable, "-c", APPLICATION)
    lanes = {e["args"]["name"] for e in json.loads(trace.read_text())["traceEvents"] if e["name"] == "process_name"}
    assert {"one", "two"} <= lanes


def test_the_example_that_is_documented_works() -> None:
    done = clharness("--config", ROOT / "mock_icds/two-vendors.toml", "--", sys.executable, "-c", APPLICATION)
    assert set(done.stdout.splitlines()) == {"one", "two, the first", "two.1"}, done.stderr


def test_the_program_keeps_the_users_environment(config: Path) -> None:
    done = clharness("--config", config, "--", sys.executable, "-c", PRINT_VARIABLES, OPENCL_LAYERS="/mine.so")
    vendors, layers, mine = done.stdout.split()
    assert vendors.endswith("/vendors") and layers.endswith("/liblayer.so") and mine == "yes"
    assert "no mock was loaded" in done.stderr


def test_without_a_vendor_the_machines_own_stay(tmp_path: Path) -> None:
    path = tmp_path / "layer.toml"
    path.write_text('[[layer]]\nname = "layer"\n')
    done = clharness("--config", path, "--", sys.executable, "-c", PRINT_VARIABLES, OCL_ICD_VENDORS="/mine")
    assert done.stdout.split()[0] == "/mine"


@pytest.mark.parametrize("code", [0, 1, 2, 77, 255])
def test_the_exit_code_is_the_programs(config: Path, code: int) -> None:
    assert clharness("--config", config, "--", sys.executable, "-c", APPLICATION, str(code)).returncode == code


def test_a_program_that_is_killed_is_named_with_its_signal(config: Path) -> None:
    done = clharness("--config", config, "--", "sh", "-c", "kill -SEGV $$")
    assert done.returncode == 128 + signal.SIGSEGV
    assert "SIGSEGV" in done.stderr


def test_arguments_after_the_dashes_are_the_programs(config: Path) -> None:
    done = clharness("--config", config, "--", "printf", "%s|", "--log", "--", "--help", "-x", "")
    assert done.stdout == "--log|--|--help|-x||"


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of our own for the sandboxes."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setenv("CLHARNESS_SCRATCH", str(folder))
    return folder


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_nothing(config: Path, tmp_path: Path, scratch: Path, number: signal.Signals) -> None:
    ready = tmp_path / "ready"
    command = [sys.executable, "-P", "-m", "harness.cli", "mock", "--config", str(config)]
    process = subprocess.Popen(
        [*command, "--", "sh", "-c", f"touch {ready}; exec sleep 60"],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        start_new_session=True,
        stderr=subprocess.PIPE,
    )
    until = time.monotonic() + 30
    while not ready.exists() and time.monotonic() < until:
        time.sleep(0.01)
    assert list(scratch.iterdir())
    os.killpg(process.pid, number)
    _, complaint = process.communicate(timeout=30)
    assert process.returncode == 128 + number
    assert number.name.encode() in complaint and b"Traceback" not in complaint
    assert not list(scratch.iterdir())


def test_nothing_is_left_behind_unless_it_is_kept(config: Path, scratch: Path) -> None:
    assert clharness("--config", config, "--", "sh", "-c", "test -e $OCL_ICD_VENDORS/one.icd").returncode == 0
    assert not list(scratch.iterdir())
    kept = clharness("--config", config, "--keep", "--", "true")
    (folder,) = scratch.iterdir()
    assert f"kept in {folder}" in kept.stderr
    assert (folder / "vendors/one.icd").exists()


def test_the_list_of_faults_is_whole() -> None:
    done = clharness("--faults")
    assert done.returncode == 0
    shown = set(re.findall(r"^  (\w+)$", done.stdout, re.M))
    assert shown == set(faults("icd")) | set(faults("layer")) | set(faults("vulkan"))
    assert "mock ICD:" in done.stdout and "mock layer:" in done.stdout


def test_the_list_of_settings_is_whole() -> None:
    done = clharness("--settings")
    assert done.returncode == 0
    shown = re.findall(r"^  (\w+) \(", done.stdout, re.M)
    listed = [*settings("icd", "mock"), *settings("icd", "platform"), *settings("icd", "function")]
    of_vulkan = [*settings("vulkan", "mock"), *settings("vulkan", "function")]
    assert listed and shown == [*listed, *settings("layer", "function"), *of_vulkan]
    assert "gpus (number; 1)" in done.stdout and "mock layer, single functions" in done.stdout


def test_a_function_does_what_it_is_set_to(tmp_path: Path) -> None:
    path = tmp_path / "functions.toml"
    for written, names in [("[]", {"one"}), ('["clGetPlatformInfo"]', set())]:  # without a name it is not a platform
        path.write_text(f'[[icd]]\nname = "one"\nfunctions = {{ lacks = {written} }}\n')
        done = clharness("--config", path, "--", sys.executable, "-c", APPLICATION)
        assert set(done.stdout.splitlines()) == names


def test_a_fault_does_what_it_says(tmp_path: Path) -> None:
    path = tmp_path / "fault.toml"
    for written, names in [("[]", {"one", "two"}), ('["platform_not_found"]', {"two"})]:
        path.write_text(f'[[icd]]\nname = "one"\nfaults = {written}\n[[icd]]\nname = "two"\n')
        done = clharness("--config", path, "--", sys.executable, "-c", APPLICATION)
        assert set(done.stdout.splitlines()) == names


# --- what is wrong is said in one sentence, with exit code 2 ---


def refused(done: subprocess.CompletedProcess[str], *says: str) -> None:
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
    for text in says:
        assert text in done.stderr
    assert not done.stdout


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("[[icd]\n", "line 1"),
        ("", "describes no mock"),
        ("[icd]\nname = 'x'\n", "[[icd]]"),
        ("icd = 3\n", "[[icd]]"),
        ("[[icd]]\n", "needs `name`"),
        ("[[icd]]\nname = ''\n", "needs `name`"),
        ("[[icd]]\nname = 7\n", "a string as `name`"),
        ("[[icd]]\nname = '../x'\n", "letters, digits"),
        ("[[icd]]\nname = 'x'\nsufix = 'Y'\n", "did you mean 'suffix'"),
        ("[[icds]]\nname = 'x'\n", "did you mean 'icd'"),
        ("[[icd]]\nname = 'x'\nfaults = ['count_call_fial']\n", "did you mean 'count_call_fails'"),
        ("[[icd]]\nname = 'x'\nfaults = 'count_call_fails'\n", "a list as `faults`"),
        ("[[icd]]\nname = 'x'\nfaults = [1]\n", "strings in `faults`"),
        ("[[icd]]\nname = 'x'\nvariant = 'icd_unresolvd'\n", "did you mean 'icd_unresolved'"),
        ("[[icd]]\nname = 'x'\nplatforms = '2'\n", "a whole number from 0 as `platforms`"),
        ("[[icd]]\nname = 'x'\nplatforms = true\n", "a whole number from 0 as `platforms`"),
        ("[[icd]]\nname = 'x'\ngpus = -1\n", "a whole number from 0 as `gpus`"),
        ("[[icd]]\nname = 'x'\nplatforms = 65\n", "0 to 64"),
        ("[[icd]]\nname = 'x'\nplatforms = 1\n[[icd.platform]]\n[[icd.platform]]\n", "2 to 64"),
        ("[[icd]]\nname = 'x'\n[[icd.platform]]\ngpu = 1\n", "did you mean 'gpus'"),
        ("[[icd]]\nname = 'x'\n[[layer]]\nname = 'x'\n", "name of another mock"),
        ("[[layer]]\nname = 'x'\nsuffix = 'Y'\n", "unknown key 'suffix'"),
        ("[[layer]]\nname = 'x'\nfaults = ['init_fail']\n", "did you mean 'init_fails'"),
        ("[[icd]]\nname = 'x'\nicd2 = 1\n", "true or false as `icd2`"),
        ("[[icd]]\nname = 'x'\nfunctions = 'clFlush'\n", "a table as `functions`"),
        ("[[icd]]\nname = 'x'\nfunctions = { lacks = 'clFlush' }\n", "a list of functions as `functions.lacks`"),
        ("[[icd]]\nname = 'x'\nfunctions = { lack = [] }\n", "did you mean 'lacks'"),
        ("[[icd]]\nname = 'x'\nfunctions = { waits_at = ['clFlush'] }\n", "a function and a path"),
        ("[[layer]]\nname = 'x'\nfunctions = { answers = ['clFlush'] }\n", "no setting 'answers'"),
        ("[[icd]]\nname = 'x'\n[environment]\nX = 3\n", "a string as X"),
        ("[[icd]]\nname = 'x'\n[environment]\n'A=B' = 'c'\n", "not a name for a variable"),
        ("environment = 3\n[[icd]]\nname = 'x'\n", "[environment]"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, content: str, says: str) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(content)
    refused(clharness("--config", path, "--", "true"), str(path), says)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    path.write_bytes(b"\xff\xfe")
    refused(clharness("--config", path, "--", "true"), "UTF-8")
    refused(clharness("--config", tmp_path / "absent.toml", "--", "true"), "absent.toml")


def test_without_a_configuration_there_are_two_vendors() -> None:
    done = clharness("--", sys.executable, "-c", APPLICATION)
    assert sorted(done.stdout.splitlines()) == ["one", "two, the first", "two.1"]


def test_machine_without_a_loader_is_lent_one(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The program loads the reference loader; where a variable names a loader, it keeps that."""
    show = "import ctypes; ctypes.CDLL('libOpenCL.so.1'); print(open('/proc/self/maps').read())"
    monkeypatch.setattr(mock, "system_loader", lambda name: None)
    assert main(["mock", "--", sys.executable, "-c", show]) == 0
    shown = capfd.readouterr()
    assert str(build().reference_loader.resolve()) in shown.out
    assert "clharness's own reference loader" in shown.err
    monkeypatch.setenv("LD_LIBRARY_PATH", str(build().reference_loader.parent))
    assert main(["mock", "--", "true"]) == 0
    assert "reference loader" not in capfd.readouterr().err


def test_a_missing_part_of_the_command_is_named(config: Path, tmp_path: Path) -> None:
    refused(clharness(), "no command to run: clharness mock -- COMMAND")
    refused(clharness("--config", config), "no command")
    refused(clharness("--config", config, "--", "/nonexistent/program"), "/nonexistent/program")
    refused(clharness("--config", config, "--", str(tmp_path)), "cannot be run")
    refused(clharness("--config", config, "--trace", "/nonexistent/trace", "--", "true"), "--trace")
