# SPDX-License-Identifier: Apache-2.0
"""Windows' loader is started with the options of any loader: what only Linux has makes a case unsupported."""

from __future__ import annotations

import inspect
import os
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.errors import UsageError
from harness.sandbox import Unsupported
from harness.subject import library
from harness.subject.loader import Loader
from harness.subject.windows_loader import ALWAYS, ONLY_ON_LINUX, WindowsLoader
from tests.built_for_windows import lacks


def options(kind: type[Loader]) -> set[str]:
    named = inspect.signature(kind.start).parameters.values()
    return {parameter.name for parameter in named if parameter.kind is parameter.KEYWORD_ONLY}


def test_each_option_of_a_loader_is_known() -> None:
    assert options(Loader) - options(WindowsLoader) == {*ALWAYS, *ONLY_ON_LINUX}


@pytest.mark.parametrize("value", [True, {}, 1], ids=str)
def test_option_that_only_linux_has_is_unsupported(value: object) -> None:
    loader = object.__new__(WindowsLoader)
    with pytest.raises(Unsupported, match="a private root: only on Linux"):
        loader.start(None, system_binds=value)  # type: ignore[arg-type]


def test_unknown_option_is_refused() -> None:
    loader = object.__new__(WindowsLoader)
    with pytest.raises(TypeError, match="no option 'sytem'"):
        loader.start(None, sytem=True)  # type: ignore[arg-type]


@pytest.mark.parametrize(("bits", "machine"), [(32, "i386"), (64, "aarch64")])
def test_library_of_another_machine_is_refused(monkeypatch: pytest.MonkeyPatch, bits: int, machine: str) -> None:
    monkeypatch.setattr(library, "build", lambda: SimpleNamespace(windows=True, bits=64, machine=""))
    path = Path("OpenCL.dll")
    other = library.SharedLibrary(path, "PE", machine=machine, bits=bits)
    with pytest.raises(UsageError, match=f"OpenCL.dll is a {bits}-bit Windows library for {machine}: only x86_64"):
        library.require_this_machine(path, other)


@pytest.mark.skipif(not shutil.which("ninja"), reason="ninja is not installed, and only it can be asked")
def test_build_of_other_sources_is_not_tried(tmp_path: Path) -> None:
    """Its probe may not understand this harness: what is tried under Wine was red, and nothing said why."""
    (tmp_path / "build.ninja").write_text("rule copy\n  command = cp $in $out\nbuild built: copy source\n")
    (tmp_path / "source").touch()
    assert "nothing is built for Windows" in lacks(tmp_path)
    (tmp_path / "wine").mkdir()
    (tmp_path / "wine" / ".complete").touch()
    assert "of other sources" in lacks(tmp_path)
    subprocess.run(["ninja", "-C", tmp_path], check=True, capture_output=True)
    assert lacks(tmp_path) == ""
    os.utime(tmp_path / "source", (2**31, 2**31))
    assert "of other sources" in lacks(tmp_path)
