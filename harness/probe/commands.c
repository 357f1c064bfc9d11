/* The commands that the probe executes: one line each, one reply line each ("ok …" or "error …").
 *
 *   hello                             ok pid=… secure=0|1 linked=0|1
 *   open | close                      the loader under test
 *   symbol NAME [VERSION]             ok ADDRESS
 *   exports                           ok HEX of what exports_text says
 *   module TOKEN                      ok PATH-IN-HEX of the file that the address lies in
 *   buffer N SIZE FILL                a buffer of SIZE bytes that ends at an unreadable page
 *   free N
 *   protect N                         makes the buffer unwritable
 *   put N OFFSET HEX | word N OFFSET TOKEN | get N OFFSET LENGTH
 *   read TOKEN LENGTH                 ok HEX of memory at any address, or error; never faults
 *   call R FUNCTION TOKEN…            calls the loader's exported function; ok RESULT, kept as rR
 *   address R TOKEN FUNCTION TOKEN…   calls the function at an address with the signature of FUNCTION
 *   value TOKEN                       ok VALUE
 *   peek R TOKEN OFFSET               ok VALUE of the 64-bit word there, kept as rR, or error; never faults
 *   descriptor R memory SIZE | descriptor R copy TOKEN NUMBER | descriptor R close TOKEN
 *                                     ok NUMBER of a file descriptor, kept as rR
 *   vulkan R WHAT…                    what vulkan_make does; ok RESULT, kept as rR
 *   target R LENGTH HOW               a table for a layer to call into, kept as rR; HOW: writable or not, silent or not
 *   layer FUNCTION TOKEN…             calls a function of the layer that was opened as the loader; ok RESULT
 *   handlers                          ok NUMBER of exit handlers registered so far
 *   count FOLDERHEX LINE              executes a line (call, address) as count_invoke does
 *   counted                           ok HEX of what count_text says of the last such line
 *   thread K LINE                     keeps a line (call, address) for thread K;  go  runs all threads at once
 *   when CALLBACK LINE                keeps a line to be run each time that the callback is called
 *   callbacks                         ok NUMBER of lines run in callbacks so far, or the first error among them
 *   getenv NAMEHEX | setenv NAMEHEX VALUEHEX | unsetenv NAMEHEX | environment
 *   state                             ok HEX of what state_text says
 *   chdir HEX | fork | heap | load PATHHEX | quit
 *   load PATHHEX SYMBOLHEX R          ok ADDRESS of the library's symbol, kept as rR
 */
#define _GNU_SOURCE
#include "clharness_callbacks.h"
#include "probe.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_WORDS = 48, MAX_THREADS = 256, MAX_THREAD_LINES = 64, MAX_CALLBACK_LINES = 64 };

struct reply {
    char **text;
    size_t *room;
};

__attribute__((format(printf, 2, 3))) static void answer(struct reply *reply, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(*reply->text, *reply->room, format, list);
    va_end(list);
    for (char *c = *reply->text; (c = strchr(c, '\n')) != NULL;) {
        *c = ' '; /* texts of the system may have lines */
    }
}

/* "ok " and the bytes in hexadecimal; makes room as needed. */
static void answer_hex(struct reply *reply, const unsigned char *bytes, size_t length)
{
    size_t needed = 4 + 2 * length;
    if (needed > *reply->room) {
        char *bigger = realloc(*reply->text, needed);
        if (!bigger) {
            answer(reply, "error out of memory");
            return;
        }
        *reply->text = bigger;
        *reply->room = needed;
    }
    char *to = *reply->text;
    memcpy(to, "ok ", 3);
    to += 3;
    for (size_t i = 0; i < length; i++) {
        *to++ = "0123456789abcdef"[bytes[i] >> 4];
        *to++ = "0123456789abcdef"[bytes[i] & 15];
    }
    *to = '\0';
}

static void log_call(const char *event, const char *name, const uint64_t *arguments, unsigned count,
                     const uint64_t *result)
{
    struct calllog_line line;
    calllog_begin(&line, "application", event, name);
    if (arguments) {
        calllog_words(&line, "args", arguments, count);
    }
    if (result) {
        calllog_hex(&line, "result", *result);
    }
    calllog_commit(&probe_log, &line);
}

/* --- callbacks --- */

static struct {
    char *callback;
    char *line;
} callback_lines[MAX_CALLBACK_LINES];
static int callback_line_count;
static int callback_lines_run;
static char *callback_error;

