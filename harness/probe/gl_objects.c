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
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

/* What the headers of EGL and OpenGL would say: they need not be there. */
typedef int32_t EGLint;
typedef unsigned GLenum;
typedef int GLint;
typedef int GLsizei;
typedef unsigned GLuint;
typedef ptrdiff_t GLsizeiptr;

enum {
    EGL_NONE = 0x3038,
    EGL_OPENGL_API = 0x30A2,
    EGL_OPENGL_BIT = 0x0008,
    EGL_PBUFFER_BIT = 0x0001,
    EGL_SURFACE_TYPE = 0x3033,
    EGL_RENDERABLE_TYPE = 0x3040,
    EGL_PLATFORM_DEVICE_EXT = 0x313F,
    EGL_PLATFORM_SURFACELESS_MESA = 0x31DD,
    EGL_SYNC_FENCE_KHR = 0x30F9,
    EGL_SYNC_REUSABLE_KHR = 0x30FA,
    EGL_GL_TEXTURE_2D_KHR = 0x30B1,
    GL_RENDERER = 0x1F01,
    GL_NO_ERROR = 0,
    GL_UNSIGNED_BYTE = 0x1401,
    GL_RGB = 0x1907,
    GL_RGBA = 0x1908,
    GL_FLOAT = 0x1406,
    GL_NEAREST = 0x2600,
    GL_TEXTURE_MIN_FILTER = 0x2801,
    GL_NEAREST_MIPMAP_NEAREST = 0x2700,
    GL_TEXTURE_MAX_LEVEL = 0x813D,
    GL_ARRAY_BUFFER = 0x8892,
    GL_DYNAMIC_DRAW = 0x88E8,
    GL_RENDERBUFFER = 0x8D41,
    GL_DEPTH_STENCIL = 0x84F9,
    GL_UNSIGNED_INT_24_8 = 0x84FA,
    GL_SYNC_GPU_COMMANDS_COMPLETE = 0x9117,
    TEXTURE_1D = 0x0DE0,
    TEXTURE_2D = 0x0DE1,
    TEXTURE_3D = 0x806F,
    TEXTURE_RECTANGLE = 0x84F5,
    CUBE_MAP = 0x8513,
    CUBE_MAP_FIRST_FACE = 0x8515,
    TEXTURE_1D_ARRAY = 0x8C18,
    TEXTURE_2D_ARRAY = 0x8C1A,
    TEXTURE_BUFFER = 0x8C2A,
    TEXTURE_2D_MULTISAMPLE = 0x9100,
    GL_RGBA8 = 0x8058,
    GL_RGB9_E5 = 0x8C3D,
    GL_DEPTH24_STENCIL8 = 0x88F0,
    GL_STENCIL_INDEX8 = 0x8D48,
    MAX_DEVICES = 16,
    MAX_MADE = 64,
    SIDE = 16, /* of every image that is not empty */
    FILL = 0x5A,
};

