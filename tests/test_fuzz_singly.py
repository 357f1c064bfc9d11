# SPDX-License-Identifier: Apache-2.0
"""A corpus in which many inputs show something is run few times, however many these are."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from harness.fuzz import campaign as campaigns
from harness.fuzz.campaign import Campaign, Target
from harness.fuzz.subject import FuzzSubject
from harness.fuzz.target_process import Setting

# Behaves as libFuzzer does: inputs that begin with "bad" end it, but for those whose key is known; each input counts.
TARGET = """#!{python}
import os, pathlib, signal, sys
list_of_known = os.environ.get("CLHARNESS_FUZZ_KNOWN")
known = pathlib.Path(list_of_known).read_text().split() if list_of_known else []
paths = [pathlib.Path(word) for word in sys.argv[1:] if not word.startswith("-")]
singly = paths[0].is_file()
prefix = next((word.partition("=")[2] for word in sys.argv if word.startswith("-artifact_prefix=")), "")
counts = open({counts!r}, "a")
for file in paths if singly else sorted(paths[0].iterdir()):
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
    campaign = Campaign(folder / "out", [Target("stub", program, setting, [seeds], None)], 20.0, 1, output.append)
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
