# SPDX-License-Identifier: Apache-2.0
# The process between the harness and a subject where Wine or another emulator runs the subject: a program of this
# machine, whose kernel they all run under.
include(${PROJECT_SOURCE_DIR}/cmake/glob.cmake)
find_program(CLHARNESS_HOST_COMPILER NAMES cc gcc clang REQUIRED NO_CMAKE_FIND_ROOT_PATH)
set(CLHARNESS_HOST_GUARD ${PROJECT_BINARY_DIR}/harness/sandbox/clharness_guard)
clharness_glob(guard ${PROJECT_SOURCE_DIR}/harness/sandbox/guard*.[ch])
set(guard_sources ${guard})
list(FILTER guard_sources INCLUDE REGEX "\\.c$")
add_custom_command(OUTPUT ${CLHARNESS_HOST_GUARD}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/harness/sandbox
  COMMAND ${CLHARNESS_HOST_COMPILER} -std=gnu11 -O2 -o ${CLHARNESS_HOST_GUARD} ${guard_sources}
  DEPENDS ${guard}
  VERBATIM)
add_custom_target(clharness_guard ALL DEPENDS ${CLHARNESS_HOST_GUARD})
