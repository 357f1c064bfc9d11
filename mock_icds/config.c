/* Reads the mock ICD's configuration: lines `key = value`, `platform.N.key = value` and `fault = name[@N][=VALUE]`.
 *
 * No heap is used, so that a harness that counts the heap sees the loader's blocks only: the text lies in a mapping
 * of its own and its lines are cut in place.
 */
#define _GNU_SOURCE
#include "config.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct config config;
struct calllog mock_log;

struct fault_setting {
    enum fault which;
    int platform;
    bool has_value;
    long value;
};

static struct fault_setting settings[MAX_FAULTS];
static int setting_count;
static char *text_mapping;
static size_t text_size;

static const char *const fault_names[] = {
#define FAULT(name) #name,
#include "faults.h"
#undef FAULT
};

static const struct fault_setting *find(enum fault which, int platform)
{
    for (int i = 0; i < setting_count; i++) {
        if (settings[i].which == which &&
            (settings[i].platform == ANY_PLATFORM || platform == ANY_PLATFORM || settings[i].platform == platform)) {
            return &settings[i];
        }
    }
    return NULL;
}

bool fault(enum fault which, int platform)
{
    return find(which, platform) != NULL;
}

long fault_value(enum fault which, int platform, long otherwise)
{
    const struct fault_setting *setting = find(which, platform);
    return setting && setting->has_value ? setting->value : otherwise;
}

void log_event(const char *event, const char *detail)
{
    struct calllog_line line;
    calllog_begin(&line, config.name, "event", event);
    if (detail) {
        calllog_string(&line, "detail", detail, strlen(detail));
    }
    calllog_commit(&mock_log, &line);
}

/* A configuration that is wrong is the harness's fault, not the subject's: stop loudly. */
static void refuse(const char *what, const char *value)
{
    fprintf(stderr, "clharness mock ICD: %s '%s' in the configuration\n", what, value);
    _exit(99);
}

static void read_fault(char *text)
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
    while (setting.which < FAULT_COUNT && strcmp(fault_names[setting.which], text) != 0) {
        setting.which++;
    }
    if (setting.which == FAULT_COUNT || setting_count == MAX_FAULTS) {
        refuse("unknown fault (or too many faults)", text);
    }
    settings[setting_count++] = setting;
}

static int hex_digit(char c)
{
    const char *digits = "0123456789abcdef";
    const char *found = c ? strchr(digits, c) : NULL;
    return found ? (int)(found - digits) : -1;
}

/* Turns \xhh into bytes, in place. */
static void unescape(char *text)
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
}

static void read_platform_key(struct platform_config *platform, const char *key, char *value)
{
    const struct {
        const char *key;
        const char **text;
    } texts[] = {{"name", &platform->name},
                 {"suffix", &platform->suffix},
                 {"extensions", &platform->extensions},
                 {"version", &platform->version},
                 {"profile", &platform->profile}};
    const struct {
        const char *key;
        int *number;
    } numbers[] = {{"gpus", &platform->gpus}, {"cpus", &platform->cpus}, {"accelerators", &platform->accelerators}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (strcmp(key, texts[i].key) == 0) {
            unescape(value);
            *texts[i].text = value;
            return;
        }
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (strcmp(key, numbers[i].key) == 0) {
            *numbers[i].number = (int)strtol(value, NULL, 0);
            return;
        }
    }
    if (strcmp(key, "unloadable") != 0) {
        refuse("unknown key", key);
    }
    platform->unloadable = strtol(value, NULL, 0) != 0;
}

static void read_key(const char *key, char *value)
{
    char *end;
    if (strcmp(key, "name") == 0) {
        config.name = value;
    } else if (strcmp(key, "loader") == 0) {
        config.loader = value;
    } else if (strcmp(key, "log") == 0) {
        calllog_open(&mock_log, value);
    } else if (strcmp(key, "platforms") == 0) {
        config.platform_count = (int)strtol(value, NULL, 0);
    } else if (strcmp(key, "table") == 0) {
        config.table_length = (int)strtol(value, NULL, 0);
    } else if (strcmp(key, "icd2") == 0) {
        config.icd2 = strtol(value, NULL, 0) != 0;
    } else if (strcmp(key, "fault") == 0) {
        read_fault(value);
    } else if (strncmp(key, "platform.", 9) == 0) {
        long index = strtol(key + 9, &end, 10);
        if (index < 0 || index >= MAX_PLATFORMS || *end != '.') {
            refuse("unknown key", key);
        }
        read_platform_key(&config.platform[index], end + 1, value);
    } else {
        refuse("unknown key", key);
    }
}

static void read_lines(char *text)
{
    for (char *line = strsep(&text, "\n"); line; line = strsep(&text, "\n")) {
        if (*line == '\0' || *line == '#') {
            continue;
        }
        char *value = strstr(line, " = ");
        if (!value) {
            refuse("no ' = ' in line", line);
        }
        *value = '\0';
        read_key(line, value + 3);
    }
}

/* `library` must stay: the component is called after it. */
static void defaults(const char *library)
{
    const char *base = strrchr(library, '/');
    config = (struct config){.name = base ? base + 1 : library, .platform_count = 1, .table_length = INT_MAX};
    for (int i = 0; i < MAX_PLATFORMS; i++) {
        config.platform[i] = (struct platform_config){.suffix = "MOCK",
                                                      .extensions = "cl_khr_icd",
                                                      .version = "OpenCL 3.0 clharness mock",
                                                      .profile = "FULL_PROFILE",
                                                      .gpus = 1};
    }
}

static void read_file(const char *path)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return;
    }
    if (fstat(fd, &status) == 0 && status.st_size > 0) {
        text_size = (size_t)status.st_size + 1;
        text_mapping = mmap(NULL, text_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (text_mapping == MAP_FAILED || read(fd, text_mapping, text_size - 1) != (ssize_t)text_size - 1) {
            refuse("cannot read", path);
        }
        read_lines(text_mapping);
    }
    close(fd);
}

void config_load(void)
{
    static char real[PATH_MAX];
    static char path[PATH_MAX + 8];
    Dl_info self;
    if (!dladdr((void *)&config, &self) || !realpath(self.dli_fname, real)) {
        snprintf(real, sizeof real, "mock");
    }
    defaults(real);
    snprintf(path, sizeof path, "%s.conf", real);
    read_file(path);
    for (int i = 0; i < MAX_PLATFORMS; i++) {
        if (!config.platform[i].name) {
            config.platform[i].name = config.name;
        }
    }
}

void config_unload(void)
{
    calllog_close(&mock_log);
    if (text_mapping) {
        munmap(text_mapping, text_size);
    }
}
