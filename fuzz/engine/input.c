/* SPDX-License-Identifier: Apache-2.0 */
/* The input, piece by piece, and memory that lives as long as it. */
#include "internal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA = 1 << 20, SPARES = 64 };

static const uint8_t *at;
static const uint8_t *end;
static const uint8_t *beginning;

static struct chunk {
    struct chunk *next;
    size_t used;
    size_t size;
    char memory[];
} * first, *kept, *spares; /* the last: chunks for large inputs, which need not be had again each time */
static unsigned spare_count;

volatile unsigned long input_number;

void input_begin(const uint8_t *data, size_t size)
{
    input_number++;
    at = beginning = data;
    end = data + size;
    records_begin(data, size);
}

/* One chunk stays for the next input, and what was kept before the first one. */
void input_end(void)
{
    while (first && first->next != kept) {
        struct chunk *next = first->next;
        if (first->size == ARENA && spare_count < SPARES) {
            first->next = spares;
            spares = first;
            spare_count++;
        } else {
            free(first);
        }
        first = next;
    }
    if (first) {
        first->used = 0;
    }
}

static struct chunk *add_chunk(size_t size)
{
    struct chunk *chunk = size == ARENA ? spares : NULL;
    if (chunk) {
        spares = chunk->next;
        spare_count--;
    } else {
        chunk = malloc(sizeof *chunk + size);
    }
    if (!chunk) {
        stop("out of memory");
    }
    *chunk = (struct chunk){.next = first, .size = size};
    return first = chunk;
}

void input_checkpoint(void)
{
    kept = first;
    add_chunk(ARENA);
}

void *keep(size_t size)
{
    size = (size + 15) & ~(size_t)15;
    if (!first || first->size - first->used < size) {
        add_chunk(size > ARENA ? size : ARENA);
    }
    void *memory = first->memory + first->used;
    first->used += size;
    return memset(memory, 0, size);
}

const char *keep_text(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = keep((size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    return text;
}

unsigned edge_length(unsigned n)
{
    /* Around each of 2^2 to 2^12 a limit may be; 4096 is PATH_MAX, 255 is NAME_MAX. */
    enum { FIRST_POWER = 2, POWERS = 11 };
    unsigned edge = n % (3 * POWERS);
    return (1U << (FIRST_POWER + edge / 3)) - 1 + edge % 3;
}

unsigned take_length(unsigned most)
{
    enum { SMALL = 96, EDGES = 224 };
    unsigned kind = take_byte();
    unsigned length = kind < SMALL ? kind % 17 : kind < EDGES ? edge_length(kind - SMALL) : take_below(65536);
    return length <= most ? length : length % (most + 1);
}

const char *take_long_text(unsigned most)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    unsigned length = take_length(most);
    unsigned seed = take_byte();
    char *text = keep(length + 1);
    for (unsigned i = 0; i < length; i++) {
        text[i] = letters[(seed + i * (1 + seed % 7)) % (sizeof letters - 1)];
    }
    return text;
}

const char *shown_bytes(const void *bytes, size_t size)
{
    char *text = keep(2 * size + 1);
    char *to = text;
    for (const char *c = bytes; c < (const char *)bytes + size; c++) {
        if (*c) {
            *to++ = *c;
        } else {
            *to++ = '\\';
            *to++ = '0';
        }
    }
    return text;
}

bool input_ended(void)
{
    return at == end;
}

void record_begins(void)
{
    if (at < end) {
        records_note((size_t)(at - beginning));
    }
}

uint8_t take_byte(void)
{
    return at < end ? *at++ : 0;
}

static uint64_t take_number(int bytes)
{
    uint64_t number = 0;
    for (int i = 0; i < bytes; i++) {
        number |= (uint64_t)take_byte() << (8 * i);
    }
    return number;
}

uint32_t take_word(void)
{
    return (uint32_t)take_number(4);
}

uint64_t take_long(void)
{
    return take_number(8);
}

unsigned take_below(unsigned below)
{
    if (below < 2) {
        return 0;
    }
    return (unsigned)take_number(below > 256 ? 2 : 1) % below;
}

bool take_chance(unsigned of)
{
    return take_below(of) == of - 1;
}

size_t take_bytes(const uint8_t **bytes, size_t most)
{
    size_t left = (size_t)(end - at);
    size_t size = most < left ? most : left;
    *bytes = at;
    at += size;
    return size;
}

const char *take_text(size_t most)
{
    const uint8_t *bytes;
    size_t size = take_bytes(&bytes, take_below((unsigned)most + 1));
    char *text = keep(size + 1);
    memcpy(text, bytes, size);
    return text;
}

/* --- names of functions --- */

enum { BUCKETS = 1024, WORD = sizeof(uint64_t) };

static struct {
    const char *name; /* or NULL */
    size_t length;
    int number;
} bucket[BUCKETS];

/* Bytes that are known to be readable. */
__attribute__((no_sanitize("address"))) static uint64_t word_at(const char *text)
{
    uint64_t word;
    memcpy(&word, text, WORD);
    return word;
}

/* By the length of a name and how it ends: what a name begins with it has in common with many. */
static unsigned hash_of(const char *name, size_t length)
{
    uint64_t hash = length;
    if (length >= WORD) {
        hash ^= word_at(name + length - WORD) ^ word_at(name + (length - WORD) / 2) << 1;
    }
    return (unsigned)(hash * 0x9E3779B97F4A7C15U >> 32) % BUCKETS;
}

/* As memcmp, which would show it to the fuzzer, for names of one length. */
static bool names_equal(const char *a, const char *b, size_t length)
{
    for (size_t i = 0; i + WORD < length; i += WORD) {
        if (word_at(a + i) != word_at(b + i)) {
            return false;
        }
    }
    return length < WORD ? texts_equal(a, b) : word_at(a + length - WORD) == word_at(b + length - WORD);
}

__attribute__((constructor)) static void fill_buckets(void)
{
    for (int f = 0; f < FUNCTION_COUNT; f++) {
        const char *name = function_info[f].name;
        unsigned at_bucket = hash_of(name, strlen(name));
        while (bucket[at_bucket].name) {
            at_bucket = (at_bucket + 1) % BUCKETS;
        }
        bucket[at_bucket].name = name;
        bucket[at_bucket].length = strlen(name);
        bucket[at_bucket].number = f;
    }
}

int function_named(const char *name)
{
    size_t length = strlen(name); /* the sanitizer's, which looks whether the loader may read all of it */
    for (unsigned b = hash_of(name, length); bucket[b].name; b = (b + 1) % BUCKETS) {
        if (bucket[b].length == length && names_equal(bucket[b].name, name, length)) {
            return bucket[b].number;
        }
    }
    return -1;
}
