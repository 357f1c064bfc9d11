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
if(NOT CMAKE_SIZEOF_VOID_P) # Khronos' loader takes it away at the end of its file
  set(CMAKE_SIZEOF_VOID_P ${CMAKE_C_SIZEOF_DATA_PTR})
endif()
set(CMAKE_POSITION_INDEPENDENT_CODE ON) # of libraries, too, with CMake 3.16
set(CMAKE_SHARED_LIBRARY_PREFIX lib)
set(CMAKE_SHARED_MODULE_PREFIX lib)
set(CMAKE_SHARED_LIBRARY_SUFFIX .so)
set(CMAKE_SHARED_MODULE_SUFFIX .so)
set(CMAKE_EXECUTABLE_SUFFIX "")
set(CMAKE_FOLDER clharness)

# Of flags only what the machine needs holds for ours: which processor, which C library and tools, how much optimisation.
# Whatever else a project may add (warnings, standards, definitions, headers that are read first, scripts for the linker)
# is meant for its own sources.
set(CLHARNESS_OURS_TOO
  "-m[a-z0-9].*" "-O[0-3sgz]?" "-g.*" "-(-)?(sysroot|target|gcc-toolchain|gcc-install-dir|rtlib|specs|config)=.*"
  "-(unwindlib|resource-dir|fuse-ld)=.*" "-f(file|debug|macro)-prefix-map=.*" "-(f)?no-integrated-as" "-isystem/.*"
  "-pipe" "-w" "-Qunused-arguments" "-[BL].*" "-Wl,-(-)?(m|dynamic-linker|rpath|rpath-link)[,=].*")
set(CLHARNESS_OURS_WITH_VALUE -isystem -idirafter -isysroot -target -resource-dir -mllvm -B -L --sysroot --config)
list(JOIN CLHARNESS_OURS_TOO "|" CLHARNESS_OURS_TOO)

# clharness_without(VARIABLE): takes what is not ours out of a generator expression, whose conditions stay.
set(CLHARNESS_NOT_OURS
  "-(include|imacros|iquote|[DUI])[ ;][^ ;>]+" "-(include|imacros|iquote|[DUIWls])[^ ;>]*" "-pedantic(-errors)?" "-ansi"
  "-std=[a-z0-9:]+" "-f[a-tv-z][^ ;>]*" "-Ofast" "-pg" "-ftest-coverage" "--?coverage" "-(no-)?pie" "-static(-pie)?"
  "-nostd[a-z]+" "-nodefaultlibs" "-nostartfiles" "LINKER:[^ ;>]*")
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

# clharness_ours(VARIABLE): keeps of a list of words what is ours, each as a shell reads it, an option with its value.
function(clharness_ours variable)
  set(kept "")
  set(option "")
  foreach(word IN LISTS ${variable})
    string(REGEX REPLACE "(.*[^-A-Za-z0-9_/.,:=+@%~].*)" "\"\\1\"" quoted "${word}")
    if(option)
      list(APPEND kept "${option} ${quoted}")
      set(option "")
    elseif(word IN_LIST CLHARNESS_OURS_WITH_VALUE)
      set(option ${word})
    elseif(word MATCHES "^(${CLHARNESS_OURS_TOO})$")
      list(APPEND kept "${quoted}")
    endif()
  endforeach()
  set(${variable} "${kept}" PARENT_SCOPE)
endfunction()

# clharness_our_options(VARIABLE): the same of a folder's options, where generator expressions may have semicolons.
function(clharness_our_options variable)
  set(kept "")
  set(words "")
  set(expression "")
  foreach(option IN LISTS ${variable} ITEMS "")
    string(APPEND expression "${option}")
    string(REGEX MATCHALL "[$]<" opened "${expression}")
    string(REGEX MATCHALL ">" closed "${expression}")
    list(LENGTH opened opened)
    list(LENGTH closed closed)
    if(opened GREATER closed)
      string(APPEND expression ";")
      continue()
    endif()
    if(option MATCHES "^SHELL:(.*)" AND NOT opened)
      separate_arguments(shell UNIX_COMMAND "${CMAKE_MATCH_1}")
      list(APPEND words ${shell})
    elseif(option AND NOT opened)
      list(APPEND words "${option}")
    else() # an expression, or the end
      clharness_ours(words)
      list(TRANSFORM words REPLACE "^(.*[ \"].*)$" "SHELL:\\1")
      clharness_without(expression)
      list(APPEND kept ${words} "${expression}")
      set(words "")
    endif()
    set(expression "")
  endforeach()
  set(${variable} "${kept}" PARENT_SCOPE)
endfunction()

foreach(flags C_FLAGS EXE_LINKER_FLAGS SHARED_LINKER_FLAGS MODULE_LINKER_FLAGS)
  foreach(suffix IN LISTS configurations ITEMS "")
    if(suffix)
      set(suffix _${suffix})
    endif()
    separate_arguments(words UNIX_COMMAND "${CMAKE_${flags}${suffix}}")
    clharness_ours(words)
    list(JOIN words " " CMAKE_${flags}${suffix})
  endforeach()
endforeach()
foreach(property COMPILE_OPTIONS LINK_OPTIONS)
  get_directory_property(options ${property})
  clharness_our_options(options)
  set_directory_properties(PROPERTIES ${property} "${options}")
endforeach()
