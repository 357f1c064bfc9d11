# SPDX-License-Identifier: Apache-2.0
"""`clharness replay DIR`: whether the deviation of a kept case happened again, in words and as the exit code."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.build import build
from harness.deviation import Deviation
from harness.report import CaseResult
from harness.run.again import compare
from harness.run.note import NOTE
from tests.forked import clharness, with_derived

CRASH = CaseResult("suites/x/test_x.py::test_x", ("DISC-LNX-011",), "crash", deviations=(Deviation("call", "SIGSEGV"),))
OTHER = replace(CRASH, verdict="fail", deviations=(Deviation("call", "CL_SUCCESS"),))
PASS = replace(CRASH, verdict="pass", deviations=())
CHANGED = replace(PASS, outcome="refused", status="changed")


@pytest.mark.parametrize(
    ("before", "now", "deviates", "sentence"),
    [
        (CRASH, CRASH, True, "happened again: test_x: crash (call: SIGSEGV)"),
        (
            CRASH,
            OTHER,
            True,
            "deviates otherwise: test_x was crash (call: SIGSEGV), and is fail (call: CL_SUCCESS) now",
        ),
        (CRASH, PASS, False, "gone: test_x was crash (call: SIGSEGV), and is pass now"),
        (CHANGED, CHANGED, True, "happened again: test_x: pass (refused)"),
        (CHANGED, PASS, False, "gone: test_x was pass (refused), and is pass now"),
        (PASS, PASS, False, "as before: test_x: pass"),
        (PASS, OTHER, True, "deviates otherwise: test_x was pass, and is fail (call: CL_SUCCESS) now"),
    ],
)
def test_comparison_says_what_became_of_a_deviation(
    before: CaseResult, now: CaseResult, deviates: bool, sentence: str
) -> None:
    assert compare(before, now) == (deviates, sentence)


def command(output: Path, *arguments: str, fault: str = "") -> tuple[int, list[str]]:
    """The exit code of clharness, and what it printed; `fault` is that of the seeded reference loader."""
    kept = str(with_derived(output))
    faulty = clharness(*arguments, CLHARNESS_OUTPUT=kept, CLHARNESS_FAULT=fault) if fault else None
    done = faulty or clharness(*arguments, CLHARNESS_OUTPUT=kept)
    return done.returncode, (done.stdout + done.stderr).splitlines()


def kept_case(output: Path, loader: Path | None, fault: str, *selection: str) -> Path:
    """The folder of a red case of a run of a seeded loader."""
    if loader is None:
        pytest.skip("this build has no seeded loader")
    code, lines = command(output, "loader", str(loader), *selection, fault=fault)
    assert code == 1, lines
    return min((output / "failures").rglob(NOTE)).parent


def test_hang_happens_again_until_it_is_gone(tmp_path: Path) -> None:
    case = "test_special_file_does_not_stop_discovery and FIFO-first"
    selection = ("--suite", "discovery", "-k", case, "--time-limit", "3")
    kept = kept_case(tmp_path, build().seeded_loader, "fifo_blocks", *selection)
    code, lines = command(tmp_path, "replay", "--time-limit", "1", str(kept), fault="fifo_blocks")
    assert code == 1
    assert any(line.startswith("happened again: test_special_file_does_not_stop_discovery") for line in lines), lines
    assert "--- no end after 1 s (--time-limit)" in lines
    code, lines = command(tmp_path, "replay", "--time-limit", "1", str(kept))  # whose exchange has the fault on record
    assert code == 0
    assert any(line.startswith("gone: test_special_file_does_not_stop_discovery") for line in lines), lines
    (kept / NOTE).unlink()
    code, lines = command(tmp_path, "replay", "--time-limit", "1", str(kept))
    assert code == 3
    assert any(NOTE in line for line in lines), lines


def test_case_of_a_vulkan_loader_is_run_again(tmp_path: Path) -> None:
    vulkan = build().vulkan
    if vulkan is None:
        pytest.skip("this build has nothing for Vulkan")
    selection, fault = "test_list_in_a_variable_is_separated_by_colons", "list_is_separated_by_commas"
    kept = kept_case(tmp_path, vulkan.seeded_loader, fault, "-k", selection)
    code, lines = command(tmp_path, "replay", str(kept), fault=fault)
    assert code == 1
    assert "--- session 0" in lines and "--- ended with status 0" in lines, lines
    assert command(tmp_path, "replay", str(kept))[0] == 0
