# SPDX-License-Identifier: Apache-2.0
"""The steps of continuous integration: each runs, and those that fail are named at the end."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from harness.build import ROOT


def steps(script: str) -> subprocess.CompletedProcess[str]:
    command = ["bash", "-uc", f"source ci/steps.sh\n{script}\nsummary tonight"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)


def test_everything_passed() -> None:
    done = steps("step first true; step second echo said")
    assert done.returncode == 0
    assert "==> second: echo said\nsaid\n==> second: passed" in done.stdout
    assert done.stdout.endswith("==> everything passed tonight\n")


def test_steps_after_a_failure_run() -> None:
    done = steps("step first false; step second echo said; step third sh -c 'exit 7'")
    assert done.returncode == 1
    assert "==> third: FAILED, status 7" in done.stdout
    assert "\nsaid\n" in done.stdout
    assert done.stdout.endswith("==> failed tonight:\n      first\n      third\n")


def test_a_step_that_does_not_end() -> None:
    done = steps("step_limit=0.1; step endless sleep 20")
    assert done.returncode == 1
    assert "==> endless: FAILED, status 124" in done.stdout


def test_lanes_go_side_by_side_and_each_keeps_its_order(tmp_path: Path) -> None:
    """Each waits for a word of the other, which none would get if one followed the other."""
    (tmp_path / "a").mkdir()
    os.mkfifo(tmp_path / "a" / "fifo")
    script = f"""
    lanes={tmp_path}/lanes
    reads() {{ step first cat {tmp_path}/a/fifo; step second echo after; }}
    writes() {{ step third sh -c 'echo between >{tmp_path}/a/fifo'; }}
    lane one reads
    lane two writes
    join_lanes
    step last echo end
    """
    done = steps(script)
    assert done.returncode == 0, done.stdout + done.stderr
    text = done.stdout
    places = [
        text.index(f"==> {name}: {words}") for name, words in (("one", "all"), ("first", "cat"), ("second", "echo"))
    ]
    assert places == sorted(places)
    assert text.index("\nbetween\n") < text.index("\nafter\n") < text.index("==> last: echo end")
    assert text.endswith("==> everything passed tonight\n")


def test_failures_of_lanes_are_failures(tmp_path: Path) -> None:
    """Also that of a lane that ended before it could say what failed."""
    script = f"""
    lanes={tmp_path}/lanes
    some() {{ step first false; step second true; }}
    gone() {{ step third true; kill -KILL "$BASHPID"; }}
    lane one some
    lane two gone
    join_lanes
    """
    done = steps(script)
    assert done.returncode == 1
    assert done.stdout.endswith("==> failed tonight:\n      first\n      lane two\n"), done.stdout


def test_a_step_in_a_lane_is_said_when_it_ends(tmp_path: Path) -> None:
    """With its own processor time, whatever the other lanes spend, so that a long run shows that it is alive."""
    script = f"""
    lanes={tmp_path}/lanes
    mkfifo {tmp_path}/fifo
    busy() {{
        step busy {sys.executable} -c 'import time; any(time.process_time() > 3 for _ in iter(int, 1))'
        echo >{tmp_path}/fifo
    }}
    idle() {{ step idle cat {tmp_path}/fifo; }}
    lane one busy
    lane two idle
    join_lanes
    """
    done = steps(script)
    ends = [line for line in done.stdout.splitlines() if re.match(r"==> (idle|busy): passed", line)]
    assert len(ends) == 4 and len(set(ends)) == 2, done.stdout
    idle, busy = sorted(set(ends), reverse=True)
    assert re.search(r" s, 0 s of processor time", idle)
    assert re.search(r" s, [234] s of processor time", busy)


@pytest.mark.parametrize("script", [".ci/run", "ci/nightly"])
def test_the_scripts_use_them(script: str) -> None:
    text = (ROOT / script).read_text()
    assert "\nsource ci/steps.sh\n" in text
    assert "./clharness selftest" in text
    assert "\nsummary " in text
