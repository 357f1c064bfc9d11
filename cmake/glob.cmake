# SPDX-License-Identifier: Apache-2.0
# clharness_glob(VARIABLE PATTERN…): the files that match. A file that is added to their folders, or removed, configures
# again. CONFIGURE_DEPENDS does so as well, but gives Ninja work each time that it is asked: no build would be current,
# and no command could run beside another.
include_guard()

function(clharness_glob variable)
  file(GLOB files ${ARGN})
  foreach(pattern IN LISTS ARGN)
    get_filename_component(folder ${pattern} DIRECTORY)
    set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder})
  endforeach()
  set(${variable} ${files} PARENT_SCOPE)
endfunction()
