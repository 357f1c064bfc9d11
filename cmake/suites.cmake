# SPDX-License-Identifier: Apache-2.0
# For projects that test their loader, layer or ICD with ctest. Each TARGET is a shared library of the project, or an
# imported one that has a file.
#
#   clharness_add_suites(TARGET <target> [SUITES <suite>...] <options>)
#     one entry for each suite (all by default), clharness.<suite>.<target>, with the suite's name as a label; SUITES vulkan
#     for a Vulkan loader, which has one of its own; SUITES torture for each of a loader's resources failing once
#   clharness_add_layer_test(TARGET <target> [LOADERS <target or path>...] [CHANGES <function>...] <options>)
#     clharness.layer.<target>, label layer: by itself, behind the reference loader, and behind each of LOADERS
#   clharness_add_icd_test(TARGET <target> [LOADERS <target or path>...] <options>)
#     clharness.icd.<target>, label icd: by itself, behind the reference loader, and behind each of LOADERS
#
# options:
#   NAME <name>           in the place of <target> in the names of the entries: for another call with the same target
#   EXPECTATIONS <file>   what the subject is known to do differently; default: found by its name
#   ENVIRONMENT <NAME=VALUE>...
#                         variables that the subject needs, or where libraries are that it needs (LD_LIBRARY_PATH), in
#                         each case; nothing else of the environment of ctest reaches it but what its linker reads
#   STRICT                deviations of should and de-facto count, too
#   LABELS <label>...     more labels for ctest
#   ARGS <argument>...    further arguments of the command (clharness loader --help); `-j N` is also the entry's PROCESSORS
#
# Testing has to be enabled before (enable_testing() or include(CTest)); with BUILD_TESTING off nothing is registered.
# An entry in which no case applies to the target (exit code 77) has failed, but for the suites layers and interop,
# which are skipped then. Each entry writes JUnit XML into <current binary folder>/clharness-results.
set(CLHARNESS_SUITES discovery dispatch layers interop)
set_property(GLOBAL PROPERTY CLHARNESS_SUITES ${CLHARNESS_SUITES})

function(clharness_add_suites)
  cmake_parse_arguments(PARSE_ARGV 0 arg "STRICT" "TARGET;NAME;EXPECTATIONS" "SUITES;ENVIRONMENT;LABELS;ARGS")
  clharness_check_arguments(clharness_add_suites)
  get_property(known GLOBAL PROPERTY CLHARNESS_SUITES)
  if(NOT arg_SUITES)
    set(arg_SUITES ${known})
  endif()
  list(REMOVE_DUPLICATES arg_SUITES)
  foreach(suite IN LISTS arg_SUITES)
    if(suite MATCHES "^(torture|vulkan)$")
      clharness_register(clharness_add_suites ${suite} loader $<TARGET_FILE:${arg_TARGET}> --${suite})
      continue()
    elseif(NOT suite IN_LIST known)
      string(REPLACE ";" ", " known "${known};torture;vulkan")
      message(FATAL_ERROR "clharness_add_suites: there is no suite '${suite}'; the suites are ${known}")
    endif()
    clharness_register(clharness_add_suites ${suite} loader $<TARGET_FILE:${arg_TARGET}> --suite ${suite})
  endforeach()
endfunction()

function(clharness_add_layer_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "STRICT" "TARGET;NAME;EXPECTATIONS" "LOADERS;CHANGES;ENVIRONMENT;LABELS;ARGS")
  clharness_check_arguments(clharness_add_layer_test)
  clharness_loader_arguments(clharness_add_layer_test command)
  foreach(function IN LISTS arg_CHANGES)
    list(APPEND command --changes ${function})
  endforeach()
  clharness_register(clharness_add_layer_test layer layer $<TARGET_FILE:${arg_TARGET}> ${command})
endfunction()

function(clharness_add_icd_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "STRICT" "TARGET;NAME;EXPECTATIONS" "LOADERS;ENVIRONMENT;LABELS;ARGS")
  clharness_check_arguments(clharness_add_icd_test)
  clharness_loader_arguments(clharness_add_icd_test command)
  clharness_register(clharness_add_icd_test icd icd $<TARGET_FILE:${arg_TARGET}> ${command})
endfunction()

# What follows are parts of the functions above: they read the caller's arg_… variables.

