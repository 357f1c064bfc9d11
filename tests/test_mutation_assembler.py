# SPDX-License-Identifier: Apache-2.0
"""clharness coverage and mutants on a library with a part in assembly language, which is linked and not mutated."""

from __future__ import annotations

import ctypes
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.cli.main import main
from harness.errors import HarnessError
from harness.mutation.builder import Builder
from harness.mutation.subjects import subject_of

pytestmark = pytest.mark.skipif(not shutil.which("clang"), reason="clang is not installed")

LOADER = """\
extern char assembled[];
int clGetPlatformIDs(unsigned count, void **platforms, unsigned *found)
{
    return count == 0 && platforms ? -30 : assembled[0] - 1001;
}
"""
OBJECTS = "CMakeFiles/OpenCL.dir/loader.c.o CMakeFiles/OpenCL.dir/value.S.o"
SOURCES = {
    "loader.c": LOADER,
    "value.S": '.globl assembled\nassembled:\n.long VALUE\n.section .note.GNU-stack, "", %progbits\n',
    "driver.c": "int clGetPlatformIDs(void) { return 0; }\n",
    "driver.S": ".globl drivers\ndrivers:\n.long 1\n",
}


def built(folder: Path) -> Path:
    """A library of loader.c and value.S, whose flags value.S needs; driver.c and driver.S are of another target."""
    rows = []
    for name, text in SOURCES.items():
        (folder / name).write_text(text)
        output = f"CMakeFiles/{'vendor' if name.startswith('driver') else 'OpenCL'}.dir/{name}.o"
        (folder / output).parent.mkdir(parents=True, exist_ok=True)
        flags = "-DVALUE=0" if name == "value.S" else "-fPIC -O1"
        command = f"cc {flags} -o {output} -c {folder / name}"
        rows.append({"directory": str(folder), "file": str(folder / name), "command": command})
        subprocess.run(command.split(), cwd=folder, check=True)
    (folder / "compile_commands.json").write_text(json.dumps(rows))
    library = folder / "libOpenCL.so.1"
    command = f"cc -shared {OBJECTS} -o {library}"
    subprocess.run(command.split(), cwd=folder, check=True)
    (folder / "CMakeFiles" / "OpenCL.dir" / "link.txt").write_text(command)
    return library


@pytest.mark.parametrize("way", ["--loader", "--target", "--link"])
def test_assembled_part_is_linked(tmp_path: Path, way: str) -> None:
    """However the library is named: the new one loads, and has its part but not that of another target."""
    library = built(tmp_path)
    link = "cc -shared {objects} -o {output}" if way == "--link" else None
    target = "" if way == "--loader" else "OpenCL"
    subject = subject_of(tmp_path, library if way == "--loader" else None, target, link, ["*.c"])
    assert [source.name for source in subject.sources] == ["loader.c"]
    work = tmp_path / "work"
    work.mkdir()
    again = ctypes.CDLL(str(Builder(subject, work).original))
    assert hasattr(again, "clGetPlatformIDs")
    assert not hasattr(again, "drivers")


def test_library_that_lacks_a_part_is_said(tmp_path: Path) -> None:
    """A linker makes a library of anything: what it lacks would be said by nobody but by whoever loads it."""
    library = built(tmp_path)
    rows = json.loads((tmp_path / "compile_commands.json").read_text())
    (tmp_path / "compile_commands.json").write_text(json.dumps([row for row in rows if "value.S" not in row["file"]]))
    work = tmp_path / "work"
    work.mkdir()
    subject = subject_of(tmp_path, library, "", None, ["*.c"])
    with pytest.raises(HarnessError, match="lacks assembled, which the built one has"):
        Builder(subject, work)


def test_assembled_part_that_cannot_be_assembled_is_said(tmp_path: Path) -> None:
    library = built(tmp_path)
    (tmp_path / "value.S").write_text("what is this\n")
    work = tmp_path / "work"
    work.mkdir()
    with pytest.raises(HarnessError, match=r"value\.S cannot be assembled"):
        Builder(subject_of(tmp_path, library, "", None, ["*.c"]), work)


def test_coverage_of_a_library_with_an_assembled_part(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    library = built(tmp_path)
    words = ["--compile-commands", str(tmp_path), "--loader", str(library), "-k", "newline", "-j", "1"]
    assert main(["coverage", *words]) == 0
    assert "loader.c: lines" in capsys.readouterr().out
