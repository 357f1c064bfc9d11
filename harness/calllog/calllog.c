/* SPDX-License-Identifier: Apache-2.0 */
/* Writer of the call log; formats by hand, because it runs inside every dispatched call (see `clharness bench`). */
#include "calllog.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#if defined(__SSE2__) && !defined(CALLLOG_WITHOUT_SSE2) /* tests build both */
#include <emmintrin.h>
#define HAS_SSE2 1
#else
#define HAS_SSE2 0
#endif

#if defined(__linux__) && !defined(MADV_POPULATE_WRITE)
#define MADV_POPULATE_WRITE 23 /* Linux 5.14; C libraries have it since later */
#endif

#define MAGIC "clharness call log " /* and the version; lines of the first were objects */

/* At the start of the file. `next` counts bytes of lines reserved; lines start after CALLLOG_HEADER bytes. Whoever
 * opens the file first sets `start` and `thread`, to which the lines are relative: that makes them short. */
struct header {
    char magic[32];
    _Atomic uint64_t next;
    _Atomic uint64_t dropped;
    _Atomic uint64_t start;  /* nanoseconds of CLOCK_MONOTONIC, added to the time of each line */
    _Atomic uint64_t thread; /* exclusive or with the thread of each line */
};

static uint64_t nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Unique per thread and free: the thread pointer where it can be read, else the thread's own word. */
static uint64_t this_thread(void)
{
#if defined(_WIN64)
    uint64_t thread;
    __asm__("movq %%gs:0x30, %0" : "=r"(thread));
    return thread;
#elif defined(__x86_64__) && !defined(_WIN32)
    uint64_t thread;
    __asm__("movq %%fs:0, %0" : "=r"(thread));
    return thread;
#else
    return (uint64_t)(uintptr_t)pthread_self();
#endif
}

/* The value of a word of the header: `wanted` where nobody has set it yet. */
static uint64_t agreed(_Atomic uint64_t *word, uint64_t wanted)
{
    uint64_t value = 0;
    return atomic_compare_exchange_strong(word, &value, wanted) ? wanted : value;
}

int calllog_open(struct calllog *log, const char *path)
{
    struct stat status;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    log->map = NULL;
    log->start = log->thread = 0;
    if (fd < 0) {
        return -1;
    }
    if (fstat(fd, &status) != 0 || status.st_size <= CALLLOG_HEADER) {
        close(fd);
        errno = EINVAL;
        return -1;
    }
    log->size = (size_t)status.st_size - CALLLOG_HEADER;
    void *map = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (map == MAP_FAILED) {
        return -1;
    }
    if (memcmp(map, MAGIC "2\n", sizeof MAGIC + 1) != 0 && memcmp(map, MAGIC "1\n", sizeof MAGIC + 1) != 0) {
        munmap(map, (size_t)status.st_size);
        errno = EINVAL;
        return -1;
    }
    struct header *header = map;
    log->map = map;
    log->start = agreed(&header->start, nanoseconds());
    log->thread = agreed(&header->thread, this_thread());
    atomic_init(&log->touched, 0);
    atomic_init(&log->run, 0);
    return 0;
}

void calllog_close(struct calllog *log)
{
    if (log->map) {
        munmap(log->map, log->size + CALLLOG_HEADER);
        log->map = NULL;
    }
}

/* TAIL is the room that every line keeps for its end: closing braces and the mark of a cut. The limits of strings are
 * bytes before escaping, which makes six of one; the start of a line has to fit whatever its names are. */
enum { TAIL = 32, MAX_DEPTH = 16, MAX_VALUES = 64, NAME_LIMIT = 128, STRING_LIMIT = 512 };

/* Room for `length` more bytes, or NULL where they do not fit: then the line is cut. What is written after them, up
 * to TAIL bytes, is overwritten by what comes next. */
static char *reserve(struct calllog_line *line, size_t length)
{
    if (line->cut || line->length + length > CALLLOG_LINE - TAIL) {
        line->cut = 1;
        return NULL;
    }
    char *to = line->text + line->length;
    line->length += length;
    return to;
}

/* Whether so many pieces of a size fit, so that they can be written without asking again. */
static inline bool has_room(const struct calllog_line *line, size_t count, size_t size)
{
    return !line->cut && count < CALLLOG_LINE && line->length + count * size <= CALLLOG_LINE - TAIL;
}

/* Not inlined: what compilers make of a short copy whose longest length they know costs more than the call. */
__attribute__((noinline)) static void put(struct calllog_line *line, const char *text, size_t length)
{
    char *to = reserve(line, length);
    if (to) {
        memcpy(to, text, length);
    }
}