/* RESULT, NAME, PARAMETERS: looked up in libEGL, and by eglGetProcAddress what is not there. */
#define FUNCTIONS(F)                                                                                              \
    F(void *, eglGetDisplay, (void *))                                                                            \
    F(void *, eglGetPlatformDisplayEXT, (GLenum, void *, const EGLint *))                                         \
    F(unsigned, eglQueryDevicesEXT, (EGLint, void **, EGLint *))                                                  \
    F(unsigned, eglInitialize, (void *, EGLint *, EGLint *))                                                      \
    F(unsigned, eglBindAPI, (GLenum))                                                                             \
    F(unsigned, eglChooseConfig, (void *, const EGLint *, void **, EGLint, EGLint *))                             \
    F(void *, eglCreateContext, (void *, void *, void *, const EGLint *))                                         \
    F(unsigned, eglMakeCurrent, (void *, void *, void *, void *))                                                 \
    F(void *, eglGetCurrentContext, (void))                                                                       \
    F(void *, eglCreateImageKHR, (void *, void *, GLenum, void *, const EGLint *))                                \
    F(unsigned, eglDestroyImageKHR, (void *, void *))                                                             \
    F(void *, eglCreateSyncKHR, (void *, GLenum, const EGLint *))                                                 \
    F(unsigned, eglDestroySyncKHR, (void *, void *))                                                              \
    F(const unsigned char *, glGetString, (GLenum))                                                               \
    F(GLenum, glGetError, (void))                                                                                 \
    F(void, glFinish, (void))                                                                                     \
    F(void, glFlush, (void))                                                                                      \
    F(void, glGenBuffers, (GLsizei, GLuint *))                                                                    \
    F(void, glBindBuffer, (GLenum, GLuint))                                                                       \
    F(void, glBufferData, (GLenum, GLsizeiptr, const void *, GLenum))                                             \
    F(void, glBufferSubData, (GLenum, ptrdiff_t, GLsizeiptr, const void *))                                       \
    F(void, glGetBufferSubData, (GLenum, ptrdiff_t, GLsizeiptr, void *))                                          \
    F(void, glDeleteBuffers, (GLsizei, const GLuint *))                                                           \
    F(void, glGenTextures, (GLsizei, GLuint *))                                                                   \
    F(void, glBindTexture, (GLenum, GLuint))                                                                      \
    F(void, glTexParameteri, (GLenum, GLenum, GLint))                                                             \
    F(void, glTexImage1D, (GLenum, GLint, GLint, GLsizei, GLint, GLenum, GLenum, const void *))                   \
    F(void, glTexImage2D, (GLenum, GLint, GLint, GLsizei, GLsizei, GLint, GLenum, GLenum, const void *))          \
    F(void, glTexImage3D, (GLenum, GLint, GLint, GLsizei, GLsizei, GLsizei, GLint, GLenum, GLenum, const void *)) \
    F(void, glTexImage2DMultisample, (GLenum, GLsizei, GLenum, GLsizei, GLsizei, unsigned char))                  \
    F(void, glTexBuffer, (GLenum, GLenum, GLuint))                                                                \
    F(void, glDeleteTextures, (GLsizei, const GLuint *))                                                          \
    F(void, glGenRenderbuffers, (GLsizei, GLuint *))                                                              \
    F(void, glBindRenderbuffer, (GLenum, GLuint))                                                                 \
    F(void, glRenderbufferStorage, (GLenum, GLenum, GLsizei, GLsizei))                                            \
    F(void, glRenderbufferStorageMultisample, (GLenum, GLsizei, GLenum, GLsizei, GLsizei))                        \
    F(void, glDeleteRenderbuffers, (GLsizei, const GLuint *))                                                     \
    F(void *, glFenceSync, (GLenum, unsigned))                                                                    \
    F(void, glDeleteSync, (void *))

/* NOLINTBEGIN(bugprone-macro-parentheses): types cannot have them */
#define DECLARE(result, name, parameters) static result(*name) parameters;
FUNCTIONS(DECLARE)
#undef DECLARE
/* NOLINTEND(bugprone-macro-parentheses) */

static void *display;
static void *usable;
static void *second;

/* Objects that were made, by their request. */
static struct made {
    char request[48];
    uintptr_t number;
} made[MAX_MADE];
static int made_count;

/* --- EGL --- */