# Ends the configuration where something is missing, unknown or no library that can be tested.
function(clharness_check_arguments caller)
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${caller}: unknown argument '${arg_UNPARSED_ARGUMENTS}'")
  elseif(arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "${caller}: ${arg_KEYWORDS_MISSING_VALUES} needs a value")
  elseif(NOT arg_TARGET)
    message(FATAL_ERROR "${caller}: TARGET is missing")
  endif()
  if(arg_NAME AND NOT arg_NAME MATCHES "^[A-Za-z0-9._+-]+$")
    message(FATAL_ERROR "${caller}: NAME: '${arg_NAME}' has other characters than letters, digits and . _ + -")
  endif()
  clharness_check_library(${caller} ${arg_TARGET})
  clharness_check_bits(${caller} ${arg_TARGET})
  if(arg_EXPECTATIONS)
    get_filename_component(file "${arg_EXPECTATIONS}" ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
    if(NOT EXISTS "${file}")
      message(FATAL_ERROR "${caller}: EXPECTATIONS: there is no file ${file}")
    endif()
  endif()
  foreach(argument IN LISTS arg_ARGS)
    string(REGEX REPLACE "=.*" "" option "${argument}")
    if(option MATCHES "^(-h|--help|--version|--update-expectations|--bisect)$")
      message(FATAL_ERROR "${caller}: ARGS: with ${option} nothing is tested; give it to the command by hand")
    elseif(option MATCHES "^--(suite|torture|vulkan)$")
      message(FATAL_ERROR "${caller}: ARGS: which suites run is for SUITES to say, not for ${option}")
    endif()
  endforeach()
  if(NOT CMAKE_TESTING_ENABLED AND (NOT DEFINED BUILD_TESTING OR BUILD_TESTING))
    message(FATAL_ERROR "${caller}: testing is not enabled here, so nothing would be tested. "
      "Call enable_testing() or include(CTest) before, in the top-level CMakeLists.txt; or set BUILD_TESTING to OFF.")
  endif()
endfunction()

function(clharness_check_library caller target)
  if(NOT TARGET ${target})
    message(FATAL_ERROR "${caller}: there is no target '${target}' here. "
      "Call ${caller} after the add_library() or find_package() that makes it.")
  endif()
  get_target_property(type ${target} TYPE)
  if(NOT type MATCHES "^(SHARED|MODULE|UNKNOWN)_LIBRARY$")
    string(TOLOWER "${type}" type)
    string(REPLACE "_" " " type "${type}")
    message(FATAL_ERROR "${caller}: '${target}' is a target of type '${type}'; only a shared library or a module can be loaded")
  endif()
  get_target_property(imported ${target} IMPORTED)
  if(imported)
    clharness_imported_file(${target} file)
    if(NOT file)
      message(FATAL_ERROR "${caller}: the imported target '${target}' has no file (IMPORTED_LOCATION)")
    elseif(NOT file MATCHES "\\$<" AND file MATCHES "\\.a$")
      message(FATAL_ERROR "${caller}: the file of '${target}' is a static library, ${file}; it cannot be loaded")
    elseif(NOT file MATCHES "\\$<" AND NOT EXISTS "${file}")
      message(STATUS "${caller}: the file of '${target}' is not there yet: ${file}")
    endif()
  endif()
endfunction()

# An installation has built parts for some machines; a subproject builds them for that of the project.
function(clharness_check_bits caller target)
  get_property(installed GLOBAL PROPERTY CLHARNESS_BITS SET)
  get_property(known GLOBAL PROPERTY CLHARNESS_BITS)
  get_target_property(imported ${target} IMPORTED)
  set(size "${CMAKE_C_SIZEOF_DATA_PTR}")
  if(NOT size)
    set(size "${CMAKE_CXX_SIZEOF_DATA_PTR}")
  endif()
  if(NOT installed OR imported OR NOT size)
    return()
  endif()
  math(EXPR bits "8 * ${size}")
  if(NOT bits IN_LIST known)
    message(FATAL_ERROR "${caller}: '${target}' is a ${bits}-bit library, and this installation of clharness tests "
      "${known}-bit ones: install a build for ${bits} bits into the same folder (cmake/x86_32.cmake), or make clharness "
      "part of the project with add_subdirectory() or FetchContent, which builds it for ${bits} bits")
  endif()
endfunction()

# The file of an imported target, of any of its configurations; empty where it has none.
function(clharness_imported_file target result)
  get_target_property(configurations ${target} IMPORTED_CONFIGURATIONS)
  if(NOT configurations)
    set(configurations "")
  endif()
  set(${result} "" PARENT_SCOPE)
  foreach(configuration "" ${configurations} ${CMAKE_BUILD_TYPE} ${CMAKE_CONFIGURATION_TYPES})
    string(TOUPPER "${configuration}" suffix)
    if(suffix)
      set(suffix _${suffix})
    endif()
    get_target_property(file ${target} IMPORTED_LOCATION${suffix})
    if(file)
      set(${result} "${file}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# --loader for each of LOADERS, which are targets or paths.
function(clharness_loader_arguments caller result)
  set(command "")
  foreach(loader IN LISTS arg_LOADERS)
    if(TARGET ${loader})
      clharness_check_library(${caller} ${loader})
      list(APPEND command --loader $<TARGET_FILE:${loader}>)
    elseif(EXISTS ${loader} AND NOT IS_DIRECTORY ${loader})
      get_filename_component(path ${loader} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
      list(APPEND command --loader ${path})
    else()
      message(FATAL_ERROR "${caller}: LOADERS: '${loader}' is neither a target nor a file")
    endif()
  endforeach()
  set(${result} "${command}" PARENT_SCOPE)
endfunction()

# How many processes an entry has: what ARGS say, else as many as there are processors, up to four.
function(clharness_processes result)
  cmake_host_system_information(RESULT count QUERY NUMBER_OF_LOGICAL_CORES)
  if(count GREATER 4)
    set(count 4)
  endif()
  string(REPLACE ";" " " line " ${arg_ARGS}")
  if(line MATCHES " -j *([0-9]+)")
    set(count ${CMAKE_MATCH_1})
  endif()
  set(${result} ${count} PARENT_SCOPE)
endfunction()

# A loader may have no layers and may know nothing to share with: an entry in which no case applies is skipped then.
# Anywhere else it has failed, for the target has not been tested.
function(clharness_may_skip name label)
  if(label MATCHES "^(layers|interop)$")
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77)
  endif()
endfunction()

# A folder that ctest makes before the tests run: whoever cleans up between two runs does not have to configure again.
function(clharness_make_by_ctest folder)
  set(file ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/clharness_folders.cmake)
  get_property(files DIRECTORY PROPERTY TEST_INCLUDE_FILES)
  if(NOT file IN_LIST files)
    file(WRITE ${file} "")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${file})
  endif()
  file(APPEND ${file} "if(NOT IS_DIRECTORY [==[${folder}]==])\n  file(MAKE_DIRECTORY [==[${folder}]==])\nendif()\n")
endfunction()

# clharness_register(CALLER LABEL COMMAND ARGUMENT...): one entry of ctest.
function(clharness_register caller label)
  set_property(GLOBAL PROPERTY CLHARNESS_REGISTERED ON)
  if(DEFINED BUILD_TESTING AND NOT BUILD_TESTING)
    return()
  endif()
  get_property(launcher GLOBAL PROPERTY CLHARNESS_COMMAND)
  get_property(output GLOBAL PROPERTY CLHARNESS_OUTPUT)
  clharness_processes(processes)
  set(name clharness.${label}.${arg_TARGET})
  if(arg_NAME)
    set(name clharness.${label}.${arg_NAME})
  endif()

  string(REPLACE "::" "-" file "${name}")
  get_property(files DIRECTORY PROPERTY CLHARNESS_RESULTS)
  if(file IN_LIST files)
    message(FATAL_ERROR "${caller}: there is a test ${name} in this folder already. "
      "Give one of the two calls a NAME, which then stands in the place of the target's.")
  endif()
  set_property(DIRECTORY APPEND PROPERTY CLHARNESS_RESULTS ${file})
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/clharness-results)
  get_property(several GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  clharness_make_by_ctest(${folder})
  if(several)
    foreach(configuration IN LISTS CMAKE_CONFIGURATION_TYPES)
      clharness_make_by_ctest(${folder}/${configuration})
    endforeach()
    string(APPEND folder /$<CONFIG>)
  endif()

  set(options --color never -j ${processes} --junit ${folder}/${file}.xml)
  if(arg_EXPECTATIONS)
    get_filename_component(expectations "${arg_EXPECTATIONS}" ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
    list(APPEND options --expect ${expectations})
  endif()
  if(arg_STRICT)
    list(APPEND options --strict)
  endif()
  foreach(variable IN LISTS arg_ENVIRONMENT)
    string(REPLACE ";" "$<SEMICOLON>" variable "${variable}")
    list(APPEND options --env "${variable}")
  endforeach()
  foreach(argument IN LISTS arg_ARGS)
    string(REPLACE ";" "$<SEMICOLON>" argument "${argument}")
    list(APPEND options "${argument}")
  endforeach()
  add_test(NAME ${name}
    COMMAND ${CMAKE_COMMAND} -E env CLHARNESS_OUTPUT=${output} ${launcher} ${ARGN} ${options})
  # The limit is for a loader that hangs in most cases; without it that of the including project would hold.
  set_tests_properties(${name} PROPERTIES LABELS "${label};clharness;${arg_LABELS}" PROCESSORS ${processes} TIMEOUT 1800)
  clharness_may_skip(${name} ${label})
endfunction()
