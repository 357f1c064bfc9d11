"""The command line: how a run is started, what is said when it cannot be, and how an interrupt ends it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO

import pytest

import harness.cli
from harness.cli import loader as loader_command
from harness.cli.main import main

ROOT = Path(__file__).resolve().parents[1]

# Stands in for harness.run.plugin: the same options, and a verdict for each test.
PLUGIN = """\
import os, sys
from pathlib import Path
import pytest
from harness.expectations import Expectations
from harness.report import CaseResult, Header, Reporter, channel, judge
from harness.report.terminal import color_option

REPORTER = None

def pytest_addoption(parser):
    for name in ("--loader", "--expect", "--time-limit", "--clharness-json", "--clharness-junit"):
        parser.addoption(name)
    for name in ("--clharness-strict", "--update-expectations", "--keep"):
        parser.addoption(name, action="store_true")

def pytest_sessionstart(session):
    global REPORTER
    option = session.config.option
    if option.loader and "unusable" in option.loader:
        raise pytest.UsageError("unusable loader\\x1b:\\nbuild it first")
    if hasattr(session.config, "workerinput"):
        return
    json = Path(option.clharness_json) if option.clharness_json else None
    junit = Path(option.clharness_junit) if option.clharness_junit else None
    REPORTER = Reporter(channel.open_terminal(), json, junit, color=color_option(option.color))
    REPORTER.start(Header(loader={"path": option.loader, "name": "Stub", "version": "1"},
                          arguments=channel.command_line()))

def pytest_runtest_logreport(report):
    if REPORTER and report.when == "call":
        verdict = "pass" if report.passed else "fail"
        REPORTER.case(judge(CaseResult(report.nodeid, ("DISC-LNX-013",), verdict), Expectations(), False))

def pytest_keyboard_interrupt():
    REPORTER.interrupted = True

def pytest_sessionfinish(session):
    if REPORTER and "broken" not in os.environ:
        session.exitstatus = REPORTER.finish(getattr(REPORTER, "interrupted", False))
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with one suite, driven by the stub of the plugin."""
    top = tmp_path / "root"
    (top / "suites" / "discovery").mkdir(parents=True)
    (top / "pytest.ini").write_text("[pytest]\n")
    (top / "stub_plugin.py").write_text(PLUGIN)
    suite = "def test_good(): pass\ndef test_bad(): assert 0\n"
    (top / "suites" / "discovery" / "test_some.py").write_text(suite)
    monkeypatch.setattr(loader_command, "_ROOT", top)
    monkeypatch.setattr(loader_command, "_PLUGIN", "stub_plugin")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.chdir(tmp_path)
    return top


@pytest.fixture
def library(tmp_path: Path) -> Path:
    path = tmp_path / "libOpenCL.so.1"
    path.write_bytes(b"\x7fELF" + bytes(60))
    return path


def test_a_run_reports_and_gives_the_exit_code(root: Path, library: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["loader", library.name, "-j", "1", "--json", "run.jsonl", "--junit", "run.xml"]) == 1
    said = capfd.readouterr()
    assert said.out.splitlines()[-1] == "Stub 1: not as expected, 1 of 2 cases unexpected."
    assert said.err == ""
    records = [json.loads(line) for line in Path("run.jsonl").read_text().splitlines()]
    assert records[0]["loader"]["path"] == str(library)  # absolute, though given relative to here
    assert records[0]["arguments"][0] == "clharness"
    assert [r["record"] for r in records] == ["header", "case", "case", "footer"]
    assert "<testsuites" in Path("run.xml").read_text()
    assert not (root / ".pytest_cache").exists()


def test_a_selection(root: Path, library: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["loader", str(library), "-j", "1", "-k", "good"]) == 0
    assert capfd.readouterr().out.splitlines()[-1] == "Stub 1: as expected, 1 case."


def test_several_processes(root: Path, library: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("xdist")
    assert main(["loader", str(library), "-j", "2"]) == 1
    assert "1 of 2 cases unexpected" in capfd.readouterr().out


def test_a_selection_that_matches_nothing(root: Path, library: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["loader", str(library), "-j", "1", "-k", "nothing"]) == 4
    assert capfd.readouterr().out.splitlines()[-1].startswith("Stub 1: nothing ran.")


def test_nothing_ran_without_a_report(
    root: Path, library: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("broken", "1")
    assert main(["loader", str(library), "-j", "1", "-k", "nothing"]) == 4
    assert capfd.readouterr().err == "clharness: nothing ran: no check matches the selection\n"


def test_a_run_that_breaks_shows_why(
    root: Path, library: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("broken", "1")
    (root / "suites" / "discovery" / "test_some.py").write_text("import nowhere\n")
    assert main(["loader", str(library), "-j", "1"]) == 3
    said = capfd.readouterr().err
    assert said.startswith("clharness: the run ended with status 2 before it could report:\n")
    assert "No module named 'nowhere'" in said


def test_what_pytest_refuses_is_wrong_usage(root: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "unusable.so"
    path.write_bytes(b"\x7fELF")
    assert main(["loader", str(path), "-j", "1"]) == 2
    assert capfd.readouterr().err == "clharness: unusable loader\\x1b:\nbuild it first\n"


def test_the_options_reach_the_plugin(root: Path, library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("x.toml").write_text("")
    seen: list[list[str]] = []

    def run_pytest(command: list[str], _output: object) -> tuple[int, int]:
        seen.append(command)
        return 0, 0

    monkeypatch.setattr(loader_command, "_run_pytest", run_pytest)
    options = ["--strict", "--keep", "--update-expectations", "--time-limit", "2.5", "--expect", "x.toml"]
    assert main(["loader", str(library), "-k", "a or b", "-j", "3", "--color", "always", *options]) == 0
    (command,) = seen
    for option in ("--clharness-strict", "--keep", "--update-expectations", "--time-limit=2.5", "--color=yes"):
        assert option in command
    assert f"--expect={Path('x.toml').absolute()}" in command
    assert command[command.index("-k") + 1] == "a or b"
    assert command[command.index("-n") + 1] == "3"
    assert main(["loader"]) == 0
    assert not any(argument.startswith(("--loader", "--clharness", "--expect")) for argument in seen[1])


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
    said = capfd.readouterr()
    assert said.err.startswith(f"clharness: {says}")
    assert said.err.count("\n") == 1
    assert said.out == ""


@pytest.mark.parametrize("arguments", [["-j", "0"], ["-j", "x"], ["--time-limit", "0"], ["--time-limit", "nan"]])
def test_wrong_numbers(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["loader", *arguments])
    assert caught.value.code == 2
    assert f"argument {arguments[0]}: '{arguments[1]}' is no " in capsys.readouterr().err


def test_a_new_expectation_file_may_be_named(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader_command, "_run_pytest", lambda _command, _: (0, 0))
    assert main(["loader", "--expect", "new.toml", "--update-expectations"]) == 0


def test_a_checkout_without_suites(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (root / "suites" / "discovery" / "test_some.py").unlink()
    assert main(["loader"]) == 3
    assert "there are no suites in" in capfd.readouterr().err


SLOW = """\
import time
from pathlib import Path
def test_first(): pass
def test_slow():
    Path("started").touch()
    time.sleep(60)
