# SPDX-License-Identifier: Apache-2.0
"""Runs of a few checks against the loader of tests/killing_loader.c, by the runner of the command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harness.build import ROOT, build
from tests.forked import Started, of_command

HEAD = '''\
"""A suite."""
import os, time
import pytest
from pathlib import Path
from harness.check import CL, requirement

'''
QUIET = '''
@requirement("DISC-LNX-014")
@pytest.mark.parametrize("n", range(6))
def test_quiet(loader, sandbox, n):
    """It answers."""
    with loader.start(sandbox) as cl:
        assert cl.clGetPlatformIDs(0, None, None) == CL.PLATFORM_NOT_FOUND_KHR
'''
HOSTILE = '''
@requirement("DISC-LNX-014")
def test_hostile(loader, sandbox):
    """It answers when it is told to {what}."""
    sandbox.env.update(DO="{what}", IN=str(sandbox.root), WORKER=str(os.getpid()))
    with loader.start(sandbox) as cl:
        assert cl.clGetPlatformIDs(0, None, None) == CL.PLATFORM_NOT_FOUND_KHR
'''
COMMAND = """
import sys
from pathlib import Path
from harness.cli.main import main
from harness.cli import loader
loader._ROOT = Path(sys.argv.pop(1))
sys.exit(main(sys.argv[1:]))
"""


@dataclass
class Outcome:
    """How a run ended, and its records."""

    code: int
    output: str
    records: list[dict[str, Any]]

    @property
    def cases(self) -> dict[str, dict[str, Any]]:
        return {r["case"].rpartition("::")[2]: r for r in self.records if r["record"] == "case"}

    @property
    def footer(self) -> dict[str, Any]:
        return self.records[-1]


class SmallRun:
    """A root with one suite, and what it takes to run it as `clharness loader` does."""

    def __init__(self, folder: Path, library: Path) -> None:
        self.root = folder / "root"
        self.library = library
        self.records = folder / "run.jsonl"
        self.junit = folder / "run.xml"
        self.scratch = folder / "scratch"
        self.scratch.mkdir()
        self._begun = 0
        self.environment = os.environ | {"PYTHONPATH": str(ROOT), "CLHARNESS_SCRATCH": str(self.scratch)}
        (self.root / "suites" / "discovery").mkdir(parents=True)
        (self.root / "pytest.ini").write_text((ROOT / "pytest.ini").read_text())

    def suite(self, *checks: str, name: str = "small") -> None:
        (self.root / "suites" / "discovery" / f"test_{name}.py").write_text(HEAD + "".join(checks))

    def command(self, *options: str) -> list[str]:
        files = ["--json", str(self.records), "--junit", str(self.junit)]
        return [sys.executable, "-c", COMMAND, str(self.root), "loader", str(self.library), *files, *options]

    def begin(self, *options: str, group: bool = False) -> Started:
        """Begins a run, in a fork of a Python that has imported what the command imports."""
        _, _, program, *arguments = self.command(*options)
        self._begun += 1
        output = self.root.with_name(f"output-{self._begun}")
        return of_command().start(program, arguments, Path.cwd(), self.environment, output, group)

    def start(self, *options: str, **popen: Any) -> subprocess.Popen[str]:
        """The same in a Python of its own, for what Popen can do besides."""
        return subprocess.Popen(
            self.command(*options),
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            **popen,
        )

    def end(self, process: subprocess.Popen[str] | Started, limit: float = 120) -> Outcome:
        output, _ = process.communicate(timeout=limit)
        assert process.returncode is not None
        return Outcome(process.returncode, output, read(self.records))

    def run(self, *options: str, limit: float = 120) -> Outcome:
        """The same in a fork of a Python that has imported what the command imports."""
        _, _, program, *arguments = self.command(*options)
        done = of_command().run(program, arguments, Path.cwd(), self.environment, together=True, limit=limit)
        return Outcome(done.returncode, done.stdout, read(self.records))


def kept_folder(small: SmallRun, case: str) -> Path:
    """Where the newest run kept a case: the highest number."""
    (subject,) = (build().folder / "failures").glob(f"{small.library.name}-{zlib.crc32(bytes(small.library)):08x}")
    return max(subject.glob(f"*/{case}"), key=lambda path: int(path.parent.name))


def read(path: Path) -> list[dict[str, Any]]:
    """The records that are whole: a killed run may have begun one more."""
    return [json.loads(line) for line in path.read_text().split("\n")[:-1]] if path.exists() else []


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = Path(__file__).with_name("killing_loader.c")
    path = tmp_path_factory.mktemp("killing") / "libOpenCL.so.1"
    command = [build().compiler, "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-DCL_TARGET_OPENCL_VERSION=300"]
    subprocess.run([*command, str(source), "-o", str(path)], check=True)
    return path


@pytest.fixture
def small(tmp_path: Path, library: Path) -> SmallRun:
    return SmallRun(tmp_path, library)
