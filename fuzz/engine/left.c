/* SPDX-License-Identifier: Apache-2.0 */
/* What a subject did to the process as a whole, which nothing here puts back: looked at when the process ends, because
 * it would take longer than most inputs do. */
#define _GNU_SOURCE
#include "internal.h"
#include "process_state.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct stat errors;
static char *before;
static char changes[4096]; /* as parts of a sentence */

/* Where its output goes, nothing that the fuzzer says is seen any more, and files of its own may take the place. */
void left_check(void)
{
    struct stat now;
    bool is_open = fstat(STDERR_FILENO, &now) == 0;
    if (!is_open || now.st_ino != errors.st_ino || now.st_dev != errors.st_dev) {
        finding("wrong", is_open ? "errors-elsewhere" : "errors-closed",
                "the standard error output of the process is %s", is_open ? "another file than before" : "closed");
    }
}

/* What comes after NAME= in a line; NULL where there is no such line. */
static const char *value_of(const char *name, size_t length, const char *lines)
{
    for (const char *line = lines; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        if (strncmp(line, name, length + 1) == 0) {
            return line + length + 1;
        }
    }
    return NULL;
}

static bool is_passed_over(const char *name, size_t length)
{
    if (strncmp(name, "real timer", length) == 0) { /* the fuzzer's own */
        return true;
    }
    char *key = keep(length + sizeof "left@");
    snprintf(key, length + sizeof "left@", "left@%.*s", (int)length, name);
    for (char *blank = strchr(key, ' '); blank; blank = strchr(blank, ' ')) {
        *blank = '-';
    }
    return is_known(key);
}

static void note(const char *now)
{
    for (const char *line = before; *line;) {
        size_t name = strcspn(line, "=");
        const char *value = line + name + 1;
        size_t size = strcspn(value, "\n");
        const char *other = value_of(line, name, now);
        size_t other_size = other ? strcspn(other, "\n") : 0;
        if ((!other || size != other_size || memcmp(value, other, size) != 0) && !is_passed_over(line, name)) {
            size_t used = strlen(changes);
            snprintf(changes + used, sizeof changes - used, "%s%.*s: %.*s in place of %.*s", used ? "; " : "",
                     (int)name, line, other ? (int)other_size : 4, other ? other : "none", (int)size, value);
        }
        line = value + size + (value[size] == '\n');
    }
}

void left_note(void)
{
    size_t length;
    char *now = before ? process_state(&length) : NULL;
    if (now) {
        note(now);
    }
    free(now);
    free(before);
    before = NULL;
}

static void tell(bool in_handler)
{
    if (in_handler) {
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL); /* else its signal would be one that the subject has blocked */
    }
    left_note();
    if (changes[0]) {
        describe("afterwards %s", changes);
        kept_inputs_words(keep_text("clharness-fuzz: left: %s\n", changes));
    }
}

void left_watch(void)
{
    size_t length;
    before = kept_inputs_at_end(tell) ? process_state(&length) : NULL;
}

void left_begin(void)
{
    if (!errors.st_ino) {
        fstat(STDERR_FILENO, &errors);
        left_watch();
    }
}
