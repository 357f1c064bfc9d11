# SPDX-License-Identifier: Apache-2.0
"""The fuzz target vendor_icd: finds what a vendor's ICD does wrong, and nothing in one that does everything right."""

from __future__ import annotations

import os
import random
import re
import subprocess
from pathlib import Path

import pytest

from harness.build import build
from harness.errors import HarnessError
from harness.fuzz import builds
from harness.sandbox.guard import has_scopes

pytestmark = pytest.mark.skipif(os.uname().machine not in ("x86_64", "aarch64"), reason="there are no fuzz targets")

SOURCE = Path(__file__).with_name("small_icd.c")
INPUTS, LONGEST = 2500, 300

FAULTS = {
    "overruns": r"crash past-end@",
    "too_little_room": r"wrong too-little-room-0x[0-9a-f]+-clGet\w+Info",
    "another_size": r"wrong another-size-0x[0-9a-f]+-clGet\w+Info",
    "wrote_less": r"wrong wrote-less-0x[0-9a-f]+-clGet\w+Info",
    "wrote_more": r"wrong wrote-more-0x[0-9a-f]+-clGet\w+Info",
    "no_size": r"wrong no-size-0x[0-9a-f]+-clGet\w+Info",
    "room_refused": r"wrong room-refused-0x[0-9a-f]+-clGet\w+Info",
    "positive_code": r"wrong positive-code-5-clGet\w+Info",
    "strange_code": r"wrong no-code--500-clGet\w+Info",
    "object_with_error": r"wrong object-with-error-clCreate\w+",
    "success_without_object": r"wrong success-without-object-clCreate\w+",
    "no_code": r"wrong no-code-clCreate\w+",
    "crashes": r"crash memory@",
    "ends": r"crash exit@clGetDeviceInfo",
    "aborts": r"crash abort@clGetDeviceInfo",
    "outside": r"crash past-end@",
    "reads_list": r"crash past-end@",
}


def icd(folder: Path, wrong: str) -> Path:
    """small_icd.c, which does one thing wrong."""
    library = folder / f"lib{wrong}.so"
    cache = (build().folder / "CMakeCache.txt").read_text()
    headers = [f"-I{path}" for path in re.findall(r"^CLHARNESS_OPENCL_HEADERS:PATH=(.+)$", cache, re.M)]
    command = [build().compiler, "-shared", "-fPIC", "-g", "-DCL_TARGET_OPENCL_VERSION=120", f"-DWRONG={wrong}", "-w"]
    subprocess.run([*command, *headers, SOURCE, "-o", library], check=True)
    return library


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same at each run."""
    folder = tmp_path_factory.mktemp("inputs")
    draw = random.Random(6)
    for i in range(INPUTS):
        (folder / f"{i:04}").write_bytes(draw.randbytes(draw.randrange(LONGEST)))
    return folder


def replay(library: Path | str, *arguments: Path | str, **variables: str) -> subprocess.CompletedProcess[str]:
    program = build().folder / "fuzz" / "replay_vendor_icd"
    environment = {**os.environ, "CLHARNESS_FUZZ_LOADER": str(library), **variables}
    return subprocess.run([program, *arguments], capture_output=True, text=True, env=environment, timeout=120)


def findings(done: subprocess.CompletedProcess[str]) -> list[str]:
    return re.findall(r"^clharness-fuzz: finding: (.*)$", done.stderr, re.M)


def test_nothing_is_found_in_an_icd_that_does_everything_right(tmp_path: Path, inputs: Path) -> None:
    done = replay(icd(tmp_path, "none"), inputs)
    assert (done.returncode, findings(done)) == (0, []), done.stderr
    assert f"vendor_icd: read {INPUTS} inputs" in done.stdout


@pytest.mark.parametrize("fault", FAULTS)
def test_what_an_icd_does_wrong_is_found(fault: str, tmp_path: Path, inputs: Path) -> None:
    lines = findings(replay(icd(tmp_path, fault), inputs))
    assert len(lines) == 1, lines
    assert re.match(FAULTS[fault], lines[0]), lines


def test_a_known_finding_is_passed_over(tmp_path: Path, inputs: Path) -> None:
    library = icd(tmp_path, "strange_code")
    known = tmp_path / "known"
    known.write_text("")
    for _ in range(50):
        done = replay(library, inputs, CLHARNESS_FUZZ_KNOWN=str(known))
        if not (lines := findings(done)):
            break
        with known.open("a") as file:
            file.write(lines[0].split()[1].rstrip(":") + "\n")
    assert done.returncode == 0
    assert 2 <= len(known.read_text().split()) < 50


def test_an_input_is_described_in_words(tmp_path: Path) -> None:
    (tmp_path / "input").write_bytes(bytes(40))
    done = replay(icd(tmp_path, "none"), "--describe", tmp_path / "input")
    assert re.search(r"^clharness-fuzz: input: clCreateContext\(properties .*errcode_ret .*\)$", done.stderr, re.M)


def test_an_icd_may_have_memory_where_drivers_of_gpus_do(tmp_path: Path) -> None:
    """The address sanitizer closes these addresses to all, unless it is told otherwise."""
    try:
        built = builds.make(builds.LIBFUZZER, [builds.OF_ICD])
    except HarnessError as error:
        if "is not installed" in str(error) or "has no libFuzzer" in str(error):
            pytest.skip(str(error))
        raise
    (tmp_path / "input").write_bytes(bytes(40))
    variables = {**os.environ, "CLHARNESS_FUZZ_ICD": str(icd(tmp_path, "maps_low")), "ASAN_OPTIONS": ""}
    command = [built.program(builds.OF_ICD), tmp_path / "input"]
    done = subprocess.run(command, capture_output=True, text=True, env=variables, timeout=120)
    assert (done.returncode, "Executed" in done.stderr) == (0, True), done.stderr


@pytest.mark.skipif(os.geteuid() != 0 or not has_scopes(), reason="only root, of a kernel with scopes, is kept in")
def test_an_icd_sends_signals_to_no_other_process_of_root(tmp_path: Path) -> None:
    """One that ends all processes would end the machine's."""
    (tmp_path / "input").write_bytes(bytes(40))
    with subprocess.Popen(["sleep", "60"]) as receiver:
        try:
            done = replay(icd(tmp_path, "sends"), tmp_path / "input", RECEIVER=str(receiver.pid))
            assert (done.returncode, receiver.poll()) == (0, None), done.stderr
        finally:
            receiver.kill()


@pytest.mark.parametrize(
    ("library", "sentence"),
    [("libc.so.6", "has no clGetExtensionFunctionAddress: give the library of an OpenCL ICD"),
     ("/nowhere/libnothing.so", "the ICD cannot be loaded: /nowhere/libnothing.so")],
)  # fmt: skip
def test_what_is_no_icd_is_refused(library: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "input").write_bytes(b"1")
    done = replay(library, tmp_path / "input")
    assert done.returncode == 2
    assert sentence in done.stderr
