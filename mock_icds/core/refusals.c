/* SPDX-License-Identifier: Apache-2.0 */
/* What the mock refuses, by faults, although it is legal to make (faults_refusals.h). */
#include "core/refusals.h"

#include "base/config.h"
#include "base/errors.h"
#include "base/objects.h"
#include "clharness_cl.h"
#include "core/contents.h"

#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))

enum { WIDE = 1000 };

typedef bool condition(const uint64_t *arguments);

struct refusal {
    enum fault fault;
    condition *meets;
};

static const void *at(uint64_t argument)
{
    return (const void *)(uintptr_t)argument;
}

static bool refused(const struct refusal *list, size_t count, const uint64_t *arguments)
{
    for (size_t i = 0; i < count; i++) {
        if (fault(list[i].fault, ANY_PLATFORM) && list[i].meets(arguments)) {
            return true;
        }
    }
    return false;
}

/* The value of a property in a list; `otherwise` where it is not there. */
static uint64_t listed(uint64_t list, uint64_t name, uint64_t otherwise)
{
    for (const uint64_t *pair = at(list); pair && pair[0]; pair += 2) {
        if (pair[0] == name) {
            return pair[1];
        }
    }
    return otherwise;
}

/* --- flags, which are the second argument --- */

static bool has(const uint64_t *arguments, cl_mem_flags flags)
{
    return (arguments[1] & flags) == flags;
}

static bool write_only(const uint64_t *arguments)
{
    return has(arguments, CL_MEM_WRITE_ONLY);
}

static bool read_only(const uint64_t *arguments)
{
    return has(arguments, CL_MEM_READ_ONLY);
}

static bool no_flags(const uint64_t *arguments)
{
    return arguments[1] == 0;
}

static bool host_memory(const uint64_t *arguments)
{
    return has(arguments, CL_MEM_USE_HOST_PTR);
}

static bool reachable(const uint64_t *arguments)
{
    return has(arguments, CL_MEM_ALLOC_HOST_PTR);
}

static bool reachable_copy(const uint64_t *arguments)
{
    return has(arguments, CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR);
}

static bool read_only_copy(const uint64_t *arguments)
{
    return has(arguments, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR);
}

static bool host_writes(const uint64_t *arguments)
{
    return has(arguments, CL_MEM_HOST_WRITE_ONLY);
}

static bool host_reads(const uint64_t *arguments)
{
    return has(arguments, CL_MEM_HOST_READ_ONLY);
}

static bool no_host(const uint64_t *arguments)
{
    return has(arguments, CL_MEM_HOST_NO_ACCESS);
}

static bool odd_third(const uint64_t *arguments)
{
    return arguments[2] % 2 != 0;
}

/* --- buffers and their parts --- */

static const struct refusal buffers[] = {
    {FAULT_write_only_buffers_are_refused, write_only},
    {FAULT_read_only_buffers_are_refused, read_only},
    {FAULT_buffers_without_flags_are_refused, no_flags},
    {FAULT_host_memory_is_refused_for_buffers, host_memory},
    {FAULT_reachable_buffers_are_refused, reachable},
    {FAULT_reachable_copies_are_refused, reachable_copy},
    {FAULT_read_only_copies_are_refused, read_only_copy},
    {FAULT_buffers_that_the_host_writes_are_refused, host_writes},
    {FAULT_buffers_that_the_host_reads_are_refused, host_reads},
    {FAULT_buffers_without_the_host_are_refused, no_host},
    {FAULT_odd_buffers_are_refused, odd_third},
};

static bool later_part(const uint64_t *arguments)
{
    const cl_buffer_region *region = at(arguments[3]);
    return region->origin > 0;
}

static bool whole_part(const uint64_t *arguments)
{
    const cl_buffer_region *region = at(arguments[3]);
    const struct object *buffer = object_find(arguments[0]);
    return buffer && buffer->contents && region->size == buffer->contents->size;
}

static bool odd_part(const uint64_t *arguments)
{
    const cl_buffer_region *region = at(arguments[3]);
    return region->size % 2 != 0;
}

static bool second_part(const uint64_t *arguments)
{
    const struct object *buffer = object_find(arguments[0]);
    return buffer && object_count_children(buffer, HANDLE_cl_mem) > 0;
}

