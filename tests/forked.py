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
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness import derived
from harness.build import ROOT, build

# Reads a line for each program: where to run, what, with what; forks, and says how the child ended.
SERVER = """
import atexit, importlib, json, os, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
for line in sys.stdin:
    order = json.loads(line)
    child = os.fork()
    if child == 0:
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
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


Done = subprocess.CompletedProcess[str]


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
        assert self._process.stdin and self._process.stdout
        with tempfile.TemporaryDirectory() as place:
            output, errors = Path(place, "output"), Path(place, "output" if together else "errors")
            order = {"program": program, "arguments": arguments, "folder": str(folder), "environment": environment}
            self._process.stdin.write(json.dumps(order | {"output": str(output), "errors": str(errors)}) + "\n")
            self._process.stdin.flush()
            if not select.select([self._process.stdout], [], [], limit)[0]:
                self._process.kill()
                raise TimeoutError(f"no end after {limit} s: {output.read_text() if output.exists() else ''}")
            code = int(self._process.stdout.readline())
            return subprocess.CompletedProcess(list(arguments), code, output.read_text(), errors.read_text())

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
    """A folder for $CLHARNESS_OUTPUT that has what is derived from the sources, as that of this build has it."""
    link = output / derived.FOLDER
    if not link.is_symlink():
        link.symlink_to(build().folder / derived.FOLDER)
    return output


def clharness(*arguments: object, folder: Path = ROOT, limit: float = 300, **variables: str) -> Done:
    """A run of the command, with more variables."""
    environment = os.environ | variables
    return of_command().run(_COMMAND, list(map(str, arguments)), folder, environment, limit=limit)
