# SPDX-License-Identifier: Apache-2.0
"""Where sandboxes and loaders are is not a part of a verdict: neither the length of paths nor blanks in them."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest

from harness.build import build
from harness.errors import UsageError
from harness.sandbox import Sandbox
from harness.sandbox import sandbox as module
from harness.sandbox.machine import scratch_root
from harness.subject.loader import Loader
from suites.discovery.test_acceptance_ways import NEEDS
from suites.discovery.test_acceptance_ways import test_library_that_needs_the_loader_is_a_vendor as needs_check
from suites.discovery.test_general_leaks import test_other_files_of_a_folder_cost_no_heap as check
from suites.dispatch.test_exports import test_loader_library_is_named_libopencl as name_check

check.__test__ = name_check.__test__ = needs_check.__test__ = False  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def loader() -> Loader:
    loader = Loader(build().reference_loader)
    loader.ask()
    return loader


@pytest.mark.parametrize("length", range(0, 16, 3))
def test_heap_of_a_correct_loader(loader: Loader, monkeypatch: pytest.MonkeyPatch, length: int) -> None:
    with tempfile.TemporaryDirectory(prefix="x" * length, dir=scratch_root()) as place:
        monkeypatch.setattr(module, "_swept_root", lambda: Path(place))
        sandbox = Sandbox(loader.path)
        try:
            check(loader, sandbox, "layers")
        finally:
            sandbox.close()


@pytest.mark.parametrize("folder", ["plain", "a b", "a (deleted) b", "it's $x é", "a:b"])
def test_name_of_a_loader_in_any_folder(tmp_path: Path, folder: str) -> None:
    """What is mapped into the process is found also where the path of it holds blanks."""
    place = tmp_path / folder
    place.mkdir()
    shutil.copy(build().reference_loader.resolve(), place / "libOpenCL.so.1")
    loader = Loader(place / "libOpenCL.so.1")
    loader.ask()
    sandbox = Sandbox(loader.path)
    try:
        name_check(loader, sandbox)
    finally:
        sandbox.close()


@pytest.mark.parametrize("variant", NEEDS)
def test_library_that_a_vendor_needs_is_found_in_a_private_root(tmp_path: Path, variant: str) -> None:
    """With a loader that no variable shows its vendors, the process sees little of the machine."""
    shutil.copy(build().reference_loader.resolve(), tmp_path / "libOpenCL.so.1")
    loader = Loader(tmp_path / "libOpenCL.so.1")
    loader.ask()
    loader.by_variable = False
    sandbox = Sandbox(loader.path)
    try:
        needs_check(loader, sandbox, variant, False)
    finally:
        sandbox.close()


@pytest.mark.parametrize("name", ["a b", "a:b", "a\tb"])
def test_folder_of_which_nothing_can_be_preloaded_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    """Else the heap would not be guarded there, and defects would be taken for gone."""
    (tmp_path / name).mkdir()
    monkeypatch.setenv("CLHARNESS_SCRATCH", str(tmp_path / name))
    with pytest.raises(UsageError, match="LD_PRELOAD"):
        scratch_root.__wrapped__()
