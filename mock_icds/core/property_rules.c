/* SPDX-License-Identifier: Apache-2.0 */
/* What may be in the property lists of the core's functions. */
#include "core/property_rules.h"

#include "base/config.h"
#include "base/platforms.h"

#ifndef CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT /* cl_ext_buffer_device_address */
#define CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT 0x5000
#endif

static cl_int check_boolean(const struct property *property, enum fault bad_value, cl_int error)
{
    return property->values[0] <= CL_TRUE ? CL_SUCCESS : (cl_int)fault_value(bad_value, ANY_PLATFORM, error);
}

/* --- contexts --- */

static cl_int check_platform(const struct property *property, const void *about)
{
    (void)about;
    if (object_of_kind(property->values[0], HANDLE_cl_platform_id)) {
        return CL_SUCCESS;
    }
    return (cl_int)fault_value(FAULT_context_platform_gives, ANY_PLATFORM, CL_INVALID_PLATFORM);
}

static cl_int check_context_boolean(const struct property *property, const void *about)
{
    (void)about;
    return check_boolean(property, FAULT_context_bad_value_gives, CL_INVALID_PROPERTY);
}

static cl_int check_terminate(const struct property *property, const void *about)
{
    bool able =
        platform_has_feature(property->platform, "terminate") || fault(FAULT_context_takes_terminate, ANY_PLATFORM);
    return property->values[0] == CL_TRUE && !able ? CL_INVALID_PROPERTY : check_context_boolean(property, about);
}

static cl_int check_initialized(const struct property *property, const void *about)
{
    const cl_ulong local_and_private = 3; /* bits without a name in the headers of 2023 */
    (void)about;
    return property->values[0] & ~local_and_private
               ? (cl_int)fault_value(FAULT_context_bad_value_gives, ANY_PLATFORM, CL_INVALID_PROPERTY)
               : CL_SUCCESS;
}

static const struct property_rule context_properties[] = {
    {CL_CONTEXT_PLATFORM, PROPERTY_VALUE, NULL, check_platform},
    {CL_CONTEXT_INTEROP_USER_SYNC, PROPERTY_VALUE, NULL, check_context_boolean},
    {CL_CONTEXT_TERMINATE_KHR, PROPERTY_VALUE, "cl_khr_terminate_context", check_terminate},
    {CL_CONTEXT_MEMORY_INITIALIZE_KHR, PROPERTY_VALUE, "cl_khr_initialize_memory", check_initialized},
    {CL_GL_CONTEXT_KHR, PROPERTY_VALUE, "cl_khr_gl_sharing", NULL}, /* gl/contexts.c looks at the values */
    {CL_EGL_DISPLAY_KHR, PROPERTY_VALUE, "cl_khr_gl_sharing", NULL},
    {CL_GLX_DISPLAY_KHR, PROPERTY_VALUE, "cl_khr_gl_sharing", NULL},
    {CL_WGL_HDC_KHR, PROPERTY_VALUE, "cl_khr_gl_sharing", NULL},
    {CL_CGL_SHAREGROUP_KHR, PROPERTY_VALUE, "cl_khr_gl_sharing", NULL},
};
static const struct property_rules context_rules = {context_properties,
                                                    sizeof context_properties / sizeof *context_properties,
                                                    CL_INVALID_PROPERTY, CL_INVALID_PROPERTY, false};

/* --- queues --- */

static cl_int check_bits(const struct property *property, const void *about)
{
    const cl_command_queue_properties host = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;
    cl_command_queue_properties bits = property->values[0];
    bool on_device = bits & CL_QUEUE_ON_DEVICE;
    bool out_of_order = bits & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    (void)about;
    if (bits & ~(host | CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT)) {
        return (cl_int)fault_value(FAULT_queue_unknown_bits_give, ANY_PLATFORM, CL_INVALID_VALUE);
    }
    if ((on_device && !out_of_order && !fault(FAULT_queue_on_device_in_order, ANY_PLATFORM)) ||
        (bits & CL_QUEUE_ON_DEVICE_DEFAULT && !on_device && !fault(FAULT_queue_default_on_host, ANY_PLATFORM))) {
        return CL_INVALID_VALUE;
    }
    if (on_device ? !platform_has_feature(property->platform, "device_queues")
                  : out_of_order && !platform_has_feature(property->platform, "out_of_order")) {
        return (cl_int)fault_value(FAULT_queue_unsupported_gives, ANY_PLATFORM, CL_INVALID_QUEUE_PROPERTIES);
    }
    return CL_SUCCESS;
}

