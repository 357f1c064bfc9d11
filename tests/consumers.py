# SPDX-License-Identifier: Apache-2.0
"""Small projects that have a loader of their own and test it with clharness, as CMake subproject or installed."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from harness.build import ROOT, build

SOURCES = ("loader.c", "discovery.c", "acceptance.c", "entry_points.c", "layers.c", "os_linux.c")
# One check of the suite discovery, and a fault that it notices: the first file of a folder is passed over.
CHECK = "test_library_path_without_final_newline"
SOUND = "fd >= 0 && has_suffix(entries[i]->d_name, suffix)"
FAULTY = f"{SOUND} && i > 2"

LOADER = f"""
file(GLOB sources ${{CMAKE_CURRENT_SOURCE_DIR}}/loader/*.c)
add_library(OpenCL SHARED ${{sources}})
add_library(OpenCL::OpenCL ALIAS OpenCL)
target_include_directories(OpenCL PRIVATE loader "{ROOT}/harness/api/include")
target_compile_definitions(OpenCL PRIVATE CLHARNESS_VERSION="1.2.3")
target_compile_options(OpenCL PRIVATE -w -fPIC -fvisibility=hidden -std=gnu11)
target_link_libraries(OpenCL PRIVATE -pthread dl -Wl,-Bsymbolic)
set_target_properties(OpenCL PROPERTIES SOVERSION 1 VERSION 1.2 UNITY_BUILD OFF)
set_target_properties(OpenCL PROPERTIES C_CLANG_TIDY "" C_STANDARD 11 C_EXTENSIONS ON)
"""
CLHARNESS = f'add_subdirectory("{ROOT}" clharness)\n'
# The functions as an installation has them, with the command of this build: nothing of clharness itself is configured.
# What the command keeps, all such projects share: the suites are collected once.
FUNCTIONS = f"""
set_property(GLOBAL PROPERTY CLHARNESS_COMMAND "{build().folder / "clharness"}")
set_property(GLOBAL PROPERTY CLHARNESS_OUTPUT "{build().folder / "guests"}")
include("{ROOT}/cmake/suites.cmake")
"""
SUITES = f'clharness_add_suites(TARGET OpenCL::OpenCL SUITES discovery ARGS -k "{CHECK} and not ordinary")\n'


def headers() -> Path:
    """The folder of the OpenCL-Headers that this build was made with."""
    for line in (build().folder / "CMakeCache.txt").read_text().splitlines():
        name, _, value = line.partition("=")
        if name in ("CLHARNESS_OPENCL_HEADERS:PATH", "CLHARNESS_FOUND_HEADERS:PATH") and value:
            return Path(value)
    return Path("/usr/include")


def run(*command: str | Path, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """A command without what this process has in its environment of clharness; its output is in `stdout`."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("CLHARNESS_")}
    return subprocess.run(
        command,
        cwd=cwd,
        env=inherited | {"CTEST_OUTPUT_ON_FAILURE": "1"} | environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=900,
    )


def done(*command: str | Path, cwd: Path | None = None, **environment: str) -> str:
    """The output of a command that must succeed."""
    finished = run(*command, cwd=cwd, **environment)
    assert finished.returncode == 0, f"{' '.join(map(str, command))}\n{finished.stdout[-5000:]}"
    return finished.stdout


class Consumer:
    """A project in a folder of its own; `text` is its CMakeLists.txt after the project() command."""

    def __init__(
        self,
        folder: Path,
        text: str,
        cmake: str = "cmake",
        languages: str = "C",
        minimum: str = "3.16",
        tries_compiler: bool = True,
    ) -> None:
        self.folder = folder
        self.build = folder / "build"
        self.cmake = cmake
        folder.mkdir(exist_ok=True)
        # Where nothing is compiled, CMake does not try out the compiler, which takes longer than all the rest.
        trusted = "" if tries_compiler else "set(CMAKE_C_COMPILER_FORCED ON)\nset(CMAKE_C_COMPILER_ID_RUN ON)\n"
        head = f"cmake_minimum_required(VERSION {minimum})\n{trusted}project(consumer {languages})\n"
        (folder / "CMakeLists.txt").write_text(head + text)

    def add_loader(self) -> None:
        """Copies the sources of a loader to loader/."""
        place = self.folder / "loader"
        place.mkdir()
        here, there = ROOT / "harness" / "reference_loader", build().api.parent
        generated = [
            there.parent / "reference_loader" / "clharness_dispatch.c",
            *there.glob("clharness_functions.[ch]"),
        ]
        for file in (*here.glob("*.h"), *(here / name for name in SOURCES), *generated):
            shutil.copy(file, place)

    def make_faulty(self) -> None:
        source = self.folder / "loader" / "os_linux.c"
        text = source.read_text()
        assert text.count(SOUND) == 1
        source.write_text(text.replace(SOUND, FAULTY))

    def configure(self, *options: str) -> subprocess.CompletedProcess[str]:
        return run(self.cmake, "-S", self.folder, "-B", self.build, f"-DCLHARNESS_OPENCL_HEADERS={headers()}", *options)

    def compile(self, *options: str) -> str:
        return done(self.cmake, "--build", self.build, "--parallel", *options)

    def ctest(self, *options: str) -> subprocess.CompletedProcess[str]:
        return run(str(Path(shutil.which(self.cmake) or "cmake").with_name("ctest")), *options, cwd=self.build)

    def entries(self) -> list[str]:
        """The names of the tests that are registered."""
        listed = self.ctest("-N").stdout.splitlines()
        return [line.split(": ", 1)[1] for line in listed if ": " in line and "Test " in line and "#" in line]


def failed(ctest: subprocess.CompletedProcess[str]) -> Sequence[str]:
    """The names after "The following tests FAILED:"."""
    _, _, rest = ctest.stdout.partition("The following tests FAILED:")
    return [line.split(" - ")[1].split(" ")[0] for line in rest.splitlines() if " - " in line]
