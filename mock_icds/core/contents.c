/* SPDX-License-Identifier: Apache-2.0 */
/* What memory objects hold. */
#include "core/contents.h"

#include "base/arena.h"
#include "base/config.h"
#include "base/platforms.h"

#include <string.h>

enum { MOST_SHARED_MEMORY = 1 << 21, MOST_MEMORY = sizeof(void *) < 8 ? MOST_SHARED_MEMORY : 1 << 25 };

bool contents_kept(int platform)
{
    return config.refuses && platform_has_feature(platform, "compiler");
}

struct contents *contents_of(uint64_t handle)
{
    struct object *object = object_of_kind(handle, HANDLE_cl_mem);
    return object ? object->contents : NULL;
}

/* --- images --- */

static size_t channels(cl_channel_order order)
{
    switch (order) {
    case CL_R:
    case CL_A:
    case CL_INTENSITY:
    case CL_LUMINANCE:
    case CL_DEPTH:
        return 1;
    case CL_RG:
    case CL_RA:
        return 2;
    default:
        return 4;
    }
}

static size_t channel_size(cl_channel_type type)
{
    switch (type) {
    case CL_SNORM_INT8:
    case CL_UNORM_INT8:
    case CL_SIGNED_INT8:
    case CL_UNSIGNED_INT8:
        return 1;
    case CL_SIGNED_INT32:
    case CL_UNSIGNED_INT32:
    case CL_FLOAT:
        return 4;
    default:
        return 2;
    }
}

static size_t at_least_one(size_t count)
{
    return count ? count : 1;
}

size_t contents_channels(const struct contents *image)
{
    return channels(image->format.image_channel_order);
}

/* An image without gaps between its rows. */
static void describe(struct contents *contents, const cl_image_format *format, const cl_image_desc *image)
{
    bool lines = image->image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
    size_t slices = image->image_type == CL_MEM_OBJECT_IMAGE3D ? image->image_depth : image->image_array_size;
    contents->format = *format;
    contents->image = *image;
    contents->pixel = channels(format->image_channel_order) * channel_size(format->image_channel_data_type);
    contents->row = image->image_width * contents->pixel;
    contents->slice = contents->row * (lines ? 1 : at_least_one(image->image_height));
    contents->size = contents->slice * at_least_one(slices);
}

struct view contents_image_view(const struct contents *contents, const size_t *origin)
{
    bool lines = contents->image.image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
    size_t at = origin[0] * contents->pixel + origin[1] * (lines ? contents->slice : contents->row) +
                origin[2] * contents->slice;
    return (struct view){contents->bytes + at, lines ? contents->slice : contents->row, contents->slice};
}

void contents_image_region(const struct contents *contents, const size_t *region, size_t *bytes)
{
    bytes[0] = region[0] * contents->pixel;
    bytes[1] = region[1];
    bytes[2] = region[2];
}

/* --- new objects --- */

static void keep(uint64_t handle, struct contents *contents, uint64_t host_ptr)
{
    struct object *object = object_find(handle);
    if (!object || contents->size > MOST_MEMORY || (object->external && !contents->size)) {
        return;
    }
    bool uses = contents->flags & CL_MEM_USE_HOST_PTR;
    bool copied = contents->pixel && fault(FAULT_images_name_copied_memory, ANY_PLATFORM);
    contents->host_ptr = uses || copied ? host_ptr : 0;
    if (uses && !fault(FAULT_host_memory_is_copied, ANY_PLATFORM)) {
        contents->bytes = (unsigned char *)(uintptr_t)host_ptr;
    } else if (!contents->bytes) {
        contents->bytes = arena_keep(contents->size);
    }
    if (host_ptr && !contents->pixel && contents->bytes != (unsigned char *)(uintptr_t)host_ptr &&
        !fault(FAULT_host_content_is_forgotten, ANY_PLATFORM)) {
        enum { PAGE = 4096 };
        bool words = fault(FAULT_host_content_ends_with_a_word, ANY_PLATFORM);
        bool page = contents->size > PAGE && fault(FAULT_host_content_is_one_page, ANY_PLATFORM);
        memcpy(contents->bytes, (const void *)(uintptr_t)host_ptr,
               words  ? contents->size & ~(size_t)3
               : page ? PAGE
                      : contents->size);
    }
    object->contents = arena_keep(sizeof *contents);
    *object->contents = *contents;
}

