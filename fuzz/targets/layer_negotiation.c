/* SPDX-License-Identifier: Apache-2.0 */
/* Layers whose every answer comes from the input: what they export, answer and refuse, their tables, where loaders find
 * them, and what they call while they start and end.
 *
 * The chain that must come of it is known, and calls of the application prove it: through which layers they go, in
 * which order, to which vendor, and that nothing is changed on the way.
 */
#include "internal.h"
#include "traced.h"

#include <string.h>

const char *const target_name = "layer_negotiation";

enum { ITEMS = 6, FILES = 3, CALLS = 16 };

static const char *const paths[LAYERS] = {"/layers/libfirst.so", "libsecond.so", "/layers/more/libthird.so"};
static const char *const other_ways[LAYERS] = {"/layers/../layers//libfirst.so", "libsecond.so",
                                               "//layers/./more/libthird.so"};

static bool in_list[LAYERS];  /* OPENCL_LAYERS names it */
static bool list_has[LAYERS]; /* its library's name is in that list */
static bool in_file[LAYERS];  /* a .lay file does, which only some loaders read */
static bool must[LAYERS];     /* an ordinary file of the folder that counts does */
static bool misled;           /* the variable names a folder that is not there, and only the default one has files */
static bool named[LAYERS];    /* the list, or a file whose name ends in .lay, has its library's name in it */
static int place[LAYERS];     /* its first place in the list */
static bool legacy;

/* --- a layer from the input --- */

static void draw_functions(function_set set)
{
    unsigned kind = take_below(4);
    unsigned count = kind == 0 ? 0 : take_below(8);
    if (kind == 1) {
        memset(set, 0xFF, sizeof(function_set)); /* all but these */
    }
    for (unsigned i = 0; i < count; i++) {
        int function = function_of_slot[take_byte() % TABLE_LENGTH];
        if (function >= 0) {
            set[function / 8] ^= (uint8_t)(1 << (function % 8));
        }
    }
}

static cl_int draw_error(void)
{
    static const cl_int errors[] = {CL_SUCCESS, CL_INVALID_VALUE, CL_OUT_OF_HOST_MEMORY, 1, INT32_MIN, INT32_MAX};
    return errors[take_byte() % (sizeof errors / sizeof *errors)];
}

static unsigned draw_length(void)
{
    switch (take_below(4)) {
    case 0:
        return 0;
    case 1:
        return 1 + take_below(TABLE_LENGTH);
    case 2:
        return TABLE_LENGTH - 2 + take_below(4);
    default:
        return TABLE_LENGTH + take_below(64);
    }
}

/* What is asked first comes first, so that the end of an input is a layer that does as it should. */
static void draw_layer(int number)
{
    record_begins();
    struct layer *layer = layer_plain(number);
    unsigned hidden = take_byte();
    layer->hides_info = (hidden & 0x07) == 0x07;
    layer->hides_init = (hidden & 0x18) == 0x18;
    layer->hides_init_with_properties = (hidden & 0x60) == 0x60;
    layer->hides_deinit = hidden & 0x80;
    unsigned answers = take_byte();
    layer->version_unset = (answers & 0x07) == 0x07;
    layer->refuses_late = answers & 0x08;
    layer->leaves_outputs = (answers & 0x70) == 0x70;
    layer->null_table = (answers & 0x70) == 0x60;
    layer->no_entries = (answers & 0x70) == 0x50;
    layer->info_error = take_chance(8) ? draw_error() : CL_SUCCESS;
    layer->version_more = take_chance(8) ? take_word() : 0;
    layer->init_error = take_chance(4) ? draw_error() : CL_SUCCESS;
    layer->deinit_error = answers & 0x80 ? draw_error() : CL_SUCCESS;
    layer->table_length = draw_length();
    draw_functions(layer->missing);
    draw_functions(layer->answers);
    unsigned calls = take_byte();
    layer->init_calls = calls & 3;
    layer->deinit_calls = calls >> 2 & 3;
    layer->count_more = violations ? calls >> 4 : 0;
    layer_make(layer, paths[number]);
    layer_describe(layer);
}

/* --- where loaders find them --- */

