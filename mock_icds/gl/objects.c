/* SPDX-License-Identifier: Apache-2.0 */
/* Memory objects that are made of OpenGL's and EGL's, and what can be asked of them.
 *
 * Source: OpenCL-Docs, api/opencl_runtime_layer.asciidoc.
 */
#include "gl/objects.h"

#include "base/config.h"
#include "base/errors.h"
#include "base/platforms.h"
#include "calls.h"
#include "gl/links.h"

#include <string.h>

enum format { GL_RGBA8 = 0x8058, GL_RGB9_E5 = 0x8C3D, GL_DEPTH24_STENCIL8 = 0x88F0, GL_STENCIL_INDEX8 = 0x8D48 };
enum texture_state { TEXTURE_COMPLETE, TEXTURE_INCOMPLETE, TEXTURE_BORDER };
enum target {
    TEXTURE_1D = 0x0DE0,
    TEXTURE_2D = 0x0DE1,
    TEXTURE_3D = 0x806F,
    TEXTURE_RECTANGLE = 0x84F5,
    CUBE_MAP = 0x8513,
    CUBE_MAP_FIRST_FACE = 0x8515,
    CUBE_MAP_LAST_FACE = 0x851A,
    TEXTURE_1D_ARRAY = 0x8C18,
    TEXTURE_2D_ARRAY = 0x8C1A,
    TEXTURE_BUFFER = 0x8C2A,
    TEXTURE_2D_MULTISAMPLE = 0x9100,
};
enum { BYTES_PER_PIXEL = 4, ACCESS_FLAGS = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY };

struct buffer {
    cl_uint name;
    int size;
};

struct texture {
    cl_uint name;
    cl_uint target;
    enum format format;
    int width;
    int levels;
    int samples;
    enum texture_state state;
};

struct renderbuffer {
    cl_uint name;
    enum format format;
    int width;
    int samples;
};

struct egl_image {
    uint64_t number;
    enum format format;
    bool writable;
};

#define BUFFER(name, number, size) {number, size},
static const struct buffer buffers[] = {
#include "gl_world.h"
};
#undef BUFFER
#define TEXTURE(name, number, target, format, width, levels, samples, state) \
    {number, target, format, width, levels, samples, state},
static const struct texture textures[] = {
#include "gl_world.h"
};
#undef TEXTURE
#define RENDERBUFFER(name, number, format, width, samples) {number, format, width, samples},
static const struct renderbuffer renderbuffers[] = {
#include "gl_world.h"
};
#undef RENDERBUFFER
#define EGL_IMAGE(name, number, format, writable) {number, format, writable},
static const struct egl_image egl_images[] = {
#include "gl_world.h"
};
#undef EGL_IMAGE
#define DISPLAY(name, number) static const uint64_t name##_display = number;
#include "gl_world.h"
#undef DISPLAY

static bool is_mapped(enum format format)
{
    return format == GL_RGBA8 || format == GL_DEPTH24_STENCIL8;
}

/* At most one access flag; without one the default holds. */
static bool is_access(cl_mem_flags flags)
{
    return flags == 0 || flags == CL_MEM_READ_WRITE || flags == CL_MEM_WRITE_ONLY || flags == CL_MEM_READ_ONLY;
}

/* For every function that creates: the context must be tied to OpenGL, and the flags be those of access. */
static cl_int check_creation(struct object *context, cl_mem_flags flags)
{
    if (!context || context->kind != HANDLE_cl_context) {
        return CL_INVALID_CONTEXT;
    }
    cl_int error = CL_SUCCESS;
    if (!context->gl) {
        error = error_or_fault(FAULT_gl_plain_context_answers, context, CL_INVALID_CONTEXT);
    }
    if (!error && !is_access(flags)) {
        error = error_or_fault(FAULT_gl_other_flags_answer, context, CL_INVALID_VALUE);
    }
    return error;
}

/* --- buffers --- */

