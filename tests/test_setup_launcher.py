# SPDX-License-Identifier: Apache-2.0
"""The command's set-up, on a checkout of its own with a small CMake project in the place of the real one."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

ROOT = Path(__file__).parents[1]

CMAKE = """\
cmake_minimum_required(VERSION 3.16)
# The compiler is not tried out, which takes longer than all the rest.
set(CMAKE_C_COMPILER_FORCED ON)
set(CMAKE_C_COMPILER_ID_RUN ON)
project(stub C)
file(WRITE ${CMAKE_BINARY_DIR}/clharness.json "{}")
add_executable(stub stub.c)
add_custom_command(OUTPUT table.c
  COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_SOURCE_DIR}/table.toml table.c DEPENDS table.toml)
add_custom_target(table ALL DEPENDS table.c)
"""

# The command line: says that it runs, then does what a test wants of it.
MAIN = """\
import os, sys
print("ran", sys.argv[1:], os.environ["CLHARNESS_BUILD"], flush=True)
exec(os.environ.get("STUB", ""))
"""
COMMANDS = ("__init__", "compare", "loader", "report", "requirements")
HOLD = "sys.stdin.read()"  # runs until its input is closed


@pytest.fixture
def checkout(tmp_path: Path) -> Iterator[Path]:
    """A checkout that holds the launcher and its set-up; the rest is a stub that builds in no time."""
    root = tmp_path / "check out"  # with a space
    shutil.copytree(ROOT / "harness" / "setup", root / "harness" / "setup")
    shutil.copy(ROOT / "clharness", root)
    shutil.copy(ROOT / "pyproject.toml", root)
    shutil.copy(ROOT / "harness" / "build_lock.py", root / "harness")
    command_line = root / "harness" / "cli"
    command_line.mkdir()
    for name, text in (dict.fromkeys(COMMANDS, "") | {"__main__": MAIN}).items():
        (command_line / f"{name}.py").write_text(text)
    (root / "CMakeLists.txt").write_text(CMAKE)
    (root / "stub.c").write_text("int main(void) { return 0; }\n")
    (root / "table.toml").write_text("answer = 1\n")
    yield root
    root.chmod(0o755)


BASE = {"PATH": "/usr/local/bin:/usr/bin:/bin", "CLHARNESS_PYTHON": sys.executable}


def launch(
    checkout: Path,
    *arguments: str,
    cwd: Path | None = None,
    command: Path | None = None,
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    """Runs the launcher in an otherwise empty environment, with the Python that runs this test."""
    return subprocess.run(
        [command or checkout / "clharness", *arguments],
        cwd=cwd or checkout,
        env=BASE | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )


@contextlib.contextmanager
def started(checkout: Path, *arguments: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """The launcher while it runs; with STUB=HOLD until its standard input is closed."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [checkout / "clharness", *arguments],
        cwd=checkout,
        env=BASE | environment,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def output_of(process: subprocess.Popen[str]) -> str:
    """Lets the command go on to its end, and gives what it printed from now on."""
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    return output


def line(stream: IO[str] | None) -> str:
    """The next line that a running command prints."""
    assert stream
    return stream.readline()


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
    tools = "bash dirname head readlink mkdir cat env grep sed tr paste cc gcc make"
    for name in tools.split():
        if path := shutil.which(name):
            (folder / name).symlink_to(path)
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


@pytest.mark.parametrize(("generator", "program"), [("Ninja", "ninja"), ("Unix Makefiles", "make")])
def test_a_changed_table_is_built_again(checkout: Path, library: str, generator: str, program: str) -> None:
    """The build tool knows what is made from what: the launcher has no list of its own."""
    if not shutil.which(program):
        pytest.skip(f"{program} is not installed")
    launch(checkout, "loader", library, CMAKE_GENERATOR=generator)
    (checkout / "table.toml").write_text("answer = 2\n")

    again = launch(checkout, "loader", library, CMAKE_GENERATOR=generator)

    assert again.stderr == "clharness: building what has changed\n"
    assert (checkout / "build" / "table.c").read_text() == "answer = 2\n"


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


def test_a_build_that_a_cache_brought_to_another_folder_is_configured_anew(
    checkout: Path, tmp_path: Path, library: str
) -> None:
    """As between the runners of a service; through a link to its folder it is the same build."""
    first, second, link = (tmp_path / name for name in ("first", "second", "link"))
    launch(checkout, "loader", library, CLHARNESS_BUILD=str(first))
    link.symlink_to(first)
    (checkout / "stub.c").write_text("int main(void) { return 7; }\n")
    again = launch(checkout, "loader", library, CLHARNESS_BUILD=str(link))
    assert (again.returncode, again.stderr) == (0, "clharness: building what has changed\n")

    first.rename(second)
    (checkout / "stub.c").write_text("int main(void) { return 8; }\n")
    moved = launch(checkout, "loader", library, CLHARNESS_BUILD=str(second))
    assert moved.returncode == 0, moved.stderr
    assert "configuring and building" in moved.stderr
    assert subprocess.run([second / "stub"]).returncode == 8


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


