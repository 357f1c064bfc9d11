/* SPDX-License-Identifier: Apache-2.0 */
/* One input: a fresh world, the target, the end of the loader, and what it left. */
#define _GNU_SOURCE
#include "blocks.h"
#include "internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *count, char ***arguments);

bool violations;
static bool resets = true;
static char **own_environment;
static const char *hits; /* the file for the blocks that were hit, or NULL */

/* Constructors find no variable but these: which fault a seeded loader has, where a loader that was built to count what
 * is reached in its source writes its counts, and where AFL++ wants the counters of a library. */
static const char *const passed_on[] = {"CLHARNESS_FAULT=", "LLVM_PROFILE_FILE=", "AFL_", "__AFL_"};
enum { PASSED_ON = sizeof passed_on / sizeof *passed_on, MOST_PASSED_ON = 32 };

/* A loader that counts writes its counts as it goes (%c): at its end it finds no file system any more. Services for
 * fuzzing name the file without that. */
static char *counting_as_it_goes(char *variable)
{
    static char text[4096];
    if (strncmp(variable, "LLVM_PROFILE_FILE=", 18) != 0 || strstr(variable, "%c")) {
        return variable;
    }
    return snprintf(text, sizeof text, "%s%%c", variable) < (int)sizeof text ? text : variable;
}

static void load(const char *path)
{
    char *variables[MOST_PASSED_ON + 1] = {NULL};
    size_t count = 0;
    for (char **variable = own_environment; *variable && count < MOST_PASSED_ON; variable++) {
        for (size_t i = 0; i < PASSED_ON; i++) {
            if (strncmp(*variable, passed_on[i], strlen(passed_on[i])) == 0) {
                variables[count++] = counting_as_it_goes(*variable);
            }
        }
    }
    environ = variables;
    subject_load(path);
    environ = own_environment;
}

__attribute__((weak)) bool target_needs_loader = true; /* not const: compilers would not look for another */

/* Where services that run fuzz targets on other machines put libraries. NULL where there is none. */
static const char *beside_program(const char *name)
{
    static char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - strlen(name) - 2);
    char *slash = length > 0 ? memrchr(path, '/', (size_t)length) : NULL;
    if (!slash) {
        return NULL;
    }
    memcpy(slash + 1, name, strlen(name) + 1);
    return access(path, R_OK) == 0 ? path : NULL;
}

static void load_subjects(const char *path, const char *against)
{
    if (!target_needs_loader) {
        return;
    }
    path = path ? path : beside_program(keep_text("lib/%s", target_library.file));
    if (!path) {
        stop("CLHARNESS_FUZZ_LOADER is not set: give the path of the loader under test");
    }
    load(path);
    if (against) {
        load(against);
    }
    subject = subjects;
}

static void prepare_world(void)
{
    environ = world_variables();
    target_prepare();
}

static void prepare(void)
{
    if (subject_count > 1) {
        stop("%s takes one loader at a time: unset CLHARNESS_FUZZ_AGAINST", target_name);
    }
    input_begin(NULL, 0);
    world_clear();
    if (!run_or_leave(prepare_world)) {
        stop("%s: the loader fails in what comes before the inputs", target_name);
    }
    environ = own_environment;
    subject_checkpoint(subject);
    heap_checkpoint();
    input_checkpoint();
}

/* Whether a variable has its second value; the first is the default, and there are no others. */
static bool is_chosen(const char *name, const char *first, const char *second)
{
    const char *value = getenv(name);
    if (value && !texts_equal(value, first) && !texts_equal(value, second)) {
        stop("%s=%s: give %s or %s", name, value, first, second);
    }
    return value && texts_equal(value, second);
}

