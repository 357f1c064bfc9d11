# SPDX-License-Identifier: Apache-2.0
"""A further kind of subject, added in a copy of the project: three files of others change, and all else is its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.build import ROOT, build

OWN = {
    "harness/subject/echo.py": '''\
"""An echo under test: a library that answers 42."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Self

from harness.probe.session import Session
from harness.sandbox import Sandbox
from harness.subject.base import Option, Subject
from harness.subject.identify import Identity


class Echo(Subject):
    """The echo under test."""

    identity = Identity("echo", "an echo", "echo", exports=("echo_answer",))
    word = "echo"
    option = "--echo"
    options: ClassVar[tuple[Option, ...]] = (Option("--echo", "PATH", "echo to test"),)
    example = "libecho.so"
    functions = ("echo_answer",)
    shown = ()
    lacks = "this echo does not have {}"
    expectations_folder = "echoes"
    checks = "echo"
    stands_alone = True

    @classmethod
    def from_options(cls, get: Callable[[str], Any], loader: Callable[[], Any]) -> Self:
        return cls(Path(get(cls.option)))

    def has(self, capability: str) -> bool:
        return False

    def _ask(self) -> None:
        self.facts.name, self.facts.version = "Echo", "1.0"

    def open(self, sandbox: Sandbox) -> Session:
        return self._open_directly(Session, sandbox)
''',
    "harness/cli/echo.py": '''\
"""Test an echo."""

from __future__ import annotations

import argparse

from harness.cli.layer import folders_of_checks
from harness.cli.loader import add_run_arguments, library_path, run_suites
from harness.subject.echo import Echo

EXAMPLE = "  clharness echo libecho.so"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH")
    add_run_arguments(parser)


def run(args: argparse.Namespace) -> int:
    return run_suites([f"{Echo.option}={library_path(args.path)}"], args, *folders_of_checks(Echo))
''',
    "harness/selftest/mutants/echo.py": '''\
"""Mutants of an echo."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from harness.sandbox import Sandbox
from harness.selftest.mutants import VARIABLE, Mutant
from harness.subject.echo import Echo

MUTANTS = {"answers_41": Mutant("answers_41", ("VK-ECHO-001",), "answer 41")}


def seeded_echo(sandbox: Sandbox) -> Echo:
    library = f"libecho{'_41' if os.environ.get(VARIABLE) else ''}.so"
    return Echo(Path(shutil.copy(Path(__file__).parents[3] / library, sandbox.root)))
''',
    "harness/requirements/vk-echo.toml": """\
title = "Echoes"

[VK-ECHO-001]
subject = "driver"
strength = "must"
text = "An echo answers 42."
sentence = "An echo answers 42"
source = "LDI"
check = "Ask it."
fault = "Answer 41."
""",
    "harness/expectations/echoes/echo.toml": """\
loader = "Echo"

