# SPDX-License-Identifier: Apache-2.0
# As part of another project nothing is tested unless that project says what: clharness_add_suites and its kin, or
# CLHARNESS_LOADER. A project that has tests and says nothing has its target OpenCL::OpenCL tested; one that has no such
# target, or that of a package that it found, does not configure, rather than be green without a test of its own. To know
# that, its other files have to be read first.

function(clharness_tests_nothing why)
  message(FATAL_ERROR "clharness is part of this project, but ${why}: call "
    "clharness_add_suites(TARGET <your loader>), clharness_add_layer_test or clharness_add_icd_test; "
    "or set CLHARNESS_LOADER to the path of a loader, or BUILD_TESTING to OFF.")
endfunction()

# The file of an OpenCL::OpenCL that came with a package from outside of the project; else empty.
function(clharness_file_of_package result)
  set(${result} "" PARENT_SCOPE)
  get_property(packages GLOBAL PROPERTY PACKAGES_FOUND)
  get_target_property(imported OpenCL::OpenCL IMPORTED)
  if(imported AND packages MATCHES "(^|;)OpenCL(ICDLoader)?(;|$)")
    clharness_imported_file(OpenCL::OpenCL file)
    foreach(folder ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR})
      string(FIND "${file}" "${folder}/" place)
      if(place EQUAL 0)
        return()
      endif()
    endforeach()
    set(${result} "${file}" PARENT_SCOPE)
  endif()
endfunction()

function(clharness_expect_tests)
  get_property(registered GLOBAL PROPERTY CLHARNESS_REGISTERED)
  if(registered OR NOT CMAKE_TESTING_ENABLED OR (DEFINED BUILD_TESTING AND NOT BUILD_TESTING))
    return()
  endif()
  if(NOT TARGET OpenCL::OpenCL)
    clharness_tests_nothing("nothing is tested with it")
  endif()
  clharness_file_of_package(file)
  if(file)
    clharness_tests_nothing("nothing of it is tested: the target OpenCL::OpenCL is not of this project, but ${file}")
  endif()
  clharness_add_suites(TARGET OpenCL::OpenCL)
endfunction()

if(CLHARNESS_LOADER)
  if(NOT EXISTS "${CLHARNESS_LOADER}")
    message(FATAL_ERROR "CLHARNESS_LOADER: there is no file ${CLHARNESS_LOADER}")
  endif()
  add_library(clharness_loader_under_test SHARED IMPORTED)
  set_target_properties(clharness_loader_under_test PROPERTIES IMPORTED_LOCATION "${CLHARNESS_LOADER}")
  clharness_add_suites(TARGET clharness_loader_under_test)
elseif(CMAKE_VERSION VERSION_LESS 3.19)
  # Calls cannot be deferred there: the end of the top-level file is where this variable becomes empty.
  function(clharness_at_the_end variable access value)
    if(access STREQUAL "MODIFIED_ACCESS" AND "${value}" STREQUAL "" AND CMAKE_CURRENT_SOURCE_DIR STREQUAL CMAKE_SOURCE_DIR)
      clharness_expect_tests()
    endif()
  endfunction()
  variable_watch(CMAKE_CURRENT_LIST_DIR clharness_at_the_end)
else()
  cmake_language(DEFER DIRECTORY ${CMAKE_SOURCE_DIR} CALL clharness_expect_tests)
endif()
