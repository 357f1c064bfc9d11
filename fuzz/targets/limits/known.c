/* SPDX-License-Identifier: Apache-2.0 */
/* What must be in every machine, small ones among them. */
#define _GNU_SOURCE
#include "known.h"

#include "chain.h"
#include "crowd.h"
#include "internal.h"

#include <string.h>

/* --- the first call --- */

enum first {
    BY_COUNT,
    BY_NAME,
    BY_NAME_OF_NOBODY,
    BY_TYPE,
    BY_GL,
    BY_INFO,
    BY_DEVICES,
    BY_COMPILER,
    BY_EVENTS,
    BY_RELEASE
};

/* What came of the first call. */
static uint64_t first_answer;
static cl_int first_error;
static unsigned first_context; /* the vendor that made a context, plus 1 */

static uint64_t answer_to(const struct machine *machine, cl_int *error)
{
    char text[16];
    size_t size = 0;
    cl_uint count = 0;
    const char *name = "";
    *error = 0;
    switch ((enum first)machine->of[FIRST_CALL]) {
    case BY_NAME:
        name = crowd_platform_count ? keep_text(EXTENSION_NAME "%s", crowd_platforms[special_platform].suffix) : name;
        return CALL(clGetExtensionFunctionAddress, AT(name));
    case BY_NAME_OF_NOBODY:
        return CALL(clGetExtensionFunctionAddressForPlatform, 0, AT("clNobody"));
    case BY_TYPE:
        return CALL(clCreateContextFromType, 0, CL_DEVICE_TYPE_ALL, 0, 0, AT(error));
    case BY_GL:
        return CALL(clGetGLContextInfoKHR, 0, 0, 0, 0, AT(&size));
    case BY_INFO:
        return CALL(clGetPlatformInfo, 0, CL_PLATFORM_PROFILE, sizeof text, AT(text), 0);
    case BY_DEVICES:
        return CALL(clGetDeviceIDs, 0, CL_DEVICE_TYPE_ALL, 0, 0, AT(&count));
    case BY_COMPILER:
        return CALL(clUnloadCompiler, 0);
    case BY_EVENTS:
        return CALL(clWaitForEvents, 0, 0);
    case BY_RELEASE:
        return CALL(clReleaseContext, 0);
    default:
        return 0;
    }
}

/* Discovery calls vendors, too. */
static unsigned context_of(void)
{
    return arrived.count && arrived.function == FUNCTION_clCreateContextFromType ? arrived.member + 1 : 0;
}

void call_first(const struct machine *machine)
{
    arrived.count = 0;
    first_answer = answer_to(machine, &first_error);
    first_context = context_of();
}

/* Discovery is begun by each call that needs it (DISC-GEN-013, DISP-EXT-020): of those that must, the first one has the
 * same answer as a later one. */
void check_first_again(const struct machine *machine)
{
    static const char *const calls[] = {[BY_NAME] = "clGetExtensionFunctionAddress",
                                        [BY_NAME_OF_NOBODY] = "clGetExtensionFunctionAddressForPlatform",
                                        [BY_TYPE] = "clCreateContextFromType",
                                        [BY_GL] = "clGetGLContextInfoKHR"};
    enum first first = (enum first)machine->of[FIRST_CALL];
    if (first == BY_COUNT || first > BY_GL) {
        return;
    }
    cl_int error = 0;
    arrived.count = 0;
    uint64_t answer = answer_to(machine, &error);
    if (answer != first_answer || error != first_error || context_of() != first_context) {
        finding("wrong", keep_text("first-%s", calls[first]),
                "as the first call %s answers %#llx and the error %d, later %#llx and %d", calls[first],
                (unsigned long long)first_answer, first_error, (unsigned long long)answer, error);
    }
}

/* --- what the loader asks for --- */

static bool has_documented_variables(void)
{
    return world_variable_asked("OPENCL_VENDOR_PATH") && world_variable_asked("OCL_ICD_VENDORS");
}

enum duty { FREE, NONE, ALL, SPECIAL };

