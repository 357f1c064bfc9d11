# SPDX-License-Identifier: Apache-2.0
# clharness_generate(OUTPUT FILE... MODULE NAME ARGUMENTS ... [DEPENDS ...] [WORKING_DIRECTORY ...] [COMMENT ...]
#   [ENVIRONMENT NAME=VALUE...])
#
# Has files written by a Python module of this repository. Which modules and tables it reads is found out by running it
# (harness/setup/generator.py); DEPENDS names what is made by the build or lies outside the repository.
if(POLICY CMP0116)
  cmake_policy(SET CMP0116 NEW)
endif()
set(CLHARNESS_GENERATOR ${PROJECT_SOURCE_DIR}/harness/setup/generator.py)

function(clharness_generate)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "MODULE;WORKING_DIRECTORY;COMMENT" "OUTPUT;ARGUMENTS;DEPENDS;ENVIRONMENT")
  list(GET arg_OUTPUT 0 first)
  set(options "")
  if(CMAKE_VERSION VERSION_LESS 3.20)
    # Not every generator of these versions reads such a file: what a program could read at all.
    file(GLOB_RECURSE readable ${PROJECT_SOURCE_DIR}/harness/*.py ${PROJECT_SOURCE_DIR}/harness/*.toml
      ${PROJECT_SOURCE_DIR}/harness/*.h ${PROJECT_SOURCE_DIR}/mock_icds/*.py)
    list(APPEND arg_DEPENDS ${readable})
  else()
    list(APPEND options DEPFILE ${first}.d)
  endif()
  if(arg_WORKING_DIRECTORY)
    list(APPEND options WORKING_DIRECTORY ${arg_WORKING_DIRECTORY})
  endif()
  if(arg_COMMENT)
    list(APPEND options COMMENT ${arg_COMMENT})
  endif()
  set(program ${CLHARNESS_PYTHON})
  if(arg_ENVIRONMENT)
    set(program ${CMAKE_COMMAND} -E env ${arg_ENVIRONMENT} ${program})
  endif()
  add_custom_command(
    OUTPUT ${arg_OUTPUT}
    COMMAND ${program} -P ${CLHARNESS_GENERATOR} ${first}.d ${first} ${arg_MODULE} ${arg_ARGUMENTS}
    DEPENDS ${CLHARNESS_GENERATOR} ${arg_DEPENDS}
    ${options}
    VERBATIM)
endfunction()
