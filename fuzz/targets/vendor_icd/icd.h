/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The target vendor_icd in parts: an application that uses a vendor's ICD as a loader would, and keeps within the law.
 *
 * Handles are live ones or, where OpenCL has an error code for it, NULL; what OpenCL calls undefined is never done.
 * Numbers, names, sizes, flags and lists are free: for each of them there is an error code.
 */
#ifndef CLHARNESS_FUZZ_ICD_H
#define CLHARNESS_FUZZ_ICD_H

#include "engine.h"

/* --- icd.c --- */

/* Finds the platform of the vendor that is loaded, its functions and its limits. */
void icd_find(void);
/* Calls the function that the vendor has in its dispatch table, or gives by its name. Every code is checked. */
uint64_t icd_call(enum function function, const uint64_t *arguments);
#define ICD(function, ...) icd_call(function, (const uint64_t[]){__VA_ARGS__})
#define ICD_OF(name, ...) ICD(FUNCTION_##name, __VA_ARGS__)
bool icd_has(enum function function);
/* Says what the vendor does wrong, unless that is known already. */
void wrong(enum function function, const char *key, const char *sentence);
/* Checks a code that a function answered, and gives it. */
cl_int checked(enum function function, uint64_t code);

extern uint64_t icd_platform;
/* The function that the vendor is in, or NULL. */
extern const char *volatile icd_calling;
/* What no device of the platform allocates at once, and what no image has in one dimension. */
extern size_t icd_too_large;

/* --- ends.c --- */

/* From now on it is a finding when the vendor ends the process. A fuzzer has taken its own signals before, so that
 * ours come first. */
void watch_ends(bool fuzzer);

/* --- objects.c --- */

enum kind {
    KIND_DEVICE,
    KIND_CONTEXT,
    KIND_QUEUE,
    KIND_MEM,
    KIND_SAMPLER,
    KIND_PROGRAM,
    KIND_KERNEL,
    KIND_EVENT,
    KINDS
};

struct object {
    enum kind kind;
    uint64_t handle;
    unsigned references; /* ours */
    bool root;           /* a device that is not counted */
    size_t size;         /* of a buffer; 0 for an image */
    size_t element;      /* bytes of an element of an image */
    bool in_kernel;      /* an argument of a kernel, which does not count it */
    bool user_event;
    bool settled; /* the user event has its status */
};

/* One of the live objects, or NULL where there is none. */
struct object *one_of(enum kind kind);
/* The same as an argument; NULL at times, where `kind` is not what the call goes by. */
uint64_t some(enum kind kind);
/* A list of up to `most` objects that ends on an unreadable page; at times NULL, against its count. */
uint64_t list_of(enum kind kind, unsigned most, uint64_t *count);
/* Where the vendor writes a code; at times nowhere. */
cl_int *place_for_code(void);
/* Checks what a creating function answered, and keeps the object, or gives NULL. */
struct object *add_object(enum function function, enum kind kind, uint64_t handle, const cl_int *code);
/* The same for objects that a function writes beside its code: NULL where the code is an error. */
struct object *written(enum function function, enum kind kind, uint64_t handle, cl_int code);

/* So that a wait can end: all user events get a status, all queues are flushed. */
void settle(void);
void note_mapping(struct object *mem, uint64_t queue, uint64_t address);
void note_svm(uint64_t context, uint64_t address, size_t size);
/* An SVM allocation, or false. */
bool one_svm(uint64_t *address, size_t *size);
void begin_objects(void);
void end_objects(void);
void retain_or_release(void);
void set_user_event(void);

/* A number up to `usual`, mostly; else one of those at which sums and products overflow. */
uint64_t number(unsigned usual);

/* --- the operations, one function each --- */

void query_something(void);         /* queries.c */
void query_subgroups(void);         /* queries.c */
void list_devices(void);            /* queries.c */
void list_image_formats(void);      /* queries.c */
void look_up_extension(void);       /* queries.c */
void create_context(void);          /* create.c */
void create_queue(void);            /* create.c */
void create_buffer(void);           /* create.c */
void create_sub_buffer(void);       /* create.c */
void create_image(void);            /* create.c */
void create_sampler(void);          /* create.c */
void create_sub_devices(void);      /* create.c */
void create_user_event(void);       /* create.c */
void create_pipe(void);             /* create.c */
void allocate_svm(void);            /* create.c */
void set_callback(void);            /* create.c */
void begin_programs(void);          /* programs.c */
void create_program(void);          /* programs.c */
void build_program(void);           /* programs.c */
void create_kernel(void);           /* programs.c */
void create_kernels(void);          /* programs.c */
void set_kernel_argument(void);     /* programs.c */
void clone_kernel(void);            /* programs.c */
void enqueue_kernel(void);          /* programs.c */
void enqueue_buffer(void);          /* commands.c */
void enqueue_copy(void);            /* commands.c */
void enqueue_rectangle(void);       /* commands.c */
void enqueue_fill(void);            /* commands.c */
void enqueue_image(void);           /* commands.c */
void enqueue_image_copy(void);      /* commands.c */
void enqueue_map(void);             /* commands.c */
void enqueue_synchronization(void); /* commands.c */
void enqueue_svm(void);             /* commands.c */
void wait_for_commands(void);       /* commands.c */

#endif