/* Of a length that the compiler knows: a few moves. */
static inline void put_fixed(struct calllog_line *line, const char *text, size_t length)
{
    char *to = reserve(line, length);
    if (to) {
        memcpy(to, text, length);
    }
}

#define PUT(line, literal) put_fixed(line, literal, sizeof(literal) - 1)

#define ONES UINT64_C(0x0101010101010101) /* 1 in each of eight bytes */

#if HAS_SSE2
/* The hexadecimal digits of a number, in the order of text: sixteen bytes, all at once. */
static inline void hex_digits(char *to, uint64_t value)
{
    uint64_t bytes = __builtin_bswap64(value);
    __m128i low = _mm_set1_epi8(15);
    __m128i pairs = _mm_loadl_epi64((const __m128i *)&bytes);
    __m128i digits = _mm_unpacklo_epi8(_mm_and_si128(_mm_srli_epi16(pairs, 4), low), _mm_and_si128(pairs, low));
    __m128i letters = _mm_and_si128(_mm_cmpgt_epi8(digits, _mm_set1_epi8(9)), _mm_set1_epi8('a' - '0' - 10));
    digits = _mm_add_epi8(_mm_add_epi8(digits, _mm_set1_epi8('0')), letters);
    _mm_storeu_si128((__m128i *)to, digits);
}
#else
/* The eight hexadecimal digits of a number, in the order of text: each of its nibbles becomes a byte, all at once. */
static void eight_digits(char *to, uint32_t value)
{
    const uint64_t ones = ONES;
    uint64_t x = value;
    x = (x << 16 | x) & 0x0000FFFF0000FFFFU;
    x = (x << 8 | x) & 0x00FF00FF00FF00FFU;
    x = (x << 4 | x) & 0x0F0F0F0F0F0F0F0FU;
    uint64_t letters = (x + 6 * ones) >> 4 & ones;
    x += '0' * ones + letters * ('a' - '0' - 10);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    x = __builtin_bswap64(x);
#endif
    memcpy(to, &x, sizeof x);
}

static inline void hex_digits(char *to, uint64_t value)
{
    eight_digits(to, (uint32_t)(value >> 32));
    if ((uint32_t)value) {
        eight_digits(to + 8, (uint32_t)value);
    } else {
        memset(to + 8, '0', 8);
    }
}
#endif

/* Gives where the copy of a literal ends. */
#define COPY(to, literal) (memcpy(to, literal, sizeof(literal) - 1), (to) + sizeof(literal) - 1)

enum { HEX_ROOM = 20 }; /* bytes of a word: "0x…" */

/* A number without zeros in front, where there is room for sixteen bytes. Gives where it ends. */
static inline char *digits_at(char *to, uint64_t value)
{
    if (value < 16) { /* as most are */
        *to = "0123456789abcdef"[value];
        return to + 1;
    }
    size_t count = (67 - (size_t)__builtin_clzll(value)) / 4;
    hex_digits(to, value << (64 - 4 * count)); /* the first digit in front */
    return to + count;
}

/* A word, where there is room for it. Gives where it ends. */
static inline char *hex_at(char *to, uint64_t value)
{
    to = digits_at(COPY(to, "\"0x"), value);
    *to = '"';
    return to + 1;
}

static void put_hex(struct calllog_line *line, uint64_t value)
{
    char word[HEX_ROOM];
    put(line, word, (size_t)(hex_at(word, value) - word));
}

static void put_key(struct calllog_line *line, const char *key)
{
    if (line->length == line->head) {
        PUT(line, ",{\"");
    } else if (!line->cut && line->text[line->length - 1] != '{') {
        PUT(line, ",\"");
    } else {
        PUT(line, "\"");
    }
    put(line, key, strlen(key));
    PUT(line, "\":");
}

static bool is_plain(unsigned char c)
{
    return c >= ' ' && c < 127 && c != '"' && c != '\\';
}

/* Whether all of eight bytes are plain. No byte below ' ' or above '~' that it is asked of carries into another one
 * without being noticed itself. */
static bool are_plain(uint64_t x)
{
    uint64_t quotes = x ^ '"' * ONES;
    uint64_t slashes = x ^ '\\' * ONES;
    uint64_t bad = x | (x - ' ' * ONES) | (x + ONES) | ((quotes - ONES) & ~quotes) | ((slashes - ONES) & ~slashes);
    return !(bad & 0x80 * ONES);
}

