/* SPDX-License-Identifier: Apache-2.0 */
/* A vendor's ICD, without source and without a loader: a program of calls, drawn from the input.
 *
 * The subject (CLHARNESS_FUZZ_ICD, else CLHARNESS_FUZZ_LOADER) is the vendor's library. It is found as a loader finds
 * it, called through the dispatch tables of its objects, and watched by breakpoints (CLHARNESS_FUZZ_BLOCKS). What it is
 * asked is legal, or has an error code; see vendor_icd/icd.h. Wrong are a crash, a hang, a byte read or written beyond
 * what was given, a size that is not so, an object with an error or none with CL_SUCCESS, and a code that OpenCL does
 * not have.
 *
 * A vendor cannot be put back into an earlier state: it has threads. Each input gives back what it made instead, and a
 * crash that is known (CLHARNESS_FUZZ_KNOWN) ends the process with 0, for a new one to go on. Other findings that are
 * known are passed over.
 */
#define _GNU_SOURCE
#include "blocks.h"
#include "internal.h"
#include "trap.h"
#include "vendor_icd/icd.h"

#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_CALLS = 64 };

const char *const target_name = "vendor_icd";
uint64_t icd_platform;
size_t icd_too_large;

static address entries[FUNCTION_COUNT]; /* what the platform has; NULL where there is nothing */
static const char *hits;
static const char *volatile calling; /* the function that the vendor is in, or NULL */
static struct sigaction before_abort;
static bool with_fuzzer;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *count, char ***arguments);

/* Larger than a device allows must be refused; with a sanitizer's allocator that means NULL, not the end. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1:detect_leaks=0:max_free_fill_size=4096";
}

bool icd_has(enum function function)
{
    return entries[function] != NULL;
}

/* The entries of a list that was made here: it ends on an unreadable page, and a list of properties with 0. */
static const char *words_of(enum parameter_kind kind, const uint64_t *list, uint64_t count)
{
    const char *words = "";
    if (kind == PARAMETER_PROPERTIES) {
        count = 1;
        while (list[count - 1]) {
            count += 2;
        }
    }
    for (uint64_t i = 0; i < count && i < 8; i++) {
        words = keep_text("%s%s%#llx", words, i ? ", " : "", (unsigned long long)list[i]);
    }
    return keep_text("{%s}", words);
}

/* `before` is the argument before it: the count of a list. */
static const char *word_of(const struct parameter_info *parameter, uint64_t argument, uint64_t before)
{
    if (!argument && parameter->kind != PARAMETER_INTEGER) {
        return "NULL";
    }
    switch (parameter->kind) {
    case PARAMETER_STRING:
        return keep_text("\"%.60s\"", (const char *)(uintptr_t)argument);
    case PARAMETER_HANDLES:
    case PARAMETER_PROPERTIES:
        return words_of(parameter->kind, (const uint64_t *)(uintptr_t)argument, before);
    default:
        return keep_text("%#llx", (unsigned long long)argument);
    }
}

static void describe_call(const struct function_info *info, const uint64_t *arguments)
{
    const char *text = "";
    for (unsigned i = 0; i < info->parameter_count; i++) {
        const struct parameter_info *parameter = &info->parameters[i];
        text = keep_text("%s%s%s %s", text, i ? ", " : "", parameter->name,
                         word_of(parameter, arguments[i], i ? arguments[i - 1] : 0));
    }
    describe("%s(%s)", info->name, text);
}

/* As a loader does: by the table of the first object, which is the same for all of a platform's. */
uint64_t icd_call(enum function function, const uint64_t *arguments)
{
    if (!entries[function]) {
        return (uint64_t)(int64_t)CL_INVALID_OPERATION;
    }
    const struct function_info *info = &function_info[function];
    if (describing) {
        describe_call(info, arguments);
    }
    calling = info->name;
    uint64_t result = invoke(function, entries[function], arguments);
    calling = NULL;
    trap_check();
    return result;
}

