# SPDX-License-Identifier: Apache-2.0
"""What reproducers begin and end with: helpers in C, of which each program has those that it uses."""

from __future__ import annotations

import re
from collections.abc import Iterable

HEAD = """/* {title}
 *
{message}
 *
 * cc -w {name}.c -ldl && ./a.out [LIBRARY]
 *
 * Exit code: 1 where the defect is there, 0 where it is gone, 125 where that cannot be judged.
 */
"""

# Functions of deprecated versions are declared without a switch, too; -w is about these.
_SWITCHES = (
    ("#define CL_USE_DEPRECATED_OPENCL_1_0_APIS\n", r"clSetCommandQueueProperty"),
    ("#define CL_ENABLE_BETA_EXTENSIONS\n", r"(?<!IDs)KHR|EXT\b|_khr\b|_ext\b"),
    ("#define CL_TARGET_OPENCL_VERSION 300\n", r""),
)
START = "static const char *path;\nstatic void *library;\nenum { GONE, THERE, NOT_JUDGED = 125 };\n"
_HEADERS = (
    ("CL/cl_icd.h", r""),
    ("CL/opencl.h", r""),
    ("dirent.h", r"\bopendir\("),
    ("dlfcn.h", r"\bdl\w+\("),
    ("malloc.h", r"\bmallinfo\("),
    ("signal.h", r"\bkill\("),
    ("stdint.h", r"\bu?int\d+_t\b"),
    ("stdio.h", r"\bputs\(|printf\("),
    ("stdlib.h", r"\bexit\(|\bmalloc\(|\bsetenv\("),
    ("string.h", r"\bmem\w+\(|\bstr\w+\("),
    ("sys/mman.h", r"\bmmap\(|\bmprotect\("),
    ("sys/wait.h", r"\bwaitpid\("),
    ("unistd.h", r"\bfork\("),
)