/* Which vendors must be offered. */
static enum duty duty_of_vendors(const struct machine *machine)
{
    bool privileged = machine->of[PRIVILEGED];
    bool vendors = world_variable_asked("OCL_ICD_VENDORS");
    bool path = world_variable_asked("OPENCL_VENDOR_PATH");
    bool list = world_variable_asked("OCL_ICD_FILENAMES");
    bool documented = has_documented_variables();
    switch ((enum way)machine->of[WAY]) {
    case WAY_FOLDER:
        return ALL;
    case WAY_VENDORS:
    case WAY_VENDORS_BESIDE:
        return privileged ? NONE : vendors ? ALL : FREE;
    case WAY_VENDOR_PATH:
        return privileged ? NONE : path ? ALL : FREE;
    case WAY_LIST:
    case WAY_LIST_BESIDE:
        return privileged ? NONE : list ? ALL : FREE;
    case WAY_FILE:
    case WAY_LIBRARY:
    case WAY_NAME:
    case WAY_NAME_IN_PATH:
    case WAY_NAME_HERE:
        return privileged ? FREE : documented ? SPECIAL : FREE;
    case WAY_VENDORS_NOWHERE:
        return !privileged && vendors ? NONE : FREE;
    case WAY_PATH_NOWHERE:
        return !privileged && path ? NONE : FREE;
    case WAY_EMPTY:
        return !privileged && documented ? ALL : FREE;
    default:
        return FREE;
    }
}

void check_way_is_honoured(const struct machine *machine, const struct outcome *small)
{
    enum duty duty = duty_of_vendors(machine);
    bool has_special = machine->of[VENDORS_COUNT] && machine->of[PLATFORMS_COUNT];
    bool has_others = machine->of[VENDORS_COUNT] > 1;
    bool reads_lines = !machine->of[TAIL]; /* what follows the first line is outside of the format */
    bool lost =
        reads_lines && ((has_special && !small->special_copies) || (duty == ALL && has_others && !small->other_copies));
    if (duty >= ALL && lost) {
        finding("wrong", "way-not-honoured",
                "vendors that are found in the way that this machine has are not offered in a small one, either; the "
                "loader asks for the variables, or needs none");
    }
    if (duty == NONE && small->count) {
        bool privileged = machine->of[PRIVILEGED];
        finding("wrong", privileged ? "variable-with-privileges" : "default-instead-of-nowhere",
                privileged ? "vendors are offered that a variable names, in a process with privileges of its own"
                           : "vendors of the default folder are offered, where a variable names one that is not there");
    }
}

static enum duty duty_of_layers(const struct machine *machine)
{
    bool privileged = machine->of[PRIVILEGED];
    bool list = world_variable_asked("OPENCL_LAYERS");
    bool path = world_variable_asked("OPENCL_LAYER_PATH");
    switch ((enum layer_way)machine->of[LAYER_WAY]) {
    case LAYER_WAY_LIST:
    case LAYER_WAY_LIST_BESIDE:
        return privileged ? NONE : list ? ALL : FREE;
    case LAYER_WAY_FILES:
        return !path ? FREE : privileged && machine->of[FOLDER] ? NONE : ALL;
    case LAYER_WAY_FILES_BESIDE:
        return privileged ? NONE : path ? ALL : FREE;
    case LAYER_WAY_NOWHERE:
        return !privileged && path ? NONE : FREE;
    case LAYER_WAY_EMPTY:
        return !privileged && path && has_documented_variables() ? ALL : FREE;
    default:
        return FREE;
    }
}

void check_layers_are_honoured(const struct machine *machine, const struct outcome *small)
{
    enum duty duty = duty_of_layers(machine);
    /* A loader may know one of the two functions alone, and have layers only where there are vendors. */
    if (duty == ALL && !small->layer_inits && small->count && machine->of[LAYER_SCHEME] == SCHEME_BOTH) {
        finding("wrong", "layers-not-honoured",
                "layers that are found in the way that this machine has are not initialised in a small one, either; "
                "the loader asks for the variables");
    }
    if (duty == NONE && small->layer_inits) {
        bool privileged = machine->of[PRIVILEGED];
        finding("wrong", privileged ? "layer-with-privileges" : "default-layers-instead-of-nowhere",
                privileged ? "layers are initialised that a variable names, in a process with privileges of its own"
                           : "layers of the default folder are initialised, where a variable names one that is not "
                             "there");
    }
}

