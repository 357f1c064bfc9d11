# SPDX-License-Identifier: Apache-2.0
"""Layers and vendors' ICDs of other projects, tested by ctest with the project's own loader: a sound one is green, one
that does one thing wrong is red by the requirement, under its own name.
"""

from __future__ import annotations

import re

import pytest

from harness.build import ROOT
from tests.consumers import FUNCTIONS, LOADER, Consumer, failed

# An ICD of one platform, which answers queries of strings. FAULTY: the reported size of a string is one too small.
DRIVER = """
#include <CL/cl_icd.h>
#include <string.h>
extern int help_loading(void);
static struct _cl_icd_dispatch table;
static struct { struct _cl_icd_dispatch *table; } platform = {&table};
static cl_int CL_API_CALL get_ids(cl_uint room, cl_platform_id *to, cl_uint *count)
{
    if ((to && !room) || (!to && !count)) return CL_INVALID_VALUE;
    if (to) *to = (cl_platform_id)&platform;
    if (count) *count = 1;
    return CL_SUCCESS;
}
static cl_int CL_API_CALL get_info(cl_platform_id p, cl_platform_info name, size_t room, void *to, size_t *needed)
{
    const char *text = name == CL_PLATFORM_PROFILE ? "FULL_PROFILE" : name == CL_PLATFORM_VERSION ? "OpenCL 1.2 mine"
        : name == CL_PLATFORM_NAME ? "mine" : name == CL_PLATFORM_VENDOR ? "me"
        : name == CL_PLATFORM_EXTENSIONS ? "cl_khr_icd" : name == CL_PLATFORM_ICD_SUFFIX_KHR ? "MINE" : NULL;
    size_t size = text ? strlen(text) + !FAULTY : 0;
    if (!text || (to && room < size)) return CL_INVALID_VALUE;
    if (to) memcpy(to, text, size);
    if (needed) *needed = size;
    return CL_SUCCESS;
}
static cl_int CL_API_CALL get_devices(cl_platform_id p, cl_device_type t, cl_uint n, cl_device_id *d, cl_uint *count)
{
    return CL_DEVICE_NOT_FOUND;
}
void *CL_API_CALL clGetExtensionFunctionAddress(const char *name)
{
    return !strcmp(name, "clIcdGetPlatformIDsKHR") ? (void *)get_ids
        : !strcmp(name, "clGetPlatformInfo") ? (void *)get_info : NULL;
}
__attribute__((constructor)) static void begin(void)
{
    table.clGetPlatformInfo = get_info;
    table.clGetDeviceIDs = get_devices;
    table.clGetExtensionFunctionAddress = clGetExtensionFunctionAddress;
    help_loading();
}
cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id p, cl_platform_info n, size_t r, void *t, size_t *m)
{
    return get_info(p, n, r, t, m);
}
cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint room, cl_platform_id *to, cl_uint *count)
{
    return get_ids(room, to, count);
}
"""
# A module whose name has a sign, and a shared library with a version, another name and an alias; both need a library
# that only their environment names. The layer that is faulty takes NULL for its target.
LIBRARIES = """
file(WRITE ${CMAKE_BINARY_DIR}/helper.c "int help_loading(void) { return 1; }\\n")
add_library(helper SHARED ${CMAKE_BINARY_DIR}/helper.c)
set_target_properties(helper PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/helpers)
add_library(my-layer MODULE layer.c)
add_library(my_driver SHARED driver.c)
add_library(mine::driver ALIAS my_driver)
set_target_properties(my_driver PROPERTIES VERSION 2.1 SOVERSION 2 OUTPUT_NAME another.name)
foreach(target my-layer my_driver)
  target_include_directories(${target} PRIVATE "${CLHARNESS_OPENCL_HEADERS}")
  target_compile_options(${target} PRIVATE -w)
  target_compile_definitions(${target} PRIVATE FAULTY=$<BOOL:${FAULTY}>)
  target_link_libraries(${target} PRIVATE helper)
  set_target_properties(${target} PROPERTIES SKIP_BUILD_RPATH ON)
endforeach()
"""
ENTRIES = """
clharness_add_layer_test(TARGET my-layer LOADERS OpenCL::OpenCL ENVIRONMENT "MINE=a b;c" ARGS -k "null")
clharness_add_icd_test(TARGET mine::driver LOADERS OpenCL ENVIRONMENT "MINE=a b;c" ARGS -k "test_string_fits_memory")
set_tests_properties(clharness.layer.my-layer clharness.icd.mine::driver PROPERTIES
  ENVIRONMENT "LD_LIBRARY_PATH=${CMAKE_BINARY_DIR}/helpers")
"""
CHECKED = "!target_dispatch"
NAMES = ["clharness.layer.my-layer", "clharness.icd.mine::driver"]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Consumer:
    folder = tmp_path_factory.mktemp("consumer") / "with blank"
    project = Consumer(folder, f"enable_testing()\n{FUNCTIONS}{LOADER}{LIBRARIES}{ENTRIES}")
    project.add_loader()
    (folder / "driver.c").write_text(DRIVER)
    layer = (ROOT / "mock_layers" / "examples" / "print_layer.c").read_text()
    assert layer.count(CHECKED) == 1
    use = "\n".join(
        (
            "#include <stdlib.h>",
            "extern int help_loading(void);",
            '__attribute__((constructor)) static void use(void) { if (!getenv("MINE")) abort(); help_loading(); }\n',
        )
    )
    (folder / "layer.c").write_text(layer.replace(CHECKED, f"(!FAULTY && {CHECKED})") + use)
    return project


@pytest.mark.parametrize("faulty", ["OFF", "ON"])
def test_faulty_ones_are_red_and_sound_ones_green(project: Consumer, faulty: str) -> None:
    configured = project.configure(f"-DFAULTY={faulty}")
    assert configured.returncode == 0, configured.stdout
    project.compile()
    assert project.entries() == NAMES
    done = project.ctest("-V")
    assert done.stdout.count('"--env" "MINE=a b;c"') == 2
    if faulty == "OFF":
        assert done.returncode == 0, done.stdout
        assert re.findall(r"(layer|ICD) .*: as expected, (?!0)", done.stdout), done.stdout
    else:
        assert failed(done) == NAMES, done.stdout
        assert "LAY-INI" in done.stdout and "DISC-ACC-026" in done.stdout
