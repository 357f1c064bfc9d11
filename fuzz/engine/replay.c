/* SPDX-License-Identifier: Apache-2.0 */
/* A fuzz target without a fuzzer: replays inputs, one after the other, with any compiler and on any loader.
 *
 * Ends with 0 where nothing was found, 1 with a finding, 2 where it was used wrongly. A file that is missing or cannot
 * be read, and a folder without files, are errors: a replay that read nothing proves nothing.
 */
#define _GNU_SOURCE
#include "internal.h"

#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TIME_LIMIT = 10 }; /* seconds of one input */

static struct {
    bool each;   /* a process of its own for each input */
    bool digest; /* print what was seen */
    unsigned repeat;
} options = {.repeat = 1};

static size_t inputs;
static size_t bytes;
static int worst;

static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    struct stat about;
    if (!file || fstat(fileno(file), &about) < 0 || !S_ISREG(about.st_mode)) {
        stop("%s cannot be read as a file: %s", path, file ? "it is not one" : strerror(errno));
    }
    *size = (size_t)about.st_size;
    /* Exactly as large as the input, so that a sanitizer sees a step beyond it. */
    uint8_t *data = malloc(*size ? *size : 1);
    if (!data || fread(data, 1, *size, file) != *size) {
        stop("%s cannot be read", path);
    }
    fclose(file);
    return data;
}

static void run(const char *path, const uint8_t *data, size_t size)
{
    alarm(TIME_LIMIT);
    LLVMFuzzerTestOneInput(data, size);
    alarm(0);
    if (options.digest) {
        const char *slash = strrchr(path, '/');
        printf("%s %016llx\n", slash ? slash + 1 : path, (unsigned long long)findings_digest());
    }
}

static void run_in_process(const char *path, const uint8_t *data, size_t size)
{
    fflush(stdout);
    pid_t child = fork();
    if (child < 0) {
        stop("no process can be made: %s", strerror(errno));
    }
    if (child == 0) {
        run(path, data, size);
        exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    if (status != 0) {
        fprintf(stderr, "clharness-fuzz: %s ended with %s %d\n", path, WIFSIGNALED(status) ? "signal" : "status",
                WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        worst = 1;
    }
}

static void replay_file(const char *path)
{
    size_t size;
    uint8_t *data = read_file(path, &size);
    for (unsigned i = 0; i < options.repeat; i++) {
        (options.each ? run_in_process : run)(path, data, size);
    }
    free(data);
    inputs++;
    bytes += size;
}

static int visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as folders are */
static void replay_path(const char *path)
{
    struct dirent **list;
    struct stat about;
    if (stat(path, &about) < 0 || !S_ISDIR(about.st_mode)) {
        replay_file(path);
        return;
    }
    int count = scandir(path, &list, visible, alphasort);
    if (count <= 0) {
        stop("%s: a folder without inputs", path);
    }
    for (int i = 0; i < count; i++) {
        char *file;
        if (asprintf(&file, "%s/%s", path, list[i]->d_name) < 0) {
            stop("out of memory");
        }
        replay_path(file);
        free(file);
        free(list[i]);
    }
    free(list);
}

static void usage(const char *program)
{
    stop("usage: %s [--loader PATH] [--against PATH] [--describe] [--digest] [--each] [--repeat N] FILE|FOLDER...",
         program);
}

int main(int count, char **arguments)
{
    static const struct option known[] = {
        {"loader", required_argument, NULL, 'l'},
        {"against", required_argument, NULL, 'a'},
        {"describe", no_argument, NULL, 'd'},
        {"digest", no_argument, NULL, 'g'},
        {"each", no_argument, NULL, 'e'},
        {"repeat", required_argument, NULL, 'r'},
        {NULL, 0, NULL, 0},
    };
    for (int option; (option = getopt_long(count, arguments, "", known, NULL)) != -1;) {
        switch (option) {
        case 'l':
            setenv("CLHARNESS_FUZZ_LOADER", optarg, 1);
            break;
        case 'a':
            setenv("CLHARNESS_FUZZ_AGAINST", optarg, 1);
            break;
        case 'd':
            setenv("CLHARNESS_FUZZ_DESCRIBE", "1", 1);
            break;
        case 'g':
            options.digest = true;
            break;
        case 'e':
            options.each = true;
            break;
        case 'r':
            options.repeat = (unsigned)strtoul(optarg, NULL, 10);
            break;
        default:
            usage(arguments[0]);
        }
    }
    if (optind == count || options.repeat == 0) {
        usage(arguments[0]);
    }
    engine_start(false);
    for (int i = optind; i < count; i++) {
        replay_path(arguments[i]);
    }
    printf("%s: read %zu inputs, %zu bytes\n", target_name, inputs, bytes);
    return worst;
}
