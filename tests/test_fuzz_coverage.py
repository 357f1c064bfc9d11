# SPDX-License-Identifier: Apache-2.0
"""What is said to be reached was reached by a replay that ran all inputs; anything else is an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import HarnessError
from harness.fuzz import coverage
from harness.fuzz.subject import FuzzSubject
from harness.fuzz.target_process import Setting

DONE = "echo 'Done 3 runs in 0 second(s)' >&2"
LINE = "echo 'clharness-fuzz: finding: crash memory@{}: it crashes' >&2; kill -ABRT $$"


def replay(folder: Path, script: str) -> str:
    """Replays with a script in the place of the target; gives what the last run was told to pass over."""
    program, corpus = folder / "fuzz_stub", folder / "corpus"
    program.write_text(f"#!/bin/sh\ncat $CLHARNESS_FUZZ_KNOWN > {folder}/last\n{script}\n")
    program.chmod(0o755)
    corpus.mkdir()
    known = folder / "known.txt"
    known.write_text("memory@other_build\n")
    setting = Setting(FuzzSubject(folder / "libOpenCL.so.1", "compiler", False, ""))
    coverage._replay(program, setting, known, corpus, {})
    return (folder / "last").read_text()


def test_findings_of_another_build_are_passed_over(tmp_path: Path) -> None:
    """The keys of a campaign name offsets in its own build: those of the counting build are collected on the way."""
    has = "grep -q memory@{} $CLHARNESS_FUZZ_KNOWN || {{ " + LINE + "; }}"
    known = replay(tmp_path, f"{has.format('first', 'first')}\n{has.format('second', 'second')}\n{DONE}")
    assert known == "memory@first\nmemory@other_build\nmemory@second\n"


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        (LINE.format("always"), "it crashes"),
        ("echo 'clharness-fuzz: the loader cannot be loaded' >&2; exit 2", "cannot be loaded"),
        ("exit 77", "exit code 77"),
        ("exit 0", "exit code 0"),
    ],
    ids=["same finding", "no start", "other", "ended early"],
)
def test_replay_that_did_not_run_to_its_end_is_an_error(tmp_path: Path, script: str, sentence: str) -> None:
    with pytest.raises(HarnessError, match=sentence):
        replay(tmp_path, script)
