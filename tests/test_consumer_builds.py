# SPDX-License-Identifier: Apache-2.0
"""clharness in other projects, in the configurations that loaders use: a sound loader is green, a faulty one red."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.build import ROOT
from tests.consumers import CHECK, CLHARNESS, LOADER, SUITES, Consumer, failed, run
from tests.samples import WHOLE

NAME = "clharness.discovery.OpenCL::OpenCL"
FETCH = f"""
include(FetchContent)
FetchContent_Declare(clharness SOURCE_DIR "{ROOT}")
FetchContent_MakeAvailable(clharness)
"""
# What loaders switch on for their own targets, before any subproject.
STRICT = """
add_compile_options(-Wall -Wextra -Werror -Wconversion -Wshadow -Werror=missing-prototypes -pedantic-errors -std=c90)
add_compile_options($<$<C_COMPILER_ID:GNU>:-fanalyzer> $<$<CONFIG:Debug>:-ftrapv>)
add_compile_definitions(CL_TARGET_OPENCL_VERSION=120 CL_NO_PROTOTYPES _GNU_SOURCE)
add_link_options(-Wl,--no-undefined -Wl,-z,now)
"""
FOLDERS = """
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY_DEBUG ${CMAKE_BINARY_DIR}/lib/debug)
set(CMAKE_DEBUG_POSTFIX d)
"""
BY_NAME = 'set_target_properties(OpenCL PROPERTIES OUTPUT_NAME myopencl-$<CONFIG> PREFIX "")\n'


@dataclass(frozen=True)
class Configuration:
    """A project's CMakeLists.txt, and how it is configured, built and tested."""

    text: str
    options: tuple[str, ...] = ()
    build: tuple[str, ...] = ()
    generator: str = "Ninja"
    needs: str = "gcc"
    languages: str = "C"

    @property
    def configuration(self) -> tuple[str, ...]:
        """For ctest."""
        return ("-C", self.build[1]) if self.build else ()


T = "enable_testing()\n"
# What is for Vulkan is built in the same way (tests/test_consumer_settings.py looks at all targets).
WITHOUT_VULKAN = () if WHOLE else ("-DCLHARNESS_VULKAN_HEADERS=OFF",)
CONFIGURATIONS = {
    # It builds the whole harness, which takes as long as hundreds of other tests: what goes together is one project.
    "clang, several configurations, fetched before the loader, in C++, folders, names, unity": Configuration(
        f"include(CTest)\n{FOLDERS}{FETCH}enable_language(C)\n{LOADER}{BY_NAME}{SUITES}",
        (
            "-DCMAKE_C_COMPILER=clang",
            "-DCMAKE_UNITY_BUILD=ON",
            "-DBUILD_SHARED_LIBS=ON",
            "-DCMAKE_C_CLANG_TIDY=false",
            "-DCMAKE_POSITION_INDEPENDENT_CODE=OFF",
            "-DCMAKE_C_VISIBILITY_PRESET=hidden",
            "-DCMAKE_C_EXTENSIONS=OFF",
            "-DCMAKE_C_STANDARD=99",
            "-DCMAKE_SHARED_LINKER_FLAGS=-Wl,-Bsymbolic-functions",
            "-DCMAKE_MODULE_LINKER_FLAGS=-Wl,--no-undefined",
            *WITHOUT_VULKAN,
        ),
        generator="Ninja Multi-Config",
        build=("--config", "Debug"),
        needs="clang",
        languages="CXX",
    ),
}
# What else is as common among loaders, most of it one thing at a time: for ci/nightly. (That no setting of a project
# reaches our targets tests/test_consumer_settings.py looks at in each run.)
FURTHER = {
    "make, after the loader, sanitizers, warnings are errors, link-time optimisation": Configuration(
        f"{T}{STRICT}set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)\n{LOADER}{CLHARNESS}{SUITES}",
        (
            "-DCMAKE_BUILD_TYPE=Debug",
            "-DCMAKE_C_FLAGS=-fsanitize=address,undefined --coverage "
            "-Werror -Wcast-qual -std=c89 -D_FILE_OFFSET_BITS=64",
            "-DCMAKE_C_COMPILER=gcc",
            "-DCMAKE_C_STANDARD=90",
            *WITHOUT_VULKAN,
        ),
        generator="Unix Makefiles",
    ),
    "Debug, before the loader": Configuration(f"{T}{CLHARNESS}{LOADER}{SUITES}", ("-DCMAKE_BUILD_TYPE=Debug",)),
    "Release of several configurations, fetched after the loader": Configuration(
        f"include(CTest)\n{LOADER}{FETCH}{SUITES}", generator="Ninja Multi-Config", build=("--config", "Release")
    ),
    "link-time optimisation, in C++": Configuration(
        f"{T}set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)\n{CLHARNESS}enable_language(C)\n{LOADER}{SUITES}",
        needs="g++",
        languages="CXX",
    ),
}
if WHOLE:
    CONFIGURATIONS |= FURTHER


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_faulty_loader_is_red_and_sound_one_green(name: str, tmp_path: Path) -> None:
    chosen = CONFIGURATIONS[name]
    languages = ["c++"] if chosen.languages == "CXX" else []
    for program in (chosen.needs, "make" if "Make" in chosen.generator else "ninja", *languages):
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed")
    if not re.search(rf"^[* ] {chosen.generator} *=", run("cmake", "--help").stdout, re.M):
        pytest.skip(f"this CMake has no generator {chosen.generator}")
    project = Consumer(tmp_path / "con sümer (1)", chosen.text, languages=chosen.languages)
    project.add_loader()
    configured = project.configure("-G", chosen.generator, *chosen.options)
    assert configured.returncode == 0, configured.stdout
    project.compile(*chosen.build)

    sound = project.ctest(*chosen.configuration, "-V")
    assert sound.returncode == 0, sound.stdout
    assert re.search(r"^100% tests passed(, 0 tests failed)? out of 1$", sound.stdout, re.M), sound.stdout
    assert "clharness reference loader 1.2.3" in sound.stdout and "as expected, 5 cases" in sound.stdout
    command = next(line for line in sound.stdout.splitlines() if "Test command:" in line)
    assert f'"loader" "{project.build}' in command, "the project's own loader was tested"
    assert project.entries() == [NAME]

    project.make_faulty()
    project.compile(*chosen.build, "--target", "OpenCL")
    faulty = project.ctest(*chosen.configuration)
    assert faulty.returncode == 8, faulty.stdout
    assert failed(faulty) == [NAME]
    assert CHECK in faulty.stdout and "DISC-LNX-013" in faulty.stdout