#if HAS_SSE2
/* The same of sixteen bytes, those above '~' among the ones below ' '. */
static inline bool copy_plain_16(char *to, const char *text)
{
    __m128i x = _mm_loadu_si128((const __m128i *)text);
    __m128i outside = _mm_or_si128(_mm_cmplt_epi8(x, _mm_set1_epi8(' ')), _mm_cmpeq_epi8(x, _mm_set1_epi8(127)));
    __m128i special = _mm_or_si128(_mm_cmpeq_epi8(x, _mm_set1_epi8('"')), _mm_cmpeq_epi8(x, _mm_set1_epi8('\\')));
    _mm_storeu_si128((__m128i *)to, x);
    return _mm_movemask_epi8(_mm_or_si128(outside, special)) == 0;
}
#endif

static inline bool copy_plain_8(char *to, const char *text)
{
    uint64_t eight;
    memcpy(&eight, text, sizeof eight);
    memcpy(to, &eight, sizeof eight);
    return are_plain(eight);
}

/* The same of four to eight bytes. */
static inline bool copy_plain_few(char *to, const char *text, size_t length)
{
    uint32_t first;
    uint32_t last;
    memcpy(&first, text, sizeof first);
    memcpy(&last, text + length - sizeof last, sizeof last);
    memcpy(to, &first, sizeof first);
    memcpy(to + length - sizeof last, &last, sizeof last);
    return are_plain(first | (uint64_t)last << 32);
}

/* Copies plain text where there is room for it; its last bytes together with some before them, which are copied twice.
 * Gives where it ends, or NULL where it is not plain. */
static inline char *plain_at(char *to, const char *text, size_t length)
{
    bool good = true;
    size_t at = 0;
#if HAS_SSE2
    if (length >= 16) {
        for (; length - at > 16 && good; at += 16) {
            good = copy_plain_16(to + at, text + at);
        }
        return good && copy_plain_16(to + length - 16, text + length - 16) ? to + length : NULL;
    }
#endif
    if (length >= 8) {
        for (; length - at > 8 && good; at += 8) {
            good = copy_plain_8(to + at, text + at);
        }
        return good && copy_plain_8(to + length - 8, text + length - 8) ? to + length : NULL;
    }
    if (length >= 4) {
        return copy_plain_few(to, text, length) ? to + length : NULL;
    }
    for (; at < length && good; at++) {
        good = is_plain((unsigned char)text[at]);
        to[at] = text[at];
    }
    return good ? to + length : NULL;
}

static void put_string(struct calllog_line *line, const char *text, size_t length, size_t limit)
{
    size_t shown = length < limit ? length : limit;
    PUT(line, "\"");
    char *end = shown == length && has_room(line, length, 1) ? plain_at(line->text + line->length, text, length) : NULL;
    if (end) { /* as nearly all are */
        line->length += length;
        PUT(line, "\"");
        return;
    }
    for (size_t i = 0; i < shown;) {
        size_t start = i;
        while (i < shown && is_plain((unsigned char)text[i])) {
            i++;
        }
        put(line, text + start, i - start);
        if (i < shown) {
            unsigned char c = (unsigned char)text[i++];
            char escape[6] = {'\\', 'u', '0', '0', "0123456789abcdef"[c >> 4], "0123456789abcdef"[c & 15]};
            put(line, escape, sizeof escape);
        }
    }
    if (length > limit) {
        PUT(line, "...");
    }
    PUT(line, "\"");
}

/* Cuts back to the last whole member, so that a cut line is still JSON. */
static void settle(struct calllog_line *line, size_t before)
{
    if (line->cut) {
        line->length = before;
    }
}

/* The usual names, none of which needs escapes or cuts, in a line that has room for them. Gives where they end, or NULL
 * where they are unusual. */
static inline char *names_at(char *to, const char *who, const char *name)
{
    size_t lengths[] = {strlen(who), strlen(name)};
    if (lengths[0] > NAME_LIMIT || lengths[1] > NAME_LIMIT) {
        return NULL;
    }
    to = plain_at(COPY(to, ",\""), who, lengths[0]);
    to = to ? plain_at(COPY(to, "\",\""), name, lengths[1]) : NULL;
    return to ? COPY(to, "\"") : NULL;
}

/* The head of a line always fits. */
void calllog_begin(const struct calllog *log, struct calllog_line *line, enum calllog_kind kind, const char *who,
                   const char *name, const uint64_t *values, size_t count)
{
    char *to = COPY(line->text, "[\"? ");
    line->text[2] = (char)kind;
    to = digits_at(to, nanoseconds() - log->start);
    *to++ = ' ';
    to = digits_at(to, this_thread() ^ log->thread);
    for (size_t i = 0; i < count && i < MAX_VALUES; i++) {
        *to++ = ' ';
        to = digits_at(to, values[i]);
    }
    *to++ = '"';
    line->depth = 0;
    line->cut = 0;
    line->length = (size_t)(to - line->text);
    to = names_at(to, who, name);
    if (to) {
        line->length = (size_t)(to - line->text);
    } else {
        PUT(line, ",");
        put_string(line, who, strlen(who), NAME_LIMIT);
        PUT(line, ",");
        put_string(line, name, strlen(name), NAME_LIMIT);
    }
    line->head = line->length;
    line->cut = count > MAX_VALUES;
}

