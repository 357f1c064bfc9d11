/* SPDX-License-Identifier: Apache-2.0 */
/* EGL and OpenGL: finds the functions, and makes contexts without a window system. Linux only. */
#define _GNU_SOURCE
#include "gl.h"

#include <dlfcn.h>
#include <stddef.h>

enum { MAX_DEVICES = 16 };

#define DEFINE(type, name) type name;
GL_FUNCTIONS(DEFINE)
#undef DEFINE

struct gl_display gl_display;

static bool find_functions(void)
{
    void *library = dlopen("libEGL.so.1", RTLD_NOW | RTLD_LOCAL);
    void *(*address_of)(const char *) = NULL;
    void *symbol = library ? dlsym(library, "eglGetProcAddress") : NULL;
    if (!symbol) {
        return false;
    }
    address_of = (void *(*)(const char *))(uintptr_t)symbol;
#define FIND(type, name)                          \
    symbol = dlsym(library, #name);               \
    symbol = symbol ? symbol : address_of(#name); \
    (name) = (type)(uintptr_t)symbol;
    GL_FUNCTIONS(FIND)
#undef FIND
    return eglInitialize && eglCreateContext && eglMakeCurrent;
}

/* The displays that can be had without a window system: one for each device, that of Mesa, the default one. */
static EGLDisplay nth_display(int wanted)
{
    EGLDeviceEXT devices[MAX_DEVICES];
    EGLint count = 0;
    if (!eglGetPlatformDisplayEXT) {
        return wanted == 0 && eglGetDisplay ? eglGetDisplay(EGL_DEFAULT_DISPLAY) : NULL;
    }
    if (eglQueryDevicesEXT && !eglQueryDevicesEXT(MAX_DEVICES, devices, &count)) {
        count = 0;
    }
    if (wanted < count) {
        return eglGetPlatformDisplayEXT(EGL_PLATFORM_DEVICE_EXT, devices[wanted], NULL);
    }
    if (wanted == count) {
        return eglGetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA, NULL, NULL);
    }
    return wanted == count + 1 && eglGetDisplay ? eglGetDisplay(EGL_DEFAULT_DISPLAY) : NULL;
}

static bool is_last(int wanted)
{
    EGLint count = 0;
    if (eglQueryDevicesEXT) {
        eglQueryDevicesEXT(0, NULL, &count);
    }
    return wanted > count + 1;
}

/* A config is the one for pbuffers, for nothing, or none at all (EGL_KHR_no_config_context): what the display takes. */
static EGLContext new_context(void)
{
    static const EGLint none[] = {EGL_NONE};
    static const EGLint wanted[][5] = {
        {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE},
        {EGL_SURFACE_TYPE, 0, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        EGLConfig config = NULL;
        EGLint count = 0;
        bool chosen = eglChooseConfig(gl_display.egl, wanted[i], &config, 1, &count) && count > 0;
        EGLContext context = chosen ? eglCreateContext(gl_display.egl, config, NULL, none) : NULL;
        if (context) {
            return context;
        }
    }
    return eglCreateContext(gl_display.egl, NULL, NULL, none);
}

const char *gl_start(int number)
{
    static bool is_loaded;
    EGLint major;
    EGLint minor;
    if (!is_loaded && !find_functions()) {
        return "there is no libEGL.so.1 here that can be used";
    }
    is_loaded = true;
    if (is_last(number)) {
        return "no more displays";
    }
    gl_display.egl = nth_display(number);
    if (!gl_display.egl || !eglInitialize(gl_display.egl, &major, &minor)) {
        return "EGL does not give this display";
    }
    if (!eglBindAPI(EGL_OPENGL_API) || !(gl_display.usable = new_context())) {
        return "EGL makes no OpenGL context on this display";
    }
    gl_display.second = new_context();
    if (!eglMakeCurrent(gl_display.egl, NULL, NULL, gl_display.usable)) {
        return "an OpenGL context cannot be current without a surface on this display";
    }
    return glGenBuffers && glGenTextures && glGenRenderbuffers && glFenceSync ? NULL : "this OpenGL is too old";
}
