# SPDX-License-Identifier: Apache-2.0
"""ci/mutants on a library of a few lines: what counts as a mutant, which are found, and what a lost worker costs."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.mutation import report
from harness.mutation.builder import Builder, Subject, chosen, cmake_link, units, with_output
from harness.mutation.campaign import Campaign
from harness.mutation.cases import Job, Lost, Pool
from harness.mutation.main import all_mutants, main
from harness.mutation.operators import Mutant
from harness.errors import UsageError

LOADER = """\
static int answers = -1001;
int clGetPlatformIDs(unsigned count, void **platforms, unsigned *found)
{
    if (count == 0 && platforms) {
        return -30;
    }
    if (found) {
        *found = 0;
    }
    return answers;
}
"""
SUITE = '''\
"""A small suite."""
from harness.check import requirement


@requirement("DISC-GEN-001")
def test_answer(loader, sandbox):
    """Without a vendor there is no platform."""
    with loader.start(sandbox) as cl:
        assert int(cl.clGetPlatformIDs(0, None, None)) == -1001
'''


def subject(folder: Path) -> Subject:
    (folder / "loader.c").write_text(LOADER)
    command = "cc -fPIC -O1 -c loader.c -o loader.o"
    entry = {"directory": str(folder), "file": "loader.c", "command": command}
    (folder / "compile_commands.json").write_text(json.dumps([entry]))
    all_units = units(folder, "")
    return Subject(
        all_units, with_output(["cc", "-shared", "{objects}", "-o", "x"]), folder, chosen(all_units, ["*.c"])
    )


def edit(folder: Path, before: str, after: str) -> Mutant:
    start = LOADER.index(before)
    return Mutant(folder / "loader.c", 1, 1, "any", "any", before, after, start, start + len(before))


def test_what_is_no_mutant(tmp_path: Path) -> None:
    builder = Builder(subject(tmp_path), tmp_path)
    output = tmp_path / "made" / "library.so"
    assert builder.build(edit(tmp_path, "return -30", "return }"), output) == "no compile"
    assert builder.build(edit(tmp_path, "return -30", "return -30 - 0"), output) == "equivalent"
    assert not output.exists()
    assert builder.build(edit(tmp_path, "return -30", "return -31"), output) == ""
    assert output.exists()
    assert builder.build(edit(tmp_path, "return -30", "return -30 - 1"), output) == "duplicate"


def test_a_run_distinguishes_found_from_survived(tmp_path: Path) -> None:
    """The suite asks for the answer alone: what is changed of anything else survives."""
    suite = tmp_path / "suites" / "discovery"
    suite.mkdir(parents=True)
    (suite / "test_small.py").write_text(SUITE)
    tested = subject(tmp_path)
    mutants = [m for m in all_mutants(tested) if m.operator in ("constant", "equality")]
    assert len(mutants) == 9
    campaign = Campaign(tested, mutants, [suite], jobs=1)
    campaign.run()
    states = {(fate.mutant.before, fate.mutant.after): fate.state for fate in campaign.fates}
    assert states["1001", "1002"] == states["1001", "1000"] == "found"
    assert states["30", "31"] == states["0", "1"] == "survived"
    (found,) = (fate for fate in campaign.fates if fate.mutant.after == "1002")
    assert found.case.endswith("::test_answer")
    assert "-1002" in found.answer.message
    counted = [fate for fate in campaign.fates if fate.counts]
    assert report.share(campaign) == 2 / len(counted)
    text = "\n".join(report.lines(campaign, 1.0))
    assert "30 → 31" in text
    assert "1001 → 1002" not in text
    assert report.as_json(campaign, 1.0)["mutants"][0]["state"] in ("found", "survived")


def test_a_lost_worker_costs_one_job(tmp_path: Path) -> None:
    def answer(job: Job) -> int:
        if job.key == 1:
            os._exit(5)
        while job.key == 2:
            time.monotonic()
        return job.key

    answers: dict[int, Any] = {}
    jobs: Iterator[Job] = (Job(key, tmp_path, ()) for key in range(5))
    Pool(answer, 2, limit=1).run(jobs, lambda job, given: answers.update({job.key: given}))
    assert answers == {0: 0, 1: Lost("the worker died"), 2: Lost("not done after 1 s"), 3: 3, 4: 4}


def test_the_link_of_a_target_is_found_below_a_build(tmp_path: Path) -> None:
    script = tmp_path / "sub" / "CMakeFiles" / "OpenCL.dir" / "link.txt"
    script.parent.mkdir(parents=True)
    script.write_text("/usr/bin/cc -shared -o libOpenCL.so CMakeFiles/OpenCL.dir/icd.c.o\n")
    folder, link = cmake_link(tmp_path, "OpenCL")
    assert folder == tmp_path / "sub"
    assert link == ("/usr/bin/cc", "-shared", "-o", "{output}", "CMakeFiles/OpenCL.dir/icd.c.o")
    with pytest.raises(UsageError, match="--link"):
        cmake_link(tmp_path, "other")


def test_wrong_usage_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--compile-commands", str(tmp_path), "--list"]) == 2
    assert "CMAKE_EXPORT_COMPILE_COMMANDS" in capsys.readouterr().err
