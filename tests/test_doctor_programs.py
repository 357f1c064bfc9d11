# SPDX-License-Identifier: Apache-2.0
"""Which loader a program gets, as doctor reads it from files, compared with what the program says when it runs."""

from __future__ import annotations

import os
import stat
import struct
import subprocess
from pathlib import Path

import pytest

from harness.build import build
from harness.doctor import programs
from harness.doctor.programs import Program, look_at
from harness.errors import UsageError
from harness.sandbox.machine import NOBODY, is_root
from tests.doctor_machine import system

SOURCE = """
#include <dlfcn.h>
#include <stdio.h>
int clGetPlatformIDs(unsigned, void *, unsigned *);
int main(void)
{
    Dl_info info;
    void *function = dlsym(RTLD_DEFAULT, "clGetPlatformIDs");
    if (function && dladdr(function, &info))
        puts(info.dli_fname);
    return function != (void *)clGetPlatformIDs;
}
"""


def compiled(folder: Path, *options: str, source: str = SOURCE, name: str = "application") -> Path:
    code, path = folder / f"{name}.c", folder / name
    code.write_text(source)
    command = [build().compiler, "-w", "-D_GNU_SOURCE", "-o", str(path), str(code), *options]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return path


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """A folder that holds another loader."""
    folder = tmp_path / "other"
    folder.mkdir()
    (folder / "libOpenCL.so.1").symlink_to(build().reference_loader)
    return folder


def real_loader(program: Program) -> str:
    assert program.loader is not None, program.findings
    return os.path.realpath(program.loader.path)


def names(program: Program) -> set[str]:
    return {one.name for one in program.findings if not one.harmless}