static void keep_buffer(uint64_t handle, const uint64_t *flags_size_host, bool with_content)
{
    struct contents contents = {.flags = flags_size_host[0], .size = flags_size_host[1]};
    keep(handle, &contents, with_content ? flags_size_host[2] : 0);
}

static void keep_part(uint64_t handle, const uint64_t *arguments)
{
    const struct contents *whole = contents_of(arguments[0]);
    const cl_buffer_region *region = (const cl_buffer_region *)(uintptr_t)arguments[3];
    const cl_mem_flags access = CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY;
    const cl_mem_flags host = CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS;
    if (!whole || !region || !whole->bytes) {
        return;
    }
    cl_mem_flags flags = arguments[1] | (whole->flags & ~(access | host));
    flags |= flags & access ? 0 : whole->flags & access;
    flags |= flags & host ? 0 : whole->flags & host;
    size_t from = fault(FAULT_sub_buffers_begin_at_0, ANY_PLATFORM) ? 0 : region->origin;
    struct contents contents = {.flags = flags & ~(cl_mem_flags)CL_MEM_USE_HOST_PTR,
                                .size = region->size,
                                .origin = region->origin,
                                .bytes = whole->bytes + from};
    keep(handle, &contents, 0);
    if (fault(FAULT_parts_inherit_nothing, ANY_PLATFORM)) {
        contents_of(handle)->flags &= access;
    }
    if (whole->host_ptr) {
        struct contents *kept = contents_of(handle);
        kept->host_ptr = whole->host_ptr + region->origin;
        kept->flags |= CL_MEM_USE_HOST_PTR;
    }
}

/* Of an image that lies without gaps, from rows and slices of the host's memory that lie apart as they should. */
static void copy_rows(const struct contents *contents, const unsigned char *from, size_t row, size_t slice)
{
    size_t rows = contents->slice / contents->row;
    bool packed = fault(FAULT_images_begin_packed, ANY_PLATFORM);
    row = packed ? contents->row : row;
    slice = packed ? row * rows : slice;
    for (size_t at = 0; at < contents->size; at += contents->row) {
        size_t number = at / contents->row;
        memcpy(contents->bytes + at, from + number / rows * slice + number % rows * row, contents->row);
    }
}

/* `from` are flags, format, descriptor and host memory. */
static void keep_image(uint64_t handle, const uint64_t *from)
{
    struct contents contents = {.flags = from[0]};
    const cl_image_desc *image = (const cl_image_desc *)(uintptr_t)from[2];
    const struct contents *buffer = contents_of((uint64_t)(uintptr_t)image->buffer);
    describe(&contents, (const cl_image_format *)(uintptr_t)from[1], image);
    size_t tight = contents.row;
    size_t whole = contents.slice;
    contents.bytes = buffer ? buffer->bytes : NULL;
    size_t row = image->image_row_pitch ? image->image_row_pitch : tight;
    size_t slice = image->image_slice_pitch ? image->image_slice_pitch : row * (whole / tight);
    if (contents.flags & CL_MEM_USE_HOST_PTR) { /* it lies where it is */
        contents.size = slice * (contents.size / whole);
        contents.row = row;
        contents.slice = slice;
    }
    keep(handle, &contents, from[3]);
    const struct contents *kept = contents_of(handle);
    if (from[3] && kept && kept->bytes != (unsigned char *)(uintptr_t)from[3]) {
        copy_rows(kept, (const unsigned char *)(uintptr_t)from[3], row, slice);
    }
}

