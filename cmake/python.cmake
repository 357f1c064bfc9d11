# SPDX-License-Identifier: Apache-2.0
# CLHARNESS_PYTHON: an interpreter that has the modules of pyproject.toml. The first python3 on PATH may lack them, while
# the system's own has them; a virtual environment in the build folder comes first.
set(CLHARNESS_PYTHON "" CACHE FILEPATH "Python interpreter (3.11 or newer, with the modules of pyproject.toml)")
if(NOT CLHARNESS_PYTHON)
  find_program(CLHARNESS_PYTHON_ON_PATH python3)
  set(why "")
  foreach(candidate ${PROJECT_BINARY_DIR}/venv/bin/python ${CLHARNESS_PYTHON_ON_PATH} /usr/bin/python3 /usr/local/bin/python3)
    if(EXISTS ${candidate})
      execute_process(
        COMMAND ${candidate} ${PROJECT_SOURCE_DIR}/harness/setup/python_parts.py
        RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE missing)
      if(result EQUAL 0)
        set(CLHARNESS_PYTHON ${candidate} CACHE FILEPATH "" FORCE)
        break()
      endif()
      string(STRIP "${missing}" missing)
      string(REPLACE "\n" " " missing "${missing}")
      string(APPEND why "\n  ${candidate} lacks ${missing}")
    endif()
  endforeach()
endif()
if(NOT CLHARNESS_PYTHON)
  message(FATAL_ERROR "clharness needs Python 3.11 or newer with the modules of pyproject.toml. Tried:${why}\n"
    "Install them (Debian: python3-NAME for each; or let ./clharness do it), or set CLHARNESS_PYTHON.")
endif()
