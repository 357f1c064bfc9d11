# SPDX-License-Identifier: Apache-2.0
"""Loaders of other projects that need a library of the project's own: found by the environment of the ctest entry or of
the user, or by a path of the build; a sound one is green, a faulty one red by its requirement.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.build import build
from harness.cli.main import main
from tests.consumers import CHECK, FUNCTIONS, LOADER, Consumer, failed

NAME = "clharness.discovery.OpenCL::OpenCL"
# Also linked to the program, in private roots, elevated, and where the case names folders of its own.
CHECKS = f"({CHECK} and not ordinary) or test_bare_name_is_searched or test_all_variables_at_once or compiled_in"
SUITES = 'clharness_add_suites(TARGET OpenCL::OpenCL SUITES discovery{} ARGS -k "{}")\n'
HELPER = """
file(WRITE ${CMAKE_BINARY_DIR}/helper.c "int help_loading(void) { return 1; }\\n")
file(WRITE ${CMAKE_BINARY_DIR}/use.c "int help_loading(void);
__attribute__((constructor)) static void use(void) { help_loading(); }\\n")
add_library(helper SHARED ${CMAKE_BINARY_DIR}/helper.c)
set_target_properties(helper PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/helpers UNITY_BUILD OFF)
target_sources(OpenCL PRIVATE ${CMAKE_BINARY_DIR}/use.c)
"""
LINKED = "target_link_libraries(OpenCL PRIVATE helper)\n"
HIDDEN = f"{LINKED}set_target_properties(OpenCL PROPERTIES SKIP_BUILD_RPATH ON)\n"


def entry(properties: str) -> str:
    return f"set_tests_properties({NAME} PROPERTIES {properties})\n"


# A loader that cannot be used without a variable of its own.
NEEDY = """
#include <stdlib.h>
#include <string.h>
__attribute__((constructor)) static void need(void)
{
    const char *value = getenv("MINE");
    if (!value || strcmp(value, "a b;c=d")) abort();
}
"""


# Lines of the project before the entry and, after an @, those after it.
WAYS = {
    "path of the build": LINKED,
    "ENVIRONMENT_MODIFICATION": (
        HIDDEN + "@" + entry("ENVIRONMENT_MODIFICATION LD_LIBRARY_PATH=path_list_prepend:$<TARGET_FILE_DIR:helper>")
    ),
    "preloaded": f"add_dependencies(OpenCL helper)\n@{entry('ENVIRONMENT LD_PRELOAD=$<TARGET_FILE:helper>')}",
}


@pytest.mark.parametrize("way", WAYS)
def test_loader_that_needs_a_library_of_its_project(way: str, tmp_path: Path) -> None:
    before, _, after = WAYS[way].partition("@")
    check_sound_and_faulty(project(tmp_path, f"{HELPER}{before}{SUITES.format('', CHECKS)}{after}"))


def test_variables_of_the_project_reach_its_loader_in_every_case(tmp_path: Path) -> None:
    """With blanks, semicolons and signs; folders of libraries by the same option."""
    (tmp_path / "need.c").write_text(NEEDY)
    needs = f'target_sources(OpenCL PRIVATE "{tmp_path}/need.c")\n{HELPER}{HIDDEN}'
    variables = ' ENVIRONMENT "MINE=a b;c=d" "LD_LIBRARY_PATH=$<TARGET_FILE_DIR:helper>"'
    check_sound_and_faulty(project(tmp_path, needs + SUITES.format(variables, CHECKS)))


@pytest.mark.parametrize("text", ["MINE", "=1", "OCL_ICD_VENDORS=/nowhere", "OPENCL_LAYERS=x"])
def test_what_cases_set_themselves_is_not_a_variable_of_the_project(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["loader", str(build().reference_loader), "--env", text, "-k", "fifo"]) == 2
    assert f"--env {text}: " in capsys.readouterr().err


def project(folder: Path, text: str) -> Consumer:
    """A loader, configured; `text` follows it."""
    project = Consumer(folder / "consumer", f"enable_testing()\n{FUNCTIONS}{LOADER}{text}")
    project.add_loader()
    configured = project.configure()
    assert configured.returncode == 0, configured.stdout
    return project


def check_sound_and_faulty(project: Consumer) -> None:
    project.compile()
    sound = project.ctest("-V")
    assert sound.returncode == 0 and "as expected" in sound.stdout, sound.stdout
    project.make_faulty()
    project.compile()
    faulty = project.ctest()
    assert failed(faulty) == [NAME], faulty.stdout
    assert "DISC-LNX-013" in faulty.stdout and "libhelper" not in faulty.stdout
