# SPDX-License-Identifier: Apache-2.0
"""The seeds of the target `limits`: each number of a machine, around every size."""

from __future__ import annotations

from pathlib import Path

from harness.fuzz import sweep


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


def test_a_folder_holds_the_seeds_and_nothing_else(tmp_path: Path) -> None:
    folder = sweep.folder("limits", tmp_path)
    assert folder is not None
    (folder / "other").write_bytes(b"")
    sweep.folder("limits", tmp_path)
    assert {file.read_bytes() for file in folder.iterdir()} == set(sweep.limits())
    assert sweep.folder("icd_file", tmp_path) is None
