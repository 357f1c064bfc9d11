/* SPDX-License-Identifier: Apache-2.0 */
/* Real OpenGL objects, under the kinds and names of mock_icds/gl_world.h. Sources: EGL 1.5, OpenGL 4.6. */
#include "gl.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { MAX_OBJECTS = 64, SIDE = 16 /* of every image that is not empty */, FILL = 0x5A };

/* --- buffers --- */

static uintptr_t make_buffer(const char *name)
{
    static const struct {
        const char *name;
        int size;
    } known[] = {{"plain", 256}, {"odd", 99}, {"empty", 0}, {"no_store", -1}};
    static const unsigned char zeros[256];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        GLuint number = 0;
        if (strcmp(name, known[i].name) != 0) {
            continue;
        }
        glGenBuffers(1, &number);
        glBindBuffer(GL_ARRAY_BUFFER, number);
        if (known[i].size >= 0) {
            glBufferData(GL_ARRAY_BUFFER, known[i].size, zeros, GL_DYNAMIC_DRAW);
        }
        return number;
    }
    return 0;
}

bool gl_fill_buffer(GLuint number)
{
    unsigned char bytes[256];
    memset(bytes, FILL, sizeof bytes);
    glBindBuffer(GL_ARRAY_BUFFER, number);
    glBufferSubData(GL_ARRAY_BUFFER, 0, sizeof bytes, bytes);
    glFlush();
    return glGetError() == GL_NO_ERROR;
}

uintptr_t gl_first_byte(GLuint number)
{
    unsigned char byte = 0;
    if (!glGetBufferSubData) {
        return 0;
    }
    glBindBuffer(GL_ARRAY_BUFFER, number);
    glGetBufferSubData(GL_ARRAY_BUFFER, 0, 1, &byte);
    return glGetError() == GL_NO_ERROR ? 1U + byte : 0;
}

/* --- textures and renderbuffers --- */

struct texture {
    const char *name;
    GLenum target;
    GLenum format;
    int levels;
    int border;
};

static const struct texture textures[] = {
    {"plain", GL_TEXTURE_2D, GL_RGBA8, 5, 0},
    {"one_dimension", GL_TEXTURE_1D, GL_RGBA8, 1, 0},
    {"one_dimension_array", GL_TEXTURE_1D_ARRAY, GL_RGBA8, 1, 0},
    {"array", GL_TEXTURE_2D_ARRAY, GL_RGBA8, 1, 0},
    {"three_dimensions", GL_TEXTURE_3D, GL_RGBA8, 1, 0},
    {"cube", GL_TEXTURE_CUBE_MAP, GL_RGBA8, 1, 0},
    {"of_buffer", GL_TEXTURE_BUFFER, GL_RGBA8, 0, 0},
    {"rectangle", GL_TEXTURE_RECTANGLE, GL_RGBA8, 1, 0},
    {"unbound", 0, 0, 0, 0},
    {"incomplete", GL_TEXTURE_2D, GL_RGBA8, 1, 0},
    {"empty", GL_TEXTURE_2D, GL_RGBA8, 1, 0},
    {"unmapped", GL_TEXTURE_2D, GL_RGB9_E5, 1, 0},
    {"border", GL_TEXTURE_2D, GL_RGBA8, 1, 1},
    {"depth_stencil", GL_TEXTURE_2D, GL_DEPTH24_STENCIL8, 1, 0},
    {"multisample", GL_TEXTURE_2D_MULTISAMPLE, GL_RGBA8, 1, 0},
};

/* Format and type of the data that an internal format takes. */
static void data_of(GLenum internal, GLenum *format, GLenum *type)
{
    bool depth = internal == GL_DEPTH24_STENCIL8;
    bool shared = internal == GL_RGB9_E5;
    *format = depth ? GL_DEPTH_STENCIL : shared ? GL_RGB : GL_RGBA;
    *type = depth ? GL_UNSIGNED_INT_24_8 : shared ? GL_FLOAT : GL_UNSIGNED_BYTE;
}

