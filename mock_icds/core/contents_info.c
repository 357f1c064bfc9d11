/* SPDX-License-Identifier: Apache-2.0 */
/* Queries of memory objects that hold something. */
#include "core/contents_info.h"

#include "base/config.h"
#include "calls.h"
#include "core/contents.h"

static cl_int answer_size(const uint64_t *rest, size_t size)
{
    return answer_info(rest, &size, sizeof size);
}

static cl_int answer_uint(const uint64_t *rest, cl_uint value)
{
    return answer_info(rest, &value, sizeof value);
}

static cl_int answer_host_pointer(const struct contents *contents, const uint64_t *rest)
{
    uint64_t pointer = fault(FAULT_host_pointer_is_forgotten, ANY_PLATFORM) ? 0 : contents->host_ptr;
    return answer_info(rest, &pointer, sizeof pointer);
}

static size_t reported_size(const struct contents *contents)
{
    enum { BLOCK = 128 };
    size_t size = contents->size + fault(FAULT_memory_is_larger, ANY_PLATFORM);
    return fault(FAULT_memory_is_rounded_up, ANY_PLATFORM) ? (size + BLOCK - 1) / BLOCK * BLOCK : size;
}

static bool is_shared(const struct contents *contents)
{
    bool shared = contents->host_ptr && contents_is_shared(contents->host_ptr);
    return shared && !fault(FAULT_memory_is_never_shared, ANY_PLATFORM);
}

static bool memory_info(const struct contents *contents, cl_uint query, const uint64_t *rest, cl_int *result)
{
    cl_mem_object_type type = contents->pixel ? contents->image.image_type : CL_MEM_OBJECT_BUFFER;
    switch (query) {
    case CL_MEM_TYPE:
        *result = answer_uint(rest, fault(FAULT_memory_is_of_one_type, ANY_PLATFORM) ? CL_MEM_OBJECT_IMAGE2D : type);
        return true;
    case CL_MEM_SIZE:
        *result = answer_size(rest, reported_size(contents));
        return true;
    case CL_MEM_HOST_PTR:
        *result = answer_host_pointer(contents, rest);
        return true;
    case CL_MEM_MAP_COUNT:
        *result = answer_uint(rest, contents_map_count(contents));
        return true;
    case CL_MEM_OFFSET:
        *result = answer_size(rest, fault(FAULT_sub_buffers_have_no_offset, ANY_PLATFORM) ? 0 : contents->origin);
        return true;
    case CL_MEM_USES_SVM_POINTER:
        *result = answer_uint(rest, fault(FAULT_memory_is_always_shared, ANY_PLATFORM) || is_shared(contents));
        return true;
    case CL_MEM_ASSOCIATED_MEMOBJECT:
        *result = answer_info(rest, &contents->image.buffer, sizeof contents->image.buffer);
        return contents->image.buffer && !fault(FAULT_image_buffers_are_forgotten, ANY_PLATFORM);
    case CL_MEM_FLAGS:
        *result = answer_info(rest, &contents->flags, sizeof contents->flags);
        return !fault(FAULT_memory_properties_change_flags, ANY_PLATFORM);
    default:
        return false;
    }
}

static bool image_info(const struct contents *contents, cl_uint query, const uint64_t *rest, cl_int *result)
{
    const cl_image_desc *image = &contents->image;
    bool deep = image->image_type == CL_MEM_OBJECT_IMAGE3D || image->image_type == CL_MEM_OBJECT_IMAGE2D_ARRAY ||
                image->image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
    size_t less = fault(FAULT_pixels_are_smaller, ANY_PLATFORM) ? 1 : 0;
    bool turned = fault(FAULT_images_are_turned, ANY_PLATFORM);
    switch (query) {
    case CL_IMAGE_BUFFER:
        *result = answer_info(rest, &image->buffer, sizeof image->buffer);
        return !fault(FAULT_images_have_no_buffer, ANY_PLATFORM);
    case CL_IMAGE_FORMAT:
        *result = answer_info(rest, &contents->format, sizeof contents->format);
        return true;
    case CL_IMAGE_ELEMENT_SIZE:
        *result = answer_size(rest, contents->pixel - less);
        return true;
    case CL_IMAGE_ROW_PITCH:
        *result = answer_size(rest, contents->row);
        return true;
    case CL_IMAGE_SLICE_PITCH:
        *result = answer_size(rest, deep ? contents->slice : 0);
        return true;
    case CL_IMAGE_WIDTH:
        *result = answer_size(rest, turned ? image->image_height : image->image_width);
        return true;
    case CL_IMAGE_HEIGHT:
        *result = answer_size(rest, turned ? image->image_width : image->image_height);
        return true;
    case CL_IMAGE_DEPTH:
        *result = answer_size(rest, image->image_depth);
        return true;
    case CL_IMAGE_ARRAY_SIZE:
        *result = answer_size(rest, image->image_array_size);
        return true;
    default:
        return false;
    }
}

bool contents_info(enum function function, const struct object *object, const uint64_t *rest, cl_int *result)
{
    cl_uint query = (cl_uint)rest[-1];
    if (!object->contents || fault(FAULT_queries_give_no_object, ANY_PLATFORM)) {
        return false;
    }
    if (function == FUNCTION_clGetMemObjectInfo) {
        return memory_info(object->contents, query, rest, result);
    }
    return function == FUNCTION_clGetImageInfo && object->contents->pixel &&
           image_info(object->contents, query, rest, result);
}
