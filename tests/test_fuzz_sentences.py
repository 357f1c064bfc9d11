# SPDX-License-Identifier: Apache-2.0
"""What the line of a finding, and the description of an input, say."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from harness.build import build
from harness.fuzz import builds
from harness.fuzz.target_process import environment

pytestmark = pytest.mark.skipif(os.uname().machine not in ("x86_64", "aarch64"), reason="there are no fuzz targets")

# A loader without vendors, which uses a block of memory after it has freed it, or not.
LOADER = """
#include <stdlib.h>
int clGetPlatformIDs(unsigned room, void **list, unsigned *count)
{
    char *memory = malloc(16);
    if (!memory) return -6;
    if (FREED) free(memory);
    *(volatile char *)memory = 1;
    if (!FREED) free(memory);
    if (count) *count = 0;
    return -1001;
}
"""


def loader(folder: Path, name: str, freed: bool) -> Path:
    (folder / "loader.c").write_text(LOADER)
    library = folder / name
    options = ["-shared", "-fPIC", "-w", "-g", f"-DFREED={int(freed)}", "-O0"]
    subprocess.run([build().compiler, *options, "-o", str(library), str(folder / "loader.c")], check=True)
    return library


def replay(folder: Path, data: bytes, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "input").write_bytes(data)
    (folder / "known").write_text("always-lost\n")  # these loaders have no platforms
    variables = environment({"CLHARNESS_FUZZ_KNOWN": str(folder / "known")})
    command = [str(builds.ordinary(["icd_file"]).replay("icd_file")), *options, str(folder / "input")]
    return subprocess.run(command, env=variables, capture_output=True, text=True, timeout=60)


def test_use_after_free_is_named_in_the_first_line(tmp_path: Path) -> None:
    done = replay(tmp_path, b"\0", "--loader", str(loader(tmp_path, "libfreed.so", True)))
    assert "finding: crash memory@clGetPlatformIDs+" in done.stderr and ": use after free: " in done.stderr, done.stderr
    sound = replay(tmp_path, b"\0", "--loader", str(loader(tmp_path, "libsound.so", False)))
    assert sound.returncode == 0, sound.stderr


@pytest.mark.parametrize("first", [True, False], ids=["the first", "the second"])
def test_loader_that_fails_is_named_where_there_are_two(tmp_path: Path, first: bool) -> None:
    sound, broken = loader(tmp_path, "libsound.so", False), loader(tmp_path, "libbroken.so", True)
    one, two = (broken, sound) if first else (sound, broken)
    done = replay(tmp_path, b"\0", "--loader", str(one), "--against", str(two))
    (line,) = [line for line in done.stderr.splitlines() if "finding: " in line]
    assert line.endswith(f" (in {broken})")


def test_nul_is_shown_as_such(tmp_path: Path) -> None:
    library = str(loader(tmp_path, "libsound.so", False))
    done = replay(tmp_path, b"\0/lib\0x\n\x07", "--loader", library, "--describe")
    assert 'has 8 bytes: "/lib\\0x\\n\\x07"' in done.stderr, done.stderr


# Opens as many files as an ordinary process can beside its standard ones, and closes all of them.
MANY = """
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
int clGetPlatformIDs(unsigned room, void **list, unsigned *count)
{
    int files[1000];
    for (int i = 0; i < 1000; i++) files[i] = open("/etc/OpenCL/vendors", O_RDONLY | O_DIRECTORY);
    for (int i = 0; i < 1000; i++) if (files[i] < 0) abort();
    for (int i = 0; i < 1000; i++) close(files[i]);
    if (count) *count = 0;
    return -1001;
}
"""


def test_loader_can_have_as_many_files_open_as_a_process(tmp_path: Path) -> None:
    (tmp_path / "many.c").write_text(MANY)
    library = tmp_path / "libmany.so"
    command = [build().compiler, "-shared", "-fPIC", "-w", "-g", "-O0", "-o", library, tmp_path / "many.c"]
    subprocess.run(list(map(str, command)), check=True)
    done = replay(tmp_path, b"\0", "--loader", str(library))
    assert done.returncode == 0, done.stderr


def test_each_target_has_a_sentence_of_its_own() -> None:
    sentences = builds.targets()
    assert all(sentence and "SPDX" not in sentence for sentence in sentences.values())
    assert len(set(sentences.values())) == len(sentences)


# Writes to an address with one instruction: that after a block of memory, or one where nothing is.
ADDRESS = """
#include <stdlib.h>
int clGetPlatformIDs(unsigned room, void **list, unsigned *count)
{
    char *memory = malloc(16);
    if (!memory) return -6;
    *(PAST_END ? (volatile char *)memory + 16 : (volatile char *)NULL) = 1;
    free(memory);
    if (count) *count = 0;
    return -1001;
}
"""


@pytest.mark.parametrize("past_end", [True, False], ids=["past the end", "nowhere"])
def test_step_past_an_end_is_another_finding_than_a_wild_pointer(tmp_path: Path, past_end: bool) -> None:
    (tmp_path / "address.c").write_text(ADDRESS)
    library = tmp_path / "libaddress.so"
    options = ["-shared", "-fPIC", "-w", "-g", "-O0", f"-DPAST_END={int(past_end)}"]
    command = [build().compiler, *options, "-o", library, tmp_path / "address.c"]
    subprocess.run(list(map(str, command)), check=True)
    done = replay(tmp_path, b"\0", "--loader", str(library))
    key = "past-end@clGetPlatformIDs+" if past_end else "memory@clGetPlatformIDs+"
    assert f"finding: crash {key}" in done.stderr, done.stderr
    assert (", past the end of a block of memory" in done.stderr) == past_end
