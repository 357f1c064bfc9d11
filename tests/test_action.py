# SPDX-License-Identifier: Apache-2.0
"""The action's step, fed as a runner would: inputs by the environment, results in files and annotations."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from harness.build import ROOT, build

CHECK = "test_library_path_without_final_newline and not ordinary"


def act(folder: Path, path: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs ci/action in a workspace with the build that is here."""
    given = {
        "INPUT_PATH": str(path),
        "INPUT_ARGUMENTS": f'-k "{CHECK}"',
        "CLHARNESS_RESULTS": str(folder / "results"),
        "CLHARNESS_BUILD": str(build().folder),
        "CLHARNESS_BUILD_IN_USE": str(build().folder),
        "GITHUB_OUTPUT": str(folder / "output"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        "GITHUB_ACTIONS": "true",
        "CI": "true",
    }
    return subprocess.run(
        [ROOT / "ci" / "action"],
        cwd=folder,
        env=os.environ | given | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_sound_loader_is_green_and_leaves_its_records(tmp_path: Path) -> None:
    done = act(tmp_path, build().reference_loader)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "output").read_text() == "code=0\n"
    assert "::error" not in done.stdout
    assert {path.name for path in (tmp_path / "results").iterdir()} >= {"records.jsonl", "junit.xml"}
    cases = [json.loads(line) for line in (tmp_path / "results" / "records.jsonl").open()]
    assert sum(record["record"] == "case" for record in cases) == 5
    assert "as expected" in (tmp_path / "summary.md").read_text()


def test_unexpected_cases_are_red_with_an_annotation_each(tmp_path: Path) -> None:
    done = act(tmp_path, build().reference_loader, INPUT_ARGUMENTS=f'-k "{CHECK}" --expect "{other_outcome(tmp_path)}"')
    assert done.returncode == 1, done.stdout + done.stderr
    assert (tmp_path / "output").read_text() == "code=1\n"
    errors = re.findall(r"^::error title=(.*?)::(.*)$", done.stdout, re.M)
    assert errors and all("DISC-LNX-013" in title for title, _ in errors)
    assert "%0A" in errors[0][1] and "test_library_path_without_final_newline" in errors[0][1]


def other_outcome(folder: Path) -> Path:
    """An expectation file that a sound loader does not fulfil."""
    path = folder / "expect.toml"
    path.write_text(
        'loader = "clharness reference loader"\n\n[[deviation]]\nrequirement = "DISC-LNX-013"\n'
        'case = "test_library_path_without_final_newline[linked]"\nverdict = "fail"\nreason = "for this test"\n'
    )
    return path


@pytest.mark.parametrize(
    ("path", "environment", "sentence"),
    [
        ("", {}, "path is missing"),
        ("/nowhere/libOpenCL.so", {}, "there is no file /nowhere/libOpenCL.so"),
        ("/etc/passwd", {"INPUT_KIND": "driver"}, "kind is 'driver'; it must be loader, layer or icd"),
    ],
)
def test_wrong_inputs_are_an_annotation(path: str, environment: dict[str, str], sentence: str, tmp_path: Path) -> None:
    done = act(tmp_path, path, **environment)
    assert done.returncode == 2
    assert done.stdout.startswith("::error title=clharness::") and sentence in done.stdout


def test_arguments_are_words_and_never_commands(tmp_path: Path) -> None:
    done = act(tmp_path, build().reference_loader, INPUT_ARGUMENTS=f"-k '$(touch {tmp_path}/ran)'")
    assert done.returncode != 0
    assert not (tmp_path / "ran").exists()


def test_action_hands_over_every_input_that_the_step_reads() -> None:
    text = (ROOT / "action.yml").read_text()
    handed = set(re.findall(r"^        (INPUT_\w+): \$\{\{ inputs\.(\w+) \}\}$", text, re.M))
    assert handed == {("INPUT_PATH", "path"), ("INPUT_KIND", "kind"), ("INPUT_ARGUMENTS", "arguments")}
    assert {name for name, _ in handed} == set(re.findall(r"\bINPUT_\w+", (ROOT / "ci" / "action").read_text()))
    run = re.findall(r"^      run: '(.*)'$", text, re.M)
    assert run == ['"$GITHUB_ACTION_PATH/ci/action"']