"""


@pytest.mark.parametrize(("number", "jobs"), [(signal.SIGINT, "1"), (signal.SIGINT, "2"), (signal.SIGTERM, "1")])
def test_an_interrupt_keeps_the_results_so_far(
    root: Path, library: Path, tmp_path: Path, number: signal.Signals, jobs: str
) -> None:
    (root / "suites" / "discovery" / "test_some.py").write_text(SLOW)
    script = (
        "import sys; from pathlib import Path; from harness.cli import loader, main as m;"
        f"loader._ROOT = Path({str(root)!r}); loader._PLUGIN = 'stub_plugin'; sys.exit(m.main(sys.argv[1:]))"
    )
    run = subprocess.Popen(
        [sys.executable, "-c", script, "loader", str(library), "-j", jobs, "--json", "run.jsonl"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=dict(os.environ) | {"PYTHONPATH": str(ROOT)},
    )
    deadline = time.monotonic() + 30
    records = tmp_path / "run.jsonl"
    while not ((root / "started").exists() and records.exists() and "test_first" in records.read_text()):
        assert run.poll() is None, run.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    run.send_signal(number)
    out, err = run.communicate(timeout=30)
    assert run.returncode == 130, (out, err)
    assert out.splitlines()[-1].startswith("Stub 1: interrupted after 1 case")
    footer = json.loads(records.read_text().splitlines()[-1])
    assert (footer["record"], footer["complete"]) == ("footer", False)


def command(*arguments: str, stdout: IO[str]) -> subprocess.CompletedProcess[str]:
    whole = [sys.executable, "-m", "harness.cli", *arguments]
    return subprocess.run(whole, cwd=ROOT, text=True, check=False, stdout=stdout, stderr=subprocess.PIPE)


def test_output_to_a_full_disk_is_one_sentence() -> None:
    with open("/dev/full", "w") as full:
        done = command("requirements", stdout=full)
    assert (done.returncode, done.stderr) == (3, "clharness: No space left on device\n")


def test_output_to_a_reader_that_leaves_is_no_trouble() -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as pipe:
        done = command("requirements", "--json", stdout=pipe)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", ["loader", "explain", "requirements"])
def test_every_subcommand_has_help_with_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main([name, "--help"])
    assert caught.value.code == 0
    said = capsys.readouterr().out
    assert f"example:\n  clharness {name} " in said


def test_help_lists_the_subcommands(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--help"])
    assert caught.value.code == 0
    said = capsys.readouterr().out
    for part in ("explain", "loader", "requirements", "exit codes:", "example:"):
        assert part in said
    assert "__main__" not in said


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
    with pytest.raises(SystemExit) as caught:
        main(["loadre"])
    assert caught.value.code == 2
    assert "invalid choice: 'loadre'" in capsys.readouterr().err
