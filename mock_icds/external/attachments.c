/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of objects: lists as they were given, or as a fault says. */
#include "external/attachments.h"

#include "base/arena.h"
#include "base/config.h"
#include "calls.h"

#include <string.h>

enum { MAX_LIST = 64 };

struct attachment *attachment_of(struct object *object)
{
    if (!object->external) {
        object->external = arena_keep(sizeof *object->external);
    }
    return object->external;
}

void attachment_keep_list(struct attachment *attachment, const uint64_t *list, const struct property_rules *rules)
{
    if (list) {
        attachment->list_length = properties_length(list, rules);
        attachment->list = arena_keep(attachment->list_length * sizeof *list);
        memcpy(attachment->list, list, attachment->list_length * sizeof *list);
    }
}

cl_int attachment_answer_list(const struct attachment *attachment, const uint64_t *rest)
{
    size_t length = attachment->list_length;
    if (fault(FAULT_external_list_ends_at_first_0, ANY_PLATFORM)) {
        for (length = 0; length < attachment->list_length && attachment->list[length] != 0;) {
            length++;
        }
        length += length < attachment->list_length;
    }
    if (fault(FAULT_external_list_without_end, ANY_PLATFORM) && length > 0) {
        length--;
    }
    uint64_t rotated[MAX_LIST];
    const uint64_t *list = attachment->list;
    if (fault(FAULT_external_list_is_turned, ANY_PLATFORM) && length > 4 && length <= MAX_LIST) {
        memcpy(rotated, list + 2, (length - 3) * sizeof *rotated); /* the first pair goes to the end */
        memcpy(rotated + length - 3, list, 2 * sizeof *rotated);
        rotated[length - 1] = 0;
        list = rotated;
    }
    return answer_info(rest, list, length * sizeof *list);
}
