/* SPDX-License-Identifier: Apache-2.0 */
/* What every mock reads in the file `<library>.conf` beside its copy: name, call log, faults, and settings of its
 * own.
 *
 * Lines read `key = value`; `#` starts a comment line. `fault = name[@N][=VALUE]` switches a fault on: for the N-th
 * platform only where @N is given. The file is found from the library's own path and not from the environment, so
 * that it works in set-uid processes and in several copies at once. No heap is used, so that a harness that counts
 * the heap sees the subject's blocks only.
 */
#ifndef CLHARNESS_SIDEFILE_H
#define CLHARNESS_SIDEFILE_H

#include "calllog.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ANY_PLATFORM = -1 };

extern const char *mock_name;   /* of the component in the call log; the library's file name by default */
extern const char *mock_loader; /* path of the loader under test, for faults that call back; or NULL */
extern struct calllog mock_log;

/* The types of settings, as the lists mock_icds/settings.h and mock_layers/settings.h name and explain them. */
typedef bool setting_flag;
typedef int setting_number;
typedef const char *setting_text;
typedef const char *setting_path;
typedef struct {
    bool all;      /* of every platform */
    uint64_t some; /* of these: a bit for each */
} setting_platforms;

enum setting_type { SETTING_flag, SETTING_number, SETTING_text, SETTING_path, SETTING_platforms };

/* A setting, and where its value lies in what holds the settings. */
struct setting {
    const char *name;
    enum setting_type type;
    size_t place;
};

/* Reads the side file of the library that this is linked into; without a file nothing but the name is set.
 * `fault_names` lists the mock's faults, one after the other, each ended by a NUL: without addresses, which would have
 * to be relocated. `own_key` takes the other keys, with values that stay until sidefile_unload and may be changed in
 * place, and answers whether it knows the key. */
void sidefile_load(const char *fault_names, int fault_count, bool (*own_key)(const char *key, char *value));
void sidefile_unload(void);

/* Sets what a key names in `*to`; false where no setting has this name. A value of the wrong type is refused. */
bool sidefile_set(const struct setting *settings, size_t count, void *to, const char *key, char *value);
/* The same of single functions: the value begins with the name of one, or with `all` for those that have a slot.
 * `functions` holds the settings of each, `size` bytes apart, in the order of `enum function`. */
bool sidefile_set_function(const struct setting *settings, size_t count, void *functions, size_t size, const char *key,
                           char *value);

/* A configuration that is wrong is the harness's fault, not the subject's: says so and ends the process with 99. */
void sidefile_refuse(const char *what, const char *value);

/* Whether a fault (by its place in `fault_names`) is on for a platform (ANY_PLATFORM: for the library). */
bool fault(int which, int platform);
/* VALUE of a fault that is on, or `otherwise`. */
long fault_value(int which, int platform, long otherwise);

/* Appends an event with one optional detail to the call log. */
void log_event(const char *event, const char *detail);

#endif
