/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the side file into a mapping of its own; its lines are cut in place. */
#define _GNU_SOURCE
#include "sidefile.h"

#include "clharness_functions.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FAULTS = 1024, MAX_PLATFORM = 63 };

struct fault_setting {
    int which;
    int platform;
    bool has_value;
    long value;
};

const char *mock_name = "mock";
const char *mock_loader;
struct calllog mock_log;

static struct fault_setting fault_settings[MAX_FAULTS];
static int fault_setting_count;
static char *text_mapping;
static size_t text_size;

static const struct fault_setting *find(int which, int platform)
{
    for (int i = 0; i < fault_setting_count; i++) {
        if (fault_settings[i].which == which && (fault_settings[i].platform == ANY_PLATFORM ||
                                                 platform == ANY_PLATFORM || fault_settings[i].platform == platform)) {
            return &fault_settings[i];
        }
    }
    return NULL;
}

bool fault(int which, int platform)
{
    return find(which, platform) != NULL;
}

long fault_value(int which, int platform, long otherwise)
{
    const struct fault_setting *setting = find(which, platform);
    return setting && setting->has_value ? setting->value : otherwise;
}

void log_event(const char *event, const char *detail)
{
    struct calllog_line line;
    calllog_begin(&mock_log, &line, CALLLOG_EVENT, mock_name, event, NULL, 0);
    if (detail) {
        calllog_string(&line, "detail", detail, strlen(detail));
    }
    calllog_commit(&mock_log, &line);
}

void sidefile_refuse(const char *what, const char *value)
{
    fprintf(stderr, "clharness mock: %s '%s' in the configuration of %s\n", what, value, mock_name);
    _exit(99);
}

static void read_fault(char *text, const char *names, int count)
{
    struct fault_setting setting = {.platform = ANY_PLATFORM};
    char *value = strchr(text, '=');
    if (value) {
        *value++ = '\0';
        setting.has_value = true;
        setting.value = strtol(value, NULL, 0);
    }
    char *platform = strchr(text, '@');
    if (platform) {
        *platform++ = '\0';
        setting.platform = (int)strtol(platform, NULL, 0);
    }
    while (setting.which < count && strcmp(names, text) != 0) {
        setting.which++;
        names += strlen(names) + 1;
    }
    if (setting.which == count || fault_setting_count == MAX_FAULTS) {
        sidefile_refuse("unknown fault (or too many faults)", text);
    }
    fault_settings[fault_setting_count++] = setting;
}

static int hex_digit(char c)
{
    const char *digits = "0123456789abcdef";
    const char *place = c ? strchr(digits, c) : NULL;
    return place ? (int)(place - digits) : -1;
}

/* Turns \xhh into bytes, in place; gives its argument. */
static char *unescape(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        if (from[0] == '\\' && from[1] == 'x' && hex_digit(from[2]) >= 0 && hex_digit(from[3]) >= 0) {
            *to++ = (char)(hex_digit(from[2]) * 16 + hex_digit(from[3]));
            from += 3;
        } else {
            *to++ = *from;
        }
    }
    *to = '\0';
    return text;
}

/* A whole number from 0 to `most`; anything else is refused. */
static long read_number(const char *key, const char *value, long most)
{
    char *end;
    long number = strtol(value, &end, 10);
    if (*value < '0' || *value > '9' || *end != '\0' || number > most) {
        fprintf(stderr,
                "clharness mock: '%s' needs a whole number from 0 to %ld, not '%s', in the configuration of %s\n", key,
                most, value, mock_name);
        _exit(99);
    }
    return number;
}

bool sidefile_set(const struct setting *settings, size_t count, void *to, const char *key, char *value)
{
    for (size_t i = 0; i < count; i++) {
        void *place = (char *)to + settings[i].place;
        if (strcmp(key, settings[i].name) != 0) {
            continue;
        }
        switch (settings[i].type) {
        case SETTING_flag:
            *(setting_flag *)place = read_number(key, value, 1) != 0;
            return true;
        case SETTING_number:
            *(setting_number *)place = (setting_number)read_number(key, value, INT_MAX);
            return true;
        case SETTING_text:
            *(setting_text *)place = unescape(value);
            return true;
        default: /* of functions only */
            return false;
        }
    }
    return false;
}

