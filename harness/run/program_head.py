# SPDX-License-Identifier: Apache-2.0
"""What each reproducer begins and ends with: helpers in C, and a main function that runs its parts."""

from __future__ import annotations

HEAD = r"""/* {title}
 *
{message}
 *
 * cc -w {name}.c -ldl -o {name} && ./{name} [LIBRARY]
 *
 * Each part runs in a process of its own. Exit code: 1 where the defect is there, 0 where it is gone, 125 where that
 * cannot be judged (the library cannot be loaded, or a call that must come first fails), as `git bisect run` wants it.
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#define CL_USE_DEPRECATED_OPENCL_3_0_APIS
#define CL_ENABLE_BETA_EXTENSIONS
#define _GNU_SOURCE
#include <CL/cl_egl.h>
#include <CL/cl_icd.h>
#include <CL/opencl.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
{declared}
#ifndef SECONDS
#define SECONDS 30 /* until a part counts as hung */
#endif

enum {{ GONE, THERE, NOT_JUDGED }};
static int *result; /* of the part that runs, which shares this with the main process */
static const char *path;
static void *library;

/* Memory that ends where an unreadable page begins. */
static void *memory(size_t size, int fill)
{{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (size / page + 1) * page;
    char *start = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(start + room, page, PROT_NONE);
    return memset(start + room - size, fill, size);
}}

static void *copy(const void *content, size_t size)
{{
    return memcpy(memory(size, 0), content, size);
}}

#define TEXT(text) copy(text, sizeof(text))
#define WORDS(...) copy((const uint64_t[]){{__VA_ARGS__}}, sizeof((const uint64_t[]){{__VA_ARGS__}}))
#define V(pointer) ((uint64_t)(uintptr_t)(pointer))
#define at(start, offset) ((unsigned char *)(uintptr_t)(start) + (offset))

static uint64_t load(const void *from, size_t size)
{{
    uint64_t value = 0;
    return memcpy(&value, from, size), value;
}}

#define u8(start, offset) load(at(start, offset), 1)
#define u16(start, offset) load(at(start, offset), 2)
#define u32(start, offset) load(at(start, offset), 4)
#define u64(start, offset) load(at(start, offset), 8)
#define i32(start, offset) ((cl_int)u32(start, offset))
#define HANDLE(start, offset) ((void *)(uintptr_t)u64(start, offset))

/* A function as a loader finds it: in the dispatch table of an object, at an address, or exported. */
#define OF(object) (*(const cl_icd_dispatch *const *)(object))
#define AT(address, function) ((__typeof__(&function))(address))
#define EXPORTED(function) AT(dlsym(library, #function), function)

static void notify(void)
{{
}}

static const char *code(cl_int error)
{{
    static char text[16];
{codes}    snprintf(text, sizeof text, "%d", error);
    return text;
}}

/* Ends a part in which a call failed that only prepares the one in question. */
static void prepared(int is_good, const char *call)
{{
    if (!is_good) {{
        printf("  %s failed, which must come first\n", call);
        *result = NOT_JUDGED;
        exit(0);
    }}
}}

static void judge(int is_good, const char *expected)
{{
    printf("  expected: %s\n", expected);
    *result = is_good ? GONE : THERE;
}}

/* Some bytes of a content from one of them on. */
static void show_bytes(const char *how, const char *what, const void *content, size_t from, size_t size)
{{
    enum {{ MOST = 64 }};
    printf("  %s: %s", how, what);
    from ? printf(" from byte %zu on =", from) : printf(" =");
    for (size_t i = from; i < size && i - from < MOST; i++) {{
        printf(" %02x", ((const unsigned char *)content)[i]);
    }}
    puts(size - from > MOST ? " ..." : "");
}}

/* The first byte that differs; the size where none does. */
static size_t difference(const void *one, const void *other, size_t size)
{{
    size_t at = 0;
    while (at < size && ((const unsigned char *)one)[at] == ((const unsigned char *)other)[at]) {{
        at++;
    }}
    return at;
}}

/* Judges contents that must be the same; shows both from the first byte on that differs. */
static void judge_bytes(const char *what, const void *found, const void *expected, size_t size)
{{
    size_t first = difference(found, expected, size);
    *result = first == size ? GONE : THERE;
    show_bytes("got", what, found, first % size, size);
    show_bytes("expected", what, expected, first % size, size);
}}

static void got_bytes(const char *what, const void *found, size_t size)
{{
    show_bytes("got", what, found, 0, size);
}}
{answers}
"""

# For parts that compare all answers with those on record.
ANSWERS = r"""
static int differs;

/* Addresses differ between two runs: each stands for the order in which it was seen first. */
static void number_addresses(unsigned char *bytes, size_t size)
{
    static uint64_t seen[4096];
    static uint64_t count;
    for (size_t i = 0; i + 8 <= size; i += 8) {
        uint64_t word = load(bytes + i, 8), place = 0;
        if (word >> 40 >= 0x10 && word >> 47 == 0) {
            while (place < count && seen[place] != word) {
                place++;
            }
            if (place == count && count < 4096) {
                seen[count++] = word;
            }
            word = (uint64_t)0xADD << 48 | place;
            memcpy(bytes + i, &word, 8);
        }
    }
}

/* Compares an answer with that of the run in which the check failed. */
static void answer(const char *what, const void *found, size_t size, const char *before)
{
    unsigned char *bytes = malloc(size + 8);
    memcpy(bytes, found, size);
    number_addresses(bytes, size);
    size_t first = difference(bytes, before, size);
    if (first < size) {
        differs = 1;
        show_bytes("got", what, found, first, size);
        puts("  (another answer than in the run that failed)");
    }
    free(bytes);
}

static void answer_word(const char *what, uint64_t found, const char *before)
{
    answer(what, &found, 8, before);
}
"""

TAIL = r"""
/* Runs a part in a process of its own; gives what it showed. */
static int run(void (*part)(void), const char *name)
{
    printf("%s\n", name);
    fflush(stdout);
    *result = -1;
    pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS);
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        prepared(library != NULL, "dlopen");
        part();
        exit(0);
    }
    int status = 0;
    waitpid(child, &status, WUNTRACED);
    int stopped = WIFSTOPPED(status); /* no alarm ends that */
    if (stopped) {
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    if (stopped || WIFSIGNALED(status)) {
        int hung = stopped || WTERMSIG(status) == SIGALRM;
        printf("  got: %s\n", hung ? "no answer" : strsignal(WTERMSIG(status)));
        *result = THERE;
    } else if (WEXITSTATUS(status)) {
        printf("  got: the process ended with exit code %d\n", WEXITSTATUS(status));
        *result = THERE;
    } else if (*result < 0) {
        *result = GONE;
    }
    puts(*result == THERE ? "  => the defect is there" : *result ? "  => cannot be judged" : "  => the defect is gone");
    return *result;
}

int main(int count, char **arguments)
{
    static const struct {
        void (*part)(void);
        const char *name;
    } parts[] = {
PARTS    };
    int seen[3] = {0};
    path = count > 1 ? arguments[1] : LIBRARY;
    result = mmap(NULL, sizeof *result, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
VARIABLES    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        seen[run(parts[i].part, parts[i].name)]++;
    }
    return seen[THERE] ? 1 : seen[GONE] ? 0 : 125;
}
"""
