/* SPDX-License-Identifier: Apache-2.0 */
/* The probe: the application under our control. Loads an OpenCL loader and executes commands (see commands.h).
 *
 *   probe --loader PATH (--socket FD | --standard FILE | --script FILE) [--log FILE] [--machine FILE] [--global]
 * [--now]
 *         [--late]
 *
 * --socket answers commands from a socket, --standard from standard input to standard output, and what others print
 * there goes to a file; --script executes a recorded exchange and prints it. --machine says what the subject finds on
 * its machine (Windows: windows/machine.h). --late leaves the loader unopened until the command `open`. --again, which
 * the command `exec` adds, says "ok" before anything is asked. Exit codes: that of `quit` (0 without a number), 2 wrong
 * usage, 3 the loader could not be opened.
 */
#define _GNU_SOURCE
#include "application.h"

#include "conversation.h"
#include "loader.h"
#include "log.h"
#include "system.h"
#include "topics.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *script;
static const char *log_path;
static const char *machine;
static const char *standard; /* where what others print goes */
static int socket_fd = -1;
static bool late;
static bool again;

static bool read_options(int count, char **arguments)
{
    static const struct option options[] = {{"loader", required_argument, NULL, 'l'},
                                            {"socket", required_argument, NULL, 's'},
                                            {"script", required_argument, NULL, 'f'},
                                            {"log", required_argument, NULL, 'o'},
                                            {"global", no_argument, NULL, 'g'},
                                            {"now", no_argument, NULL, 'n'},
                                            {"late", no_argument, NULL, 't'},
                                            {"standard", required_argument, NULL, 'd'},
                                            {"machine", required_argument, NULL, 'm'},
                                            {"again", no_argument, NULL, 'a'},
                                            {NULL, 0, NULL, 0}};
    for (int c = getopt_long(count, arguments, "", options, NULL); c != -1;
         c = getopt_long(count, arguments, "", options, NULL)) {
        switch (c) {
        case 'l':
            loader_options.path = strdup(optarg); /* a subject may write over the command line, as setproctitle does */
            if (!loader_options.path) {
                return false;
            }
            break;
        case 's':
            socket_fd = (int)strtol(optarg, NULL, 10);
            break;
        case 'f':
            script = optarg;
            break;
        case 'o':
            log_path = optarg;
            break;
        case 'g':
            loader_options.global = true;
            break;
        case 'n':
            loader_options.now = true;
            break;
        case 't':
            late = true;
            break;
        case 'd':
            standard = optarg;
            break;
        case 'm':
            machine = optarg;
            break;
        case 'a':
            again = true;
            break;
        default:
            return false;
        }
    }
    return optind == count && (script != NULL) + (socket_fd >= 0) + (standard != NULL) == 1;
}

/* Keeps standard input and output for the conversation: the subject reads nothing and prints to a file. Gives the
 * descriptor for answers, or -1. */
static int take_standard(int *in)
{
    int commands = dup(STDIN_FILENO);
    int answers = dup(STDOUT_FILENO);
    int file = open(standard, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (commands < 0 || answers < 0 || file < 0 || !system_replace_standard(file)) {
        return -1;
    }
    close(file);
    *in = commands;
    return answers;
}

/* Where commands come from, or -1; `out` is where answers go. */
static int open_conversation(int *out)
{
    int in = script ? open(script, O_RDONLY | O_CLOEXEC) : socket_fd;
    *out = standard ? take_standard(&in) : script ? STDOUT_FILENO : socket_fd;
    return in;
}

int application_main(int count, char **arguments)
{
    int out;
    if (!read_options(count, arguments)) {
        fprintf(stderr,
                "usage: %s --loader PATH (--socket FD | --standard FILE | --script FILE) [--log FILE] "
                "[--machine FILE] [--global] [--now] [--late]\n",
                arguments[0]);
        return 2;
    }
    system_begin(arguments);
    commands_use(topics);
    if (log_path && calllog_open(&probe_log, log_path) != 0) {
        fprintf(stderr, "probe: cannot open the call log %s: %s\n", log_path, strerror(errno));
        return 2;
    }
    int in = open_conversation(&out);
    if (in < 0 || fcntl(in, F_GETFD) < 0) {
        fprintf(stderr, "probe: cannot read %s: %s\n", script ? script : "the conversation", strerror(errno));
        return 2;
    }
    const char *wrong = machine ? system_furnish(machine) : NULL;
    if (wrong) {
        fprintf(stderr, "probe: %s: %s\n", machine, wrong);
        return 2;
    }
    if (!late) {
        const char *problem = loader_open();
        if (problem) {
            fprintf(stderr, "probe: cannot open the loader: %s\n", problem);
            return 3;
        }
    }
    int code = 0;
    if (!again || write_all(out, "ok\n", 3)) {
        code = converse(in, out, script != NULL);
    }
    system_end();
    return code;
}