# Name, and text: a text that uses others stands after them.
_HELPERS = {
    "OF": """
/* The dispatch table of an object, through which a loader calls. */
#define OF(object) (*(const cl_icd_dispatch *const *)(object))
""",
    "AT": "#define AT(address, function) ((__typeof__(&function))(address))\n",
    "EXPORTED": "#define EXPORTED(function) AT(dlsym(library, #function), function)\n",
    "V": "#define V(pointer) ((uint64_t)(uintptr_t)(pointer))\n",
    "at": "#define at(start, offset) ((unsigned char *)(uintptr_t)(start) + (offset))\n",
    "load": """
static uint64_t load(const void *from, size_t size)
{
    uint64_t value = 0;
    return memcpy(&value, from, size), value;
}
""",
    "u8": "#define u8(start, offset) load(at(start, offset), 1)\n",
    "u16": "#define u16(start, offset) load(at(start, offset), 2)\n",
    "u32": "#define u32(start, offset) load(at(start, offset), 4)\n",
    "u64": "#define u64(start, offset) load(at(start, offset), 8)\n",
    "i32": "#define i32(start, offset) ((cl_int)u32(start, offset))\n",
    "HANDLE": "#define HANDLE(start, offset) ((void *)(uintptr_t)u64(start, offset))\n",
    "memory": """
/* Memory that ends where an unreadable page begins. */
static void *memory(size_t size, int fill)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (size / page + 1) * page;
    char *start = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(start + room, page, PROT_NONE);
    return memset(start + room - size, fill, size);
}
""",
    "copy": """
static void *copy(const void *content, size_t size)
{
    return memcpy(memory(size, 0), content, size);
}
""",
    "TEXT": "#define TEXT(text) copy(text, sizeof(text))\n",
    "WORDS": "#define WORDS(...) copy((const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}))\n",
    "notify": """
static void notify(void)
{
}
""",
    "called_as": r"""
/* What callbacks were told, of which those of events may come in any order. */
static struct called {
    cl_int status;
    uint64_t data;
} of_events[64], of_objects[64];
static int event_count, object_count;

static void note(struct called *list, int *count, cl_int status, void *data)
{
    int number = __atomic_fetch_add(count, 1, __ATOMIC_SEQ_CST);
    if (number < 64) {
        list[number] = (struct called){status, V(data) >> 32 ? 0 : V(data)};
    }
}

static void CL_API_CALL called_with_status(cl_event event, cl_int status, void *data)
{
    note(of_events, &event_count, status, data);
}

static void CL_API_CALL called_with_data(void *object, void *data)
{
    note(of_objects, &object_count, 0, data);
}

static int order(const void *one, const void *other)
{
    const struct called *a = one, *b = other;
    return a->status != b->status ? (a->status < b->status ? -1 : 1) : (a->data > b->data) - (a->data < b->data);
}

/* Whether callbacks were called as in the run that failed, asked when no further call has come for a second. */
static int called_as(const struct called *before, int events, int objects)
{
    int seen = -1;
    while (seen != event_count + object_count) {
        seen = event_count + object_count;
        sleep(1);
    }
    int same = event_count == events && object_count == objects && events <= 64 && objects <= 64;
    qsort(of_events, event_count < 64 ? event_count : 64, sizeof *of_events, order);
    printf("  got: %d calls of callbacks\n", seen);
    for (int i = 0; i < event_count && i < 64; i++) {
        printf("  got: a call with the status %d and the data %#llx\n", of_events[i].status,
               (unsigned long long)of_events[i].data);
        same = same && order(&of_events[i], &before[i]) == 0;
    }
    for (int i = 0; i < object_count && i < 64; i++) {
        printf("  got: a call with the data %#llx\n", (unsigned long long)of_objects[i].data);
        same = same && order(&of_objects[i], &before[events + i]) == 0;
    }
    printf("  (%s in the run that failed)\n", same ? "as" : "not as");
    return same ? THERE : GONE;
}
""",
    "left_behind": r"""
/* What the process has more of with each batch of rounds: descriptors, threads, bytes of the heap and of memory. */
enum { BATCH = 20, BATCHES = 4, ROUNDS_PER_THREAD = 8 };
static const char *const names[] = {"descriptors", "threads", "bytes of the heap", "bytes of memory"};
static const long at_least[] = {BATCH, BATCH, BATCH * 16, BATCH * 4096};
static long has[4], grows[4];
static int rounds, most;

static long entries(const char *folder)
{
    DIR *open = opendir(folder);
    long count = 0;
    while (open && readdir(open)) {
        count++;
    }
    closedir(open);
    return count;
}

static void count_all(long *now)
{
    struct mallinfo heap = mallinfo();
    long resident = 0, shared = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    fscanf(file, "%*d %ld %ld", &resident, &shared);
    fclose(file);
    now[0] = entries("/proc/self/fd");
    now[1] = entries("/proc/self/task");
    now[2] = (unsigned)heap.uordblks + (unsigned)heap.hblkhd;
    now[3] = (resident - shared) * sysconf(_SC_PAGESIZE);
}

/* Begins a round, unless there were enough; each thread of a driver may keep something from the first. */
static int another_round(void)
{
    long now[4];
    alarm(0); /* many rounds take their time */
    if (rounds % BATCH == 0) {
        count_all(now);
        for (int i = 0; i < 4; i++) {
            grows[i] = rounds == 2 * BATCH || now[i] - has[i] < grows[i] ? now[i] - has[i] : grows[i];
            has[i] = now[i];
        }
        most = rounds <= BATCH ? BATCH * BATCHES + ROUNDS_PER_THREAD * (int)has[1] / BATCH * BATCH : most;
    }
    return rounds++ < most;
}

static int left_behind(const char *what)
{
    int i = 0;
    while (strcmp(names[i], what) != 0) {
        i++;
    }
    printf("  got: %d rounds leave %ld %s or more\n", BATCH, grows[i], what);
    printf("  expected: less than %ld\n", at_least[i]);
    return grows[i] >= at_least[i] ? THERE : GONE;
}
""",
    "in_callback": """
/* Releases that are made each time that the callback is called. */
typedef cl_int(CL_API_CALL * release_function)(void *object);
static struct {
    release_function function;
    void *object;
} kept[16];
static int kept_count;

static void in_callback(void *function, void *object)
{
    kept[kept_count].function = (release_function)function;
    kept[kept_count++].object = object;
}

static void release(void)
{
    for (int i = 0; i < kept_count; i++) {
        kept[i].function(kept[i].object);
    }
}
""",
    "name_of": """
static const char *name_of(cl_int error)
{
    static char number[16];
    snprintf(number, sizeof number, "%d", error);
    return NAMES number;
}
""",
    "MUST": """
/* A call that only prepares the one in question. */
#define MUST(...) if (!(__VA_ARGS__)) return printf("  failed: %s\\n", #__VA_ARGS__), NOT_JUDGED
""",
    "EXPECT": """
#define EXPECT(...) return printf("  expected: %s\\n", #__VA_ARGS__), (__VA_ARGS__) ? GONE : THERE
""",
    "show_bytes": r"""
/* Some bytes of a content from one of them on. */
static void show_bytes(const char *how, const unsigned char *content, size_t from, size_t size)
{
    printf("  %s: from byte %zu on =", how, from);
    for (size_t i = from; i < size && i < from + 64; i++) {
        printf(" %02x", content[i]);
    }
    puts("");
}
""",
    "difference": r"""
/* The first byte that differs; the size where none does. */
static size_t difference(const unsigned char *one, const unsigned char *other, size_t size)
{
    size_t i = 0;
    while (i < size && one[i] == other[i]) {
        i++;
    }
    return i;
}
""",
    "compare": r"""
static int compare(const void *found, const void *expected, size_t size)
{
    size_t first = difference(found, expected, size);
    show_bytes("got", found, first % size, size);
    show_bytes("expected", expected, first % size, size);
    return first == size ? GONE : THERE;
}
""",
    # For parts that compare all answers with those on record.
    "differs": "\nstatic int differs;\n",
    "answer": r"""
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
    size_t first = difference(bytes, (const void *)before, size);
    if (first < size) {
        differs = 1;
        show_bytes(what, bytes, first, size);
        puts("  (another answer than in the run that failed)");
    }
    free(bytes);
}
""",
    "answer_word": r"""
static void answer_word(const char *what, uint64_t found, const char *before)
{
    answer(what, &found, 8, before);
}
""",
}

