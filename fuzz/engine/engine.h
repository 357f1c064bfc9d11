/* SPDX-License-Identifier: Apache-2.0 */
/* What a fuzz target is written with.
 *
 * A target reads its input piece by piece, builds the machine that the loader under test finds (files, folders,
 * variables, libraries: none of them real), makes calls, and says what it saw. Everything else is done here: the
 * loader is loaded once, put back into the state after loading before each input, and all that it asks of the system is
 * answered from memory; after an input it is ended, and what it did not give back is a finding.
 *
 * One input is one process of an application, as the loader sees it.
 */
#ifndef CLHARNESS_FUZZ_ENGINE_H
#define CLHARNESS_FUZZ_ENGINE_H

#include "clharness_cl.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* --- What a target defines --- */

/* Its name, and what it does with one input: called once for each loader under test, in a fresh world each time. */
extern const char *const target_name;
void target_run(void);
/* A target of ours that no loader takes part in defines it, with false. */
extern bool target_needs_loader;
/* The library that it takes: its file's name, and a function that it exports. OpenCL's, where a target defines none. */
struct target_library {
    const char *file;
    const char *function;
    const char *words;
};
extern struct target_library target_library; /* not const: it is weak */
/* A target may define it: what is to be checked after the loader has ended. */
void target_ended(void);
/* Where a target defines this it is done once, and each input begins with what it left: for targets that are about what
 * comes after discovery. The loader is not ended after an input then. One loader at a time. */
void target_prepare(void) __attribute__((weak));
/* A target may compare an input's machine with smaller ones. Where it defines these two, the first is asked before the
 * life of the loader that target_run is; while it gives true, target_control is run, in a life of its own. In both the
 * input stands at its beginning. */
bool target_next_control(void) __attribute__((weak));
void target_control(void) __attribute__((weak));

/* --- input.c: the input. Where it has ended every answer is 0, which always means the ordinary case. --- */

uint8_t take_byte(void);
uint32_t take_word(void);
uint64_t take_long(void);
/* A number from 0 to below - 1; 0 where `below` is 0. */
unsigned take_below(unsigned below);
/* One time in `of`, roughly, never at the end of the input. */
bool take_chance(unsigned of);
/* Up to `most` bytes of the input as they are; gives how many. They stay as long as the input. */
size_t take_bytes(const uint8_t **bytes, size_t most);
/* The same as a terminated text, in memory that lives as long as the input. */
const char *take_text(size_t most);
bool input_ended(void);
/* A record of the input begins here: one of several things of a kind, which mutations insert, repeat, move and splice
 * as a whole. */
void record_begins(void);
/* A length or a number up to `most`: small ones are likely, then those around powers of two, where limits are; 0 at the
 * end of the input. */
unsigned take_length(unsigned most);
/* The n-th length around a power of two: 3, 4, 5, 7, 8, 9, ... 4097, and again from the beginning. */
unsigned edge_length(unsigned n);
/* A text of such a length, from one more byte: inputs stay small. Letters and digits only. */
const char *take_long_text(unsigned most);

/* Whether vendors and layers may break the contract in ways that no loader can protect itself from. */
extern bool violations;

/* Memory that lives as long as the input; zero. Never NULL. */
void *keep(size_t size);
const char *keep_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Bytes as a text for `describe`, which shows a NUL as \0. */
const char *shown_bytes(const void *bytes, size_t size);

/* Whether two texts are the same; strcmp would show it to the fuzzer, as if the loader had compared them. */
static inline bool texts_equal(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

/* Whether a text is another one from some place on. */
static inline bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text);
    size_t tail = strlen(end);
    return length >= tail && texts_equal(text + length - tail, end);
}

/* The number of the function with this name, or -1: function_by_name, made for being called often. */
int function_named(const char *name);

/* --- world.c: the machine that the loader finds. The loader itself is its /lib/libOpenCL.so.1. --- */