static bool find_functions(void)
{
    void *library = dlopen("libEGL.so.1", RTLD_NOW | RTLD_LOCAL);
    void *lookup = library ? dlsym(library, "eglGetProcAddress") : NULL;
    if (!lookup) {
        return false;
    }
    void *(*address_of)(const char *) = (void *(*)(const char *))(uintptr_t)lookup;
    void *found;
    /* NOLINTBEGIN(bugprone-macro-parentheses) */
#define FIND(result, name, parameters)         \
    found = dlsym(library, #name);             \
    found = found ? found : address_of(#name); \
    name = (result(*) parameters)(uintptr_t)found;
    FUNCTIONS(FIND)
#undef FIND
    /* NOLINTEND(bugprone-macro-parentheses) */
    return eglInitialize && eglCreateContext && eglMakeCurrent;
}

/* The displays that can be had without a window system: one for each device, that of Mesa, the default one. */
static void *nth_display(int wanted)
{
    void *devices[MAX_DEVICES];
    EGLint count = 0;
    if (!eglGetPlatformDisplayEXT) {
        return wanted == 0 && eglGetDisplay ? eglGetDisplay(NULL) : NULL;
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
    return wanted == count + 1 && eglGetDisplay ? eglGetDisplay(NULL) : NULL;
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
static void *new_context(void)
{
    static const EGLint none[] = {EGL_NONE};
    static const EGLint wanted[][5] = {
        {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE},
        {EGL_SURFACE_TYPE, 0, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *config = NULL;
        EGLint count = 0;
        bool chosen = eglChooseConfig(display, wanted[i], &config, 1, &count) && count > 0;
        void *context = chosen ? eglCreateContext(display, config, NULL, none) : NULL;
        if (context) {
            return context;
        }
    }
    return eglCreateContext(display, NULL, NULL, none);
}

static const char *start(int wanted)
{
    static bool found;
    EGLint major;
    EGLint minor;
    if (!found && !find_functions()) {
        return "there is no libEGL.so.1 here that can be used";
    }
    found = true;
    if (is_last(wanted)) {
        return "no more displays";
    }
    display = nth_display(wanted);
    if (!display || !eglInitialize(display, &major, &minor)) {
        return "EGL does not give this display";
    }
    if (!eglBindAPI(EGL_OPENGL_API) || !(usable = new_context())) {
        return "EGL makes no OpenGL context on this display";
    }
    second = new_context();
    if (!eglMakeCurrent(display, NULL, NULL, usable)) {
        return "an OpenGL context cannot be current without a surface on this display";
    }
    made_count = 0;
    return glGenBuffers && glGenTextures && glGenRenderbuffers && glFenceSync ? NULL : "this OpenGL is too old";
}

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

static bool fill_buffer(GLuint number)
{
    unsigned char bytes[256];
    memset(bytes, FILL, sizeof bytes);
    glBindBuffer(GL_ARRAY_BUFFER, number);
    glBufferSubData(GL_ARRAY_BUFFER, 0, sizeof bytes, bytes);
    glFlush();
    return glGetError() == GL_NO_ERROR;
}

static uintptr_t first_byte(GLuint number)
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
    {"plain", TEXTURE_2D, GL_RGBA8, 5, 0},
    {"one_dimension", TEXTURE_1D, GL_RGBA8, 1, 0},
    {"one_dimension_array", TEXTURE_1D_ARRAY, GL_RGBA8, 1, 0},
    {"array", TEXTURE_2D_ARRAY, GL_RGBA8, 1, 0},
    {"three_dimensions", TEXTURE_3D, GL_RGBA8, 1, 0},
    {"cube", CUBE_MAP, GL_RGBA8, 1, 0},
    {"of_buffer", TEXTURE_BUFFER, GL_RGBA8, 0, 0},
    {"rectangle", TEXTURE_RECTANGLE, GL_RGBA8, 1, 0},
    {"unbound", 0, 0, 0, 0},
    {"incomplete", TEXTURE_2D, GL_RGBA8, 1, 0},
    {"empty", TEXTURE_2D, GL_RGBA8, 1, 0},
    {"unmapped", TEXTURE_2D, GL_RGB9_E5, 1, 0},
    {"border", TEXTURE_2D, GL_RGBA8, 1, 1},
    {"depth_stencil", TEXTURE_2D, GL_DEPTH24_STENCIL8, 1, 0},
    {"multisample", TEXTURE_2D_MULTISAMPLE, GL_RGBA8, 1, 0},
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
    case TEXTURE_1D:
        glTexImage1D(texture->target, level, (GLint)texture->format, side, border, format, type, NULL);
        break;
    case TEXTURE_3D:
    case TEXTURE_2D_ARRAY:
        glTexImage3D(texture->target, level, (GLint)texture->format, side, side, side, border, format, type, NULL);
        break;
    case CUBE_MAP:
        for (GLenum face = CUBE_MAP_FIRST_FACE; face < CUBE_MAP_FIRST_FACE + 6; face++) {
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
    if (texture->target == TEXTURE_BUFFER) {
        glTexBuffer(TEXTURE_BUFFER, texture->format, (GLuint)make_buffer("plain"));
        return number;
    }
    if (texture->target == TEXTURE_2D_MULTISAMPLE) {
        glTexImage2DMultisample(texture->target, 4, texture->format, SIDE, SIDE, 1);
        return number;
    }
    bool incomplete = strcmp(name, "incomplete") == 0;
    if (texture->target != TEXTURE_RECTANGLE) {
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
    void *sync = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
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
    void *sync = eglCreateSyncKHR ? eglCreateSyncKHR(display, type, none) : NULL;
    glFlush();
    return (uintptr_t)sync;
}

static uintptr_t number_of(const char *request);

static uintptr_t make_egl_image(const char *name)
{
    static const EGLint none[] = {EGL_NONE};
    bool plain = strcmp(name, "plain") == 0;
    if (!eglCreateImageKHR || (!plain && strcmp(name, "unmapped") != 0)) {
        return 0;
    }
    uintptr_t texture = number_of(plain ? "texture plain" : "texture unmapped");
    return (uintptr_t)eglCreateImageKHR(display, usable, EGL_GL_TEXTURE_2D_KHR, (void *)texture, none);
}

/* --- requests --- */

static const struct {
    const char *kind;
    uintptr_t (*make)(const char *name);
} makers[] = {{"buffer", make_buffer}, {"texture", make_texture},   {"renderbuffer", make_renderbuffer},
              {"gl_sync", make_sync},  {"egl_sync", make_egl_sync}, {"egl_image", make_egl_image}};

/* An object, made if it has not been yet; 0 where OpenGL makes none. */
static uintptr_t number_of(const char *request)
{
    const char *name = strchr(request, ' ');
    for (int i = 0; i < made_count; i++) {
        if (strcmp(made[i].request, request) == 0) {
            return made[i].number;
        }
    }
    for (size_t i = 0; name && i < sizeof makers / sizeof *makers && made_count < MAX_MADE; i++) {
        if (strlen(makers[i].kind) != (size_t)(name - request) ||
            strncmp(makers[i].kind, request, (size_t)(name - request)) != 0) {
            continue;
        }
        while (glGetError() != GL_NO_ERROR) {
        }
        uintptr_t number = makers[i].make(name + 1);
        if (glGetError() != GL_NO_ERROR) {
            number = 0;
        }
        glFinish();
        snprintf(made[made_count].request, sizeof made->request, "%s", request);
        made[made_count++].number = number;
        return number;
    }
    return 0;
}

static uintptr_t delete_object(const char *request)
{
    uintptr_t number = number_of(request);
    GLuint name = (GLuint)number;
    if (strncmp(request, "buffer ", 7) == 0) {
        glDeleteBuffers(1, &name);
    } else if (strncmp(request, "texture ", 8) == 0) {
        glDeleteTextures(1, &name);
    } else if (strncmp(request, "renderbuffer ", 13) == 0) {
        glDeleteRenderbuffers(1, &name);
    } else if (strncmp(request, "gl_sync ", 8) == 0) {
        glDeleteSync((void *)number);
    } else if (strncmp(request, "egl_sync ", 9) == 0 && eglDestroySyncKHR) {
        eglDestroySyncKHR(display, (void *)number);
    } else if (strncmp(request, "egl_image ", 10) == 0 && eglDestroyImageKHR) {
        eglDestroyImageKHR(display, (void *)number);
    } else {
        return 0;
    }
    return 1;
}

/* What needs a current context; the thread has the one afterwards that it had before. */
static uintptr_t with_context(const char *request)
{
    bool current = eglGetCurrentContext() == usable;
    uintptr_t answer;
    if (!current && !eglMakeCurrent(display, NULL, NULL, usable)) {
        return 0;
    }
    if (strncmp(request, "delete ", 7) == 0) {
        answer = delete_object(request + 7);
    } else if (strncmp(request, "fill buffer ", 12) == 0) {
        answer = fill_buffer((GLuint)number_of(request + 5));
    } else if (strncmp(request, "byte buffer ", 12) == 0) {
        answer = first_byte((GLuint)number_of(request + 5));
    } else if (strcmp(request, "finish") == 0) {
        glFinish();
        answer = 1;
    } else if (strcmp(request, "renderer") == 0) {
        answer = (uintptr_t)glGetString(GL_RENDERER);
    } else {
        answer = number_of(request);
    }
    if (!current) {
        eglMakeCurrent(display, NULL, NULL, NULL);
    }
    return answer;
}

EXPORTED uintptr_t clharness_gl(const char *request);

uintptr_t clharness_gl(const char *request)
{
    if (strncmp(request, "start ", 6) == 0) {
        return (uintptr_t)start((int)strtol(request + 6, NULL, 10));
    }
    if (strcmp(request, "display egl") == 0) {
        return (uintptr_t)display;
    }
    if (strncmp(request, "context ", 8) == 0) {
        return strcmp(request + 8, "usable") == 0   ? (uintptr_t)usable
               : strcmp(request + 8, "second") == 0 ? (uintptr_t)second
                                                    : 0;
    }
    if (strncmp(request, "display ", 8) == 0 || strncmp(request, "share_group ", 12) == 0) {
        return 0;
    }
    if (strcmp(request, "current") == 0) {
        return eglMakeCurrent(display, NULL, NULL, usable);
    }
    if (strcmp(request, "release") == 0) {
        return eglMakeCurrent(display, NULL, NULL, NULL);
    }
    return with_context(request);
}
