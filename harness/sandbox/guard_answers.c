/* SPDX-License-Identifier: Apache-2.0 */
/* What the guard answers where a process of the program names another one: all of them are the guard's descendants. */
#define _GNU_SOURCE
#include "guard_answers.h"
#include "guard_calls.h"
#include "guard_processes.h"
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_TRIES = 100 };

/* Whether it comes from the program; so does one that is gone, of which the kernel says that. What ends meanwhile
 * leaves its children to others: then this begins again. */
static bool is_own(pid_t process)
{
    for (int tries = 0; tries < MAX_TRIES; tries++) {
        pid_t at = process;
        pid_t parent = 0;
        pid_t group = 0;
        while (at != getpid() && read_parent(at, &parent, &group)) {
            if (parent == getpid() || parent == 0) {
                return parent != 0;
            }
            at = parent;
        }
        if (at == process) {
            return at != getpid() && kill(at, 0) != 0 && errno == ESRCH;
        }
    }
    return false;
}

/* The next process of a listing of /proc, 0 at its end. */
static pid_t next_process(DIR *all)
{
    for (struct dirent *entry = readdir(all); entry; entry = readdir(all)) {
        long number = strtol(entry->d_name, NULL, 10);
        if (number > 0) {
            return (pid_t)number;
        }
    }
    return 0;
}

/* A group is within a session, and the program's are its own: one process of it says whose it is. */
static bool is_own_group(pid_t group)
{
    bool is_own_one = true;
    DIR *all = opendir("/proc");
    for (pid_t process = all ? next_process(all) : 0; process; process = next_process(all)) {
        pid_t parent = 0;
        pid_t its_group = 0;
        if (read_parent(process, &parent, &its_group) && its_group == group) {
            is_own_one = is_own(process);
            break;
        }
    }
    if (all) {
        closedir(all);
    }
    return all && is_own_one;
}

/* What a process of the program has as a line of numbers in its status; gives how many there are. */
static int read_numbers(pid_t process, const char *line, long *last)
{
    char text[MAX_STATUS];
    int count = 0;
    char *at = read_about(process, "status", text) ? strstr(text, line) : NULL;
    for (at = at ? at + strlen(line) : NULL; at && *at == '\t'; count++) {
        *last = strtol(at, &at, 10);
    }
    return count;
}

/* Sends a signal to all that the program has, but for the process of the caller, as the kernel does for all that there
 * are. Gives an error, 0 for none. */
static int signal_all(pid_t caller, int number)
{
    int error = ESRCH;
    long own = 0;
    read_numbers(caller, "\nTgid:", &own);
    DIR *all = opendir("/proc");
    for (pid_t process = all ? next_process(all) : 0; process; process = next_process(all)) {
        pid_t parent = 0;
        pid_t group = 0;
        if (process != own && read_parent(process, &parent, &group) && is_own(process) && kill(process, number) == 0) {
            error = 0;
        }
    }
    if (all) {
        closedir(all);
    }
    return error;
}

/* Whether it has numbers of its own for processes: then it sees none but those that come from it. */
static bool is_in_namespace(pid_t process)
{
    long number = 0;
    return read_numbers(process, "\nNSpid:", &number) > 1;
}

/* A process, or below 0 a group; -1 is everybody. */
static bool is_own_target(pid_t target)
{
    return target > 0 ? is_own(target) : target < -1 && target > INT_MIN && is_own_group(-target);
}

/* Of those that are asked: by its number for this machine's programs, or for 32-bit ones. */
static bool is_kill(const struct seccomp_data *call)
{
    return call->nr == SYS_kill || call->nr == 37;
}

void answer_call(int calls)
{
    union {
        struct seccomp_notif call;
        char room[1 << 10]; /* newer kernels may write more than is known here */
    } asked;
    union {
        struct seccomp_notif_resp answer;
        char room[1 << 10];
    } answered;
    memset(&asked, 0, sizeof asked);
    memset(&answered, 0, sizeof answered);
    if (ioctl(calls, SECCOMP_IOCTL_NOTIF_RECV, &asked) != 0) {
        return; /* the caller was ended meanwhile */
    }
    pid_t caller = (pid_t)asked.call.pid;
    const struct seccomp_data *call = &asked.call.data;
    pid_t process = process_of_call(call);
    answered.answer.id = asked.call.id;
    if (process == caller || is_in_namespace(caller) || is_own_target(process)) {
        answered.answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    } else {
        answered.answer.error = process == -1 && is_kill(call) ? -signal_all(caller, (int)call->args[1]) : -EPERM;
    }
    ioctl(calls, SECCOMP_IOCTL_NOTIF_SEND, &answered);
}
