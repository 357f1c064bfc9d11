# SPDX-License-Identifier: Apache-2.0
"""The action's step, fed as a runner would: inputs by the environment, results in files and annotations."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.build import ROOT, build

CHECK = "test_library_path_without_final_newline and not ordinary"


def act(folder: Path, path: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs ci/action in a workspace with the build that is here."""
    given = {
        "INPUT_PATH": str(path),
        "INPUT_ARGUMENTS": f'--suite discovery -k "{CHECK}"',
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
    arguments = f'--suite discovery -k "{CHECK}" --expect "{other_outcome(tmp_path)}"'
    done = act(tmp_path, build().reference_loader, INPUT_ARGUMENTS=arguments)
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
    done = act(tmp_path, build().reference_loader, INPUT_ARGUMENTS=f"--suite layers -k '$(touch {tmp_path}/ran)'")
    assert done.returncode != 0
    assert not (tmp_path / "ran").exists()


def test_action_hands_over_every_input_that_the_step_reads() -> None:
    text = (ROOT / "action.yml").read_text()
    handed = set(re.findall(r"^        (INPUT_\w+): \$\{\{ inputs\.(\w+) \}\}$", text, re.M))
    assert handed == {("INPUT_PATH", "path"), ("INPUT_KIND", "kind"), ("INPUT_ARGUMENTS", "arguments")}
    assert {name for name, _ in handed} == set(re.findall(r"\bINPUT_\w+", (ROOT / "ci" / "action").read_text()))
    run = re.findall(r"^      run: '(.*)'$", text, re.M)
    assert run == ['"$GITHUB_ACTION_PATH/ci/action" key', '"$GITHUB_ACTION_PATH/ci/action"']


# --- what is kept between jobs ---


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The action in a checkout with one source and a command that does nothing, and what a job has kept of a build."""
    place = tmp_path / "checkout"
    for folder in ("ci", "harness"):
        (place / folder).mkdir(parents=True)
    shutil.copy(ROOT / "ci" / "action", place / "ci")
    (place / "harness" / "source.c").write_text("int one;\n")
    (place / "clharness").write_text("#!/bin/sh\n")
    (place / "clharness").chmod(0o755)
    kept = tmp_path / "kept"
    kept.mkdir()
    for name in ("clharness.json", "setup.built"):
        (kept / name).write_text("")
        os.utime(kept / name, (1_000_000_000, 1_000_000_000))
    return place


def step(checkout: Path, *arguments: str, code: int = 0, **environment: str) -> str:
    """Runs the checkout's action; what it writes for later steps."""
    output = checkout.parent / "output"
    output.unlink(missing_ok=True)
    given = {"GITHUB_OUTPUT": str(output), "INPUT_PATH": "harness/source.c", "CLHARNESS_RESULTS": str(checkout / "r")}
    done = subprocess.run([checkout / "ci" / "action", *arguments], cwd=checkout, env=os.environ | given | environment)
    assert done.returncode == code
    return output.read_text()


def test_build_is_kept_under_a_name_that_follows_every_source(checkout: Path) -> None:
    name = step(checkout, "key")
    assert re.fullmatch(r"key=clharness-[0-9a-f]{16}-[0-9a-f]{32}\n", name)
    (checkout / "harness" / "source.c").touch()
    assert step(checkout, "key") == name
    (checkout / "harness" / "source.c").write_text("int two;\n")
    assert step(checkout, "key") != name


@pytest.mark.parametrize("between", ["nothing", "a change", "a failure"])
def test_kept_build_is_older_than_a_new_checkout_only_where_that_differs(between: str, checkout: Path) -> None:
    """Whatever service kept it, and under whatever name: the build knows what it was made of."""
    kept, source = checkout.parent / "kept", checkout / "harness" / "source.c"
    step(checkout, CLHARNESS_BUILD=str(kept))
    assert source.stat().st_mtime > (kept / "clharness.json").stat().st_mtime
    if between == "a failure":
        (checkout / "clharness").write_text("#!/bin/sh\nexit 3\n")
        step(checkout, CLHARNESS_BUILD=str(kept), code=3)
    elif between == "a change":
        source.write_text("int two;\n")
    source.touch()
    step(checkout, CLHARNESS_BUILD=str(kept), code=3 if between == "a failure" else 0)
    built = (kept / "clharness.json").stat().st_mtime
    assert (source.stat().st_mtime < built) == (between == "nothing")


# --- the sample workflows ---

SAMPLES = sorted((ROOT / "ci" / "workflows").glob("*.yml"))
WORKFLOWS = [path for path in SAMPLES if not path.stem.startswith("fuzz-")]
FUZZING = [path for path in SAMPLES if path.stem.startswith("fuzz-")]


def inputs_of(step: str) -> dict[str, str]:
    return dict(re.findall(r"^ {10}(\w+): (.*)$", step, re.M))


def test_there_is_a_sample_for_each_kind_of_user() -> None:
    assert [path.stem for path in WORKFLOWS] == ["khronos-loader", "layer", "ocl-icd", "vendor-icd", "windows-loader"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_sample_gives_the_action_what_it_knows(path: Path) -> None:
    declared = set(re.findall(r"^  (\w+):$", (ROOT / "action.yml").read_text().split("outputs:")[0], re.M))
    (step,) = re.findall(r"^ {6}- uses: \./external/clharness\n(?: {8,}.*\n)+", path.read_text(), re.M)
    given = inputs_of(step)
    assert {"path"} <= given.keys() <= declared
    command = given.get("kind", "loader")
    usage = subprocess.run([ROOT / "clharness", command, "--help"], capture_output=True, text=True, check=True).stdout
    options = re.findall(r"--[a-z-]+", given.get("arguments", ""))
    assert [option for option in options if option not in usage] == []


def test_pull_requests_and_nights_are_fuzzed() -> None:
    assert [path.stem for path in FUZZING] == ["fuzz-nightly", "fuzz-pull-request"]


@pytest.mark.parametrize("path", FUZZING, ids=lambda path: path.stem)
def test_sample_fills_in_what_the_image_is_built_with(path: Path, tmp_path: Path) -> None:
    """Each argument of the Dockerfile has a value after the step that names the registry."""
    folder = tmp_path / ".clusterfuzzlite"
    folder.mkdir()
    text = (ROOT / ".clusterfuzzlite" / "Dockerfile").read_text()
    (folder / "Dockerfile").write_text(text)
    (script,) = re.findall(r"^ {8}run: (sed .*)$", path.read_text(), re.M)
    values = {"REGISTRY": "images.example/some", "HEADERS": "https://headers.example/repository"}
    environment = {"PATH": "/usr/bin:/bin", **values}
    subprocess.run(["bash", "-ec", script], cwd=tmp_path, env=environment, check=True)
    filled = (folder / "Dockerfile").read_text()
    assert re.findall(r"^ARG (.*)$", filled, re.M) == [f"{name}={value}" for name, value in values.items()]
    assert len(filled.splitlines()) == len(text.splitlines())