[[deviation]]
requirement = "VK-ECHO-001"
case = "test_echo_is_deep"
verdict = "fail"
reason = "Echoes are not deep."
deviates = ["assert 42 == 43"]
""",
    "suites/interop/echo/test_echo_answers.py": '''\
"""What an echo answers (VK-ECHO)."""

from __future__ import annotations

from harness.check import Echo, Sandbox, requirement


@requirement("VK-ECHO-001")
def test_echo_answers_42(echo: Echo, sandbox: Sandbox) -> None:
    """An echo answers 42."""
    with echo.open(sandbox) as session:
        assert session.call_at(session.library_symbol(echo.path, "echo_answer"), "clUnloadCompiler") == 42


@requirement("VK-ECHO-001")
def test_echo_is_deep(echo: Echo, sandbox: Sandbox) -> None:
    """An echo answers 43, which none does."""
    with echo.open(sandbox) as session:
        assert session.call_at(session.library_symbol(echo.path, "echo_answer"), "clUnloadCompiler") == 43
''',
}
CHANGES = {
    "harness/subject/__init__.py": [
        ("from harness.subject.icd import Icd\n", "from harness.subject.echo import Echo\n"),
        ("kind.identity.kind: kind for kind in (", "Echo, "),
    ],
    "harness/check/__init__.py": [
        ("    from harness.subject.icd import Icd\n", "    from harness.subject.echo import Echo\n"),
    ],
    "harness/selftest/targets.py": [
        (
            "def _seeded_icd(",
            "def _echoes() -> Mapping[str, Mutant]:\n    from harness.selftest.mutants.echo import MUTANTS\n\n"
            "    return MUTANTS\n\n\ndef _seeded_echo(sandbox: Sandbox) -> Subject:\n"
            "    from harness.selftest.mutants.echo import seeded_echo\n\n    return seeded_echo(sandbox)\n\n\n",
        ),
        (
            "TARGETS: Mapping[str, Target] = {\n",
            '    "echo": Target("echo", "echo", "echoes", _echoes, "interop/echo", make=_seeded_echo),\n',
        ),
    ],
}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with echoes, as a kind of subject."""
    assert len(CHANGES) <= 3, "a further kind of subject changes more files of others than it may"
    root = tmp_path_factory.mktemp("project")
    leave_out = shutil.ignore_patterns("__pycache__")
    for name in ("harness", "suites", "mock_icds", "mock_layers"):
        shutil.copytree(ROOT / name, root / name, ignore=leave_out)
    for name in ("conftest.py", "pytest.ini", "pyproject.toml"):
        shutil.copy(ROOT / name, root)
    for name, text in OWN.items():
        path = root / name
        assert not path.exists()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# SPDX-License-Identifier: Apache-2.0\n{text}")
    for name, insertions in CHANGES.items():
        text = (root / name).read_text()
        for anchor, addition in insertions:
            assert text.count(anchor) == 1, anchor
            is_row = anchor.endswith(("(", "{\n")) and not anchor.startswith("def ")
            text = text.replace(anchor, anchor + addition if is_row else addition + anchor)
        (root / name).write_text(text)
    for name, answer in (("libecho.so", 42), ("libecho_41.so", 41)):
        source = f"int echo_answer(void) {{ return {answer}; }}"
        command = ["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(root / name)]
        subprocess.run(command, input=source, text=True, check=True)
    return root


def clharness(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    output = checkout / "output"
    own = {"CLHARNESS_BUILD": str(build().api.parents[2]), "CLHARNESS_OUTPUT": str(output), "PYTHONPATH": str(checkout)}
    command = [sys.executable, "-P", "-m", "harness.cli", *arguments]
    return subprocess.run(command, cwd=checkout, env=os.environ | own, capture_output=True, text=True, timeout=120)


def test_further_kind_of_subject_runs_with_its_expectations(checkout: Path) -> None:
    records = checkout / "run.jsonl"
    run = clharness(checkout, "echo", "libecho.so", "--json", str(records))
    assert run.returncode == 0, run.stdout + run.stderr
    assert "Echo 1.0: as expected" in run.stdout
    lines = [json.loads(line) for line in records.read_text().splitlines()]
    assert lines[0]["subject"]["kind"] == "echo"
    assert {line["case"].rpartition("::")[2]: line["status"] for line in lines if line["record"] == "case"} == {
        "test_echo_answers_42": "ok",
        "test_echo_is_deep": "expected",
    }
    assert clharness(checkout, "echo", "libecho_41.so").returncode == 1


def test_further_kind_of_subject_is_recognised_by_other_commands(checkout: Path) -> None:
    run = clharness(checkout, "layer", "libecho.so")
    assert run.returncode == 2
    assert "is an echo, not an OpenCL layer: clharness echo libecho.so tests it" in run.stderr.replace(
        f"{checkout}/", ""
    )


def test_further_kind_of_subject_has_a_selftest(checkout: Path) -> None:
    run = clharness(checkout, "selftest", "--echo", "--fault", "answers_41", "-k", "answers_42")
    assert run.returncode == 0, run.stdout + run.stderr
    assert "1 of 1 faults caught" in run.stdout