TAIL = r"""
/* Runs a part in a process of its own, so that a crash is seen as well. */
static int run(int (*part)(void))
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS);
        library = dlopen(path, RTLD_NOW);
        exit(library ? part() : (puts("  dlopen failed"), NOT_JUDGED));
    }
    waitpid(child, &status, WUNTRACED);
    if (WIFSTOPPED(status)) {
        kill(child, SIGKILL);
    }
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : THERE;
    if (!WIFEXITED(status)) {
        int hung = WIFSTOPPED(status) || WTERMSIG(status) == SIGALRM;
        printf("  got: %s\n", hung ? "no answer" : strsignal(WTERMSIG(status)));
    } else if (code != GONE && code != THERE && code != NOT_JUDGED) {
        printf("  got: the process ended with exit code %d\n", code);
        code = THERE;
    }
    puts(code == THERE ? "  => the defect is there" : code ? "  => cannot be judged" : "  => the defect is gone");
    return code;
}
"""

_ONE = r"""
int main(int count, char **arguments)
{
    path = count > 1 ? arguments[1] : LIBRARY;
VARIABLES    return run(part_1);
}
"""
_SEVERAL = r"""
int main(int count, char **arguments)
{
    int (*parts[])(void) = {PARTS};
    int result = NOT_JUDGED;
    path = count > 1 ? arguments[1] : LIBRARY;
VARIABLES    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        int shown = run(parts[i]);
        result = shown == THERE || result == NOT_JUDGED ? shown : result;
    }
    return result;
}
"""


def tail(parts: int, library: str, variables: str, seconds: int) -> str:
    """What follows the parts. `library` is a string in C, `variables` are lines; `seconds` until a part has hung."""
    main = _ONE if parts == 1 else _SEVERAL
    names = ", ".join(f"part_{n}" for n in range(1, parts + 1))
    main = main.replace("PARTS", names).replace("LIBRARY", library).replace("VARIABLES", variables)
    return TAIL.replace("SECONDS", str(seconds)) + main


def beginning(text: str, declared: str, codes: Iterable[tuple[int, str]]) -> str:
    """Headers, and the helpers that a text uses, with those that these use. `codes` are the errors that have names."""
    used: set[str] = set()
    pending = [text]
    while pending:
        words = set(re.findall(r"\b(\w+)\(|\b(differs|notify)\b", pending.pop()))
        new = {word for pair in words for word in pair if word in _HELPERS} - used
        pending += [_HELPERS[name] for name in new]
        used |= new
    names = "".join(f'error == {name} ? "{name}" : ' for _, name in sorted(codes, reverse=True))
    own = "".join(helper.replace("NAMES ", names) for name, helper in _HELPERS.items() if name in used)
    whole = own + text
    switches = "".join(line for line, pattern in _SWITCHES if re.search(pattern, whole))
    included = "".join(f"#include <{name}>\n" for name, pattern in _HEADERS if re.search(pattern, whole))
    return f"{switches}{included}{declared}\n{START}{own}"
