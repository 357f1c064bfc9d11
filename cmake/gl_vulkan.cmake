# SPDX-License-Identifier: Apache-2.0
# CLHARNESS_HAS_VULKAN, CLHARNESS_HAS_GL: whether the headers of Vulkan, and those of EGL and OpenGL, are there. Nobody
# needs them for OpenCL: without them the commands that use them answer so, and their cases are unsupported. The targets
# clharness_vulkan_headers and clharness_gl_headers say where they are; libraries are opened at run time. Set to OFF, a
# folder counts as missing.
find_path(CLHARNESS_VULKAN_HEADERS vulkan/vulkan_core.h DOC "Folder that holds vulkan/vulkan_core.h")
find_path(CLHARNESS_EGL_HEADERS EGL/eglext.h DOC "Folder that holds EGL/")
find_path(CLHARNESS_GL_HEADERS GL/glcorearb.h DOC "Folder that holds GL/glcorearb.h and KHR/")
mark_as_advanced(CLHARNESS_VULKAN_HEADERS CLHARNESS_EGL_HEADERS CLHARNESS_GL_HEADERS)

function(clharness_optional_headers name packages)
  add_library(clharness_${name}_headers INTERFACE)
  string(TOUPPER ${name} upper)
  foreach(folder IN LISTS ARGN)
    if(NOT folder)
      message(STATUS "probe: without ${name}, whose headers are not here (Debian: ${packages})")
      if(EXISTS /usr/include)
        # Packages bring new folders there: the next build looks again.
        set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS /usr/include)
      endif()
      set(CLHARNESS_HAS_${upper} OFF PARENT_SCOPE)
      return()
    endif()
    if(NOT folder STREQUAL "/usr/include")
      target_include_directories(clharness_${name}_headers SYSTEM INTERFACE ${folder})
    endif()
  endforeach()
  set(CLHARNESS_HAS_${upper} ON PARENT_SCOPE)
endfunction()

clharness_optional_headers(vulkan "libvulkan-dev" "${CLHARNESS_VULKAN_HEADERS}")
clharness_optional_headers(gl "libegl-dev libgl-dev" "${CLHARNESS_EGL_HEADERS}" "${CLHARNESS_GL_HEADERS}")
