# SPDX-License-Identifier: Apache-2.0
"""What a project must be told when it includes clharness and nothing, or something else, would be tested."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.build import ROOT, build
from tests.consumers import CLHARNESS, FUNCTIONS, SUITES, Consumer, run

# A library in the place of a loader: nothing is built here.
SHARED = "add_library(OpenCL SHARED empty.c)\nadd_library(OpenCL::OpenCL ALIAS OpenCL)\n"
TESTING = "enable_testing()\n"


def consumer(folder: Path, text: str) -> Consumer:
    project = Consumer(folder, text, tries_compiler=FUNCTIONS not in text)
    (folder / "empty.c").write_text("int nothing;\n")
    return project


def refused(project: Consumer, *options: str) -> str:
    """What CMake says where it must not configure; lines are joined, as CMake folds them."""
    done = project.configure(*options)
    assert done.returncode != 0, done.stdout
    return " ".join(done.stdout.split())


# What the functions refuse, they refuse in a subproject (the first) and as an installation has them, from one file.
ERRORS = {
    "no such target": (f"{CLHARNESS}clharness_add_suites(TARGET loader)", "there is no target 'loader' here"),
    "no target": (f"{FUNCTIONS}clharness_add_suites()", "TARGET is missing"),
    "static": (
        f"{FUNCTIONS}add_library(loader STATIC empty.c)\nclharness_add_suites(TARGET loader)",
        "'loader' is a target of type 'static library'",
    ),
    "program": (
        f"{FUNCTIONS}add_executable(loader empty.c)\nclharness_add_layer_test(TARGET loader)",
        "clharness_add_layer_test: 'loader' is a target of type 'executable'",
    ),
    "interface": (
        f"{FUNCTIONS}add_library(loader INTERFACE)\nclharness_add_icd_test(TARGET loader)",
        "clharness_add_icd_test: 'loader' is a target of type 'interface library'",
    ),
    "imported without a file": (
        f"{FUNCTIONS}add_library(loader SHARED IMPORTED)\nclharness_add_suites(TARGET loader)",
        "the imported target 'loader' has no file (IMPORTED_LOCATION)",
    ),
    "imported archive": (
        f"{FUNCTIONS}add_library(loader UNKNOWN IMPORTED)\n"
        "set_target_properties(loader PROPERTIES IMPORTED_LOCATION /usr/lib/libOpenCL.a)\n"
        "clharness_add_suites(TARGET loader)",
        "is a static library, /usr/lib/libOpenCL.a",
    ),
    "unknown suite": (
        f"{FUNCTIONS}{SHARED}clharness_add_suites(TARGET OpenCL SUITES discovry)",
        "there is no suite 'discovry'; the suites are discovery, dispatch, layers, interop, torture, vulkan",
    ),
    "unknown argument": (f"{FUNCTIONS}{SHARED}clharness_add_suites(TARGET OpenCL STRICT ON)", "unknown argument 'ON'"),
    "value missing": (
        f"{FUNCTIONS}{SHARED}clharness_add_suites(TARGET OpenCL EXPECTATIONS)",
        "EXPECTATIONS needs a value",
    ),
    "same target twice": (
        f"{FUNCTIONS}{SHARED}"
        "clharness_add_suites(TARGET OpenCL SUITES dispatch)\nclharness_add_suites(TARGET OpenCL STRICT)",
        "clharness_add_suites: there is a test clharness.dispatch.OpenCL in this folder already. "
        "Give one of the two calls a NAME",
    ),
    "same vendor twice": (
        f"{FUNCTIONS}{SHARED}"
        "clharness_add_icd_test(TARGET OpenCL NAME a)\nclharness_add_icd_test(TARGET OpenCL NAME a)",
        "clharness_add_icd_test: there is a test clharness.icd.a in this folder already",
    ),
    "names of one file": (
        f"{FUNCTIONS}{SHARED}add_library(A::B ALIAS OpenCL)\nadd_library(A-B ALIAS OpenCL)\n"
        "clharness_add_layer_test(TARGET A::B)\nclharness_add_layer_test(TARGET A-B)",
        "there is a test clharness.layer.A-B in this folder already",
    ),
    "name that is no name of a file": (
        f"{FUNCTIONS}{SHARED}clharness_add_suites(TARGET OpenCL NAME a/b)",
        "clharness_add_suites: NAME: 'a/b' has other characters than letters, digits and . _ + -",
    ),
    "help": (
        f"{FUNCTIONS}{SHARED}clharness_add_suites(TARGET OpenCL ARGS -k x --help)",
        "ARGS: with --help nothing is tested",
    ),
    "expectations that follow": (
        f"{FUNCTIONS}{SHARED}clharness_add_suites(TARGET OpenCL ARGS --update-expectations)",
        "ARGS: with --update-expectations nothing is tested",
    ),
    "another suite than its name says": (
        f"{FUNCTIONS}{SHARED}clharness_add_suites(TARGET OpenCL SUITES discovery ARGS --suite dispatch)",
        "clharness_add_suites: ARGS: which suites run is for SUITES to say, not for --suite",
    ),
    "another suite in one word": (
        f"{FUNCTIONS}{SHARED}clharness_add_suites(TARGET OpenCL ARGS -k x --suite=dispatch)",
        "ARGS: which suites run is for SUITES to say, not for --suite",
    ),
    "torture by an argument": (
        f"{FUNCTIONS}{SHARED}clharness_add_suites(TARGET OpenCL ARGS --torture)",
        "ARGS: which suites run is for SUITES to say, not for --torture",
    ),
    "exit codes for bisecting": (
        f"{FUNCTIONS}{SHARED}clharness_add_icd_test(TARGET OpenCL ARGS --bisect=old.jsonl)",
        "ARGS: with --bisect nothing is tested",
    ),
    "no such expectations": (
        f"{FUNCTIONS}{SHARED}clharness_add_suites(TARGET OpenCL EXPECTATIONS none.toml)",
        "EXPECTATIONS: there is no file",
    ),
    "no such loader": (
        f"{FUNCTIONS}{SHARED}clharness_add_layer_test(TARGET OpenCL LOADERS none)",
        "LOADERS: 'none' is neither a target nor a file",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_what_cannot_be_tested_does_not_configure(name: str, tmp_path: Path) -> None:
    text, sentence = ERRORS[name]
    assert sentence in refused(consumer(tmp_path, TESTING + text + "\n"))


def test_testing_that_is_not_enabled_is_an_error_unless_it_is_off(tmp_path: Path) -> None:
    project = consumer(tmp_path, f"{CLHARNESS}{SHARED}{SUITES}")
    assert "testing is not enabled here" in refused(project)
    assert project.configure("-DBUILD_TESTING=OFF").returncode == 0
    assert project.entries() == []


@pytest.mark.parametrize("enabled", ["enable_testing()\n", "include(CTest)\n"])
def test_each_suite_is_an_entry_however_testing_was_enabled(enabled: str, tmp_path: Path) -> None:
    project = consumer(tmp_path, f"{enabled}{CLHARNESS}{SHARED}clharness_add_suites(TARGET OpenCL)\n")
    configured = project.configure()
    assert configured.returncode == 0, configured.stdout
    assert project.entries() == [
        f"clharness.{suite}.OpenCL" for suite in ("discovery", "dispatch", "layers", "interop")
    ]


def test_target_has_more_entries_by_other_names(tmp_path: Path) -> None:
    calls = "".join(
        f"clharness_add_{entries}(TARGET OpenCL{name})\n"
        for entries in ("suites", "icd_test", "layer_test")
        for name in ("", " NAME strict STRICT", " NAME OpenCL-2.1")
    )
    project = consumer(tmp_path, f"{TESTING}{FUNCTIONS}{SHARED}{calls}")
    configured = project.configure()
    assert configured.returncode == 0, configured.stdout
    assert sorted(project.entries()) == sorted(
        f"clharness.{entry}.{name}"
        for entry in ("discovery", "dispatch", "layers", "interop", "icd", "layer")
        for name in ("OpenCL", "strict", "OpenCL-2.1")
    )
    files = [
        test["command"][test["command"].index("--junit") + 1]
        for test in json.loads(project.ctest("--show-only=json-v1").stdout)["tests"]
    ]
    assert len(set(files)) == 18


def test_entry_in_which_nothing_applies_has_failed_but_for_what_a_loader_may_lack(tmp_path: Path) -> None:
    every = "".join(f"clharness_add_{entries}(TARGET OpenCL)\n" for entries in ("suites", "icd_test", "layer_test"))
    project = consumer(tmp_path, f"{TESTING}{FUNCTIONS}{SHARED}{every}")
    assert project.configure().returncode == 0
    listed = json.loads(project.ctest("--show-only=json-v1").stdout)["tests"]
    skips = {t["name"]: [p["value"] for p in t["properties"] if p["name"] == "SKIP_RETURN_CODE"] for t in listed}
    suites = {"discovery": [], "dispatch": [], "layers": [77], "interop": [77], "icd": [], "layer": []}
    assert skips == {f"clharness.{entry}.OpenCL": codes for entry, codes in suites.items()}


def test_vulkan_loader_has_an_entry_of_its_own(tmp_path: Path) -> None:
    project = consumer(tmp_path, f"{TESTING}{FUNCTIONS}{SHARED}clharness_add_suites(TARGET OpenCL SUITES vulkan)\n")
    assert project.configure().returncode == 0
    assert project.entries() == ["clharness.vulkan.OpenCL"]
    (entry,) = json.loads(project.ctest("--show-only=json-v1").stdout)["tests"]
    assert "--vulkan" in entry["command"] and "SKIP_RETURN_CODE" not in {p["name"] for p in entry["properties"]}


def test_torture_is_an_entry_where_it_is_asked_for(tmp_path: Path) -> None:
    call = "clharness_add_suites(TARGET OpenCL SUITES torture LABELS slow)\n"
    project = consumer(tmp_path, f"{TESTING}{FUNCTIONS}{SHARED}{call}")
    assert project.configure().returncode == 0
    assert project.entries() == ["clharness.torture.OpenCL"]
    (entry,) = json.loads(project.ctest("--show-only=json-v1").stdout)["tests"]
    assert "--torture" in entry["command"] and "SKIP_RETURN_CODE" not in {p["name"] for p in entry["properties"]}


@pytest.mark.parametrize("order", ["before", "after"])
def test_target_named_as_usual_is_tested_without_a_call(order: str, tmp_path: Path) -> None:
    parts = (CLHARNESS, SHARED) if order == "before" else (SHARED, CLHARNESS)
    project = consumer(tmp_path, TESTING + "".join(parts))
    configured = project.configure()
    assert configured.returncode == 0, configured.stdout
    assert "clharness.dispatch.OpenCL::OpenCL" in project.entries() and len(project.entries()) == 4


def test_project_that_tests_nothing_does_not_configure(tmp_path: Path) -> None:
    project = consumer(tmp_path, f"{TESTING}{CLHARNESS}add_library(my_loader SHARED empty.c)\n")
    assert "nothing is tested with it: call clharness_add_suites" in refused(project)
    assert project.configure("-DBUILD_TESTING=OFF").returncode == 0


# As CMake's own module makes it of a library, and as Khronos' package does.
PACKAGES = {
    "OpenCL": "add_library(OpenCL::OpenCL UNKNOWN IMPORTED)\nset(OpenCL_FOUND ON)\n"
    "set_target_properties(OpenCL::OpenCL PROPERTIES IMPORTED_LOCATION {})\n",
    "OpenCLICDLoader": "add_library(OpenCL::OpenCL SHARED IMPORTED)\nset(OpenCLICDLoader_FOUND ON)\n"
    "set_target_properties(OpenCL::OpenCL PROPERTIES IMPORTED_LOCATION_NONE {} IMPORTED_CONFIGURATIONS NONE)\n",
}


@pytest.mark.parametrize("package", PACKAGES)
def test_loader_of_a_package_is_not_tested_without_a_call(package: str, tmp_path: Path) -> None:
    """A vendor's project may have found the system's for its own programs; what it builds would not be tested."""
    system = tmp_path / "libOpenCL.so.1"
    system.touch()
    project = consumer(tmp_path / "project", "")
    found = f"list(APPEND CMAKE_MODULE_PATH {project.folder})\nfind_package({package} REQUIRED)\n"
    head = (project.folder / "CMakeLists.txt").read_text()

    def make(file: str, text: str = "") -> Consumer:
        (project.folder / f"Find{package}.cmake").write_text(PACKAGES[package].format(file))
        (project.folder / "CMakeLists.txt").write_text(f"{head}{TESTING}{CLHARNESS}{found}{text}")
        return project

    sentence = f"the target OpenCL::OpenCL is not of this project, but {system}: call clharness_add_suites"
    assert sentence in refused(make(str(system)))
    called = "clharness_add_suites(TARGET OpenCL::OpenCL)\n"
    for file, text in (("${CMAKE_BINARY_DIR}/stage/libOpenCL.so", ""), (str(system), called)):
        configured = make(file, text).configure()
        assert configured.returncode == 0, configured.stdout
        assert len(project.entries()) == 4


def test_loader_of_a_path_is_tested(tmp_path: Path) -> None:
    project = consumer(tmp_path, f"{TESTING}{CLHARNESS}")
    assert "CLHARNESS_LOADER: there is no file /nowhere/libOpenCL.so" in refused(
        project, "-DCLHARNESS_LOADER=/nowhere/libOpenCL.so"
    )
    assert project.configure(f"-DCLHARNESS_LOADER={build().reference_loader}").returncode == 0
    assert len(project.entries()) == 4
    assert str(build().reference_loader) in project.ctest("-N", "-V").stdout


# --- where it is built ---


def test_folder_of_the_sources_is_not_built_in(tmp_path: Path) -> None:
    """Where a project is built in its own folder: the command there would take the place of the one that sets up."""
    place = tmp_path / "external" / "clharness"
    shutil.copytree(ROOT / "cmake", place / "cmake")
    shutil.copy(ROOT / "CMakeLists.txt", place)
    (place / "harness").mkdir()
    shutil.copy(ROOT / "harness" / "__init__.py", place / "harness")
    before = sorted(place.rglob("*"))
    project = consumer(tmp_path, f"{TESTING}{SHARED}add_subdirectory(external/clharness)\n{SUITES}")
    project.build = tmp_path
    assert "clharness is not built in the folder of its sources" in refused(project)
    assert sorted(path for path in place.rglob("*") if "CMakeFiles" not in path.parts) == before

    project = consumer(tmp_path, f"{TESTING}{SHARED}{CLHARNESS}{SUITES}")
    project.build = tmp_path
    configured = project.configure()
    assert configured.returncode == 0, configured.stdout
    assert project.entries() == ["clharness.discovery.OpenCL::OpenCL"]


# --- Python ---


def test_python_that_is_named_must_exist_and_have_the_modules(tmp_path: Path) -> None:
    project = consumer(tmp_path, f"{TESTING}{CLHARNESS}{SHARED}{SUITES}")
    assert "CLHARNESS_PYTHON: /nowhere/python3 does not exist" in refused(
        project, "-DCLHARNESS_PYTHON=/nowhere/python3"
    )
    without = tmp_path / "python"
    without.write_text('#!/bin/sh\necho "rich>=13.3" >&2\nexit 1\n')
    without.chmod(0o755)
    assert f"{without} lacks rich>=13.3" in refused(project, f"-DCLHARNESS_PYTHON={without}")
    assert project.configure(f"-DCLHARNESS_PYTHON={sys.executable}").returncode == 0


# --- what is built ---


def test_half_built_subproject_advises_a_command_that_works(tmp_path: Path) -> None:
    excluded = CLHARNESS.replace("clharness)", "clharness EXCLUDE_FROM_ALL)")
    imported = 'add_library(loader SHARED IMPORTED)\nset_target_properties(loader PROPERTIES IMPORTED_LOCATION "{}")\n'
    text = f"{TESTING}{excluded}{imported.format(build().reference_loader)}clharness_add_suites(TARGET loader)\n"
    project = consumer(tmp_path, text)
    assert project.configure("-G", "Ninja").returncode == 0
    project.compile()

    red = project.ctest("-R", "discovery")
    assert red.returncode == 8, red.stdout
    advice = f"cmake --build {project.build} --target clharness_all"
    assert advice in red.stdout and "is not complete" in red.stdout

    assert run(*advice.split(), "--", "-n").returncode == 0


def test_guest_builds_neither_fuzz_targets_nor_mutants(tmp_path: Path) -> None:
    project = consumer(tmp_path, f"{TESTING}{CLHARNESS}{SHARED}{SUITES}")
    option = "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"
    assert project.configure(option).returncode == 0
    files, own = compiled(project.build), tmp_path / "own"
    assert not [file for file in files if "/fuzz/" in file.removeprefix(str(ROOT)) or "/seeded/" in file]
    subprocess.run(["cmake", "-S", ROOT, "-B", own, option], check=True, capture_output=True)
    assert 50 < len(files) < len(compiled(own)) / 1.5


def compiled(folder: Path) -> list[str]:
    """What the build in a folder compiles."""
    return [entry["file"] for entry in json.loads((folder / "compile_commands.json").read_text())]


# --- what the including project keeps ---


def test_nothing_of_the_including_project_changes(tmp_path: Path) -> None:
    look = 'string(REPLACE ";" "\\n" text "{}")\nfile(WRITE ${{CMAKE_BINARY_DIR}}/{} "${{text}}")\n'
    values = """