static void set_level(const struct texture *texture, int level, int side)
{
    GLenum format;
    GLenum type;
    int border = texture->border;
    data_of(texture->format, &format, &type);
    switch (texture->target) {
    case GL_TEXTURE_1D:
        glTexImage1D(texture->target, level, (GLint)texture->format, side, border, format, type, NULL);
        break;
    case GL_TEXTURE_3D:
    case GL_TEXTURE_2D_ARRAY:
        glTexImage3D(texture->target, level, (GLint)texture->format, side, side, side, border, format, type, NULL);
        break;
    case GL_TEXTURE_CUBE_MAP:
        for (GLenum face = GL_TEXTURE_CUBE_MAP_POSITIVE_X; face < GL_TEXTURE_CUBE_MAP_POSITIVE_X + 6; face++) {
            glTexImage2D(face, level, (GLint)texture->format, side, side, border, format, type, NULL);
        }
        break;
    default:
        glTexImage2D(texture->target, level, (GLint)texture->format, side + 2 * border, side + 2 * border, border,
                     format, type, NULL);
    }
}

static uintptr_t make_texture(const char *name)
{
    const struct texture *texture = NULL;
    GLuint number = 0;
    for (size_t i = 0; i < sizeof textures / sizeof *textures; i++) {
        texture = strcmp(name, textures[i].name) == 0 ? &textures[i] : texture;
    }
    if (!texture) {
        return 0;
    }
    glGenTextures(1, &number);
    if (!texture->target) {
        return number;
    }
    glBindTexture(texture->target, number);
    if (texture->target == GL_TEXTURE_BUFFER) {
        glTexBuffer(GL_TEXTURE_BUFFER, texture->format, (GLuint)make_buffer("plain"));
        return number;
    }
    if (texture->target == GL_TEXTURE_2D_MULTISAMPLE) {
        glTexImage2DMultisample(texture->target, 4, texture->format, SIDE, SIDE, 1);
        return number;
    }
    bool incomplete = strcmp(name, "incomplete") == 0;
    if (texture->target != GL_TEXTURE_RECTANGLE) {
        glTexParameteri(texture->target, GL_TEXTURE_MAX_LEVEL, incomplete ? 1 : texture->levels - 1);
    }
    bool mipmaps = texture->levels > 1 || incomplete;
    glTexParameteri(texture->target, GL_TEXTURE_MIN_FILTER, mipmaps ? GL_NEAREST_MIPMAP_NEAREST : GL_NEAREST);
    for (int level = 0; level < texture->levels; level++) {
        set_level(texture, level, strcmp(name, "empty") == 0 ? 0 : SIDE >> level);
    }
    if (incomplete) {
        set_level(texture, 1, 3); /* not half of what is above it */
    }
    return number;
}

static uintptr_t make_renderbuffer(const char *name)
{
    GLuint number = 0;
    bool multisample = strcmp(name, "multisample") == 0;
    glGenRenderbuffers(1, &number);
    glBindRenderbuffer(GL_RENDERBUFFER, number);
    if (multisample) {
        glRenderbufferStorageMultisample(GL_RENDERBUFFER, 4, GL_RGBA8, SIDE, SIDE);
    } else {
        int side = strcmp(name, "empty") == 0 ? 0 : SIDE;
        glRenderbufferStorage(GL_RENDERBUFFER, strcmp(name, "unmapped") == 0 ? GL_STENCIL_INDEX8 : GL_RGBA8, side,
                              side);
    }
    return number;
}

/* --- syncs and images --- */

static uintptr_t make_sync(const char *name)
{
    GLsync sync = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    glFlush();
    if (strcmp(name, "complete") == 0) {
        glFinish();
    }
    return (uintptr_t)sync;
}

