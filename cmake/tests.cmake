# SPDX-License-Identifier: Apache-2.0
# ctest entries: one for each suite (label: its name), and the project's own C unit tests (label: unit).
if(NOT BUILD_TESTING)
  return()
endif()

set(loader "${CLHARNESS_LOADER}")
if(NOT loader AND TARGET OpenCL::OpenCL)
  set(loader $<TARGET_FILE:OpenCL::OpenCL>)
endif()
foreach(suite discovery dispatch layers interop)
  if(EXISTS ${PROJECT_SOURCE_DIR}/suites/${suite})
    add_test(NAME clharness.${suite}
      COMMAND ${CLHARNESS_PYTHON} -m harness.cli loader ${loader} --suite ${suite} --junit ${PROJECT_BINARY_DIR}/${suite}.xml
      WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(clharness.${suite} PROPERTIES LABELS ${suite} SKIP_RETURN_CODE 77 PROCESSORS 2
      ENVIRONMENT "CLHARNESS_BUILD=${PROJECT_BINARY_DIR}")
  endif()
endforeach()

# Seeds and reproducers of the fuzz targets, on the loader under test and on the reference loader.
if(TARGET clharness_fuzz_engine)
  set(fuzz_loader "")
  if(loader)
    set(fuzz_loader --loader ${loader})
  endif()
  add_test(NAME clharness.fuzz-replay COMMAND ${CLHARNESS_PYTHON} -m harness.fuzz.replay ${fuzz_loader}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(clharness.fuzz-replay PROPERTIES LABELS fuzz-replay
    ENVIRONMENT "CLHARNESS_BUILD=${PROJECT_BINARY_DIR}")
endif()

if(CLHARNESS_BUILD_TESTS)
  add_subdirectory(tests/unit)
endif()
