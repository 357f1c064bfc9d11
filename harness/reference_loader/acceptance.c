/* SPDX-License-Identifier: Apache-2.0 */
/* Which platforms are offered: the steps of ICD "Adding a Vendor Library", one function each.
 *
 * Whatever fails a step is ignored and costs only itself: a platform its place in the list, a library without any
 * platform left its place in memory. (Grey area 4: the text ignores "the Vendor ICD", which may mean the platform or
 * the library; we take the one that leaves the user more.)
 */
#include "dispatch.h"

#include <stdlib.h>
#include <string.h>

struct platform *first_platform;
static struct platform **last_platform = &first_platform;

typedef void *CL_API_CALL extension_address_function(const char *name);
typedef cl_int CL_API_CALL platform_ids_function(cl_uint, cl_platform_id *, cl_uint *);
typedef cl_int CL_API_CALL platform_info_function(cl_platform_id, cl_platform_info, size_t, void *, size_t *);
typedef void *CL_API_CALL function_address_function(cl_platform_id, const char *);
typedef cl_int CL_API_CALL set_dispatch_data_function(cl_platform_id, void *);

/* What a vendor library must have. */
struct vendor {
    void *library;
    extension_address_function *extension_address;
    platform_ids_function *platform_ids;
    platform_info_function *platform_info;
    function_address_function *function_address;   /* ICD 2 */
    set_dispatch_data_function *set_dispatch_data; /* ICD 2 */
};

/* Functions are exported, or come from clGetExtensionFunctionAddress. Grey areas 1 and 2: the text has them "queried
 * from the library" and leaves the way open; vendors use both. */
static entry vendor_function(const struct vendor *vendor, const char *name)
{
    entry address = (entry)(uintptr_t)vendor->extension_address(name);
    return address ? address : library_symbol(vendor->library, name);
}

static bool find_functions(struct vendor *vendor)
{
    vendor->extension_address =
        (extension_address_function *)library_symbol(vendor->library, "clGetExtensionFunctionAddress");
    if (!vendor->extension_address) {
        return false;
    }
    vendor->platform_ids = (platform_ids_function *)vendor_function(vendor, "clIcdGetPlatformIDsKHR");
    vendor->platform_info = (platform_info_function *)library_symbol(vendor->library, "clGetPlatformInfo");
    if (!vendor->platform_info) {
        vendor->platform_info = (platform_info_function *)vendor_function(vendor, "clGetPlatformInfo");
    }
    vendor->function_address =
        (function_address_function *)vendor_function(vendor, "clIcdGetFunctionAddressForPlatformKHR");
    vendor->set_dispatch_data =
        (set_dispatch_data_function *)vendor_function(vendor, "clIcdSetPlatformDispatchDataKHR");
    return vendor->platform_ids && vendor->platform_info;
}

/* The platforms of a library, to be given to free(); NULL where it fails or has none. */
static cl_platform_id *list_platforms(const struct vendor *vendor, cl_uint *count)
{
    enum { MOST = 1 << 16 }; /* more is an uninitialised count */
    *count = 0;
    if (vendor->platform_ids(0, NULL, count) != CL_SUCCESS || *count == 0 || *count > MOST) {
        return NULL;
    }
    cl_platform_id *ids = calloc(*count, sizeof *ids); /* zeroed: a shorter list leaves NULL, which is skipped */
    if (ids && vendor->platform_ids(*count, ids, NULL) != CL_SUCCESS) {
        free(ids);
        return NULL;
    }
    return ids;
}

/* A string of a platform, to be given to free(); NULL where it cannot be read. A terminator of our own is added. */
static char *platform_string(platform_info_function *info, cl_platform_id id, cl_platform_info query)
{
    enum { MOST = 1 << 20 };
    size_t size = 0;
    if (info(id, query, 0, NULL, &size) != CL_SUCCESS || size == 0 || size > MOST) {
        return NULL;
    }
    char *text = calloc(1, size + 1);
    if (text && info(id, query, size, text, NULL) != CL_SUCCESS) {
        free(text);
        return NULL;
    }
    return text;
}

/* Whether a name is among names separated by spaces. */
static bool lists(const char *names, const char *name)
{
    size_t length = strlen(name);
    while (*names) {
        names += strspn(names, " ");
        size_t word = strcspn(names, " ");
        if (word == length && memcmp(names, name, length) == 0) {
            return true;
        }
        names += word;
    }
    return false;
}

static bool tag_in_slot_of(cl_platform_id id, enum function function)
{
    const entry *table = ((const struct dispatchable *)(const void *)id)->table;
    return (intptr_t)table[function_info[function].slot] == CL_ICD2_TAG_KHR;
}

static bool has_icd2_tag(cl_platform_id id)
{
    return tag_in_slot_of(id, FUNCTION_clGetPlatformIDs) || tag_in_slot_of(id, FUNCTION_clUnloadCompiler);
}

/* ICD "Adding a Vendor Library", since 2.0.0: both slots carry the tag and both functions are there, or the vendor is
 * ignored (grey area 5). Asks for every function by name, and hands the table over; a platform that refuses it could
 * not be called (6). */
