/* SPDX-License-Identifier: Apache-2.0 */
/* Walks property lists by rules, as properties.h says, or as a fault says. */
#include "core/properties.h"

#include "base/arena.h"
#include "base/config.h"
#include "base/platforms.h"

static const struct property_rule *rule_of(uint64_t name, const struct property_rules *rules, int platform)
{
    for (size_t i = 0; i < rules->count; i++) {
        const struct property_rule *rule = &rules->rules[i];
        bool known = !rule->extension || platform < 0 || platform_has_extension(platform, rule->extension);
        if (rule->name == name && known) {
            return rule;
        }
    }
    return NULL;
}

/* Reads the property at `*at` and moves on to the next; false at the end of the list. */
static bool next_property(const uint64_t **at, const struct property_rules *rules, struct property *property)
{
    const uint64_t *here = *at;
    if (here[0] == 0) {
        return false;
    }
    const struct property_rule *rule = rule_of(here[0], rules, ANY_PLATFORM);
    property->name = here[0];
    property->values = here + 1;
    property->count = 1;
    *at = here + 2;
    if (rule && rule->form == PROPERTY_LIST) {
        property->count = 0;
        while (property->values[property->count] != 0) {
            property->count++;
        }
        *at = property->values + property->count + 1;
    }
    return true;
}

static bool is_repeated(const uint64_t *list, const struct property_rules *rules, const struct property *property)
{
    struct property first;
    return properties_find(list, rules, property->name, &first) && first.values != property->values;
}

cl_int properties_check(const uint64_t *list, const struct property_rules *rules, int platform, const void *about)
{
    struct property property = {.platform = platform};
    for (const uint64_t *at = list; at && next_property(&at, rules, &property);) {
        bool refused = !rules->without_list &&
                       property.name == (uint64_t)fault_value(FAULT_properties_refuse_name, ANY_PLATFORM, 0);
        const struct property_rule *rule = refused ? NULL : rule_of(property.name, rules, platform);
        if (!rule && rules->unknown_name != CL_SUCCESS) {
            return rules->unknown_name;
        }
        if (rules->repeated_name != CL_SUCCESS && is_repeated(list, rules, &property)) {
            return rules->repeated_name;
        }
        cl_int result = rule && rule->check ? rule->check(&property, about) : CL_SUCCESS;
        if (result != CL_SUCCESS) {
            return result;
        }
    }
    return CL_SUCCESS;
}

bool properties_find(const uint64_t *list, const struct property_rules *rules, uint64_t name, struct property *property)
{
    struct property next = {.platform = ANY_PLATFORM};
    for (const uint64_t *at = list; at && next_property(&at, rules, &next);) {
        if (next.name == name) {
            *property = next;
            return true;
        }
    }
    return false;
}

uint64_t properties_value(const uint64_t *list, const struct property_rules *rules, uint64_t name, uint64_t otherwise)
{
    struct property property;
    return properties_find(list, rules, name, &property) && property.count > 0 ? property.values[0] : otherwise;
}

size_t properties_length(const uint64_t *list, const struct property_rules *rules)
{
    struct property property;
    const uint64_t *at = list;
    while (at && next_property(&at, rules, &property)) {
    }
    return at ? (size_t)(at - list) + 1 : 0;
}

/* --- read in a wrong way, as a fault says --- */

static bool reads_wrongly(void)
{
    static const enum fault faults[] = {FAULT_properties_end_at_zero_value, FAULT_properties_without_stride,
                                        FAULT_properties_limited,           FAULT_properties_cut_to_32_bits,
                                        FAULT_properties_end_at_inner_end,  FAULT_properties_want_order};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        if (fault(faults[i], ANY_PLATFORM)) {
            return true;
        }
    }
    return false;
}

static void sort_in_place(const uint64_t *list, const struct property_rules *rules)
{
    uint64_t *words = (uint64_t *)(uintptr_t)list;
    size_t length = properties_length(list, rules);
    size_t pairs = length / 2;
    for (size_t i = 0; i < pairs; i++) {
        for (size_t j = i + 1; j < pairs; j++) {
            if (words[2 * j] < words[2 * i]) {
                const uint64_t name = words[2 * i];
                const uint64_t value = words[2 * i + 1];
                words[2 * i] = words[2 * j];
                words[2 * i + 1] = words[2 * j + 1];
                words[2 * j] = name;
                words[2 * j + 1] = value;
            }
        }
    }
    words[length - 1] = 0; /* written at least once */
}

/* Appends a property as a fault sees it; false where nothing more is read. */
static bool append_wrongly(uint64_t **to, const struct property *property, const struct property_rules *rules,
                           uint64_t *last)
{
    uint64_t mask = fault(FAULT_properties_cut_to_32_bits, ANY_PLATFORM) ? UINT32_MAX : UINT64_MAX;
    if (fault(FAULT_properties_want_order, ANY_PLATFORM) && property->name < *last) {
        return true;
    }
    *last = property->name;
    if (fault(FAULT_properties_without_stride, ANY_PLATFORM) && property->count &&
        rule_of(property->values[0], rules, ANY_PLATFORM)) {
        *(*to)++ = property->values[0];
        *(*to)++ = property->values[1];
    }
    *(*to)++ = property->name & mask;
    const struct property_rule *rule = rule_of(property->name, rules, ANY_PLATFORM);
    for (size_t i = 0; i < property->count; i++) {
        *(*to)++ = property->values[i] & (property->name == CL_CONTEXT_PLATFORM ? UINT64_MAX : mask);
    }
    if (rule && rule->form == PROPERTY_LIST) {
        *(*to)++ = 0;
        return !fault(FAULT_properties_end_at_inner_end, ANY_PLATFORM);
    }
    return property->values[0] != 0 || !fault(FAULT_properties_end_at_zero_value, ANY_PLATFORM);
}

const uint64_t *properties_seen(const uint64_t *list, const struct property_rules *rules)
{
    if (list && fault(FAULT_properties_read_behind_end, ANY_PLATFORM)) {
        (void)*(const volatile uint64_t *)(list + properties_length(list, rules));
    }
    if (list && fault(FAULT_properties_sorted_in_place, ANY_PLATFORM)) {
        sort_in_place(list, rules);
    }
    if (!list || !reads_wrongly()) {
        return list;
    }
    uint64_t *seen = arena_keep((2 * properties_length(list, rules) + 1) * sizeof *seen);
    uint64_t *to = seen;
    uint64_t last = 0;
    long left = fault_value(FAULT_properties_limited, ANY_PLATFORM, 1L << 30);
    struct property property = {.platform = ANY_PLATFORM};
    for (const uint64_t *at = list; left > 0 && next_property(&at, rules, &property); left--) {
        if (!append_wrongly(&to, &property, rules, &last)) {
            break;
        }
    }
    *to = 0;
    return seen;
}
