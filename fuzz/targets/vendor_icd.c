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
#include "vendor_icd/icd.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>

enum { MOST_CALLS = 64 };

const char *const target_name = "vendor_icd";

static const char *hits;
static bool with_fuzzer;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *count, char ***arguments);

/* Larger than a device allows must be refused; with a sanitizer's allocator that means NULL, not the end. Drivers of
 * GPUs have memory at addresses that it closes to all. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1:detect_leaks=0:max_free_fill_size=4096:protect_shadow_gap=0";
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
    if (!kept_inputs_begin()) {
        stop("inputs cannot be kept where CLHARNESS_FUZZ_INPUTS says");
    }
    scope_keep_signals_in();
    kept_inputs_turn(true);
    load(path);
    kept_inputs_turn(false);
    if (blocks) {
        blocks_watch(blocks, subjects[0].path, subjects[0].base);
        hits = getenv("CLHARNESS_FUZZ_HITS");
    }
    kept_inputs_turn(true);
    icd_find();
    kept_inputs_turn(false);
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
    kept_inputs_note(data, size);
    watch_ends(with_fuzzer);
    blocks_new_input();
    input_begin(data, size);
    findings_begin();
    run_or_leave(target_run);
    guard_reset();
    input_end();
    if (hits && blocks_hit() > before && blocks_dump(hits) != 0) {
        stop("%s cannot be written", hits);
    }
    kept_inputs_turn(false);
    return 0;
}
