/* SPDX-License-Identifier: Apache-2.0 */
/* The OpenGL and EGL of the mock ICD: plain numbers that stand for handles and names, with what they are. The checks of
 * an ICD read the numbers from here (harness/check/icd/gl.py); what a real OpenGL has under the same words, the helper
 * harness/probe/gl_objects.c makes.
 *
 * Whoever includes this defines the macros; all others have no meaning.
 */
#ifndef GL_FILL
#define GL_FILL 0x5A /* every byte of every buffer and image */
#endif

/* DISPLAY(name, number): of EGL and of GLX. */
#ifdef DISPLAY
DISPLAY(egl, 0x61E61000)
DISPLAY(glx, 0x61617800)
#endif

/* CONTEXT(name, number, state): of both displays. A foreign one is of other hardware; one without devices has none of
 * OpenCL's to run on. */
#ifdef CONTEXT
CONTEXT(usable, 0x61C00100, CONTEXT_USABLE)
CONTEXT(second, 0x61C00200, CONTEXT_USABLE)
CONTEXT(without_buffers, 0x61C00300, CONTEXT_WITHOUT_BUFFERS)
CONTEXT(foreign, 0x61C00400, CONTEXT_FOREIGN)
CONTEXT(without_devices, 0x61C00500, CONTEXT_WITHOUT_DEVICES)
#endif

/* SHARE_GROUP(name, number): of CGL, for platforms that have cl_APPLE_gl_sharing. */
#ifdef SHARE_GROUP
SHARE_GROUP(usable, 0x61C61000)
#endif

/* BUFFER(name, number, size): the size in bytes; -1 for a name without a data store. */
#ifdef BUFFER
BUFFER(plain, 101, 256)
BUFFER(odd, 102, 99)
BUFFER(empty, 103, 0)
BUFFER(no_store, 104, -1)
#endif

/* TEXTURE(name, number, target, format, width, levels, samples, state) */
#ifdef TEXTURE
TEXTURE(plain, 201, 0x0DE1, GL_RGBA8, 16, 5, 1, TEXTURE_COMPLETE)               /* GL_TEXTURE_2D */
TEXTURE(one_dimension, 202, 0x0DE0, GL_RGBA8, 16, 1, 1, TEXTURE_COMPLETE)       /* GL_TEXTURE_1D */
TEXTURE(one_dimension_array, 203, 0x8C18, GL_RGBA8, 16, 1, 1, TEXTURE_COMPLETE) /* GL_TEXTURE_1D_ARRAY */
TEXTURE(array, 204, 0x8C1A, GL_RGBA8, 16, 1, 1, TEXTURE_COMPLETE)               /* GL_TEXTURE_2D_ARRAY */
TEXTURE(three_dimensions, 205, 0x806F, GL_RGBA8, 16, 1, 1, TEXTURE_COMPLETE)    /* GL_TEXTURE_3D */
TEXTURE(cube, 206, 0x8513, GL_RGBA8, 16, 1, 1, TEXTURE_COMPLETE)                /* GL_TEXTURE_CUBE_MAP */
TEXTURE(of_buffer, 207, 0x8C2A, GL_RGBA8, 64, 1, 1, TEXTURE_COMPLETE)           /* GL_TEXTURE_BUFFER */
TEXTURE(rectangle, 208, 0x84F5, GL_RGBA8, 16, 1, 1, TEXTURE_COMPLETE)           /* GL_TEXTURE_RECTANGLE */
TEXTURE(unbound, 209, 0, GL_RGBA8, 0, 0, 1, TEXTURE_COMPLETE)                   /* a name that is not used yet */
TEXTURE(incomplete, 210, 0x0DE1, GL_RGBA8, 16, 2, 1, TEXTURE_INCOMPLETE)
TEXTURE(empty, 211, 0x0DE1, GL_RGBA8, 0, 1, 1, TEXTURE_COMPLETE)
TEXTURE(unmapped, 212, 0x0DE1, GL_RGB9_E5, 16, 1, 1, TEXTURE_COMPLETE)
TEXTURE(border, 213, 0x0DE1, GL_RGBA8, 16, 1, 1, TEXTURE_BORDER)
TEXTURE(depth_stencil, 214, 0x0DE1, GL_DEPTH24_STENCIL8, 16, 1, 1, TEXTURE_COMPLETE)
TEXTURE(multisample, 215, 0x9100, GL_RGBA8, 16, 1, 4, TEXTURE_COMPLETE) /* GL_TEXTURE_2D_MULTISAMPLE */
#endif

/* RENDERBUFFER(name, number, format, width, samples) */
#ifdef RENDERBUFFER
RENDERBUFFER(plain, 301, GL_RGBA8, 16, 1)
RENDERBUFFER(empty, 302, GL_RGBA8, 0, 1)
RENDERBUFFER(multisample, 303, GL_RGBA8, 16, 4)
RENDERBUFFER(unmapped, 304, GL_STENCIL_INDEX8, 16, 1)
#endif

/* GL_SYNC(name, number, state) */
#ifdef GL_SYNC
GL_SYNC(pending, 0x61F00100, CL_SUBMITTED)
GL_SYNC(complete, 0x61F00200, CL_COMPLETE)
#endif

/* EGL_SYNC(name, number, fence): of another type than a fence where `fence` is false. */
#ifdef EGL_SYNC
EGL_SYNC(pending, 0x61E00100, true)
EGL_SYNC(reusable, 0x61E00200, false)
#endif

/* EGL_IMAGE(name, number, format, writable) */
#ifdef EGL_IMAGE
EGL_IMAGE(plain, 0x61A00100, GL_RGBA8, true)
EGL_IMAGE(read_only, 0x61A00200, GL_RGBA8, false)
EGL_IMAGE(unmapped, 0x61A00300, GL_RGB9_E5, false)
#endif