@pytest.mark.parametrize(
    "command",
    ["report run.jsonl --html page", "report merge run.jsonl", "compare run.jsonl run.jsonl --markdown notes.md"],
)
def test_records_need_no_build(checkout: Path, command: str, path_without_cmake: str) -> None:
    """A machine that only looks at what another one recorded has no compiler."""
    (checkout / "run.jsonl").write_text('{"record": "header"}\n')
    (checkout / "notes.md").write_text("of the last comparison\n")
    run = launch(checkout, *command.split(), PATH=path_without_cmake)

    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("ran ")
    assert not (checkout / "build").exists()


def test_comparing_a_library_needs_a_build(checkout: Path, library: str, path_without_cmake: str) -> None:
    (checkout / "run.jsonl").write_text('{"record": "header"}\n')
    run = launch(checkout, "compare", "run.jsonl", library, "--no-install", PATH=path_without_cmake)

    assert (run.returncode, "missing: CMake" in run.stderr) == (3, True)


def test_a_folder_that_cannot_be_written_to_is_one_sentence(checkout: Path, library: str) -> None:
    run = launch(checkout, "loader", library, CLHARNESS_BUILD="/proc/build")

    assert run.returncode == 3
    assert run.stderr == (
        "clharness: cannot write to /proc/build: set CLHARNESS_BUILD to a folder that can be written to\n"
    )


def test_builds_in_the_folder_that_is_set(checkout: Path, tmp_path: Path, library: str) -> None:
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


def test_commands_without_work_run_side_by_side(checkout: Path, library: str) -> None:
    launch(checkout, "loader", library)
    with started(checkout, "loader", library, STUB=HOLD) as first:
        assert line(first.stdout).startswith("ran ")

        second = launch(checkout, "loader", library)

        assert (second.returncode, second.stderr) == (0, "")
        assert first.poll() is None, "it ran while the first one did"


def test_a_build_waits_for_the_command_that_uses_it(checkout: Path, library: str) -> None:
    launch(checkout, "loader", library)
    with started(checkout, "loader", library, STUB=HOLD) as running:
        assert line(running.stdout).startswith("ran ")
        (checkout / "table.toml").write_text("answer = 2\n")
        with started(checkout, "loader", library) as builder:
            message = line(builder.stderr)
            assert message.startswith(f"clharness: waiting until no other command uses {checkout}/build: ")
            assert (checkout / "build" / "table.c").read_text() == "answer = 1\n"
            output_of(running)
            assert output_of(builder).startswith("ran ")
    assert (checkout / "build" / "table.c").read_text() == "answer = 2\n"


