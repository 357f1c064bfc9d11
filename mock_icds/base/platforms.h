/* SPDX-License-Identifier: Apache-2.0 */
/* The mock ICD's platforms: their devices, extensions and features. */
#ifndef CLHARNESS_MOCK_PLATFORMS_H
#define CLHARNESS_MOCK_PLATFORMS_H

#include "base/objects.h"
#include "clharness_cl.h"

/* Makes the platforms and devices as configured. */
void platform_open(void);

struct object *platform_object(int index);
/* The n-th device of a platform, counted over all types, or NULL. */
struct object *platform_device(int platform, int index);
int platform_device_count(int platform);

/* Whether a platform has an extension: a whole word of its setting `extensions`. */
bool platform_has_extension(int platform, const char *name);
/* Whether its devices can do something: a whole word of its setting `features`. */
bool platform_has_feature(int platform, const char *word);

/* A bit that distinguishes a device from the others of 32, or 0 for anything else; a sub-device has that of the
 * device it is a part of. */
uint32_t platform_device_bit(const struct object *device);
/* Whether a device shares with OpenGL, where its platform does: GPUs do. */
bool platform_device_shares_gl(const struct object *device);
/* Whether a device, the n-th of its platform, is of a type. */
bool platform_device_matches(const struct object *device, cl_device_type type, int index);

#endif
