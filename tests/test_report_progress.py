# SPDX-License-Identifier: Apache-2.0
"""The line of progress on a real terminal: it stays one line, and nothing of it is left."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.cells import cell_len

ROOT = Path(__file__).resolve().parents[1]
LONG = "12 of 345 faults caught, 67 of 890 checks proven, 20 survived, 30 noticed by an error of the harness, 4 lost"
WIDE = "[1/9] 0 unexpected  suites/discovery/test_x.py::test_name[" + "\u754c" * 60 + "]"


def run_at_terminal(columns: int, code: str, **environment: str) -> str:
    """What Python code writes to a terminal of so many columns."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    kept = {name: value for name, value in os.environ.items() if name not in ("CI", "COLUMNS", "NO_COLOR", "TERM")}
    process = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=its, env=kept | environment)
    os.close(its)
    written = b"".join(chunks(ours))
    assert process.wait(timeout=60) == 0
    return written.decode()


def chunks(descriptor: int) -> Iterator[bytes]:
    with os.fdopen(descriptor, "rb", buffering=0) as ours:
        try:
            while chunk := ours.read(4096):
                yield chunk
        except OSError:  # what a terminal without a process answers
            return


def screens(written: str, columns: int) -> Iterator[list[str]]:
    """The lines that the terminal shows after each piece of text or escape; a line that is too long is wrapped."""
    lines = [""]
    for piece in re.findall(r"\r\n|\r|\x1b\[K|\x1b\[\d*m|[^\r\x1b]+", written):
        if piece == "\r\n":
            lines.append("")
        elif piece == "\r":
            erased = True  # what follows is \x1b[K: see the assertion
        elif piece == "\x1b[K":
            assert erased
            lines[-1] = ""
        elif not piece.startswith("\x1b"):
            erased = False
            for character in piece:
                if cell_len(lines[-1] + character) > columns:
                    lines.append("")
                lines[-1] += character
        yield list(lines)


PROGRESS = """
import itertools, sys
from harness.report.terminal import Terminal
terminal = Terminal(sys.stdout, clock=itertools.count(1000).__next__)
for number in range(3):
    terminal.progress(f"{{number}} {text}")
terminal.line("a line above")
terminal.progress({text!r})
terminal.end_progress()
print("the end")
"""


@pytest.mark.parametrize("columns", [30, 60, 80, 120])
@pytest.mark.parametrize("text", [LONG, WIDE], ids=["long", "wide"])
def test_progress_is_one_line_that_leaves_nothing_behind(columns: int, text: str) -> None:
    written = run_at_terminal(columns, PROGRESS.format(text=text))
    shown = list(screens(written, columns))
    assert shown[-1] == ["a line above", "the end", ""]
    assert any(lines[0].startswith("0 ") for lines in shown), "no progress was shown"
    assert max(map(len, shown)) == 3


def test_progress_of_the_self_test_is_one_line() -> None:
    code = f"""
import harness.selftest.run
from harness.cli.main import main
from harness.report import terminal
def run_matrix(_suites, _folder, _subject, _faults, _jobs, tick, *_):
    tick({LONG!r})
    raise KeyboardInterrupt
terminal._REDRAW = 0
harness.selftest.run.run_matrix = run_matrix
assert main(["selftest", "--sample", "1"]) == 130
"""
    shown = list(screens(run_at_terminal(60, code), 60))
    seed = shown[0][0]
    assert [seed, LONG[:59]] in shown
    assert shown[-1] == [seed, ""]


def test_a_terminal_that_was_made_narrower_is_noticed() -> None:
    code = """
import fcntl, itertools, struct, sys, termios
from harness.report.terminal import Terminal
terminal = Terminal(sys.stdout, clock=itertools.count(1000).__next__)
fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
terminal.progress("x" * 500)
"""
    assert list(screens(run_at_terminal(120, code), 60))[-1] == ["x" * 59]


def test_columns_counts_for_more_than_the_terminal() -> None:
    written = run_at_terminal(120, PROGRESS.format(text=LONG), COLUMNS="50")
    assert max(len(lines[0]) for lines in screens(written, 120)) == 49
