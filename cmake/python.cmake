# CLHARNESS_PYTHON: an interpreter that has pycparser and pytest. The first python3 on PATH may have neither, while
# the system's own has both; a virtual environment in the build folder comes first.
set(CLHARNESS_PYTHON "" CACHE FILEPATH "Python interpreter (3.11 or newer, with pytest and pycparser)")
if(NOT CLHARNESS_PYTHON)
  find_program(CLHARNESS_PYTHON_ON_PATH python3)
  set(why "")
  foreach(candidate ${PROJECT_BINARY_DIR}/venv/bin/python ${CLHARNESS_PYTHON_ON_PATH} /usr/bin/python3 /usr/local/bin/python3)
    if(EXISTS ${candidate})
      execute_process(
        COMMAND ${candidate} -c "import sys, elftools, pycparser, pytest; sys.exit(sys.version_info < (3, 11))"
        RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE message)
      if(result EQUAL 0)
        set(CLHARNESS_PYTHON ${candidate} CACHE FILEPATH "" FORCE)
        break()
      endif()
      string(REGEX REPLACE "^.*\n([A-Za-z]+Error[^\n]*).*$" "\\1" message "${message}")
      string(APPEND why "\n  ${candidate}: ${message}")
    endif()
  endforeach()
endif()
if(NOT CLHARNESS_PYTHON)
  message(FATAL_ERROR "clharness needs Python 3.11 or newer with pytest, pycparser and pyelftools. Tried:${why}\n"
    "Install them (Debian: python3-pytest python3-pytest-xdist python3-pycparser python3-pyelftools), "
    "or set CLHARNESS_PYTHON.")
endif()