static const struct refusal parts[] = {
    {FAULT_later_parts_are_refused, later_part},    {FAULT_whole_parts_are_refused, whole_part},
    {FAULT_read_only_parts_are_refused, read_only}, {FAULT_parts_without_the_host_are_refused, no_host},
    {FAULT_odd_parts_are_refused, odd_part},        {FAULT_second_parts_are_refused, second_part},
};

/* --- images, whose description is the fourth argument --- */

static const cl_image_desc *description(const uint64_t *arguments)
{
    return at(arguments[3]);
}

static bool is_line(const uint64_t *arguments)
{
    return description(arguments)->image_type == CL_MEM_OBJECT_IMAGE1D;
}

static bool is_array_of_lines(const uint64_t *arguments)
{
    return description(arguments)->image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
}

static bool is_of_buffer(const uint64_t *arguments)
{
    return description(arguments)->image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER;
}

static bool is_array_of_images(const uint64_t *arguments)
{
    return description(arguments)->image_type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
}

static bool has_half_numbers(const uint64_t *arguments)
{
    const cl_image_format *format = at(arguments[2]);
    return format->image_channel_order == CL_RGBA && format->image_channel_data_type == CL_HALF_FLOAT;
}

static bool is_deep_with_half_numbers(const uint64_t *arguments)
{
    return description(arguments)->image_type == CL_MEM_OBJECT_IMAGE3D && has_half_numbers(arguments);
}

static bool has_pitches(const uint64_t *arguments)
{
    return description(arguments)->image_row_pitch > 0;
}

static bool is_one_pixel(const uint64_t *arguments)
{
    return description(arguments)->image_width == 1;
}

static bool is_wide(const uint64_t *arguments)
{
    return description(arguments)->image_width > WIDE;
}

static bool has_mipmaps(const uint64_t *arguments)
{
    return description(arguments)->num_mip_levels > 1;
}

static const struct refusal images[] = {
    {FAULT_lines_are_refused, is_line},
    {FAULT_arrays_of_lines_are_refused, is_array_of_lines},
    {FAULT_images_of_buffers_are_refused, is_of_buffer},
    {FAULT_arrays_of_images_are_refused, is_array_of_images},
    {FAULT_images_of_half_numbers_are_refused, has_half_numbers},
    {FAULT_deep_images_of_half_numbers_are_refused, is_deep_with_half_numbers},
    {FAULT_write_only_images_are_refused, write_only},
    {FAULT_read_only_images_are_refused, read_only},
    {FAULT_images_without_flags_are_refused, no_flags},
    {FAULT_host_memory_is_refused_for_images, host_memory},
    {FAULT_pitches_are_refused, has_pitches},
    {FAULT_reachable_images_are_refused, reachable},
    {FAULT_images_without_the_host_are_refused, no_host},
    {FAULT_images_of_one_pixel_are_refused, is_one_pixel},
    {FAULT_wide_images_are_refused, is_wide},
    {FAULT_mipmaps_are_refused, has_mipmaps},
};

/* --- samplers, of either function: normalised, addressing, filter --- */

static bool clamps(const uint64_t *arguments)
{
    return arguments[2] == CL_ADDRESS_CLAMP;
}

static bool repeats(const uint64_t *arguments)
{
    return arguments[2] == CL_ADDRESS_REPEAT;
}

static bool mirrors(const uint64_t *arguments)
{
    return arguments[2] == CL_ADDRESS_MIRRORED_REPEAT;
}

static bool interpolates(const uint64_t *arguments)
{
    return arguments[3] == CL_FILTER_LINEAR;
}

static bool counts_pixels(const uint64_t *arguments)
{
    return !arguments[1];
}

static bool interpolates_pixels(const uint64_t *arguments)
{
    return !arguments[1] && arguments[3] == CL_FILTER_LINEAR;
}

static const struct refusal samplers[] = {
    {FAULT_clamping_samplers_are_refused, clamps},
    {FAULT_repeating_samplers_are_refused, repeats},
    {FAULT_mirrored_samplers_are_refused, mirrors},
    {FAULT_linear_samplers_are_refused, interpolates},
    {FAULT_samplers_of_pixels_are_refused, counts_pixels},
    {FAULT_linear_samplers_of_pixels_are_refused, interpolates_pixels},
};

/* --- queues, of either function: context, device, bits --- */

static bool profiles(const uint64_t *arguments)
{
    return (arguments[2] & CL_QUEUE_PROFILING_ENABLE) != 0;
}