static cl_int check_hint(const struct property *property, const void *about)
{
    uint64_t level = property->values[0];
    (void)about;
    bool known = level == CL_QUEUE_PRIORITY_HIGH_KHR || level == CL_QUEUE_PRIORITY_MED_KHR ||
                 level == CL_QUEUE_PRIORITY_LOW_KHR; /* those of throttle are the same */
    return known ? CL_SUCCESS : (cl_int)fault_value(FAULT_queue_unknown_bits_give, ANY_PLATFORM, CL_INVALID_VALUE);
}

static const struct property_rule queue_properties[] = {
    {CL_QUEUE_PROPERTIES, PROPERTY_VALUE, NULL, check_bits},
    {CL_QUEUE_SIZE, PROPERTY_VALUE, NULL, NULL},
    {CL_QUEUE_PRIORITY_KHR, PROPERTY_VALUE, "cl_khr_priority_hints", check_hint},
    {CL_QUEUE_THROTTLE_KHR, PROPERTY_VALUE, "cl_khr_throttle_hints", check_hint},
};
static const struct property_rules queue_rules = {queue_properties, sizeof queue_properties / sizeof *queue_properties,
                                                  CL_INVALID_VALUE, CL_INVALID_VALUE, false};

/* --- buffers, images, samplers --- */

static const struct property_rule memory_properties[] = {
    {CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT, PROPERTY_VALUE, "cl_ext_buffer_device_address", NULL},
};
static const struct property_rules memory_rules = {memory_properties,
                                                   sizeof memory_properties / sizeof *memory_properties,
                                                   CL_INVALID_PROPERTY, CL_INVALID_PROPERTY, false};

static cl_int check_normalized(const struct property *property, const void *about)
{
    (void)about;
    return check_boolean(property, FAULT_sampler_bad_value_gives, CL_INVALID_VALUE);
}

static cl_int check_addressing(const struct property *property, const void *about)
{
    uint64_t mode = property->values[0];
    (void)about;
    return mode >= CL_ADDRESS_NONE && mode <= CL_ADDRESS_MIRRORED_REPEAT
               ? CL_SUCCESS
               : (cl_int)fault_value(FAULT_sampler_bad_value_gives, ANY_PLATFORM, CL_INVALID_VALUE);
}

static cl_int check_filter(const struct property *property, const void *about)
{
    uint64_t mode = property->values[0];
    (void)about;
    return mode == CL_FILTER_NEAREST || mode == CL_FILTER_LINEAR
               ? CL_SUCCESS
               : (cl_int)fault_value(FAULT_sampler_bad_value_gives, ANY_PLATFORM, CL_INVALID_VALUE);
}

static const struct property_rule sampler_properties[] = {
    {CL_SAMPLER_NORMALIZED_COORDS, PROPERTY_VALUE, NULL, check_normalized},
    {CL_SAMPLER_ADDRESSING_MODE, PROPERTY_VALUE, NULL, check_addressing},
    {CL_SAMPLER_FILTER_MODE, PROPERTY_VALUE, NULL, check_filter},
    {CL_SAMPLER_MIP_FILTER_MODE_KHR, PROPERTY_VALUE, "cl_khr_mipmap_image", check_filter},
    {CL_SAMPLER_LOD_MIN_KHR, PROPERTY_VALUE, "cl_khr_mipmap_image", NULL}, /* the bits of a float */
    {CL_SAMPLER_LOD_MAX_KHR, PROPERTY_VALUE, "cl_khr_mipmap_image", NULL},
};
static const struct property_rules sampler_rules = {sampler_properties,
                                                    sizeof sampler_properties / sizeof *sampler_properties,
                                                    CL_INVALID_VALUE, CL_INVALID_VALUE, false};

/* --- sub-devices --- */

static const struct property_rule partition_properties[] = {
    {CL_DEVICE_PARTITION_EQUALLY, PROPERTY_VALUE, NULL, NULL},
    {CL_DEVICE_PARTITION_BY_COUNTS, PROPERTY_LIST, NULL, NULL},
    {CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN, PROPERTY_VALUE, NULL, NULL},
};
static const struct property_rules partition_rules = {partition_properties,
                                                      sizeof partition_properties / sizeof *partition_properties,
                                                      CL_INVALID_VALUE, CL_INVALID_VALUE, false};

static const struct property_rules no_rules;

const struct property_rules *property_rules_of(enum function function)
{
    switch (function) {
    case FUNCTION_clCreateContext:
    case FUNCTION_clCreateContextFromType:
        return &context_rules;
    case FUNCTION_clCreateCommandQueueWithProperties:
    case FUNCTION_clCreateCommandQueueWithPropertiesKHR:
        return &queue_rules;
    case FUNCTION_clCreateBufferWithProperties:
    case FUNCTION_clCreateImageWithProperties:
        return &memory_rules;
    case FUNCTION_clCreateSamplerWithProperties:
        return &sampler_rules;
    case FUNCTION_clCreateSubDevices:
        return &partition_rules;
    default:
        return &no_rules;
    }
}
