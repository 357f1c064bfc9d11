/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Breakpoints on basic blocks; see blocks.h.
 *
 * A breakpoint is the one-byte instruction int3. The handler of the signal that it raises puts the library's own byte
 * back, notes the hit, and has the processor try again. Another thread may have run into the same breakpoint meanwhile:
 * it finds the byte in place, and tries again as well. So the address of the trap alone decides whether it is ours.
 *
 * What this cannot do: a library that reads its own code sees the breakpoints. A library that replaces the handler past
 * the C library, or blocks SIGTRAP there, dies of the first breakpoint in the same call: what shows only with
 * breakpoints is not a finding (harness/fuzz/findings.py).
 */
#define _GNU_SOURCE
#include "blocks.h"

#include "trap.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

enum { BREAKPOINT = 0xcc, USAGE = 2 };
enum { HIT = 1, WRITTEN = 2 }; /* states of a block */

static struct {
    size_t count;
    uintptr_t base;
    uint64_t *starts; /* addresses in the file, ascending */
    uint8_t *original;
    uint8_t *counters;
    _Atomic uint8_t *states;
    atomic_size_t hit;
    uint32_t *again; /* blocks that were hit in this input, where breakpoints are to come back */
    atomic_size_t again_count;
    bool comes_back[2]; /* whether they do: after the first input, and after all others */
    bool begun;         /* the first input is over */
    size_t inputs;
} watched;

/* The fuzzer's, where there is one that knows them. */
void __sanitizer_cov_8bit_counters_init(char *start, char *stop) __attribute__((weak));
void __sanitizer_cov_pcs_init(const uintptr_t *start, const uintptr_t *stop) __attribute__((weak));
void __afl_coverage_interesting(uint8_t value, uint32_t id) __attribute__((weak));

size_t blocks_hit(void)
{
    return atomic_load(&watched.hit);
}

size_t blocks_total(void)
{
    return watched.count;
}

static void stop(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
static void stop(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("clharness-fuzz: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    _exit(USAGE);
}

/* Memory that is nobody's: neither the fuzzer's leak check nor the subject's heap knows of it. */
static void *zeros(size_t count, size_t size)
{
    void *memory = mmap(NULL, count * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        stop("no memory for %zu blocks", count);
    }
    return memory;
}

static uint8_t *code_of(size_t block)
{
    return (uint8_t *)(watched.base + watched.starts[block]); /* NOLINT(performance-no-int-to-ptr): a loaded library */
}

/* The block that starts at the address; watched.count where none does. */
static size_t block_at(uintptr_t address)
{
    size_t low = 0;
    size_t high = watched.count;
    uint64_t wanted = address - watched.base;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (watched.starts[middle] < wanted) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < watched.count && watched.starts[low] == wanted ? low : watched.count;
}

static void note(size_t block)
{
    watched.counters[block] = 1;
    if (__afl_coverage_interesting) {
        __afl_coverage_interesting(1, (uint32_t)block);
    }
    uint8_t never = 0;
    if (atomic_compare_exchange_strong(&watched.states[block], &never, HIT)) {
        atomic_fetch_add(&watched.hit, 1);
    }
}

static void restore(size_t block)
{
    /* An exchange, so that of several threads in the same breakpoint one notes it. */
    uint8_t *code = code_of(block);
    if (__atomic_exchange_n(code, watched.original[block], __ATOMIC_SEQ_CST) == BREAKPOINT &&
        watched.comes_back[watched.begun]) {
        watched.again[atomic_fetch_add(&watched.again_count, 1)] = (uint32_t)block;
    }
}

#if defined(__x86_64__)
static int is_ours(void *context)
{
    greg_t *next = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    size_t block = block_at((uintptr_t)*next - 1);
    if (block == watched.count) {
        return false;
    }
    restore(block);
    note(block);
    *next -= 1;
    return true;
}
#endif

static uint32_t crc32_of(FILE *file)
{
    static uint32_t table[256];
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++) {
            table[i] = table[i] & 1 ? 0xedb88320U ^ table[i] >> 1 : table[i] >> 1;
        }
    }
    uint32_t crc = ~0U;
    uint8_t part[1 << 16];
    for (size_t length; (length = fread(part, 1, sizeof part, file)) > 0;) {
        for (size_t i = 0; i < length; i++) {
            crc = table[(crc ^ part[i]) & 0xff] ^ crc >> 8;
        }
    }
    return ~crc;
}

static void require_same_library(const char *block_file, const char *path, uint64_t size, uint32_t crc)
{
    FILE *library = fopen(path, "rbe");
    struct stat is;
    if (!library || fstat(fileno(library), &is) != 0) {
        stop("%s cannot be read: %s", path, strerror(errno));
    }
    if ((uint64_t)is.st_size != size || crc32_of(library) != crc) {
        stop("%s was made for another build of %s: make it again (python -m harness.fuzz.blocks)", block_file, path);
    }
    fclose(library);
}

