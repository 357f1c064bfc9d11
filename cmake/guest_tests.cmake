# SPDX-License-Identifier: Apache-2.0
# As part of another project nothing is tested unless that project says what: clharness_add_suites and its kin, or
# CLHARNESS_LOADER. A project that has tests and says nothing has its target OpenCL::OpenCL tested; one that has no such
# target does not configure, rather than be green without a test. To know that, its other files have to be read first.
function(clharness_expect_tests)
  get_property(registered GLOBAL PROPERTY CLHARNESS_REGISTERED)
  if(registered OR NOT CMAKE_TESTING_ENABLED OR (DEFINED BUILD_TESTING AND NOT BUILD_TESTING))
    return()
  endif()
  if(TARGET OpenCL::OpenCL)
    clharness_add_suites(TARGET OpenCL::OpenCL)
  else()
    message(FATAL_ERROR "clharness is part of this project, but nothing is tested with it: call "
      "clharness_add_suites(TARGET <your loader>), clharness_add_layer_test or clharness_add_icd_test; "
      "or set CLHARNESS_LOADER to the path of a loader, or BUILD_TESTING to OFF.")
  endif()
endfunction()

if(CLHARNESS_LOADER)
  if(NOT EXISTS "${CLHARNESS_LOADER}")
    message(FATAL_ERROR "CLHARNESS_LOADER: there is no file ${CLHARNESS_LOADER}")
  endif()
  add_library(clharness_loader_under_test SHARED IMPORTED)
  set_target_properties(clharness_loader_under_test PROPERTIES IMPORTED_LOCATION "${CLHARNESS_LOADER}")
  clharness_add_suites(TARGET clharness_loader_under_test)
elseif(CMAKE_VERSION VERSION_LESS 3.19)
  # Evaluated, and so an error, only where nothing was registered until the end.
  if(CMAKE_TESTING_ENABLED AND (NOT DEFINED BUILD_TESTING OR BUILD_TESTING))
    file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/nothing_is_tested.txt
      CONTENT "$<TARGET_FILE:clharness-nothing-is-tested-call-clharness_add_suites>"
      CONDITION $<NOT:$<TARGET_EXISTS:clharness_registered>>)
  endif()
else()
  cmake_language(DEFER DIRECTORY ${CMAKE_SOURCE_DIR} CALL clharness_expect_tests)
endif()