static cl_int check_buffer(struct object *context, cl_uint name, const struct buffer *buffer)
{
    if (name == 0) {
        return error_or_fault(FAULT_gl_name_0_answers, context, CL_INVALID_GL_OBJECT);
    }
    if (!buffer) {
        return error_or_fault(FAULT_gl_unused_name_answers, context, CL_INVALID_GL_OBJECT);
    }
    if (buffer->size < 0) {
        return error_or_fault(FAULT_gl_buffer_without_store_answers, context, CL_INVALID_GL_OBJECT);
    }
    return buffer->size > 0 ? CL_SUCCESS : error_or_fault(FAULT_gl_empty_buffer_answers, context, CL_INVALID_GL_OBJECT);
}

static bool create_buffer(const uint64_t *arguments, uint64_t *result)
{
    struct object *context = object_find(arguments[0]);
    const struct buffer *buffer = NULL;
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) {
        buffer = buffers[i].name == (cl_uint)arguments[2] ? &buffers[i] : buffer;
    }
    cl_int error = check_creation(context, arguments[1]);
    error = error ? error : check_buffer(context, (cl_uint)arguments[2], buffer);
    if (error) {
        *result = error_refuse(FUNCTION_clCreateFromGLBuffer, arguments, error);
        return true;
    }
    struct gl_link *link = gl_link_create(FUNCTION_clCreateFromGLBuffer, arguments, GL_IS_BUFFER, result);
    link->type = CL_GL_OBJECT_BUFFER;
    link->name = (cl_uint)arguments[2];
    link->size = buffer && buffer->size > 0 ? (size_t)buffer->size : 0;
    if (fault(FAULT_gl_buffer_size_is_rounded, context->platform)) {
        link->size = (link->size + 63) / 64 * 64;
    }
    return true;
}

/* --- textures --- */

static bool is_target(cl_uint target, int platform)
{
    switch (target) {
    case TEXTURE_1D:
    case TEXTURE_2D:
    case TEXTURE_3D:
    case TEXTURE_RECTANGLE:
    case TEXTURE_1D_ARRAY:
    case TEXTURE_2D_ARRAY:
    case TEXTURE_BUFFER:
        return true;
    case TEXTURE_2D_MULTISAMPLE:
        return platform_has_extension(platform, "cl_khr_gl_msaa_sharing");
    default:
        return target >= CUBE_MAP_FIRST_FACE && target <= CUBE_MAP_LAST_FACE;
    }
}

static bool matches(const struct texture *texture, cl_uint target)
{
    bool face = target >= CUBE_MAP_FIRST_FACE && target <= CUBE_MAP_LAST_FACE;
    return texture->target == target || (face && texture->target == CUBE_MAP);
}

static cl_int check_level(struct object *context, const struct texture *texture, cl_int level)
{
    if (level < 0) {
        return error_or_fault(FAULT_gl_negative_level_answers, context, CL_INVALID_MIP_LEVEL);
    }
    return level < texture->levels ? CL_SUCCESS
                                   : error_or_fault(FAULT_gl_missing_level_answers, context, CL_INVALID_MIP_LEVEL);
}