/* One line with the value of a name; ends the process where another stands there. */
static uint64_t header(FILE *file, const char *block_file, const char *name, int radix)
{
    char line[4200];
    size_t length = strlen(name);
    if (!fgets(line, sizeof line, file) || strncmp(line, name, length) != 0 || line[length] != ' ') {
        stop("%s is not a file of basic blocks, or is damaged: no line '%s'", block_file, name);
    }
    return radix ? strtoull(line + length, NULL, radix) : 0;
}

static void read_blocks(const char *block_file, const char *library_path)
{
    FILE *file = fopen(block_file, "re");
    if (!file) {
        stop("%s cannot be read: %s", block_file, strerror(errno));
    }
    if (header(file, block_file, "clharness-blocks", 10) != 1) {
        stop("%s is a file of basic blocks of another version: make it again", block_file);
    }
    header(file, block_file, "library", 0);
    header(file, block_file, "build-id", 0);
    uint64_t size = header(file, block_file, "size", 10);
    uint32_t crc = (uint32_t)header(file, block_file, "crc32", 16);
    require_same_library(block_file, library_path, size, crc);
    watched.count = header(file, block_file, "blocks", 10);
    if (watched.count == 0 || watched.count > size) {
        stop("%s is damaged: %zu blocks in a file of %" PRIu64 " bytes", block_file, watched.count, size);
    }
    watched.starts = zeros(watched.count, sizeof *watched.starts);
    for (size_t i = 0; i < watched.count; i++) {
        char line[32];
        watched.starts[i] = fgets(line, sizeof line, file) ? strtoull(line, NULL, 16) : 0;
        if (watched.starts[i] <= (i ? watched.starts[i - 1] : 0)) {
            stop("%s is damaged at block %zu of %zu", block_file, i, watched.count);
        }
    }
    fclose(file);
}

/* Makes the segments with code writable; each block must lie in one. */
static int open_code(struct dl_phdr_info *object, size_t size, void *count)
{
    (void)size;
    if (object->dlpi_addr != watched.base) {
        return 0;
    }
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    size_t inside = 0;
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X)) {
            continue;
        }
        uintptr_t first = (watched.base + segment->p_vaddr) & ~(page - 1);
        uintptr_t last = watched.base + segment->p_vaddr + segment->p_memsz;
        void *code = (void *)first; /* NOLINT(performance-no-int-to-ptr) */
        if (mprotect(code, last - first, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
            stop("the code of the library cannot be made writable for breakpoints: %s", strerror(errno));
        }
        for (size_t block = 0; block < watched.count; block++) {
            inside += watched.starts[block] - segment->p_vaddr < segment->p_memsz;
        }
    }
    *(size_t *)count = inside;
    return 1;
}

static void tell_fuzzer(void)
{
    if (!__sanitizer_cov_8bit_counters_init || !__sanitizer_cov_pcs_init) {
        return;
    }
    uintptr_t *table = zeros(watched.count, 2 * sizeof *table); /* address and flags */
    for (size_t block = 0; block < watched.count; block++) {
        table[2 * block] = (uintptr_t)code_of(block);
    }
    __sanitizer_cov_8bit_counters_init((char *)watched.counters, (char *)watched.counters + watched.count);
    __sanitizer_cov_pcs_init(table, table + 2 * watched.count);
}

void blocks_watch(const char *block_file, const char *library_path, uintptr_t base)
{
#if defined(__x86_64__)
    read_blocks(block_file, library_path);
    watched.base = base;
    watched.original = zeros(watched.count, 1);
    watched.counters = zeros(watched.count, 1);
    watched.states = zeros(watched.count, sizeof *watched.states);
    watched.again = zeros(watched.count, sizeof *watched.again);
    const char *rearm = getenv("CLHARNESS_FUZZ_REARM");
    watched.comes_back[false] = true;
    watched.comes_back[true] = rearm && strcmp(rearm, "1") == 0;
    size_t inside = 0;
    if (!dl_iterate_phdr(open_code, &inside) || inside != watched.count) {
        stop("%s does not fit what is loaded at 0x%" PRIxPTR, block_file, base);
    }
    tell_fuzzer();
    trap_keep(is_ours);
    for (size_t block = 0; block < watched.count; block++) {
        watched.original[block] = *code_of(block);
        *code_of(block) = BREAKPOINT;
    }
#else
    (void)base;
    (void)read_blocks;
    stop("%s for %s: coverage by breakpoints is for x86-64 only", block_file, library_path);
#endif
}

void blocks_new_input(void)
{
    trap_check();
    size_t count = atomic_exchange(&watched.again_count, 0);
    for (size_t i = 0; i < count; i++) {
        *code_of(watched.again[i]) = BREAKPOINT;
    }
    watched.begun = watched.inputs++ > 0;
}

int blocks_dump(const char *path)
{
    FILE *file = fopen(path, "ae");
    if (!file) {
        return -1;
    }
    for (size_t block = 0; block < watched.count; block++) {
        uint8_t hit = HIT;
        if (atomic_compare_exchange_strong(&watched.states[block], &hit, WRITTEN)) {
            fprintf(file, "%" PRIx64 "\n", watched.starts[block]);
        }
    }
    return fclose(file) == 0 ? 0 : -1;
}
