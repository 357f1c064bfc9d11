# SPDX-License-Identifier: Apache-2.0
# CLHARNESS_PYTHON: an interpreter that has the modules of pyproject.toml. The first python3 on PATH may lack them, while
# the system's own has them; a virtual environment in the build folder comes first. One that is named is checked, too.
function(clharness_missing_from_python interpreter result)
  if(NOT EXISTS "${interpreter}" OR IS_DIRECTORY "${interpreter}")
    set(${result} "does not exist" PARENT_SCOPE)
    return()
  endif()
  execute_process(
    COMMAND ${interpreter} ${PROJECT_SOURCE_DIR}/harness/setup/python_parts.py
    RESULT_VARIABLE status OUTPUT_QUIET ERROR_VARIABLE missing)
  string(STRIP "${missing}" missing)
  string(REPLACE "\n" " " missing "${missing}")
  if(status EQUAL 0)
    set(${result} "" PARENT_SCOPE)
  elseif(status EQUAL 1 AND missing)
    set(${result} "lacks ${missing}" PARENT_SCOPE)
  else()
    set(${result} "is not a Python that runs (${status}) ${missing}" PARENT_SCOPE)
  endif()
endfunction()

if(CLHARNESS_PYTHON)
  clharness_missing_from_python("${CLHARNESS_PYTHON}" missing)
  if(missing)
    message(FATAL_ERROR "CLHARNESS_PYTHON: ${CLHARNESS_PYTHON} ${missing}. "
      "It must be the path of Python 3.11 or newer with the modules of pyproject.toml.")
  endif()
else()
  find_program(CLHARNESS_PYTHON_ON_PATH python3 NO_CMAKE_FIND_ROOT_PATH)
  mark_as_advanced(CLHARNESS_PYTHON_ON_PATH)
  set(why "")
  foreach(candidate ${PROJECT_BINARY_DIR}/venv/bin/python ${Python3_EXECUTABLE} ${Python_EXECUTABLE}
      ${CLHARNESS_PYTHON_ON_PATH} /usr/bin/python3 /usr/local/bin/python3)
    if(EXISTS ${candidate})
      clharness_missing_from_python("${candidate}" missing)
      if(NOT missing)
        set(CLHARNESS_PYTHON ${candidate} CACHE FILEPATH "" FORCE)
        break()
      endif()
      string(APPEND why "\n  ${candidate} ${missing}")
    endif()
  endforeach()
  if(NOT CLHARNESS_PYTHON)
    message(FATAL_ERROR "clharness needs Python 3.11 or newer with the modules of pyproject.toml. Tried:${why}\n"
      "Install them (Debian: python3-NAME for each; or let ./clharness do it), or set CLHARNESS_PYTHON.")
  endif()
endif()
