# SPDX-License-Identifier: Apache-2.0
"""The command line: how a run is started, and what is said when it cannot be."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

import harness.cli
from harness.build import build
from harness.cli import loader as loader_command
from harness.cli.main import main
from harness.run import command
from harness.run.plan import Plan
from tests.small_runs import QUIET, SmallRun, read

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with one suite, which never comes to run."""
    top = tmp_path / "root"
    (top / "suites" / "discovery").mkdir(parents=True)
    (top / "suites" / "discovery" / "test_some.py").write_text("def test_good(): pass\n")
    monkeypatch.setattr(loader_command, "_ROOT", top)
    monkeypatch.chdir(tmp_path)
    return top


RED = """
@requirement("DISC-LNX-013")
def test_turned_round(loader):
    \"\"\"It answers.\"\"\"
    assert not loader
"""


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_run_reports_and_gives_the_exit_code(small: SmallRun, jobs: str) -> None:
    small.suite(RED, QUIET)
    done = small.run("-j", jobs)
    assert done.code == 1, done.output
    assert done.output.splitlines()[-1] == f"{small.library}: not as expected, 1 of 7 cases unexpected."
    assert done.records[0]["subject"]["facts"]["path"] == str(small.library)
    assert done.records[0]["arguments"][:2] == ["clharness", "loader"]
    assert [r["record"] for r in done.records] == ["header", *["case"] * 7, "footer"]
    assert sorted(case["number"] for case in done.cases.values()) == list(range(7))
    assert "<testsuites" in small.junit.read_text()
    assert not (small.root / ".pytest_cache").exists()


def test_a_selection(small: SmallRun) -> None:
    small.suite(RED, QUIET)
    done = small.run("-k", "quiet and 3")
    assert done.code == 0, done.output
    assert list(done.cases) == ["test_quiet[3]"]


def test_paths_are_those_of_the_current_folder(small: SmallRun) -> None:
    small.suite(QUIET)
    small.library = Path(os.path.relpath(small.library, small.scratch))
    small.records = Path("run.jsonl")
    process = small.start("-j", "1", "-k", "quiet and 3", cwd=small.scratch)
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert read(small.scratch / "run.jsonl")[-1]["recorded"] == 1


def test_a_selection_that_matches_nothing(small: SmallRun) -> None:
    small.suite(QUIET)
    done = small.run("-k", "nothing")
    assert (done.code, done.output) == (4, "clharness: nothing ran: no check matches the selection\n")


def test_a_run_that_breaks_shows_why(small: SmallRun) -> None:
    small.suite("import nowhere\n")
    done = small.run()
    assert done.code == 3
    assert done.output.startswith("clharness: the run ended with status 2 before it could report:\n")
    assert "No module named 'nowhere'" in done.output


def test_a_run_that_breaks_off_shows_why(small: SmallRun) -> None:
    small.suite(QUIET, 'import sys\nsys.modules["harness.run.loop"].CaseResult = None\n')
    done = small.run()
    assert done.code == 3
    assert "clharness: the run broke off:\n" in done.output
    assert done.records[-1]["exit"] == 3
    assert "'NoneType' object has no attribute 'from_json'" in done.output


def test_what_pytest_refuses_is_wrong_usage(small: SmallRun) -> None:
    small.suite(QUIET)
    small.library = small.scratch / "un\x1busable.so"
    small.library.write_bytes(b"\x7fELF")
    done = small.run()
    assert done.code == 2
    assert done.output.startswith("clharness: ") and "un\\x1busable.so" in done.output and "\x1b" not in done.output


@pytest.mark.parametrize("name", ["PYTEST_ADDOPTS", "PYTEST_PLUGINS"])
def test_settings_of_other_runs_of_pytest_are_of_no_effect(small: SmallRun, name: str) -> None:
    small.suite(QUIET)
    small.environment |= {name: "--nowhere"}
    assert small.run("-k", "quiet and 3").code == 0


