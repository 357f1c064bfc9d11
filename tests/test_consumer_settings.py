# SPDX-License-Identifier: Apache-2.0
"""What an including project has set for its own targets does not reach ours, whichever of CMake's settings it is."""

from __future__ import annotations

import re
from pathlib import Path

from tests.consumers import CLHARNESS, Consumer, run

# Variables that CMake's own manual says to be the default of a target's property.
DEFAULT = re.compile(r"initiali[sz]e|default (value )?(for|of)|``[A-Z_]+`` property", re.I)
# Of other languages, systems and tools; and those that ours follow on purpose: launchers, pools and the emulator are
# how the machine works, what the manual calls ignored has no effect.
FOREIGN = re.compile(
    r"(^|_)(CXX|CUDA|HIP|ISPC|OBJC|OBJCXX|Swift|Fortran)(_|$)|ANDROID|AIX|APPLE|AUTO(GEN|MOC|RCC|UIC)_|CSharp|DEBUGGER|DLL_NAME|DOTNET|"
    r"FRAMEWORK|GHS|GLOBAL_AUTO|GNUtoMS|INSTALL_NAME_DIR|IOS|MACOSX|MFC|MSVC|OSX|PDB|QT|RULE_MESSAGES|TEST_LAUNCHER|VS_|WATCOM|WIN32|WINDOWS|XCODE|"
    r"COMPILER_LAUNCHER|LINKER_LAUNCHER|CROSSCOMPILING_EMULATOR|JOB_POOL|EXPORT_(COMPILE|BUILD)|LINK_INTERFACE_LIBRARIES|"
    r"MAP_IMPORTED_CONFIG|FOLDER|PCH|PRECOMPILE|BATCH_SIZE|COLOR|LINKER_TYPE|POSITION_INDEPENDENT"
)
# What has words for values, of which the manual refuses all others.
VALUES = {"INSTALL_OBJECT_NAME_STRATEGY": "SHORT", "LINK_LIBRARIES_STRATEGY": "REORDER_FREELY"}
# Besides those of the manual: parts of file names, and a property without a word of that kind.
OTHERS = ["SHARED_LIBRARY_PREFIX", "SHARED_LIBRARY_SUFFIX", "SHARED_MODULE_SUFFIX", "EXECUTABLE_SUFFIX"]
LOOK = """
function(show folder)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(type MATCHES "EXECUTABLE|LIBRARY" AND NOT type STREQUAL "INTERFACE_LIBRARY")
      foreach(name IN LISTS names)
        get_target_property(value ${target} ${name})
        if(value)
          file(APPEND ${CMAKE_BINARY_DIR}/properties.txt "${target} ${name}=${value}\\n")
        endif()
      endforeach()
      if(NOT type STREQUAL "OBJECT_LIBRARY")
        file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/files/${target} CONTENT $<TARGET_FILE_NAME:${target}>)
      endif()
    endif()
  endforeach()
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(below IN LISTS folders)
    show(${below})
  endforeach()
endfunction()
file(WRITE ${CMAKE_BINARY_DIR}/properties.txt "")
show(${CMAKE_CURRENT_SOURCE_DIR})
"""


def settings() -> list[str]:
    """The names of properties that variables of the same name, with CMAKE_ before it, are the default of."""
    manual = run("cmake", "--help-variables").stdout
    parts = re.split(r"\n(CMAKE_\S+)\n-{3,}\n", manual)[1:]
    known = set(re.findall(r"^(\S+)\n-{3,}$", run("cmake", "--help-properties").stdout, re.M))
    names = [
        name.removeprefix("CMAKE_") for name, text in zip(parts[::2], parts[1::2], strict=True) if DEFAULT.search(text)
    ]
    of_c = [name.replace("<LANG>", "C").replace("<CONFIG>", "DEBUG") for name in names if name in known]
    return sorted({name for name in of_c if not FOREIGN.search(name)})


def test_no_setting_of_the_including_project_reaches_our_targets(tmp_path: Path) -> None:
    names = settings()
    assert len(names) > 25 and {"UNITY_BUILD", "LINK_LIBRARIES_ONLY_TARGETS", "BUILD_RPATH"} <= set(names)
    shown = {}
    for kind in ("without", "with"):
        values = "".join(
            f"set(CMAKE_{name} {VALUES.get(name, 'ON')})\n" for name in [*names, *OTHERS] if kind == "with"
        )
        look = f"set(names {' '.join(names)})\n{LOOK}"
        project = Consumer(tmp_path / kind, f"set(BUILD_TESTING OFF)\n{values}{CLHARNESS}{look}")
        configured = project.configure("-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug")
        assert configured.returncode == 0, configured.stdout
        lines = (project.build / "properties.txt").read_text().replace(str(project.folder), "").splitlines()
        files = {path.name: path.read_text() for path in (project.build / "files").iterdir()}
        shown[kind] = (set(lines), files)
    assert len(shown["without"][0]) > 100 and len(shown["without"][1]) > 40
    assert shown["with"] == shown["without"]


def test_command_of_a_project_starts_whatever_is_in_its_path(tmp_path: Path) -> None:
    project = Consumer(tmp_path / "it's & [more], a+b (c)", f"enable_testing()\n{CLHARNESS}set(BUILD_TESTING OFF)\n")
    configured = project.configure("-DBUILD_TESTING=OFF")
    assert configured.returncode == 0, configured.stdout
    started = run(project.build / "clharness" / "clharness", "--version")
    assert started.returncode == 0 and started.stdout.startswith("clharness "), started.stdout