static const char *draw_text(size_t most)
{
    char *text = keep(most + 1);
    const char *drawn = take_text(most);
    size_t length = strcspn(drawn, ":\n");
    memcpy(text, drawn, length);
    return text;
}

static const char *long_text(void)
{
    unsigned kind = take_byte();
    size_t length = kind < 64 ? 200 + kind * 100 : edge_length(kind - 64);
    char *text = keep(length + 1);
    memset(text, 'l', length);
    return text;
}

/* A library as a list or a file names it; `number` is the layer's, or -1. */
static const char *draw_name(int *number)
{
    unsigned kind = take_byte();
    *number = -1;
    if (kind < 0xC0) {
        *number = (int)(kind % LAYERS);
        return kind & 0x40 ? other_ways[*number] : paths[*number];
    }
    switch (kind % 6) {
    case 0:
        return "";
    case 1:
        return "/layers/libmissing.so";
    case 2:
        return "/lib/liba.so"; /* a vendor's */
    case 3:
        return long_text();
    case 4:
        return "/layers";
    default:
        return draw_text(40);
    }
}

static void note_place(const char *name, int number, int at)
{
    for (int n = 0; n < LAYERS; n++) {
        if ((n == number || strcmp(name, paths[n]) == 0) && !in_list[n]) {
            in_list[n] = true;
            place[n] = at;
        }
    }
}

static void note_names(const char *text)
{
    for (int n = 0; n < LAYERS; n++) {
        named[n] |= strstr(text, strstr(paths[n], "lib")) != NULL;
    }
}

static void draw_list(void)
{
    const char *list = "";
    unsigned count = take_below(ITEMS + 1);
    for (unsigned i = 0; i < count; i++) {
        int number;
        const char *name = draw_name(&number);
        note_place(name, number, (int)i);
        list = keep_text("%s%s%s", list, i ? ":" : "", name);
    }
    if (count) {
        world_variable("OPENCL_LAYERS", list);
        note_names(list);
        memcpy(list_has, named, sizeof list_has);
        describe("OPENCL_LAYERS=%.300s", list);
    }
}

static void draw_files(void)
{
    static const char *const ends[] = {"\n", "", "\r\n", "\n/layers/libfirst.so\n", " ", "\n\n"};
    static const char *const names[] = {"a.lay", "B.lay", "c.lay", ".lay", "a.icd", "lay", "a.lay.bak"};
    unsigned kind = take_byte();
    bool by_variable = (kind & 3) == 3;
    const char *folder = by_variable ? "/elsewhere" : "/etc/OpenCL/layers";
    static const char *const variables[] = {"/nowhere", "", "/elsewhere", "/elsewhere/"};
    if (kind & 2) {
        const char *value = variables[(by_variable ? 2 : 0) + (kind & 4 ? 1 : 0)];
        world_variable("OPENCL_LAYER_PATH", value);
        describe("OPENCL_LAYER_PATH=%s", value);
    }
    bool counts = by_variable || !(kind & 2);
    misled = !by_variable && (kind & 2) && !(kind & 4);
    const char *before = "";
    unsigned count = (kind >> 3) % (FILES + 1);
    for (unsigned i = 0; i < count; i++) {
        int number;
        const char *name = names[take_byte() % (sizeof names / sizeof *names)];
        const char *library = draw_name(&number);
        const char *content = keep_text("%s%s", library, ends[take_byte() % (sizeof ends / sizeof *ends)]);
        enum file_kind what = take_chance(8) ? (enum file_kind)take_below(FILE_LOOP + 1) : FILE_REGULAR;
        world_file(keep_text("%s/%s", folder, name), what, content, strlen(content));
        describe("%s/%s is %s, \"%.300s\"", folder, name, file_kind_words[what], content);
        if (ends_with(name, ".lay")) {
            note_names(content);
        }
        bool is_first = !strstr(before, keep_text("/%s/", name)); /* of two files of one name the first is there */
        bool usual = what == FILE_REGULAR && is_first && strlen(content) <= strlen(library) + 1;
        if (number >= 0 && counts && usual && (content[strlen(library)] == '\n' || !content[strlen(library)])) {
            must[number] |= name[1] == '.' && ends_with(name, ".lay") && strlen(name) == 5;
        }
        before = keep_text("%s/%s/", before, name);
        for (int n = 0; n < LAYERS; n++) {
            in_file[n] |= strstr(content, paths[n]) || n == number;
        }
    }
}

