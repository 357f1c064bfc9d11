/* SPDX-License-Identifier: Apache-2.0 */
/* Where the data of each command lies. */
#include "execution/transfers.h"

#include "base/arena.h"
#include "base/config.h"

#include <string.h>

static struct view view_at(const void *bytes, size_t offset)
{
    return (struct view){(unsigned char *)(uintptr_t)bytes + offset, 0, 0};
}

static struct view host(uint64_t address)
{
    return view_at((const void *)(uintptr_t)address, 0);
}

static const size_t *triple(uint64_t address)
{
    return (const size_t *)(uintptr_t)address;
}

/* --- buffers --- */

static bool plan_read(const uint64_t *a, struct transfer *transfer)
{
    const struct contents *from = contents_of(a[1]);
    size_t offset = fault(FAULT_reads_ignore_offset, ANY_PLATFORM) ? 0 : a[3];
    *transfer = (struct transfer){.to = host(a[5]), .region = {a[4], 1, 1}};
    transfer->from = view_at(from ? from->bytes : NULL, offset);
    return from != NULL;
}

static bool plan_write(const uint64_t *a, struct transfer *transfer)
{
    enum { LARGE = 1 << 16 };
    struct contents *to = contents_of(a[1]);
    bool lost = a[3] >= LARGE && fault(FAULT_large_buffers_lose_their_end, ANY_PLATFORM);
    size_t size = a[4] > 1 && fault(FAULT_writes_leave_last_byte, ANY_PLATFORM) ? a[4] - 1 : a[4];
    size = size > LARGE && fault(FAULT_long_writes_are_cut, ANY_PLATFORM) ? LARGE : size;
    bool whole = to && a[3] == 0 && a[4] == to->size;
    size -= whole && fault(FAULT_whole_writes_end_with_a_word, ANY_PLATFORM) ? size % 4 : 0;
    *transfer = (struct transfer){.from = host(a[5]), .region = {lost ? 0 : size, 1, 1}, .written = to};
    transfer->to = view_at(to ? to->bytes : NULL, a[3]);
    return to != NULL;
}

static bool plan_copy(const uint64_t *a, struct transfer *transfer)
{
    const struct contents *from = contents_of(a[1]);
    struct contents *to = contents_of(a[2]);
    enum { LONG = 1 << 12 };
    size_t size = a[5] > LONG && fault(FAULT_long_copies_are_cut, ANY_PLATFORM) ? LONG : a[5];
    *transfer = (struct transfer){.region = {size, 1, 1}, .written = to};
    if (from && to) {
        transfer->from = view_at(from->bytes, a[3]);
        transfer->to = view_at(to->bytes, a[fault(FAULT_copies_go_to_source_offset, ANY_PLATFORM) ? 3 : 4]);
    }
    return from && to;
}

/* A region in memory with pitches, where 0 stands for the smallest. */
static struct view rectangle(const unsigned char *bytes, const size_t *origin, const size_t *region, size_t row,
                             size_t slice)
{
    struct view view = {(unsigned char *)(uintptr_t)bytes, row ? row : region[0], slice};
    view.slice = slice && !fault(FAULT_slice_pitches_are_ignored, ANY_PLATFORM) ? slice : view.row * region[1];
    bool top = !row && fault(FAULT_rows_are_not_counted_without_pitch, ANY_PLATFORM);
    bool front = !slice && fault(FAULT_slices_are_not_counted_without_pitch, ANY_PLATFORM);
    view.bytes += origin[0] + (top ? 0 : origin[1]) * view.row + (front ? 0 : origin[2]) * view.slice;
    return view;
}

/* Of the buffer that comes first among the arguments, and of the host's memory or of the other buffer. */
static bool plan_rectangle(const uint64_t *a, struct transfer *transfer, bool write)
{
    struct contents *buffer = contents_of(a[1]);
    const size_t *region = triple(a[5]);
    size_t row = fault(FAULT_rectangles_have_one_pitch, ANY_PLATFORM) ? a[6] : a[8];
    bool same = !a[6] && fault(FAULT_row_pitch_of_host_is_for_both, ANY_PLATFORM);
    const struct view own = rectangle(buffer ? buffer->bytes : NULL, triple(a[3]), region, same ? a[8] : a[6], a[7]);
    const struct view far = rectangle(host(a[10]).bytes, triple(a[4]), region, row, a[9]);
    *transfer = (struct transfer){.to = write ? own : far, .from = write ? far : own};
    memcpy(transfer->region, region, sizeof transfer->region);
    transfer->written = write ? buffer : NULL;
    return buffer != NULL;
}