/* Whether a line can stand within another one or be kept: those that do so themselves would have no end. */
static bool is_plain(const char *line)
{
    static const char *const others[] = {"thread", "when", "count", "go", "fork"};
    size_t length = strcspn(line, " ");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (strlen(others[i]) == length && memcmp(line, others[i], length) == 0) {
            return false;
        }
    }
    return true;
}

static void keep_for_callback(struct reply *reply, char *rest)
{
    char *line = strchr(rest, ' ');
    if (!line || callback_line_count == MAX_CALLBACK_LINES || !is_plain(line + 1)) {
        answer(reply, "error no line that can be kept, or too many of them");
        return;
    }
    *line++ = '\0';
    callback_lines[callback_line_count].callback = strdup(rest);
    callback_lines[callback_line_count++].line = strdup(line);
    answer(reply, "ok");
}

/* A line that calls a function that calls back that runs the line goes so deep and no deeper. */
enum { CALLBACKS_DEEP = 8 };
static _Thread_local int callback_depth;

static void run_callback_line(const char *kept)
{
    if (callback_depth == CALLBACKS_DEEP) {
        callback_error = callback_error ? callback_error : strdup("error callbacks within callbacks have no end");
        return;
    }
    callback_depth++;
    size_t room = 512;
    char *text = malloc(room);
    char *line = strdup(kept); /* command_execute takes it apart */
    if (text && line) {
        command_execute(line, &text, &room);
        callback_lines_run++;
        if (strncmp(text, "ok", 2) != 0 && !callback_error) {
            callback_error = strdup(text);
        }
    }
    free(line);
    free(text);
    callback_depth--;
}

void callback_called(const char *name, unsigned count, const uint64_t *arguments)
{
    char full[128];
    struct callback_arguments outer = callback_arguments;
    snprintf(full, sizeof full, "callback %s", name);
    log_call("event", full, arguments, count, NULL);
    callback_arguments = (struct callback_arguments){arguments, count};
    for (int i = 0; i < callback_line_count; i++) {
        if (strcmp(callback_lines[i].callback, name) == 0) {
            run_callback_line(callback_lines[i].line);
        }
    }
    callback_arguments = outer;
}

static void do_callbacks(struct reply *reply)
{
    if (callback_error) {
        answer(reply, "%s", callback_error);
    } else {
        answer(reply, "ok %d", callback_lines_run);
    }
}

static const char *count_without; /* set where instructions are to be counted: libraries to be left out */

/* Calls `address` with the signature of `name` and the values of `tokens`; writes the reply. */
static void call(struct reply *reply, const char *variable, const char *name, void *address, char **tokens, int count)
{
    uint64_t arguments[MAX_PARAMETERS] = {0};
    int function = function_by_name(name);
    if (function < 0) {
        answer(reply, "error no function '%s' in the OpenCL-Headers", name);
        return;
    }
    const struct function_info *about = &function_info[function];
    if (count != (int)about->parameter_count) {
        answer(reply, "error %s takes %u arguments, not %d", name, about->parameter_count, count);
        return;
    }
    for (int i = 0; i < count; i++) {
        if (!token_value(tokens[i], &arguments[i])) {
            answer(reply, "error argument %d of %s: '%s' means nothing", i, name, tokens[i]);
            return;
        }
    }
    if (!address) {
        answer(reply, "error no symbol %s", name);
        return;
    }
    log_call("call", name, arguments, about->parameter_count, NULL);
    void (*target)(void) = (void (*)(void))(uintptr_t)address;
    uint64_t result = count_without ? count_invoke(count_without, (enum function)function, target, arguments)
                                    : invoke((enum function)function, target, arguments);
    log_call("return", name, NULL, 0, &result);
    result_set((unsigned)strtoul(variable, NULL, 10), result);
    answer(reply, "ok 0x%llx", (unsigned long long)result);
}

static int split(char *line, char **words)
{
    int count = 0;
    for (char *word = strsep(&line, " "); word && count < MAX_WORDS; word = strsep(&line, " ")) {
        words[count++] = word;
    }
    return count;
}

static void do_call(struct reply *reply, char **words, int count)
{
    call(reply, words[1], words[2], loader_symbol(words[2], NULL), words + 3, count - 3);
}

static void do_address(struct reply *reply, char **words, int count)
{
    uint64_t address;
    if (!token_value(words[2], &address)) {
        answer(reply, "error '%s' means nothing", words[2]);
        return;
    }
    call(reply, words[1], words[3], (void *)(uintptr_t)address, words + 4, count - 4);
}

