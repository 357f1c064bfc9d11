# The reference loader for Windows. The API is read with a compiler of the machine that builds, because the Windows
# headers that the OpenCL-Headers include there are not for our parser; tables and numbers are the same.
find_program(CLHARNESS_HOST_COMPILER NAMES cc gcc clang REQUIRED)
set(folder ${CMAKE_CURRENT_BINARY_DIR}/windows)
set(python ${CMAKE_COMMAND} -E env PYTHONPATH=${PROJECT_SOURCE_DIR} ${CLHARNESS_PYTHON} -m)
set(api ${folder}/api.json)
file(GLOB model ${PROJECT_SOURCE_DIR}/harness/api/*.py)
add_custom_command(
  OUTPUT ${api} ${folder}/clharness_functions.c ${folder}/clharness_functions.h
  COMMAND ${python} harness.api.generate --out ${folder} --headers ${CLHARNESS_HEADERS_DIR} --compiler ${CLHARNESS_HOST_COMPILER}
  DEPENDS ${model} ${PROJECT_SOURCE_DIR}/harness/api/supplement.h
  VERBATIM)
add_custom_command(
  OUTPUT ${folder}/clharness_dispatch.c ${folder}/OpenCL.def
  COMMAND ${python} harness.reference_loader.generate --out ${folder}/clharness_dispatch.c --api ${api}
  COMMAND ${python} harness.reference_loader.definition --out ${folder}/OpenCL.def --api ${api}
  DEPENDS generate.py definition.py ${PROJECT_SOURCE_DIR}/harness/api/from_api.py ${PROJECT_SOURCE_DIR}/harness/api/contract/slots.toml ${api}
  VERBATIM)

add_library(clharness_reference_loader SHARED ${CLHARNESS_LOADER_SOURCES}
  os_windows.c os_windows_registry.c os_windows_devices.c
  ${folder}/clharness_functions.c ${folder}/clharness_dispatch.c ${folder}/OpenCL.def)
target_include_directories(clharness_reference_loader PRIVATE . ${folder} ${PROJECT_SOURCE_DIR}/harness/api/include)
target_compile_definitions(clharness_reference_loader PRIVATE
  CLHARNESS_VERSION="${PROJECT_VERSION}" WIN32_LEAN_AND_MEAN _WIN32_WINNT=0x0601)
target_link_libraries(clharness_reference_loader PRIVATE clharness_headers clharness_flags cfgmgr32)
# OpenCL.dll, that needs nothing but the system.
target_link_options(clharness_reference_loader PRIVATE -static-libgcc)
set_target_properties(clharness_reference_loader PROPERTIES PREFIX "" OUTPUT_NAME OpenCL C_VISIBILITY_PRESET default)
