# SPDX-License-Identifier: Apache-2.0
# The reference loader for Windows. The API is read with a compiler of the machine that builds, because the Windows
# headers that the OpenCL-Headers include there are not for our parser; tables and numbers are the same.
find_program(CLHARNESS_HOST_COMPILER NAMES cc gcc clang REQUIRED)
set(folder ${CMAKE_CURRENT_BINARY_DIR}/windows)
set(api ${folder}/api.json)
clharness_generate(OUTPUT ${api} ${folder}/clharness_functions.c ${folder}/clharness_functions.h
  MODULE harness.api.generate
  ARGUMENTS --out ${folder} --headers ${CLHARNESS_HEADERS_DIR} --compiler ${CLHARNESS_HOST_COMPILER})
clharness_generate(OUTPUT ${folder}/clharness_dispatch.c
  MODULE harness.reference_loader.generate
  ARGUMENTS --out ${folder}/clharness_dispatch.c --api ${api}
  DEPENDS ${api})
clharness_generate(OUTPUT ${folder}/OpenCL.def
  MODULE harness.reference_loader.definition
  ARGUMENTS --out ${folder}/OpenCL.def --api ${api}
  DEPENDS ${api})

add_library(clharness_reference_loader SHARED ${CLHARNESS_LOADER_SOURCES}
  os_windows.c os_windows_registry.c os_windows_devices.c
  ${folder}/clharness_functions.c ${folder}/clharness_dispatch.c ${folder}/OpenCL.def)
target_include_directories(clharness_reference_loader PRIVATE . ${folder} ${PROJECT_SOURCE_DIR}/harness/api/include)
target_compile_definitions(clharness_reference_loader PRIVATE
  CLHARNESS_VERSION="${CLHARNESS_VERSION}" WIN32_LEAN_AND_MEAN _WIN32_WINNT=0x0601)
target_link_libraries(clharness_reference_loader PRIVATE clharness_headers clharness_flags cfgmgr32)
# OpenCL.dll, that needs nothing but the system.
target_link_options(clharness_reference_loader PRIVATE -static-libgcc)
set_target_properties(clharness_reference_loader PROPERTIES PREFIX "" OUTPUT_NAME OpenCL C_VISIBILITY_PRESET default)