CASES: dict[str, tuple[tuple[str, ...], dict[str, str], bool]] = {
    # options of the linker, variables, whether it is the other loader
    "plain": ((), {}, False),
    "LD_LIBRARY_PATH": ((), {"LD_LIBRARY_PATH": "/nowhere:{other}"}, True),
    "RUNPATH": (("-Wl,--enable-new-dtags,-rpath,{other}",), {}, True),
    "RPATH": (("-Wl,--disable-new-dtags,-rpath,{other}",), {}, True),
    "RPATH with $ORIGIN": (("-Wl,--disable-new-dtags,-rpath,$ORIGIN/other",), {}, True),
    "RUNPATH after LD_LIBRARY_PATH": (
        ("-Wl,--enable-new-dtags,-rpath,{other}",),
        {"LD_LIBRARY_PATH": os.path.dirname(system())},
        False,
    ),
    "RPATH before LD_LIBRARY_PATH": (
        ("-Wl,--disable-new-dtags,-rpath,{other}",),
        {"LD_LIBRARY_PATH": os.path.dirname(system())},
        True,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_loader_of_a_linked_program_is_the_one_that_it_gets(tmp_path: Path, other: Path, name: str) -> None:
    options, variables, is_other = CASES[name]
    linked = [option.replace("{other}", str(other)) for option in options]
    application = compiled(tmp_path, *linked, str(system().resolve()), "-ldl")
    environment = {key: value.replace("{other}", str(other)) for key, value in variables.items()}
    environment["PATH"] = "/usr/bin:/bin"

    program = look_at(str(application), environment)
    output = subprocess.run([str(application)], env=environment, capture_output=True, text=True).stdout.strip()

    assert os.path.realpath(output) == real_loader(program)
    assert (os.path.realpath(output) == os.path.realpath(build().reference_loader)) == is_other
    assert (program.linked, names(program)) == (True, set())


def test_program_that_opens_its_loader_is_not_linked(tmp_path: Path) -> None:
    application = compiled(tmp_path, source="int main(void) { return 0; }")
    program = look_at(str(application), {})
    assert (program.linked, real_loader(program)) == (False, str(system().resolve()))


def test_script_is_its_interpreter(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/usr/bin/env python3\n")
    script.chmod(0o755)
    assert look_at(str(script), {"PATH": "/usr/bin:/bin"}).path.name.startswith("python3")


def test_program_without_a_loader_is_told_so(tmp_path: Path, other: Path) -> None:
    """It was linked to one of another name, which is gone."""
    library = compiled(
        tmp_path, "-shared", "-fPIC", "-Wl,-soname,libOpenCL.so.9", source="int f(void) { return 1; }", name="l.so"
    )
    application = compiled(tmp_path, "-Wl,--no-as-needed", str(library), source="int main(void) { return 0; }")
    program = look_at(str(application), {})
    assert (program.loader, names(program)) == (None, {"no-loader"})


def test_function_that_the_loader_lacks_is_named(tmp_path: Path) -> None:
    stub = compiled(
        tmp_path,
        "-shared",
        "-fPIC",
        "-Wl,-soname,libOpenCL.so.1",
        source="int clNewer(void) { return 1; }",
        name="s.so",
    )
    application = compiled(tmp_path, str(stub), source="int clNewer(void); int main(void) { return clNewer(); }")
    program = look_at(str(application), {})
    assert names(program) == {"loader-too-old"}
    assert "clNewer" in program.findings[0].what


def test_program_with_functions_of_its_own_is_named(tmp_path: Path) -> None:
    source = "int clGetPlatformIDs(void) { return 0; } int clGetPlatformInfo(void) { return 0; }"
    assert names(
        look_at(str(compiled(tmp_path, "-rdynamic", source=f"{source} int main(void) {{ return 0; }}")), {})
    ) == {"program-has-own"}


def test_static_program_is_named(tmp_path: Path) -> None:
    application = compiled(tmp_path, "-static", "-nostdlib", source="void _start(void) { for (;;) {} }")
    assert names(look_at(str(application), {})) == {"program-static"}


def test_missing_library_of_the_program_is_named(tmp_path: Path) -> None:
    library = compiled(
        tmp_path, "-shared", "-fPIC", "-Wl,-soname,libgone.so.3", source="int f(void) { return 1; }", name="l.so"
    )
    application = compiled(tmp_path, "-Wl,--no-as-needed", str(library), source="int main(void) { return 0; }")
    program = look_at(str(application), {})
    assert names(program) == {"program-dependency"}
    assert "libgone.so.3" in program.findings[0].what


def test_32_bit_program_has_a_loader_of_its_own(tmp_path: Path) -> None:
    """The loader of this machine is passed over."""
    path = tmp_path / "old"
    interpreter = b"/lib/ld-linux.so.2\0"
    header = b"\x7fELF\1\1\1" + bytes(9) + struct.pack("<HHIIIIIHHHHHH", 2, 3, 1, 0, 52, 0, 0, 52, 32, 1, 0, 0, 0)
    header += struct.pack("<IIIIIIII", 3, 84, 0, 0, len(interpreter), len(interpreter), 4, 1)
    path.write_bytes(header + interpreter)
    path.chmod(0o755)
    program = look_at(str(path), {})
    assert program.elf is not None and program.elf.words == "32-bit i386"
    assert names(program) == {"no-loader"}


@pytest.mark.skipif(not is_root(), reason="only root can make a program that belongs to another user")
def test_elevated_program_ignores_variables(tmp_path: Path, other: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    application = compiled(tmp_path, str(system().resolve()), "-ldl")
    os.chown(application, NOBODY, NOBODY)
    application.chmod(0o4755)
    assert application.stat().st_mode & stat.S_ISUID
    program = look_at(str(application), {"LD_LIBRARY_PATH": str(other)})
    assert (program.secure, names(program)) == (True, {"program-elevated"})
    assert real_loader(program) == str(system().resolve())


def test_confined_program_is_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    snap = tmp_path / "bin"
    snap.mkdir()
    (snap / "snap").write_text("#!/bin/sh\n")
    (snap / "snap").chmod(0o755)
    (snap / "application").symlink_to("snap")
    program = look_at(str(snap / "application"), {})
    assert [one.name for one in program.findings if one.harmless] == ["program-confined"]


@pytest.mark.parametrize("name", ["no-such-program-anywhere", "/etc", "/etc/passwd"])
def test_what_is_not_a_program_is_a_usage_error(name: str) -> None:
    with pytest.raises(UsageError, match=name):
        programs.look_at(name, {"PATH": "/usr/bin"})


def test_loader_inside_the_program_is_named(tmp_path: Path) -> None:
    """It was linked statically: no function of it can be seen from outside."""
    source = """
    const char *folder = "/etc/OpenCL/vendors", *function = "clIcdGetPlatformIDsKHR";
    int main(int n, char **v) { return v[0][n] == *folder + *function; }
    """
    assert names(look_at(str(compiled(tmp_path, source=source)), {})) == {"program-holds-loader"}
    linked = compiled(tmp_path, str(system().resolve()), source=SOURCE + 'const char *f = "OpenCL/vendors";')
    assert names(look_at(str(linked), {})) == set()


def test_library_before_the_loader_with_functions_of_its_own_is_named(tmp_path: Path) -> None:
    source = "int clGetPlatformIDs(void) { return 0; } int clGetPlatformInfo(void) { return 0; }"
    other = compiled(tmp_path, "-shared", "-fPIC", source=source, name="libown.so")
    main = "int main(void) { return 0; }"
    needed = ["-Wl,--no-as-needed", str(other), str(system().resolve())]
    assert names(look_at(str(compiled(tmp_path, *needed, source=main)), {})) == {"functions-interposed"}
    needed = ["-Wl,--no-as-needed", str(system().resolve()), str(other)]
    assert names(look_at(str(compiled(tmp_path, *needed, source=main)), {})) == set()


def test_name_that_the_program_opens_is_searched(tmp_path: Path) -> None:
    """Without the -dev package there is only libOpenCL.so.1."""
    source = 'const char *name = "{}"; int main(int n, char **v) {{ return v[0][n] == *name; }}'
    application = compiled(tmp_path, source=source.format("libOpenCL.so"))
    assert names(look_at(str(application), {})) == set() if _has_link() else {"program-opens-other-name"}
    (tmp_path / "libOpenCL.so").symlink_to(system().resolve())
    assert names(look_at(str(application), {"LD_LIBRARY_PATH": str(tmp_path)})) == set()
    application = compiled(tmp_path, source=source.format("libOpenCL.so.1"))
    assert names(look_at(str(application), {})) == set()


def _has_link() -> bool:
    return any((folder / "libOpenCL.so").exists() for folder in (system().parent, Path("/usr/lib/x86_64-linux-gnu")))


def test_loader_that_a_python_package_brings_is_noticed(tmp_path: Path) -> None:
    """As wheels of pyopencl do; the virtual environment's Python is a link to the system's."""
    python = tmp_path / "venv/bin/python3"
    python.parent.mkdir(parents=True)
    python.symlink_to("/usr/bin/python3")
    assert programs.bundled(look_at(str(python), {})) == []
    loader = tmp_path / "venv/lib/python3.11/site-packages/pyopencl.libs/libOpenCL-34a55fe4.so.1.0.0"
    loader.parent.mkdir(parents=True)
    loader.symlink_to(build().reference_loader)
    assert programs.bundled(look_at(str(python), {})) == [loader]
    script = tmp_path / "venv/bin/tool"
    script.write_text(f"#!{python}\n")
    script.chmod(0o755)
    assert programs.bundled(look_at(str(script), {})) == [loader]


def test_script_without_its_interpreter_is_named(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/opt/gone/python\n")
    script.chmod(0o755)
    (finding,) = look_at(str(script), {}).findings
    assert finding.name == "program-damaged"
    assert finding.what == f"/opt/gone/python, which {script} is run by, cannot be read (no such file or directory)."
