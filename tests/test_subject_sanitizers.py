# SPDX-License-Identifier: Apache-2.0
"""A library built with a sanitizer gets its runtime, whichever compiler made it, or is refused with the reason."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.build import build
from harness.errors import UsageError
from harness.subject import sanitizers
from harness.subject.library import read_library

SOURCE = "int table[4]; int at(int index) { return table[index] + index; }\n"
OPEN_AT_ONCE = "import ctypes, os, sys; ctypes.CDLL(sys.argv[1], os.RTLD_NOW).at(1)"

pytestmark = pytest.mark.skipif(bool(build().sanitize), reason="the programs of this build have a runtime already")


def library(folder: Path, compiler: str, *flags: str) -> Path:
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    source, library = folder / "library.c", folder / "library.so"
    source.write_text(SOURCE)
    done = subprocess.run([compiler, "-shared", "-fPIC", *flags, "-o", library, source], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"{compiler} {' '.join(flags)} does not work here")
    return library


def runtime(path: Path) -> str:
    return sanitizers.runtime(path, read_library(path, "a library", ""))


def opens(path: Path, preloaded: str) -> bool:
    variables = {"ASAN_OPTIONS": "detect_leaks=0", "LSAN_OPTIONS": "detect_leaks=0"}
    variables |= {"LD_PRELOAD": preloaded} if preloaded else {}
    return (
        subprocess.run([sys.executable, "-c", OPEN_AT_ONCE, path], env=variables, capture_output=True).returncode == 0
    )


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("kind", ["address", "thread", "undefined", "address,undefined", "leak"])
def test_library_opens_with_its_runtime(kind: str, compiler: str, tmp_path: Path) -> None:
    path = library(tmp_path, compiler, f"-fsanitize={kind}")
    assert opens(path, runtime(path))


@pytest.mark.parametrize("kind", ["address", "thread", "undefined"])
def test_clangs_runtime_is_part_of_programs(kind: str, tmp_path: Path) -> None:
    path = library(tmp_path, "clang", f"-fsanitize={kind}")
    assert runtime(path) and not opens(path, "")


def test_shared_runtime_is_found_outside_the_linkers_folders(tmp_path: Path) -> None:
    path = library(tmp_path, "clang", "-fsanitize=address", "-shared-libasan")
    assert Path(runtime(path)).is_file() and opens(path, runtime(path))


def test_plain_library_needs_none(tmp_path: Path) -> None:
    assert runtime(library(tmp_path, "cc")) == ""


def test_runtime_that_is_not_here_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = library(tmp_path, "clang", "-fsanitize=thread")
    monkeypatch.setattr(sanitizers, "_works", lambda _: False)
    with pytest.raises(UsageError, match=r"clang's thread sanitizer.*libclang_rt\.tsan-.*install it"):
        runtime(path)


def test_sanitizer_of_whole_programs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="memory sanitizer, which the whole program"):
        runtime(library(tmp_path, "clang", "-fsanitize=memory"))