void engine_start(bool fuzzer)
{
    const char *loader = getenv("CLHARNESS_FUZZ_LOADER");
    const char *against = getenv("CLHARNESS_FUZZ_AGAINST");
    const char *known = getenv("CLHARNESS_FUZZ_KNOWN");
    const char *blocks = getenv("CLHARNESS_FUZZ_BLOCKS");
    resets = !is_chosen("CLHARNESS_FUZZ_RESET", "snapshot", "none");
    violations = is_chosen("CLHARNESS_FUZZ_MODE", "legal", "violations");
    if (is_chosen("CLHARNESS_FUZZ_FILES", "memory", "real")) {
        real_files_use();
    }
    describing = getenv("CLHARNESS_FUZZ_DESCRIBE") != NULL;
    if (is_chosen("CLHARNESS_FUZZ_MUTATOR", "records", "plain")) {
        records_leave_out();
    }
    const char *borders = getenv("CLHARNESS_FUZZ_BORDERS");
    if (borders && !records_share(borders)) {
        stop("%s: where records begin cannot be kept there", borders);
    }
    if (!kept_inputs_begin()) {
        stop("inputs cannot be kept where CLHARNESS_FUZZ_INPUTS says");
    }
    scope_keep_signals_in();
    own_environment = environ;
    if (known) {
        findings_load_known(known);
    }
    left_watch();
    kept_inputs_turn(true);
    load_subjects(loader, against);
    kept_inputs_turn(false);
    left_note();
    if (subject && blocks) {
        blocks_watch(blocks, subjects[0].path, subjects[0].base);
        hits = getenv("CLHARNESS_FUZZ_HITS");
    }
    signals_catch(fuzzer);
    if (target_prepare) {
        kept_inputs_turn(true);
        prepare();
        kept_inputs_turn(false);
    }
}

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    (void)count;
    (void)arguments;
    engine_start(true);
    return 0;
}

__attribute__((weak)) void target_ended(void)
{
}

static void (*life)(void); /* what the target does in this one */

static void one_loader(void)
{
    environ = world_variables();
    life();
    heap_report_leaks("while it runs", true);
    if (target_prepare) {
        return;
    }
    subject_run_destructors(subject);
    process_run_exits();
    target_ended();
    world_check_variables();
    real_files_are_used() ? real_files_report_leaks() : files_report_leaks();
    heap_report_leaks("after its end", false);
}

/* Everything that an input can leave is taken away here, however it ended. */
static void clear(void)
{
    environ = own_environment;
    if (resets) {
        subject_restore(subject);
    }
    heap_reset();
    files_reset();
    real_files_reset();
    libraries_reset();
    process_reset();
    variables_reset();
}

/* A target that needs no loader. */
static void run_alone(const uint8_t *data, size_t size)
{
    input_begin(data, size);
    world_clear();
    findings_begin();
    run_or_leave(target_run);
    guard_reset();
    input_end();
}

static bool has_control(const uint8_t *data, size_t size)
{
    if (!target_next_control) {
        return false;
    }
    input_begin(data, size);
    world_clear();
    return target_next_control();
}

/* False where it was left by a crash that is known. */
static bool one_life(const uint8_t *data, size_t size, void (*body)(void))
{
    input_begin(data, size);
    if (!target_prepare) {
        world_clear();
    }
    findings_begin();
    life = body;
    bool whole = run_or_leave(one_loader);
    clear();
    return whole;
}

static void run_subjects(const uint8_t *data, size_t size)
{
    bool whole = true;
    size_t before = blocks_hit();
    left_begin();
    blocks_new_input();
    for (size_t i = 0; i < subject_count && whole; i++) {
        subject = &subjects[i];
        while (has_control(data, size)) {
            one_life(data, size, target_control);
        }
        whole = one_life(data, size, target_run);
        if (i == 0) {
            findings_keep_for_comparison();
        } else if (whole) {
            run_or_leave(findings_compare);
        }
    }
    left_check();
    input_end();
    if (hits && blocks_hit() > before && blocks_dump(hits) != 0) {
        stop("%s cannot be written", hits);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input_number++;
    kept_inputs_note(data, size);
    (subject_count ? run_subjects : run_alone)(data, size);
    kept_inputs_turn(false);
    return 0;
}
