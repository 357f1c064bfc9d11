/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of extensions, out of the text of a setting; and lists of which there is a part in what memory there is. */
#include "extensions.h"
#include "implementation.h"

#include <stdlib.h>
#include <string.h>

VkResult extensions_answer(const char *list, uint32_t more, uint32_t *count, VkExtensionProperties *properties)
{
    uint32_t number = 0;
    const char *word;
    for (size_t length = config_next_word(&list, &word); length > 0; length = config_next_word(&list, &word)) {
        if (properties && number == *count) {
            return fault(FAULT_extension_list_never_incomplete, ANY_PLATFORM) ? VK_SUCCESS : VK_INCOMPLETE;
        }
        if (properties) {
            VkExtensionProperties *to = &properties[number];
            const char *colon = memchr(word, ':', length);
            size_t name = colon ? (size_t)(colon - word) : length;
            memset(to, 0, sizeof *to);
            memcpy(to->extensionName, word, name < sizeof to->extensionName ? name : sizeof to->extensionName - 1);
            to->specVersion = colon ? (uint32_t)strtoul(colon + 1, NULL, 10) : 1;
        }
        number++;
    }
    *count = properties ? number : number + more;
    return VK_SUCCESS;
}

uint64_t extensions_write(uint32_t *count, void *to, size_t stride, const void *from, size_t size, uint32_t all)
{
    uint32_t written = to && *count < all ? *count : all;
    for (uint32_t i = 0; to && i < written; i++) {
        memcpy((char *)to + i * stride, (const char *)from + i * size, size);
    }
    *count = written;
    claim_more(FAULT_queries_claim_more, count, to);
    return written < all ? (uint64_t)VK_INCOMPLETE : VK_SUCCESS;
}
