/* Reads the side file into a mapping of its own; its lines are cut in place. */
#define _GNU_SOURCE
#include "sidefile.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FAULTS = 512 };

struct fault_setting {
    int which;
    int platform;
    bool has_value;
    long value;
};

const char *mock_name = "mock";
const char *mock_loader;
struct calllog mock_log;

static struct fault_setting settings[MAX_FAULTS];
static int setting_count;
static char *text_mapping;
static size_t text_size;

static const struct fault_setting *find(int which, int platform)
{
    for (int i = 0; i < setting_count; i++) {
        if (settings[i].which == which &&
            (settings[i].platform == ANY_PLATFORM || platform == ANY_PLATFORM || settings[i].platform == platform)) {
            return &settings[i];
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
    calllog_begin(&line, mock_name, "event", event);
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

static void read_fault(char *text, const char *const *names, int count)
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
    while (setting.which < count && strcmp(names[setting.which], text) != 0) {
        setting.which++;
    }
    if (setting.which == count || setting_count == MAX_FAULTS) {
        sidefile_refuse("unknown fault (or too many faults)", text);
    }
    settings[setting_count++] = setting;
}

static int hex_digit(char c)
{
    const char *digits = "0123456789abcdef";
    const char *found = c ? strchr(digits, c) : NULL;
    return found ? (int)(found - digits) : -1;
}

char *sidefile_unescape(char *text)
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

void sidefile_load(const char *const *fault_names, int fault_count, bool (*own_key)(const char *key, char *value))
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
            sidefile_refuse("unknown key", line);
        }
    }
}

void sidefile_unload(void)
{
    calllog_close(&mock_log);
    if (text_mapping) {
        munmap(text_mapping, text_size);
    }
}
