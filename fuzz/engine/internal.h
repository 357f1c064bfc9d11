/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the engine share. */
#ifndef CLHARNESS_FUZZ_INTERNAL_H
#define CLHARNESS_FUZZ_INTERNAL_H

#include "engine.h"

#include <stdio.h>

/* --- stop.c --- */

/* Ends the program with a sentence: the harness was used wrongly, or failed. */
void stop(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* --- input.c --- */

/* How many inputs have begun. */
extern volatile unsigned long input_number;
void input_begin(const uint8_t *data, size_t size);
void input_end(void);
/* What was kept until now stays. */
void input_checkpoint(void);

/* --- records.c --- */

void records_begin(const uint8_t *data, size_t size);
/* A record begins so many bytes into the input. */
void records_note(size_t at);
/* Only the fuzzer's own mutations are made from now on. */
void records_leave_out(void);
/* Keeps where records begin in a file, for a fuzzer that mutates in another process. False where that cannot be had. */
bool records_share(const char *path);

/* --- shared_file.c --- */

/* The memory of a file, which is made so large; NULL where that cannot be had. */
void *shared_file(const char *path, size_t size);

/* --- kept_inputs.c --- */

/* Keeps what is noted from now on in the file that CLHARNESS_FUZZ_INPUTS names, if it does. False where it cannot. */
bool kept_inputs_begin(void);
/* Notes whether what runs from now on is the subject, whose doing an end of the process is. */
void kept_inputs_turn(bool subjects);
/* An input, with which the subject's turn begins. */
void kept_inputs_note(const uint8_t *data, size_t size);
/* To be called before the process ends by itself, or by a handler of a signal. Gives whether anything is kept. */
bool kept_inputs_at_end(void (*function)(bool in_handler));
/* A line: why the process is about to end, or what is not as it was. The first counts. */
void kept_inputs_words(const char *words);
/* Ends the process, with 0: in a finding that is known. */
_Noreturn void end_as_known(void);

/* --- scope.c --- */

/* From now on this process and its children send signals to nobody else, where that can be had. */
void scope_keep_signals_in(void);

/* --- subject.c --- */

struct span {
    uintptr_t begin;
    uintptr_t end;
};

struct symbol {
    struct span code;
    const char *name;
};

enum { SPANS_MAX = 64 };

struct subject {
    const char *path;
    void *handle;
    uintptr_t base;
    struct span image;               /* all of it, as mapped */
    struct span writable[SPANS_MAX]; /* what it may write, without what instrumentation counts in */
    char *saved[SPANS_MAX];
    size_t writable_count;
    void *thread_data;
    size_t thread_data_size;
    char *thread_data_saved;
    void (*at_end[16])(void); /* its destructors */
    size_t at_end_count;
    address function[FUNCTION_COUNT];
    struct symbol *symbols; /* where the file has not been stripped */
    size_t symbol_count;
    bool instrumented; /* by a sanitizer */
};

extern struct subject subjects[2];
extern size_t subject_count;
extern struct subject *subject; /* the one in use, or NULL */

void subject_load(const char *path);
/* Makes the present state of its memory that to which it is put back. */
void subject_checkpoint(struct subject *subject);
void subject_restore(struct subject *subject);
void subject_run_destructors(struct subject *subject);

/* --- spans.c --- */

/* Takes a span out of those that are saved and restored. */
void subject_leave_out(struct subject *subject, struct span span);

/* --- elf.c: what stands in the file of the loader --- */

/* Finds spans to leave out (counters), and the destructors that are the loader's own. */
void elf_read(struct subject *subject);

/* --- imports.c: what the loader asks of the system --- */

struct import {
    const char *name;
    address function; /* or NULL */
    void *variable;
};

#define FUNCTION(name, replacement)        \
    {                                      \
        name, (address)(replacement), NULL \
    }

void imports_replace(struct subject *subject, uintptr_t dynamic);

/* --- heap.c, files.c, folders.c, libraries.c: replacements, and what is left at the end of an input --- */

extern const struct import heap_imports[], file_imports[], folder_imports[], library_imports[], process_imports[],
    variable_imports[], sanitizer_imports[];

void heap_reset(void);
/* What is allocated now stays, and is put back into its present state by each reset. */
void heap_checkpoint(void);
/* Blocks, and handles of libraries, that the loader did not give back and keeps no pointer to. At its end it may keep
 * libraries open: others may still run their code. */
void heap_report_leaks(const char *when, bool libraries);
/* Memory outside the loader that may point to what it allocated; the size may be another one each time. */
void heap_root(const void *begin, size_t size);
/* Something that the engine allocated for the loader with malloc, which the loader frees. NULL stays NULL. */
void *heap_adopt(void *memory);
void files_reset(void);
void files_report_leaks(void);
void libraries_reset(void);
void process_reset(void);
void process_run_exits(void);
void variables_reset(void);

/* --- left.c --- */

/* Before the subject is loaded, and after that: what is not as it was then is told with the rest. */
void left_watch(void);
void left_note(void);
/* Before the first input; what it finds is what the process is to be left with: what is not so at its end becomes its
 * last words. */
void left_begin(void);
/* After an input: it must not have taken the output away. */
void left_check(void);

/* --- guard.c: memory between unreadable pages --- */

/* Memory of which nothing past its end can be read (but for what alignment leaves), or NULL where the room is used
 * up. Released memory is unreadable until the next reset. */
void *guard_allocate(size_t size, size_t alignment);
bool guard_owns(const void *memory);
/* Whether an address lies in memory that was released in this input. */
bool guard_was_released(const void *memory);
/* Whether an address is in the unreadable page after such a block. */
bool guard_is_past_end(const void *memory);
/* False where it was changed past its end. */
bool guard_release(void *memory);
void guard_reset(void);
void guard_checkpoint(void);

/* --- real_files.c --- */

/* From now on files are really there; to be called before the loader is loaded. */
void real_files_use(void);
bool real_files_are_used(void);
void real_files_report_leaks(void);
void real_files_reset(void);
extern const struct import real_file_imports[];

/* --- world.c --- */

struct file {
    char *path;
    enum file_kind kind;
    const uint8_t *data;
    size_t size;
    uint32_t hash; /* of its path */
    struct file *next;
    struct file *next_of_hash;
};

extern struct file *world_files; /* in order */
extern struct library *world_libraries;
extern size_t world_library_count;

void world_clear(void);
/* Of a name or a path: worlds may have thousands of them. */
uint32_t world_hash(const char *text);
/* The file at a path as the loader says it (relative to "/"), or NULL. */
struct file *world_find(const char *path);
/* The environment of the loader. A loader that changes it is a finding. */
char **world_variables(void);
void world_check_variables(void);

/* --- findings.c --- */

/* A place in the loader, as a word: its function and how far in, or how far into the file. */
const char *where(uintptr_t address);
/* The same without how far in. */
const char *function_at(uintptr_t address);
/* Where there are two loaders, which one it is, as the end of a sentence; else "". */
const char *of_loader(void);
void findings_begin(void);
/* Says a finding, with which the process is about to end. */
void say_finding(const char *kind, const char *key, const char *format, ...) __attribute__((format(printf, 3, 4)));
void findings_load_known(const char *path);
/* What was seen since the beginning: a hash, for replays; compared between loaders. */
uint64_t findings_digest(void);
void findings_keep_for_comparison(void);
void findings_compare(void);
/* Prints what the target says of the input while it runs. */
extern bool describing;
bool is_known(const char *key);

/* --- signals.c --- */

void signals_catch(bool fuzzer);
/* A crash that is known ends the process, with 0: its subject has threads and locks, and cannot be left. */
extern bool signals_end_with_known;
extern bool signals_reported; /* a crash has been said: what comes after it is its end */
/* Runs a function; false where it was left by a crash that is known. */
bool run_or_leave(void (*function)(void));
_Noreturn void leave_run(void);
/* Whether an address lies in the loader that runs now. */
bool in_loader(uintptr_t address);

/* --- run.c --- */

/* Loads the loader that CLHARNESS_FUZZ_LOADER names, and whatever else the environment asks for. */
void engine_start(bool fuzzer);

#endif
