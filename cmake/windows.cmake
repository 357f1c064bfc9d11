# SPDX-License-Identifier: Apache-2.0
# What runs on Windows, or on Linux under Wine: reference loader, probe, mock ICD, mock layer. One compilation of each
# source as for Linux; what Linux has and Windows lacks is in harness/calllog/windows and harness/probe/windows.
#
# The API is read with a compiler of the machine that builds, because the Windows headers that the OpenCL-Headers
# include there are not for our parser; tables and numbers are the same.
include(${PROJECT_SOURCE_DIR}/cmake/glob.cmake)
find_program(CLHARNESS_HOST_COMPILER NAMES cc gcc clang REQUIRED)
set(source ${PROJECT_SOURCE_DIR})
set(api ${PROJECT_BINARY_DIR}/harness/api)
set(api_files clharness_functions.h clharness_functions.c clharness_invoke.c clharness_entries.c clharness_exports.c
  clharness_callbacks.c api.json)
list(TRANSFORM api_files PREPEND ${api}/)
file(GLOB headers ${CLHARNESS_HEADERS_DIR}/CL/*.h)
clharness_generate(OUTPUT ${api_files}
  MODULE harness.api.generate
  ARGUMENTS --out ${api} --headers ${CLHARNESS_HEADERS_DIR} --compiler ${CLHARNESS_HOST_COMPILER} --windows
  DEPENDS ${headers})
clharness_generate(OUTPUT ${api}/clharness_rules.c
  MODULE harness.api.contract.generate
  ARGUMENTS --api ${api}/api.json --out ${api}/clharness_rules.c
  DEPENDS ${api}/api.json)
add_custom_target(clharness_api_files DEPENDS ${api_files} ${api}/clharness_rules.c)

include(${source}/cmake/windows_loader.cmake)

# Common to mocks and probe. Nothing but the system's libraries is needed at run time.
add_library(clharness_windows INTERFACE)
target_compile_definitions(clharness_windows INTERFACE __USE_MINGW_ANSI_STDIO=1 _FILE_OFFSET_BITS=64 _WIN32_WINNT=0x0601)
target_compile_options(clharness_windows INTERFACE -include ${source}/harness/calllog/windows/posix.h)
target_include_directories(clharness_windows INTERFACE ${source}/harness/calllog/windows ${source}/harness/calllog
  ${source}/harness/api/include ${source}/harness/api/direct3d ${api})
target_link_libraries(clharness_windows INTERFACE clharness_headers clharness_flags pthread)
target_link_options(clharness_windows INTERFACE -static -Wl,--exclude-all-symbols)

add_library(clharness_common STATIC ${api}/clharness_functions.c ${api}/clharness_invoke.c ${api}/clharness_entries.c
  ${source}/harness/calllog/calllog.c ${source}/harness/calllog/sidefile.c ${source}/harness/calllog/calls.c
  ${source}/harness/calllog/distinct.c ${source}/harness/calllog/windows/posix.c)
target_link_libraries(clharness_common PUBLIC clharness_windows)
add_dependencies(clharness_common clharness_api_files)

clharness_glob(icd_parts ${source}/mock_icds/base/*.c ${source}/mock_icds/core/*.c ${source}/mock_icds/execution/*.c
  ${source}/mock_icds/gl/*.c ${source}/mock_icds/external/*.c)
add_library(clharness_mock_icd_parts OBJECT ${icd_parts} ${source}/mock_icds/callbacks.c
  ${source}/mock_icds/dispatcher.c ${api}/clharness_rules.c)
target_include_directories(clharness_mock_icd_parts PRIVATE ${source}/mock_icds)
target_link_libraries(clharness_mock_icd_parts PRIVATE clharness_windows)
add_dependencies(clharness_mock_icd_parts clharness_api_files)

# clharness_windows_mock(KIND NAME SOURCE definitions…)
function(clharness_windows_mock kind name file)
  add_library(clharness_${name} MODULE ${file} $<TARGET_OBJECTS:clharness_mock_${kind}_parts>)
  target_compile_definitions(clharness_${name} PRIVATE ${ARGN})
  target_include_directories(clharness_${name} PRIVATE ${PROJECT_SOURCE_DIR}/mock_${kind}s)
  target_link_libraries(clharness_${name} PRIVATE clharness_common)
  target_link_options(clharness_${name} PRIVATE -Wl,--strip-debug) # each case copies them, and Wine reads them whole
  set_target_properties(clharness_${name} PROPERTIES PREFIX "" OUTPUT_NAME ${name}
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/mock_${kind}s)
  string(TOUPPER ${kind} upper)
  set_property(GLOBAL APPEND PROPERTY CLHARNESS_MOCK_${upper}S ${name})
endfunction()

set(icd ${source}/mock_icds/icd.c)
clharness_windows_mock(icd icd ${icd} MOCK_EXPORTS_GET_PLATFORM_IDS)
clharness_windows_mock(icd icd_without_get_extension_function_address ${icd}
  MOCK_EXPORTS_GET_PLATFORM_IDS MOCK_WITHOUT_GET_EXTENSION_FUNCTION_ADDRESS)
clharness_windows_mock(icd icd_without_get_platform_ids ${icd} MOCK_EMPTY)
clharness_windows_mock(icd icd_without_get_platform_info ${icd}
  MOCK_EXPORTS_GET_PLATFORM_IDS MOCK_WITHOUT_GET_PLATFORM_INFO)
clharness_windows_mock(icd icd_only_get_extension_function_address ${icd} MOCK_WITHOUT_GET_PLATFORM_INFO)
clharness_windows_mock(icd icd_only_get_platform_ids ${icd} MOCK_EXPORTS_GET_PLATFORM_IDS
  MOCK_WITHOUT_GET_PLATFORM_INFO MOCK_WITHOUT_GET_EXTENSION_FUNCTION_ADDRESS)
clharness_windows_mock(icd icd_refuses_to_load ${icd} MOCK_EXPORTS_GET_PLATFORM_IDS MOCK_REFUSES_TO_LOAD)
clharness_windows_mock(icd icd_exports_all ${icd} MOCK_EXPORTS_GET_PLATFORM_IDS MOCK_EXPORTS_ALL)
target_sources(clharness_icd_exports_all PRIVATE ${api}/clharness_exports.c)

# A library that needs one that is nowhere, and one that is not an ICD at all.
add_library(clharness_absent SHARED ${source}/mock_icds/absent.c)
target_link_libraries(clharness_absent PRIVATE clharness_flags)
# Not beside the probe: an application's own folder is one of those that its libraries are looked for in.
set_target_properties(
  clharness_absent
  PROPERTIES PREFIX "" OUTPUT_NAME clharness_absent RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/absent)
clharness_windows_mock(icd icd_needs_absent_library ${icd} MOCK_EXPORTS_GET_PLATFORM_IDS MOCK_NEEDS_ABSENT_LIBRARY)
target_link_libraries(clharness_icd_needs_absent_library PRIVATE clharness_absent)
add_library(clharness_not_an_icd MODULE ${source}/mock_icds/absent.c)
target_link_libraries(clharness_not_an_icd PRIVATE clharness_flags)
set_target_properties(clharness_not_an_icd PROPERTIES PREFIX "" OUTPUT_NAME not_an_icd
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/mock_icds)
set_property(GLOBAL APPEND PROPERTY CLHARNESS_MOCK_ICDS not_an_icd)

clharness_glob(layer_parts ${source}/mock_layers/*.c)
list(REMOVE_ITEM layer_parts ${source}/mock_layers/layer.c)
add_library(clharness_mock_layer_parts OBJECT ${layer_parts})
target_include_directories(clharness_mock_layer_parts PRIVATE ${source}/mock_layers)
target_link_libraries(clharness_mock_layer_parts PRIVATE clharness_windows)
add_dependencies(clharness_mock_layer_parts clharness_api_files)
foreach(info "" _info)
  foreach(init "" _init)
    foreach(init_with_properties "" _init_with_properties)
      foreach(deinit "" _deinit)
        set(lacks "${info}${init}${init_with_properties}${deinit}")
        set(definitions MOCK_LAYER)
        foreach(part info init init_with_properties deinit)
          if(NOT "${${part}}" STREQUAL "")
            string(TOUPPER MOCK_WITHOUT_${part} definition)
            list(APPEND definitions ${definition})
          endif()
        endforeach()
        if("${lacks}" STREQUAL "")
          clharness_windows_mock(layer layer ${source}/mock_layers/layer.c ${definitions})
        else()
          clharness_windows_mock(layer layer_without${lacks} ${source}/mock_layers/layer.c ${definitions})
        endif()
      endforeach()
    endforeach()
  endforeach()
endforeach()

# The probe.
set(portable main.c application.c conversation.c commands.c reply.c values.c memory.c log.c calls.c callbacks.c kept_lines.c threads.c layer.c
  libraries.c target.c without_vulkan.c guarded_linux.c)
list(TRANSFORM portable PREPEND ${source}/harness/probe/)
clharness_glob(own ${source}/harness/probe/windows/*.c)
add_executable(clharness_probe ${portable} ${own} ${api}/clharness_callbacks.c)
target_include_directories(clharness_probe PRIVATE ${source}/harness/probe ${source}/harness/probe/windows)
target_link_libraries(clharness_probe PRIVATE clharness_common uuid)
set_target_properties(clharness_probe PROPERTIES OUTPUT_NAME clharness_probe)

include(${source}/cmake/host_guard.cmake)