static void draw_vendors(void)
{
    unsigned kind = take_byte();
    unsigned count = (kind & 7) == 7 ? 0 : 1 + (kind & 1);
    for (unsigned v = 0; v < count; v++) {
        struct vendor *vendor = vendor_plain((int)v);
        vendor->platform_count = kind & 0x20 ? 2 : 1;
        vendor->platform[0].icd2 = kind >> (6 + v) & 1;
        vendor_describe(vendor);
        vendor_make(vendor);
        vendor_library(vendor, keep_text("/lib/lib%c.so", 'a' + (int)v));
        const char *file = keep_text("/lib/lib%c.so\n", 'a' + (int)v);
        world_file(keep_text("/etc/OpenCL/vendors/%c.icd", 'a' + (int)v), FILE_REGULAR, file, strlen(file));
    }
    legacy = (kind & 0x18) == 0x18;
    if (legacy) {
        world_variable("OCL_ICD_FORCE_LEGACY_TERMINATION", "1");
    }
    describe("%u vendors%s", count, legacy ? ", and the older scheme of layers is asked for" : "");
}

/* --- what must come of it --- */

static bool is_initialised(const struct layer *layer)
{
    return layer->inits || layer->inits_with_properties;
}

static bool can_be_asked(const struct layer *layer)
{
    return !layer->hides_info && !layer->info_error && !layer->version_unset && !layer->version_more;
}

static void check_one(const struct layer *layer)
{
    unsigned inits = layer->inits + layer->inits_with_properties;
    if (inits && (!can_be_asked(layer) || !layer->version_queries)) {
        finding("wrong", "init-without-version",
                "layer %d is initialised, and its API version was asked for %u times, and is not a known one",
                layer->number, layer->version_queries);
    }
    if (inits && !named[layer->number]) {
        finding("wrong", "layer-named-by-nothing",
                "layer %d is initialised, and neither OPENCL_LAYERS nor a .lay file names its library", layer->number);
    }
    if (layer->inits && layer->inits_with_properties) {
        finding("wrong", "init-both", "both init functions of layer %d are called", layer->number);
    }
    if (layer->accepted && inits > 1) {
        finding("wrong", "init-twice", "layer %d is in the chain, and was initialised %u times", layer->number, inits);
    }
    bool is_open = layer->library->opened > layer->library->closed;
    bool refused = !can_be_asked(layer) || (is_initialised(layer) && layer->init_error);
    if (is_open && refused) {
        finding("wrong", "refused-layer-open", "layer %d is refused, and its library is still open", layer->number);
    }
    if (!is_open && layer->accepted) {
        finding("wrong", "accepted-layer-closed", "layer %d is in the chain, and its library was closed",
                layer->number);
    }
    if (!is_initialised(layer) && layer->deinits) {
        finding("wrong", "deinit-without-init", "layer %d is deinitialised without having been initialised",
                layer->number);
    }
}

/* The folder that counts is read by a loader that asks for the variable, and no other (LAY-DSC-007). Loaders may leave
 * layers alone where there is no vendor. */
static void check_files(void)
{
    if (!world_variable_asked("OPENCL_LAYER_PATH") || !traced_platform_count) {
        return;
    }
    for (int n = 0; n < LAYERS; n++) {
        const struct layer *layer = &layers[n];
        bool has_all = can_be_asked(layer) && !layer->hides_init && !layer->hides_init_with_properties;
        if (must[n] && has_all && !is_initialised(layer)) {
            finding("wrong", "file-not-honoured", "an ordinary .lay file names layer %d, and it is not initialised", n);
        }
        if (misled && !in_list[n] && in_file[n] && !list_has[n] && is_initialised(layer)) {
            finding("wrong", "default-instead-of-nowhere",
                    "layer %d of the default folder is initialised, and OPENCL_LAYER_PATH names one that is not there",
                    n);
        }
    }
}