/* Says that the vendor ended the process in the function that it was called for. */
static void report_end(const char *how)
{
    const char *in = calling;
    const char *key = keep_text("%s@%s", how, in);
    calling = NULL;
    if (is_known(key)) {
        _exit(0);
    }
    fprintf(stderr, "\nclharness-fuzz: finding: crash %s: the ICD ended the process with %s in %s\n", key, how, in);
}

static void on_exit_of_vendor(void)
{
    if (calling && !signals_reported) {
        report_end("exit");
        abort();
    }
}

/* An assertion of the vendor. Whoever kept the input for other signals keeps it for this one, too. */
static void on_abort(int number)
{
    if (calling && !signals_reported) {
        report_end("abort");
    }
    sigaction(number, with_fuzzer ? &before_abort : &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    raise(number);
}

/* After the fuzzer has done the same, so that ours come first. */
static void watch_ends(void)
{
    static bool watched;
    if (!watched) {
        struct sigaction action = {.sa_handler = on_abort, .sa_flags = SA_ONSTACK};
        sigaction(SIGABRT, &action, &before_abort);
        atexit(on_exit_of_vendor);
        watched = true;
    }
}

void wrong(enum function function, const char *key, const char *sentence)
{
    const char *whole = keep_text("%s-%s", key, function_info[function].name);
    if (!is_known(whole)) {
        finding("wrong", whole, "%s: %s", function_info[function].name, sentence);
    }
}

/* Codes of extensions lie below -1000; between them and those of OpenCL itself there are none. */
cl_int checked(enum function function, uint64_t code)
{
    cl_int is = (cl_int)code;
    if (is > 0) {
        wrong(function, keep_text("positive-code-%d", is),
              keep_text("it answered the code %d, which is not an error", is));
    } else if ((is < CL_KERNEL_ARG_INFO_NOT_AVAILABLE && is > CL_INVALID_VALUE) || (is < -73 && is > -1000)) {
        wrong(function, keep_text("no-code-%d", is), keep_text("it answered %d, which is not a code of OpenCL", is));
    }
    return is;
}

/* The position in the table after the last function of a version: older vendors may have no more. */
static int table_length(int version)
{
    static const struct {
        int version;
        enum function last;
    } tables[] = {
        {10, FUNCTION_clGetGLContextInfoKHR},        {11, FUNCTION_clEnqueueCopyBufferRect},
        {12, FUNCTION_clEnqueueBarrierWithWaitList}, {20, FUNCTION_clSetKernelExecInfo},
        {21, FUNCTION_clGetKernelSubGroupInfo},      {22, FUNCTION_clSetProgramSpecializationConstant},
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        if (version <= tables[i].version) {
            return function_info[tables[i].last].slot;
        }
    }
    return function_info[FUNCTION_clSetContextDestructorCallback].slot;
}

static int version_of(address get_info)
{
    char text[1024] = "";
    invoke(FUNCTION_clGetPlatformInfo, get_info,
           (const uint64_t[]){icd_platform, CL_PLATFORM_VERSION, sizeof text - 1, AT(text), 0});
    if (strncmp(text, "OpenCL ", 7) != 0) {
        stop("%s: its platform says it has version \"%s\"", subjects[0].path, text);
    }
    char *rest;
    int major = (int)strtol(text + 7, &rest, 10);
    return 10 * major + (*rest ? (int)strtol(rest + 1, NULL, 10) : 0);
}

static void read_table(void)
{
    const address *table = *(address **)(uintptr_t)icd_platform;
    bool tagged = (intptr_t)table[function_info[FUNCTION_clGetPlatformIDs].slot] == CL_ICD2_TAG_KHR;
    address more = NULL;
    if (tagged) {
        /* cl_khr_icd 2.0: the table is what a loader fills in, by asking for each function. */
        *(void **)&more = dlsym(subjects[0].handle, "clIcdGetFunctionAddressForPlatformKHR");
        if (!more) {
            stop("%s has the tag of cl_khr_icd 2.0 but no clIcdGetFunctionAddressForPlatformKHR", subjects[0].path);
        }
    }
    int length = tagged ? 0 : table_length(version_of(table[function_info[FUNCTION_clGetPlatformInfo].slot]));
    for (int f = 0; f < FUNCTION_COUNT; f++) {
        int slot = function_info[f].slot;
        if (slot >= 0 && slot <= length && !tagged) {
            entries[f] = table[slot];
        } else if (slot >= 0 && tagged) {
            uint64_t entry = invoke(FUNCTION_clIcdGetFunctionAddressForPlatformKHR, more,
                                    (const uint64_t[]){icd_platform, AT(function_info[f].name)});
            entries[f] = (address)(uintptr_t)entry;
        }
    }
}

static void find_platform(void)
{
    address ask;
    *(void **)&ask = dlsym(subjects[0].handle, "clGetExtensionFunctionAddress");
    if (!ask) {
        stop("%s has no clGetExtensionFunctionAddress: give the library of an OpenCL ICD", subjects[0].path);
    }
    uint64_t name = AT("clIcdGetPlatformIDsKHR");
    address list = (address)(uintptr_t)invoke(FUNCTION_clGetExtensionFunctionAddress, ask, &name);
    if (!list) {
        stop("%s does not know clIcdGetPlatformIDsKHR: it is not an OpenCL ICD", subjects[0].path);
    }
    invoke(FUNCTION_clIcdGetPlatformIDsKHR, list, (const uint64_t[]){1, AT(&icd_platform), 0});
    if (!icd_platform) {
        stop("%s has no platform on this machine", subjects[0].path);
    }
    read_table();
}

/* More than any device allocates at once; images are limited by it, too. */
static void find_limit(void)
{
    uint64_t devices[4];
    cl_uint count = 0;
    ICD_OF(clGetDeviceIDs, icd_platform, CL_DEVICE_TYPE_ALL, 4, AT(devices), AT(&count));
    if (count == 0) {
        stop("%s has no device on this machine", subjects[0].path);
    }
    for (cl_uint i = 0; i < count && i < 4; i++) {
        cl_ulong size = 0;
        ICD_OF(clGetDeviceInfo, devices[i], CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof size, AT(&size), 0);
        icd_too_large = size >= icd_too_large ? size + 1 : icd_too_large;
    }
}

static int find_image(struct dl_phdr_info *info, size_t size, void *data)
{
    struct subject *of = data;
    (void)size;
    for (int i = 0; info->dlpi_addr == of->base && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD) {
            uintptr_t begin = of->base + segment->p_vaddr;
            of->image.begin = of->image.begin && of->image.begin < begin ? of->image.begin : begin;
            of->image.end = begin + segment->p_memsz > of->image.end ? begin + segment->p_memsz : of->image.end;
        }
    }
    return info->dlpi_addr == of->base;
}

