# SPDX-License-Identifier: Apache-2.0
"""The environment of a case's process, where paths have signs that its variables and files cannot hold."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.build import build
from harness.errors import UsageError
from harness.sandbox import Sandbox
from harness.subject.environment import environment
from harness.subject.loader import Loader


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    box = Sandbox()
    yield box
    box.close()


@pytest.mark.parametrize("folder", ["plain", "with blank", "with:colon", "with\ttab", "with\nline break"])
def test_library_to_preload_is_loaded_wherever_it_is(sandbox: Sandbox, tmp_path: Path, folder: str) -> None:
    library = tmp_path / folder / "libwatch.so"
    library.parent.mkdir()
    shutil.copyfile(build().exit_watch, library)
    variables = environment(sandbox, build().reference_loader, "", preload=[library])
    maps = subprocess.run(["cat", "/proc/self/maps"], env=variables, capture_output=True, text=True)
    assert maps.stderr == ""
    assert str(library).replace("\n", "\\012") in maps.stdout


@pytest.mark.parametrize(
    ("given", "asan", "lsan"),
    [
        ({}, "detect_leaks=0:allocator_may_return_null=1", "detect_leaks=0"),
        ({"ASAN_OPTIONS": "detect_leaks=1"}, "detect_leaks=1", None),
        ({"LSAN_OPTIONS": "exitcode=5"}, "detect_leaks=0:allocator_may_return_null=1", "exitcode=5"),
        ({"ASAN_OPTIONS": "", "LSAN_OPTIONS": ""}, "", ""),
    ],
)
def test_sanitizers_look_for_leaks_where_somebody_asks(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, given: dict[str, str], asan: str, lsan: str | None
) -> None:
    for name in ("ASAN_OPTIONS", "LSAN_OPTIONS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    variables = environment(sandbox, build().reference_loader, "")
    assert (variables["ASAN_OPTIONS"], variables.get("LSAN_OPTIONS")) == (asan, lsan)


def test_loader_with_odd_bytes_in_its_path_is_tested(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"a b\xff") / "libOpenCL.so.1"
    path.parent.mkdir()
    shutil.copyfile(build().reference_loader, path)
    sandbox = Sandbox(path)
    try:
        sandbox.vendor("a")
        with Loader(path).start(sandbox) as cl:
            assert cl.platform_names() == ["a"]
    finally:
        sandbox.close()


def test_line_break_in_the_path_of_a_subject_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a\nb" / "libOpenCL.so.1"
    path.parent.mkdir()
    shutil.copyfile(build().reference_loader, path)
    with pytest.raises(UsageError, match=r"a\\nb/libOpenCL.so.1' has a line break in its path"):
        Loader(path)
