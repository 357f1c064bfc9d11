/* SPDX-License-Identifier: Apache-2.0 */
/* EGL and OpenGL, found at run time, and what the parts of this helper share (gl_requests.c). */
#ifndef CLHARNESS_PROBE_GL_H
#define CLHARNESS_PROBE_GL_H

#define EGL_EGL_PROTOTYPES 0
#define EGL_NO_X11
#define MESA_EGL_NO_X11_HEADERS

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/glcorearb.h>

#include <stdbool.h>
#include <stdint.h>

/* TYPE, NAME: looked up in libEGL, and by eglGetProcAddress what is not there. Those of extensions may be NULL. */
#define GL_FUNCTIONS(F)                                                          \
    F(PFNEGLGETDISPLAYPROC, eglGetDisplay)                                       \
    F(PFNEGLGETPLATFORMDISPLAYEXTPROC, eglGetPlatformDisplayEXT)                 \
    F(PFNEGLQUERYDEVICESEXTPROC, eglQueryDevicesEXT)                             \
    F(PFNEGLINITIALIZEPROC, eglInitialize)                                       \
    F(PFNEGLBINDAPIPROC, eglBindAPI)                                             \
    F(PFNEGLCHOOSECONFIGPROC, eglChooseConfig)                                   \
    F(PFNEGLCREATECONTEXTPROC, eglCreateContext)                                 \
    F(PFNEGLMAKECURRENTPROC, eglMakeCurrent)                                     \
    F(PFNEGLGETCURRENTCONTEXTPROC, eglGetCurrentContext)                         \
    F(PFNEGLCREATEIMAGEKHRPROC, eglCreateImageKHR)                               \
    F(PFNEGLDESTROYIMAGEKHRPROC, eglDestroyImageKHR)                             \
    F(PFNEGLCREATESYNCKHRPROC, eglCreateSyncKHR)                                 \
    F(PFNEGLDESTROYSYNCKHRPROC, eglDestroySyncKHR)                               \
    F(PFNGLGETSTRINGPROC, glGetString)                                           \
    F(PFNGLGETERRORPROC, glGetError)                                             \
    F(PFNGLFINISHPROC, glFinish)                                                 \
    F(PFNGLFLUSHPROC, glFlush)                                                   \
    F(PFNGLGENBUFFERSPROC, glGenBuffers)                                         \
    F(PFNGLBINDBUFFERPROC, glBindBuffer)                                         \
    F(PFNGLBUFFERDATAPROC, glBufferData)                                         \
    F(PFNGLBUFFERSUBDATAPROC, glBufferSubData)                                   \
    F(PFNGLGETBUFFERSUBDATAPROC, glGetBufferSubData)                             \
    F(PFNGLDELETEBUFFERSPROC, glDeleteBuffers)                                   \
    F(PFNGLGENTEXTURESPROC, glGenTextures)                                       \
    F(PFNGLBINDTEXTUREPROC, glBindTexture)                                       \
    F(PFNGLTEXPARAMETERIPROC, glTexParameteri)                                   \
    F(PFNGLTEXIMAGE1DPROC, glTexImage1D)                                         \
    F(PFNGLTEXIMAGE2DPROC, glTexImage2D)                                         \
    F(PFNGLTEXIMAGE3DPROC, glTexImage3D)                                         \
    F(PFNGLTEXIMAGE2DMULTISAMPLEPROC, glTexImage2DMultisample)                   \
    F(PFNGLTEXBUFFERPROC, glTexBuffer)                                           \
    F(PFNGLDELETETEXTURESPROC, glDeleteTextures)                                 \
    F(PFNGLGENRENDERBUFFERSPROC, glGenRenderbuffers)                             \
    F(PFNGLBINDRENDERBUFFERPROC, glBindRenderbuffer)                             \
    F(PFNGLRENDERBUFFERSTORAGEPROC, glRenderbufferStorage)                       \
    F(PFNGLRENDERBUFFERSTORAGEMULTISAMPLEPROC, glRenderbufferStorageMultisample) \
    F(PFNGLDELETERENDERBUFFERSPROC, glDeleteRenderbuffers)                       \
    F(PFNGLFENCESYNCPROC, glFenceSync)                                           \
    F(PFNGLDELETESYNCPROC, glDeleteSync)

#define GL_DECLARE(type, name) extern type name;
GL_FUNCTIONS(GL_DECLARE)
#undef GL_DECLARE

/* --- gl_display.c --- */

struct gl_display {
    EGLDisplay egl;
    EGLContext usable; /* where all objects are */
    EGLContext second; /* shares nothing with it */
};

/* The one that was started last. */
extern struct gl_display gl_display;

/* Makes contexts on the N-th EGL display. NULL, or the reason for having none. */
const char *gl_start(int number);

/* --- gl_objects.c; all with the usable context current --- */

/* Number of an object by "KIND NAME", made if it has not been yet; 0 where OpenGL makes none. */
uintptr_t gl_object(const char *request);
/* Deletes it; false where it cannot be. */
bool gl_delete(const char *request);
/* Forgets all objects. */
void gl_forget(void);
/* Lets OpenGL write a value into each byte of a buffer of 256, and does not wait for it. */
bool gl_fill_buffer(GLuint buffer);
/* 1 + the first byte of a buffer, as OpenGL reads it; 0 where that cannot be had. */
uintptr_t gl_first_byte(GLuint buffer);

#endif