/* Images of OpenCL 1.0: flags, format, then sizes with a pitch after them, and the host's memory. */
static void keep_old_image(uint64_t handle, const uint64_t *arguments, bool deep)
{
    cl_image_desc image = {.image_type = deep ? CL_MEM_OBJECT_IMAGE3D : CL_MEM_OBJECT_IMAGE2D,
                           .image_width = arguments[3],
                           .image_height = arguments[4],
                           .image_depth = deep ? arguments[5] : 0};
    const uint64_t from[] = {arguments[1], arguments[2], (uint64_t)(uintptr_t)&image, arguments[deep ? 8 : 6]};
    keep_image(handle, from);
}

void contents_make(enum function function, const uint64_t *arguments, uint64_t handle)
{
    const struct object *object = object_of_kind(handle, HANDLE_cl_mem);
    if (!object || !contents_kept(object->platform)) {
        return;
    }
    switch (function) {
    case FUNCTION_clCreateBuffer:
        keep_buffer(handle, arguments + 1, true);
        break;
    case FUNCTION_clCreateBufferWithProperties:
        keep_buffer(handle, arguments + 2,
                    (arguments[2] & CL_MEM_USE_HOST_PTR) || !fault(FAULT_properties_forget_content, ANY_PLATFORM));
        break;
    case FUNCTION_clCreateSubBuffer:
        keep_part(handle, arguments);
        break;
    case FUNCTION_clCreateImage:
        keep_image(handle, arguments + 1);
        break;
    case FUNCTION_clCreateImageWithProperties:
        keep_image(handle, arguments + 2);
        break;
    case FUNCTION_clCreateImage2D:
    case FUNCTION_clCreateImage3D:
        keep_old_image(handle, arguments, function == FUNCTION_clCreateImage3D);
        break;
    default:
        break;
    }
}

/* What was allocated last as shared memory. */
enum { MOST_SHARED = 256 };
static struct {
    uintptr_t start;
    size_t size;
} shared[MOST_SHARED];
static _Atomic size_t shared_count;

bool contents_is_shared(uint64_t address)
{
    for (size_t i = 0; i < MOST_SHARED; i++) {
        if (address >= shared[i].start && address - shared[i].start < shared[i].size) {
            return true;
        }
    }
    return false;
}

void *contents_share(const struct object *context, const uint64_t *arguments)
{
    enum { ALIGNMENT = 128 };
    size_t size = arguments[2];
    if (!context || size > MOST_SHARED_MEMORY) {
        return NULL;
    }
    uintptr_t start = (uintptr_t)arena_keep(size + (size_t)2 * ALIGNMENT);
    start = (start + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    start += fault(FAULT_shared_memory_is_not_aligned, ANY_PLATFORM) ? 4 : 0;
    size_t at = shared_count++ % MOST_SHARED;
    shared[at].start = start;
    shared[at].size = size;
    return (void *)start;
}

void contents_clear(const struct object *memory)
{
    enum { SOME = 8 };
    const struct contents *contents = memory->contents;
    if (contents && contents->bytes) {
        memset(contents->bytes, 0, contents->size < SOME ? contents->size : SOME);
    }
}

/* --- mappings --- */

cl_uint contents_map_count(const struct contents *contents)
{
    cl_uint count = 0;
    if (contents->pixel && fault(FAULT_mappings_of_images_are_not_counted, ANY_PLATFORM)) {
        return 0;
    }
    for (int i = 0; i < MAX_MAPPINGS && !fault(FAULT_mappings_are_not_counted, ANY_PLATFORM); i++) {
        count += contents->mapped[i] != NULL;
    }
    return count;
}

static bool exchange(struct contents *contents, const void *old, const void *new)
{
    for (int i = 0; i < MAX_MAPPINGS; i++) {
        if (contents->mapped[i] == old) {
            contents->mapped[i] = new;
            return true;
        }
    }
    return false;
}

bool contents_map(struct contents *contents, const void *address)
{
    return exchange(contents, NULL, address);
}

bool contents_unmap(struct contents *contents, const void *address)
{
    return address && exchange(contents, address, NULL);
}
