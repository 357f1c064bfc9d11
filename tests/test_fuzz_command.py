# SPDX-License-Identifier: Apache-2.0
"""`clharness fuzz` from end to end: a planted fault is found, kept, replayed, and made a regression case."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote

import pytest

from harness.build import ROOT
from harness.errors import HarnessError
from harness.fuzz import builds, reproducers
from harness.fuzz.findings import Finding
from harness.fuzz.sarif import sarif
from harness.fuzz.subject import FuzzSubject
from tests.forked import clharness
from tests.sarif import assert_sarif

TARGET, FAULT = "vendor_directory", "missing_folder_is_a_crash"


def fuzz(*arguments: object) -> subprocess.CompletedProcess[str]:
    return clharness("fuzz", *arguments)


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign that found a planted fault."""
    try:
        builds.make(builds.LIBFUZZER, [TARGET], seeded=True)
    except HarnessError as error:
        if "is not installed" in str(error) or "has no libFuzzer" in str(error):
            pytest.skip(str(error))
        raise
    out = tmp_path_factory.mktemp("fuzz") / "out"
    files = ("--json", out.parent / "a.json", "--sarif", out.parent / "a.sarif")
    done = fuzz(TARGET, "--fault", FAULT, "--first", "--time", "60s", "--out", out, *files)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 finding;" in done.stdout and "replay: " in done.stdout and "regression: " in done.stdout, done.stdout
    return out


def folder_of(campaign: Path) -> Path:
    (folder,) = (campaign / "findings").iterdir()
    return folder


def test_finding_is_written_down(campaign: Path) -> None:
    result = json.loads((campaign.parent / "a.json").read_text())
    (finding,) = result["findings"]
    assert (finding["target"], finding["kind"], finding["stable"]) == (TARGET, "crash", True)
    assert finding["folder"] == str(folder_of(campaign)) and finding["description"]
    assert result["targets"][0]["inputs"] > 0
    assert (folder_of(campaign) / "description.txt").read_text().strip()


def test_finding_is_written_as_sarif(campaign: Path) -> None:
    """With the line of the source, where the loader's debug information has it."""
    (run,) = json.loads((campaign.parent / "a.sarif").read_text())["runs"]
    (result,), (rule,) = run["results"], run["tool"]["driver"]["rules"]
    kept = json.loads((folder_of(campaign) / "finding.json").read_text())
    assert (result["ruleId"], result["level"]) == (rule["id"], "error") == (f"fuzz/{TARGET}/crash", "error")
    assert result["message"]["text"].startswith(kept["sentence"])
    assert result["partialFingerprints"] == {"clharnessFinding/v1": f"{TARGET} {kept['key']}"}
    assert result["properties"]["reproduce"] == f"{folder_of(campaign)}/reproduce.sh"
    place = result["locations"][0]["physicalLocation"]
    assert kept["source"], kept
    assert f"{unquote(place['artifactLocation']['uri']).removeprefix('file://')}:" in kept["source"]
    assert f":{place['region']['startLine']}" in kept["source"]
    assert_sarif(json.loads((campaign.parent / "a.sarif").read_text()))


def test_place_without_debug_information_is_the_library() -> None:
    """A service then shows the finding at the library."""
    subject = FuzzSubject(Path("/opt/libOpenCL.so.1"), "breakpoints", False, "")
    finding = Finding(TARGET, "hang", "lock@f+0x1", "It hangs.", False, 3, "/nowhere")
    campaign = SimpleNamespace(findings=[finding])
    result = sarif(campaign, subject)["runs"][0]["results"][0]  # type: ignore[arg-type]
    assert result["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "libOpenCL.so.1"},
        "region": {"startLine": 1},
    }
    assert (result["level"], result["message"]["text"]) == ("warning", "It hangs.")


def test_finding_is_replayed_by_its_script(campaign: Path) -> None:
    key = json.loads((folder_of(campaign) / "finding.json").read_text())["key"]
    done = subprocess.run([folder_of(campaign) / "reproduce.sh"], capture_output=True, text=True)
    assert done.returncode != 0 and f"finding: crash {key}: " in done.stderr, done.stderr[-2000:]


def test_campaign_goes_on_in_its_folder(campaign: Path) -> None:
    """The finding is there from the start, and does not end the campaign again."""
    done = fuzz(TARGET, "--fault", FAULT, "--time", "1s", "--out", campaign)
    assert done.returncode == 1 and "1 finding;" in done.stdout, done.stdout + done.stderr
    assert "finding: " not in done.stdout.partition("subject:")[0]