static bool plan_copy_rectangle(const uint64_t *a, struct transfer *transfer)
{
    const struct contents *from = contents_of(a[1]);
    struct contents *to = contents_of(a[2]);
    const size_t *region = triple(a[5]);
    *transfer = (struct transfer){.written = to};
    if (from && to) {
        size_t row = fault(FAULT_rectangles_have_one_pitch, ANY_PLATFORM) ? a[6] : a[8];
        bool same = !a[9] && fault(FAULT_slice_pitch_of_source_is_for_both, ANY_PLATFORM);
        transfer->from = rectangle(from->bytes, triple(a[3]), region, a[6], a[7]);
        transfer->to = rectangle(to->bytes, triple(a[4]), region, row, same ? a[7] : a[9]);
        memcpy(transfer->region, region, sizeof transfer->region);
    }
    return from && to;
}

static void keep_pattern(struct transfer *transfer, const void *pattern, size_t width)
{
    unsigned char *copy = arena_keep(width);
    memcpy(copy, pattern, width);
    if (fault(FAULT_fills_repeat_first_byte, ANY_PLATFORM)) {
        memset(copy, copy[0], width);
    }
    transfer->pattern = copy;
    transfer->width = width;
}

static bool plan_fill(const uint64_t *a, struct transfer *transfer)
{
    struct contents *to = contents_of(a[1]);
    size_t less = a[4] > 0 && a[5] > a[3] && fault(FAULT_fills_leave_last_pattern, ANY_PLATFORM) ? a[3] : 0;
    *transfer = (struct transfer){.region = {a[5] - less, 1, 1}, .written = to};
    if (to && to->origin && a[4] + a[5] == to->size && fault(FAULT_fills_go_on_after_their_part, ANY_PLATFORM)) {
        transfer->region[0] += a[3];
    }
    if (to) {
        transfer->to = view_at(to->bytes, a[4]);
        keep_pattern(transfer, (const void *)(uintptr_t)a[2], a[3]);
    }
    return to != NULL;
}

/* --- images --- */

static struct view image_view(const struct contents *image, uint64_t origin)
{
    static const size_t start[3];
    return contents_image_view(image, fault(FAULT_image_origins_are_ignored, ANY_PLATFORM) ? start : triple(origin));
}

/* Slices of the host's memory, or of a buffer: those of an array of lines are its lines. */
static struct view host_of_image(const struct contents *image, uint64_t address, const size_t *bytes, size_t row,
                                 size_t slice)
{
    struct view view = host(address);
    bool ignored = fault(FAULT_image_pitches_are_ignored, ANY_PLATFORM);
    bool lines = image->image.image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
    view.row = row && !ignored ? row : bytes[0];
    view.row = lines && slice ? slice : view.row;
    bool packs = row && fault(FAULT_slices_do_not_follow_rows, ANY_PLATFORM);
    view.slice = slice && !ignored ? slice : (packs ? bytes[0] : view.row) * bytes[1];
    return view;
}

static bool plan_image(const uint64_t *a, struct transfer *transfer, bool write)
{
    struct contents *image = contents_of(a[1]);
    *transfer = (struct transfer){.written = write ? image : NULL};
    if (image) {
        contents_image_region(image, triple(a[4]), transfer->region);
        const struct view own = image_view(image, a[3]);
        const struct view far = host_of_image(image, a[7], transfer->region, a[5], a[6]);
        transfer->to = write ? own : far;
        transfer->from = write ? far : own;
    }
    return image != NULL;
}

static bool plan_copy_image(const uint64_t *a, struct transfer *transfer)
{
    const struct contents *from = contents_of(a[1]);
    struct contents *to = contents_of(a[2]);
    *transfer = (struct transfer){.written = to};
    if (from && to) {
        size_t origin[3];
        memcpy(origin, triple(a[3]), sizeof origin);
        bool first = from->image.image_type != to->image.image_type &&
                     fault(FAULT_copies_between_kinds_take_first_slice, ANY_PLATFORM);
        origin[2] = first ? 0 : origin[2];
        contents_image_region(from, triple(a[5]), transfer->region);
        transfer->from = contents_image_view(from, origin);
        transfer->to =
            contents_image_view(to, triple(a[fault(FAULT_image_copies_go_to_source_origin, ANY_PLATFORM) ? 3 : 4]));
    }
    return from && to;
}