/* Sets one thing of a function; `word` is what the line says after the function, or NULL. */
static void set_function(const struct setting *setting, void *place, const char *word)
{
    if ((setting->type == SETTING_path && !word) || (setting->type == SETTING_flag && word)) {
        sidefile_refuse(word ? "a word too much for the setting" : "no path for the setting", setting->name);
    }
    switch (setting->type) {
    case SETTING_flag:
        *(setting_flag *)place = true;
        break;
    case SETTING_path:
        *(setting_path *)place = word;
        break;
    case SETTING_platforms:
        if (word) {
            ((setting_platforms *)place)->some |= UINT64_C(1) << read_number(setting->name, word, MAX_PLATFORM);
        } else {
            ((setting_platforms *)place)->all = true;
        }
        break;
    default:
        sidefile_refuse("not a setting of functions:", setting->name);
    }
}

bool sidefile_set_function(const struct setting *settings, size_t count, void *functions, size_t size, const char *key,
                           char *value)
{
    const struct setting *setting = settings;
    while (setting < settings + count && strcmp(key, setting->name) != 0) {
        setting++;
    }
    if (setting == settings + count) {
        return false;
    }
    char *word = value;
    const char *name = strsep(&word, " ");
    int only = function_by_name(name);
    if (only < 0 && strcmp(name, "all") != 0) {
        sidefile_refuse("unknown function", name);
    }
    for (int function = 0; function < FUNCTION_COUNT; function++) {
        if (only >= 0 ? function == only : function_info[function].slot >= 0) {
            set_function(setting, (char *)functions + (size_t)function * size + setting->place, word);
        }
    }
    return true;
}

/* Gives the file's text, ended by a NUL, or NULL where there is no file or nothing in it. */
static char *map_text(const char *path)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return NULL;
    }
    if (fstat(fd, &status) == 0 && status.st_size > 0) {
        text_size = (size_t)status.st_size + 1;
        void *mapping = mmap(NULL, text_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (mapping == MAP_FAILED || read(fd, mapping, text_size - 1) != (ssize_t)text_size - 1) {
            sidefile_refuse("cannot read", path);
        }
        text_mapping = mapping;
    }
    close(fd);
    return text_mapping;
}

/* Path of the library that this code is in; it stays, because a component without a name is called after it. */
static const char *own_path(void)
{
    static char real[PATH_MAX];
    Dl_info self;
    if (!dladdr((void *)&mock_log, &self) || !realpath(self.dli_fname, real)) {
        snprintf(real, sizeof real, "mock");
    }
    return real;
}

void sidefile_load(const char *fault_names, int fault_count, bool (*own_key)(const char *key, char *value))
{
    static char path[PATH_MAX + 8];
    const char *library = own_path();
    const char *base = strrchr(library, '/');
    mock_name = base ? base + 1 : library;
    snprintf(path, sizeof path, "%s.conf", library);
    char *text = map_text(path);
    for (char *line = strsep(&text, "\n"); line; line = strsep(&text, "\n")) {
        if (*line == '\0' || *line == '#') {
            continue;
        }
        char *value = strstr(line, " = ");
        if (!value) {
            sidefile_refuse("no ' = ' in line", line);
            continue;
        }
        *value = '\0';
        value += 3;
        if (strcmp(line, "name") == 0) {
            mock_name = value;
        } else if (strcmp(line, "loader") == 0) {
            mock_loader = value;
        } else if (strcmp(line, "log") == 0) {
            calllog_open(&mock_log, value);
        } else if (strcmp(line, "fault") == 0) {
            read_fault(value, fault_names, fault_count);
        } else if (!own_key(line, value)) {
            sidefile_refuse("unknown setting", line);
        }
    }
}

void sidefile_unload(void)
{
#ifdef _WIN32
    if (process_is_ending()) {
        return; /* calls of a loader that is told after this library still have to reach the log */
    }
#endif
    calllog_close(&mock_log);
    if (text_mapping) {
        munmap(text_mapping, text_size);
    }
}