static struct dispatch_data *manage_dispatch(const struct vendor *vendor, cl_platform_id id)
{
    if (!tag_in_slot_of(id, FUNCTION_clGetPlatformIDs) || !tag_in_slot_of(id, FUNCTION_clUnloadCompiler) ||
        !vendor->function_address || !vendor->set_dispatch_data) {
        return NULL;
    }
    struct dispatch_data *data = calloc(1, sizeof *data);
    if (!data) {
        return NULL;
    }
    for (int slot = 0; slot < TABLE_LENGTH; slot++) {
        if (function_of_slot[slot] >= 0) {
            data->table.slot[slot] =
                (entry)(uintptr_t)vendor->function_address(id, function_info[function_of_slot[slot]].name);
        }
    }
    if (vendor->set_dispatch_data(id, data) != CL_SUCCESS) {
        free(data);
        return NULL;
    }
    return data;
}

/* cl_khr_icd must be in the platform's own list (grey areas 3 and 38), as a word of it, and the suffix must be
 * readable. An empty suffix is one (33): the text calls it optional. */
static bool queries_pass(struct platform *platform, platform_info_function *info)
{
    char *extensions = platform_string(info, platform->id, CL_PLATFORM_EXTENSIONS);
    bool icd = extensions && lists(extensions, "cl_khr_icd");
    if (icd && lists(extensions, "cl_khr_icd_unloadable")) {
        cl_bool unloadable = CL_FALSE;
        cl_int result = info(platform->id, CL_PLATFORM_UNLOADABLE_KHR, sizeof unloadable, &unloadable, NULL);
        platform->unloadable = result == CL_SUCCESS && unloadable == CL_TRUE; /* not known: stays loaded */
    }
    free(extensions);
    platform->suffix = icd ? platform_string(info, platform->id, CL_PLATFORM_ICD_SUFFIX_KHR) : NULL;
    return platform->suffix != NULL;
}

static void platform_free(struct platform *platform)
{
    free(platform->suffix);
    free(platform->dispatch_data);
    free(platform);
}

/* Platforms that are not offered, or no longer. Objects of a vendor that is still loaded may point to their tables. */
static struct platform *retired;

static void retire(struct platform *platform)
{
    platform->next = retired;
    retired = platform;
}

/* What was retired since `before`: for a vendor that goes. */
static void free_retired(const struct platform *before)
{
    while (retired != before) {
        struct platform *next = retired->next;
        platform_free(retired);
        retired = next;
    }
}

/* Offers one platform if it passes. Platforms keep the order in which they were found (grey area 35). */
static void platform_add(const struct vendor *vendor, cl_platform_id id, const char *library)
{
    platform_info_function *info = vendor->platform_info;
    if (!id || !((const struct dispatchable *)(const void *)id)->table) {
        return;
    }
    struct platform *platform = calloc(1, sizeof *platform);
    if (!platform) {
        return;
    }
    platform->id = id;
    platform->extension_address = vendor->extension_address;
    bool passes = true;
    if (has_icd2_tag(id)) {
        platform->dispatch_data = manage_dispatch(vendor, id);
        passes = platform->dispatch_data != NULL;
    }
    passes = passes && queries_pass(platform, info);
    platform->library = passes ? library_open(library) : NULL; /* a reference of the platform's own */
    if (!platform->library && platform->dispatch_data) {
        retire(platform);
        return;
    }
    if (!platform->library) {
        platform_free(platform);
        return;
    }
    *last_platform = platform;
    last_platform = &platform->next;
}

/* Grey area 18: a library that is named twice is listed once. The system gives the same file the same handle. */
static bool is_known(void *library)
{
    for (struct platform *platform = first_platform; platform; platform = platform->next) {
        if (platform->library == library) {
            return true;
        }
    }
    return false;
}

/* The loader itself is not a vendor, whatever configuration says (grey area 17): it would wait for itself. */
void vendor_add(const char *library)
{
    struct vendor vendor = {.library = library_open(library)};
    struct platform **const last = last_platform;
    const struct platform *const last_retired = retired;
    cl_uint count;
    if (!vendor.library) {
        return;
    }
    if (!library_is_self(vendor.library) && !is_known(vendor.library) && find_functions(&vendor)) {
        cl_platform_id *ids = list_platforms(&vendor, &count);
        for (cl_uint i = 0; ids && i < count; i++) {
            platform_add(&vendor, ids[i], library);
        }
        free(ids);
    }
    library_close(vendor.library); /* platforms that were offered hold it by their own references */
    if (last_platform == last) {
        free_retired(last_retired);
    }
}

/* Only what says that it can be unloaded is unloaded (cl_khr_icd_unloadable 1.0.0). Objects of other vendors may be
 * called yet, by late destructors: tables that they point to stay. */
void vendors_remove(void)
{
    bool unload = !variable_is_true("OCL_ICD_DISABLE_DYNAMIC_LIBRARY_UNLOADING") &&
                  !variable_is_true("OCL_ICD_FORCE_LEGACY_TERMINATION");
    struct platform *platform = first_platform;
    first_platform = NULL;
    last_platform = &first_platform;
    while (platform) {
        struct platform *next = platform->next;
        if (platform->unloadable && unload) {
            library_close(platform->library);
            platform_free(platform);
        } else if (platform->dispatch_data) {
            retire(platform);
        } else {
            platform_free(platform);
        }
        platform = next;
    }
}
