# SPDX-License-Identifier: Apache-2.0
"""Planted faults of lengths, counts and orders: the seeds alone show each of them, and nothing in the sound loader."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from harness.fuzz import builds, sweep
from harness.fuzz.planted import planted, seeds
from harness.fuzz.target_process import environment

pytestmark = [
    pytest.mark.skipif(os.uname().machine not in ("x86_64", "aarch64"), reason="there are no fuzz targets"),
    pytest.mark.skipif(shutil.which("clang") is None, reason="clang is not installed"),
]

WHOLE = bool(os.environ.get("CLHARNESS_WHOLE_TESTS"))
SWEPT = [name for name, fault in planted().items() if next(seeds(fault), None) is not None]


@pytest.fixture(scope="module")
def fuzz_build() -> builds.FuzzBuild:
    targets = {fault.target for fault in planted().values()}
    return builds.make(builds.LIBFUZZER, sorted(targets), planted=True)


def _run(
    build: builds.FuzzBuild, loader: Path, fault: str, inputs: Iterable[bytes], folder: Path
) -> subprocess.CompletedProcess[str]:
    corpus = folder / "corpus"
    corpus.mkdir()
    for number, seed in enumerate(inputs):
        (corpus / f"{number:04}").write_bytes(seed)
    command = [build.program("limits"), "-runs=0", "-detect_leaks=0", f"-artifact_prefix={folder}/", corpus]
    variables = {"CLHARNESS_FUZZ_LOADER": str(loader)}
    if fault:
        variables["CLHARNESS_FAULT"] = fault
    return subprocess.run(
        list(map(str, command)),
        env=environment(variables),
        cwd=folder,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=300,
    )


def test_every_number_that_a_fault_names_is_swept() -> None:
    assert len(SWEPT) >= 18
    assert {fault.target for fault in planted().values()} <= set(builds.targets())


@pytest.mark.parametrize("fault", SWEPT)
def test_seeds_show_the_fault(fuzz_build: builds.FuzzBuild, fault: str, tmp_path: Path) -> None:
    (tmp_path / "faulty").mkdir()
    (tmp_path / "sound").mkdir()
    faulty = _run(fuzz_build, fuzz_build.planted_loader(), fault, seeds(planted()[fault]), tmp_path / "faulty")
    assert "clharness-fuzz: finding: " in faulty.stderr or "AddressSanitizer: " in faulty.stderr, faulty.stderr[-800:]
    some = list(seeds(planted()[fault]))[:: 1 if WHOLE else 5]
    sound = _run(fuzz_build, fuzz_build.reference_loader(), "", some, tmp_path / "sound")
    assert sound.returncode == 0, sound.stderr[-800:]


def test_an_order_is_compared_where_there_is_one(fuzz_build: builds.FuzzBuild, tmp_path: Path) -> None:
    """Where one layer of two is initialised, the small machine shows no order, and three layers no other one."""
    three = sweep.setting("LAYERS_COUNT", 3)
    done = _run(fuzz_build, fuzz_build.planted_loader(), "last_layer_of_a_list_lost", [three], tmp_path)
    found = [line for line in done.stderr.splitlines() if "clharness-fuzz: finding: " in line]
    assert found and "layer-among-many: layer 2 of 3 is initialised 0 times" in found[0], done.stderr[-800:]


def test_no_seed_shows_anything_in_the_sound_loader(fuzz_build: builds.FuzzBuild, tmp_path: Path) -> None:
    """A part of them, as above: ci/nightly runs all in these tests, and its campaigns begin with them, too."""
    everything = sorted(set(sweep.limits()))
    assert len(everything) > 7000
    chosen = everything[:: 1 if WHOLE else 7]
    sound = _run(fuzz_build, fuzz_build.reference_loader(), "", chosen, tmp_path)
    assert sound.returncode == 0, sound.stderr[-800:]
    assert f"Done {len(chosen) + 1} runs" in sound.stderr or f"Done {len(chosen)} runs" in sound.stderr


# What fuzzing found, made small. A target that reads its input in another way needs others.
@pytest.mark.parametrize(
    ("fault", "key", "data"),
    [
        ("names_that_begin_alike", "name-of-another", "00ec21306c7445787473696f6e466e63006e9b8545"),
        ("names_that_are_a_suffix", "suffix-lost", "a7a7a7a7a7a7a7a7a7fc646574000064476500000000000000a7"),
        ("endings_within_names", "named-by-nothing", "03000031"),
        ("layer_endings_within_names", "layer-named-by-nothing", "ff0202017f8400c602010100e4e4"),
        ("properties_by_32_bits", "way-clCreateContextFromType", "410084007c"),
    ],
)
def test_an_input_shows_the_fault(
    fuzz_build: builds.FuzzBuild, fault: str, key: str, data: str, tmp_path: Path
) -> None:
    """The same input in both loaders, with the target of the fault."""
    (tmp_path / "input").write_bytes(bytes.fromhex(data))
    program = [fuzz_build.program(planted()[fault].target), "-detect_leaks=0", f"-artifact_prefix={tmp_path}/"]
    command = [*map(str, program), str(tmp_path / "input")]
    said = []
    for loader, name in ((fuzz_build.planted_loader(), fault), (fuzz_build.reference_loader(), "")):
        variables = environment({"CLHARNESS_FUZZ_LOADER": str(loader), "CLHARNESS_FAULT": name})
        done = subprocess.run(command, env=variables, capture_output=True, text=True, errors="replace", cwd=tmp_path)
        said.append((done.returncode, done.stderr))
    (_, faulty), (sound, _) = said
    assert f"clharness-fuzz: finding: wrong {key}: " in faulty, faulty[-800:]
    assert sound == 0, said[1][1][-800:]


def test_largest_numbers_are_known() -> None:
    """A length whose largest value is not read from the target would be tried at a handful of values only."""
    few = {name for name, most in sweep._most().items() if most is None}
    assert few == {"WAY", "FLAW", "LAYER_WAY", "LAYER_SCHEME"}
