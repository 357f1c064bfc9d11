# SPDX-License-Identifier: Apache-2.0
"""The build script for OSS-Fuzz and ClusterFuzzLite, run with the variables that these set."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from harness.build import ROOT, build
from harness.errors import HarnessError
from harness.fuzz import builds, coverage, grown
from tests.samples import WHOLE

RUNS = 300
CHECKS = "array-bounds,bool,builtin,enum,integer-divide-by-zero,null,object-size,return,shift,unreachable,vla-bound"
# What OSS-Fuzz compiles with, by its name of the sanitizer.
FLAGS = {
    "address": "-fsanitize=address,fuzzer-no-link",
    "undefined": f"-fsanitize={CHECKS},fuzzer-no-link -fno-sanitize-recover={CHECKS}",
    "memory": "-fsanitize=memory,fuzzer-no-link -fsanitize-memory-track-origins",
    "coverage": "-fprofile-instr-generate -fcoverage-mapping",
}
SANITIZERS = list(FLAGS) if WHOLE else ["address"]
OPTIMISATION = "-O1" if WHOLE else "-O0"  # the services have -O1, which takes a third longer to build


@pytest.fixture(scope="module", params=SANITIZERS)
def sanitizer(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory, sanitizer: str) -> Path:
    """What the script makes. It builds below the build folder, so that the next time is short."""
    if shutil.which("clang++") is None:
        pytest.skip("clang++ is not installed")
    try:
        builds._require_runtime("clang")
    except HarnessError as error:
        pytest.skip(str(error))
    folder = tmp_path_factory.mktemp("oss-fuzz")
    work = build().folder / "oss-fuzz" / sanitizer
    (work / "src").mkdir(parents=True, exist_ok=True)
    flags = f"{OPTIMISATION} -fno-omit-frame-pointer -gline-tables-only {FLAGS[sanitizer]}"
    variables = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "CC": "clang",
        "CXX": "clang++",
        "CFLAGS": flags,
        "CXXFLAGS": flags,
        "LIB_FUZZING_ENGINE": "-fsanitize=fuzzer",
        "SANITIZER": sanitizer,
        "FUZZING_ENGINE": "libfuzzer",
        "SRC": str(work / "src"),
        "OUT": str(folder / "out"),
        "WORK": str(work),
    }
    for name in ("CLHARNESS_OPENCL_HEADERS", "CLHARNESS_PYTHON", "CMAKE_BUILD_PARALLEL_LEVEL", "CMAKE_GENERATOR"):
        if name in os.environ:
            variables[name] = os.environ[name]
    with (work / "lock").open("w") as lock:  # another process may run the other test
        fcntl.flock(lock, fcntl.LOCK_EX)
        link = work / "src" / "clharness"
        link.unlink(missing_ok=True)
        link.symlink_to(ROOT)
        done = subprocess.run(["bash", ROOT / "ci/oss-fuzz/build.sh"], env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return folder / "out"


def test_every_target_is_there_with_its_files(out: Path) -> None:
    chosen = [name for name in builds.targets() if name != builds.OF_ICD and not builds.is_of_vulkan(name)]
    names = {f"clharness_{name}" for name in chosen}
    programs = {path.name for path in out.iterdir() if path.is_file() and os.access(path, os.X_OK)}
    assert programs == names, "the services take every program in $OUT for a target, and none with a dot in its name"
    assert (out / "lib" / "libOpenCL.so.1").is_file()
    for name in names:
        assert (out / f"{name}.options").is_file()
        target = name.removeprefix("clharness_")
        with zipfile.ZipFile(out / f"{name}_seed_corpus.zip") as file:
            inputs = {file.read(one) for one in file.namelist()}
        assert inputs >= {path.read_bytes() for path in builds.seeds(target).glob("*")}
        assert inputs >= set(grown.inputs(target))
        assert (out / f"{name}.dict").is_file() == (builds.dictionary(target) is not None)


def test_lines_of_the_loader_are_counted(out: Path, sanitizer: str, tmp_path: Path) -> None:
    """Also where the service names a file that is written at the end of the process."""
    if sanitizer != "coverage":
        pytest.skip("of the build that counts lines")
    seeds = tmp_path / "seeds"
    zipfile.ZipFile(out / "clharness_icd_negotiation_seed_corpus.zip").extractall(seeds)
    variables = {"PATH": "/usr/bin", "LLVM_PROFILE_FILE": str(tmp_path / "of.%1m.profraw")}
    subprocess.run(
        [out / "clharness_icd_negotiation", "-runs=0", seeds], env=variables, check=True, capture_output=True
    )
    coverage._tool("llvm-profdata", ["merge", "-o", str(tmp_path / "all"), *map(str, tmp_path.glob("of.*"))])
    loader = out / "lib" / "libOpenCL.so.1"
    counted = json.loads(coverage._tool("llvm-cov", ["export", str(loader), f"-instr-profile={tmp_path / 'all'}"]))
    assert counted["data"][0]["totals"]["functions"]["covered"] >= 50


def test_every_target_runs_with_nothing_but_its_folder(out: Path, sanitizer: str, tmp_path: Path) -> None:
    """Moved elsewhere, with no variable that names the loader: as on a machine that runs the targets."""
    if sanitizer == "coverage":
        pytest.skip("only runs what other builds have found")
    moved = tmp_path / "out"
    shutil.copytree(out, moved)
    for program in sorted(path for path in moved.iterdir() if os.access(path, os.X_OK) and path.is_file()):
        work = tmp_path / program.name
        work.mkdir()
        command = [
            str(program),
            f"-runs={RUNS}",
            "-timeout=10",
            "-rss_limit_mb=2560",
            "-print_final_stats=1",
            str(work),
        ]
        done = subprocess.run(
            command,
            env={"ASAN_OPTIONS": "detect_leaks=0", "PATH": "/usr/bin"},
            capture_output=True,
            cwd=work,
            timeout=120,
        )
        output = done.stderr.decode(errors="replace")
        assert done.returncode == 0, f"{program.name}: {output[-2000:]}"
        assert f"stat::number_of_executed_units: {RUNS}" in output, output[-2000:]
