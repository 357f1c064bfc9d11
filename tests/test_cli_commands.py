# SPDX-License-Identifier: Apache-2.0
"""Subcommands: which modules are one, and that each is found though only the one that is asked for is imported."""

from __future__ import annotations

import contextlib
import fcntl
import importlib
import os
import shlex
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from harness.build import ROOT, build
from harness.cli import explain
from harness.cli.main import _narrow, main
from tests.forked import clharness


@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "harness" / "cli").glob("[a-z]*.py")))
def test_every_subcommand_has_its_own_help(name: str) -> None:
    """A module with `run` is one, and no other; also one with two words."""
    module = importlib.import_module(f"harness.cli.{name}")
    word = name.replace("_", "-")
    ended = clharness(word, "--help", COLUMNS="80")
    if hasattr(module, "run"):
        assert f"usage: clharness {word} " in ended.stdout
        assert "example:" in ended.stdout, "it is not that of the command itself"
        wide = [line for line in ended.stdout.splitlines() if len(line) > 80]
        assert all(line.startswith(("  clharness replay ", "  git ")) for line in wide), wide  # what cannot be cut
    else:
        assert ended.returncode == 2, ended.stdout


@pytest.mark.parametrize(
    ("word", "hint"), [("laoder", "did you mean loader?"), ("bisect", "did you mean"), ("x", "clharness --help lists")]
)
def test_unknown_command_gets_one_sentence(word: str, hint: str) -> None:
    """Without a list of all commands, which is what help is for."""
    ended = clharness(word)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith(f"clharness: {word} is not a command; {hint}")
    assert len(ended.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["loader", "--repeet", "3"], "loader has no option --repeet; did you mean --repeat?"),
        (["icd", "x.so", "--jsn=a.jsonl"], "icd has no option --jsn; did you mean --json?"),
        (["layer", "a.so", "--foo"], "layer has no option --foo; clharness layer --help lists them"),
        (["-k", "fifo", "loader"], "the option -k comes after a command; clharness --help lists the commands"),
        (["loader", "a.so", "b.so"], "loader takes no further argument 'b.so'; see clharness loader --help"),
    ],
)
def test_unknown_argument_gets_one_sentence(arguments: list[str], sentence: str) -> None:
    ended = clharness(*arguments)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == f"clharness: {sentence}\n"


def test_long_example_goes_on_in_the_next_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """A shell reads both lines as the one command; what is quoted stays whole."""
    monkeypatch.setenv("COLUMNS", "80")
    long = "clharness fuzz --all --time 8h --jobs 4 --out night --loader /usr/lib/x86_64-linux-gnu/libOpenCL.so.1"
    quoted = f"clharness mutants --build 'make --silent --jobs 2 -C {'x' * 60}'"
    first, second, third = _narrow(f"  {long}\n  {quoted}\n").splitlines()
    assert first.endswith(" \\") and shlex.split(f"{first[:-1]}{second}") == shlex.split(long)
    assert third == f"  {quoted}"


@pytest.mark.parametrize("command", [["fuzz", "--list"], ["selftest", "--list", "--suite", "layers"]])
def test_list_is_folded_in_a_terminal_and_a_line_each_in_a_pipe(command: list[str]) -> None:
    """Pipes are for grep."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "CI", "NO_COLOR")}
    whole = [sys.executable, "-m", "harness.cli", *command]
    with subprocess.Popen(whole, cwd=ROOT, env=environment | {"TERM": "xterm"}, stdout=theirs) as process:
        os.close(theirs)
        lines = read_all(ours).splitlines()
    assert process.returncode == 0 and len(lines) > 20
    assert [line for line in lines if len(line) > 80] == []
    piped = subprocess.run(whole, cwd=ROOT, env=environment, capture_output=True, text=True).stdout
    assert len(piped.splitlines()) < len(lines)
    assert piped.split() == " ".join(lines).split()


def read_all(descriptor: int) -> str:
    """What is written to a terminal until its last user has closed it."""
    data = b""
    with contextlib.suppress(OSError):
        while chunk := os.read(descriptor, 65536):
            data += chunk
    os.close(descriptor)
    return data.decode()


def test_no_command_gets_one_sentence() -> None:
    ended = subprocess.run([sys.executable, "-m", "harness.cli"], cwd=ROOT, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == "clharness: name a command; clharness --help lists them\n"


COMMAND = [sys.executable, "-m", "harness.cli"]
CLOSED = """
import os, sys
for number in map(int, sys.argv.pop(1).split(",")):
    os.close(number)
os.execv(sys.executable, [sys.executable, "-m", "harness.cli", *sys.argv[1:]])
"""


@pytest.mark.parametrize("closed", ["0", "1", "2", "0,1,2"])
def test_closed_output_changes_no_exit_code(closed: str, tmp_path: Path) -> None:
    """What is opened first must not take its place, either."""
    missing = str(tmp_path / "missing.so")
    for arguments, code in ((["explain", "DISC-LNX-013"], 0), (["loader", missing], 2)):
        command = [sys.executable, "-c", CLOSED, closed, *arguments]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("output", [True, False], ids=["output", "errors"])
def test_reader_who_has_seen_enough_changes_no_exit_code(output: bool) -> None:
    """As `head` has, where a shell asks for the exit codes of all commands of a pipe."""
    reader, writer = os.pipe()
    os.close(reader)
    machine = os.environ | {"OCL_ICD_VENDORS": "/missing", "OPENCL_LAYERS": ""}
    for arguments, code in ((["doctor"], 1), (["explain", "XX-YY-001"], 2)):
        places = (writer, subprocess.DEVNULL) if output else (subprocess.DEVNULL, writer)
        done = subprocess.run([*COMMAND, *arguments], cwd=ROOT, env=machine, stdout=places[0], stderr=places[1])
        assert done.returncode == code
    os.close(writer)


def test_message_that_the_disk_has_no_room_for_changes_no_exit_code(tmp_path: Path) -> None:
    with open("/dev/full", "w") as full:
        command = [*COMMAND, "loader", str(tmp_path / "missing.so")]
        assert subprocess.run(command, cwd=ROOT, stdout=full, stderr=full).returncode == 2


def test_defect_of_the_harness_is_not_taken_for_one_of_a_subject(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It has a traceback, and the exit code of the harness' own trouble: Python's is that of unexpected results."""

    def fails(args: object) -> int:
        raise IndexError(args)

    monkeypatch.setattr(explain, "run", fails)
    assert main(["explain", "DISC-LNX-013"]) == 3
    shown = capsys.readouterr().err
    assert "IndexError" in shown and shown.endswith("a defect of clharness, and says nothing of what was tested\n")


def test_checks_are_run_whole_where_python_leaves_assertions_out() -> None:
    """PYTHONOPTIMIZE, which some have for their own programs, takes docstrings and assertions out of all modules."""
    whole = [sys.executable, "-m", "harness.cli", "loader", str(build().reference_loader), "-k", "fifo"]
    ended = subprocess.run(whole, cwd=ROOT, env=os.environ | {"PYTHONOPTIMIZE": "2"}, capture_output=True, text=True)
    assert ended.returncode == 0 and "as expected" in ended.stdout, ended.stdout + ended.stderr
