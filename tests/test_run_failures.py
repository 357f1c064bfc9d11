# SPDX-License-Identifier: Apache-2.0
"""What a run printed for a replay stays that of its own case, whatever runs beside it or after it."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.run import failures
from harness.run.failures import Place
from tests.small_runs import SmallRun

RED = '''
@requirement("DISC-LNX-014")
def test_bad_answer(loader, sandbox):
    """It finds a platform."""
    sandbox.vendor("{name}")
    with loader.start(sandbox) as cl:
        assert cl.clGetPlatformIDs(0, None, None) == 0
'''


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where runs of this test keep cases."""

    class Built:
        folder = tmp_path / "build"

    monkeypatch.setattr(failures, "build", Built)
    return tmp_path / "build" / "failures"


def test_runs_at_the_same_time_have_folders_of_their_own(place: Path) -> None:
    first, second, other = Place(Path("/a/libOpenCL.so.1")), Place(Path("/a/libOpenCL.so.1")), Place(Path("/b/x.so"))
    assert len({first.path, second.path, other.path}) == 3
    assert all(run.path.is_dir() for run in (first, second, other))
    assert first.path.parent == second.path.parent != other.path.parent


def test_the_next_run_sweeps_what_ended(place: Path) -> None:
    first, second = Place(Path("/a/l.so")), Place(Path("/a/l.so"))
    (first.path / "case").mkdir()
    (second.path / "case").mkdir()
    first.close()
    third = Place(Path("/a/l.so"))
    assert sorted(path.name for path in third.path.parent.iterdir()) == ["1", "2"]
    assert third.path == first.path and not (third.path / "case").exists()
    assert (second.path / "case").exists(), "that run goes on"


def test_subjects_of_the_same_name_are_two(place: Path) -> None:
    assert Place(Path("/a/l.so")).path.parent != Place(Path("/b/l.so")).path.parent


def test_a_folder_that_cannot_be_made_is_wrong_usage(place: Path) -> None:
    place.parent.mkdir()
    place.touch()
    with pytest.raises(UsageError, match=r"failures/l\.so-\w+: cannot be written: not a directory; remove it"):
        Place(Path("/a/l.so"))


@pytest.mark.parametrize("name", ["lib\nOpenCL.so", "-rf", "a b;rm", "..", "\udcff.so", "x" * 250])
def test_hostile_names_of_subjects_stay_below(place: Path, name: str) -> None:
    run = Place(Path("/a") / name)
    assert run.path.resolve().parent.parent == place.resolve()
    assert run.path.parent.name.isascii() and not run.path.parent.name.startswith(("-", "."))


def test_cases_whose_names_differ_in_signs_only_are_two(place: Path) -> None:
    run = Place(Path("/a/l.so"))
    names = [
        "a.py::test[x y]",
        "a.py::test[x_y]",
        "a.py::test[x;y]",
        f"a.py::test[{'z' * 200}]",
        f"a.py::test[{'z' * 201}]",
    ]
    assert len({run.of(f"suites/d/{name}") for name in names}) == len(names)
    assert run.of("suites/d/a.py::test[x_y]").name == "d_a.py_test_x_y_"


def test_replay_of_an_earlier_run_is_its_own(small: SmallRun, tmp_path: Path) -> None:
    """Two subjects with the same checks: each report names a folder with its own files."""
    copy = tmp_path / "other" / "libOpenCL.so.1"
    copy.parent.mkdir()
    shutil.copyfile(small.library, copy)
    small.suite(RED.replace("{name}", "one"))
    first = small.run("-j", "1").cases["test_bad_answer"]
    small.library = copy
    small.suite(RED.replace("{name}", "three"))
    second = small.run("-j", "1").cases["test_bad_answer"]
    kept = [Path(record["sandbox"]) for record in (first, second)]
    try:
        assert kept[0] != kept[1]
        for folder, record, name in zip(kept, (first, second), ("one", "three"), strict=True):
            assert (folder / "vendors" / f"{name}.icd").exists()
            assert record["reproduce"] == f"./clharness replay {shlex.quote(str(folder))}"
    finally:
        for folder in kept:
            shutil.rmtree(folder.parent.parent)