static void load(const char *path)
{
    struct link_map *map;
    subjects[0].path = path;
    subjects[0].handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!subjects[0].handle || dlinfo(subjects[0].handle, RTLD_DI_LINKMAP, &map) != 0) {
        stop("the ICD cannot be loaded: %s", dlerror());
    }
    subjects[0].path = map->l_name;
    subjects[0].base = map->l_addr;
    dl_iterate_phdr(find_image, &subjects[0]);
    subject = subjects;
}

void engine_start(bool fuzzer)
{
    const char *path = getenv("CLHARNESS_FUZZ_ICD");
    const char *blocks = getenv("CLHARNESS_FUZZ_BLOCKS");
    const char *list = getenv("CLHARNESS_FUZZ_KNOWN");
    path = path ? path : getenv("CLHARNESS_FUZZ_LOADER");
    if (!path) {
        stop("CLHARNESS_FUZZ_ICD is not set: give the library of an OpenCL ICD");
    }
    describing = getenv("CLHARNESS_FUZZ_DESCRIBE") != NULL;
    if (list) {
        findings_load_known(list);
    }
    load(path);
    if (blocks) {
        blocks_watch(blocks, subjects[0].path, subjects[0].base);
        hits = getenv("CLHARNESS_FUZZ_HITS");
    }
    find_platform();
    find_limit();
    with_fuzzer = fuzzer;
    signals_end_with_known = true;
    signals_catch(fuzzer);
}

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    (void)count;
    (void)arguments;
    engine_start(true);
    return 0;
}

