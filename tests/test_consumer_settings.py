# SPDX-License-Identifier: Apache-2.0
"""What an including project has set for its own targets does not reach ours, whichever of CMake's settings it is."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

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


# Words that would change what our parts do, or break their build; none of them is about the machine.
FOREIGN_WORDS = (
    "-D_FILE_OFFSET_BITS=64 -D_POSIX_C_SOURCE=200809L -DNAME=value -UNDEBUG -include forced.h -imacros forced.h "
    "-Iinclude -I include -iquote include -Wp,-D_FORTIFY_SOURCE=3 -Ofast -ffast-math -pg -finstrument-functions "
    "-fshort-enums -fno-common -Wno-error -std=c17 -nostdlib -s"
)
FOREIGN_LINKS = "-Wl,-z,nodelete -Wl,--version-script=loader.map -Wl,--wrap=malloc -no-pie -lforeign -nodefaultlibs"
MACHINE_WORDS = '-m64 -march=x86-64 -mtune=generic -O1 -g3 --sysroot=/ -isystem "/a folder" -B/tools'
MACHINE_LINKS = "-m64 -fuse-ld=bfd -L/libraries -Wl,-rpath,/libraries"


@pytest.mark.parametrize("place", ["variables", "options", "conditions"])
def test_flags_of_the_including_project_stay_where_the_machine_needs_them(place: str, tmp_path: Path) -> None:
    compiling, linking = f"{FOREIGN_WORDS} {MACHINE_WORDS}", f"{MACHINE_LINKS} {FOREIGN_LINKS}"
    text = f"set(CMAKE_C_FLAGS [[{compiling}]])\nset(CMAKE_MODULE_LINKER_FLAGS [[{linking}]])\n"
    if place == "options":
        text = f"add_compile_options([[SHELL:{compiling}]])\nadd_link_options({linking})\n"
    elif place == "conditions":
        one, two = (re.sub(r" (?=-)", ">;$<$<CONFIG:Debug>:", words) for words in (FOREIGN_WORDS, linking))
        one = one.replace(" ", ";")
        text = f"add_compile_options($<$<CONFIG:Debug>:{one}>)\nadd_link_options($<$<CONFIG:Debug>:{two}>)\n"
    project = Consumer(tmp_path, f"set(BUILD_TESTING OFF)\n{text}{CLHARNESS}")
    configured = project.configure("-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
    assert configured.returncode == 0, configured.stdout

    commands = [entry["command"] for entry in json.loads((project.build / "compile_commands.json").read_text())]
    assert len(commands) > 50
    for command in commands:
        words = shlex.split(command)
        assert not [word for word in words if word in FOREIGN_WORDS.split()], command
        if place != "conditions":
            assert not set(shlex.split(MACHINE_WORDS)) - set(words), command
    rules = (project.build / "build.ninja").read_text()
    module = rules.partition("build clharness/harness/probe/libclharness_torture.so:")[2].partition("\n\n")[0]
    words = shlex.split(
        " ".join(line for line in module.splitlines() if "LINK_FLAGS" in line or "LANGUAGE_COMPILE" in line)
    )
    needed = {word for word in MACHINE_LINKS.split() if place != "conditions" or not word.startswith("-Wl,")}
    assert not set(words) & set(FOREIGN_LINKS.split()) and needed <= set(words), words


def test_command_of_a_project_starts_whatever_is_in_its_path(tmp_path: Path) -> None:
    project = Consumer(tmp_path / "it's & [more], a+b (c)", f"enable_testing()\n{CLHARNESS}set(BUILD_TESTING OFF)\n")
    configured = project.configure("-DBUILD_TESTING=OFF")
    assert configured.returncode == 0, configured.stdout
    started = run(project.build / "clharness" / "clharness", "--version")
    assert started.returncode == 0 and started.stdout.startswith("clharness "), started.stdout
