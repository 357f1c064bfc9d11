# SPDX-License-Identifier: Apache-2.0
"""What a run of one check by its name does not wait for, once a run before it has read the library."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from harness.build import ROOT, build

PROGRAM = """
import sys
sys.path.insert(0, {root!r})
from harness.cli.main import main
code = main(["loader", {loader!r}, "--suite", "discovery", "-k", "test_link_counts_by_its_own_name"])
print("imported:", *sorted({{name.partition(".")[0] for name in sys.modules}}))
sys.exit(code)
"""
SLOW = {"elftools", "jinja2", "rich", "tomlkit", "jsonschema", "pycparser", "markdown_it"}


def test_a_library_that_was_read_before_is_not_read_again(tmp_path: Path) -> None:
    program = PROGRAM.format(root=str(ROOT), loader=str(build().reference_loader))
    environment = os.environ | {"CLHARNESS_OUTPUT": str(tmp_path)}
    (tmp_path / "pycache").symlink_to(build().folder / "pycache")
    imported: list[set[str]] = []
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        (line,) = (line for line in done.stdout.splitlines() if line.startswith("imported:"))
        imported.append(set(line.split()[1:]))
    first, second = imported
    assert "elftools" in first, "the control: at first it is read"
    assert not second & SLOW, sorted(second & SLOW)