static cl_int check_texture(struct object *context, const struct texture *texture, cl_uint target, cl_int level)
{
    if (!texture) {
        return error_or_fault(FAULT_gl_unused_name_answers, context, CL_INVALID_GL_OBJECT);
    }
    if (!matches(texture, target)) {
        return error_or_fault(FAULT_gl_other_target_answers, context, CL_INVALID_GL_OBJECT);
    }
    cl_int error = check_level(context, texture, level);
    if (error) {
        return error;
    }
    if (texture->state == TEXTURE_INCOMPLETE) {
        return error_or_fault(FAULT_gl_incomplete_texture_answers, context, CL_INVALID_GL_OBJECT);
    }
    if (texture->width == 0) {
        return error_or_fault(FAULT_gl_empty_texture_answers, context, CL_INVALID_GL_OBJECT);
    }
    if (!is_mapped(texture->format)) {
        return error_or_fault(FAULT_gl_unmapped_format_answers, context, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
    }
    bool border = texture->state == TEXTURE_BORDER;
    return border ? error_or_fault(FAULT_gl_border_answers, context, CL_INVALID_OPERATION) : CL_SUCCESS;
}

static cl_uint type_of_target(cl_uint target)
{
    switch (target) {
    case TEXTURE_1D:
        return CL_GL_OBJECT_TEXTURE1D;
    case TEXTURE_1D_ARRAY:
        return CL_GL_OBJECT_TEXTURE1D_ARRAY;
    case TEXTURE_2D_ARRAY:
        return CL_GL_OBJECT_TEXTURE2D_ARRAY;
    case TEXTURE_3D:
        return CL_GL_OBJECT_TEXTURE3D;
    case TEXTURE_BUFFER:
        return CL_GL_OBJECT_TEXTURE_BUFFER;
    default:
        return CL_GL_OBJECT_TEXTURE2D;
    }
}

static void describe_texture(struct gl_link *link, const struct texture *texture, cl_uint target, cl_int level)
{
    bool three = target == TEXTURE_3D;
    size_t width = texture && texture->width > 0 ? (size_t)texture->width : 1;
    link->type = type_of_target(target);
    link->target = target;
    link->level = level;
    link->samples = texture ? texture->samples : 1;
    link->depth_stencil = texture && texture->format == GL_DEPTH24_STENCIL8;
    link->size = width * (three ? width * width : 1) * BYTES_PER_PIXEL;
}

static bool create_texture(enum function function, const uint64_t *arguments, uint64_t *result)
{
    struct object *context = object_find(arguments[0]);
    cl_uint target = (cl_uint)arguments[2];
    cl_int level = (cl_int)arguments[3];
    cl_uint name = (cl_uint)arguments[4];
    const struct texture *texture = NULL;
    for (size_t i = 0; i < sizeof textures / sizeof *textures; i++) {
        texture = textures[i].name == name && textures[i].target ? &textures[i] : texture;
    }
    cl_int error = check_creation(context, arguments[1]);
    if (!error && !is_target(target, context->platform)) {
        error = error_or_fault(FAULT_gl_other_texture_target_answers, context, CL_INVALID_VALUE);
    }
    if (!error && name == 0) {
        error = error_or_fault(FAULT_gl_name_0_answers, context, CL_INVALID_GL_OBJECT);
    } else if (!error && is_target(target, context->platform)) {
        error = check_texture(context, texture, target, level);
    }
    if (error) {
        *result = error_refuse(function, arguments, error);
        return true;
    }
    struct gl_link *link = gl_link_create(function, arguments, GL_IS_TEXTURE, result);
    link->name = name;
    describe_texture(link, texture, target, level);
    return true;
}

/* --- renderbuffers --- */

static cl_int check_renderbuffer(struct object *context, cl_uint name, const struct renderbuffer *renderbuffer)
{
    if (name == 0) {
        return error_or_fault(FAULT_gl_name_0_answers, context, CL_INVALID_GL_OBJECT);
    }
    if (!renderbuffer) {
        return error_or_fault(FAULT_gl_unused_name_answers, context, CL_INVALID_GL_OBJECT);
    }
    if (renderbuffer->width == 0) {
        return error_or_fault(FAULT_gl_empty_texture_answers, context, CL_INVALID_GL_OBJECT);
    }
    if (!is_mapped(renderbuffer->format)) {
        return error_or_fault(FAULT_gl_unmapped_format_answers, context, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
    }
    bool multisample = renderbuffer->samples > 1;
    return multisample ? error_or_fault(FAULT_gl_multisample_renderbuffer_answers, context, CL_INVALID_OPERATION)
                       : CL_SUCCESS;
}

static bool create_renderbuffer(const uint64_t *arguments, uint64_t *result)
{
    struct object *context = object_find(arguments[0]);
    const struct renderbuffer *renderbuffer = NULL;
    for (size_t i = 0; i < sizeof renderbuffers / sizeof *renderbuffers; i++) {
        renderbuffer = renderbuffers[i].name == (cl_uint)arguments[2] ? &renderbuffers[i] : renderbuffer;
    }
    cl_int error = check_creation(context, arguments[1]);
    error = error ? error : check_renderbuffer(context, (cl_uint)arguments[2], renderbuffer);
    if (error) {
        *result = error_refuse(FUNCTION_clCreateFromGLRenderbuffer, arguments, error);
        return true;
    }
    struct gl_link *link = gl_link_create(FUNCTION_clCreateFromGLRenderbuffer, arguments, GL_IS_RENDERBUFFER, result);
    link->type = CL_GL_OBJECT_RENDERBUFFER;
    link->name = (cl_uint)arguments[2];
    link->size = renderbuffer ? (size_t)(renderbuffer->width * renderbuffer->width * BYTES_PER_PIXEL) : 0;
    return true;
}

/* --- EGL images --- */

static cl_int check_egl_flags(struct object *context, const struct egl_image *image, cl_mem_flags flags)
{
    cl_mem_flags host = CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;
    if (!is_access(flags & ACCESS_FLAGS) || (flags & ~(host | ACCESS_FLAGS))) {
        return error_or_fault(FAULT_egl_other_flags_answer, context, CL_INVALID_VALUE);
    }
    if (flags == CL_MEM_READ_ONLY || flags == (CL_MEM_READ_ONLY | CL_MEM_HOST_NO_ACCESS)) {
        return error_or_fault(FAULT_egl_required_flags_answer, context, CL_SUCCESS);
    }
    bool writes = (flags & (CL_MEM_WRITE_ONLY | CL_MEM_READ_WRITE)) || !(flags & ACCESS_FLAGS);
    return writes && image && !image->writable ? error_or_fault(FAULT_egl_write_answers, context, CL_INVALID_OPERATION)
                                               : CL_SUCCESS;
}

static cl_int check_egl_image(const uint64_t *arguments, struct object *context, const struct egl_image *image)
{
    const uintptr_t *list = (const uintptr_t *)(uintptr_t)arguments[4];
    cl_int error = CL_SUCCESS;
    if (!context || context->kind != HANDLE_cl_context) {
        return CL_INVALID_CONTEXT;
    }
    if (list) {
        enum fault which = list[0] ? FAULT_egl_property_answers : FAULT_egl_empty_list_answers;
        error = error_or_fault(which, context, list[0] ? CL_INVALID_VALUE : CL_SUCCESS);
    }
    if (!error && arguments[1] != egl_display) {
        error = error_or_fault(FAULT_egl_display_answers, context, CL_INVALID_VALUE);
    }
    if (!error && !image) {
        error = error_or_fault(FAULT_egl_unknown_image_answers, context, CL_INVALID_EGL_OBJECT_KHR);
    }
    if (!error) {
        error = check_egl_flags(context, image, arguments[3]);
    }
    if (!error && image && !is_mapped(image->format)) {
        error = error_or_fault(FAULT_egl_unmapped_format_answers, context, CL_IMAGE_FORMAT_NOT_SUPPORTED);
    }
    return error;
}

static bool create_egl_image(const uint64_t *arguments, uint64_t *result)
{
    struct object *context = object_find(arguments[0]);
    const struct egl_image *image = NULL;
    if (!context || !platform_has_extension(context->platform, "cl_khr_egl_image")) {
        return false;
    }
    for (size_t i = 0; i < sizeof egl_images / sizeof *egl_images; i++) {
        image = egl_images[i].number == arguments[2] ? &egl_images[i] : image;
    }
    cl_int error = check_egl_image(arguments, context, image);
    if (error) {
        *result = error_refuse(FUNCTION_clCreateFromEGLImageKHR, arguments, error);
        return true;
    }
    gl_link_create(FUNCTION_clCreateFromEGLImageKHR, arguments, GL_IS_EGL_IMAGE, result);
    return true;
}

/* --- queries --- */

static bool get_object_info(const uint64_t *arguments, uint64_t *result)
{
    struct object *object = object_find(arguments[0]);
    struct gl_link *link = object ? object->gl : NULL;
    cl_uint *type = (cl_uint *)(uintptr_t)arguments[1];
    cl_uint *name = (cl_uint *)(uintptr_t)arguments[2];
    cl_int error = !object || object->kind != HANDLE_cl_mem ? CL_INVALID_MEM_OBJECT : CL_SUCCESS;
    if (!error && (!link || link->kind == GL_IS_EGL_IMAGE)) {
        error = error_or_fault(FAULT_gl_object_info_of_others_answers, object, CL_INVALID_GL_OBJECT);
    } else if (!error && !(type && name) && fault(FAULT_gl_object_info_needs_both, object->platform)) {
        error = CL_INVALID_VALUE;
    } else if (!error) {
        if (type) {
            *type = (cl_uint)fault_value(FAULT_gl_object_type_is, object->platform, (long)link->type);
        }
        if (name) {
            *name = (cl_uint)fault_value(FAULT_gl_object_name_is, object->platform, (long)link->name);
        }
    }
    *result = error_result(error);
    return true;
}

static cl_int answer_texture_info(const uint64_t *arguments, struct object *object)
{
    const struct gl_link *link = object->gl;
    cl_int value;
    switch ((cl_uint)arguments[1]) {
    case CL_GL_TEXTURE_TARGET:
        value = (cl_int)fault_value(FAULT_gl_texture_target_is, object->platform, (long)link->target);
        break;
    case CL_GL_MIPMAP_LEVEL:
        value = (cl_int)fault_value(FAULT_gl_texture_level_is, object->platform, link->level);
        break;
    case CL_GL_NUM_SAMPLES:
        if (platform_has_extension(object->platform, "cl_khr_gl_msaa_sharing")) {
            value = link->samples;
            break;
        }
        return CL_INVALID_VALUE;
    default:
        return error_or_fault(FAULT_gl_texture_info_unknown_query_answers, object, CL_INVALID_VALUE);
    }
    void *to = (void *)(uintptr_t)arguments[3];
    if (to && arguments[2] < sizeof value && fault(FAULT_gl_texture_info_short_buffer_is_filled, object->platform)) {
        memcpy(to, &value, (size_t)arguments[2]);
        return CL_SUCCESS;
    }
    return answer_info(arguments + 2, &value, sizeof value);
}

static bool get_texture_info(const uint64_t *arguments, uint64_t *result)
{
    struct object *object = object_find(arguments[0]);
    cl_int error = !object || object->kind != HANDLE_cl_mem ? CL_INVALID_MEM_OBJECT : CL_SUCCESS;
    if (!error && (!object->gl || object->gl->kind != GL_IS_TEXTURE)) {
        error = error_or_fault(FAULT_gl_texture_info_of_others_answers, object, CL_INVALID_GL_OBJECT);
    } else if (!error && !arguments[3] && !arguments[4]) {
        error = error_or_fault(FAULT_gl_texture_info_of_nothing_answers, object, CL_INVALID_VALUE);
    } else if (!error) {
        error = answer_texture_info(arguments, object);
    }
    *result = error_result(error);
    return true;
}

static bool get_size(const uint64_t *arguments, uint64_t *result)
{
    struct gl_link *link = gl_link_find(arguments[0]);
    if (!link || link->kind != GL_IS_BUFFER || (cl_uint)arguments[1] != CL_MEM_SIZE) {
        return false;
    }
    *result = error_result(answer_info(arguments + 2, &link->size, sizeof link->size));
    return true;
}

bool gl_objects_handle(enum function function, const uint64_t *arguments, uint64_t *result)
{
    struct object *first = object_find(arguments[0]);
    bool shares = first && platform_has_extension(first->platform, "cl_khr_gl_sharing");
    switch (function) {
    case FUNCTION_clCreateFromGLBuffer:
        return shares && create_buffer(arguments, result);
    case FUNCTION_clCreateFromGLTexture:
    case FUNCTION_clCreateFromGLTexture2D:
    case FUNCTION_clCreateFromGLTexture3D:
        return shares && create_texture(function, arguments, result);
    case FUNCTION_clCreateFromGLRenderbuffer:
        return shares && create_renderbuffer(arguments, result);
    case FUNCTION_clCreateFromEGLImageKHR:
        return create_egl_image(arguments, result);
    case FUNCTION_clGetGLObjectInfo:
        return shares && get_object_info(arguments, result);
    case FUNCTION_clGetGLTextureInfo:
        return shares && get_texture_info(arguments, result);
    case FUNCTION_clGetMemObjectInfo:
        return get_size(arguments, result);
    default:
        return false;
    }
}