void calllog_hex(struct calllog_line *line, const char *key, uint64_t value)
{
    size_t before = line->length;
    put_key(line, key);
    put_hex(line, value);
    settle(line, before);
}

void calllog_string(struct calllog_line *line, const char *key, const char *text, size_t length)
{
    size_t before = line->length;
    put_key(line, key);
    put_string(line, text, length, STRING_LIMIT);
    settle(line, before);
}

void calllog_words(struct calllog_line *line, const char *key, const uint64_t *values, size_t count)
{
    size_t before = line->length;
    put_key(line, key);
    PUT(line, "[");
    if (has_room(line, count, HEX_ROOM + 1)) {
        char *to = line->text + line->length;
        for (size_t i = 0; i < count; i++) {
            to = hex_at(to, values[i]);
            *to++ = ',';
        }
        line->length = (size_t)(to - line->text) - (count > 0);
        PUT(line, "]");
        settle(line, before);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (i) {
            PUT(line, ",");
        }
        put_hex(line, values[i]);
    }
    PUT(line, "]");
    settle(line, before);
}

void calllog_open_object(struct calllog_line *line, const char *key)
{
    size_t before = line->length;
    line->cut |= line->depth == MAX_DEPTH;
    put_key(line, key);
    PUT(line, "{");
    settle(line, before);
    line->depth += !line->cut;
}

void calllog_close_object(struct calllog_line *line)
{
    if (line->depth > 0) {
        line->text[line->length++] = '}'; /* TAIL keeps room for it */
        line->depth--;
    }
}

/* A page that is touched first costs a fault, and a component that writes into one page after the other asks for the
 * next ones together, which costs less. It asks for a quarter of those in a row before, so that none is wasted on a
 * short log, and few on a long one. Without it, or where it fails, pages are touched one by one. */
static void touch(struct calllog *log, size_t from, size_t to)
{
#ifdef MADV_POPULATE_WRITE
    enum { PAGE = 4096, MOST = 16 };
    const size_t page = PAGE; /* where pages are larger, there are fewer of them, and the kernel refuses */
    size_t begin = from / page * page;
    size_t end = (to + page - 1) / page * page;
    size_t touched = atomic_load_explicit(&log->touched, memory_order_relaxed);
    if (end <= touched) {
        return; /* another thread was here meanwhile */
    }
    size_t run = atomic_load_explicit(&log->run, memory_order_relaxed);
    run = begin <= touched ? run : 0;
    begin = begin < touched ? touched : begin;
    size_t ahead = run / 4 < MOST ? run / 4 : MOST;
    if (ahead && end + ahead * page <= log->size) {
        int error = errno;
        end += ahead * page;
        if (madvise(log->map + begin, end - begin, MADV_POPULATE_WRITE) != 0) {
            end = SIZE_MAX; /* nobody asks again */
            errno = error;
        }
    }
    atomic_store_explicit(&log->run, run + (end - begin) / page, memory_order_relaxed);
    atomic_store_explicit(&log->touched, end, memory_order_relaxed);
#else
    (void)log;
    (void)from;
    (void)to;
#endif
}

void calllog_commit(struct calllog *log, struct calllog_line *line)
{
    while (line->depth > 0) {
        calllog_close_object(line);
    }
    if (line->cut) {
        char *to = line->text + line->length;
        line->length =
            (size_t)(COPY(line->length == line->head ? COPY(to, ",{") : COPY(to, ","), "\"cut\":1") - line->text);
    }
    if (line->length > line->head) {
        line->text[line->length++] = '}';
    }
    memcpy(line->text + line->length, "]\n", 2);
    line->length += 2;
    if (!log->map) {
        return;
    }
    struct header *header = (struct header *)log->map;
    uint64_t at = atomic_fetch_add(&header->next, line->length);
    if (at > log->size || line->length > log->size - at) {
        atomic_fetch_add(&header->dropped, 1);
        return;
    }
    size_t from = CALLLOG_HEADER + (size_t)at;
    if (from + line->length > atomic_load_explicit(&log->touched, memory_order_relaxed)) {
        touch(log, from, from + line->length);
    }
    memcpy(log->map + from, line->text, line->length);
}