/* --- threads --- */

static char *thread_lines[MAX_THREADS][MAX_THREAD_LINES];
static int thread_line_count[MAX_THREADS];
static char *thread_error[MAX_THREADS];
static pthread_barrier_t start;

static void keep_for_thread(struct reply *reply, char *rest)
{
    char *line = strchr(rest, ' ');
    unsigned long thread = strtoul(rest, NULL, 10);
    if (!line || thread >= MAX_THREADS || thread_line_count[thread] == MAX_THREAD_LINES || !is_plain(line + 1)) {
        answer(reply, "error no such thread, no line that can be kept, or too many of them");
        return;
    }
    thread_lines[thread][thread_line_count[thread]++] = strdup(line + 1);
    answer(reply, "ok");
}

static void *run_thread(void *data)
{
    size_t thread = (size_t)(uintptr_t)data;
    size_t room = 512;
    char *text = malloc(room);
    pthread_barrier_wait(&start);
    for (int i = 0; text && i < thread_line_count[thread]; i++) {
        command_execute(thread_lines[thread][i], &text, &room);
        if (strncmp(text, "ok", 2) != 0 && !thread_error[thread]) {
            thread_error[thread] = strdup(text);
        }
    }
    free(text);
    return NULL;
}

static void run_threads(struct reply *reply)
{
    pthread_t threads[MAX_THREADS];
    bool runs[MAX_THREADS] = {false};
    unsigned count = 0;
    for (size_t i = 0; i < MAX_THREADS; i++) {
        count += thread_line_count[i] > 0;
    }
    answer(reply, "ok %u", count);
    if (count == 0) {
        return;
    }
    pthread_barrier_init(&start, NULL, count);
    for (size_t i = 0; i < MAX_THREADS; i++) {
        if (thread_line_count[i] > 0) {
            runs[i] = pthread_create(&threads[i], NULL, run_thread, (void *)(uintptr_t)i) == 0;
            if (!runs[i]) {
                abort(); /* the barrier would never open */
            }
        }
    }
    for (size_t i = 0; i < MAX_THREADS; i++) {
        if (runs[i]) {
            pthread_join(threads[i], NULL);
        }
        while (thread_line_count[i] > 0) {
            free(thread_lines[i][--thread_line_count[i]]);
        }
        if (thread_error[i]) {
            answer(reply, "%s", thread_error[i]);
            free(thread_error[i]);
            thread_error[i] = NULL;
        }
    }
    pthread_barrier_destroy(&start);
}

/* --- memory --- */

static void do_put(struct reply *reply, char **words)
{
    long length = hex_bytes(words[3], NULL);
    unsigned char *to = length < 0 ? NULL
                                   : buffer_for_writing((unsigned)strtoul(words[1], NULL, 10),
                                                        strtoul(words[2], NULL, 10), (size_t)length);
    if (!to) {
        answer(reply, "error these bytes do not fit into the buffer");
        return;
    }
    hex_bytes(words[3], to);
    answer(reply, "ok");
}

static void do_word(struct reply *reply, char **words)
{
    uint64_t value;
    unsigned char *to =
        buffer_for_writing((unsigned)strtoul(words[1], NULL, 10), strtoul(words[2], NULL, 10), sizeof value);
    if (!to || !token_value(words[3], &value)) {
        answer(reply, "error '%s' means nothing, or does not fit into the buffer", words[3]);
        return;
    }
    memcpy(to, &value, sizeof value);
    answer(reply, "ok");
}

static void do_get(struct reply *reply, char **words)
{
    size_t length = strtoul(words[3], NULL, 10);
    unsigned char *bytes = buffer_bytes((unsigned)strtoul(words[1], NULL, 10), strtoul(words[2], NULL, 10), length);
    if (!bytes) {
        answer(reply, "error outside of the buffer");
        return;
    }
    answer_hex(reply, bytes, length);
}

static void do_read(struct reply *reply, char **words)
{
    unsigned char bytes[4096];
    uint64_t address;
    size_t length = strtoul(words[2], NULL, 10);
    if (!token_value(words[1], &address) || length > sizeof bytes) {
        answer(reply, "error '%s' means nothing, or more than %zu bytes", words[1], sizeof bytes);
        return;
    }
    struct iovec local = {bytes, length};
    struct iovec remote = {(void *)(uintptr_t)address, length};
    ssize_t got = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
    if (got < 0) {
        answer(reply, "error unreadable: %s", strerror(errno));
        return;
    }
    answer_hex(reply, bytes, (size_t)got);
}

