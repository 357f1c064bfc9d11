/* SPDX-License-Identifier: Apache-2.0 */
/* Platforms of the mock ICD and their devices, as configured. */
#include "base/platforms.h"

#include "base/arena.h"
#include "base/config.h"
#include "clharness_cl.h"

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
