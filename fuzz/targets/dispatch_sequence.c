/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of calls over several vendors and layers: ICD 1 and 2, tables of different length, missing functions, any
 * arguments. Each call must reach the right function of the right vendor once, through all layers, with every argument
 * as it was, and come back with result and outputs as they were.
 */
#include "traced.h"

#include <string.h>

const char *const target_name = "dispatch_sequence";

/* No ICD's table was ever shorter: that of OpenCL 1.0 ended here. */
enum { CALLS = 96, MISSING_MOST = 8, SHORTEST = 66 };

/* --- vendors --- */

/* What loaders call to find out about platforms is there. */
static bool is_needed(int function)
{
    return function == FUNCTION_clGetPlatformInfo || function == FUNCTION_clGetDeviceIDs ||
           function == FUNCTION_clGetDeviceInfo;
}

static void draw_missing(struct platform *platform, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        int function = function_of_slot[take_byte() % TABLE_LENGTH];
        if (function >= 0 && !is_needed(function)) {
            set_add(platform->missing, (unsigned)function);
        }
    }
}

static void draw_vendor(int number)
{
    record_begins();
    struct vendor *vendor = vendor_plain(number);
    unsigned shape = take_byte();
    vendor->platform_count = 1 + (shape & 3) % 3;
    for (unsigned p = 0; p < vendor->platform_count; p++) {
        struct platform *platform = &vendor->platform[p];
        unsigned table = take_byte();
        platform->icd2 = shape >> (2 + p) & 1;
        platform->table_length = table & 0x40 ? SHORTEST + take_below(TABLE_LENGTH - SHORTEST) : 0;
        platform->bare = platform->icd2 && table & 0x20;
        draw_missing(platform, table & 0x80 ? table % MISSING_MOST : 0);
    }
    vendor_describe(vendor);
    vendor_make(vendor);
    vendor_library(vendor, keep_text("/lib/lib%d.so", number));
    const char *file = keep_text("/lib/lib%d.so\n", number);
    world_file(keep_text("/etc/OpenCL/vendors/%d.icd", number), FILE_REGULAR, file, strlen(file));
}

/* --- layers --- */

static void draw_layer(int number, unsigned shape)
{
    struct layer *layer = layer_plain(number);
    layer->table_length = shape & 1 ? take_below(TABLE_LENGTH) + 1 : 0;
    unsigned count = shape & 2 ? 1 + take_below(MISSING_MOST) : 0;
    if (shape & 4) {
        memset(layer->missing, 0xFF, sizeof layer->missing);
    }
    for (unsigned i = 0; i < count; i++) {
        int function = function_of_slot[take_byte() % TABLE_LENGTH];
        if (function >= 0) {
            layer->missing[function / 8] ^= (uint8_t)(1 << (function % 8));
        }
    }
    layer_make(layer, keep_text("/layers/lib%d.so", number));
    layer_describe(layer);
}

static void draw_layers(unsigned shape)
{
    static const char *const lists[] = {NULL, "/layers/lib0.so", "/layers/lib0.so:/layers/lib1.so",
                                        "/layers/lib0.so:/layers/lib1.so:/layers/lib2.so"};
    unsigned count = shape & 3;
    for (unsigned n = 0; n < count; n++) {
        draw_layer((int)n, take_byte());
    }
    if (count) {
        world_variable("OPENCL_LAYERS", lists[count]);
    }
}

void target_run(void)
{
    traced_begin();
    unsigned shape = take_byte();
    unsigned vendor_count = shape & 0x30 ? shape >> 4 & 3 : 1;
    for (unsigned v = 0; v < vendor_count; v++) {
        draw_vendor((int)v);
    }
    draw_layers(shape);
    saw("result of the first call", (uint64_t)(int64_t)traced_discover(NULL));
    saw("number of platforms", traced_platform_count);
    for (int i = 0; i < CALLS && !input_ended(); i++) {
        struct traced call;
        record_begins();
        if (traced_draw(&call)) {
            traced_make(&call, NULL);
        }
    }
    layers_check_targets();
}
