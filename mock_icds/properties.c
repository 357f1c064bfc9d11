/* Walks property lists by rules, as properties.h says, or as a fault says. */
#define _GNU_SOURCE
#include "properties.h"

#include "icd.h"

static const struct property_rule *rule_of(uint64_t name, const struct property_rules *rules, int platform)
{
    for (size_t i = 0; i < rules->count; i++) {
        const struct property_rule *rule = &rules->rules[i];
        bool there = !rule->extension || platform < 0 || has_extension(platform, rule->extension);
        if (rule->name == name && there) {
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

static bool was_there_before(const uint64_t *list, const struct property_rules *rules, const struct property *property)
{
    struct property first;
    return properties_find(list, rules, property->name, &first) && first.values != property->values;
}

cl_int properties_check(const uint64_t *list, const struct property_rules *rules, int platform, const void *about)
{
    struct property property = {.platform = platform};
    for (const uint64_t *at = list; at && next_property(&at, rules, &property);) {
        const struct property_rule *rule = rule_of(property.name, rules, platform);
        if (!rule) {
            return rules->unknown_name;
        }
        if (rules->repeated_name != CL_SUCCESS && was_there_before(list, rules, &property)) {
            return rules->repeated_name;
        }
        cl_int result = rule->check ? rule->check(&property, about) : CL_SUCCESS;
        if (result != CL_SUCCESS) {
            return result;
        }
    }
    return CL_SUCCESS;
}

bool properties_find(const uint64_t *list, const struct property_rules *rules, uint64_t name, struct property *found)
{
    struct property property = {.platform = ANY_PLATFORM};
    for (const uint64_t *at = list; at && next_property(&at, rules, &property);) {
        if (property.name == name) {
            *found = property;
            return true;
        }
    }
    return false;
}

uint64_t properties_value(const uint64_t *list, const struct property_rules *rules, uint64_t name, uint64_t otherwise)
{
    struct property found;
    return properties_find(list, rules, name, &found) && found.count > 0 ? found.values[0] : otherwise;
}

size_t properties_length(const uint64_t *list, const struct property_rules *rules)
{
    struct property property;
    const uint64_t *at = list;
    while (at && next_property(&at, rules, &property)) {
    }
    return at ? (size_t)(at - list) + 1 : 0;
}
