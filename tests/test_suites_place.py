# SPDX-License-Identifier: Apache-2.0
"""Where sandboxes are made is not a part of a verdict: not even the length of their paths."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from harness.build import build
from harness.sandbox import Sandbox
from harness.sandbox import sandbox as module
from harness.sandbox.machine import scratch_root
from harness.subject.loader import Loader
from suites.discovery.test_general_leaks import test_other_files_of_a_folder_cost_no_heap as check

check.__test__ = False  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def loader() -> Loader:
    loader = Loader(build().reference_loader)
    loader.ask()
    return loader


@pytest.mark.parametrize("length", range(0, 16, 3))
def test_heap_of_a_correct_loader(loader: Loader, monkeypatch: pytest.MonkeyPatch, length: int) -> None:
    with tempfile.TemporaryDirectory(prefix="x" * length, dir=scratch_root()) as place:
        monkeypatch.setattr(module, "_swept_root", lambda: Path(place))
        sandbox = Sandbox(loader.path)
        try:
            check(loader, sandbox, "layers")
        finally:
            sandbox.close()