/* --- environment and process --- */

/* To be freed; NULL where it is none, or there is no room. */
static char *text_of(const char *hex)
{
    long length = hex_bytes(hex, NULL);
    char *text = length < 0 ? NULL : calloc(1, (size_t)length + 1);
    if (text) {
        hex_bytes(hex, (unsigned char *)text);
    }
    return text;
}

static void do_environment(struct reply *reply)
{
    size_t length = 0;
    for (char **entry = environ; *entry; entry++) {
        length += strlen(*entry) + 1;
    }
    char *all = malloc(length + 1);
    if (!all) {
        answer(reply, "error out of memory");
        return;
    }
    char *to = all;
    for (char **entry = environ; *entry; entry++) {
        to = stpcpy(to, *entry) + 1;
    }
    answer_hex(reply, (unsigned char *)all, length);
    free(all);
}

static void do_getenv(struct reply *reply, const char *name)
{
    const char *value = getenv(name);
    if (value) {
        answer_hex(reply, (const unsigned char *)value, strlen(value));
    } else {
        answer(reply, "ok unset");
    }
}

/* The child goes on with the conversation; the parent waits for it and ends as it ended. */
static void do_fork(struct reply *reply)
{
    int status;
    pid_t child = fork();
    if (child > 0) {
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
        if (WIFSIGNALED(status)) {
            signal(WTERMSIG(status), SIG_DFL);
            kill(getpid(), WTERMSIG(status));
        }
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 98);
    }
    answer(reply, child == 0 ? "ok pid=%d" : "error fork failed (%d)", (int)getpid());
}

static void do_value(struct reply *reply, const char *token)
{
    uint64_t value;
    if (token_value(token, &value)) {
        answer(reply, "ok 0x%llx", (unsigned long long)value);
    } else {
        answer(reply, "error '%s' means nothing", token);
    }
}

static void do_peek(struct reply *reply, char **words)
{
    uint64_t address;
    uint64_t value = 0;
    struct iovec local = {&value, sizeof value};
    if (!token_value(words[2], &address)) {
        answer(reply, "error '%s' means nothing", words[2]);
        return;
    }
    struct iovec remote = {(void *)(uintptr_t)(address + strtoull(words[3], NULL, 10)), sizeof value};
    if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) != (ssize_t)sizeof value) {
        answer(reply, "error unreadable: %s", strerror(errno));
        return;
    }
    result_set((unsigned)strtoul(words[1], NULL, 10), value);
    answer(reply, "ok 0x%llx", (unsigned long long)value);
}

static void do_descriptor(struct reply *reply, char **words, int count)
{
    int64_t made = 0;
    bool of_vulkan = strcmp(words[0], "vulkan") == 0;
    const char *problem = (of_vulkan ? vulkan_make : descriptor_make)(words + 2, count - 2, &made);
    if (problem) {
        answer(reply, "error %s", problem);
        return;
    }
    result_set((unsigned)strtoul(words[1], NULL, 10), (uint64_t)made);
    answer(reply, "ok 0x%llx", (unsigned long long)made);
}

static void do_target(struct reply *reply, char **words)
{
    bool writable = strstr(words[3], "writable") != NULL;
    const void *table = target_make(strtoul(words[2], NULL, 10), writable, strstr(words[3], "silent") != NULL);
    result_set((unsigned)strtoul(words[1], NULL, 10), (uint64_t)(uintptr_t)table);
    answer(reply, table ? "ok 0x%llx" : "error no room for the table", (unsigned long long)(uintptr_t)table);
}

static void do_layer(struct reply *reply, char **words, int count)
{
    uint64_t arguments[MAX_PARAMETERS] = {0};
    int32_t result = 0;
    if (count - 2 > MAX_PARAMETERS) {
        answer(reply, "error more than %d arguments", MAX_PARAMETERS);
        return;
    }
    for (int i = 2; i < count; i++) {
        if (!token_value(words[i], &arguments[i - 2])) {
            answer(reply, "error argument %d of %s: '%s' means nothing", i - 2, words[1], words[i]);
            return;
        }
    }
    log_call("call", words[1], arguments, (unsigned)(count - 2), NULL);
    bool known = layer_call(words[1], arguments, count - 2, &result);
    uint64_t logged = (uint64_t)(int64_t)result;
    log_call("return", words[1], NULL, 0, &logged);
    answer(reply, known ? "ok %d" : "error no such function of a layer, or wrong number of arguments", result);
}

