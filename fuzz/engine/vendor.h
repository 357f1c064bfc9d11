/* SPDX-License-Identifier: Apache-2.0 */
/* Vendors: ICDs whose every answer a target can choose. What is zero is the ordinary answer.
 *
 * Each has functions of its own, up to four platforms, and one object of each class for each platform. All calls that
 * reach a vendor are kept in order, with their arguments.
 */
#ifndef CLHARNESS_FUZZ_VENDOR_H
#define CLHARNESS_FUZZ_VENDOR_H

#include "engine.h"

enum { VENDORS = 4, PLATFORMS = 4, DEVICES = 2, CALLS_KEPT = 4096 };

/* What every handle begins with: cl_khr_icd 2.0 puts the loader's data after the table; ICD 1 has nothing there. */
struct object {
    void *const *dispatch;
    void *dispatch_data;
    int vendor;
    int platform;
    enum handle_kind kind;
};

/* How the answer to a query of a string differs from the ordinary one. */
struct answer {
    cl_int size_error; /* of the call that asks for the size */
    cl_int data_error;
    int longer; /* bytes by which the size that is said differs from the text's */
    bool unterminated;
    bool unset; /* CL_SUCCESS, and nothing is written */
};

struct platform {
    struct object object[HANDLE_COUNT]; /* by class; the platform itself is that of HANDLE_cl_platform_id */
    struct object device[DEVICES];
    void **table; /* ends at an unreadable page */
    const char *extensions;
    const char *suffix;
    const char *name;
    struct answer extensions_answer;
    struct answer suffix_answer;
    cl_int unloadable_error;
    bool unloadable;
    bool icd2;
    bool half_tagged; /* one of its two slots has the tag of ICD 2 */
    bool bare;        /* an ICD 2 platform's own table holds nothing but the tags and what finds out about platforms */
    cl_int set_data_error;
    unsigned table_length;                     /* 0: all */
    uint8_t missing[(FUNCTION_COUNT + 7) / 8]; /* functions that it does not have */
    unsigned device_count;
    bool null_in_list; /* NULL stands for it in the list of platforms */
    int same_as;       /* its handle is that of this other platform, plus 1 */
};

struct vendor {
    int number;
    unsigned platform_count;
    struct platform platform[PLATFORMS];
    /* The functions that loaders look for: whether dlsym, and the query of addresses, has them. */
    bool hides_query;
    bool hides_enumerate;
    bool hides_info;
    bool query_hides_enumerate;
    bool query_hides_info;
    bool query_hides_icd2;
    cl_int count_error;
    cl_int list_error;
    bool errs_late; /* what it answers with an error is written all the same */
    bool count_unset;
    unsigned count_more; /* platforms that it says in the count call beyond those that it has */
    unsigned list_fewer; /* handles that it does not write */
    const char *also;    /* a name of no function of the API that the query of addresses knows, or NULL */
};

/* One call that reached a vendor. */
struct received {
    enum function function;
    int vendor;
    uint64_t argument[MAX_PARAMETERS];
};

extern struct vendor vendors[VENDORS];
extern struct received received[CALLS_KEPT];
extern size_t received_count;

/* What a vendor answers to calls that nothing else is said of; `errcode` is written, too. NULL: the ordinary answers.
 */
extern uint64_t (*vendor_answers)(const struct vendor *vendor, enum function function, const uint64_t *arguments);
/* It answers all calls, also those that the vendors have answers to: nothing that an argument points to is read. */
extern bool vendor_answers_all;

/* Takes a function out of those that a platform misses. */
void vendor_has(struct platform *platform, enum function function);
/* Sets a vendor back to an ordinary one with one platform and two devices. */
struct vendor *vendor_plain(int number);
/* Makes its tables and objects, as the settings say. */
void vendor_make(struct vendor *vendor);
/* Adds its library to the world. */
struct library *vendor_library(struct vendor *vendor, const char *name);
void *vendor_symbol(const struct library *library, const char *name);
/* Its function, as it stands in its tables and is answered to queries. */
void *vendor_function(int vendor, enum function function);
/* The object of a handle, or NULL where it is nobody's. */
struct object *object_of(uint64_t handle);

/* --- vendor_words.c: every field above that a target sets is named there --- */

/* What is not ordinary about it, and the traits of each platform. */
const char *vendor_in_words(const struct vendor *vendor);
const char *platform_in_words(const struct platform *platform);
/* Describes both as parts of the input. */
void vendor_describe(const struct vendor *vendor);
/* Whether a loader gets as far as the list of its platforms; and whether it gets the list. */
bool vendor_is_reached(const struct vendor *vendor);
bool vendor_is_listed(const struct vendor *vendor);
/* Whether nothing is wrong with a platform: a loader that lists it must offer it. */
bool platform_is_faultless(const struct platform *platform);
/* Whether a text has the name of an extension among names with spaces between them. */
bool has_extension(const char *text, const char *name);

#endif
