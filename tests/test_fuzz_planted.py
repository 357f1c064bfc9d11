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
from tests.samples import WHOLE, sample

pytestmark = [
    pytest.mark.skipif(os.uname().machine not in ("x86_64", "aarch64"), reason="there are no fuzz targets"),
    pytest.mark.skipif(shutil.which("clang") is None, reason="clang is not installed"),
]

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


@pytest.mark.parametrize("fault", sample(SWEPT, 35))
def test_seeds_show_the_fault(fuzz_build: builds.FuzzBuild, fault: str, tmp_path: Path) -> None:
    """In the sound loader they show nothing: test_no_seed_shows_anything_in_the_sound_loader has them all."""
    faulty = _run(fuzz_build, fuzz_build.planted_loader(), fault, seeds(planted()[fault]), tmp_path)
    assert "clharness-fuzz: finding: " in faulty.stderr or "AddressSanitizer: " in faulty.stderr, faulty.stderr[-800:]


def test_an_order_is_compared_where_there_is_one(fuzz_build: builds.FuzzBuild, tmp_path: Path) -> None:
    """Where one layer of two is initialised, the small machine shows no order, and three layers no other one."""
    three = sweep.setting("LAYERS_COUNT", 3)
    done = _run(fuzz_build, fuzz_build.planted_loader(), "last_layer_of_a_list_lost", [three], tmp_path)
    found = [line for line in done.stderr.splitlines() if "clharness-fuzz: finding: " in line]
    assert found and "layer-among-many: layer 2 of 3 is initialised 0 times" in found[0], done.stderr[-800:]


def test_no_seed_shows_anything_in_the_sound_loader(fuzz_build: builds.FuzzBuild, tmp_path: Path) -> None:
    """A part of them: ci/nightly runs all in this test, and its campaigns begin with them, too."""
    everything = sorted(set(sweep.limits()))
    assert len(everything) > 7000
    assert {seed for fault in planted().values() for seed in seeds(fault)} <= set(everything)
    chosen = everything[:: 1 if WHOLE else 5]
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
        ("failed_count_taken", "offered-all-the-same", "dcdb636c466c"),
        ("failed_list_taken", "offered-all-the-same", "1412ecdcec"),
        ("failed_text_taken", "offered-all-the-same", "e090e0636c5f6b68725f6963"),
        ("icd_of_the_first_platform", "offered-all-the-same", "4852404040636c6e69496364"),
        ("second_tag_of_the_first_platform", "offered-all-the-same", "2300006501000000002365f5"),
        ("assumption_asked_for_and_ignored", "not-offered", "d9dcff0063664c6f"),
        ("layer_files_asked_for_and_ignored", "file-not-honoured", "c801443f"),
        ("default_layers_where_none_can_be_read", "default-instead-of-nowhere", "d2d2d2"),
        ("older_init_instead", "other-scheme", "01030001020066"),
        (
            "core_function_by_its_name",
            "core-by-name",
            "6e664b484852000022000000000000000c80636c4372654576656e7446726f6d474c73796e634b48520000852222",
        ),
        ("address_changed", "address-changed", "000009000000000000005400000054002130ff003054"),
        (
            "last_of_equal_suffixes",
            "choice-by-suffix",
            "00ec000000033000000000213000213000b8b84371636c6575654163717569726545474c4f626a656374734b485200401f31",
        ),
        (
            "names_of_no_platform",
            "two-answers",
            "00007f006e744672808080806c6e7446724c00007f7f6d636c456e717565756541637175697265474c4f626a65637473",
        ),
        (
            "part_of_an_extension",
            "part-of-an-extension",
            "30301cecece0f1020000003030303030087c5bdd636c636c43726561746553756244657669636573455854636c43636c636c437265"
            "61746553756244657669636573455854005bdd636c4363",
        ),
        ("enumeration_for_applications", "for-loaders", "00ec21315b9600000000000000000000006000"),
        ("last_platform_without_a_list", "chosen-clCreateContextFromType", "41"),
        (
            "first_platform_of_two",
            "chosen-clCreateContextFromType",
            "0400412c042c0400412c0400412c0400412c0400410041040041",
        ),
        ("paths_alone", "named-and-lost", "416c69626e616d65642e736f"),
        ("first_file_alone", "named-and-lost", "416c69626e616d65642e736f"),
        ("another_name_than_the_line", "named-by-nothing", "042f"),
        ("last_file_alone", "always-lost", ""),
        ("first_element_alone", "named-and-lost", "0300000000000000030000000000000001720101010101"),
        ("first_platforms_alone_in_lists", "way-clCreateContextFromType", "4100010011"),
        ("assumed_where_the_variable_is_empty", "offered-all-the-same", "00442000000004"),
        ("last_first_while_tracing", "offered-by-variables", "010401"),
        ("first_name_that_begins_so", "not-offered", "b11818184116"),
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
