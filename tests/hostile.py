# SPDX-License-Identifier: Apache-2.0
"""The hostile loader of tests/hostile_loader.c: built once, and told what to do."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.build import build
from harness.sandbox import Sandbox
from harness.subject.loader import Loader

SOURCE = Path(__file__).with_name("hostile_loader.c")
Tell = Callable[..., None]


def compile_loader(folder: Path, *options: str) -> Loader:
    """Builds it, with more of the compiler's options."""
    library = folder / "libOpenCL.so.1"
    command = [build().compiler, "-shared", "-fPIC", "-Wall", "-Wextra", *options, str(SOURCE), "-o", str(library)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return Loader(library)


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Loader:
    return compile_loader(tmp_path_factory.mktemp("hostile"))


@pytest.fixture
def sandbox(hostile: Loader) -> Iterator[Sandbox]:
    box = Sandbox(hostile.path)
    yield box
    box.close()


@pytest.fixture
def tell(sandbox: Sandbox) -> Tell:
    """Tells the loader what to do: tell(shell="rm -rf .", aborts="")."""

    def write(**what: str) -> None:
        sandbox.env["HOSTILE"] = "\n".join(f"{name}={value}" for name, value in what.items())

    return write
