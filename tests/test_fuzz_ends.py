# SPDX-License-Identifier: Apache-2.0
"""How the end of a fuzzer's process is understood, and what a campaign leaves alone."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.errors import HarnessError
from harness.fuzz import builds, job, libfuzzer


class Ended:
    """In the place of the processes of a campaign: one that ended with this status."""

    def __init__(self, status: int) -> None:
        self.status = status
        self.stop = threading.Event()

    def run(self, command: list[str], variables: dict[str, str], log: Path, seconds: float, work: Path) -> int:
        log.write_bytes(b"")
        return self.status


def ends_of(status: int, folder: Path) -> list[Any]:
    setting = SimpleNamespace(blocks=None, subject=None, variables=lambda known: {})
    job = SimpleNamespace(
        work=folder, program="fuzz_x", seconds=1.0, setting=setting, dictionary=None, corpus=folder, known=folder
    )
    return libfuzzer.run(job, Ended(status)).ends  # type: ignore[arg-type]


def test_target_that_an_interrupt_ended_is_no_finding(tmp_path: Path) -> None:
    """Ctrl-C comes at any moment, also before libFuzzer is ready for it."""
    assert ends_of(-signal.SIGINT, tmp_path) == []
    (end,) = ends_of(-signal.SIGSEGV, tmp_path)
    assert end.defect.kind == "crash", "the control"


def test_ordinary_targets_are_used_as_they_are(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Runs may be using that build."""

    def refuse(*_: object) -> None:
        raise AssertionError("nothing is built in the main folder")

    monkeypatch.setattr(builds, "run_build", refuse)
    assert builds.ordinary(["icd_file"]).replay("icd_file").exists()
    monkeypatch.setattr(builds, "build", lambda: SimpleNamespace(folder=tmp_path))
    with pytest.raises(HarnessError, match="replay_icd_file is missing: build again"):
        builds.ordinary(["icd_file"])


def test_nothing_is_left_of_a_process_that_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not what made a session of its own and is stopped, as AFL++'s server of processes does."""
    monkeypatch.setattr(job, "_GRACE", 0.0)
    script = "setsid sh -c 'echo $$ >number; kill -STOP $$' & wait"
    processes = job.Processes()
    assert processes.run(["sh", "-c", script], {}, tmp_path / "log", 1.5, tmp_path) is None
    number = int((tmp_path / "number").read_text())
    assert not Path(f"/proc/{number}").exists() or state_of(number) == "Z"


def state_of(number: int) -> str:
    return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