static uintptr_t make_egl_sync(const char *name)
{
    static const EGLint none[] = {EGL_NONE};
    GLenum type = strcmp(name, "reusable") == 0 ? EGL_SYNC_REUSABLE_KHR : EGL_SYNC_FENCE_KHR;
    EGLSyncKHR sync = eglCreateSyncKHR ? eglCreateSyncKHR(gl_display.egl, type, none) : NULL;
    glFlush();
    return (uintptr_t)sync;
}

static uintptr_t make_egl_image(const char *name)
{
    static const EGLint none[] = {EGL_NONE};
    bool plain = strcmp(name, "plain") == 0;
    if (!eglCreateImageKHR || (!plain && strcmp(name, "unmapped") != 0)) {
        return 0;
    }
    uintptr_t texture = gl_object(plain ? "texture plain" : "texture unmapped");
    return (uintptr_t)eglCreateImageKHR(gl_display.egl, gl_display.usable, EGL_GL_TEXTURE_2D_KHR,
                                        (EGLClientBuffer)texture, none);
}

/* --- deleting --- */

static bool delete_buffer(uintptr_t object)
{
    GLuint name = (GLuint)object;
    glDeleteBuffers(1, &name);
    return true;
}

static bool delete_texture(uintptr_t object)
{
    GLuint name = (GLuint)object;
    glDeleteTextures(1, &name);
    return true;
}

static bool delete_renderbuffer(uintptr_t object)
{
    GLuint name = (GLuint)object;
    glDeleteRenderbuffers(1, &name);
    return true;
}

static bool delete_sync(uintptr_t object)
{
    glDeleteSync((GLsync)object);
    return true;
}

static bool delete_egl_sync(uintptr_t object)
{
    if (eglDestroySyncKHR) {
        eglDestroySyncKHR(gl_display.egl, (EGLSyncKHR)object);
    }
    return eglDestroySyncKHR != NULL;
}

static bool delete_egl_image(uintptr_t object)
{
    if (eglDestroyImageKHR) {
        eglDestroyImageKHR(gl_display.egl, (EGLImageKHR)object);
    }
    return eglDestroyImageKHR != NULL;
}

/* --- objects by name --- */

static const struct kind {
    const char *name;
    uintptr_t (*make)(const char *name);
    bool (*delete)(uintptr_t object);
} kinds[] = {
    {"buffer", make_buffer, delete_buffer},
    {"texture", make_texture, delete_texture},
    {"renderbuffer", make_renderbuffer, delete_renderbuffer},
    {"gl_sync", make_sync, delete_sync},
    {"egl_sync", make_egl_sync, delete_egl_sync},
    {"egl_image", make_egl_image, delete_egl_image},
};

/* Those that were made, by their request. */
static struct {
    char request[48];
    uintptr_t number;
} objects[MAX_OBJECTS];
static int object_count;

static const struct kind *kind_of(const char *request)
{
    size_t length = strcspn(request, " ");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strlen(kinds[i].name) == length && memcmp(kinds[i].name, request, length) == 0 && request[length]) {
            return &kinds[i];
        }
    }
    return NULL;
}

uintptr_t gl_object(const char *request)
{
    for (int i = 0; i < object_count; i++) {
        if (strcmp(objects[i].request, request) == 0) {
            return objects[i].number;
        }
    }
    const struct kind *kind = kind_of(request);
    if (!kind || object_count == MAX_OBJECTS) {
        return 0;
    }
    while (glGetError() != GL_NO_ERROR) {
    }
    uintptr_t number = kind->make(strchr(request, ' ') + 1);
    if (glGetError() != GL_NO_ERROR) {
        number = 0;
    }
    glFinish();
    snprintf(objects[object_count].request, sizeof objects->request, "%s", request);
    objects[object_count++].number = number;
    return number;
}

bool gl_delete(const char *request)
{
    const struct kind *kind = kind_of(request);
    return kind && kind->delete (gl_object(request));
}

void gl_forget(void)
{
    object_count = 0;
}