def test_finding_that_an_earlier_library_lacks_is_new(campaign: Path, tmp_path: Path) -> None:
    """The same faulty library in the place of both has nothing new."""
    built = builds.make(builds.LIBFUZZER, [TARGET], seeded=True)
    for good, code, word in ((built.reference_loader(False), 1, "new"), (built.seeded_loader(False), 0, "known")):
        out = tmp_path / word
        corpus = ("--corpus", folder_of(campaign), "--out", out, "--json", tmp_path / f"{word}.json")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("CLHARNESS_FAULT", FAULT)
            done = fuzz(TARGET, "--bisect", good, built.seeded_loader(False), "--first", "--time", "30s", *corpus)
        assert done.returncode == code, done.stdout + done.stderr
        assert f"\n{word + ':':7} {TARGET}: crash in " in done.stdout, done.stdout
        result = json.loads((tmp_path / f"{word}.json").read_text())["bisect"]
        assert result["good"] == str(good.resolve()) and len(result["new"]) == (code == 1)
    assert done.stdout.rstrip().endswith(": 0 of 1 finding new")


def test_finding_that_does_not_happen_any_more_is_said(campaign: Path, tmp_path: Path) -> None:
    """The same folder with a loader that is correct."""
    for name in ("findings", "known.txt", "campaign.json"):
        subprocess.run(["cp", "-r", campaign / name, tmp_path], check=True)
    done = fuzz(TARGET, "--time", "1s", "--out", tmp_path)
    assert done.returncode == 0 and "no longer happens" in done.stdout, done.stdout + done.stderr


def test_finding_becomes_a_reproducer(campaign: Path, tmp_path: Path) -> None:
    file = reproducers.keep("missing_folder", folder_of(campaign), tmp_path)
    assert file.read_bytes() == (folder_of(campaign) / "input").read_bytes()
    (one,) = reproducers.reproducers(tmp_path / "findings.toml")
    assert (one.target, one.kind, one.subject) == (TARGET, "crash", "libOpenCL.so.1, instrumented")
    assert one.finding == json.loads((folder_of(campaign) / "finding.json").read_text())["key"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_interrupted_campaign_reports_what_it_has(campaign: Path, tmp_path: Path, number: signal.Signals) -> None:
    out = tmp_path / "out"
    command = [sys.executable, "-m", "harness.cli", "fuzz", TARGET, "--time", "10m", "--out", str(out)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        until = time.monotonic() + 60
        while not any(out.glob("work/*/log.txt")):
            assert process.poll() is None and time.monotonic() < until, "the campaign does not begin"
            time.sleep(0.05)
        os.killpg(process.pid, number)
        output, _ = process.communicate(timeout=60)
    assert process.returncode == 130 and "interrupted" in output, output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "name a target, or give --all"),
        (("nothing",), "no such fuzz target"),
        (("--all", TARGET), "--all takes no other target"),
        ((TARGET, "--time", "soon"), "is not a time"),
        ((TARGET, "--time", "0.5s"), "--time 0.5s is too short for a target: give 1s or more"),
        ((TARGET, "icd_file", "limits", "--jobs", "2", "--time", "1s"), "3 targets with 2 jobs: give 2s or more"),
        ((TARGET, "--loader", __file__), "not a shared library"),
        ((TARGET, "--loader", ""), "--loader is empty"),
        ((TARGET, "--bisect", "a", "b", "--loader", "c"), "leave out --loader"),
        ((TARGET, "--bisect", __file__, __file__), "not a shared library"),
        ((TARGET, "--against", ""), "--against is empty"),
        ((TARGET, "--out", __file__), "is not a folder"),
        ((TARGET, "--out", Path(__file__).parent), "has other files in it"),
        ((TARGET, "--fault", FAULT), "--fault needs --out"),
        ((builds.OF_ICD,), "needs --icd"),
    ],
    ids=str,
)
def test_wrong_usage_of_fuzz_is_said(campaign: Path, arguments: tuple[object, ...], message: str) -> None:
    done = fuzz(*arguments)
    assert done.returncode == 2 and message in done.stderr, done.stderr


def test_targets_are_listed() -> None:
    done = fuzz("--list")
    assert done.returncode == 0 and [line.split()[0] for line in done.stdout.splitlines()] == list(builds.targets())