/* A loader that knows both schemes takes the newer one, but where the older one is asked for (LAY-API-005). */
static void check_scheme(const struct layer *layer)
{
    bool knows_both = world_variable_asked("OCL_ICD_FORCE_LEGACY_TERMINATION");
    if (knows_both && ((layer->inits && !legacy) || (layer->inits_with_properties && legacy))) {
        finding("wrong", "other-scheme",
                "layer %d is initialised by clInitLayer%s, and the older scheme is %sasked for", layer->number,
                layer->inits ? "" : "WithProperties", legacy ? "" : "not ");
    }
}

/* Layers that have everything and are in the list are initialised: where the loader tried any of the list at all. */
static void check_list(void)
{
    bool tries = false;
    for (int n = 0; n < LAYERS; n++) {
        tries |= in_list[n] && layers[n].library->opened;
    }
    for (int n = 0; n < LAYERS && tries; n++) {
        const struct layer *layer = &layers[n];
        bool has_all = can_be_asked(layer) && !layer->hides_init && !layer->hides_init_with_properties;
        if (in_list[n] && has_all && !is_initialised(layer)) {
            finding("wrong", "not-initialised", "layer %d is in OPENCL_LAYERS, and is not initialised", n);
        }
        for (int m = 0; m < LAYERS; m++) {
            bool both = layer->accepted && layers[m].accepted && in_list[n] && in_list[m] && !in_file[n] && !in_file[m];
            if (both && place[n] < place[m] && layer->order > layers[m].order) {
                finding("wrong", "init-order",
                        "layer %d stands before layer %d in OPENCL_LAYERS, and is "
                        "initialised after it",
                        n, m);
            }
        }
    }
}

/* --- calls --- */

static void call_inside(struct layer *layer)
{
    struct traced call;
    if (traced_platform_count == 0) {
        traced_discover(layer);
    }
    if (traced_draw(&call)) {
        traced_make(&call, layer);
    }
}

static void make_calls(void)
{
    for (int i = 0; i < CALLS && !input_ended(); i++) {
        struct traced call;
        record_begins();
        if (traced_draw(&call)) {
            traced_make(&call, NULL);
        }
    }
}

static void show(void)
{
    for (const struct layer *layer = first_layer; layer; layer = layer->next) {
        saw("layer in the chain", (uint64_t)layer->number);
    }
    for (int n = 0; n < LAYERS; n++) {
        if (in_file[n] || layers[n].hides_init || layers[n].hides_init_with_properties) {
            grey("loaders know different init functions, and not all read .lay files");
        }
    }
    if (traced_platform_count == 0) {
        grey("layers without vendors are loaded or not");
    }
}

void target_run(void)
{
    memset(in_list, 0, sizeof in_list);
    memset(in_file, 0, sizeof in_file);
    memset(named, 0, sizeof named);
    memset(must, 0, sizeof must);
    memset(list_has, 0, sizeof list_has);
    misled = false;
    traced_begin();
    draw_vendors();
    draw_list();
    draw_files();
    for (int n = 0; n < LAYERS; n++) {
        draw_layer(n);
    }
    layer_inside = call_inside;
    saw("result of the first call", (uint64_t)(int64_t)traced_discover(NULL));
    saw("number of platforms", traced_platform_count);
    for (int n = 0; n < LAYERS; n++) {
        check_one(&layers[n]);
        check_scheme(&layers[n]);
    }
    check_list();
    check_files();
    show();
    make_calls();
    layers_check_targets();
    for (int n = 0; n < LAYERS; n++) {
        layers[n].closed = layers[n].library->closed;
    }
}

static void check_end(const struct layer *layer)
{
    unsigned open = layer->library->opened - layer->library->closed;
    bool closes = layer->library->closed > layer->closed;
    if (layer->accepted && layer->inits_with_properties && !layer->hides_deinit && !layer->deinits) {
        finding("wrong", "not-deinitialised", "layer %d is in the chain, and was not deinitialised at the end",
                layer->number);
    }
    if (closes && open) {
        finding("leak", "layer-reference", "the library of layer %d is closed at the end, and %u handles stay open",
                layer->number, open);
    }
    if (closes && layer->inits) {
        finding("wrong", "closed-in-older-scheme",
                "layer %d was initialised by clInitLayer, so that it may still work at the end, and it is closed",
                layer->number);
    }
}

void target_ended(void)
{
    for (int n = 0; n < LAYERS; n++) {
        check_end(&layers[n]);
    }
}