static bool plan_image_and_buffer(const uint64_t *a, struct transfer *transfer, bool to_buffer)
{
    struct contents *image = contents_of(a[to_buffer ? 1 : 2]);
    struct contents *buffer = contents_of(a[to_buffer ? 2 : 1]);
    size_t offset = fault(FAULT_image_copies_ignore_offset, ANY_PLATFORM) ? 0 : a[to_buffer ? 5 : 3];
    offset -= fault(FAULT_image_copies_round_offsets, ANY_PLATFORM) ? offset % 4 : 0;
    *transfer = (struct transfer){.written = to_buffer ? buffer : image};
    if (image && buffer) {
        contents_image_region(image, triple(a[to_buffer ? 4 : 5]), transfer->region);
        const struct view own = contents_image_view(image, triple(a[to_buffer ? 3 : 4]));
        size_t row = transfer->region[0];
        row += fault(FAULT_image_rows_in_buffers_are_padded, ANY_PLATFORM) ? (4 - row % 4) % 4 : 0;
        const struct view far = {buffer->bytes + offset, row, row * transfer->region[1]};
        transfer->to = to_buffer ? far : own;
        transfer->from = to_buffer ? own : far;
    }
    return image && buffer;
}

/* The component of a colour that a channel of an image has. */
static size_t component(const struct contents *image, size_t channel)
{
    cl_channel_order order = image->format.image_channel_order;
    if (order == CL_A || (order == CL_R && fault(FAULT_fills_take_last_component, ANY_PLATFORM)) ||
        (order == CL_DEPTH && fault(FAULT_depth_is_a_fourth_number, ANY_PLATFORM))) {
        return 3;
    }
    if (order == CL_sRGBA && channel == 3 && fault(FAULT_fills_of_srgb_are_transparent, ANY_PLATFORM)) {
        return 0;
    }
    bool turned = order == CL_BGRA && !fault(FAULT_fills_have_one_order, ANY_PLATFORM);
    return turned && channel < 3 ? 2 - channel : channel;
}

/* A number rounded to the nearest whole one, within the limits of a type. */
static cl_uint rounded(double value, double least, double most)
{
    if (!fault(FAULT_fills_wrap, ANY_PLATFORM)) {
        value = value < least ? least : value > most ? most : value;
    }
    double half = fault(FAULT_fills_are_rounded_down, ANY_PLATFORM) ? 0 : value < 0 ? -0.5 : 0.5;
    return (cl_uint)(cl_long)(value + half);
}

/* The bits of a number that 16 bits can hold. */
static cl_uint half_of(cl_uint bits)
{
    cl_uint rest = bits & 0x7FFFFFFF;
    return (bits >> 16 & 0x8000) | (rest ? (rest >> 13) - ((127 - 15) << 10) : 0);
}

/* A component of a colour as a channel of a type has it ("Image addressing and filtering", conversion rules). */
static cl_uint converted(cl_channel_type type, cl_uint bits)
{
    float real;
    memcpy(&real, &bits, sizeof real);
    if (real < 0 && fault(FAULT_fills_have_no_sign, ANY_PLATFORM)) {
        real = type == CL_SNORM_INT8 || type == CL_SNORM_INT16 ? 0 : real;
    }
    bool plain = type != CL_UNORM_INT8 && fault(FAULT_only_bytes_are_normalized, ANY_PLATFORM);
    switch (plain ? CL_FLOAT : type) {
    case CL_UNORM_INT8:
        return rounded(real * 255.0, 0, 255);
    case CL_UNORM_INT16:
        return rounded(real * 65535.0, 0, 65535);
    case CL_SNORM_INT8:
        return rounded(real * 127.0, -128, 127);
    case CL_SNORM_INT16:
        return rounded(real * 32767.0, -32768, 32767);
    case CL_SIGNED_INT8:
        return rounded((cl_int)bits, -128, 127);
    case CL_SIGNED_INT16:
        return rounded((cl_int)bits, -32768, 32767);
    case CL_UNSIGNED_INT8:
        return rounded(bits, 0, 255);
    case CL_UNSIGNED_INT16:
        return rounded(bits, 0, 65535);
    case CL_HALF_FLOAT:
        return half_of(bits);
    default:
        return bits;
    }
}

