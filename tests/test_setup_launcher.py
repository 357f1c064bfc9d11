"""The command's set-up, on a checkout of its own with a small CMake project in the place of the real one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

CMAKE = """\
cmake_minimum_required(VERSION 3.16)
project(stub C)
file(WRITE ${CMAKE_BINARY_DIR}/clharness.json "{}")
add_executable(stub stub.c)
"""

MAIN = """\
import os, sys
print("ran", sys.argv[1:], os.environ["CLHARNESS_BUILD"])
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Iterator[Path]:
    """A checkout that holds the launcher and its set-up; the rest is a stub that builds in no time."""
    root = tmp_path / "check out"  # with a space
    shutil.copytree(ROOT / "harness" / "setup", root / "harness" / "setup")
    shutil.copy(ROOT / "clharness", root)
    shutil.copy(ROOT / "pyproject.toml", root)
    command_line = root / "harness" / "cli"
    command_line.mkdir()
    for name, text in {"__init__": "", "__main__": MAIN, "loader": "", "requirements": ""}.items():
        (command_line / f"{name}.py").write_text(text)
    (root / "CMakeLists.txt").write_text(CMAKE)
    (root / "stub.c").write_text("int main(void) { return 0; }\n")
    yield root
    root.chmod(0o755)


def launch(
    checkout: Path,
    *arguments: str,
    cwd: Path | None = None,
    command: Path | None = None,
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    """Runs the launcher in an otherwise empty environment, with the Python that runs this test."""
    base = {"PATH": "/usr/local/bin:/usr/bin:/bin", "CLHARNESS_PYTHON": sys.executable}
    return subprocess.run(
        [command or checkout / "clharness", *arguments],
        cwd=cwd or checkout,
        env=base | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.fixture
def library(tmp_path: Path) -> str:
    """The path of a loader, so that no case needs the system's."""
    path = tmp_path / "libOpenCL.so.1"
    path.write_bytes(b"\x7fELF")
    return str(path)


@pytest.fixture
def path_without_cmake(tmp_path: Path) -> str:
    """A PATH that has what the launcher uses itself, a compiler and make, but no CMake."""
    folder = tmp_path / "bin"
    folder.mkdir()
    tools = ["bash", "dirname", "readlink", "mkdir", "cat", "cc", "gcc", "make", "env", "grep", "find"]
    for name in tools:
        if found := shutil.which(name):
            (folder / name).symlink_to(found)
    return str(folder)


def test_first_run_builds_and_the_second_does_nothing(checkout: Path, library: str) -> None:
    first = launch(checkout, "loader", library)
    assert first.returncode == 0, first.stderr
    assert "configuring and building" in first.stderr
    built = (checkout / "build" / "stub").stat().st_mtime_ns

    second = launch(checkout, "loader", library)
    assert second.stdout == f"ran ['loader', '{library}'] {checkout}/build\n"
    assert second.stderr == ""
    assert (checkout / "build" / "stub").stat().st_mtime_ns == built


def test_a_changed_source_is_built_again_and_nothing_else(checkout: Path, library: str) -> None:
    launch(checkout, "loader", library)
    (checkout / "stub.c").write_text("int main(void) { return 7; }\n")

    again = launch(checkout, "loader", library)

    assert again.stderr == "clharness: building what has changed\n"
    assert subprocess.run([checkout / "build" / "stub"]).returncode == 7


def test_works_from_elsewhere_and_through_a_link(checkout: Path, tmp_path: Path, library: str) -> None:
    link = tmp_path / "link"
    link.symlink_to(checkout / "clharness")
    elsewhere = tmp_path / "elsewhere"
    # A folder of the same name in the current directory must not take the place of the harness.
    (elsewhere / "harness").mkdir(parents=True)
    (elsewhere / "harness" / "__init__.py").write_text("raise SystemExit('the wrong one')")

    run = launch(checkout, "loader", library, cwd=elsewhere, command=link)

    assert run.returncode == 0, run.stderr
    assert run.stdout.endswith(f"{checkout}/build\n")


@pytest.mark.parametrize("configured_by", ["the launcher", "a person"])
def test_a_moved_checkout_is_configured_anew(checkout: Path, tmp_path: Path, library: str, configured_by: str) -> None:
    launch(checkout, "loader", library)
    moved = tmp_path / "moved"
    checkout.rename(moved)

    if configured_by == "a person":
        (moved / "build" / "setup.built").unlink()
    run = launch(moved, "loader", library)

    assert run.returncode == 0, run.stderr
    assert "configuring and building" in run.stderr
    moved.rename(checkout)


def test_a_build_that_fails_shows_the_log_and_exits_3(checkout: Path, library: str) -> None:
    (checkout / "stub.c").write_text("#error this cannot be built\n")

    run = launch(checkout, "loader", library)

    assert run.returncode == 3
    assert "this cannot be built" in run.stderr
    assert run.stderr.splitlines()[-1].startswith("clharness: building failed")
    # It must be tried again, not taken for built.
    assert launch(checkout, "loader", library).returncode == 3


def test_no_install_names_what_is_missing(checkout: Path, library: str, path_without_cmake: str) -> None:
    run = launch(checkout, "loader", library, "--no-install", PATH=path_without_cmake)

    assert run.returncode == 3
    assert "clharness: missing: CMake" in run.stderr
    assert "compiler" not in run.stderr
    assert not (checkout / "build" / "setup.log").exists(), "something was installed or built"


def test_no_install_runs_where_nothing_is_missing(checkout: Path, library: str) -> None:
    run = launch(checkout, "--no-install", "loader", library)

    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith(f"ran ['loader', '{library}'] "), "--no-install is the launcher's own"


def test_options_of_another_program_are_left_alone(checkout: Path, library: str) -> None:
    run = launch(checkout, "loader", library, "--", "program", "--no-install", "--help")

    assert run.stdout.startswith(f"ran ['loader', '{library}', '--', 'program', '--no-install', '--help'] ")


@pytest.mark.parametrize(
    "arguments", [["--help"], ["loader", "--help"], ["test", "--help"], ["requirements"], ["unknown"]]
)
def test_what_needs_no_build_does_not_build(checkout: Path, arguments: list[str], path_without_cmake: str) -> None:
    run = launch(checkout, *arguments, PATH=path_without_cmake)

    assert run.returncode == 0, run.stderr
    assert run.stdout
    assert not (checkout / "build").exists()


def test_a_folder_that_cannot_be_written_to_is_one_sentence(checkout: Path, library: str) -> None:
    run = launch(checkout, "loader", library, CLHARNESS_BUILD="/proc/build")

    assert run.returncode == 3
    assert run.stderr == (
        "clharness: cannot write to /proc/build: set CLHARNESS_BUILD to a folder that can be written to\n"
    )


def test_builds_where_it_is_told_to(checkout: Path, tmp_path: Path, library: str) -> None:
    run = launch(checkout, "loader", library, cwd=tmp_path, CLHARNESS_BUILD="somewhere")

    assert run.returncode == 0, run.stderr
    assert (tmp_path / "somewhere" / "stub").exists()
    assert run.stdout.endswith(f"{tmp_path}/somewhere\n"), "the command line may run elsewhere"
    assert not (checkout / "build").exists()


def test_a_python_that_will_not_do_is_refused(checkout: Path, tmp_path: Path, library: str) -> None:
    without_modules = tmp_path / "python"
    without_modules.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "$@"\n')
    without_modules.chmod(0o755)

    run = launch(checkout, "loader", library, CLHARNESS_PYTHON=str(without_modules))

    assert run.returncode == 3
    assert run.stderr.startswith(f"clharness: CLHARNESS_PYTHON ({without_modules}) must be Python 3.11")


def test_the_launcher_can_be_executed() -> None:
    assert os.access(ROOT / "clharness", os.X_OK)


@pytest.fixture
def checkout_with_tests(checkout: Path) -> Path:
    """A checkout whose own tests are one program for ctest and one file for pytest; both pass."""
    with (checkout / "CMakeLists.txt").open("a") as file:
        file.write("enable_testing()\nadd_test(NAME program COMMAND stub)\n")
    (checkout / "tests").mkdir()
    (checkout / "tests" / "test_one.py").write_text("def test_one(): pass\n\n\ndef test_two(): pass\n")
    return checkout


def test_own_tests_end_with_pytests_summary(checkout_with_tests: Path) -> None:
    run = launch(checkout_with_tests, "test", "--no-install")

    assert run.returncode == 0, run.stdout + run.stderr
    assert "1/1 Test #1: program" in run.stdout
    assert "2 passed" in run.stdout.splitlines()[-1]


@pytest.mark.parametrize(
    ("file", "text"),
    [("stub.c", "int main(void) { return 1; }\n"), ("tests/test_one.py", "def test_one(): assert False\n")],
    ids=["ctest", "pytest"],
)
def test_own_tests_fail_where_either_runner_does(checkout_with_tests: Path, file: str, text: str) -> None:
    (checkout_with_tests / file).write_text(text)

    run = launch(checkout_with_tests, "test", "--no-install")

    assert run.returncode == 1, run.stdout + run.stderr
    assert "tests passed" in run.stdout and "====" in run.stdout.splitlines()[-1], "both runners ran"


def test_arguments_choose_among_the_python_tests(checkout_with_tests: Path) -> None:
    run = launch(checkout_with_tests, "test", "--no-install", "-k", "two", "-q")

    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.splitlines()[-1].startswith("1 passed, 1 deselected")
    assert "program" not in run.stdout