/* --- layers --- */

void check_layers(const struct machine *machine, const struct offered_list *offered)
{
    bool knows_both = world_variable_asked("OCL_ICD_FORCE_LEGACY_TERMINATION");
    bool any = false;
    for (unsigned n = 0; n < chain_length; n++) {
        const struct chain_layer *layer = &chain[n];
        any |= layer->inits > 0;
        if (layer->inits > 1) {
            finding("wrong", "layer-twice", "layer %u of %u is initialised %u times", n, chain_length, layer->inits);
            return;
        }
        if (knows_both && layer->inits && (layer->older_inits > 0) != is_legacy(machine)) {
            finding("wrong", "other-init-of-layer",
                    "layer %u of %u is initialised by clInitLayer%s, and OCL_ICD_FORCE_LEGACY_TERMINATION is %s", n,
                    chain_length, layer->older_inits ? "" : "WithProperties", is_legacy(machine) ? "true" : "not true");
            return;
        }
    }
    if (chain_other_length) {
        finding("wrong", "lengths-of-targets",
                "the first layer is given a target of %u entries, another one a target of %u: all are the loader's own "
                "tables",
                chain_target_length, chain_other_length);
    }
    if (any && chain_platforms != offered->count) {
        finding("wrong", "platforms-for-a-layer",
                "while it is initialised the first layer finds %u platforms, the application finds %u", chain_platforms,
                offered->count);
    }
}

/* --- defaults and orders --- */

bool must_sort(const struct machine *machine)
{
    bool is_none = machine->of[SORT] == SORT_NONE;
    if (machine->of[VARIABLE] == VARIABLE_SORT && !machine->of[SORT]) {
        is_none = texts_equal(machine_value(machine), "none");
    }
    return world_variable_asked("OCL_ICD_PLATFORM_SORT") && !is_none;
}

/* A number without a platform is none of them, or the first or the last: also for a loader that fails on such a number
 * in a small machine, with which nothing can be compared. */
static void check_default_past_the_end(const struct offered_list *offered, const struct outcome *outcome, unsigned set)
{
    for (int i = 0; i < DEFAULTS && set >= offered->count; i++) {
        int reached = outcome->defaults[i];
        if (reached > 0 && reached + 1 < (int)offered->count) {
            finding("wrong", "default-past-the-end",
                    "a call without a platform reaches platform %d of %u, and OCL_ICD_DEFAULT_PLATFORM is %u", reached,
                    offered->count, set);
        }
    }
}

void check_default_is_known(const struct machine *machine, const struct offered_list *offered,
                            const struct outcome *outcome)
{
    bool by_variable = machine->of[DEFAULT] || machine->of[VARIABLE] == VARIABLE_DEFAULT;
    bool is_plain = machine->of[PLATFORMS_COUNT] == 1 && machine->of[EACH] <= 1 && !machine->of[DUPLICATE];
    unsigned set = machine->of[DEFAULT] - 1;
    for (int i = 0; i < DEFAULTS && !by_variable; i++) {
        if (outcome->defaults[i] > 0) {
            finding("wrong", "default-not-first",
                    "a call without a platform reaches platform %d of %u, and no variable names that (DISP-ORD-004)",
                    outcome->defaults[i], offered->count);
        }
    }
    if (!machine->of[DEFAULT] || machine->of[DEFAULT_FORM] >= FORM_LETTER || !is_plain ||
        machine->of[VARIABLE] == VARIABLE_DEFAULT || !world_variable_asked("OCL_ICD_DEFAULT_PLATFORM")) {
        return;
    }
    check_default_past_the_end(offered, outcome, set);
    for (int i = 0; i < DEFAULTS && set < offered->count; i++) {
        bool is_context = i + 1 == DEFAULTS;
        if (outcome->defaults[i] != (int)set && (is_context || outcome->defaults[i] >= 0)) {
            finding("wrong", "default-not-as-set",
                    "a call without a platform reaches platform %d of %u, and OCL_ICD_DEFAULT_PLATFORM, which the "
                    "loader asks for, is %u",
                    outcome->defaults[i], offered->count, set);
        }
    }
}

