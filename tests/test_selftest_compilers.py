# SPDX-License-Identifier: Apache-2.0
"""Loaders with seeded faults are C for newer compilers, too, which take for errors what older ones only warn of."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from harness.build import build

ERRORS = (
    "conditional-type-mismatch", "implicit-function-declaration", "implicit-int", "incompatible-function-pointer-types",
    "incompatible-pointer-types", "int-conversion", "return-type",
)  # fmt: skip


def copies() -> list[dict[str, Any]]:
    """How the build compiles each source that has seeded faults."""
    done = subprocess.run(["ninja", "-C", build().folder, "-t", "compdb"], check=True, capture_output=True, text=True)
    begin = done.stdout.index("[")
    return [
        entry
        for entry in json.loads(done.stdout[begin:])
        if entry["file"].endswith(".c") and "/seeded/" in entry["file"]
    ]


@pytest.mark.skipif(not shutil.which("clang"), reason="clang is not here")
def test_seeded_faults_compile_without_errors_of_newer_compilers() -> None:
    if not (build().folder / "build.ninja").exists():
        pytest.skip("the build is not one of Ninja")
    troubles = []
    for entry in copies():
        flags = [
            word for word in shlex.split(entry["command"])[1:] if word.startswith(("-D", "-I", "-std", "-isystem"))
        ]
        wanted = [f"-Werror={name}" for name in ERRORS]
        command = ["clang", *flags, "-fsyntax-only", "-Wno-everything", *wanted, entry["file"]]
        done = subprocess.run(command, cwd=entry["directory"], capture_output=True, text=True)
        troubles += [line for line in done.stderr.splitlines() if "error:" in line]
    assert not troubles


def test_there_are_such_sources() -> None:
    names = {Path(entry["file"]).name for entry in copies()}
    assert {"loader.c"} | ({"messengers.c"} if build().vulkan else set()) <= names