static void do_module(struct reply *reply, const char *token)
{
    uint64_t address;
    Dl_info info;
    if (!token_value(token, &address) || !dladdr((void *)(uintptr_t)address, &info)) {
        answer(reply, "error no module at '%s'", token);
        return;
    }
    answer_hex(reply, (const unsigned char *)info.dli_fname, strlen(info.dli_fname));
}

static void do_exports(struct reply *reply)
{
    size_t length = 0;
    char *text = exports_text(&length);
    if (text) {
        answer_hex(reply, (const unsigned char *)text, length);
    } else {
        answer(reply, "error the symbol table cannot be read");
    }
    free(text);
}

static void do_state(struct reply *reply)
{
    size_t length = 0;
    char *text = state_text(&length);
    if (text) {
        answer_hex(reply, (const unsigned char *)text, length);
    } else {
        answer(reply, "error out of memory");
    }
    free(text);
}

static void do_counted(struct reply *reply)
{
    size_t length = 0;
    char *text = count_text(&length);
    if (text) {
        answer_hex(reply, (const unsigned char *)text, length);
    } else {
        answer(reply, "error instructions cannot be counted on this processor, or there were too many");
    }
    free(text);
}

static void do_heap(struct reply *reply)
{
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
    answer(reply, "ok %zu", mallinfo2().uordblks);
#else
    answer(reply, "error this C library does not tell");
#endif
}

static void do_text_command(struct reply *reply, const char *command, char **words, int count)
{
    char *first = text_of(count > 1 ? words[1] : "");
    char *second = text_of(count > 2 ? words[2] : "");
    if (!first || !second) {
        answer(reply, "error no bytes in hexadecimal: '%s'", first ? words[2] : words[1]);
    } else if (strcmp(command, "getenv") == 0) {
        do_getenv(reply, first);
    } else if (strcmp(command, "setenv") == 0) {
        answer(reply, setenv(first, second, 1) == 0 ? "ok" : "error setenv");
    } else if (strcmp(command, "unsetenv") == 0) {
        answer(reply, unsetenv(first) == 0 ? "ok" : "error unsetenv");
    } else if (strcmp(command, "chdir") == 0) {
        answer(reply, chdir(first) == 0 ? "ok" : "error chdir");
    } else {
        void *library = dlopen(first, RTLD_NOW | RTLD_LOCAL);
        void *symbol = library && count > 3 ? dlsym(library, second) : NULL;
        if (count > 3 && symbol) {
            result_set((unsigned)strtoul(words[3], NULL, 10), (uint64_t)(uintptr_t)symbol);
            answer(reply, "ok 0x%llx", (unsigned long long)(uintptr_t)symbol);
        } else {
            bool loaded = library && count <= 3;
            answer(reply, "%s %s", loaded ? "ok" : "error", loaded ? "" : dlerror());
        }
    }
    free(first);
    free(second);
}

static void do_plain_command(struct reply *reply, const char *command)
{
#ifdef PROBE_LINKED
    const int linked = 1;
#else
    const int linked = 0;
#endif
    const char *problem = NULL;
    if (strcmp(command, "hello") == 0) {
        answer(reply, "ok pid=%d secure=%d linked=%d", (int)getpid(), getauxval(AT_SECURE) != 0, linked);
    } else if (strcmp(command, "go") == 0) {
        run_threads(reply);
    } else if (strcmp(command, "callbacks") == 0) {
        do_callbacks(reply);
    } else if (strcmp(command, "environment") == 0) {
        do_environment(reply);
    } else if (strcmp(command, "fork") == 0) {
        do_fork(reply);
    } else if (strcmp(command, "handlers") == 0) {
        answer(reply, "ok %ld", exit_handlers());
    } else if (strcmp(command, "exports") == 0) {
        do_exports(reply);
    } else if (strcmp(command, "state") == 0) {
        do_state(reply);
    } else if (strcmp(command, "counted") == 0) {
        do_counted(reply);
    } else if (strcmp(command, "heap") == 0) {
        do_heap(reply);
    } else if (strcmp(command, "open") == 0 || strcmp(command, "close") == 0) {
        problem = *command == 'o' ? loader_open() : loader_close();
        answer(reply, "%s%s", problem ? "error " : "ok", problem ? problem : "");
    } else {
        answer(reply, "error unknown command, or wrong number of words: '%s'", command);
    }
}

