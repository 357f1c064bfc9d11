# SPDX-License-Identifier: Apache-2.0
# What a build leaves for the command line: clharness.json says where the built parts are, and `clharness` beside it runs
# the command line with them, without building. Generators of several configurations have a folder for each. The target
# clharness_all makes whatever the command line needs.
set(CLHARNESS_PARTS probe:clharness_probe linked_probe:clharness_probe_linked nest:clharness_probe_nest reference_loader:clharness_reference_loader
  at_secure:clharness_at_secure guard:clharness_guard exit_watch:clharness_exit_watch variables_watch:clharness_variables_watch late_caller:clharness_late_caller guarded_heap:clharness_guarded_heap torture:clharness_torture
  gl_objects:clharness_gl_objects calllog_bench:clharness_calllog_bench seeded_loader:clharness_seeded_loader)
set(entries "")
set(targets "")
foreach(part IN LISTS CLHARNESS_PARTS)
  string(REPLACE ":" ";" part "${part}")
  list(GET part 0 name)
  list(GET part 1 target)
  if(TARGET ${target})
    list(APPEND targets ${target})
    set(file $<TARGET_FILE:${target}>)
    if(target STREQUAL "clharness_guard" AND CLHARNESS_HOST_GUARD) # another compiler's (windows.cmake)
      set(file ${CLHARNESS_HOST_GUARD})
    endif()
    string(APPEND entries "  \"${name}\": \"${file}\",\n")
  endif()
endforeach()
foreach(kind icd layer)
  string(TOUPPER CLHARNESS_MOCK_${kind}S property)
  get_property(mocks GLOBAL PROPERTY ${property})
  set(lines "")
  foreach(mock IN LISTS mocks)
    list(APPEND targets clharness_${mock})
    list(APPEND lines "    \"${mock}\": \"$<TARGET_FILE:clharness_${mock}>\"")
  endforeach()
  string(REPLACE ";" ",\n" lines "${lines}")
  string(APPEND entries "  \"mock_${kind}s\": {\n${lines}\n  },\n")
endforeach()
clharness_vulkan_json(vulkan)
string(APPEND entries "  \"vulkan\": ${vulkan},\n")
get_property(drivers GLOBAL PROPERTY CLHARNESS_VULKAN_DRIVERS)
foreach(target IN LISTS drivers ITEMS reference_loader seeded_loader)
  if(TARGET clharness_vulkan_${target})
    get_target_property(excluded clharness_vulkan_${target} EXCLUDE_FROM_ALL)
    if(NOT excluded)
      list(APPEND targets clharness_vulkan_${target})
    endif()
  endif()
endforeach()
if(CLHARNESS_TOP_LEVEL)
  add_custom_target(clharness_all ALL)
else()
  add_custom_target(clharness_all)
endif()
add_dependencies(clharness_all ${targets} clharness_api_files)

get_property(several GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
set(folder ${PROJECT_BINARY_DIR})
set(how "cmake --build ${CMAKE_BINARY_DIR}")
if(NOT CLHARNESS_TOP_LEVEL)
  string(APPEND how " --target clharness_all")
endif()
if(several)
  set(folder ${PROJECT_BINARY_DIR}/$<CONFIG>)
  string(APPEND how " --config $<CONFIG>")
endif()
math(EXPR bits "8 * ${CMAKE_SIZEOF_VOID_P}")
set(system linux)
set(emulator "")
if(CMAKE_CROSSCOMPILING AND CMAKE_CROSSCOMPILING_EMULATOR AND NOT WIN32)
  list(JOIN CMAKE_CROSSCOMPILING_EMULATOR "\", \"" emulator)
  set(emulator "  \"machine\": \"${CMAKE_SYSTEM_PROCESSOR}\",\n  \"emulator\": [\"${emulator}\"],\n")
endif()
if(WIN32)
  set(system windows)
endif()
file(GENERATE OUTPUT ${folder}/clharness.json CONTENT "{
  \"source\": \"${PROJECT_SOURCE_DIR}\",
  \"system\": \"${system}\",
  \"bits\": ${bits},
${emulator}  \"build_with\": \"${how}\",
  \"compiler\": \"${CMAKE_C_COMPILER}\",
  \"sanitize\": \"${CLHARNESS_SANITIZE}\",
${entries}  \"api\": \"${PROJECT_BINARY_DIR}/harness/api/api.json\"
}
")

# The launcher of a folder, a shell script that holds paths between single quotes.
function(clharness_launcher folder)
  foreach(path CLHARNESS_FOLDER=${folder} CLHARNESS_ROOT=${PROJECT_SOURCE_DIR} CLHARNESS_PYTHON=${CLHARNESS_PYTHON})
    string(REGEX MATCH "^([A-Z_]+)=(.*)$" path "${path}")
    string(REPLACE "'" "'\\''" ${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
  endforeach()
  configure_file(cmake/clharness.in ${folder}/clharness @ONLY)
endfunction()

if(several)
  foreach(configuration IN LISTS CMAKE_CONFIGURATION_TYPES)
    clharness_launcher(${PROJECT_BINARY_DIR}/${configuration})
  endforeach()
else()
  clharness_launcher(${PROJECT_BINARY_DIR})
endif()
# Of the project: cmake/suites.cmake is used from any folder.
set_property(GLOBAL PROPERTY CLHARNESS_COMMAND ${folder}/clharness)
set_property(GLOBAL PROPERTY CLHARNESS_OUTPUT ${folder})
set(CLHARNESS_OUTPUT_FOLDER ${folder})
