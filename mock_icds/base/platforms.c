/* SPDX-License-Identifier: Apache-2.0 */
/* Platforms of the mock ICD and their devices, as configured. */
#include "base/platforms.h"

#include "base/arena.h"
#include "base/config.h"
#include "clharness_cl.h"

#include <stdio.h>
#include <string.h>

static struct object *platforms[MAX_PLATFORMS];
static struct {
    struct object **of;
    int count;
} devices[MAX_PLATFORMS];

/* Whether a list of words, with one blank between two, has a word. */
static bool has_word(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)) != NULL; at += length) {
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0')) {
            return true;
        }
    }
    return false;
}

bool platform_has_extension(int platform, const char *name)
{
    return has_word(config.platform[platform].extensions, name);
}

bool platform_has_feature(int platform, const char *word)
{
    return has_word(config.platform[platform].features, word);
}

/* What every device has that is of OpenCL 1.1 or newer, and what of OpenCL 2 besides: OpenCL 3.0 made that optional. */
static const char *const required[] = {"cl_khr_byte_addressable_store",
                                       "cl_khr_global_int32_base_atomics",
                                       "cl_khr_global_int32_extended_atomics",
                                       "cl_khr_local_int32_base_atomics",
                                       "cl_khr_local_int32_extended_atomics",
                                       "cl_khr_3d_image_writes",
                                       "cl_khr_depth_images",
                                       "cl_khr_image2d_from_buffer"};
enum { REQUIRED = sizeof required / sizeof *required, REQUIRED_OF_1_1 = 5 };

/* Adds to a platform's extensions what its version demands of each of its devices. */
static void complete_extensions(struct platform_config *settings)
{
    const char *version = settings->version + strcspn(settings->version, " ");
    size_t count = strncmp(version, " 1.0", 4) == 0 ? 0 : strncmp(version, " 2.", 3) == 0 ? REQUIRED : REQUIRED_OF_1_1;
    size_t room = strlen(settings->extensions) + (size_t)REQUIRED * CL_NAME_VERSION_MAX_NAME_SIZE;
    char *list = arena_keep(room);
    size_t length = (size_t)snprintf(list, room, "%s", settings->extensions);
    for (size_t i = fault(FAULT_bytes_are_not_addressed, ANY_PLATFORM) ? 1 : 0; i < count; i++) {
        if (!has_word(list, required[i])) {
            length += (size_t)snprintf(list + length, room - length, "%s%s", length ? " " : "", required[i]);
        }
    }
    settings->extensions = list;
}

static void make_devices(int platform)
{
    const struct platform_config *settings = &config.platform[platform];
    const struct {
        int count;
        cl_device_type type;
    } kinds[] = {{settings->gpus, CL_DEVICE_TYPE_GPU},
                 {settings->cpus, CL_DEVICE_TYPE_CPU},
                 {settings->accelerators, CL_DEVICE_TYPE_ACCELERATOR}};
    size_t total = (size_t)settings->gpus + (size_t)settings->cpus + (size_t)settings->accelerators;
    devices[platform].of = arena_keep(total * sizeof *devices[platform].of);
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        for (int i = 0; i < kinds[kind].count; i++) {
            struct object *device = object_make(HANDLE_cl_device_id, platforms[platform]);
            device->device_type = kinds[kind].type;
            object_strip(device, devices[platform].count > 0 && fault(FAULT_later_objects_have_no_table, platform),
                         false);
            devices[platform].of[devices[platform].count++] = device;
        }
    }
}

void platform_open(void)
{
    for (int i = 0; i < config.platforms && i < MAX_PLATFORMS; i++) {
        if (config.refuses) {
            complete_extensions(&config.platform[i]);
        }
        platforms[i] = object_make_platform(i);
        make_devices(i);
        if (fault(FAULT_platform_without_dispatch, i)) {
            object_strip(platforms[i], true, false);
        }
    }
}

struct object *platform_object(int index)
{
    return platforms[index];
}

struct object *platform_device(int platform, int index)
{
    return index < devices[platform].count ? devices[platform].of[index] : NULL;
}

int platform_device_count(int platform)
{
    return devices[platform].count;
}

/* The device that the platform lists, of which a sub-device is a part. */
static const struct object *whole_device(const struct object *device)
{
    while (device->parent->kind == HANDLE_cl_device_id) {
        device = device->parent;
    }
    return device;
}

uint32_t platform_device_bit(const struct object *device)
{
    struct object *other;
    if (!device || device->kind != HANDLE_cl_device_id) {
        return 0;
    }
    device = whole_device(device);
    for (int i = 0; (other = platform_device(device->platform, i)) != NULL; i++) {
        if (other == device) {
            return UINT32_C(1) << i % 32;
        }
    }
    return 0;
}

bool platform_device_shares_gl(const struct object *device)
{
    return whole_device(device)->device_type == CL_DEVICE_TYPE_GPU;
}

bool platform_device_matches(const struct object *device, cl_device_type type, int index)
{
    return type == CL_DEVICE_TYPE_ALL || (type & device->device_type) != 0 ||
           ((type & CL_DEVICE_TYPE_DEFAULT) && index == 0);
}
