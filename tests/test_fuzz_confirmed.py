# SPDX-License-Identifier: Apache-2.0
"""What a binary shows under breakpoints is a finding only where it shows it without them, too."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from harness.cli.fuzz import _exit_code
from harness.errors import UsageError
from harness.fuzz import reproducers, summary
from harness.fuzz.campaign import Campaign, Target
from harness.fuzz.findings import Finding, Keeper
from harness.fuzz.job import ProcessEnd
from harness.fuzz.subject import FuzzSubject
from harness.fuzz.target_process import Defect, Replayer, Setting

DEFECT = Defect("crash", "memory@f", "Segmentation fault in f", by_engine=True)


def target_program(folder: Path, condition: str) -> Path:
    """A target that shows the defect where the condition holds."""
    program = folder / "fuzz_stub"
    line = f"clharness-fuzz: finding: {DEFECT.kind} {DEFECT.key}: {DEFECT.sentence}"
    program.write_text(f"#!/bin/sh\nif {condition}; then echo '{line}' >&2; kill -ABRT $$; fi\n")
    program.chmod(0o755)
    return program


def setting(folder: Path) -> Setting:
    library = folder / "libOpenCL.so.1"
    library.write_bytes(b"")
    (folder / "blocks").write_text("")
    return Setting(FuzzSubject(library, "breakpoints", False, ""), blocks=folder / "blocks")


WATCHED = '[ -n "$CLHARNESS_FUZZ_BLOCKS" ]'


@pytest.mark.parametrize(("condition", "is_finding"), [(WATCHED, False), ("true", True)], ids=["watched", "always"])
def test_what_shows_only_with_breakpoints_is_no_finding(tmp_path: Path, condition: str, is_finding: bool) -> None:
    program = target_program(tmp_path, condition)
    finding = Keeper(tmp_path / "out", 1.0).keep("stub", program, setting(tmp_path), ProcessEnd(DEFECT, b"input"), [])
    assert (finding != "it shows only with breakpoints") == is_finding
    assert (tmp_path / "out" / "findings").exists() == is_finding
    if isinstance(finding, Finding):
        assert finding.stable
        script = Path(finding.folder) / "reproduce.sh"
        assert "CLHARNESS_FUZZ_BLOCKS" not in script.read_text() and os.access(script, os.X_OK)
        assert json.loads((Path(finding.folder) / "finding.json").read_text())["key"] == DEFECT.key


def test_process_that_a_subject_leaves_holds_up_no_replay(tmp_path: Path) -> None:
    """It keeps the output open: each replay had lasted until its time was over, and showed nothing."""
    program = target_program(tmp_path, "sleep 20 & true")
    replayer = Replayer(program, setting(tmp_path), tmp_path / "work", 1)
    started = time.monotonic()
    assert replayer.replay(b"input").key == DEFECT.key
    assert time.monotonic() - started < 10


def of_driver(folder: Path) -> Setting:
    return replace(setting(folder), icd=folder / "libOpenCL.so.1")


AFTER_ANOTHER = 'for f; do case $f in -*) ;; *) cat "$f" ;; esac; done | grep -q opens'


def test_what_a_driver_shows_after_other_inputs_is_replayed_with_them(tmp_path: Path) -> None:
    """It cannot be put back; of what ran before, only what is needed is kept."""
    program = target_program(tmp_path, AFTER_ANOTHER)
    before = (b"one", b"it opens", *(b"%d" % number for number in range(20)))
    end = ProcessEnd(DEFECT, b"input", before)
    # More time than any machine needs to find out which are needed: what is not known in time is kept.
    finding = Keeper(tmp_path / "out", 60.0).keep("stub", program, of_driver(tmp_path), end, [])
    assert isinstance(finding, Finding) and finding.stable and finding.before == 1
    assert [file.read_bytes() for file in finding.inputs_before()] == [b"it opens"]
    done = subprocess.run([Path(finding.folder) / "reproduce.sh"], capture_output=True, text=True)
    assert f"finding: {DEFECT.kind} {DEFECT.key}" in done.stderr
    assert Keeper(tmp_path / "out", 1.0).still_happens(finding, program, of_driver(tmp_path))
    with pytest.raises(UsageError, match="needs other inputs before it"):
        reproducers.keep("name", Path(finding.folder), tmp_path)


def test_what_a_driver_shows_only_with_breakpoints_is_no_finding(tmp_path: Path) -> None:
    end = ProcessEnd(DEFECT, b"input", (b"one", b"two"))
    program = target_program(tmp_path, WATCHED)
    finding = Keeper(tmp_path / "out", 1.0).keep("stub", program, of_driver(tmp_path), end, [])
    assert finding == "it shows only with breakpoints"
    assert not (tmp_path / "out" / "findings").exists()


@pytest.mark.parametrize("of", [setting, of_driver], ids=["loader", "driver"])
def test_what_no_replay_shows_is_a_finding_all_the_same(tmp_path: Path, of: Callable[[Path], Setting]) -> None:
    """Something ended the process: a thread may have, or memory that was used up in many inputs."""
    end = ProcessEnd(DEFECT, b"input", (b"one", b"two"))
    finding = Keeper(tmp_path / "out", 1.0).keep("stub", target_program(tmp_path, "false"), of(tmp_path), end, [])
    assert isinstance(finding, Finding) and not finding.stable
    assert finding.sentence == f"{DEFECT.sentence}; no replay shows it"


def test_what_only_a_fresh_process_can_name_has_its_name(tmp_path: Path) -> None:
    """What came before may have closed the output, for one."""
    end = ProcessEnd(Defect("crash", "status1@nowhere", "the process ended with exit code 1"), b"input")
    finding = Keeper(tmp_path / "out", 1.0).keep("stub", target_program(tmp_path, "true"), setting(tmp_path), end, [])
    assert isinstance(finding, Finding) and finding.key == DEFECT.key and finding.stable


def test_campaign_goes_on_past_what_shows_only_with_breakpoints(tmp_path: Path) -> None:
    """Its key is passed over, and the summary says so; it is not counted."""
    program = target_program(tmp_path, WATCHED)
    output: list[str] = []
    target = Target("stub", program, setting(tmp_path), [], None)
    campaign = Campaign(tmp_path / "out", [target], 1.0, 1, output.append)
    campaign.prepare()
    assert campaign._take(target, ProcessEnd(DEFECT, b"input"))
    assert campaign.findings == [] and output == []
    assert (tmp_path / "out" / "known.txt").read_text() == f"{DEFECT.key}\n"
    assert campaign.states["stub"].unconfirmed == {DEFECT.key: f"{DEFECT.sentence}: it shows only with breakpoints"}
    assert not campaign._take(target, ProcessEnd(DEFECT, b"another")), "it is not looked at twice"


def test_target_that_cannot_start_is_left_out(tmp_path: Path) -> None:
    """Another one goes on, and its findings decide how the campaign ends."""
    programs = {"broken": "echo 'clharness-fuzz: it cannot start' >&2; exit 2", "sound": "exit 0"}
    targets = []
    for name, script in programs.items():
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        targets.append(Target(name, program, setting(tmp_path), [], None))
    output: list[str] = []
    campaign = Campaign(tmp_path / "out", targets, 2.0, 1, output.append)
    campaign.prepare()
    campaign.run(lambda: None)
    campaign.states["sound"].inputs = 1
    assert output == ["broken is left out: it cannot start"]
    assert _exit_code(campaign, False) == 0
    assert any("broken left out" in line for line in summary.lines(campaign, targets[0].setting.subject, False))
    campaign.states["sound"].errors.append("it cannot, either")
    assert _exit_code(campaign, False) == 3


@pytest.mark.parametrize("errors", [[], ["it hangs"]], ids=["sound", "left out"])
def test_corpus_of_a_target_that_was_left_out_is_not_merged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, errors: list[str]
) -> None:
    target = Target("stub", target_program(tmp_path, "false"), setting(tmp_path), [], None)
    campaign = Campaign(tmp_path / "out", [target], 60.0, 1, print)
    campaign.prepare()
    campaign.states["stub"].seconds, campaign.states["stub"].errors = 60.0, errors
    merged: list[object] = []
    monkeypatch.setattr("harness.fuzz.libfuzzer.merge", lambda *about: merged.append(about))
    campaign.finish()
    assert bool(merged) == (not errors)


def test_campaign_ends_with_its_time(tmp_path: Path) -> None:
    """Two processes run two of three targets, then both the third one, each for half of its share."""
    program = tmp_path / "fuzz_stub"
    body = 'for word; do case $word in -max_total_time=*) exec sleep "${word#*=}" ;; esac; done'
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)
    targets = [Target(name, program, setting(tmp_path), [], None) for name in ("one", "two", "three")]
    # Processes last whole seconds: of the time that is left for the last one, rounding takes what others took before.
    campaign = Campaign(tmp_path / "out", targets, 6.4, 2, lambda text: None)
    campaign.prepare()
    campaign.run(lambda: None)
    shares = [campaign.states[target.name].seconds for target in targets]
    assert campaign.progress()[0] < 7.5
    assert all(3.0 < share < 5.5 for share in shares), shares


def noted(folder: Path, script: str) -> tuple[Path, Path]:
    """A target that writes a line with its arguments into a file, which is given, too."""
    program, runs = folder / "fuzz_noted", folder / "runs"
    program.write_text(f'#!/bin/sh\necho "$@" >>{runs}\n{script}\n')
    program.chmod(0o755)
    return program, runs


def test_no_second_process_begins_when_the_time_is_over(tmp_path: Path) -> None:
    """It would read all the seeds again that the first one has not come to the end of."""
    program, runs = noted(tmp_path, "sleep 3")
    target = Target("long", program, setting(tmp_path), [], None)
    other = Target("short", target_program(tmp_path, "sleep 1.5 && false"), setting(tmp_path), [], None)
    campaign = Campaign(tmp_path / "out", [target, other], 1.5, 2, lambda text: None)
    campaign.prepare()
    campaign.run(lambda: None)
    assert len(runs.read_text().splitlines()) == 1


@pytest.mark.parametrize(("seconds", "merges"), [(2.0, 0), (4.0, 1)])
def test_corpus_of_a_short_campaign_is_not_merged(tmp_path: Path, seconds: float, merges: int) -> None:
    program, runs = noted(tmp_path, "")
    runs.touch()
    campaign = Campaign(
        tmp_path / "out", [Target("a", program, setting(tmp_path), [], None)], seconds, 1, lambda text: None
    )
    campaign.prepare()
    campaign.states["a"].seconds = seconds
    campaign.finish()
    assert runs.read_text().count("-merge=1") == merges