def test_the_options_reach_the_plugin(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("x.toml").write_text("")
    library = build().reference_loader
    seen: list[tuple[list[str], int]] = []

    def run(_root: Path, arguments: list[str], jobs: int, _plan: Plan) -> int:
        seen.append((arguments, jobs))
        return 0

    monkeypatch.setattr(command, "run", run)
    options = ["--strict", "--keep", "--update-expectations", "--time-limit", "2.5", "--expect", "x.toml"]
    assert main(["loader", str(library), "-k", "a or b", "-j", "3", "--color", "always", *options]) == 0
    ((arguments, jobs),) = seen
    for option in ("--clharness-strict", "--keep", "--update-expectations", "--time-limit=2.5", "--color=yes"):
        assert option in arguments
    assert f"--expect={Path('x.toml').absolute()}" in arguments
    assert arguments[arguments.index("-k") + 1] == "a or b"
    assert jobs == 3
    monkeypatch.setattr(loader_command, "system_loader", lambda: library)
    assert main(["loader"]) == 0
    assert not any(argument.startswith(("--loader", "--clharness", "--expect")) for argument in seen[1][0])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["/nope.so"], "/nope.so: no such file or directory; give the path of a loader"),
        (["."], ".: is a folder; give the path of a loader"),
        (["text"], "text: not a shared library; give the path of a loader"),
        (["--json", "none/x"], "--json none/x: there is no folder none; make it first"),
        (["--json", "."], "--json .: is a folder; name a file in it"),
        (["--json", "-"], "--json -: the report is printed there; name a file"),
        (["--junit", "none/x"], "--junit none/x: there is no folder none"),
        (["--expect", "none.toml"], "--expect none.toml: no such file"),
    ],
)
def test_wrong_paths_are_one_sentence(
    root: Path, capfd: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    Path("text").write_text("text")
    assert main(["loader", *arguments]) == 2
    output = capfd.readouterr()
    assert output.err.startswith(f"clharness: {says}")
    assert output.err.count("\n") == 1
    assert output.out == ""


@pytest.mark.parametrize("arguments", [["-j", "0"], ["-j", "x"], ["--time-limit", "0"], ["--time-limit", "nan"]])
def test_wrong_numbers(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["loader", *arguments])
    assert caught.value.code == 2
    assert f"argument {arguments[0]}: '{arguments[1]}' is not a " in capsys.readouterr().err


def test_a_new_expectation_file_may_be_named(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "run", lambda *_: 0)
    assert main(["loader", "--expect", "new.toml", "--update-expectations"]) == 0


def test_a_checkout_without_suites(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (root / "suites" / "discovery" / "test_some.py").unlink()
    assert main(["loader"]) == 3
    assert "there are no suites in" in capfd.readouterr().err


def clharness(*arguments: str, stdout: IO[str]) -> subprocess.CompletedProcess[str]:
    whole = [sys.executable, "-m", "harness.cli", *arguments]
    return subprocess.run(whole, cwd=ROOT, text=True, check=False, stdout=stdout, stderr=subprocess.PIPE)


def test_output_to_a_full_disk_is_one_sentence() -> None:
    with open("/dev/full", "w") as full:
        done = clharness("requirements", stdout=full)
    assert (done.returncode, done.stderr) == (3, "clharness: No space left on device\n")


def test_output_to_a_reader_that_leaves_is_no_trouble() -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as pipe:
        done = clharness("requirements", "--json", stdout=pipe)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", ["loader", "explain", "requirements"])
def test_every_subcommand_has_help_with_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main([name, "--help"])
    assert caught.value.code == 0
    output = capsys.readouterr().out
    assert re.search(rf"example:\n  clharness {name}\s", output)


def test_help_lists_the_subcommands(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--help"])
    assert caught.value.code == 0
    output = capsys.readouterr().out
    for part in ("explain", "loader", "requirements", "exit codes:", "example:"):
        assert part in output
    assert "__main__" not in output


def test_a_module_is_all_that_a_subcommand_needs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "wave_back.py").write_text(
        '"""Wave back."""\nEXAMPLE = "  clharness wave-back you"\n'
        'def add_arguments(parser): parser.add_argument("who")\n'
        'def run(args):\n    print("hello", args.who)\n    return 77\n'
    )
    monkeypatch.setattr(harness.cli, "__path__", [*harness.cli.__path__, str(tmp_path)])
    assert main(["wave-back", "you"]) == 77
    assert capsys.readouterr().out == "hello you\n"


def test_a_wrong_subcommand_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["loadre"]) == 2
    assert capsys.readouterr().err == "clharness: loadre is not a command; did you mean loader?\n"