static bool is_unordered(const uint64_t *arguments)
{
    return (arguments[2] & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0;
}

static bool is_unordered_and_profiles(const uint64_t *arguments)
{
    return is_unordered(arguments) && profiles(arguments);
}

static bool is_second(const uint64_t *arguments)
{
    const struct object *context = object_find(arguments[0]);
    return context && object_count_children(context, HANDLE_cl_command_queue) > 0;
}

static const struct refusal queues[] = {
    {FAULT_profiling_queues_are_refused, profiles},
    {FAULT_unordered_queues_are_refused, is_unordered},
    {FAULT_unordered_profiling_is_refused, is_unordered_and_profiles},
    {FAULT_second_queues_are_refused, is_second},
};
static const struct refusal listed_queues[] = {
    {FAULT_listed_profiling_is_refused, profiles},
    {FAULT_unordered_queues_are_refused, is_unordered},
    {FAULT_unordered_profiling_is_refused, is_unordered_and_profiles},
    {FAULT_second_queues_are_refused, is_second},
};

/* --- programs and kernels --- */

static bool always(const uint64_t *arguments)
{
    return arguments != NULL;
}

static bool has_several_strings(const uint64_t *arguments)
{
    return arguments[1] > 1;
}

static bool has_lengths(const uint64_t *arguments)
{
    return arguments[3] != 0;
}

static bool has_option(const uint64_t *arguments, const char *option)
{
    const char *options = at(arguments[3]);
    return options && strstr(options, option);
}

static bool has_macro(const uint64_t *arguments)
{
    return has_option(arguments, "-D");
}

static bool is_relaxed(const uint64_t *arguments)
{
    return has_option(arguments, "-cl-fast-relaxed-math");
}

static bool is_silent(const uint64_t *arguments)
{
    return has_option(arguments, "-w");
}

static bool has_version(const uint64_t *arguments)
{
    return has_option(arguments, "-cl-std=");
}

static bool is_plain(const uint64_t *arguments)
{
    return has_option(arguments, "-cl-opt-disable");
}

static const struct refusal sources[] = {
    {FAULT_several_strings_are_refused, has_several_strings},
    {FAULT_lengths_of_strings_are_refused, has_lengths},
};
static const struct refusal languages[] = {{FAULT_intermediate_languages_are_refused, always}};
static const struct refusal binaries[] = {{FAULT_binaries_are_refused, always}};
static const struct refusal kernels[] = {{FAULT_kernels_at_once_are_refused, always}};
static const struct refusal builds[] = {
    {FAULT_macros_are_refused, has_macro},   {FAULT_relaxed_arithmetic_is_refused, is_relaxed},
    {FAULT_silence_is_refused, is_silent},   {FAULT_versions_of_the_language_are_refused, has_version},
    {FAULT_plain_code_is_refused, is_plain},
};

/* --- events, shared memory, pipes, contexts --- */

static bool has_user_event(const uint64_t *arguments)
{
    const struct object *context = object_find(arguments[0]);
    return context && object_count_children(context, HANDLE_cl_event) > 0;
}

static bool is_aligned(const uint64_t *arguments)
{
    return arguments[3] > 0;
}

static bool is_one_byte(const uint64_t *arguments)
{
    return arguments[2] == 1;
}

static bool has_several_devices(const uint64_t *arguments)
{
    return arguments[1] > 1;
}

static bool has_callback(const uint64_t *arguments)
{
    return arguments[3] != 0;
}

static bool has_no_list(const uint64_t *arguments)
{
    return arguments[0] == 0;
}

static const struct refusal user_events[] = {{FAULT_second_user_events_are_refused, has_user_event}};
static const struct refusal shared[] = {
    {FAULT_aligned_shared_memory_is_refused, is_aligned},
    {FAULT_read_only_shared_memory_is_refused, read_only},
    {FAULT_small_shared_memory_is_refused, is_one_byte},
};
static const struct refusal pipes[] = {
    {FAULT_pipes_without_flags_are_refused, no_flags},
    {FAULT_pipes_with_flags_are_refused, no_host},
    {FAULT_odd_pipes_are_refused, odd_third},
};
static const struct refusal contexts[] = {
    {FAULT_contexts_of_several_devices_are_refused, has_several_devices},
    {FAULT_contexts_with_callbacks_are_refused, has_callback},
    {FAULT_contexts_without_properties_are_refused, has_no_list},
};
static const struct refusal contexts_of_types[] = {{FAULT_contexts_of_types_are_refused, always}};

#define LIST(list) list, COUNT(list)

static const struct {
    const struct refusal *list;
    size_t count;
    enum function function;
    cl_int error;
} all[] = {
    {LIST(buffers), FUNCTION_clCreateBuffer, CL_INVALID_VALUE},
    {LIST(parts), FUNCTION_clCreateSubBuffer, CL_INVALID_VALUE},
    {LIST(images), FUNCTION_clCreateImage, CL_INVALID_IMAGE_DESCRIPTOR},
    {LIST(samplers), FUNCTION_clCreateSampler, CL_INVALID_VALUE},
    {LIST(queues), FUNCTION_clCreateCommandQueue, CL_INVALID_QUEUE_PROPERTIES},
    {LIST(sources), FUNCTION_clCreateProgramWithSource, CL_INVALID_VALUE},
    {LIST(languages), FUNCTION_clCreateProgramWithIL, CL_INVALID_VALUE},
    {LIST(binaries), FUNCTION_clCreateProgramWithBinary, CL_INVALID_BINARY},
    {LIST(kernels), FUNCTION_clCreateKernelsInProgram, CL_INVALID_PROGRAM_EXECUTABLE},
    {LIST(builds), FUNCTION_clBuildProgram, CL_INVALID_BUILD_OPTIONS},
    {LIST(user_events), FUNCTION_clCreateUserEvent, CL_OUT_OF_RESOURCES},
    {LIST(shared), FUNCTION_clSVMAlloc, CL_INVALID_VALUE},
    {LIST(pipes), FUNCTION_clCreatePipe, CL_INVALID_VALUE},
    {LIST(contexts), FUNCTION_clCreateContext, CL_INVALID_VALUE},
    {LIST(contexts_of_types), FUNCTION_clCreateContextFromType, CL_DEVICE_NOT_FOUND},
};

/* The functions with a list of properties, as the older ones have it. */
static bool is_refused_with_properties(enum function function, const uint64_t *arguments, cl_int *error)
{
    const uint64_t later[] = {arguments[0], arguments[2], arguments[3], arguments[4]};
    switch (function) {
    case FUNCTION_clCreateBufferWithProperties:
        *error = CL_INVALID_VALUE;
        return refused(LIST(buffers), later);
    case FUNCTION_clCreateImageWithProperties:
        *error = CL_INVALID_IMAGE_DESCRIPTOR;
        return refused(LIST(images), later);
    case FUNCTION_clCreateSamplerWithProperties: {
        const uint64_t sampler[] = {arguments[0], listed(arguments[1], CL_SAMPLER_NORMALIZED_COORDS, CL_TRUE),
                                    listed(arguments[1], CL_SAMPLER_ADDRESSING_MODE, CL_ADDRESS_CLAMP),
                                    listed(arguments[1], CL_SAMPLER_FILTER_MODE, CL_FILTER_NEAREST)};
        *error = CL_INVALID_VALUE;
        return refused(LIST(samplers), sampler);
    }
    case FUNCTION_clCreateCommandQueueWithProperties: {
        const uint64_t queue[] = {arguments[0], arguments[1], listed(arguments[2], CL_QUEUE_PROPERTIES, 0)};
        *error = CL_INVALID_QUEUE_PROPERTIES;
        return refused(LIST(listed_queues), queue);
    }
    default:
        return false;
    }
}

static bool is_refused(enum function function, const uint64_t *arguments, cl_int *error)
{
    for (size_t i = 0; i < COUNT(all); i++) {
        if (all[i].function == function) {
            *error = all[i].error;
            return refused(all[i].list, all[i].count, arguments);
        }
    }
    return is_refused_with_properties(function, arguments, error);
}

bool refusals_of_function(enum function function, const uint64_t *arguments, uint64_t *result)
{
    if (config.function[function].refused) {
        *result = error_refuse(function, arguments, CL_INVALID_OPERATION);
    }
    return config.function[function].refused;
}

bool refusals_handle(enum function function, const uint64_t *arguments, uint64_t *result)
{
    cl_int error;
    if (!is_refused(function, arguments, &error)) {
        return false;
    }
    *result = error_refuse(function, arguments, error);
    return true;
}
