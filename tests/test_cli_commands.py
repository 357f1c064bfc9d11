# SPDX-License-Identifier: Apache-2.0
"""Subcommands: which modules are one, and that each is found though only the one that is asked for is imported."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys

import pytest

from harness.build import ROOT


@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "harness" / "cli").glob("[a-z]*.py")))
def test_every_subcommand_has_its_own_help(name: str) -> None:
    """A module with `run` is one, and no other; also one with two words."""
    module = importlib.import_module(f"harness.cli.{name}")
    word = name.replace("_", "-")
    ended = subprocess.run(
        [sys.executable, "-m", "harness.cli", word, "--help"],
        cwd=ROOT,
        env=os.environ | {"COLUMNS": "80"},
        capture_output=True,
        text=True,
    )
    if hasattr(module, "run"):
        assert f"usage: clharness {word} " in ended.stdout
        assert "example:" in ended.stdout, "it is not that of the command itself"
        wide = [line for line in ended.stdout.splitlines() if len(line) > 80]
        assert all(line.startswith(("  clharness ", "  git ")) for line in wide), wide  # what is to be copied
    else:
        assert ended.returncode == 2, ended.stdout


@pytest.mark.parametrize(
    ("word", "hint"), [("laoder", "did you mean loader?"), ("bisect", "did you mean"), ("x", "clharness --help lists")]
)
def test_unknown_command_gets_one_sentence(word: str, hint: str) -> None:
    """Without a list of all commands, which is what help is for."""
    ended = subprocess.run([sys.executable, "-m", "harness.cli", word], cwd=ROOT, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith(f"clharness: {word} is not a command; {hint}")
    assert len(ended.stderr.splitlines()) == 1
