# SPDX-License-Identifier: Apache-2.0
"""Reproducers and seeds on the loaders of this machine; and that their replay notices what it is for."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.build import ROOT, build
from harness.errors import HarnessError
from harness.fuzz import builds
from harness.fuzz import replay as replays
from harness.fuzz.replay import by_input, expected_lines, replay, reproducer_trouble, seed_trouble, subject
from harness.fuzz.reproducers import Reproducer
from harness.subject.search import system_loader


def loaders() -> list[Path]:
    """The reference loader, the system's, and the Khronos loader where it was fetched."""
    fetched = sorted((ROOT / "build" / "loaders" / "root").glob("usr/lib/*/libOpenCL.so.1"))
    return [path for path in (build().reference_loader, system_loader(), *fetched) if path]


@pytest.mark.parametrize("loader", loaders(), ids=str)
def test_reproducers_show_what_is_listed_and_nothing_else(loader: Path) -> None:
    on = subject(loader)
    assert by_input(), "there is nothing to replay"
    trouble = [
        text
        for (target, path), entries in by_input().items()
        if not builds.is_of_vulkan(target)
        for text in reproducer_trouble(path, target, entries, on)
    ]
    assert not trouble, "\n".join(trouble)


def entry(path: Path, **changes: str) -> Reproducer:
    values = {"target": "icd_file", "file": path.name, "kind": "crash", "finding": "k", "subject": "Some Loader"}
    values |= {"versions": "", "sentence": "s", "mode": "legal", "sha256": ""}
    return Reproducer(**values | changes)


@pytest.fixture
def harmless(tmp_path: Path) -> Path:
    (file := tmp_path / "harmless").write_bytes(b"\0/lib/libalways.so\n")
    return file


def test_listed_finding_that_does_not_happen_is_improved(harmless: Path) -> None:
    on = subject(build().reference_loader)
    (text,) = reproducer_trouble(harmless, "icd_file", [entry(harmless, subject=on.name)], on)
    assert "improved: k does not happen any more" in text


def test_finding_of_a_loader_that_is_not_listed_is_trouble(monkeypatch: pytest.MonkeyPatch, harmless: Path) -> None:
    """The seeded loader leaks the line of each vendor file."""
    seeded = build().seeded_loader
    if seeded is None:
        pytest.skip("this build has no seeded loader")
    monkeypatch.setenv("CLHARNESS_FAULT", "line_leaks")
    on = replays.Subject(seeded, "Another Loader", "1", "")
    (text,) = reproducer_trouble(harmless, "icd_file", [entry(harmless)], on)
    assert "findings.toml does not list this loader with it" in text and "finding: leak" in text
    listed = replay("icd_file", on.path, harmless).errors
    key = listed.partition("finding: leak ")[2].partition(":")[0]
    exact = entry(harmless, subject=on.name, kind="leak", finding=key)
    assert not list(reproducer_trouble(harmless, "icd_file", [exact], on))
    (text,) = reproducer_trouble(harmless, "icd_file", [entry(harmless, subject=on.name, kind="leak")], on)
    assert f"findings.toml lists leak k, it shows leak {key}" in text


def test_seeds_that_are_missing_or_too_many_are_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    on = subject(build().reference_loader)
    monkeypatch.setattr(builds, "seeds", lambda target: tmp_path / target)
    (text,) = seed_trouble("icd_file", on, "icd_file: read 2 inputs, 2 bytes", True)
    assert "the replay ended with exit code 2" in text and "cannot be read" in text
    (tmp_path / "icd_file").mkdir()
    (text,) = seed_trouble("icd_file", on, "icd_file: read 2 inputs, 2 bytes", True)
    assert "a folder without inputs" in text
    (tmp_path / "icd_file" / "one").write_bytes(b"\0")
    (text,) = seed_trouble("icd_file", on, "icd_file: read 2 inputs, 2 bytes", True)
    assert "read 1 inputs, 1 bytes; inputs.txt says" in text
    (text,) = seed_trouble("icd_file", on, None, True)
    assert "does not list it" in text
    assert not list(seed_trouble("icd_file", on, "icd_file: read 1 inputs, 1 bytes", True))


def test_seed_that_shows_an_unlisted_finding_is_noticed(monkeypatch: pytest.MonkeyPatch, harmless: Path) -> None:
    """The seeded loader leaks the line of each vendor file."""
    seeded = build().seeded_loader
    if seeded is None:
        pytest.skip("this build has no seeded loader")
    monkeypatch.setenv("CLHARNESS_FAULT", "line_leaks")
    monkeypatch.setattr(builds, "seeds", lambda target: harmless.parent)
    on = replays.Subject(seeded, "Another Loader", "1", "")
    expected = f"icd_file: read 1 inputs, {harmless.stat().st_size} bytes"
    (text,) = seed_trouble("icd_file", on, expected, False)
    assert str(harmless) in text and "leak" in text and "findings.toml does not list that" in text
    monkeypatch.setattr(replays, "reproducers", lambda: [entry(harmless, subject=on.name, kind="leak", sha256="x")])
    assert not list(seed_trouble("icd_file", on, expected, False)), "another build: its kind is listed"


def test_list_of_seeds_is_needed(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match="is missing"):
        expected_lines(tmp_path / "inputs.txt")
