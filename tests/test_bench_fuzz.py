# SPDX-License-Identifier: Apache-2.0
"""clharness bench fuzz: each target is measured with a loader of the kind that it takes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from harness.build import build
from harness.fuzz import bench, builds

pytestmark = pytest.mark.skipif(shutil.which("clang") is None, reason="clang is not installed")
needs_vulkan = pytest.mark.skipif(build().vulkan is None, reason="the build has no Vulkan")


def measured(monkeypatch: pytest.MonkeyPatch, loader: Path | None) -> dict[str, str]:
    """The targets that would be measured, and the name of the loader of each."""
    chosen: dict[str, str] = {}

    def note(name: str, *of_kind: object) -> dict[str, object]:
        plain, subject = of_kind[2:]
        assert plain.path.name == subject.path.name  # type: ignore[attr-defined]
        chosen[name] = subject.path.name.partition(".so")[0]  # type: ignore[attr-defined]
        return {}

    monkeypatch.setattr(bench, "_measure", note)
    monkeypatch.setattr(builds, "make", lambda kind, names: builds.ordinary(names))
    bench.measure_targets(loader, lambda text: None)
    return chosen


@needs_vulkan
def test_all_targets_are_measured_each_with_a_loader_of_its_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    of_both = {
        name: "libvulkan" if builds.is_of_vulkan(name) else "libOpenCL"
        for name in builds.targets()
        if name != builds.OF_ICD
    }
    assert set(of_both.values()) == {"libvulkan", "libOpenCL"}
    assert measured(monkeypatch, None) == of_both


@needs_vulkan
@pytest.mark.parametrize("vulkan", [False, True])
def test_a_loader_is_measured_by_the_targets_of_its_kind(monkeypatch: pytest.MonkeyPatch, vulkan: bool) -> None:
    loader = builds.ordinary([]).reference_loader(vulkan)
    assert set(measured(monkeypatch, loader)) == set(builds.chosen_targets((), True, vulkan))


def test_a_target_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """For a shorter time than by default, which does for the order of the numbers: they are far apart."""
    monkeypatch.setattr(bench, "_SECONDS", 0.1)
    monkeypatch.setattr(bench, "_PROCESSES", 5)
    target = "vulkan_manifest" if build().vulkan else "property_lists"
    said: list[str] = []
    (numbers,) = bench.measure_targets(None, said.append, [target])
    assert said == ["building the fuzz targets", f"measuring {target} (1 of 1)"]
    assert numbers["target"] == target
    assert numbers["seeds"] > 0
    for way in ("replay", "fuzz"):
        one, each = numbers[f"{way}_per_second"], numbers[f"{'' if way == 'replay' else 'fuzz_'}process_per_second"]
        assert 0 < each < one, "a process for each input is the slower way"