/* One pixel of a colour: four numbers of 32 bits, in the image's format. */
static void make_pixel(const struct contents *image, const cl_uint *colour, unsigned char *pixel)
{
    size_t count = contents_channels(image);
    size_t size = image->pixel / count;
    for (size_t i = 0; i < count; i++) {
        cl_uint value = converted(image->format.image_channel_data_type, colour[component(image, i)]);
        memcpy(pixel + i * size, &value, size);
    }
}

static bool plan_fill_image(const uint64_t *a, struct transfer *transfer)
{
    unsigned char pixel[16] = {0};
    struct contents *image = contents_of(a[1]);
    *transfer = (struct transfer){.written = image};
    if (image && image->pixel <= sizeof pixel) {
        contents_image_region(image, triple(a[4]), transfer->region);
        transfer->to = contents_image_view(image, triple(a[3]));
        transfer->region[1] = fault(FAULT_image_fills_end_with_first_row, ANY_PLATFORM) ? 1 : transfer->region[1];
        make_pixel(image, (const cl_uint *)(uintptr_t)a[2], pixel);
        keep_pattern(transfer, pixel, image->pixel);
    }
    return image != NULL;
}

/* --- shared virtual memory --- */

static bool plan_shared_copy(const uint64_t *a, struct transfer *transfer)
{
    size_t size = a[4] > 1 && fault(FAULT_shared_copies_leave_last_byte, ANY_PLATFORM) ? a[4] - 1 : a[4];
    size -= size > 8 && size % 2 == 1 && fault(FAULT_odd_shared_copies_are_cut, ANY_PLATFORM) ? 3 : 0;
    *transfer = (struct transfer){.to = host(a[2]), .from = host(a[3]), .region = {size, 1, 1}};
    return true;
}

static bool plan_shared_fill(const uint64_t *a, struct transfer *transfer)
{
    *transfer = (struct transfer){.to = host(a[1]), .region = {a[4], 1, 1}};
    keep_pattern(transfer, (const void *)(uintptr_t)a[2], a[3]);
    return true;
}

/* What is mapped lies where it is; by a fault, giving it back clears it. */
static bool plan_shared_unmap(const uint64_t *a, struct transfer *transfer)
{
    static const unsigned char nothing;
    *transfer = (struct transfer){.to = host(a[1]), .region = {1, 1, 1}, .pattern = &nothing, .width = 1};
    return fault(FAULT_shared_unmap_clears, ANY_PLATFORM);
}

static bool plan_migration(const uint64_t *a, struct transfer *transfer)
{
    static const unsigned char nothing;
    struct contents *first = a[1] ? contents_of(*(const uint64_t *)(uintptr_t)a[2]) : NULL;
    *transfer = (struct transfer){.pattern = &nothing, .width = 1};
    if (first) {
        transfer->to = view_at(first->bytes, 0);
        transfer->region[0] = first->size;
        transfer->region[1] = transfer->region[2] = 1;
    }
    return first && fault(FAULT_migration_clears, ANY_PLATFORM);
}

static bool plan_shared_migration(const uint64_t *a, struct transfer *transfer)
{
    static const unsigned char nothing;
    *transfer = (struct transfer){.to = host(((const uintptr_t *)(uintptr_t)a[2])[0]), .region = {1, 1, 1}};
    transfer->pattern = &nothing;
    transfer->width = 1;
    return fault(FAULT_shared_migration_clears, ANY_PLATFORM);
}

static bool plan(enum function function, const uint64_t *arguments, struct transfer *transfer)
{
    switch (function) {
    case FUNCTION_clEnqueueReadBuffer:
        return plan_read(arguments, transfer);
    case FUNCTION_clEnqueueWriteBuffer:
        return plan_write(arguments, transfer);
    case FUNCTION_clEnqueueCopyBuffer:
        return plan_copy(arguments, transfer);
    case FUNCTION_clEnqueueReadBufferRect:
    case FUNCTION_clEnqueueWriteBufferRect:
        return plan_rectangle(arguments, transfer, function == FUNCTION_clEnqueueWriteBufferRect);
    case FUNCTION_clEnqueueCopyBufferRect:
        return plan_copy_rectangle(arguments, transfer);
    case FUNCTION_clEnqueueFillBuffer:
        return plan_fill(arguments, transfer);
    case FUNCTION_clEnqueueReadImage:
    case FUNCTION_clEnqueueWriteImage:
        return plan_image(arguments, transfer, function == FUNCTION_clEnqueueWriteImage);
    case FUNCTION_clEnqueueCopyImage:
        return plan_copy_image(arguments, transfer);
    case FUNCTION_clEnqueueCopyImageToBuffer:
    case FUNCTION_clEnqueueCopyBufferToImage:
        return plan_image_and_buffer(arguments, transfer, function == FUNCTION_clEnqueueCopyImageToBuffer);
    case FUNCTION_clEnqueueFillImage:
        return plan_fill_image(arguments, transfer);
    case FUNCTION_clEnqueueSVMMemcpy:
        return plan_shared_copy(arguments, transfer);
    case FUNCTION_clEnqueueSVMMemFill:
        return plan_shared_fill(arguments, transfer);
    case FUNCTION_clEnqueueSVMUnmap:
        return plan_shared_unmap(arguments, transfer);
    case FUNCTION_clEnqueueSVMMigrateMem:
        return plan_shared_migration(arguments, transfer);
    case FUNCTION_clEnqueueMigrateMemObjects:
        return plan_migration(arguments, transfer);
    default:
        return false;
    }
}

