/* SPDX-License-Identifier: Apache-2.0 */
/* What the loader and the driver agree on: the version of the interface between them. */
#define _GNU_SOURCE
#include "negotiation.h"

#include <stdlib.h>
#include <time.h>

static void sleep_milliseconds(long milliseconds)
{
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static int negotiations;
static uint32_t agreed;

bool negotiation_happened(void)
{
    return negotiations > 0;
}

uint32_t negotiation_version(void)
{
    return agreed;
}

static VkResult agree(uint32_t *version)
{
    uint32_t highest = (uint32_t)config.interface;
    if (fault(FAULT_negotiation_fails, ANY_PLATFORM)) {
        return (VkResult)fault_value(FAULT_negotiation_fails, ANY_PLATFORM, VK_ERROR_INCOMPATIBLE_DRIVER);
    }
    if (fault(FAULT_negotiation_answers, ANY_PLATFORM)) {
        *version = (uint32_t)fault_value(FAULT_negotiation_answers, ANY_PLATFORM, 0);
        return VK_SUCCESS;
    }
    if (fault(FAULT_negotiation_writes_and_fails, ANY_PLATFORM)) {
        *version = (uint32_t)fault_value(FAULT_negotiation_writes_and_fails, ANY_PLATFORM, 0);
        return VK_ERROR_INCOMPATIBLE_DRIVER;
    }
    if (fault(FAULT_negotiation_leaves_version, ANY_PLATFORM)) {
        return VK_SUCCESS;
    }
    if (fault(FAULT_negotiation_forgets, ANY_PLATFORM) && negotiations > 1) {
        *version = 2;
        return VK_SUCCESS;
    }
    if (*version < (uint32_t)config.least_interface) {
        return fault(FAULT_negotiation_has_another_error, ANY_PLATFORM) ? VK_ERROR_INITIALIZATION_FAILED
                                                                        : VK_ERROR_INCOMPATIBLE_DRIVER;
    }
    if (fault(FAULT_negotiation_refuses_newer, ANY_PLATFORM) && *version > highest) {
        return VK_ERROR_INCOMPATIBLE_DRIVER;
    }
    *version = *version < highest ? *version : highest;
    return VK_SUCCESS;
}

VkResult negotiation(uint32_t *version)
{
    struct calllog_line line;
    const uint64_t arguments[] = {(uint64_t)(uintptr_t)version};
    calllog_begin(&mock_log, &line, CALLLOG_CALL, mock_name, "vk_icdNegotiateLoaderICDInterfaceVersion", arguments, 1);
    calllog_open_object(&line, "in");
    calllog_hex(&line, "version", *version);
    calllog_close_object(&line);
    calllog_commit(&mock_log, &line);
    sleep_milliseconds(
        fault(FAULT_negotiation_sleeps, ANY_PLATFORM) ? fault_value(FAULT_negotiation_sleeps, ANY_PLATFORM, 0) : 0);
    negotiations++;
    VkResult result = agree(version);
    agreed = *version;
    calllog_begin(&mock_log, &line, CALLLOG_RETURN, mock_name, "vk_icdNegotiateLoaderICDInterfaceVersion",
                  &(uint64_t){(uint64_t)result}, 1);
    calllog_open_object(&line, "out");
    calllog_hex(&line, "version", *version);
    calllog_close_object(&line);
    calllog_commit(&mock_log, &line);
    return result;
}
