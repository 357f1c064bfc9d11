# SPDX-License-Identifier: Apache-2.0
# The reference loader for Windows, and its copy with faults that CLHARNESS_FAULT=name chooses. `api` and `source` come
# from windows.cmake.
set(loader ${source}/harness/reference_loader)
set(loader_folder ${PROJECT_BINARY_DIR}/harness/reference_loader)
set(loader_sources loader.c discovery.c acceptance.c entry_points.c layers.c os_windows.c os_windows_registry.c
  os_windows_adapters.c os_windows_devices.c)
clharness_generate(OUTPUT ${loader_folder}/clharness_dispatch.c
  MODULE harness.reference_loader.generate
  ARGUMENTS --out ${loader_folder}/clharness_dispatch.c --api ${api}/api.json
  DEPENDS ${api}/api.json)
clharness_generate(OUTPUT ${loader_folder}/OpenCL.def
  MODULE harness.reference_loader.definition
  ARGUMENTS --out ${loader_folder}/OpenCL.def --api ${api}/api.json
  DEPENDS ${api}/api.json)
string(REGEX REPLACE "^[0-9]+\\.([0-9]+).*" "\\1" minor ${CLHARNESS_VERSION})
configure_file(${loader}/os_windows.rc.in ${loader_folder}/OpenCL.rc @ONLY)
enable_language(RC)

# clharness_windows_loader(TARGET FOLDER sources…): OpenCL.dll, that needs nothing but the system.
function(clharness_windows_loader target folder)
  add_library(${target} SHARED ${ARGN} ${api}/clharness_functions.c ${loader_folder}/OpenCL.def ${loader_folder}/OpenCL.rc)
  target_compile_definitions(${target} PRIVATE
    CLHARNESS_VERSION="${CLHARNESS_VERSION}" WIN32_LEAN_AND_MEAN _WIN32_WINNT=0x0601)
  target_link_libraries(${target} PRIVATE clharness_headers clharness_flags cfgmgr32)
  target_link_options(${target} PRIVATE -static)
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME OpenCL C_VISIBILITY_PRESET default
    RUNTIME_OUTPUT_DIRECTORY ${folder} ARCHIVE_OUTPUT_DIRECTORY ${folder})
  add_dependencies(${target} clharness_api_files)
endfunction()

list(TRANSFORM loader_sources PREPEND ${loader}/ OUTPUT_VARIABLE sources)
clharness_windows_loader(clharness_reference_loader ${loader_folder} ${sources} ${loader_folder}/clharness_dispatch.c)
target_include_directories(clharness_reference_loader PRIVATE ${loader} ${api} ${source}/harness/api/include ${source}/harness/api/direct3d)

if(NOT CLHARNESS_SEEDED_FAULTS)
  return()
endif()
set(seeded ${loader_folder}/seeded)
set(copies ${seeded}/seeded_faults.c ${seeded}/clharness_dispatch.c)
foreach(file IN LISTS loader_sources)
  list(APPEND copies ${seeded}/${file})
endforeach()
clharness_generate(OUTPUT ${copies} ${seeded}/seeded_faults.h
  MODULE harness.selftest.seed
  ARGUMENTS --out ${seeded} --api ${api}/api.json --windows ${loader_sources} loader.h dispatch.h entry_points.h
    os_windows.h os_windows_adapters.h ${loader_folder}/clharness_dispatch.c
  WORKING_DIRECTORY ${loader}
  DEPENDS ${source}/harness/selftest/mutants/loader ${source}/harness/selftest/mutants/windows
    ${loader_folder}/clharness_dispatch.c ${api}/api.json)
clharness_windows_loader(clharness_seeded_loader ${seeded} ${copies} ${source}/harness/calllog/windows/posix.c)
target_include_directories(clharness_seeded_loader PRIVATE ${seeded} ${api} ${source}/harness/api/include
  ${source}/harness/api/direct3d ${source}/harness/calllog/windows)
target_compile_options(clharness_seeded_loader PRIVATE -include ${source}/harness/calllog/windows/posix.h -w -O1 -fno-delete-null-pointer-checks)
