# SPDX-License-Identifier: Apache-2.0
# The C standard of all our targets, whatever an including project has chosen: C11 with the extensions of gcc and clang.
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)

# What linkers write for Ninja about the files that they read is cut at a blank: with one in the path of the build, each
# command would link again. Dependencies are named here.
set(CMAKE_LINK_DEPENDS_USE_LINKER OFF)

# clharness_flags: how all our C is compiled. Warnings about it are not for those who include it.
add_library(clharness_flags INTERFACE)
if(CLHARNESS_TOP_LEVEL OR CLHARNESS_WERROR)
  target_compile_options(clharness_flags INTERFACE -Wall -Wextra -Wpedantic -Wno-deprecated-declarations)
else()
  target_compile_options(clharness_flags INTERFACE -w)
endif()
target_compile_options(clharness_flags INTERFACE -fno-omit-frame-pointer)
if(CLHARNESS_WERROR)
  target_compile_options(clharness_flags INTERFACE -Werror)
endif()
if(SKBUILD)
  # A wheel is the same wherever it is built.
  target_compile_options(clharness_flags INTERFACE
    -ffile-prefix-map=${PROJECT_SOURCE_DIR}=. -ffile-prefix-map=${PROJECT_BINARY_DIR}=build)
endif()
if(CLHARNESS_SANITIZE)
  # What the undefined-behaviour sanitizer reports ends the process, too: else it is a line that nobody reads.
  target_compile_options(clharness_flags INTERFACE -fsanitize=${CLHARNESS_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(clharness_flags INTERFACE -fsanitize=${CLHARNESS_SANITIZE})
endif()
