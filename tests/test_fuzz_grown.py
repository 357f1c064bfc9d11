# SPDX-License-Identifier: Apache-2.0
"""Corpora that campaigns have grown, as archives."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.errors import Exit
from harness.fuzz import builds, grown, sweep
from harness.fuzz.replay import Replayed


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder in the place of fuzz/corpus, with one seed."""
    folder = tmp_path / "fuzz"
    (folder / "corpus" / "icd_file").mkdir(parents=True)
    (folder / "corpus" / "icd_file" / "seed").write_bytes(b"seed")
    names = builds.targets()
    monkeypatch.setattr(builds, "FUZZ", folder)
    monkeypatch.setattr(builds, "targets", lambda: names)
    yield folder / "corpus"


def campaign(folder: Path, *data: bytes) -> Path:
    """What a campaign leaves behind, as far as it is asked for here."""
    of_target = folder / "corpus" / "icd_file"
    of_target.mkdir(parents=True)
    for number, content in enumerate(data):
        (of_target / str(number)).write_bytes(content)
    return folder


def test_the_archive_holds_what_campaigns_have_kept(corpus: Path, tmp_path: Path) -> None:
    first = campaign(tmp_path / "first", b"one", b"seed", b"x" * 4097)
    second = campaign(tmp_path / "second", b"one", b"two")
    assert grown.take([first, second]) == {"icd_file": 2}
    assert sorted(grown.inputs("icd_file")) == [b"one", b"two"]
    assert (corpus / "icd_file.zip").is_file()


def test_the_same_inputs_make_the_same_archive(corpus: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first.zip", tmp_path / "second.zip"
    assert grown.write_archive(first, [b"one", b"two"]) == grown.write_archive(second, [b"two", b"one", b"one"]) == 2
    assert first.read_bytes() == second.read_bytes()


def test_an_input_that_shows_something_is_not_kept(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def replay(target: str, loader: Path, inputs: Path, *options: str) -> Replayed:
        bad = [file for file in inputs.iterdir() if file.read_bytes() == b"bad"]
        return Replayed(1, "", "".join(f"clharness-fuzz: {file} ended with signal 11\n" for file in bad))

    monkeypatch.setattr(grown, "replay", replay)
    assert grown.take([campaign(tmp_path / "only", b"good", b"bad")]) == {"icd_file": 1}
    assert grown.inputs("icd_file") == [b"good"]


def test_many_inputs_are_replayed_some_at_a_time(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The time of one replay is limited."""
    counts = []

    def replay(target: str, loader: Path, inputs: Path, *options: str) -> Replayed:
        counts.append(len(list(inputs.iterdir())))
        return Replayed(0, "", "")

    monkeypatch.setattr(grown, "replay", replay)
    many = [str(number).encode() for number in range(2 * grown.AT_ONCE + 1)]
    assert grown.take([campaign(tmp_path / "only", *many)]) == {"icd_file": len(many)}
    assert counts == [grown.AT_ONCE, grown.AT_ONCE, 1]


def test_a_replay_that_did_not_end_makes_no_archive(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(grown, "replay", lambda *_: Replayed(-9, "", "killed"))
    assert grown.main([str(campaign(tmp_path / "only", b"one"))]) == Exit.HARNESS
    assert "icd_file: the replay ended with" in capsys.readouterr().err
    assert not (corpus / "icd_file.zip").exists()


def test_campaigns_begin_with_the_archive(corpus: Path, tmp_path: Path) -> None:
    assert grown.folder("icd_file", tmp_path) is None
    grown.write_archive(grown.archive("icd_file"), [b"one", b"two"])
    folder = grown.folder("icd_file", tmp_path)
    assert folder is not None
    assert sorted(file.read_bytes() for file in folder.iterdir()) == [b"one", b"two"]


def test_services_begin_with_seeds_and_archive(corpus: Path, tmp_path: Path) -> None:
    grown.write_archive(grown.archive("icd_file"), [b"one"])
    assert grown.main(["--seed-corpus", "icd_file", str(tmp_path / "all.zip")]) == Exit.AS_EXPECTED
    assert grown.main(["--seed-corpus", "limits", str(tmp_path / "limits.zip")]) == Exit.AS_EXPECTED
    with zipfile.ZipFile(tmp_path / "all.zip") as file:
        assert sorted(file.read(name) for name in file.namelist()) == [b"one", b"seed"]
    with zipfile.ZipFile(tmp_path / "limits.zip") as file:
        assert len(file.namelist()) == len(set(sweep.limits()))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "name the folders of campaigns"),
        (["nowhere"], "nowhere: is not the --out folder of a campaign: it has no corpus"),
        (["--seed-corpus", "other", "x.zip"], "other: there is no such fuzz target"),
    ],
)
def test_wrong_usage_of_merge_is_said(
    corpus: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
) -> None:
    assert grown.main(arguments) == Exit.USAGE
    assert sentence in capsys.readouterr().err


def test_a_broken_archive_is_said(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    grown.archive("icd_file").write_bytes(b"no archive")
    assert grown.main(["--seed-corpus", "icd_file", "/dev/null"]) == Exit.HARNESS
    assert "icd_file.zip cannot be read" in capsys.readouterr().err


def test_the_committed_archives_are_whole() -> None:
    for target in builds.targets():
        inputs = grown.inputs(target)
        assert len(set(inputs)) == len(inputs), f"{target} has an input twice"
        assert all(len(data) <= grown.LARGEST for data in inputs), f"{target} has one that services pass over"
