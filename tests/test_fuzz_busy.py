# SPDX-License-Identifier: Apache-2.0
"""A hang is what takes too much of the time that its process can use: on a busy machine the clock is no witness."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.fuzz import findings, target_process
from harness.fuzz.findings import Keeper
from harness.fuzz.job import ProcessEnd
from harness.fuzz.subject import FuzzSubject
from harness.fuzz.target_process import Defect, Replayer, Setting
from harness.probe.patience import Meter

LINE = "==1== ERROR: libFuzzer: timeout after 1 seconds"
DEFECT = Defect("hang", "hang@outside", "")


def program(folder: Path, seconds: str) -> Path:
    """A target that a fuzzer with a limit says to hang, and that takes so long without one."""
    path = folder / "fuzz_stub"
    path.write_text(f"#!/bin/sh\ncase $1 in -timeout=0) exec sleep {seconds} ;; esac\necho '{LINE}' >&2\nexit 70\n")
    path.chmod(0o755)
    return path


def setting(folder: Path, engine: str = "libfuzzer") -> Setting:
    library = folder / "libOpenCL.so.1"
    library.write_bytes(b"")
    return Setting(FuzzSubject(library, "sanitizer", True, ""), engine=engine)


@pytest.mark.parametrize(("seconds", "key"), [("0.3", None), ("60", "hang@outside")], ids=["busy machine", "hang"])
def test_hang_is_confirmed_without_a_limit_by_the_clock(tmp_path: Path, seconds: str, key: str | None) -> None:
    replayer = Replayer(program(tmp_path, seconds), setting(tmp_path), tmp_path / "work", 1)
    assert replayer.replay(b"input").key == key


@pytest.mark.parametrize("key", ["fifo@f", "once@f", "lock@f"])
def test_hang_that_the_engine_sees_needs_no_clock(tmp_path: Path, key: str) -> None:
    """The engine ends the process at a wait without end, so that its time is short."""
    path = tmp_path / "fuzz_stub"
    path.write_text(f"#!/bin/sh\necho 'clharness-fuzz: finding: hang {key}: f waits' >&2\nkill -ABRT $$\n")
    path.chmod(0o755)
    assert Replayer(path, setting(tmp_path), tmp_path / "work", 1).replay(b"input").key == key


def test_time_that_a_process_queued_is_not_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What ends at last, while the machine let it run for nothing, does not hang, however long it took."""

    class Queued(Meter):
        def look(self) -> float:
            return 0.0

    monkeypatch.setattr(target_process, "Meter", Queued)
    replayer = Replayer(program(tmp_path, "2.5"), setting(tmp_path), tmp_path / "work", 1)
    assert replayer.replay(b"input").key is None


@pytest.mark.parametrize(("seconds", "is_finding"), [("0.3", False), ("60", True)], ids=["busy machine", "hang"])
def test_what_took_long_by_the_clock_alone_is_no_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: str, is_finding: bool
) -> None:
    monkeypatch.setattr(findings, "REPLAYS", 1)
    finding = Keeper(tmp_path / "out", 0.0).keep(
        "stub", program(tmp_path, seconds), setting(tmp_path), ProcessEnd(DEFECT, b"input"), []
    )
    assert isinstance(finding, findings.Finding) == is_finding
    assert (tmp_path / "out" / "findings").exists() == is_finding


def test_input_of_a_driver_has_the_time_that_its_devices_take(tmp_path: Path) -> None:
    """Contexts of a GPU take most of a second each, and an input makes several."""
    of_loader = setting(tmp_path)
    of_driver = replace(of_loader, icd=tmp_path / "libvendor.so")
    assert of_loader.hang_limit < of_loader.time_limit < of_driver.hang_limit < of_driver.time_limit
    assert Replayer(program(tmp_path, "0"), of_driver, tmp_path / "work").limit == of_driver.time_limit
