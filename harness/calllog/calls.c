/* SPDX-License-Identifier: Apache-2.0 */
/* Call lines of the mocks, written from the generated description of each function. */
#define _GNU_SOURCE
#include "calls.h"

#include <string.h>

/* Whether the value of a property is a list; the names mean that for some functions only. */
static bool has_nested_list(const struct function_info *about, uint64_t name)
{
    enum function function = (enum function)(about - function_info);
    bool semaphore = function == FUNCTION_clCreateSemaphoreWithPropertiesKHR;
    bool memory = function == FUNCTION_clCreateBufferWithProperties || function == FUNCTION_clCreateImageWithProperties;
    return (memory && name == CL_MEM_DEVICE_HANDLE_LIST_KHR) ||
           (semaphore && (name == CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR || name == CL_MEM_DEVICE_HANDLE_LIST_KHR ||
                          name == CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR));
}

static uint64_t word_at(const void *list, unsigned width, size_t index)
{
    return first_word((const char *)list + index * width, width);
}

size_t list_length(const struct function_info *about, const void *list, unsigned width, size_t room)
{
    size_t at = 0;
    while (at < room && word_at(list, width, at) != 0) {
        bool nested = has_nested_list(about, word_at(list, width, at));
        at++;
        while (nested && at < room && word_at(list, width, at) != 0) {
            at++;
        }
        at++;
    }
    return at < room ? at + 1 : room;
}

unsigned list_width(const struct parameter_info *parameter)
{
    bool listed = parameter->kind == PARAMETER_HANDLES || parameter->kind == PARAMETER_PROPERTIES;
    bool narrow =
        parameter->pointee == sizeof(uint32_t) && UINTPTR_MAX == UINT32_MAX; /* the size of an address there */
    return listed && (narrow || parameter->pointee == sizeof(uint64_t)) ? parameter->pointee : 0;
}

void list_words(uint64_t *words, const void *list, unsigned width, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        words[i] = word_at(list, width, i);
    }
}

enum { MAX_WORDS = 64 };

static void log_list(struct calllog_line *line, const struct parameter_info *parameter, const void *list, size_t length)
{
    uint64_t words[MAX_WORDS];
    size_t count = length < MAX_WORDS ? length : MAX_WORDS;
    list_words(words, list, list_width(parameter), count);
    calllog_words(line, parameter_name(parameter), words, count);
}

/* What pointers point to, where that matters: strings, property lists, handle arrays. */
static void log_pointees(struct calllog_line *line, const struct function_info *about, const uint64_t *arguments)
{
    calllog_open_object(line, "in");
    for (unsigned i = 0; i < about->parameter_count; i++) {
        const struct parameter_info *parameter = &about->parameters[i];
        const void *pointer = (const void *)(uintptr_t)arguments[i];
        unsigned width = list_width(parameter);
        if (!pointer) {
            continue;
        }
        if (parameter->kind == PARAMETER_STRING) {
            calllog_string(line, parameter_name(parameter), pointer, strnlen(pointer, 1 << 16));
        } else if (parameter->kind == PARAMETER_PROPERTIES && width) {
            log_list(line, parameter, pointer, list_length(about, pointer, width, MAX_WORDS));
        } else if (parameter->kind == PARAMETER_HANDLES && i > 0) {
            log_list(line, parameter, pointer, (cl_uint)arguments[i - 1]);
        }
    }
    calllog_close_object(line);
}

static bool has_pointees(const struct function_info *about)
{
    for (unsigned i = 0; i < about->parameter_count; i++) {
        enum parameter_kind kind = about->parameters[i].kind;
        if (kind == PARAMETER_STRING || kind == PARAMETER_PROPERTIES || kind == PARAMETER_HANDLES) {
            return true;
        }
    }
    return false;
}

/* Without a log nothing is read of what the arguments point to: nobody has promised that it can be. */
static bool is_logged(void)
{
    return mock_log.map;
}

void log_call(const struct function_info *about, const uint64_t *arguments)
{
    if (!is_logged()) {
        return;
    }
    struct calllog_line line;
    calllog_begin(&mock_log, &line, CALLLOG_CALL, mock_name, about->name, arguments, about->parameter_count);
    if (has_pointees(about)) {
        log_pointees(&line, about, arguments);
    }
    calllog_commit(&mock_log, &line);
}

uint64_t first_word(const void *pointer, unsigned size)
{
    uint64_t word = 0;
    memcpy(&word, pointer, size < sizeof word ? size : sizeof word);
    return word;
}

void log_return(const struct function_info *about, const uint64_t *arguments, uint64_t result)
{
    if (!is_logged()) {
        return;
    }
    struct calllog_line line;
    calllog_begin(&mock_log, &line, CALLLOG_RETURN, mock_name, about->name, &result, about->result != RESULT_VOID);
    calllog_open_object(&line, "out");
    for (unsigned i = 0; i < about->parameter_count; i++) {
        const struct parameter_info *parameter = &about->parameters[i];
        bool out = parameter->kind == PARAMETER_HANDLE_OUT || parameter->kind == PARAMETER_SCALAR_OUT ||
                   parameter->kind == PARAMETER_ERRCODE;
        bool no_room = i > 0 && strcmp(parameter_name(&about->parameters[i - 1]), "num_entries") == 0 &&
                       (cl_uint)arguments[i - 1] == 0;
        if (out && arguments[i] && !no_room) {
            calllog_hex(&line, parameter_name(parameter),
                        first_word((const void *)(uintptr_t)arguments[i], parameter->pointee));
        }
    }
    calllog_close_object(&line);
    calllog_commit(&mock_log, &line);
}

cl_int answer_info(const uint64_t *arguments, const void *data, size_t size)
{
    size_t room = (size_t)arguments[0];
    void *to = (void *)(uintptr_t)arguments[1];
    size_t *size_ret = (size_t *)(uintptr_t)arguments[2];
    if (to && room < size) {
        return CL_INVALID_VALUE;
    }
    if (to) {
        memcpy(to, data, size);
    }
    if (size_ret) {
        *size_ret = size;
    }
    return CL_SUCCESS;
}