void check_without_platforms(const struct outcome *outcome)
{
    for (int i = 0; i < DEFAULTS; i++) {
        bool context = i >= 2; /* unknown names in a list may be seen first */
        bool right =
            outcome->answers[i] == CL_INVALID_PLATFORM || (context && outcome->answers[i] == CL_INVALID_PROPERTY);
        if (outcome->defaults[i] >= 0 || !right) {
            finding("wrong", "answer-without-platforms",
                    "without any platform call %d of those that name none answers %lld, not CL_INVALID_PLATFORM", i,
                    (long long)outcome->answers[i]);
        }
    }
    size_t size = 4711;
    address entry = loader_function(FUNCTION_clGetGLContextInfoKHR);
    if (!entry) {
        entry = (address)(uintptr_t)CALL(clGetExtensionFunctionAddress, AT("clGetGLContextInfoKHR"));
    }
    if (entry) {
        const uint64_t arguments[] = {0, 0, 0, 0, AT(&size)};
        cl_int result = (cl_int)invoke(FUNCTION_clGetGLContextInfoKHR, entry, arguments);
        if (result != CL_INVALID_PLATFORM || size != 4711) {
            finding("wrong", "gl-without-platforms", "without any platform clGetGLContextInfoKHR answers %d and %zu",
                    result, size);
        }
    }
    const uint64_t one = CALL(clGetExtensionFunctionAddress, AT("clNobody"));
    const uint64_t other = CALL(clGetExtensionFunctionAddressForPlatform, 0, AT("clNobody"));
    if (one || other) {
        finding("wrong", "address-without-platforms", "without any platform a name of nobody has an address");
    }
}

/* --- one discovery --- */

static unsigned opened;

static unsigned all_opened(void)
{
    unsigned sum = 0;
    for (size_t i = 0; i < world_library_count; i++) {
        sum += world_libraries[i].opened;
    }
    return sum;
}

void begin_use(void)
{
    opened = all_opened();
}

/* What a platform is given by the loader is its own for good (DISP-ICD2-016). */
static void check_dispatch_data(const struct machine *machine, const struct offered_list *offered)
{
    bool named_again = machine->of[DUPLICATE] || machine->of[BOTH];
    for (unsigned i = 0; i < offered->count && !named_again; i++) {
        const struct crowd_platform *platform = &crowd_platforms[offered->platform[i]];
        if (platform->handed > 1) {
            finding("wrong", "dispatch-data-again", "platform %u of %u is given dispatch data %u times",
                    offered->platform[i], offered->count, platform->handed);
            return;
        }
    }
}

static void check_list_again(const struct offered_list *offered)
{
    cl_uint count = 0;
    cl_platform_id *list = keep(offered->count * sizeof *list);
    CALL(clGetPlatformIDs, offered->count, AT(list), AT(&count));
    bool same = count == offered->count;
    cl_platform_id *alone = keep(offered->count * sizeof *list);
    CALL(clGetPlatformIDs, offered->count, AT(alone), 0);
    same = same && memcmp(list, alone, offered->count * sizeof *list) == 0;
    for (unsigned i = 0; same && i < count; i++) {
        same = crowd_platform_of(AT(list[i])) == &crowd_platforms[offered->platform[i]];
    }
    if (!same) {
        finding("wrong", "list-later", "the list of %u platforms is another one after some calls, of %u",
                offered->count, count);
    }
}

void check_use(const struct machine *machine, const struct offered_list *offered)
{
    if (all_opened() != opened) {
        finding("wrong", "opened-after-discovery", "the loader opens libraries %u times more after its first answer",
                all_opened() - opened);
    }
    for (unsigned m = 0; m < member_count && !machine->of[DUPLICATE] && !machine->of[BOTH]; m++) {
        if (members[m].counted > 1 || members[m].listed > 1) {
            finding("wrong", "asked-again",
                    "vendor %u of %u is asked %u times for the number of its platforms, %u times for the list", m,
                    member_count, members[m].counted, members[m].listed);
            return;
        }
    }
    check_dispatch_data(machine, offered);
    if (offered->count) {
        check_list_again(offered);
    }
}

