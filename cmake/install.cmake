# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where. The Python package, the suites and the built parts lie in one folder, of which
# clharness.json names the rest by relative paths, so that all of it can be moved; nothing is ever written there.
# A wheel (SKBUILD is set by scikit-build-core) has that folder as its package, and no CMake files.
include(GNUInstallDirs)
if(SKBUILD)
  set(root clharness)
  set(data ${SKBUILD_DATA_DIR}/share)
  set(man ${data}/man)
else()
  set(root ${CMAKE_INSTALL_LIBDIR}/clharness)
  set(data ${CMAKE_INSTALL_DATADIR})
  set(man ${CMAKE_INSTALL_MANDIR})
endif()

# A build for 32 bits has its parts in a folder beside those of a build for 64, which may come into the same place: the
# command takes them for 32-bit libraries. Everything else is the same, and runs with the Python of 64 bits.
execute_process(COMMAND ${CLHARNESS_PYTHON} -c "import struct; print(8 * struct.calcsize('P'), end='')"
  OUTPUT_VARIABLE bits_of_python)
set(beside "")
if(bits EQUAL 32 AND bits_of_python EQUAL 64 AND NOT SKBUILD)
  set(beside /x86-32)
endif()
set(built ${root}${beside})

# --- the Python package, the suites, and the headers from which faults and settings of mocks are read ---
install(DIRECTORY harness suites DESTINATION ${root} FILES_MATCHING
  PATTERN __pycache__ EXCLUDE PATTERN harness/setup EXCLUDE
  PATTERN "*.py" PATTERN "*.toml" PATTERN "*.json" PATTERN "*.html" PATTERN "*.css" PATTERN "*.js" PATTERN "*.j2")
install(DIRECTORY mock_icds mock_layers DESTINATION ${root} FILES_MATCHING PATTERN "*.h" PATTERN "*.toml")
install(FILES harness/mutation/reach.c DESTINATION ${root}/harness/mutation)
install(FILES pytest.ini LICENSE DESTINATION ${root})

# --- the built parts ---
set(entries "")
foreach(part IN LISTS CLHARNESS_PARTS)
  string(REPLACE ":" ";" part "${part}")
  list(GET part 0 name)
  list(GET part 1 target)
  if(TARGET ${target} AND NOT name STREQUAL "seeded_loader")
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "EXECUTABLE")
      install(PROGRAMS $<TARGET_FILE:${target}> DESTINATION ${built}/parts)
    else()
      install(FILES $<TARGET_FILE:${target}> DESTINATION ${built}/parts)
    endif()
    string(APPEND entries "  \"${name}\": \"parts/$<TARGET_FILE_NAME:${target}>\",\n")
  endif()
endforeach()
foreach(kind icd layer)
  string(TOUPPER CLHARNESS_MOCK_${kind}S property)
  get_property(mocks GLOBAL PROPERTY ${property})
  set(lines "")
  foreach(mock IN LISTS mocks)
    install(FILES $<TARGET_FILE:clharness_${mock}> DESTINATION ${built}/parts/mock_${kind}s)
    list(APPEND lines "    \"${mock}\": \"parts/mock_${kind}s/$<TARGET_FILE_NAME:clharness_${mock}>\"")
  endforeach()
  string(REPLACE ";" ",\n" lines "${lines}")
  string(APPEND entries "  \"mock_${kind}s\": {\n${lines}\n  },\n")
endforeach()
# What some of them need.
install(FILES $<TARGET_FILE:clharness_user_of_loader> DESTINATION ${built}/parts/mock_icds)
set(vulkan null)
if(CLHARNESS_HAS_VULKAN_REGISTRY)
  get_property(drivers GLOBAL PROPERTY CLHARNESS_VULKAN_DRIVERS)
  set(lines "")
  foreach(driver IN LISTS drivers)
    install(FILES $<TARGET_FILE:clharness_vulkan_${driver}> DESTINATION ${built}/parts/vulkan)
    list(APPEND lines "      \"${driver}\": \"parts/vulkan/$<TARGET_FILE_NAME:clharness_vulkan_${driver}>\"")
  endforeach()
  string(REPLACE ";" ",\n" lines "${lines}")
  set(loader "")
  if(TARGET clharness_vulkan_reference_loader)
    install(FILES $<TARGET_FILE:clharness_vulkan_reference_loader> DESTINATION ${built}/parts/vulkan)
    set(loader parts/vulkan/$<TARGET_FILE_NAME:clharness_vulkan_reference_loader>)
  endif()
  install(FILES ${PROJECT_BINARY_DIR}/harness/api/vulkan/vulkan.json DESTINATION ${built}/parts/vulkan)
  set(vulkan "{\n    \"api\": \"parts/vulkan/vulkan.json\",\n    \"reference_loader\": \"${loader}\",
    \"seeded_loader\": \"\",\n    \"drivers\": {\n${lines}\n    }\n  }")
