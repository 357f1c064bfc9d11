# SPDX-License-Identifier: Apache-2.0
"""The seeds of the target `limits`: each number of a machine, around every size."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.build import build
from harness.fuzz import sweep
from harness.fuzz.findings import description
from harness.fuzz.replay import replay
from harness.subject.search import system_loader


def test_the_last_machine_is_that_of_the_finding(tmp_path: Path) -> None:
    """A finding in a smaller machine, which comes first, is described by that machine."""
    (tmp_path / "input").write_bytes(sweep.setting("VENDORS_COUNT", 100) + sweep.setting("SUFFIX", 7))
    said = replay("limits", build().reference_loader, tmp_path, "--describe").errors
    assert "vendors: 100\n" in description(said)
    assert said.count("clharness-fuzz: machine: ") > 1
    begun, _, _ = said.rpartition("clharness-fuzz: machine: that of the input")
    words = description(begun).splitlines()
    assert words[0] == "a smaller one, with which that of the input is compared:"
    assert words[1].startswith("vendors: ") and words[1] != "vendors: 100"
    assert words.count(words[1]) == 1


@pytest.mark.parametrize("layer_way", [0, 4], ids=["one variable", "two variables"])
def test_layers_are_not_compared_where_one_machine_offers_no_platform(layer_way: int, tmp_path: Path) -> None:
    """ocl-icd takes the vendors of OCL_ICD_VENDORS alone, all of which are refused here, and then no layers."""
    loader = system_loader()
    if loader is None:
        pytest.skip("this machine has no loader")
    refused = {"WAY": 9, "VENDORS_COUNT": 2, "REFUSED": 2, "FLAW": 4}
    machine = refused | {"LAYERS_COUNT": 2, "LAYER_WAY": layer_way}
    (tmp_path / "input").write_bytes(b"".join(sweep.setting(name, value) for name, value in machine.items()))
    said = replay("limits", loader, tmp_path, known=["environment-OPENCL_LAYERS"])
    assert said.errors == "" and "read 1 inputs" in said.output


@pytest.mark.parametrize("many", [{"LAYERS_COUNT": 77}, {"VENDORS_COUNT": 76, "UNLOADABLE": 1}], ids=str)
@pytest.mark.parametrize("variable", range(1, 6))
def test_a_variable_that_is_set_is_not_beside_itself(many: dict[str, int], variable: int, tmp_path: Path) -> None:
    """Else the small machine, in which it is set to nothing of its own, has what is beside it."""
    machine = many | {"VARIABLE": variable, "NOISE": 63}
    (tmp_path / "input").write_bytes(b"".join(sweep.setting(name, value) for name, value in machine.items()))
    for loader in filter(None, (build().reference_loader, system_loader())):
        said = replay("limits", loader, tmp_path, known=["environment-OPENCL_LAYERS"])
        assert said.errors == "" and "read 1 inputs" in said.output


@pytest.mark.parametrize(
    "machine",
    [
        {"VENDORS_COUNT": 5, "DUPLICATE": 2},
        {"VENDORS_COUNT": 3, "PLATFORMS_COUNT": 3, "UNLOADABLE": 1},
        {"VENDORS_COUNT": 3, "PLATFORMS_COUNT": 3, "UNLOADABLE": 2, "DUPLICATE": 1},
        {"LAYERS_COUNT": 3, "LAYER_DUPLICATE": 1},
        {"VENDORS_COUNT": 3, "WAY": 18},
        {"LAYERS_COUNT": 3, "LAYER_WAY": 8},
        {"VENDORS_COUNT": 824, "EACH": 12, "PLACE": 2},  # more platforms than there is room for
    ],
    ids=str,
)
def test_what_stays_open_and_what_is_found_is_as_the_loader_has_it(machine: dict[str, int], tmp_path: Path) -> None:
    """A handle for each platform that is offered stays open, and one of a loader that closes nothing."""
    (tmp_path / "input").write_bytes(b"".join(sweep.setting(name, value) for name, value in machine.items()))
    for loader in filter(None, (build().reference_loader, system_loader())):
        said = replay("limits", loader, tmp_path, known=["environment-OPENCL_LAYERS"])
        assert said.errors == "" and "read 1 inputs" in said.output


@pytest.mark.parametrize(
    "text", ["", "clharness-fuzz: finding: leak x: y\n", "clharness-fuzz: machine: that of the input\n"]
)
def test_what_is_not_described_is_said_to_be(text: str) -> None:
    assert description(text) == "(the target does not describe it)\n"


def test_a_target_without_machines_is_described_whole() -> None:
    assert description("clharness-fuzz: input: one\nother\nclharness-fuzz: input: two\n") == "one\nother\ntwo\n"


def test_each_number_is_tried_alone() -> None:
    seeds = set(sweep.limits())
    alone = {seed[0] for seed in seeds if len(seed) == 4}
    together = {seed[-4] for seed in seeds}
    assert together == set(sweep.numbers().values())
    assert {sweep.numbers()[name] for name in ("VENDORS_COUNT", "SUFFIX", "LAYERS_COUNT", "PAIRS")} <= alone
    assert all(len(seed) % 4 == 0 for seed in seeds)


def test_neighbours_of_a_size_are_tried() -> None:
    number = sweep.numbers()["SUFFIX"]
    codes = {seed[1] for seed in sweep.limits() if len(seed) == 4 and seed[0] == number}
    place = 128 + 3 * sweep._sizes().index(256)
    assert {place, place + 1, place + 2} <= codes


def test_a_default_with_zeros_before_it_is_another_number_to_base_8() -> None:
    """Both are platforms: a default that is none may end with another defect, which hides this one."""
    zeros = sweep.setting("VENDORS_COUNT", 33) + sweep.setting("DEFAULT_FORM", 3)
    codes = {seed[-3] for seed in sweep.limits() if seed[:-4] == zeros and seed[-4] == sweep.numbers()["DEFAULT"]}
    values = {sweep._sizes()[(code - 128) // 3] - 1 + (code - 128) % 3 for code in codes if 128 <= code < 254}
    assert any(10 <= value - 1 <= 17 for value in values)


def test_a_folder_holds_the_seeds_and_nothing_else(tmp_path: Path) -> None:
    folder = sweep.folder("limits", tmp_path)
    assert folder is not None
    (folder / "other").write_bytes(b"")
    sweep.folder("limits", tmp_path)
    assert {file.read_bytes() for file in folder.iterdir()} == set(sweep.limits())
    assert sweep.folder("icd_file", tmp_path) is None
