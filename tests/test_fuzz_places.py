# SPDX-License-Identifier: Apache-2.0
"""Places in a library are asked of a program of the machine, beside processes of subjects that end meanwhile."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from harness.build import build
from harness.fuzz.subject import places_of
from harness.probe.process import Process


def test_program_that_names_places_is_not_taken_for_what_a_subject_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The end of the last session ends all children of this process that came since the first began."""
    at_work, goes_on = tmp_path / "at-work", tmp_path / "goes-on"
    os.mkfifo(at_work)
    os.mkfifo(goes_on)
    tool = tmp_path / "llvm-symbolizer"
    tool.write_text(f"#!/bin/sh\necho > {at_work}\nread line < {goes_on}\necho 'function at file.c:1'\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    session = Process(["/bin/true"], {}, 1 << 20)
    found: list[str] = []
    asks = threading.Thread(target=lambda: found.extend(places_of(build().reference_loader, 0)))
    asks.start()
    at_work.read_text()
    ends = threading.Thread(target=session.end)
    ends.start()
    ends.join(1)
    descriptor = os.open(goes_on, os.O_RDWR)  # also where nobody reads any more
    os.write(descriptor, b"\n")
    asks.join()
    ends.join()
    os.close(descriptor)
    assert found == ["function at file.c:1"]