endif()
string(APPEND entries "  \"vulkan\": ${vulkan},\n")
install(FILES ${PROJECT_BINARY_DIR}/harness/api/api.json DESTINATION ${built}/parts)
file(GENERATE OUTPUT ${CLHARNESS_OUTPUT_FOLDER}/installed/clharness.json CONTENT "{
  \"installed\": true,
  \"system\": \"${system}\",
  \"bits\": ${bits},
  \"compiler\": \"cc\",
  \"sanitize\": \"${CLHARNESS_SANITIZE}\",
${entries}  \"api\": \"parts/api.json\"
}
")
install(FILES ${CLHARNESS_OUTPUT_FOLDER}/installed/clharness.json DESTINATION ${built})

# --- the command's manual page and completions, from the command line itself ---
# Modules of the command line read the API when they are imported, and nothing else of a build: this stands in for one.
set(pages ${PROJECT_BINARY_DIR}/pages)
set(api ${PROJECT_BINARY_DIR}/harness/api/api.json)
set(entries "\"api\": \"${api}\", ")
foreach(part IN LISTS CLHARNESS_PARTS)
  string(REGEX REPLACE ":.*" "" part "${part}")
  string(APPEND entries "\"${part}\": \"${api}\", ")
endforeach()
file(WRITE ${pages}/clharness.json
  "{${entries}\"compiler\": \"\", \"sanitize\": \"\", \"mock_icds\": {}, \"mock_layers\": {}}\n")
clharness_generate(OUTPUT ${pages}/clharness.1 ${pages}/clharness.bash ${pages}/_clharness ${pages}/clharness.fish
  MODULE harness.cli.pages
  ARGUMENTS --out ${pages}
  ENVIRONMENT CLHARNESS_BUILD=${pages} CLHARNESS_BUILD_IN_USE=${pages}
  DEPENDS clharness_api_files ${api})
add_custom_target(clharness_pages ALL DEPENDS ${pages}/clharness.1)
install(FILES ${pages}/clharness.1 DESTINATION ${man}/man1)
install(FILES ${pages}/clharness.bash DESTINATION ${data}/bash-completion/completions RENAME clharness)
install(FILES ${pages}/_clharness DESTINATION ${data}/zsh/site-functions)
install(FILES ${pages}/clharness.fish DESTINATION ${data}/fish/vendor_completions.d)

# --- the command, and the package for find_package ---
if(SKBUILD)
  install(FILES cmake/wheel/__init__.py DESTINATION ${root})
  return()
endif()
file(RELATIVE_PATH CLHARNESS_ROOT_FROM_BIN ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR}/clharness)
configure_file(cmake/clharness-installed.in ${PROJECT_BINARY_DIR}/installed/clharness @ONLY)
install(PROGRAMS ${PROJECT_BINARY_DIR}/installed/clharness DESTINATION ${CMAKE_INSTALL_BINDIR})

include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/clharness)
set(CLHARNESS_BIN ${CMAKE_INSTALL_BINDIR})
set(CLHARNESS_ROOT ${CMAKE_INSTALL_LIBDIR}/clharness)
configure_package_config_file(cmake/clharnessConfig.cmake.in ${PROJECT_BINARY_DIR}/installed/clharnessConfig.cmake
  INSTALL_DESTINATION ${package} PATH_VARS CLHARNESS_BIN CLHARNESS_ROOT)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/installed/clharnessConfigVersion.cmake
  VERSION ${CLHARNESS_VERSION} COMPATIBILITY SameMajorVersion ARCH_INDEPENDENT)
install(FILES ${PROJECT_BINARY_DIR}/installed/clharnessConfig.cmake
  ${PROJECT_BINARY_DIR}/installed/clharnessConfigVersion.cmake cmake/suites.cmake DESTINATION ${package})
