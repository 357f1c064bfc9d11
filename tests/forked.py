# SPDX-License-Identifier: Apache-2.0
"""Programs of tests that are all but over once Python has imported what they use: it is imported once, and each runs in
a fork of that process, with arguments, environment, folder and output of its own.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness import derived
from harness.build import ROOT, build

# Reads a line for each program: where to run, what, with what; forks, and says how the child ended, or at once its
# number where it is to run beside what follows. A line may also ask for the end of such a child.
SERVER = """
import atexit, importlib, json, os, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
for line in sys.stdin:
    order = json.loads(line)
    if "end_of" in order:
        child, status = os.waitpid(order["end_of"], os.WNOHANG)
        print(json.dumps(os.waitstatus_to_exitcode(status) if child else None), flush=True)
        continue
    child = os.fork()
    if child == 0:
        if order["group"]:
            os.setpgid(0, 0)
        os.chdir(order["folder"])
        os.environ.clear()
        os.environ.update(order["environment"])
        for descriptor, name in ((0, os.devnull), (1, order["output"]), (2, order["errors"])):
            file = os.open(name, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
            os.dup2(file, descriptor)
            os.close(file)
        sys.stdin = open(0, closefd=False)
        sys.argv[:] = ["-c", *order["arguments"]]
        code = 1
        try:
            exec(compile(order["program"], "<program>", "exec"), {"__name__": "__main__"})
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1 if end.code else 0
        except BaseException:
            sys.excepthook(*sys.exc_info())
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    print(child if order["beside"] else os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


Done = subprocess.CompletedProcess[str]


def _order(
    program: str, arguments: Sequence[str], folder: Path, environment: Mapping[str, str], output: Path, errors: Path
) -> dict[str, object]:
    own = {"program": program, "arguments": arguments, "folder": str(folder), "environment": dict(environment)}
    return own | {"output": str(output), "errors": str(errors), "beside": False, "group": False}


class Started:
    """A program that runs; to be used like subprocess.Popen."""

    def __init__(self, forks: Forks, pid: int, output: Path) -> None:
        self._forks, self.pid, self._output = forks, pid, output
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """The exit code, once it has ended."""
        if self.returncode is None:
            self.returncode = self._forks.ask({"end_of": self.pid})
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float = 120) -> tuple[str, str]:
        """What it wrote until its end, which is waited for."""
        until = time.monotonic() + timeout
        while self.poll() is None:
            if time.monotonic() > until:
                self.kill()
                raise TimeoutError(f"no end after {timeout} s: {self._output.read_text()}")
            select.select([], [], [], 0.01)
        return self._output.read_text(), ""


class Forks:
    """A process that has imported some modules."""

    def __init__(self, *modules: str) -> None:
        command = [sys.executable, "-c", SERVER, *modules]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True)

    def run(
        self,
        program: str,
        arguments: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        together: bool = False,
        limit: float = 120,
    ) -> Done:
        """As `python -c PROGRAM ARGUMENTS` would; what PYTHON… variables say to Python itself is not heeded.

        `together`: errors are written to the output. After `limit` seconds all is over, for whatever comes next, too.
        """
        with tempfile.TemporaryDirectory() as place:
            output, errors = Path(place, "output"), Path(place, "output" if together else "errors")
            order = _order(program, arguments, folder, environment, output, errors)
            if (code := self.ask(order, limit)) is None:
                raise TimeoutError(f"no end after {limit} s: {output.read_text() if output.exists() else ''}")
            return subprocess.CompletedProcess(list(arguments), code, output.read_text(), errors.read_text())

    def start(
        self,
        program: str,
        arguments: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        output: Path,
        group: bool = False,
    ) -> Started:
        """The same beside what follows; all that it writes goes to `output`. `group`: in a group of its own."""
        order = _order(program, arguments, folder, environment, output, output) | {"beside": True, "group": group}
        number = self.ask(order)
        assert number is not None
        return Started(self, number, output)

    def ask(self, order: Mapping[str, object], limit: float = 60) -> int | None:
        """Gives the number that answers an order; after `limit` seconds nothing, and all is over."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        if not select.select([self._process.stdout], [], [], limit)[0]:
            self._process.kill()
            return None
        answer: int | None = json.loads(self._process.stdout.readline())
        return answer

    def close(self) -> None:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


# What `python -m harness.cli` does.
_COMMAND = "import runpy; runpy.run_module('harness.cli', run_name='__main__', alter_sys=True)"


@functools.cache
def of_command() -> Forks:
    """One that has imported what most commands import; the same for all tests of a worker."""
    commands = ("bench", "compare", "fuzz", "icd", "layer", "loader", "mock", "requirements", "selftest")
    server = Forks("harness.cli.main", *(f"harness.cli.{name}" for name in commands), "harness.run.command")
    atexit.register(server.close)
    return server


# What `python -m pytest` does.
_PYTEST = "import sys, pytest; sys.exit(pytest.main(sys.argv[1:]))"


@functools.cache
def of_pytest() -> Forks:
    """One that has imported what a run of pytest with our plugin does, but for the plugin, which pytest imports."""
    server = Forks("pytest", "harness.run.index", "harness.check")
    atexit.register(server.close)
    return server


def pytest_run(
    *arguments: object, folder: Path, environment: Mapping[str, str], limit: float = 120, program: str = _PYTEST
) -> Done:
    """A run of pytest, in one process."""
    return of_pytest().run(program, list(map(str, arguments)), folder, environment, limit=limit)


def with_derived(output: Path) -> Path:
    """A folder for $CLHARNESS_OUTPUT that has what is derived from the sources, and compiled, as that of this build."""
    for name in (derived.FOLDER, "pycache"):
        if not (link := output / name).is_symlink():
            link.symlink_to(build().folder / name)
    return output


def clharness(*arguments: object, folder: Path = ROOT, limit: float = 300, **variables: str) -> Done:
    """A run of the command, with more variables."""
    environment = os.environ | variables
    return of_command().run(_COMMAND, list(map(str, arguments)), folder, environment, limit=limit)
