# SPDX-License-Identifier: Apache-2.0
"""An ICD that is in order and has no device, as a GPU's on a machine without one, is as expected."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.sandbox import Sandbox
from tests.forked import clharness
from tests.samples import WHOLE

# The checks that ask for devices in ways of their own; all of them in the nightly run.
PART = "dispatch and (arguments or consistent or contexts or tables)"


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    room = Sandbox()
    yield room
    room.close()


def test_icd_without_a_device_is_as_expected(tmp_path: Path, sandbox: Sandbox) -> None:
    mock = sandbox.icd("subject", gpus=0, refuses=True, features="images compiler")
    records = tmp_path / "run.jsonl"
    part = () if WHOLE else ("-k", PART)
    done = clharness("icd", mock.path, "-j", "2", "--json", records, *part, limit=1800)
    cases = [r for r in map(json.loads, records.read_text().splitlines()) if r["record"] == "case"]
    assert [case["case"] for case in cases if case["status"] == "unexpected"] == []
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    waiting = [case for case in cases if "has no device on this machine" in (case["reason"] or "")]
    assert len(waiting) > len(cases) / 3
