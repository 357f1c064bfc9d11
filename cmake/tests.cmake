# SPDX-License-Identifier: Apache-2.0
# ctest entries of this project itself: one for each suite (label: its name), the seeds of the fuzz targets, and the
# project's own C unit tests (label: unit). As part of another project: see cmake/guest_tests.cmake.
if(NOT CLHARNESS_TOP_LEVEL)
  include(cmake/guest_tests.cmake)
endif()
if(NOT BUILD_TESTING)
  return()
endif()
if(CLHARNESS_BUILD_TESTS AND NOT WIN32)
  add_subdirectory(tests/unit)
endif()
if(NOT CLHARNESS_TOP_LEVEL)
  return()
endif()

get_property(launcher GLOBAL PROPERTY CLHARNESS_COMMAND)
get_property(output GLOBAL PROPERTY CLHARNESS_OUTPUT)
set(loader "${CLHARNESS_LOADER}")
clharness_processes(processes)
foreach(suite IN LISTS CLHARNESS_SUITES)
  add_test(NAME clharness.${suite}
    COMMAND ${launcher} loader ${loader} --suite ${suite} -j ${processes} --junit ${output}/${suite}.xml)
  set_tests_properties(clharness.${suite} PROPERTIES LABELS ${suite} PROCESSORS ${processes} TIMEOUT 1800)
  clharness_may_skip(clharness.${suite} ${suite})
endforeach()

# Seeds and reproducers of the fuzz targets, on the loader under test and on the reference loader.
if(TARGET clharness_fuzz_engine)
  set(fuzz_loader "")
  if(loader)
    set(fuzz_loader --loader ${loader})
  endif()
  add_test(NAME clharness.fuzz-replay COMMAND ${CLHARNESS_PYTHON} -m harness.fuzz.replay ${fuzz_loader}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(clharness.fuzz-replay PROPERTIES LABELS fuzz-replay ENVIRONMENT "CLHARNESS_BUILD=${output}")
endif()
