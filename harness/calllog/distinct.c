/* SPDX-License-Identifier: Apache-2.0 */
/* Answers for calls whose arguments are bit patterns: nothing is read or written but what the addresses really hold,
 * and no two functions, parameters or components answer the same. */
#define _GNU_SOURCE
#include "distinct.h"

#include "calls.h"

#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* What a function of this component writes through its parameter `index`, or answers (index = number of parameters):
 * FNV-1a over "component/function/index", spread by the finaliser of splitmix64. */
static uint64_t distinct(const char *who, const char *function, unsigned index)
{
    const char last[] = {'/', (char)('0' + index / 10), (char)('0' + index % 10), '\0'};
    const char *const parts[] = {who, "/", function, last};
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t part = 0; part < sizeof parts / sizeof *parts; part++) {
        for (const char *c = parts[part]; *c; c++) {
            hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
        }
    }
    hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9u;
    hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebu;
    return hash ^ (hash >> 31);
}

enum { MAX_WORDS = 64 };

/* Reads up to `count` words of `width` bytes at any address; gives how many could be read. */
static size_t readable_words(uint64_t address, unsigned width, uint64_t *words, size_t count)
{
    uint64_t content[MAX_WORDS];
    struct iovec local = {content, count * width};
    struct iovec remote[MAX_WORDS];
    for (size_t i = 0; i < count && i < MAX_WORDS; i++) { /* a piece is read whole or not at all */
        remote[i] = (struct iovec){(char *)(uintptr_t)address + i * width, width};
    }
    ssize_t got = process_vm_readv(getpid(), &local, 1, remote, count, 0);
    size_t read = got < 0 ? 0 : (size_t)got / width;
    list_words(words, content, width, read);
    return read;
}

static void log_entry(struct calllog *log, const char *who, const struct function_info *about,
                      const uint64_t *arguments)
{
    enum { WORDS = 4 };
    struct calllog_line line;
    uint64_t words[MAX_WORDS];
    calllog_begin(log, &line, CALLLOG_CALL, who, about->name, arguments, about->parameter_count);
    calllog_open_object(&line, "in");
    for (unsigned i = 0; i < about->parameter_count; i++) {
        enum parameter_kind kind = about->parameters[i].kind;
        if (kind == PARAMETER_INTEGER || kind == PARAMETER_HANDLE || kind == PARAMETER_CALLBACK || !arguments[i]) {
            continue;
        }
        unsigned listed = list_width(&about->parameters[i]);
        unsigned width = listed ? listed : sizeof *words;
        size_t count = readable_words(arguments[i], width, words, kind == PARAMETER_PROPERTIES ? MAX_WORDS : WORDS);
        if (kind == PARAMETER_PROPERTIES) {
            count = list_length(about, words, sizeof *words, count);
        }
        calllog_words(&line, parameter_name(&about->parameters[i]), words, count);
    }
    calllog_close_object(&line);
    calllog_commit(log, &line);
}

static bool is_output(const struct parameter_info *parameter)
{
    return parameter->kind == PARAMETER_HANDLE_OUT || parameter->kind == PARAMETER_SCALAR_OUT ||
           parameter->kind == PARAMETER_ERRCODE || strcmp(parameter_name(parameter), "param_value") == 0;
}

static void write_outputs(const char *who, const struct function_info *about, const uint64_t *arguments)
{
    for (unsigned i = 0; i < about->parameter_count; i++) {
        const struct parameter_info *parameter = &about->parameters[i];
        uint64_t value = distinct(who, about->name, i);
        size_t size = parameter->pointee ? parameter->pointee : sizeof value;
        if (is_output(parameter) && arguments[i]) {
            memcpy((void *)(uintptr_t)arguments[i], &value, size < sizeof value ? size : sizeof value);
        }
    }
}

uint64_t distinct_answer(struct calllog *log, const char *who, enum function function, const uint64_t *arguments,
                         bool silent)
{
    const struct function_info *about = &function_info[function];
    log_entry(log, who, about, arguments);
    if (!silent) {
        write_outputs(who, about, arguments);
    }
    uint64_t result = about->result == RESULT_VOID ? 0 : distinct(who, about->name, about->parameter_count);
    struct calllog_line line;
    calllog_begin(log, &line, CALLLOG_RETURN, who, about->name, &result, 1);
    calllog_commit(log, &line);
    return result;
}
