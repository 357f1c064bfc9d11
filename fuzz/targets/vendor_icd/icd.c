/* SPDX-License-Identifier: Apache-2.0 */
/* The vendor's platform: found as a loader finds it, called by the table of its objects, its codes checked. */
#define _GNU_SOURCE
#include "icd.h"

#include "internal.h"
#include "trap.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

uint64_t icd_platform;
size_t icd_too_large;
const char *volatile icd_calling;

static address entries[FUNCTION_COUNT]; /* what the platform has; NULL where there is nothing */

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
        text = keep_text("%s%s%s %s", text, i ? ", " : "", parameter_name(parameter),
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
    icd_calling = info->name;
    uint64_t result = invoke(function, entries[function], arguments);
    icd_calling = NULL;
    trap_check();
    return result;
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

void icd_find(void)
{
    find_platform();
    find_limit();
}