/* Commands that move no more than a page, by a fault of each. */
static const struct {
    enum function function;
    enum fault fault;
} cut[] = {
    {FUNCTION_clEnqueueReadBuffer, FAULT_long_reads_are_cut},
    {FUNCTION_clEnqueueFillBuffer, FAULT_long_fills_are_cut},
    {FUNCTION_clEnqueueSVMMemcpy, FAULT_long_shared_copies_are_cut},
    {FUNCTION_clEnqueueSVMMemFill, FAULT_long_shared_fills_are_cut},
};

/* Leaves out rows, slices or all of a region of several dimensions, by faults. */
static bool narrow(enum function function, const uint64_t *a, struct transfer *transfer)
{
    enum { FEW = 64 };
    bool rectangle = function == FUNCTION_clEnqueueReadBufferRect || function == FUNCTION_clEnqueueWriteBufferRect ||
                     function == FUNCTION_clEnqueueCopyBufferRect;
    if (transfer->region[2] > FEW && !rectangle && fault(FAULT_images_have_few_slices, ANY_PLATFORM)) {
        transfer->region[2] = FEW;
    }
    if (transfer->region[1] > FEW && rectangle && fault(FAULT_rectangles_have_few_rows, ANY_PLATFORM)) {
        transfer->region[1] = FEW;
    }
    const struct contents *image = transfer->written;
    bool line = image && image->image.image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER;
    if ((function == FUNCTION_clEnqueueFillImage && line &&
         fault(FAULT_images_of_buffers_are_not_filled, ANY_PLATFORM)) ||
        (function == FUNCTION_clEnqueueCopyImage && line &&
         fault(FAULT_images_of_buffers_are_not_copied, ANY_PLATFORM))) {
        return false;
    }
    return !(rectangle && a[6] && a[7] % a[6] && fault(FAULT_slices_of_no_whole_rows_are_left_out, ANY_PLATFORM));
}

bool transfers_plan(enum function function, const uint64_t *arguments, struct transfer *transfer)
{
    enum { PAGE = 4096, MEBIBYTE = 1 << 20 };
    bool moves = plan(function, arguments, transfer) && narrow(function, arguments, transfer);
    for (size_t i = 0; i < sizeof cut / sizeof *cut; i++) {
        if (cut[i].function == function && transfer->region[0] > PAGE && fault(cut[i].fault, ANY_PLATFORM)) {
            transfer->region[0] = PAGE;
        }
    }
    if (transfer->region[0] > MEBIBYTE && fault(FAULT_megabytes_are_cut, ANY_PLATFORM)) {
        transfer->region[0] = MEBIBYTE;
    }
    return moves;
}

void transfers_run(const struct transfer *transfer)
{
    for (size_t slice = 0; slice < transfer->region[2]; slice++) {
        for (size_t row = 0; row < transfer->region[1]; row++) {
            unsigned char *to = transfer->to.bytes + slice * transfer->to.slice + row * transfer->to.row;
            const unsigned char *from = transfer->from.bytes + slice * transfer->from.slice + row * transfer->from.row;
            for (size_t at = 0; transfer->pattern && at + transfer->width <= transfer->region[0];
                 at += transfer->width) {
                memcpy(to + at, transfer->pattern, transfer->width);
            }
            if (!transfer->pattern) {
                memmove(to, from, transfer->region[0]);
            }
        }
    }
}