@contextlib.contextmanager
def locked(build: Path) -> Iterator[IO[str]]:
    """As a command has the folder while it builds."""
    with (build / "setup.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock


def test_a_command_waits_for_one_that_builds(checkout: Path, library: str) -> None:
    launch(checkout, "loader", library)
    with locked(checkout / "build") as lock, started(checkout, "loader", library) as waiting:
        message = f"clharness: waiting for another command, which is building in {checkout}/build\n"
        assert line(waiting.stderr) == message
        fcntl.flock(lock, fcntl.LOCK_UN)
        assert output_of(waiting).startswith("ran ")


def test_a_build_that_waits_says_for_which_processes_and_how_long(checkout: Path, library: str) -> None:
    """Not for others that wait, and not for itself."""
    launch(checkout, "loader", library)
    with started(checkout, "loader", library, STUB=HOLD) as running:
        assert line(running.stdout).startswith("ran ")
        (checkout / "table.toml").write_text("answer = 2\n")
        with contextlib.ExitStack() as stack:
            several = []
            for _ in range(2):  # the second begins when the first waits: while one asks for work, it uses the build
                waiting = stack.enter_context(started(checkout, "loader", library))
                assert line(waiting.stderr).startswith(
                    f"clharness: waiting until no other command uses {checkout}/build: "
                )
                assert line(waiting.stderr).endswith(f"in use by process {running.pid}: {command_line(running)}\n")
                assert "1800 s" in (limit := line(waiting.stderr)), limit
                assert "CLHARNESS_BUILD_WAIT" in limit
                several.append(waiting)
            output_of(running)
            for waiting in several:
                assert output_of(waiting).startswith("ran ")


def command_line(process: subprocess.Popen[str]) -> str:
    words = Path(f"/proc/{process.pid}/cmdline").read_bytes().decode().split("\0")
    return " ".join(words[:-1])


def test_a_child_that_holds_the_build_after_its_command_has_ended_is_named(checkout: Path, library: str) -> None:
    """As a server that a killed fuzzer left behind."""
    launch(checkout, "loader", library)
    leave = "import subprocess; print(subprocess.Popen(['cat'], close_fds=False).pid, flush=True); os._exit(0)"
    with started(checkout, "loader", library, STUB=leave) as parent:
        assert line(parent.stdout).startswith("ran ")
        child = line(parent.stdout).strip()
        parent.wait(timeout=60)
        (checkout / "table.toml").write_text("answer = 2\n")

        run = launch(checkout, "loader", library, CLHARNESS_BUILD_WAIT="0")

        assert f"in use by process {child}: cat\n" in run.stderr


@pytest.mark.parametrize("seconds", ["0", "1"])
def test_a_build_does_not_wait_longer_than_its_limit(seconds: str, checkout: Path, library: str) -> None:
    launch(checkout, "loader", library)
    with started(checkout, "loader", library, STUB=HOLD) as running:
        assert line(running.stdout).startswith("ran ")
        (checkout / "table.toml").write_text("answer = 2\n")

        run = launch(checkout, "loader", library, CLHARNESS_BUILD_WAIT=seconds)

        assert (run.returncode, run.stdout) == (3, "")
        assert run.stderr.splitlines()[-1] == (
            f"clharness: {checkout}/build was in use for {seconds} s (CLHARNESS_BUILD_WAIT): "
            "end the processes above, or name another folder with CLHARNESS_BUILD"
        )
        assert str(running.pid) in run.stderr
        assert running.poll() is None
    assert (checkout / "build" / "table.c").read_text() == "answer = 1\n"


def test_a_command_does_not_wait_longer_than_its_limit_for_one_that_builds(checkout: Path, library: str) -> None:
    launch(checkout, "loader", library)
    with locked(checkout / "build"):
        run = launch(checkout, "loader", library, CLHARNESS_BUILD_WAIT="1")

    assert run.returncode == 3
    assert f"in use by process {os.getpid()}: " in run.stderr
    assert "was in use for 1 s" in run.stderr


@pytest.mark.parametrize("seconds", ["", "-1", "soon", "1.5", "99999999999999999999"])
def test_limit_of_waiting_that_is_not_a_number_is_wrong_usage(seconds: str, checkout: Path, library: str) -> None:
    """But for an empty one, which is none; also where nothing has to wait."""
    run = launch(checkout, "loader", library, CLHARNESS_BUILD_WAIT=seconds)

    if not seconds:
        assert run.returncode == 0, run.stderr
        return
    assert run.returncode == 2
    assert (
        run.stderr == f"clharness: CLHARNESS_BUILD_WAIT is '{seconds}'; it must be a number of seconds, 0 to 1000000\n"
    )


def test_a_command_that_was_started_by_another_finds_its_build_as_it_is(checkout: Path, library: str) -> None:
    """Else it would wait for the command that waits for it."""
    launch(checkout, "loader", library)
    inner = f"import subprocess; subprocess.run([{str(checkout / 'clharness')!r}, 'loader', {library!r}], check=True)"
    change = f"open({str(checkout / 'table.toml')!r}, 'w').write('answer = 2'); os.environ.pop('STUB'); "

    run = launch(checkout, "loader", library, STUB=change + inner)

    assert run.stdout.count("ran ") == 2, run.stderr
    assert (checkout / "build" / "table.c").read_text() == "answer = 1\n"


def python(code: str, environment: dict[str, str]) -> subprocess.Popen[str]:
    """Our own package under the Python of this test, as plain pytest has it."""
    return subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=BASE | environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_plain_pytest_waits_for_a_command_that_builds(tmp_path: Path) -> None:
    """It goes on once the build has ended: here to the error that nothing was built."""
    code = "from harness.build import build; build()"
    with locked(tmp_path) as lock, python(code, {"CLHARNESS_BUILD": str(tmp_path)}) as run:
        assert line(run.stderr) == f"clharness: waiting for a command that is building in {tmp_path}\n"
        fcntl.flock(lock, fcntl.LOCK_UN)
        assert "nothing is built in" in run.communicate(timeout=60)[1]


def test_plain_pytest_does_not_wait_longer_than_its_limit(tmp_path: Path) -> None:
    code = "from harness.build import build; build()"
    variables = {"CLHARNESS_BUILD": str(tmp_path), "CLHARNESS_BUILD_WAIT": "1"}
    with locked(tmp_path), python(code, variables) as run:
        errors = run.communicate(timeout=60)[1]
    assert f"clharness: in use by process {os.getpid()}: " in errors
    assert f"HarnessError: {tmp_path} was in use for 1 s (CLHARNESS_BUILD_WAIT): " in errors


def test_a_command_that_plain_pytest_started_finds_the_build_as_it_is(checkout: Path, library: str) -> None:
    """Also where the sources have changed since: else it would wait for the test that waits for it."""
    launch(checkout, "loader", library)
    (checkout / "table.toml").write_text("answer = 2\n")
    uses = "import contextlib, subprocess, harness.build\nwith contextlib.suppress(Exception): harness.build.build()\n"
    inner = f"subprocess.run([{str(checkout / 'clharness')!r}, 'loader', {library!r}], check=True, timeout=60)"
    with python(uses + inner, {"CLHARNESS_BUILD": str(checkout / "build")}) as run:
        output, errors = run.communicate(timeout=90)
    assert output.startswith("ran "), errors
    assert (checkout / "build" / "table.c").read_text() == "answer = 1\n"


def test_nothing_is_built_under_plain_pytest(checkout: Path, library: str) -> None:
    launch(checkout, "loader", library)
    (checkout / "table.toml").write_text("answer = 2\n")
    uses = "import sys, contextlib, harness.build\nwith contextlib.suppress(Exception): harness.build.build()\n"
    holds = "print('uses', flush=True); sys.stdin.read()"
    with python(uses + holds, {"CLHARNESS_BUILD": str(checkout / "build")}) as run:
        assert line(run.stdout) == "uses\n"
        with started(checkout, "loader", library) as builder:
            assert line(builder.stderr).startswith("clharness: waiting until no other command uses ")
            run.communicate(timeout=60)
            assert output_of(builder).startswith("ran ")
    assert (checkout / "build" / "table.c").read_text() == "answer = 2\n"


@pytest.fixture
def turkish(tmp_path: Path) -> dict[str, str]:
    """A locale in which files have another order; made here, because few machines have it."""
    if not shutil.which("localedef") or not Path("/usr/share/i18n/locales/tr_TR").exists():
        pytest.skip("localedef and its sources are not installed (Debian: locales)")
    folder = tmp_path / "locales"
    folder.mkdir()
    subprocess.run(["localedef", "-i", "tr_TR", "-f", "UTF-8", folder / "tr_TR.UTF-8"], check=True, capture_output=True)
    return {"LOCPATH": str(folder), "LC_ALL": "tr_TR.UTF-8"}


def test_a_locale_changes_nothing_of_the_build(
    checkout: Path, tmp_path: Path, library: str, turkish: dict[str, str]
) -> None:
    headers = tmp_path / "headers" / "CL"
    headers.mkdir(parents=True)
    names = ["cl.h", "cl_icd.h", "cl_ext.h", "clI.h", "clh.h"]
    for name in names:
        (headers / name).touch()
    orders = [
        subprocess.run(["bash", "-c", "echo *"], cwd=headers, env=BASE | locale, capture_output=True).stdout
        for locale in ({}, turkish)
    ]
    assert orders[0] != orders[1], "the locale would not be noticed"

    first = launch(checkout, "loader", library, CLHARNESS_OPENCL_HEADERS=str(headers.parent))
    environment = turkish | {"CLHARNESS_OPENCL_HEADERS": str(headers.parent)}
    with started(checkout, "loader", library, **environment) as again:
        _, errors = again.communicate(timeout=120)

    assert (first.returncode, again.returncode, errors) == (0, 0, "")


def test_pythonpath_of_the_user_survives(checkout: Path, tmp_path: Path, library: str) -> None:
    """Its folders come after ours, and are those that the user meant when a program of ours runs elsewhere."""
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "users_own.py").write_text("print('found')\n")
    program = "[sys.executable, '-c', 'import users_own']"
    elsewhere = f"import subprocess; subprocess.run({program}, cwd='/', check=True)"

    run = launch(checkout, "loader", library, cwd=tmp_path, PYTHONPATH="modules:/absent", STUB=elsewhere)

    assert run.stdout.endswith("found\n"), run.stderr


@pytest.mark.parametrize("setting", ["PYTHONINSPECT=1", "PYTHONHOME=/missing", "PYTHONPLATLIBDIR=missing"])
def test_settings_of_other_pythons_do_not_reach_ours(checkout: Path, library: str, setting: str) -> None:
    name, _, value = setting.partition("=")
    run = launch(checkout, "loader", library, cwd=None, command=None, **{"CLHARNESS_PYTHON": "", name: value})
    assert run.returncode == 0 and run.stdout.startswith("ran "), run.stderr


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


def test_part_of_another_project_is_left_as_it_is(checkout: Path) -> None:
    """A folder that the build of an including project made: to configure there would replace what it is."""
    folder = checkout / "build"
    folder.mkdir()
    (folder / "clharness.json").write_text("{}")

    done = launch(checkout, "loader")

    assert done.returncode == 0 and "ran ['loader']" in done.stdout, done.stderr
    assert not (folder / "CMakeCache.txt").exists()
