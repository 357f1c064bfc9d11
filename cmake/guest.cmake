# SPDX-License-Identifier: Apache-2.0
# What an including project has set for its own targets, and what would change our parts or break their build, does not
# hold for ours: folders, names and visibility of libraries, warnings, sanitizers, coverage, link-time optimisation,
# definitions, folders of headers, analysers. All of it holds for this folder and those below it; the including project
# keeps its own. What the machine needs (-m32, --sysroot, -march) stays, and so do compiler launchers.
get_directory_property(CLHARNESS_INCLUDED_FROM INCLUDE_DIRECTORIES) # where the headers may be: cmake/headers.cmake
set_directory_properties(PROPERTIES COMPILE_DEFINITIONS "" INCLUDE_DIRECTORIES "" LINK_DIRECTORIES "" LINK_LIBRARIES "")

set(configurations DEBUG RELEASE RELWITHDEBINFO MINSIZEREL ${CMAKE_CONFIGURATION_TYPES} ${CMAKE_BUILD_TYPE})
list(TRANSFORM configurations TOUPPER)
list(REMOVE_DUPLICATES configurations)

# Folders of files that are made, from each folder's own on: set to nothing rather than unset, which would show the cache's.
foreach(kind RUNTIME LIBRARY ARCHIVE)
  set(CMAKE_${kind}_OUTPUT_DIRECTORY "")
  foreach(configuration IN LISTS configurations)
    unset(CMAKE_${kind}_OUTPUT_DIRECTORY_${configuration})
    if(CMAKE_${kind}_OUTPUT_DIRECTORY_${configuration})
      set(CMAKE_${kind}_OUTPUT_DIRECTORY_${configuration} ./$<CONFIG>)
    endif()
  endforeach()
endforeach()
foreach(configuration IN LISTS configurations)
  set(CMAKE_${configuration}_POSTFIX "")
  set(CMAKE_INTERPROCEDURAL_OPTIMIZATION_${configuration} OFF)
endforeach()
set(CMAKE_C_VISIBILITY_PRESET default)
foreach(name C_CLANG_TIDY C_INCLUDE_WHAT_YOU_USE C_CPPCHECK C_CPPLINT C_ICSTAT BUILD_RPATH INSTALL_RPATH
    C_CLANG_TIDY_EXPORT_FIXES_DIR EXPORT_FIND_PACKAGE_NAME INSTALL_OBJECT_NAME_STRATEGY UNITY_BUILD_UNIQUE_ID)
  set(CMAKE_${name} "")
endforeach()
foreach(name AUTOGEN_ORIGIN_DEPENDS AUTOMOC AUTORCC AUTOUIC BUILD_RPATH_USE_ORIGIN BUILD_WITH_INSTALL_RPATH
    COMPILE_WARNING_AS_ERROR ENABLE_EXPORTS EXECUTABLE_ENABLE_EXPORTS INCLUDE_CURRENT_DIR
    INCLUDE_CURRENT_DIR_IN_INTERFACE INSTALL_OBJECT_ONLY_USE_DESTINATION INSTALL_REMOVE_ENVIRONMENT_RPATH
    INSTALL_RPATH_USE_LINK_PATH
    INTERPROCEDURAL_OPTIMIZATION LINK_DEPENDS_NO_SHARED LINK_LIBRARIES_ONLY_TARGETS LINK_SEARCH_END_STATIC
    LINK_SEARCH_START_STATIC LINK_WARNING_AS_ERROR LINK_WHAT_YOU_USE NO_SYSTEM_FROM_IMPORTED OPTIMIZE_DEPENDENCIES
    SHARED_LIBRARY_ENABLE_EXPORTS SKIP_BUILD_RPATH SKIP_LINTING UNITY_BUILD UNITY_BUILD_RELOCATABLE
    VERIFY_INTERFACE_HEADER_SETS VERIFY_PRIVATE_HEADER_SETS VISIBILITY_INLINES_HIDDEN)
  set(CMAKE_${name} OFF)
endforeach()
set(CMAKE_LINK_LIBRARIES_STRATEGY REORDER_MINIMALLY) # CMake's own; from 3.31 on
set(CMAKE_POSITION_INDEPENDENT_CODE ON) # of libraries, too, with CMake 3.16
set(CMAKE_SHARED_LIBRARY_PREFIX lib)
set(CMAKE_SHARED_MODULE_PREFIX lib)
set(CMAKE_SHARED_LIBRARY_SUFFIX .so)
set(CMAKE_SHARED_MODULE_SUFFIX .so)
set(CMAKE_EXECUTABLE_SUFFIX "")
set(CMAKE_FOLDER clharness)

# clharness_without(VARIABLE): takes such words out of a line or a list of flags, also where they stand in a generator
# expression.
set(CLHARNESS_NOT_OURS
  "-W[A-Za-z0-9][-A-Za-z0-9_+=]*" "-pedantic(-errors)?" "-ansi" "-std=[a-z0-9:]+" "-f(no-)?analyzer"
  "-f(no-)?sanitize[^ ;>]*" "-fprofile[^ ;>]*" "-ftest-coverage" "-fcoverage[^ ;>]*" "--?coverage"
  "-f(no-)?lto[^ ;>]*" "-ffat-lto-objects" "-fvisibility=[a-z]+" "-DCL_[^ ;>]*" "-static(-pie)?"
  "-Wl,--no-undefined" "-Wl,-z,(defs|now)" "-Wl,-Bsymbolic[-a-z]*")
function(clharness_without variable)
  set(text "${${variable}}")
  foreach(word IN LISTS CLHARNESS_NOT_OURS)
    string(REGEX MATCHALL "[(]" groups "${word}")
    list(LENGTH groups last)
    math(EXPR last "${last} + 3")
    set(before "")
    while(NOT text STREQUAL before) # neighbours share the mark between them
      set(before "${text}")
      string(REGEX REPLACE "(^|[ ;:,])(${word})([ ;>]|$)" "\\1\\${last}" text "${text}")
    endwhile()
  endforeach()
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

foreach(flags C_FLAGS EXE_LINKER_FLAGS SHARED_LINKER_FLAGS MODULE_LINKER_FLAGS)
  clharness_without(CMAKE_${flags})
  foreach(configuration IN LISTS configurations)
    clharness_without(CMAKE_${flags}_${configuration})
  endforeach()
endforeach()
foreach(property COMPILE_OPTIONS LINK_OPTIONS)
  get_directory_property(options ${property})
  clharness_without(options)
  set_directory_properties(PROPERTIES ${property} "${options}")
endforeach()