void commands_forget(void)
{
    while (callback_line_count > 0) {
        free(callback_lines[--callback_line_count].callback);
        free(callback_lines[callback_line_count].line);
    }
    for (int i = 0; i < MAX_THREADS; i++) {
        while (thread_line_count[i] > 0) {
            free(thread_lines[i][--thread_line_count[i]]);
        }
    }
    free(callback_error);
    callback_error = NULL;
    callback_lines_run = 0;
    values_forget();
}

static bool is_text_command(const char *command)
{
    static const char *const commands[] = {"getenv", "setenv", "unsetenv", "chdir", "load"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(command, commands[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* NOLINTBEGIN(misc-no-recursion): a command may hold another one; Python writes them, no deeper than two. */
static void count_line(char *rest, char **text, size_t *room)
{
    struct reply reply = {text, room};
    char *line = strchr(rest, ' ');
    if (!line) {
        answer(&reply, "error no line");
        return;
    }
    *line++ = '\0';
    char *folder = text_of(rest);
    if (!folder || !is_plain(line)) {
        answer(&reply, "error no folder in hexadecimal, or no line that can be counted");
        free(folder);
        return;
    }
    count_without = folder;
    command_execute(line, text, room);
    count_without = NULL;
    free(folder);
}

void command_execute(char *line, char **text, size_t *room)
{
    struct reply reply = {text, room};
    char *words[MAX_WORDS] = {line};
    if (strncmp(line, "thread ", 7) == 0) {
        keep_for_thread(&reply, line + 7);
        return;
    }
    if (strncmp(line, "count ", 6) == 0) {
        count_line(line + 6, text, room);
        return;
    }
    if (strncmp(line, "when ", 5) == 0) {
        keep_for_callback(&reply, line + 5);
        return;
    }
    int count = split(line, words);
    const char *command = words[0];
    if (strcmp(command, "call") == 0 && count >= 3) {
        do_call(&reply, words, count);
    } else if (strcmp(command, "address") == 0 && count >= 4) {
        do_address(&reply, words, count);
    } else if (strcmp(command, "buffer") == 0 && count == 4) {
        bool made = buffer_make((unsigned)strtoul(words[1], NULL, 10), strtoul(words[2], NULL, 10),
                                (int)strtol(words[3], NULL, 10));
        answer(&reply, made ? "ok" : "error no room for the buffer");
    } else if (strcmp(command, "free") == 0 && count == 2) {
        buffer_free((unsigned)strtoul(words[1], NULL, 10));
        answer(&reply, "ok");
    } else if (strcmp(command, "protect") == 0 && count == 2) {
        bool done = buffer_protect((unsigned)strtoul(words[1], NULL, 10));
        answer(&reply, done ? "ok" : "error no such buffer");
    } else if (strcmp(command, "put") == 0 && count == 4) {
        do_put(&reply, words);
    } else if (strcmp(command, "word") == 0 && count == 4) {
        do_word(&reply, words);
    } else if (strcmp(command, "get") == 0 && count == 4) {
        do_get(&reply, words);
    } else if (strcmp(command, "read") == 0 && count == 3) {
        do_read(&reply, words);
    } else if (strcmp(command, "symbol") == 0 && (count == 2 || count == 3)) {
        void *symbol = loader_symbol(words[1], count == 3 ? words[2] : NULL);
        answer(&reply, "ok 0x%llx", (unsigned long long)(uintptr_t)symbol);
    } else if (strcmp(command, "value") == 0 && count == 2) {
        do_value(&reply, words[1]);
    } else if (strcmp(command, "peek") == 0 && count == 4) {
        do_peek(&reply, words);
    } else if ((strcmp(command, "descriptor") == 0 && count >= 4) || (strcmp(command, "vulkan") == 0 && count >= 3)) {
        do_descriptor(&reply, words, count);
    } else if (strcmp(command, "target") == 0 && count == 4) {
        do_target(&reply, words);
    } else if (strcmp(command, "layer") == 0 && count >= 2) {
        do_layer(&reply, words, count);
    } else if (strcmp(command, "module") == 0 && count == 2) {
        do_module(&reply, words[1]);
    } else if (is_text_command(command) && count > 1) {
        do_text_command(&reply, command, words, count);
    } else {
        do_plain_command(&reply, command);
    }
}
/* NOLINTEND(misc-no-recursion) */