set(state "")
get_cmake_property(names VARIABLES)
foreach(name IN LISTS names)
  if(name MATCHES "^(CMAKE|BUILD)_" AND NOT name MATCHES "^CMAKE_(CURRENT|PARENT|THREAD|HAVE)")
    string(APPEND state "${name}=${${name}}|")
  endif()
endforeach()
get_directory_property(options COMPILE_OPTIONS)
get_directory_property(definitions COMPILE_DEFINITIONS)
get_directory_property(tests TESTS)
string(APPEND state "${options}|${definitions}|${tests}")
"""
    before = values + look.format("${state}", "before.txt") + "get_cmake_property(cached CACHE_VARIABLES)\n"
    before += look.format("${cached}", "cache-before.txt")
    after = values + look.format("${state}", "after.txt") + "get_cmake_property(cached CACHE_VARIABLES)\n"
    after += look.format("${cached}", "cache-after.txt")
    project = consumer(
        tmp_path, f"add_compile_options(-Wall)\nadd_definitions(-DX)\n{before}{CLHARNESS}{after}{SHARED}"
    )
    configured = project.configure()
    assert configured.returncode == 0, configured.stdout

    def words(name: str, mark: str) -> set[str]:
        return set((project.build / name).read_text().split(mark))

    assert words("before.txt", "|") == words("after.txt", "|") and len(words("after.txt", "|")) > 50
    new = words("cache-after.txt", "\n") - words("cache-before.txt", "\n")
    # CMake's own modules (Threads) keep their results under these names.
    strange = {n for n in new if not n.startswith(("CLHARNESS_", "clharness_", "FIND_PACKAGE_MESSAGE", "CMAKE_HAVE_"))}
    assert "CLHARNESS_PYTHON" in new and strange == set()


def test_variables_of_the_including_project_are_not_taken_for_ours(tmp_path: Path) -> None:
    """Words like `known` and `file`, in its cache, too, where they would show through what has no value."""
    files = [ROOT / "CMakeLists.txt", *(ROOT / "cmake").glob("*.cmake"), *ROOT.glob("[hm]*/**/CMakeLists.txt")]
    names = {name for file in files for name in re.findall(r"\$\{([a-z_]+)\}", file.read_text())}
    assert len(names) > 50
    values = "".join(f'set({name} poison)\nset({name} poison CACHE STRING "")\n' for name in sorted(names))
    project = consumer(tmp_path, f"{TESTING}{values}{CLHARNESS}{SHARED}{SUITES}")
    configured = project.configure()
    assert configured.returncode == 0, configured.stdout
    assert project.entries() == ["clharness.discovery.OpenCL::OpenCL"]
    assert "poison" not in project.ctest("-N", "-V").stdout
    assert "poison" not in (project.build / "clharness" / "clharness.json").read_text()


@pytest.mark.skipif(not shutil.which("make"), reason="make is not installed")
def test_every_target_has_the_prefix(tmp_path: Path) -> None:
    project = consumer(tmp_path, f"{TESTING}{CLHARNESS}{SHARED}{SUITES}")
    assert project.configure("-G", "Unix Makefiles").returncode == 0
    listed = run("make", "-C", project.build, "help").stdout.splitlines()
    names = {line.split()[1] for line in listed if line.startswith("... ") and not line.endswith((".o", ".i", ".s"))}
    assert "clharness_probe" in names
    cmakes_own = {"all", "clean", "depend", "edit_cache", "rebuild_cache", "test", "OpenCL"}
    assert {name for name in names if not name.startswith("clharness_")} <= cmakes_own | {"list_install_components"}
