# SPDX-License-Identifier: Apache-2.0
"""A corpus in which many inputs show something is run few times, however many these are."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.fuzz import campaign as campaigns
from harness.fuzz.campaign import Campaign, Target
from harness.fuzz.job import JobResult, ProcessEnd
from harness.fuzz.subject import FuzzSubject
from harness.fuzz.target_process import Defect, Setting

# Behaves as libFuzzer does: inputs that begin with "bad" end it, but for those whose key is known; each input counts.
TARGET = """#!{python}
import os, pathlib, signal, sys
list_of_known = os.environ.get("CLHARNESS_FUZZ_KNOWN")
known = pathlib.Path(list_of_known).read_text().split() if list_of_known else []
paths = [pathlib.Path(word) for word in sys.argv[1:] if not word.startswith("-")]
singly = paths[0].is_file()
prefix = next((word.partition("=")[2] for word in sys.argv if word.startswith("-artifact_prefix=")), "")
counts = open({counts!r}, "a")
for file in paths if singly else sorted(file for path in paths for file in path.iterdir()):
    data = file.read_text()
    counts.write(data + "\\n")
    if singly:
        print("Running:", file, file=sys.stderr)
    if data.startswith("bad") and "wrong@" + data not in known:
        print(f"clharness-fuzz: finding: wrong wrong@{{data}}: it is {{data}}", file=sys.stderr, flush=True)
        if prefix:
            pathlib.Path(prefix + "crash").write_text(data)
        counts.close()
        os.kill(os.getpid(), signal.SIGABRT)
if not singly:
    print("#9\\tINITED cov: 3 ft: 3", file=sys.stderr)
"""


def started(folder: Path, inputs: list[str], output: list[str]) -> Campaign:
    """A campaign with a corpus of these inputs."""
    program, seeds = folder / "fuzz_stub", folder / "seeds"
    program.write_text(TARGET.format(python=sys.executable, counts=str(folder / "counts")))
    program.chmod(0o755)
    seeds.mkdir()
    for number, text in enumerate(inputs):
        (seeds / f"{number:04}").write_text(text)
    setting = Setting(FuzzSubject(folder / "libOpenCL.so.1", "compiler", True, ""))
    time = 600.0  # which no machine needs: a target that has used up its time runs no more inputs
    campaign = Campaign(folder / "out", [Target("stub", program, setting, [seeds], None)], time, 1, output.append)
    campaign.prepare()
    return campaign


def test_each_input_is_run_few_times_however_many_show_something(tmp_path: Path) -> None:
    bad, good = [f"bad{number}" for number in range(6)], [f"good{number}" for number in range(60)]
    campaign = started(tmp_path, [*good, *bad], [])
    target = campaign.targets[0]
    for _ in range(2):
        campaign._fuzz(target, 1.0, 0)
    assert sorted(finding.key for finding in campaign.findings) == [f"wrong@{name}" for name in bad]
    runs = (tmp_path / "counts").read_text().split()
    assert {runs.count(name) for name in good} <= {2, 3}, "once to the first finding, once singly, once to begin"
    assert campaign.states["stub"].run_singly
    assert not set(bad) & {file.read_text() for file in campaign.corpus(target).iterdir()}


def test_inputs_after_many_that_are_in_order_are_run_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are run some at a time."""
    monkeypatch.setattr(campaigns, "_TOGETHER", 4)
    campaign = started(
        tmp_path, ["bad", *(f"good{number:02}" for number in range(20)), "good-but-longer", "bad-longest"], []
    )
    campaign._fuzz(campaign.targets[0], 1.0, 0)
    assert {finding.key for finding in campaign.findings} == {"wrong@bad", "wrong@bad-longest"}
    singly = (tmp_path / "counts").read_text().split()
    assert {f"good{number:02}" for number in range(20)} <= set(singly)


def test_a_corpus_that_is_in_order_is_run_once(tmp_path: Path) -> None:
    campaign = started(tmp_path, ["good", "better"], [])
    campaign._fuzz(campaign.targets[0], 1.0, 0)
    assert sorted((tmp_path / "counts").read_text().split()) == ["better", "good"]
    assert campaign.findings == [] and not campaign.states["stub"].run_singly


def test_an_input_that_another_job_takes_out_does_not_end_the_campaign(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Jobs of one target share its corpus, and each sets aside what ended it."""
    campaign = started(tmp_path, ["good", "bad1", "bad2"], [])
    target, corpus = campaign.targets[0], campaign.corpus(campaign.targets[0])
    inputs = sorted(corpus.iterdir())

    def list_what_is_gone(folder: Path) -> Iterator[Path]:
        yield corpus / "taken-out-by-another"
        yield from inputs

    monkeypatch.setattr(Path, "iterdir", list_what_is_gone)
    campaign._run_singly(target, 0)
    assert {finding.key for finding in campaign.findings} == {"wrong@bad1", "wrong@bad2"}


def test_a_finding_is_passed_over_while_it_is_still_made_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else all other jobs end with it, again and again, until their target is given up."""
    campaign = started(tmp_path, ["good"], [])
    target = campaign.targets[0]
    end = ProcessEnd(Defect("wrong", "wrong@bad", "it is bad"), b"bad")
    known: list[list[str]] = []

    def keep(*_: object) -> str:
        known.append((tmp_path / "out" / "known.txt").read_text().split())
        return "it is not looked at"

    monkeypatch.setattr(campaign._keeper, "keep", keep)
    campaign._take(target, end)
    assert known == [["wrong@bad"]]


def test_ends_that_were_on_their_way_do_not_give_a_target_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many jobs can begin before the first of them finds something that all of them will find."""
    campaign = started(tmp_path, ["good"], [])
    target, state = campaign.targets[0], campaign.states["stub"]
    numbers = itertools.count()

    def all_at_once(*_: object) -> JobResult:
        end = ProcessEnd(Defect("wrong", f"wrong@{next(numbers)}", "it is bad"), b"bad")
        campaign._take(target, end)  # by another job, while this one ran
        return JobResult(1.0, 1, ends=[end])

    def one_after_the_other(*_: object) -> JobResult:
        return JobResult(1.0, 1, ends=[ProcessEnd(Defect("wrong", "wrong@0", "it is bad"), b"bad")])

    monkeypatch.setattr(campaign._keeper, "keep", lambda *_: "it is not looked at")
    for engine, rests in ((all_at_once, False), (one_after_the_other, True)):
        monkeypatch.setattr(campaigns, "_ENGINES", {"libfuzzer": engine})
        for _ in range(campaigns._REPEATS):
            campaign._fuzz(target, 1.0, 0)
        assert bool(state.resting) == rests