/* --- the end --- */

static bool in_use[MEMBERS];    /* it has a platform that is offered */
static bool must_stay[MEMBERS]; /* and one of those cannot be unloaded */
static uint64_t queue_of_first; /* of the first platform, or 0 */

static bool is_open(const struct library *library)
{
    return library && library->opened > library->closed;
}

/* Layers end before vendors are closed, which they may call yet (DISP-DEI-001, LAY-DEI-002). */
static void at_end_of_layer(struct chain_layer *layer)
{
    unsigned number = (unsigned)layer->library->number;
    if (!is_open(layer->library)) {
        finding("wrong", "layer-closed-before-its-end", "layer %u is deinitialised after its library was closed",
                number);
    }
    for (unsigned m = 0; m < member_count; m++) {
        if (in_use[m] && !is_open(members[m].library)) {
            finding("wrong", "vendor-closed-before-layers",
                    "the library of vendor %u was closed before layer %u was deinitialised", m, number);
            return;
        }
    }
    if (queue_of_first) {
        cl_int (*CL_API_CALL target)(cl_command_queue);
        memcpy(&target, &layer->target[function_info[FUNCTION_clFlush].slot], sizeof target);
        arrived.count = 0;
        target((cl_command_queue)(uintptr_t)queue_of_first);
        if (arrived.count != 1 || arrived.function != FUNCTION_clFlush) {
            finding(
                "wrong", "way-at-the-end",
                "while layer %u is deinitialised its target leads clFlush to another function, or %u times to a vendor",
                number, arrived.count);
        }
    }
}

void begin_end(const struct offered_list *offered)
{
    memset(in_use, 0, sizeof in_use);
    memset(must_stay, 0, sizeof must_stay);
    for (unsigned i = 0; i < offered->count; i++) {
        const struct crowd_platform *platform = &crowd_platforms[offered->platform[i]];
        in_use[platform->member] = true;
        must_stay[platform->member] |= !platform->unloadable;
    }
    queue_of_first = offered->count ? AT(&crowd_platforms[offered->platform[0]].object[HANDLE_cl_command_queue]) : 0;
    chain_at_end = at_end_of_layer;
}

void check_end(const struct machine *machine)
{
    bool kept = is_kept_open(machine) && world_variable_asked("OCL_ICD_DISABLE_DYNAMIC_LIBRARY_UNLOADING");
    bool legacy = is_legacy(machine) && world_variable_asked("OCL_ICD_FORCE_LEGACY_TERMINATION");
    for (unsigned m = 0; m < member_count; m++) {
        bool stays = must_stay[m] || (in_use[m] && (kept || legacy));
        if (stays && !is_open(members[m].library)) {
            finding("wrong", "closed-although-it-stays", "the library of vendor %u is closed at the end, %s", m,
                    must_stay[m] ? "and has a platform that does not say that it can be unloaded (DISC-ACC-029)"
                    : kept       ? "where libraries are not to be unloaded"
                                 : "where the older scheme is asked for, which unloads nothing");
            return;
        }
    }
    for (unsigned n = 0; n < chain_length; n++) {
        const struct chain_layer *layer = &chain[n];
        if (layer->inits && (kept || legacy) && !is_open(layer->library)) {
            finding("wrong", "layer-closed-although-it-stays", "the library of layer %u is closed at the end, %s", n,
                    kept ? "where libraries are not to be unloaded"
                         : "where the older scheme is asked for, which unloads nothing");
            return;
        }
        if (layer->deinits > layer->inits || (legacy && layer->deinits)) {
            finding("wrong", "ended-once-too-often", "layer %u is initialised %u times and deinitialised %u times%s", n,
                    layer->inits, layer->deinits, legacy ? ", in the older scheme, which ends nothing" : "");
            return;
        }
    }
}
