# SPDX-License-Identifier: Apache-2.0
# Every option, with its default. As part of another project only what its tests need is built.
option(CLHARNESS_WERROR "Make compiler warnings errors" OFF)
option(CLHARNESS_BUILD_TESTS "Build and register clharness's own C unit tests" ${CLHARNESS_TOP_LEVEL})
option(CLHARNESS_BUILD_FUZZ "Build the fuzz targets" ${CLHARNESS_TOP_LEVEL})
option(CLHARNESS_SEEDED_FAULTS "Build a copy of the reference loader that can be made faulty" ${CLHARNESS_TOP_LEVEL})
option(CLHARNESS_INSTALL "Make rules for cmake --install" ${CLHARNESS_TOP_LEVEL})

# clharness_setting(NAME TYPE HELP): in the cache, empty; a variable of the including project holds, as it does for
# options.
macro(clharness_setting name type help)
  if(NOT DEFINED ${name} OR DEFINED CACHE{${name}})
    set(${name} "" CACHE ${type} "${help}")
  endif()
endmacro()
clharness_setting(CLHARNESS_SANITIZE STRING "Sanitizers for the C parts, for example address,undefined")
clharness_setting(CLHARNESS_OPENCL_HEADERS PATH "Folder that holds CL/cl.h (default: OpenCLHeaders' package, else the system's)")
clharness_setting(CLHARNESS_FUZZ_ENGINE STRING "Fuzzing engine to link the fuzz targets with: libfuzzer, afl, or linker flags")
clharness_setting(CLHARNESS_LOADER FILEPATH "Loader that the registered ctest entries test (default: target OpenCL::OpenCL or the system's)")
clharness_setting(CLHARNESS_PYTHON FILEPATH "Python interpreter (3.11 or newer, with the modules of pyproject.toml)")
