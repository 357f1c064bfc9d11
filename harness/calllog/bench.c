/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the call log: events per second into a log file, beside write(2) on an O_APPEND descriptor.
 *
 *   calllog_bench LOG COUNT    prints "calllog NS" and "write NS", nanoseconds of CPU time an event
 */
#include "calllog.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void build(const struct calllog *log, struct calllog_line *line, uint64_t value)
{
    const uint64_t arguments[] = {value, 0x903, 128, 0x7ffd12345678, 0};
    calllog_begin(log, line, CALLLOG_CALL, "vendor", "clGetPlatformInfo", arguments, 5);
}

int main(int count, char **arguments)
{
    struct calllog log;
    struct calllog_line line;
    long events = count == 3 ? strtol(arguments[2], NULL, 10) : 0;
    if (events <= 0 || calllog_open(&log, arguments[1]) != 0) {
        fprintf(stderr, "usage: %s LOG COUNT\n", arguments[0]);
        return 2;
    }
    double start = cpu_ns();
    for (long i = 0; i < events; i++) {
        build(&log, &line, (uint64_t)i);
        calllog_commit(&log, &line);
    }
    printf("calllog %.1f\n", (cpu_ns() - start) / (double)events);
    calllog_close(&log);

    int fd = open(arguments[1], O_WRONLY | O_APPEND | O_CLOEXEC);
    struct calllog nowhere = {0};
    long failed = 0;
    start = cpu_ns();
    for (long i = 0; i < events; i++) {
        build(&log, &line, (uint64_t)i);
        calllog_commit(&nowhere, &line);
        failed += write(fd, line.text, line.length) < 0;
    }
    printf("write %.1f\n", (cpu_ns() - start) / (double)events);
    close(fd);
    return failed ? 1 : 0;
}
