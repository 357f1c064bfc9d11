# SPDX-License-Identifier: Apache-2.0
"""What a driver compiles is kept from case to case, and no two processes of a run use the same of it at once."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.build import build
from harness.sandbox import Sandbox
from harness.sandbox.vulkan import VulkanSandbox
from harness.subject import Icd, VulkanDriver
from harness.subject.compiled import PREFIX, Compiled


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def in_child(say: Callable[[], object]) -> str:
    """What a function says in a forked process."""
    reads, writes = os.pipe()
    if (child := os.fork()) == 0:
        os.write(writes, str(say()).encode())
        os._exit(0)
    os.close(writes)
    with os.fdopen(reads) as said:
        text = said.read()
    assert os.waitpid(child, 0)[1] == 0
    return text


def of_an_icd(_: pytest.FixtureRequest) -> Callable[[], str]:
    icd = Icd.from_options({"--icd": str(build().mock_icds["icd"])}.get, Path)

    def of_a_case() -> str:
        sandbox = Sandbox()
        icd.prepare(sandbox)
        sandbox.close()
        return sandbox.env["XDG_CACHE_HOME"]

    return of_a_case


def of_a_vulkan_driver(request: pytest.FixtureRequest) -> Callable[[], str]:
    machine = VulkanSandbox()
    request.addfinalizer(machine.close)
    driver = VulkanDriver.from_options({"--vulkan-driver": str(machine.driver("mine").path)}.get, Path)

    def of_a_case() -> str:
        sandbox = VulkanSandbox()
        with driver.open(sandbox, late=True):
            pass
        sandbox.close()
        return sandbox.env["XDG_CACHE_HOME"]

    return of_a_case


@pytest.mark.parametrize(
    "of_a_subject",
    [of_an_icd, pytest.param(of_a_vulkan_driver, marks=pytest.mark.skipif(not build().vulkan, reason="no Vulkan"))],
)
def test_cases_of_one_worker_share_it_and_those_of_others_do_not(
    request: pytest.FixtureRequest, of_a_subject: Callable[[pytest.FixtureRequest], Callable[[], str]]
) -> None:
    of_a_case = of_a_subject(request)
    mine = [of_a_case(), of_a_case()]
    others = [in_child(of_a_case) for _ in range(2)]
    assert mine[0] == mine[1]
    assert len({mine[0], *others}) == 3
    assert all(Path(folder).is_dir() for folder in [*mine, *others])


def test_the_process_that_made_it_removes_it_and_no_other(place: Path) -> None:
    references = [Compiled()]
    kept = Path(references[0].folder, "kernel")
    kept.write_text("compiled")
    in_child(references.clear)
    assert kept.read_text() == "compiled"
    references.clear()
    assert not list(place.glob(f"{PREFIX}*"))


def test_what_a_killed_run_left_is_removed_by_the_next(place: Path) -> None:
    code = "import os; from harness.subject.compiled import Compiled; made = Compiled(); print(made.folder, flush=True)"
    environment = {**os.environ, "TMPDIR": str(place)}
    code += "; os.kill(os.getpid(), 9)"
    left = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    folder = Path(left.stdout.strip())
    assert folder.is_dir()
    compiled = Compiled()
    assert not folder.exists()
    assert Path(compiled.folder).is_dir()
