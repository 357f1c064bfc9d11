/* SPDX-License-Identifier: Apache-2.0 */
/* Real OpenGL objects without a window, for ICDs that share them: a library that a probe loads into its process.
 *
 * EGL is found at run time, and OpenGL through it: where there is none, `start` says so. clharness_gl takes a request,
 * a few words, and answers a number as wide as a pointer; 0 is "there is none" or "that failed", unless said otherwise:
 *
 *   start N               makes a context on the N-th EGL display; answers NULL, or the reason for having none
 *   renderer              text: GL_RENDERER
 *   display egl           the EGLDisplay
 *   context usable        the EGLContext; "second" is another one, that shares nothing with it
 *   KIND NAME             name or handle of an object; kinds and names are those of mock_icds/gl_world.h
 *   delete KIND NAME      deletes it in OpenGL or EGL; 1
 *   fill buffer NAME      lets OpenGL write FILL into each byte, and does not wait for it; 1
 *   byte buffer NAME      1 + the first byte of a buffer, as OpenGL reads it
 *   finish                waits for OpenGL; 1
 *   current | release     makes the context current in this thread, or none; 1
 *
 * Objects are made when they are first asked for. Sources: EGL 1.5, OpenGL 4.6 (compatibility profile).
 */
#include "gl.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

static uintptr_t start(const char *number)
{
    const char *problem = gl_start((int)strtol(number, NULL, 10));
    if (!problem) {
        gl_forget(); /* they were another context's */
    }
    return (uintptr_t)problem;
}

static uintptr_t egl_display(const char *rest)
{
    (void)rest;
    return (uintptr_t)gl_display.egl;
}

static uintptr_t usable_context(const char *rest)
{
    (void)rest;
    return (uintptr_t)gl_display.usable;
}

static uintptr_t second_context(const char *rest)
{
    (void)rest;
    return (uintptr_t)gl_display.second;
}

static uintptr_t none(const char *rest)
{
    (void)rest;
    return 0;
}

static uintptr_t make_current(const char *rest)
{
    (void)rest;
    return eglMakeCurrent(gl_display.egl, NULL, NULL, gl_display.usable);
}

static uintptr_t release(const char *rest)
{
    (void)rest;
    return eglMakeCurrent(gl_display.egl, NULL, NULL, NULL);
}

static uintptr_t delete_object(const char *object)
{
    return gl_delete(object);
}

static GLuint buffer_named(const char *name)
{
    char request[48];
    snprintf(request, sizeof request, "buffer %s", name);
    return (GLuint)gl_object(request);
}

static uintptr_t fill_buffer(const char *name)
{
    return gl_fill_buffer(buffer_named(name));
}

static uintptr_t first_byte(const char *name)
{
    return gl_first_byte(buffer_named(name));
}

static uintptr_t finish(const char *rest)
{
    (void)rest;
    glFinish();
    return 1;
}

static uintptr_t renderer(const char *rest)
{
    (void)rest;
    return (uintptr_t)glGetString(GL_RENDERER);
}

/* What a request begins with, where the last character is a space, or what it is; the first that fits is taken. */
static const struct request {
    const char *words;
    uintptr_t (*answer)(const char *rest);
    bool needs_context;
} requests[] = {
    {"start ", start, false},
    {"display egl", egl_display, false},
    {"display ", none, false},
    {"context usable", usable_context, false},
    {"context second", second_context, false},
    {"context ", none, false},
    {"share_group ", none, false},
    {"current", make_current, false},
    {"release", release, false},
    {"delete ", delete_object, true},
    {"fill buffer ", fill_buffer, true},
    {"byte buffer ", first_byte, true},
    {"finish", finish, true},
    {"renderer", renderer, true},
};

static const struct request *find(const char *text)
{
    static const struct request object = {"", gl_object, true};
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        size_t length = strlen(requests[i].words);
        bool begins = requests[i].words[length - 1] == ' ';
        if (strncmp(text, requests[i].words, length) == 0 && (begins || text[length] == '\0')) {
            return &requests[i];
        }
    }
    return &object;
}

EXPORTED uintptr_t clharness_gl(const char *text);

/* Where a request needs a current context, the thread has the one afterwards that it had before. */
uintptr_t clharness_gl(const char *text)
{
    const struct request *request = find(text);
    const char *rest = text + strlen(request->words);
    if (!request->needs_context) {
        return request->answer(rest);
    }
    bool current = eglGetCurrentContext() == gl_display.usable;
    if (!current && !make_current("")) {
        return 0;
    }
    uintptr_t answer = request->answer(rest);
    if (!current) {
        release("");
    }
    return answer;
}