/* What stands here more than once is chosen more often. */
static const struct {
    enum function needs;
    void (*run)(void);
} operations[] = {
    {FUNCTION_clCreateContext, create_context},
    {FUNCTION_clCreateContext, create_context},
    {FUNCTION_clCreateCommandQueue, create_queue},
    {FUNCTION_clCreateBuffer, create_buffer},
    {FUNCTION_clCreateBuffer, create_buffer},
    {FUNCTION_clGetPlatformInfo, query_something},
    {FUNCTION_clGetPlatformInfo, query_something},
    {FUNCTION_clGetPlatformInfo, query_something},
    {FUNCTION_clReleaseMemObject, retain_or_release},
    {FUNCTION_clReleaseMemObject, retain_or_release},
    {FUNCTION_clCreateSubBuffer, create_sub_buffer},
    {FUNCTION_clCreateImage, create_image},
    {FUNCTION_clCreateImage, create_image},
    {FUNCTION_clCreateSampler, create_sampler},
    {FUNCTION_clCreateSubDevices, create_sub_devices},
    {FUNCTION_clCreateUserEvent, create_user_event},
    {FUNCTION_clSetUserEventStatus, set_user_event},
    {FUNCTION_clCreatePipe, create_pipe},
    {FUNCTION_clSVMAlloc, allocate_svm},
    {FUNCTION_clSetEventCallback, set_callback},
    {FUNCTION_clCreateProgramWithSource, create_program},
    {FUNCTION_clCreateProgramWithSource, create_program},
    {FUNCTION_clBuildProgram, build_program},
    {FUNCTION_clCreateKernel, create_kernel},
    {FUNCTION_clCreateKernelsInProgram, create_kernels},
    {FUNCTION_clSetKernelArg, set_kernel_argument},
    {FUNCTION_clSetKernelArg, set_kernel_argument},
    {FUNCTION_clCloneKernel, clone_kernel},
    {FUNCTION_clEnqueueNDRangeKernel, enqueue_kernel},
    {FUNCTION_clEnqueueReadBuffer, enqueue_buffer},
    {FUNCTION_clEnqueueCopyBuffer, enqueue_copy},
    {FUNCTION_clEnqueueCopyBufferRect, enqueue_rectangle},
    {FUNCTION_clEnqueueFillBuffer, enqueue_fill},
    {FUNCTION_clEnqueueReadImage, enqueue_image},
    {FUNCTION_clEnqueueCopyImage, enqueue_image_copy},
    {FUNCTION_clEnqueueMapBuffer, enqueue_map},
    {FUNCTION_clEnqueueMarkerWithWaitList, enqueue_synchronization},
    {FUNCTION_clEnqueueSVMMemcpy, enqueue_svm},
    {FUNCTION_clWaitForEvents, wait_for_commands},
    {FUNCTION_clGetKernelSubGroupInfo, query_subgroups},
    {FUNCTION_clGetDeviceIDs, list_devices},
    {FUNCTION_clGetSupportedImageFormats, list_image_formats},
    {FUNCTION_clGetExtensionFunctionAddressForPlatform, look_up_extension},
};

void target_run(void)
{
    begin_objects();
    begin_programs();
    create_context();
    for (int i = 0; i < MOST_CALLS && !input_ended(); i++) {
        unsigned which = take_below(sizeof operations / sizeof *operations);
        if (icd_has(operations[which].needs)) {
            operations[which].run();
        }
    }
    end_objects();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t before = blocks_hit();
    watch_ends();
    blocks_new_input();
    input_begin(data, size);
    findings_begin();
    run_or_leave(target_run);
    guard_reset();
    input_end();
    if (hits && blocks_hit() > before && blocks_dump(hits) != 0) {
        stop("%s cannot be written", hits);
    }
    return 0;
}