enum file_kind {
    FILE_REGULAR,
    FILE_FOLDER,
    FILE_UNREADABLE,
    FILE_DANGLING_LINK,
    FILE_LOOP,
    FILE_FIFO,
    FILE_LINK,   /* to a file with that content */
    FILE_UNTYPED /* a file in a folder that does not say what kind its entries are of */
};
/* Such as "a dangling link". */
extern const char *const file_kind_words[];

/* Adds a file at an absolute path, in the order in which readdir gives them. Folders above it come by themselves. */
void world_file(const char *path, enum file_kind kind, const void *data, size_t size);
/* Sets a variable of the environment; NULL takes it away. */
void world_variable(const char *name, const char *value);
/* The application sets all variables anew, to the same: what a loader keeps a pointer to is overwritten. */
void world_variables_move(void);
/* Whether the loader has asked for the variable in this life: what it asks for it honours (DISC-GEN-024). */
bool world_variable_asked(const char *name);
/* The process has privileges that its caller lacks; false again at the end of the input. */
void world_privileged(bool is);

struct library;

/* What dlsym answers for a library: an address or NULL. */
typedef void *library_symbol(const struct library *library, const char *name);

struct library {
    const char *name; /* the path that opens it; without a slash a name that the dynamic linker finds */
    library_symbol *symbol;
    int number; /* for `symbol` */
    unsigned opened;
    unsigned closed;
    uintptr_t opener;      /* where the loader opened it last */
    unsigned close_number; /* its last closing among all, from 1; 0: it was never closed */
    uint32_t hash;         /* of its name */
};

/* Makes room for more than 64 libraries; to be called before the first of them. */
void world_room_for_libraries(unsigned count);
/* A library at a path. The answer lives as long as the input. */
struct library *world_library(const char *name, library_symbol *symbol, int number);

/* Whether the loader has a library with this number open. */
bool world_library_opened(int number);

/* --- heap.c: its memory --- */

/* The n-th allocation of the loader from now on fails, once; 0: none does. */
void memory_fails_at(unsigned number);

/* --- subject.c: the loader under test --- */

/* The address of a function of the loader under test, or NULL where it has none. */
typedef void (*address)(void);
address loader_function(enum function function);
/* The same by name, for functions that are not OpenCL's. */
address subject_symbol(const char *name);
/* Calls it. Arguments are widened to 64 bits. Where the loader has no such function: 0, and nothing is called. */
uint64_t call(enum function function, const uint64_t *arguments);
#define CALL(name, ...) call(FUNCTION_##name, (const uint64_t[]){__VA_ARGS__})
/* An argument that is an address. */
#define AT(pointer) ((uint64_t)(uintptr_t)(pointer))

/* --- findings.c: what is wrong --- */

/* Notes what the application sees: the same input must show the same to every loader, and always. */
void saw(const char *what, uint64_t value);
void saw_text(const char *what, const char *text);
/* Says that texts are silent on something in this input, so that loaders may show different things. */
void grey(const char *why);
/* What goes on where a crash is the same finding wherever it happens, as one word; else NULL. */
extern const char *doing;
/* Whether somebody reads descriptions: to make one costs time. */
bool describing_inputs(void);
/* Describes a part of the input in words; costs nothing unless somebody reads it. */
void describe(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* What is described from now on is another machine, named by this: that of a finding is the last of them. */
void describe_machine(const char *which);
/* Ends the program (the fuzzer keeps the input), unless the key is a known one: then it is passed over. `kind` is
 * crash, leak, environment, difference or wrong; `key` is one word, the same for the same defect; the sentence says
 * what, with values. */
void finding(const char *kind, const char *key, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* In this life of the loader nothing is a finding: for what is learned of it. */
void pass_over_findings(void);

/* Ends on an unreadable page: `size` bytes to be read or written, and no more. Lives as long as the input. */
void *guarded(size_t size);

#endif
