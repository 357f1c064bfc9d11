/* SPDX-License-Identifier: Apache-2.0 */
/* A loader that turns against the process that tests it, WORKER, as the variable DO says, when clGetPlatformIDs is
 * called. Where it cannot reach that process, it ends.
 */
#define _GNU_SOURCE
#include <CL/cl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OUT_OF_REACH = 96 };

static void make_deep_folders(void)
{
    for (int i = 0; chdir(getenv("IN")) == 0 && i < 3000; i++) {
        mkdir("d", 0755);
        setenv("IN", "d", 1);
    }
    abort();
}

CL_API_ENTRY cl_int CL_API_CALL clGetPlatformIDs(cl_uint count, cl_platform_id *platforms, cl_uint *number)
{
    const char *what = getenv("DO");
    (void)count;
    (void)platforms;
    pid_t worker = getenv("WORKER") ? (pid_t)atoi(getenv("WORKER")) : 0;
    if (!what || !worker) {
    } else if (strcmp(what, "kill") == 0) {
        if (kill(worker, SIGKILL) == 0) {
            pause();
        }
        _exit(OUT_OF_REACH);
    } else if (strcmp(what, "terminate") == 0) {
        if (kill(worker, SIGTERM) == 0) {
            pause();
        }
        _exit(OUT_OF_REACH);
    } else if (strcmp(what, "stop") == 0) {
        kill(worker, SIGSTOP);
    } else if (strcmp(what, "trace") == 0) {
        ptrace(PTRACE_SEIZE, worker, NULL, PTRACE_O_EXITKILL);
        _exit(OUT_OF_REACH);
    } else if (strcmp(what, "deep") == 0) {
        make_deep_folders();
    } else if (strcmp(what, "wait") == 0) {
        pause();
    }
    if (number) {
        *number = 0;
    }
    return -1001; /* CL_PLATFORM_NOT_FOUND_KHR */
}
